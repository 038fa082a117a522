#!/usr/bin/env python3
"""Sends a thousand documents with Elasticsearch's own client, in the bulk form, half of them
compressed.

Usage: send_bulk.py ENDPOINT
"""

import sys
from elasticsearch import Elasticsearch
from elasticsearch.helpers import bulk
for compress in (False, True):
    client = Elasticsearch(sys.argv[1], http_compress=compress)
    assert client.info()['name'] == 'cinch'
    actions = ({'_op_type': 'create', '_index': 'logs-web', 'message': f'document {number}',
                'compressed': compress} for number in range(500))
    taken, errors = bulk(client, actions, chunk_size=100)
    assert (taken, errors) == (500, []), (taken, errors)
