#!/usr/bin/env python3
"""Prints the messages of a topic with Kafka's Python client, a line of JSON each: partition, key,
headers, and the value in base64. Values in Avro's single-object encoding are read with fastavro
and the published schema, whose fingerprint they must carry.

Usage: read_kafka.py HOST:PORT TOPIC COUNT
Waits until there are COUNT messages, and then a moment for one too many.
"""

import base64
import io
import json
import pathlib
import sys

import fastavro
from kafka import KafkaConsumer

SCHEMA = pathlib.Path(__file__).parents[2] / "spec" / "ingest-window.avsc"
GRACE_MS = 2_000


def avro(value):
    schema = json.loads(SCHEMA.read_text())
    parsed = fastavro.schema.to_parsing_canonical_form(schema)
    fingerprint = fastavro.schema.fingerprint(parsed, "CRC-64-AVRO")
    assert value[2:10].hex() == fingerprint, (value[2:10].hex(), fingerprint)
    return fastavro.schemaless_reader(io.BytesIO(value[10:]), fastavro.parse_schema(schema), None)


def line(message):
    row = {
        "partition": message.partition,
        "key": message.key.decode(),
        "headers": {name: value.decode() for name, value in message.headers},
        "value": base64.b64encode(message.value).decode(),
    }
    if message.value[:2] == b"\xc3\x01":
        row["avro"] = avro(message.value)
    return json.dumps(row)


def main():
    host, topic, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    consumer = KafkaConsumer(
        topic, bootstrap_servers=host, auto_offset_reset="earliest", group_id=None
    )
    seen = 0
    while True:
        records = consumer.poll(timeout_ms=GRACE_MS if seen >= count else 60_000)
        if not records:
            break
        for messages in records.values():
            for message in messages:
                print(line(message))
                seen += 1
    consumer.close()


main()
