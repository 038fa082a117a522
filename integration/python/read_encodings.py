#!/usr/bin/env python3
"""Reads binary encodings with the packages that everybody else uses.

Our own tests only show that we read what we write. This program shows that others do: each line of
standard input is {"encoding": "...", "hex": "...", "json": "<the payload's text>"}; the bytes are
decoded with the usual package and compared with the text, numbers as decimals. It prints a line
for each mismatch and, last, "N passed, N failed"; it exits 1 if anything failed.

Smile is not here: the one package for it on PyPI is for Python 2. ../java reads it with Jackson.
"""

import json
import sys
from collections.abc import MutableMapping
from decimal import Decimal, InvalidOperation, getcontext

import bson
import cbor2
import msgpack
from amazon.ion import simpleion
from amazon.ion.exceptions import IonException
from bson.codec_options import CodecOptions
from flatbuffers import flexbuffers

# Numbers of thousands of digits are compared, not rounded, and exponents are any 64-bit integer.
getcontext().prec = 100_000
sys.set_int_max_str_digits(100_000)
sys.setrecursionlimit(100_000)


class Pairs(MutableMapping):
    """An object that keeps the order of its pairs and those whose key stands there already."""

    def __init__(self, pairs=()):
        self.pairs = list(pairs)

    def __setitem__(self, key, value):
        self.pairs.append((key, value))

    def __getitem__(self, key):
        return dict(self.pairs)[key]

    def __delitem__(self, key):
        raise NotImplementedError

    def __iter__(self):
        return iter(key for key, _ in self.pairs)

    def __len__(self):
        return len(self.pairs)


def read_msgpack(data):
    return msgpack.unpackb(data, object_pairs_hook=Pairs)


def read_cbor(data):
    """A plain dict: the package keeps the order of keys but not the first of two equal ones."""
    return cbor2.loads(data)


def read_bson(data):
    return bson.decode(data, codec_options=CodecOptions(document_class=Pairs))


def read_flexbuffers(data):
    return flexbuffers.Loads(data)


def read_ion(data):
    return plain(simpleion.loads(data))


def plain(value):
    """An Ion value as Python's own: their classes are those of Python's values, except for null."""
    if isinstance(value, MutableMapping):
        return Pairs((key, plain(item)) for key, item in value.items())
    if isinstance(value, list):
        return [plain(item) for item in value]
    if value is None or type(value).__name__ == "IonPyNull":
        return None
    if type(value).__name__ == "IonPyBool":
        return bool(value)
    if type(value).__name__ == "IonPyText":
        return str(value)
    if type(value).__name__ == "IonPySymbol":
        return value.text
    return value


READERS = {
    "msgpack": read_msgpack,
    "cbor": read_cbor,
    "bson": read_bson,
    "flexbuffers": read_flexbuffers,
    "ion": read_ion,
}

# What keeps maps sorted by key, whatever the order of the payload.
SORTED = ("flexbuffers",)

# What keeps the values of a repeated key together, at the place of the first.
GROUPED = ("ion",)


def difference(expected, got, encoding, path="$"):
    """Where the values first differ, or None. A loop, since payloads nest deeper than Python does."""
    todo = [(expected, got, path)]
    while todo:
        expected, got, path = todo.pop()
        if isinstance(expected, Pairs):
            if isinstance(got, dict):
                # Of equal keys a dict keeps the place of the first and the value of the last.
                expected = Pairs(dict(expected.pairs).items())
                got = Pairs(got.items())
            if not isinstance(got, Pairs):
                return f"{path}: an object, but read as {type(got).__name__}"
            if encoding in SORTED:
                expected.pairs.sort(key=lambda pair: pair[0].encode())
            if encoding in GROUPED:
                places = {}
                for key, _ in expected.pairs:
                    places.setdefault(key, len(places))
                expected.pairs.sort(key=lambda pair: places[pair[0]])
            if [key for key, _ in expected.pairs] != [key for key, _ in got.pairs]:
                return f"{path}: other keys or another order"
            for (key, left), (_, right) in zip(expected.pairs, got.pairs):
                todo.append((left, right, f"{path}.{key}"))
        elif isinstance(expected, list):
            if not isinstance(got, list) or len(expected) != len(got):
                return f"{path}: not an array of {len(expected)}"
            for index, (left, right) in enumerate(zip(expected, got)):
                todo.append((left, right, f"{path}[{index}]"))
        elif is_number(expected):
            if not is_number(got) or as_decimal(expected) != as_decimal(got):
                return f"{path}: {str(expected)[:80]}, but read as {str(got)[:80]}"
        elif type(expected) is not type(got) or expected != got:
            return f"{path}: {str(expected)[:80]!r}, but read as {str(got)[:80]!r}"
    return None


def is_number(value):
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def as_decimal(value):
    # The shortest text of a double is the number that it stands for.
    return Decimal(repr(value) if isinstance(value, float) else value)


FAILURES = (
    ValueError,
    InvalidOperation,
    bson.errors.BSONError,
    cbor2.CBORDecodeError,
    IonException,
)


def check(line):
    """What is wrong with a line, or None."""
    case = json.loads(line)
    expected = json.loads(case["json"], parse_float=Decimal, object_pairs_hook=Pairs)
    try:
        got = READERS[case["encoding"]](bytes.fromhex(case["hex"]))
    except FAILURES as error:
        return f"{type(error).__name__}: {error}"
    return difference(expected, got, case["encoding"])


def main():
    passed = failed = 0
    for number, line in enumerate(sys.stdin, start=1):
        problem = check(line)
        if problem is None:
            passed += 1
        else:
            failed += 1
            print(f"line {number} ({json.loads(line)['encoding']}): {problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
