"""Smile 1.0 to canonical text, with the tables of keys and strings that were seen before.

The tables must fill and empty themselves exactly as the page says: a difference of one entry reads
as another string and not as an error.
"""

import struct

from canonical import Reader, Text, float_text, integer_text, utf8
from problem import corrupt, not_json

SHARED_MAX = 1024
ARRAY_START, ARRAY_END, OBJECT_START, OBJECT_END = 0xF8, 0xF9, 0xFA, 0xFB
STRING_END, END_OF_CONTENT = 0xFC, 0xFF
LITERALS = {0x21: "null", 0x22: "false", 0x23: "true"}


class Seen:
    """The strings that can be referred to, or nothing where the header says that none are."""

    def __init__(self, is_shared):
        self.is_shared = is_shared
        self.strings = []

    def add(self, string):
        if self.is_shared:
            if len(self.strings) == SHARED_MAX:
                self.strings.clear()
            self.strings.append(string)
        return string

    def find(self, index):
        if index >= len(self.strings):
            raise corrupt("a reference to a string that was not there")
        return self.strings[index]


def ascii_only(content):
    if not content.isascii():
        raise corrupt("an ASCII string that is not ASCII")
    return content.decode("ascii")


def long_index(reader, head, short):
    index = (head & 3) << 8 | reader.byte()
    if index < short:
        raise corrupt("a reference in a longer form than it has")
    return index


def unsigned(reader, bits):
    """Seven bits a byte from the most significant, six in the last, whose top bit is set."""
    value = 0
    while True:
        byte = reader.byte()
        if byte >= 0xC0:
            raise corrupt("an integer whose last byte has bit 6 set")
        shift, digit = (7, byte) if byte < 0x80 else (6, byte & 0x3F)
        value = value << shift | digit
        if value >> bits:
            raise corrupt("an integer that is wider than its type")
        if byte >= 0x80:
            return value


def zigzag(value):
    return value >> 1 ^ -(value & 1)


def seven_bit_groups(reader, count, first_bits):
    groups = reader.take(count)
    if groups[0] >> first_bits or any(group >= 0x80 for group in groups):
        raise corrupt("a float with a bit that is not used")
    value = 0
    for group in groups:
        value = value << 7 | group
    return value


def big_integer(reader):
    """An integer in two's complement: its length in bytes, then seven bits a byte."""
    length = unsigned(reader, 32)
    packed = reader.take((length * 8 + 6) // 7)
    value = 0
    for index, byte in enumerate(packed):
        is_last = index + 1 == len(packed)
        width = length * 8 - 7 * index if is_last else 7
        if byte >> width:
            raise corrupt("binary data with a bit that is not used")
        value = value << width | byte
    if length == 0:
        raise corrupt("a big number without bytes")
    if value >> (length * 8 - 1):
        value -= 1 << (length * 8)
    return integer_text(value)


def big_decimal(reader):
    scale = zigzag(unsigned(reader, 32))
    return f"{big_integer(reader)}e{-scale}"


NUMBERS = {
    0x24: lambda reader: str(zigzag(unsigned(reader, 32))),
    0x25: lambda reader: str(zigzag(unsigned(reader, 64))),
    0x26: big_integer,
    0x28: lambda reader: float_text(
        # Of the 35 bits the upper three say nothing: some writers fill them with the sign.
        struct.unpack(">f", (seven_bit_groups(reader, 5, 7) & 0xFFFF_FFFF).to_bytes(4, "big"))[0]
    ),
    0x29: lambda reader: float_text(
        struct.unpack(">d", seven_bit_groups(reader, 10, 1).to_bytes(8, "big"))[0]
    ),
    0x2A: big_decimal,
}


def read_key(reader, head, keys):
    if 0x40 <= head <= 0x7F:
        return keys.find(head - 0x40)
    if 0x30 <= head <= 0x33:
        return keys.find(long_index(reader, head, 64))
    if head == 0x20:
        return ""
    if 0x80 <= head <= 0xBF:
        return keys.add(ascii_only(reader.take((head & 0x3F) + 1)))
    if 0xC0 <= head <= 0xF7:
        return keys.add(reader.string(head - 0xC0 + 2))
    if head == 0x34:
        return keys.add(utf8(reader.until(STRING_END)))
    raise corrupt("a byte that starts no key")


def read_string(reader, head, strings):
    """The string with this head, or None if it is no string's."""
    if 0x01 <= head <= 0x1F:
        return strings.find(head - 1)
    if 0xEC <= head <= 0xEF:
        return strings.find(long_index(reader, head, 31))
    if head == 0x20:
        return ""
    if 0x40 <= head <= 0x7F:
        return strings.add(ascii_only(reader.take((head & 0x3F) + 1)))
    if 0x80 <= head <= 0xBF:
        return strings.add(reader.string((head & 0x3F) + 2))
    if head == 0xE0:
        return ascii_only(reader.until(STRING_END))
    if head == 0xE4:
        return utf8(reader.until(STRING_END))
    return None


def read_smile(data, room):
    reader, text = Reader(data), Text(room)
    if reader.take(3) != b":)\n":
        raise corrupt("no Smile header")
    flags = reader.byte()
    if flags & 0xF0:
        raise corrupt("a version of Smile other than 0")
    keys, strings = Seen(flags & 1 != 0), Seen(flags & 2 != 0)
    levels = []
    while True:
        head = reader.byte()
        if levels and head == levels[-1]:
            text.close()
            levels.pop()
        else:
            if levels and levels[-1] == OBJECT_END:
                text.key(read_key(reader, head, keys))
                head = reader.byte()
            if head in (ARRAY_START, OBJECT_START):
                text.open(head == OBJECT_START)
                levels.append(head + 1)
            elif head in LITERALS:
                text.value(LITERALS[head])
            elif 0xC0 <= head <= 0xDF:
                text.value(str(zigzag(head & 0x1F)))
            elif head in NUMBERS:
                text.value(NUMBERS[head](reader))
            elif (string := read_string(reader, head, strings)) is not None:
                text.string(string)
            elif head in (0xE8, 0xFD):
                raise not_json("binary data")
            else:
                raise corrupt("a byte that starts no value")
        if not levels:
            break
    if reader.peek() == END_OF_CONTENT:
        reader.byte()
    return reader.finish(text)
