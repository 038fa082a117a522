#!/usr/bin/env python3
"""Runs every vector with the reference decoder; the Rust tests run the same files.

It ends with the line "N passed, N failed", and the Rust tests compare N with their own count, so a
file that one side does not see can't go unnoticed. It exits 1 if anything failed.
"""

import json
import sys
from pathlib import Path

import documents
import envelope
from dictionary import read_dictionary
from problem import Problem, Undecodable

VECTORS = Path(__file__).resolve().parent.parent / "vectors"

IDS = {
    "msgpack": 0x12,
    "cbor": 0x13,
    "bson": 0x14,
    "smile": 0x15,
    "columnar": 0x16,
    "flexbuffers": 0x1B,
    "ion": 0x1C,
}

# The length that an envelope would announce for encoded bytes that do not decode.
TEXT_BYTES = 1 << 10


def payload_of(vector):
    if "payload_hex" in vector:
        return bytes.fromhex(vector["payload_hex"])
    return vector["payload_text"].encode()


def header_of(header):
    return {**header, "fields": [(kind, bytes.fromhex(value)) for kind, value in header["fields"]]}


def bases_of(vector):
    """The payloads that the reader has."""
    if "base_hex" in vector:
        return [bytes.fromhex(vector["base_hex"])]
    return [vector["base_text"].encode()] if "base_text" in vector else []


def check_envelope(vector):
    """What is wrong with an envelope's vector, or None."""
    value = bytes.fromhex(vector["hex"])
    limit_bytes = vector.get("limit_bytes", envelope.LIMIT_BYTES)
    dictionaries = []
    if "dictionary" in vector:
        dictionaries.append(read_dictionary((VECTORS / vector["dictionary"]).read_bytes()))
    try:
        if vector["is_interop"]:
            header, payload = envelope.unpack_interop(value, limit_bytes)
        else:
            header, payload = envelope.read(value, dictionaries, limit_bytes, bases_of(vector))
    except Problem as problem:
        if vector["result"] != "invalid":
            return str(problem)
        return None if problem.code == vector["error"] else f"{problem}, not {vector['error']}"
    if vector["result"] == "invalid":
        return f"accepted, but it is {vector['error']}"
    if payload != payload_of(vector):
        return f"unpacked to {payload!r}"
    if vector["result"] == "plain":
        return None if header is None else "taken for an envelope"
    return None if header == header_of(vector["header"]) else f"the header is {header}"


def check_encoding(vector):
    """What is wrong with an encoding's vector, or None. We only decode, so refusals pass."""
    encoding = IDS.get(vector["encoding"])
    if vector["result"] == "refused" or encoding is None:
        return None
    is_valid = vector["result"] == "valid"
    text_bytes = envelope.LIMIT_BYTES
    if encoding == documents.COLUMNAR:
        text_bytes = len(payload_of(vector)) if is_valid else TEXT_BYTES
    try:
        text = documents.decode(encoding, bytes.fromhex(vector["hex"]), text_bytes, None)
    except Undecodable as error:
        if is_valid:
            return str(error)
        return None if error.kind == vector["error"] else f"{error}, not {vector['error']}"
    if not is_valid:
        return f"decoded to {text}"
    return None if text == payload_of(vector) else f"decoded to {text}"


CHECKS = (
    ("envelope", check_envelope),
    ("interop", check_envelope),
    ("encodings", check_encoding),
)


def main():
    passed = failed = 0
    for folder, check in CHECKS:
        files = sorted((VECTORS / folder).glob("*.json"))
        if not files:
            print(f"vectors/{folder} holds no vectors")
            failed += 1
        for file in files:
            for vector in json.loads(file.read_text())["vectors"]:
                vector["is_interop"] = folder == "interop"
                wrong = check(vector)
                if wrong is None:
                    passed += 1
                else:
                    failed += 1
                    print(f"{folder}/{file.stem}: {vector['name']}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
