#!/usr/bin/env python3
"""Sends two hundred records through the handler of Python's logging that people use for Loki.

Usage: send_loki.py URL
"""

import logging, sys
import logging_loki

class Handler(logging_loki.LokiHandler):
    def handleError(self, record):
        raise

logger = logging.getLogger('shop')
logger.setLevel(logging.INFO)
logger.addHandler(Handler(url=sys.argv[1], tags={'app': 'cart'}, version='1'))
for number in range(200):
    logger.info('cart %d was "taken"\nin two lines', number, extra={'tags': {'zone': f'z{number % 3}'}})
