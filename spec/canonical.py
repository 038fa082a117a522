"""The canonical JSON text of spec/json-text.md: how values are written, and the reader of bytes.

The usual packages are not used for it, because they drop what the text keeps (the second of two
equal keys, the digits of a decimal fraction) and accept what the format refuses. Nothing recurses,
so that nesting costs memory and not the stack.
"""

import math
import struct
import sys

from problem import corrupt, not_json

# Numbers of thousands of digits are decoded; Python's own limit is for other uses.
sys.set_int_max_str_digits(0)

# The longest magnitude of a big number, in bytes: 8,192 decimal digits.
MAGNITUDE_BYTES_MAX = 3403

SHORT_ESCAPES = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
ESCAPES = {code: f"\\u{code:04x}" for code in range(0x20)} | SHORT_ESCAPES


def quoted(string):
    return f'"{string.translate(ESCAPES)}"'


def float_text(value):
    """The shortest digits that read back as the same double, in the layout of spec/json-text.md."""
    if not math.isfinite(value):
        raise not_json("NaN or an infinity")
    sign = "-" if math.copysign(1, value) < 0 else ""
    # Python's repr has the shortest digits too; only its layout differs.
    mantissa, _, exponent = repr(abs(value)).partition("e")
    integer, _, fraction = mantissa.partition(".")
    digits = (integer + fraction).lstrip("0")
    # The place of the first digit: 0 for ones, 1 for tens, -1 for tenths.
    place = int(exponent or 0) + len(integer) - 1
    place -= len(integer + fraction) - len(digits)
    digits = digits.rstrip("0")
    if not digits:
        return sign + "0.0"
    if 0 <= place <= 15:
        digits = digits.ljust(place + 2, "0")
        return f"{sign}{digits[:place + 1]}.{digits[place + 1:]}"
    if -5 <= place < 0:
        return f"{sign}0.{'0' * (-place - 1)}{digits}"
    point = "." if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{point}{digits[1:]}e{place:+d}"


def integer_text(value):
    if (abs(value).bit_length() + 7) // 8 > MAGNITUDE_BYTES_MAX:
        raise not_json("a number with more digits than the limit")
    return str(value)


class Text:
    """The text that is being written: values, keys, and the ends of arrays and objects.

    It stops at `room` bytes, because references make a text longer than what it is decoded from.
    """

    def __init__(self, room):
        self.room = room
        self.parts = []
        self.ends = []
        self.separator = ""

    def add(self, *parts):
        self.parts += parts
        self.room -= sum(len(part.encode()) for part in parts)
        if self.room < 0:
            raise corrupt("a longer text than announced")

    def key(self, string):
        self.add(self.separator, quoted(string), ":")
        self.separator = ""

    def value(self, text):
        self.add(self.separator, text)
        self.separator = ","

    def string(self, string):
        self.value(quoted(string))

    def open(self, is_object):
        self.add(self.separator, "{" if is_object else "[")
        self.ends.append("}" if is_object else "]")
        self.separator = ""

    def close(self):
        self.add(self.ends.pop())
        self.separator = ","

    def __str__(self):
        return "".join(self.parts)


class Reader:
    """A position in bytes that nobody vouches for."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise corrupt("the end of the input within a value")
        self.at += count
        return self.data[self.at - count : self.at]

    def byte(self):
        return self.take(1)[0]

    def peek(self):
        return self.data[self.at] if self.at < len(self.data) else None

    def number(self, layout):
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]

    def until(self, end):
        found = self.data.find(bytes([end]), self.at)
        if found < 0:
            raise corrupt("the end of the input within a value")
        content = self.take(found - self.at)
        self.at += 1
        return content

    def string(self, count):
        return utf8(self.take(count))

    def finish(self, text):
        if self.at < len(self.data):
            raise corrupt("bytes after the value")
        return str(text)


def utf8(content):
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise corrupt("a string that is not UTF-8") from error
