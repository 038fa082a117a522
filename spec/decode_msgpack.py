"""MessagePack to canonical text: every form of a value is read, also a longer one than needed.

Keys must be strings, and what JSON has no word for (binary data, extensions) is refused by name.
"""

from canonical import Reader, Text, float_text
from problem import corrupt, not_json

INTEGERS = {
    0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}
FLOATS = {0xCA: ">f", 0xCB: ">d"}
STRING_LENGTHS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
ARRAY_LENGTHS = {0xDC: ">H", 0xDD: ">I"}
MAP_LENGTHS = {0xDE: ">H", 0xDF: ">I"}
LITERALS = {0xC0: "null", 0xC2: "false", 0xC3: "true"}


def string_length(reader, head):
    """The length of a string with this head, or None if it is no string's."""
    if 0xA0 <= head <= 0xBF:
        return head & 0x1F
    if head in STRING_LENGTHS:
        return reader.number(STRING_LENGTHS[head])
    return None


def container(reader, head):
    """Whether an array or map with this head is a map, and its length; or None."""
    if 0x80 <= head <= 0x9F:
        return head < 0x90, head & 0x0F
    if head in ARRAY_LENGTHS:
        return False, reader.number(ARRAY_LENGTHS[head])
    if head in MAP_LENGTHS:
        return True, reader.number(MAP_LENGTHS[head])
    return None


def number(reader, head):
    """The text of a number with this head, or None if it is no number's."""
    if head < 0x80:
        return str(head)
    if head >= 0xE0:
        return str(head - 0x100)
    if head in INTEGERS:
        return str(reader.number(INTEGERS[head]))
    if head in FLOATS:
        return float_text(reader.number(FLOATS[head]))
    return None


def read_msgpack(data, room):
    reader, text = Reader(data), Text(room)
    # How many values or pairs are still to come, and whether they are pairs; first the whole.
    levels = [(1, False)]
    while True:
        left, is_map = levels.pop()
        if left == 0:
            if not levels:
                return reader.finish(text)
            text.close()
            continue
        levels.append((left - 1, is_map))
        if is_map:
            head = reader.byte()
            length = string_length(reader, head)
            if length is None:
                raise corrupt("C1") if head == 0xC1 else not_json("a key that is not a string")
            text.key(reader.string(length))
        head = reader.byte()
        if head in LITERALS:
            text.value(LITERALS[head])
        elif (found := container(reader, head)) is not None:
            is_map, length = found
            if length * (2 if is_map else 1) > len(data) - reader.at:
                raise corrupt("the end of the input within a value")
            text.open(is_map)
            levels.append((length, is_map))
        elif (length := string_length(reader, head)) is not None:
            text.string(reader.string(length))
        elif (digits := number(reader, head)) is not None:
            text.value(digits)
        else:
            raise corrupt("C1") if head == 0xC1 else not_json("binary data or an extension")
