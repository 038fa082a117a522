"""BSON 1.1 to canonical text: documents, arrays, strings, numbers, booleans and null.

A length is checked where it stands and again where its terminator does. The keys of arrays say
nothing and are skipped. The other types of BSON have no form in JSON and are refused by name.
"""

from canonical import Reader, Text, float_text, utf8
from problem import corrupt, not_json

NO_JSON = (0x05, 0x06, 0x07, 0x09, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x11, 0x13, 0x7F, 0xFF)


def document_end(reader, outer_end):
    """Reads the length of a document and returns where the document ends."""
    start = reader.at
    length = reader.number("<i")
    if length > outer_end - start:
        raise corrupt("the end of the input within a value")
    if length < 5:
        raise corrupt("a document shorter than its length field")
    return start + length


def string(reader):
    length = reader.number("<i")
    if length < 1:
        raise corrupt("a string without a terminator")
    content = reader.string(length - 1)
    if reader.byte() != 0:
        raise corrupt("a string without a terminator")
    return content


def boolean(reader):
    byte = reader.byte()
    if byte > 1:
        raise corrupt("a boolean that is neither 0 nor 1")
    return "true" if byte else "false"


SCALARS = {
    0x01: lambda reader: float_text(reader.number("<d")),
    0x08: boolean,
    0x0A: lambda reader: "null",
    0x10: lambda reader: str(reader.number("<i")),
    0x12: lambda reader: str(reader.number("<q")),
}


def read_bson(data, room):
    reader, text = Reader(data), Text(room)
    # Where each document that is being read ends, and whether it is an array.
    levels = [(document_end(reader, len(data)), False)]
    text.open(True)
    while levels:
        end, is_array = levels[-1]
        kind = reader.byte()
        if kind == 0:
            if reader.at != end:
                raise corrupt("a document that ends before its length")
            text.close()
            levels.pop()
            continue
        key = utf8(reader.until(0))
        if not is_array:
            text.key(key)
        if kind == 0x02:
            text.string(string(reader))
        elif kind in (0x03, 0x04):
            levels.append((document_end(reader, end), kind == 0x04))
            text.open(kind == 0x03)
            continue
        elif kind in SCALARS:
            text.value(SCALARS[kind](reader))
        elif kind in NO_JSON:
            raise not_json(f"an element of type {kind:#04x}")
        else:
            raise corrupt("an unknown type of element")
        if reader.at >= end:
            raise corrupt("a value that reaches past its document")
    return reader.finish(text)
