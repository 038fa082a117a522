"""Makes an SQLite file from statements on the standard input.

Python's own sqlite3 is a build of SQLite that is not the one in cinch. Each line is a statement, and
a tab parts it from its parameters, which are JSON; a parameter {"hex": "..."} is a blob.
"""

import json
import sqlite3
import sys

connection = sqlite3.connect(sys.argv[1])
for line in sys.stdin:
    statement, _, parameters = line.rstrip("\n").partition("\t")
    parameters = [
        bytes.fromhex(value["hex"]) if isinstance(value, dict) else value
        for value in json.loads(parameters or "[]")
    ]
    connection.execute(statement, parameters)
connection.commit()
connection.close()
