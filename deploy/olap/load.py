#!/usr/bin/env python3
"""Loads VID metrics of `cinch ingest` into DuckDB and answers what an analyst would ask.

  cinch ingest --config ingest.toml | python load.py vid.duckdb
  python load.py vid.duckdb < metrics.ndjson
  python load.py vid.duckdb --kafka HOST:PORT --topic vid

Each line of a window becomes a row. What comes twice (a broker may hand a message out again) takes
the place of what was there: a row is told by ingress, metric, window and key.
"""

import argparse
import json
import sys

import duckdb

TABLE = """
CREATE TABLE IF NOT EXISTS vid (
    instance VARCHAR, metric VARCHAR, window_start TIMESTAMP, window_s BIGINT,
    key_text VARCHAR, key MAP(VARCHAR, VARCHAR), count BIGINT, "values" BIGINT,
    sum DOUBLE, min DOUBLE, max DOUBLE,
    PRIMARY KEY (instance, metric, window_start, key_text)
)
"""

ROW = """
INSERT OR REPLACE INTO vid VALUES (?, ?, make_timestamp(?::BIGINT * 1000000), ?, ?, ?, ?, ?, ?, ?, ?)
"""

# Sums of windows add up, whatever ingress and worker they are from; averages come from sums.
QUESTION = """
SELECT metric, key['pool'] AS pool, sum(count) AS records, sum(sum) / sum("values") AS mean,
       min(min) AS least, max(max) AS most
FROM vid GROUP BY ALL ORDER BY records DESC, metric, pool
"""

BATCH = 1_000


def row(line):
    window = json.loads(line)
    key = window["key"]
    return (
        window.get("instance", ""),
        window["metric"],
        window["window_start"],
        window["window_s"],
        json.dumps(key, sort_keys=True),
        {"key": list(key), "value": list(key.values())},
        window["count"],
        window.get("values", 0),
        window.get("sum"),
        window.get("min"),
        window.get("max"),
    )


def lines(arguments):
    if not arguments.kafka:
        yield from sys.stdin
        return
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        arguments.topic,
        bootstrap_servers=arguments.kafka,
        auto_offset_reset="earliest",
        group_id=None,
        consumer_timeout_ms=arguments.quiet_ms,
    )
    for message in consumer:
        yield message.value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("database")
    parser.add_argument("--kafka", metavar="HOST:PORT")
    parser.add_argument("--topic", default="vid")
    parser.add_argument("--quiet-ms", type=int, default=5_000, help="end after so long without any")
    arguments = parser.parse_args()
    database = duckdb.connect(arguments.database)
    database.execute(TABLE)
    rows = []
    for line in lines(arguments):
        if not line.strip():
            continue
        rows.append(row(line))
        if len(rows) >= BATCH:
            database.executemany(ROW, rows)
            rows = []
    if rows:
        database.executemany(ROW, rows)
    question = database.execute(QUESTION)
    print("\t".join(column[0] for column in question.description))
    for answer in question.fetchall():
        print("\t".join("" if value is None else str(value) for value in answer))


main()
