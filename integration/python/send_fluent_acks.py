#!/usr/bin/env python3
"""Sends what the forward outputs of Fluentd and Fluent Bit send, in every mode, and waits for every
acknowledgement. With a key, the handshake comes first.

Usage: send_fluent_acks.py PORT [KEY]
"""

import gzip, hashlib, os, socket, sys
import msgpack
stream = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
unpacker = msgpack.Unpacker(raw=False)

def answer():
    while True:
        for value in unpacker:
            return value
        got = stream.recv(4096)
        assert got, 'the server has closed the connection'
        unpacker.feed(got)

if len(sys.argv) > 2:
    kind, options = answer()
    assert kind == 'HELO', kind
    salt, name = os.urandom(16), 'sender'
    def digest(host):
        return hashlib.sha512(salt + host.encode() + options['nonce'] + sys.argv[2].encode()).hexdigest()
    stream.sendall(msgpack.packb(['PING', name, salt, digest(name), '', '']))
    kind, is_let_in, reason, host, proof = answer()
    assert kind == 'PONG' and is_let_in, reason
    assert proof == digest(host), 'the server does not know the key'

def events(first):
    return [[msgpack.ExtType(0, (1700000000 + n).to_bytes(4, 'big') + b'\0\0\0\0'), {'number': n}]
            for n in range(first, first + 50)]
packed = lambda first: b''.join(msgpack.packb(event) for event in events(first))
# Fluent Bit from 2.1 on puts the time into an array with metadata.
with_metadata = lambda first: b''.join(
    msgpack.packb([[time, {}], record]) for time, record in events(first))
messages = [
    ['app.forward', events(0), {'chunk': 'a', 'size': 50}],
    ['app.packed', packed(50), {'chunk': 'b', 'size': 50, 'fluent_signal': 0}],
    ['app.gzip', gzip.compress(with_metadata(100)),
     {'chunk': 'c', 'size': 50, 'compressed': 'gzip', 'fluent_signal': 0}],
    ['app.message', 1700000150, {'number': 150}, {'chunk': 'd'}],
    ['app.empty', [], {'chunk': 'e'}],
]
for message in messages:
    stream.sendall(msgpack.packb(message))
waiting = {'a', 'b', 'c', 'd', 'e'}
while waiting:
    waiting.remove(answer()['ack'])
