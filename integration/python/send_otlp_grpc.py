#!/usr/bin/env python3
"""Sends a thousand log records with OpenTelemetry's own gRPC exporter, half of them compressed. With
the certificate of an authority, it sends them encrypted.

Usage: send_otlp_grpc.py HOST:PORT [AUTHORITY]
"""

import logging, sys
from grpc import Compression, ssl_channel_credentials
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
security = {'insecure': True}
if len(sys.argv) > 2:
    with open(sys.argv[2], 'rb') as authority:
        security = {'credentials': ssl_channel_credentials(authority.read())}
for compression in (Compression.NoCompression, Compression.Gzip):
    provider = LoggerProvider()
    exporter = OTLPLogExporter(endpoint=sys.argv[1], compression=compression, **security)
    provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
    logger = logging.getLogger(compression.name)
    logger.addHandler(LoggingHandler(logger_provider=provider))
    for number in range(500):
        logger.error('record %d of %s', number, compression.name)
    provider.shutdown()
