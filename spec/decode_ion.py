"""Ion 1.0 (binary) to canonical text: tables of symbols in front, then one value.

Symbols are read as strings and nulls with a type as nulls; what else JSON has no word for is refused.
"""

import struct

from canonical import MAGNITUDE_BYTES_MAX, Reader, Text, float_text
from problem import corrupt, not_json

MARKER = b"\xe0\x01\x00\xea"
SYSTEM = [
    "$ion",
    "$ion_1_0",
    "$ion_symbol_table",
    "name",
    "version",
    "imports",
    "symbols",
    "max_id",
    "$ion_shared_symbol_table",
]
SYMBOL_TABLE, IMPORTS, SYMBOLS = 3, 6, 7

NULL, BOOL, POSITIVE, NEGATIVE, FLOAT, DECIMAL, TIMESTAMP, SYMBOL, STRING = range(9)
CLOB, BLOB, LIST, S_EXPRESSION, STRUCT, ANNOTATION = range(9, 15)
LONG, NULL_OF_KIND = 14, 15

NO_JSON = {
    TIMESTAMP: "a timestamp",
    CLOB: "binary data",
    BLOB: "binary data",
    S_EXPRESSION: "an S-expression",
    ANNOTATION: "an annotation",
}

GROUPS_MAX = 10
PLACES_MAX = 64


def groups(reader, value, byte, count):
    """The rest of a number in groups of 7 bits, the last of which has its top bit set."""
    while byte < 0x80:
        if count == GROUPS_MAX or value >> 56:
            raise corrupt("a number of more than 63 bits")
        byte = reader.byte()
        value = value << 7 | byte & 0x7F
        count += 1
    return value


def unsigned(reader):
    first = reader.byte()
    return groups(reader, first & 0x7F, first, 1)


def signed(reader, end):
    first = reader.byte()
    magnitude = groups(reader, first & 0x3F, first, 1)
    if reader.at > end:
        raise corrupt("a number that reaches past its value")
    return -magnitude if first & 0x40 else magnitude


def head(reader, limit):
    """The type, the lower half of the head, and where the value ends."""
    byte = reader.byte()
    kind, low = byte >> 4, byte & 0x0F
    is_sorted = kind == STRUCT and low == 1
    if kind == BOOL:
        length = 0
    elif low == LONG or is_sorted:
        length = unsigned(reader)
    else:
        length = 0 if low == NULL_OF_KIND else low
    if is_sorted and length == 0:
        raise corrupt("a sorted struct without fields")
    if length > len(reader.data) - reader.at:
        raise corrupt("the end of the input within a value")
    end = reader.at + length
    if end > limit:
        raise corrupt("a value that reaches past the one around it")
    return kind, low, end


def is_padding(kind, low):
    return kind == NULL and low != NULL_OF_KIND


def symbol(symbols, number):
    if number == 0:
        raise not_json("a symbol of unknown text")
    if number > len(symbols):
        raise corrupt("a symbol that is in no table")
    if symbols[number - 1] is None:
        raise not_json("a symbol of unknown text")
    return symbols[number - 1]


def magnitude(reader, end):
    content = reader.take(end - reader.at)
    if len(content) > 8:
        raise corrupt("a number of more than 64 bits")
    return int.from_bytes(content, "big")


def symbol_list(reader, end):
    found = []
    while reader.at < end:
        kind, low, value_end = head(reader, end)
        content = reader.take(value_end - reader.at)
        if kind == STRING and low != NULL_OF_KIND:
            found.append(Reader(content).string(len(content)))
        elif not is_padding(kind, low):
            found.append(None)
    return found


def symbol_table(reader, low, end, symbols):
    """The symbols that are known behind a table."""
    if low < 3 or low == NULL_OF_KIND:
        raise corrupt("an annotation without a value")
    length = unsigned(reader)
    annotations_end = reader.at + length
    number = unsigned(reader)
    if annotations_end < reader.at or annotations_end >= end:
        raise corrupt("an annotation without a value")
    if number != SYMBOL_TABLE:
        raise not_json("an annotation")
    reader.take(annotations_end - reader.at)
    kind, low, table_end = head(reader, end)
    if kind != STRUCT or low == NULL_OF_KIND or table_end != end:
        raise corrupt("a table of symbols that is no struct")
    is_addition, added = False, None
    while reader.at < table_end:
        field = unsigned(reader)
        kind, low, value_end = head(reader, table_end)
        if field == SYMBOLS and kind == LIST:
            if added is not None:
                raise corrupt("a table with two lists of symbols")
            added = symbol_list(reader, value_end)
        elif field == IMPORTS and kind == SYMBOL:
            is_addition = magnitude(reader, value_end) == SYMBOL_TABLE
        elif field == IMPORTS and kind == LIST and value_end > reader.at:
            raise not_json("an import of symbols from elsewhere")
        else:
            reader.take(value_end - reader.at)
    return (symbols if is_addition else SYSTEM) + (added or [])


def digits(content):
    """The digits of a magnitude, of which there may be 8,192."""
    if len(content.lstrip(b"\0")) > MAGNITUDE_BYTES_MAX:
        raise not_json("a number with more digits than the limit")
    return str(int.from_bytes(content, "big"))


def decimal(reader, end):
    if reader.at == end:
        return "0"
    exponent = signed(reader, end)
    content = bytearray(reader.take(end - reader.at))
    sign = ""
    if content and content[0] >= 0x80:
        content[0] &= 0x7F
        sign = "-"
    text = digits(bytes(content))
    if exponent == 0:
        return sign + text
    if -PLACES_MAX <= exponent < 0:
        text = text.rjust(1 - exponent, "0")
        return f"{sign}{text[:exponent]}.{text[exponent:]}"
    return f"{sign}{text}e{exponent}"


def number(reader, kind, end):
    content = reader.take(end - reader.at)
    if kind == FLOAT:
        if len(content) not in (0, 4, 8):
            raise corrupt("a float of another length than 0, 4 and 8")
        layout = {0: None, 4: ">f", 8: ">d"}[len(content)]
        return float_text(struct.unpack(layout, content)[0] if layout else 0.0)
    if kind == NEGATIVE and not content.strip(b"\0"):
        raise corrupt("a negative zero")
    return ("-" if kind == NEGATIVE else "") + digits(content)


def scalar(reader, kind, low, end, symbols, text):
    if low == NULL_OF_KIND and kind <= STRUCT:
        text.value("null")
    elif kind == BOOL:
        if low > 1:
            raise corrupt("a boolean that is neither")
        text.value("true" if low else "false")
    elif kind in (POSITIVE, NEGATIVE, FLOAT):
        text.value(number(reader, kind, end))
    elif kind == DECIMAL:
        text.value(decimal(reader, end))
    elif kind == STRING:
        text.string(reader.string(end - reader.at))
    elif kind == SYMBOL:
        text.string(symbol(symbols, magnitude(reader, end)))
    elif kind in NO_JSON:
        raise not_json(NO_JSON[kind])
    else:
        raise corrupt("a type that there is not")


def read_ion(data, room):
    reader, text, symbols = Reader(data), Text(room), SYSTEM
    if data[:4] != MARKER:
        raise corrupt("no version marker of Ion 1.0")
    reader.take(4)
    # Where each list and struct that is being read ends, and whether it is a struct.
    levels = []
    while True:
        if levels:
            end, is_struct = levels[-1]
            if reader.at == end:
                levels.pop()
                text.close()
                if not levels:
                    return reader.finish(text)
                continue
        else:
            end, is_struct = len(data), False
            if data.startswith(MARKER, reader.at):
                reader.take(4)
                symbols = SYSTEM
                continue
        field = unsigned(reader) if is_struct else None
        kind, low, value_end = head(reader, end)
        if is_padding(kind, low):
            reader.take(value_end - reader.at)
            continue
        if kind == ANNOTATION and not levels:
            symbols = symbol_table(reader, low, value_end, symbols)
            continue
        if field is not None:
            text.key(symbol(symbols, field))
        if kind in (LIST, STRUCT) and low != NULL_OF_KIND:
            text.open(kind == STRUCT)
            levels.append((value_end, kind == STRUCT))
            continue
        scalar(reader, kind, low, value_end, symbols, text)
        if not levels:
            return reader.finish(text)
