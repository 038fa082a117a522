#!/usr/bin/env python3
"""Opens records of envelopes without any code of ours, and hands what is inside to other readers.

Usage: envelope_cases.py ENCODING PAYLOADS RECORDS. PAYLOADS holds one JSON text a line, RECORDS what
`cinch pack --records` made of it with the codec zlib. The header is read as the specification of
the envelope has it, the body with Python's zlib. Each envelope that carries ENCODING becomes a line
{"encoding": "...", "hex": "...", "json": "<the payload's text>"} for read_encodings.py and for
../java. How many records are plain, and how many envelopes are verbatim, is printed to standard
error: two numbers.
"""

import json
import sys
import zlib

ENCODING_IDS = {
    "json": 0x11,
    "msgpack": 0x12,
    "cbor": 0x13,
    "bson": 0x14,
    "smile": 0x15,
    "flexbuffers": 0x1B,
    "ion": 0x1C,
}
ZLIB = 0x14

FLAG_DICTIONARY = 1
FLAG_CHECKSUM = 2
FLAG_FIELDS = 4
FLAG_ENCODING = 8


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def records(data):
    at = 0
    while at < len(data):
        length, at = read_varint(data, at)
        yield data[at : at + length]
        at += length


def encoded(envelope):
    """The id of the encoding, or None for verbatim, and the bytes that the codec was given."""
    version, flags = envelope[2] >> 4 & 7, envelope[2] & 0x0F
    header_bytes, codec = envelope[3] & 0x7F, envelope[4]
    assert (version, codec) == (1, ZLIB), (version, codec)
    assert flags & (FLAG_DICTIONARY | FLAG_FIELDS) == 0
    encoding = envelope[5] if flags & FLAG_ENCODING else None
    return encoding, zlib.decompress(envelope[header_bytes:])


def main():
    name, payloads, packed = sys.argv[1:]
    with open(payloads, "rb") as file:
        lines = file.read().splitlines()
    with open(packed, "rb") as file:
        envelopes = list(records(file.read()))
    assert len(lines) == len(envelopes), (len(lines), len(envelopes))
    plain = verbatim = 0
    for line, envelope in zip(lines, envelopes):
        if not envelope.startswith(b"\xc1\x9e"):
            assert envelope == line, "a plain record is the line itself"
            plain += 1
            continue
        encoding, data = encoded(envelope)
        if encoding is None:
            assert data == line, "a verbatim envelope holds the line itself"
            verbatim += 1
            continue
        assert encoding == ENCODING_IDS[name], encoding
        case = {"encoding": name, "hex": data.hex(), "json": line.decode()}
        print(json.dumps(case))
    print(plain, verbatim, file=sys.stderr)


if __name__ == "__main__":
    main()
