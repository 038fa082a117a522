#!/usr/bin/env python3
"""Sends a thousand log records with OpenTelemetry's own gRPC exporter, half of them compressed.

Usage: send_otlp_grpc.py HOST:PORT
"""

import logging, sys
from grpc import Compression
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
for compression in (Compression.NoCompression, Compression.Gzip):
    provider = LoggerProvider()
    exporter = OTLPLogExporter(endpoint=sys.argv[1], insecure=True, compression=compression)
    provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
    logger = logging.getLogger(compression.name)
    logger.addHandler(LoggingHandler(logger_provider=provider))
    for number in range(500):
        logger.error('record %d of %s', number, compression.name)
    provider.shutdown()
