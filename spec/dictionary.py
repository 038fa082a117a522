"""Dictionaries: the file of spec/dictionary.md, one in zstd's own format, or raw content.

What envelopes and codecs need is the same of all three: an id, the part for the codec, and the
model of the columnar encoding, which only the first kind has.
"""

import hashlib

from decode_columnar import read_model
from problem import corrupt
from varint import read_varint
from xxh64 import xxh64

FILE_MAGIC, VERSION = b"cinchdi", 1
ZSTD_MAGIC = b"\x37\xa4\x30\xec"
ID_MIN, ID_END = 1 << 15, 1 << 31
BYTES_MIN, BYTES_MAX = 8, 16 << 20
SHA256_BYTES = 32

DESCRIPTION, CODEC, MODEL = 0x01, 0x82, 0x83


class Dictionary:
    """What a reader has under an id."""

    def __init__(self, number, codec_part, model=None):
        self.id = number
        self.codec_part = codec_part
        self.model = model


def read_dictionary(content):
    """The dictionary in the bytes of a file; raises an Undecodable."""
    if not BYTES_MIN <= len(content) <= BYTES_MAX:
        raise corrupt("a dictionary of no usual size")
    if content.startswith(FILE_MAGIC):
        return read_file(content)
    if content.startswith(ZSTD_MAGIC):
        return Dictionary(int.from_bytes(content[4:8], "little"), content)
    return Dictionary(ID_MIN + xxh64(content) % (ID_END - ID_MIN), content)


def read_file(content):
    """A file of our own format."""
    if content[len(FILE_MAGIC)] != VERSION:
        raise corrupt("a dictionary file of another version")
    at = len(FILE_MAGIC) + 5
    end = len(content) - SHA256_BYTES
    if end < at or hashlib.sha256(content[:end]).digest() != content[end:]:
        raise corrupt("a dictionary that is cut short or damaged")
    number = int.from_bytes(content[at - 4 : at], "little")
    if not ID_MIN <= number < ID_END:
        raise corrupt("a reserved id of a dictionary")
    parts = {}
    while at < end:
        kind = content[at]
        found = read_varint(content[:end], at + 1)
        if found is None or found[1] + found[0] > end:
            raise corrupt("a part of a dictionary that is cut short")
        if kind <= max(parts, default=0):
            raise corrupt("parts of a dictionary that are out of order")
        if kind & 0x80 and kind not in (CODEC, MODEL):
            raise corrupt(f"an unknown part of a dictionary, {kind:#04x}")
        length, start = found
        at = start + length
        parts[kind] = content[start:at]
    try:
        parts.get(DESCRIPTION, b"").decode()
    except UnicodeDecodeError as error:
        raise corrupt("a description that is no UTF-8") from error
    if len(parts.get(CODEC, b"")) < BYTES_MIN:
        raise corrupt("a dictionary without a codec part")
    model = read_model(parts[MODEL]) if MODEL in parts else None
    return Dictionary(number, parts[CODEC], model)
