#!/usr/bin/env python3
"""Sends three hundred events with Fluentd's own logger.

Usage: send_fluent.py PORT
"""

import sys
from fluent import sender
logger = sender.FluentSender('app', host='127.0.0.1', port=int(sys.argv[1]))
for number in range(300):
    assert logger.emit('test', {'number': number})
logger.close()
