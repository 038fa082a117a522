#!/usr/bin/env python3
"""The reference decoder of the envelope: slow, readable, in the order of spec/envelope.md.

It exists so that the format is written down twice, by two programs that share no code: the tests
compare this one with the Rust library on every vector and on random and mutated envelopes. It must
stay simple enough to be read beside the page, and must never learn a rule from the Rust code.

    python3 spec/envelope.py [--dictionary FILE]... [--base FILE]... [--limit BYTES] FILE...

where - is standard input.
"""

import argparse
import json
import sys

import bodies
import documents
from dictionary import read_dictionary
from problem import Problem, Undecodable, damaged
from varint import read_varint
from xxh64 import xxh64

MAGIC = b"\xc1\x9e"
VERSION = 1
HEADER_BYTES_MAX = 64
LIMIT_BYTES = 256 << 20

FLAG_DICTIONARY, FLAG_CHECKSUM, FLAG_FIELDS, FLAG_ENCODING = 1, 2, 4, 8
FIELD_SCHEMA, FIELD_BASE = 0x81, 0x82

ENCODED_BYTES_PER_PAYLOAD_BYTE, ENCODED_BYTES_EXTRA = 8, 64


# --- Header --------------------------------------------------------------------------------------


def checksum(payload):
    return xxh64(payload) & 0xFFFF_FFFF


def looks_like_envelope(value):
    """The magic, and the top bit of bytes 2 and 3 as far as they are there."""
    return value[:2] == MAGIC and all(byte & 0x80 for byte in value[2:4])


def read_header(value):
    """The header at the start of `value` as a dict, and its length."""
    if not looks_like_envelope(value):
        raise Problem("not-an-envelope", "the bytes do not start with C1 9E")

    # What is frozen for every version: bytes 0 to 3, and the check byte last.
    if len(value) < 4:
        raise damaged("the end inside the header")
    length = value[3] & 0x7F
    if not 5 <= length <= HEADER_BYTES_MAX:
        raise damaged("an impossible header length")
    if len(value) < length:
        raise damaged("the end inside the header")
    checked, check = value[: length - 1], value[length - 1]
    if check != xxh64(checked) & 0xFF:
        raise damaged("a header check that does not hold")
    version = value[2] >> 4 & 0x07
    if version != VERSION:
        raise Problem("unsupported-version", f"version {version}")

    # What version 1 says.
    if length < 7:
        raise damaged("an impossible header length")
    flags = value[2] & 0x0F
    at = 4

    def take(count):
        nonlocal at
        if at + count > len(checked):
            raise damaged("the end inside the header")
        at += count
        return checked[at - count : at]

    def varint():
        nonlocal at
        found = read_varint(checked, at)
        if found is None:
            raise damaged("a number in the header")
        number, at = found
        return number

    header = {"codec": take(1)[0]}
    header["encoding"] = take(1)[0] if flags & FLAG_ENCODING else None
    header["payload_bytes"] = varint()
    for name, flag in (("dictionary", FLAG_DICTIONARY), ("checksum", FLAG_CHECKSUM)):
        header[name] = int.from_bytes(take(4), "little") if flags & flag else None
    header["fields"] = []
    if flags & FLAG_FIELDS:
        total = varint()
        if total == 0:
            raise damaged("an empty list of fields")
        end = at + total
        while at < end:
            kind, size = take(2)
            field = take(size)
            if kind & 0x80 and kind not in (FIELD_SCHEMA, FIELD_BASE):
                raise Problem("unknown-field", f"field {kind:#04x}")
            header["fields"].append((kind, field))
        if at != end:
            raise damaged("fields longer than their list")
    if at != len(checked):
        raise damaged("bytes left over in the header")
    bases = sum(kind == FIELD_BASE for kind, _ in header["fields"])
    if (header["dictionary"] is not None or bases) and header["checksum"] is None:
        raise damaged("a dictionary or base without a checksum")
    has_other = header["dictionary"] is not None or header["encoding"] is not None
    if bases > 1 or (bases == 1 and has_other):
        raise damaged("a delta with a dictionary, an encoding or a second base")
    return header, length


# --- Unpacking -----------------------------------------------------------------------------------


def unpack(value, dictionaries=(), limit_bytes=LIMIT_BYTES, bases=()):
    """The header and the payload of an envelope, with what `read_dictionary` gave for each file
    and these payloads, which may be bases, at hand; raises a Problem."""
    header, header_bytes = read_header(value)
    body = value[header_bytes:]

    base = None
    for kind, field in header["fields"]:
        if kind == FIELD_SCHEMA:
            raise Problem("missing-schema", "this decoder reads no schema files")
        if kind == FIELD_BASE:
            known = {xxh64(found).to_bytes(8, "little"): found for found in bases}
            if field not in known:
                raise Problem("missing-base", f"base {field[::-1].hex()}")
            base = known[field]
    encoding = documents.VERBATIM if header["encoding"] is None else header["encoding"]
    if encoding not in documents.IDS:
        raise Problem("unknown-encoding", f"encoding {encoding:#04x}")
    payload_bytes = header["payload_bytes"]
    if payload_bytes > limit_bytes:
        raise Problem("too-large", f"{payload_bytes} bytes, the limit is {limit_bytes}")
    if header["codec"] not in bodies.IDS:
        raise Problem("unknown-codec", f"codec {header['codec']:#04x}")
    codec_part = model = None
    if header["dictionary"] is not None:
        known = {dictionary.id: dictionary for dictionary in dictionaries}
        if header["dictionary"] not in known:
            raise Problem("missing-dictionary", f"dictionary {header['dictionary']:#010x}")
        if header["codec"] not in bodies.WITH_DICTIONARY:
            raise damaged("a codec that does not take the dictionary named")
        codec_part = known[header["dictionary"]].codec_part
        model = known[header["dictionary"]].model
    if base is not None and header["codec"] not in bodies.WITH_BASE:
        raise damaged("a codec that takes no base")
    if encoding in documents.WITH_SCHEMA:
        raise damaged("an encoding that needs a schema, without one")

    if encoding in documents.DECODERS or encoding == documents.COLUMNAR:
        room = payload_bytes * ENCODED_BYTES_PER_PAYLOAD_BYTE + ENCODED_BYTES_EXTRA
        encoded = bodies.decompress(header["codec"], body, room, codec_part)
        try:
            payload = documents.decode(encoding, encoded, payload_bytes, model)
        except Undecodable as error:
            raise damaged(f"a body that does not decode: {error}") from error
    else:
        payload = bodies.decompress(header["codec"], body, payload_bytes, codec_part, base)
    if len(payload) != payload_bytes:
        raise damaged(f"a payload of {len(payload)} bytes, {payload_bytes} were announced")
    expected = header["checksum"]
    if expected is not None and expected != checksum(payload):
        raise Problem("checksum-mismatch", f"{expected:#010x} expected")
    return header, payload


def read(value, dictionaries=(), limit_bytes=LIMIT_BYTES, bases=()):
    """A stored value: None and the value where it is plain, else its header and payload."""
    if looks_like_envelope(value):
        return unpack(value, dictionaries, limit_bytes, bases)
    if len(value) > limit_bytes:
        raise Problem("too-large", f"{len(value)} bytes, the limit is {limit_bytes}")
    return None, value


# --- Interop form and records --------------------------------------------------------------------

INTEROP_MAGIC = b"\x5c\x2a\x4d\x18"
INTEROP_CODECS = (0x16, 0x1C)


def unpack_interop(value, limit_bytes=LIMIT_BYTES):
    """The header and the payload of the interop form (spec/interop.md); raises a Problem."""
    if not value.startswith(INTEROP_MAGIC):
        raise Problem("not-an-envelope", "the bytes do not start with 5C 2A 4D 18")
    length = int.from_bytes(value[4:8], "little")
    frame, body = value[8 : 8 + length], value[8 + length :]
    if len(value) < 8 or len(frame) < length:
        raise damaged("the end inside the header")
    header, header_bytes = read_header(frame)
    if header_bytes != length:
        raise damaged("bytes left over in the header")
    if header["codec"] not in INTEROP_CODECS:
        raise Problem("unknown-codec", f"codec {header['codec']:#04x}")
    if header["encoding"] is not None:
        raise Problem("unknown-encoding", f"encoding {header['encoding']:#04x}")
    if header["dictionary"] is not None:
        raise Problem("missing-dictionary", f"dictionary {header['dictionary']:#010x}")
    # What is left is an envelope whose body stands apart from its header.
    return unpack(frame + body, (), limit_bytes)


def split_records(stream):
    """The records of a stream (spec/records.md), each a plain payload or an envelope."""
    at = 0
    while at < len(stream):
        found = read_varint(stream, at)
        if found is None or found[1] + found[0] > len(stream):
            raise damaged(f"a record at byte {at} that is cut short or has no length")
        length, start = found
        yield stream[start : start + length]
        at = start + length


# --- Command line --------------------------------------------------------------------------------


def show(header):
    """A header as one line of JSON."""
    fields = [[kind, field.hex()] for kind, field in header["fields"]]
    return json.dumps({**header, "fields": fields})


def serve(dictionaries, limit_bytes):
    """Answers each line with a verdict, for the differential test. A line is a value in hexadecimal
    digits; what stands behind a bar is a base."""
    for line in sys.stdin:
        value, *bases = (bytes.fromhex(part) for part in line.split("|"))
        try:
            header, payload = read(value, dictionaries, limit_bytes, bases)
            print("plain" if header is None else "ok", payload.hex(), flush=True)
        except Problem as problem:
            print("error", problem.code, flush=True)


def main():
    parser = argparse.ArgumentParser(description="Unpacks envelopes.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="- is standard input")
    parser.add_argument("--dictionary", action="append", default=[], metavar="FILE")
    parser.add_argument("--base", action="append", default=[], metavar="FILE")
    parser.add_argument("--limit", type=int, default=LIMIT_BYTES, metavar="BYTES")
    parser.add_argument("--serve", action="store_true", help="a line of hex in, a verdict out")
    arguments = parser.parse_args()
    dictionaries = [read_dictionary(open(name, "rb").read()) for name in arguments.dictionary]
    bases = [open(name, "rb").read() for name in arguments.base]
    if arguments.serve:
        return serve(dictionaries, arguments.limit)
    if not arguments.files:
        parser.error("no FILE is named")
    failed = False
    for name in arguments.files:
        value = sys.stdin.buffer.read() if name == "-" else open(name, "rb").read()
        try:
            header, payload = read(value, dictionaries, arguments.limit, bases)
        except Problem as problem:
            print(f"{name}: {problem}", file=sys.stderr)
            failed = True
            continue
        print(f"{name}: {'plain' if header is None else show(header)}", file=sys.stderr)
        sys.stdout.buffer.write(payload)
        sys.stdout.buffer.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
