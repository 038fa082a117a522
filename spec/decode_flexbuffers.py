"""FlexBuffers to canonical text: values are found by offsets that point backwards from the end.

The pairs of a map come in the order in which its keys' texts stand in the buffer. Offsets may lead to
the same bytes many times, so elements and texts are counted, and more than the limits are refused.
"""

import struct

from canonical import Text, float_text, utf8
from problem import corrupt, not_json

NULL, INT, UINT, FLOAT, KEY, STRING = range(6)
INDIRECT_INT, INDIRECT_UINT, INDIRECT_FLOAT, MAP, VECTOR, VECTOR_INT = range(6, 12)
VECTOR_KEY, VECTOR_STRING_DEPRECATED, VECTOR_INT_2, VECTOR_FLOAT_4 = 14, 15, 16, 24
BLOB, BOOL, VECTOR_BOOL = 25, 26, 36

# Keys and strings together: what the longest payload may have.
TEXT_BYTES_MAX = 256 << 20


class Buffer:
    """The bytes, and what may still be read of them."""

    def __init__(self, data):
        self.data = data
        self.elements_left = len(data)
        self.text_left = TEXT_BYTES_MAX

    def take(self, at, count):
        if at + count > len(self.data):
            raise corrupt("the end of the input within a value")
        return self.data[at : at + count]

    def unsigned(self, at, width):
        return int.from_bytes(self.take(at, width), "little")

    def target(self, at, width):
        """Where the offset at this place leads."""
        to = at - self.unsigned(at, width)
        if to < 0:
            raise corrupt("an offset that leads nowhere")
        return to

    def before(self, at, width, count):
        """The number that stands `count` numbers in front of this place."""
        if at < width * count:
            raise corrupt("a length before the start")
        return self.unsigned(at - width * count, width)

    def number(self, kind, at, width):
        content = self.take(at, width)
        if kind != FLOAT:
            return str(int.from_bytes(content, "little", signed=kind == INT))
        if width < 4:
            raise corrupt("a float of less than 32 bits")
        return float_text(struct.unpack("<f" if width == 4 else "<d", content)[0])

    def pay(self, at, count, bytes_each):
        if count > (len(self.data) - at) // bytes_each:
            raise corrupt("the end of the input within a value")
        self.elements_left -= count * bytes_each
        if self.elements_left < 0:
            raise corrupt("values that stand in more places than there are bytes")

    def text(self, content):
        self.text_left -= len(content)
        if self.text_left < 0:
            raise corrupt("more text than a payload has")
        return utf8(content)

    def key(self, at):
        end = self.data.find(b"\0", at)
        if end < 0:
            raise corrupt("the end of the input within a value")
        return self.text(self.data[at:end])

    def string(self, at, width):
        length = self.before(at, width, 1)
        if self.take(at, length + 1)[-1] != 0:
            raise corrupt("a string without its NUL")
        return self.text(self.data[at : at + length])


def vector(buffer, kind, at, width):
    """Its elements: the key or None, the place, the width and the type of each."""
    if VECTOR_INT_2 <= kind <= VECTOR_FLOAT_4:
        count, of, bytes_each = (kind - VECTOR_INT_2) // 3 + 2, (kind - VECTOR_INT_2) % 3 + 1, width
    else:
        count, bytes_each = buffer.before(at, width, 1), width
        if kind == VECTOR:
            of, bytes_each = None, width + 1
        elif VECTOR_INT <= kind <= VECTOR_KEY:
            of = kind - VECTOR_INT + INT
        elif kind == VECTOR_STRING_DEPRECATED:
            of = KEY
        elif kind == VECTOR_BOOL:
            of = BOOL
        else:
            raise corrupt("a type that there is not")
    buffer.pay(at, count, bytes_each)
    types = buffer.data[at + count * width :]
    return [
        (None, at + index * width, width, types[index] if of is None else of << 2)
        for index in range(count)
    ]


def pairs(buffer, at, width):
    count, key_width = buffer.before(at, width, 1), buffer.before(at, width, 2)
    if key_width not in (1, 2, 4, 8):
        raise corrupt("keys of an impossible width")
    buffer.before(at, width, 3)
    keys = buffer.target(at - 3 * width, width)
    if buffer.before(keys, key_width, 1) != count:
        raise corrupt("a map with more keys than values, or fewer")
    buffer.pay(at, count, width + 1)
    types = buffer.data[at + count * width :]
    found = []
    for index in range(count):
        key = buffer.target(keys + index * key_width, key_width)
        found.append((key, at + index * width, width, types[index]))
    return sorted(found)


def read_flexbuffers(data, room):
    buffer, text = Buffer(data), Text(room)
    width = data[-1] if len(data) > 2 else 0
    if width not in (1, 2, 4, 8) or width > len(data) - 2:
        raise corrupt("a root of an impossible width")
    # The elements that are still to come, of each map and vector from the last one on.
    levels = [[(None, len(data) - 2 - width, width, data[-2])]]
    while True:
        if not levels[-1]:
            levels.pop()
            if not levels:
                return str(text)
            text.close()
            continue
        key, at, width, packed = levels[-1].pop()
        if key is not None:
            text.key(buffer.key(key))
        kind, child = packed >> 2, 1 << (packed & 3)
        if kind == NULL:
            text.value("null")
        elif kind == BOOL:
            text.value("true" if buffer.unsigned(at, width) else "false")
        elif INT <= kind <= FLOAT:
            text.value(buffer.number(kind, at, width))
        elif INDIRECT_INT <= kind <= INDIRECT_FLOAT:
            place = buffer.target(at, width)
            text.value(buffer.number(kind - INDIRECT_INT + INT, place, child))
        elif kind == KEY:
            text.string(buffer.key(buffer.target(at, width)))
        elif kind == STRING:
            text.string(buffer.string(buffer.target(at, width), child))
        elif kind == BLOB:
            raise not_json("binary data")
        else:
            place = buffer.target(at, width)
            elements = pairs(buffer, place, child) if kind == MAP else vector(buffer, kind, place, child)
            text.open(kind == MAP)
            levels.append(elements[::-1])
