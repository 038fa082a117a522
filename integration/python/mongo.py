"""Fills and looks at a MongoDB server with MongoDB's own driver.

usage: mongo.py ADDRESS fill DATABASE COLLECTION   documents {"_id": ..., "cart": line}, a line each
       mongo.py ADDRESS put DATABASE COLLECTION    documents as extended JSON, a line each
       mongo.py ADDRESS index DATABASE COLLECTION  makes an index of each line, {"field": 1, ...}
       mongo.py ADDRESS state DATABASE COLLECTION  prints a hash of all that is stored
"""

import hashlib
import sys

import pymongo
from bson import json_util

address, action, database, collection = sys.argv[1:]
client = pymongo.MongoClient(address, serverSelectionTimeoutMS=20_000)
stored = client[database][collection]

if action == "fill":
    lines = sys.stdin.read().splitlines()
    documents = [{"_id": place, "cart": line, "n": place} for place, line in enumerate(lines)]
    for start in range(0, len(documents), 1000):
        stored.insert_many(documents[start : start + 1000])
elif action == "put":
    stored.insert_many([json_util.loads(line) for line in sys.stdin])
elif action == "index":
    for line in sys.stdin:
        stored.create_index(list(json_util.loads(line).items()))
elif action == "state":
    digest = hashlib.sha256()
    for document in stored.find({}, sort=[("_id", 1)]):
        digest.update(json_util.dumps(document).encode())
    print(digest.hexdigest(), stored.count_documents({}), sorted(client[database].list_collection_names()))
