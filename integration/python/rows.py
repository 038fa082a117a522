"""Prints what a statement finds in an SQLite file, one row a line as JSON.

A blob is {"hex": "..."}, as sqlite.py takes it.
"""

import json
import sqlite3
import sys

connection = sqlite3.connect(sys.argv[1])
for row in connection.execute(sys.argv[2]):
    print(json.dumps([
        {"hex": value.hex()} if isinstance(value, bytes) else value for value in row
    ]))
connection.close()
