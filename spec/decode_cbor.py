"""CBOR (RFC 8949) to canonical text: definite and indefinite lengths and every width are read.

Of the tags only 2, 3 and 4 are, because dropping another one would change the value.
"""

from canonical import Reader, Text, float_text, integer_text
from problem import corrupt, not_json

UNSIGNED, NEGATIVE, BYTES, STRING, ARRAY, MAP, TAG, OTHER = range(8)
INDEFINITE = 31
BREAK = 0xFF
WIDTHS = {24: ">B", 25: ">H", 26: ">I", 27: ">Q"}
FLOATS = {25: ">e", 26: ">f", 27: ">d"}
LITERALS = {20: "false", 21: "true", 22: "null"}


def argument(reader, head):
    low = head & 0x1F
    if low < 24:
        return low
    if low not in WIDTHS:
        raise corrupt("reserved additional information")
    return reader.number(WIDTHS[low])


def chunks(reader, head):
    """The content of a byte or text string, in one piece or in chunks."""
    if head & 0x1F != INDEFINITE:
        return [reader.take(argument(reader, head))]
    pieces = []
    while (inner := reader.byte()) != BREAK:
        if inner >> 5 != head >> 5:
            raise corrupt("a chunk that is not of its string's type")
        pieces.append(reader.take(argument(reader, inner)))
    return pieces


def string(reader, head):
    pieces = chunks(reader, head)
    # Each chunk is UTF-8 by itself.
    return "".join(Reader(piece).string(len(piece)) for piece in pieces)


def bignum(reader, tag):
    head = reader.byte()
    if head >> 5 != BYTES:
        raise corrupt("a bignum that is not a byte string")
    magnitude = int.from_bytes(b"".join(chunks(reader, head)), "big")
    integer_text(magnitude)
    return magnitude if tag == 2 else -1 - magnitude


def integer(reader, head):
    """An integer of major type 0 or 1, or None."""
    if head >> 5 == UNSIGNED:
        return argument(reader, head)
    if head >> 5 == NEGATIVE:
        return -1 - argument(reader, head)
    return None


def decimal_fraction(reader):
    """The text <mantissa>e<exponent>, which is never expanded."""
    head = reader.byte()
    is_indefinite = head == ARRAY << 5 | INDEFINITE
    if head >> 5 != ARRAY or (not is_indefinite and argument(reader, head) != 2):
        raise corrupt("a decimal fraction that is not an array of two")
    exponent = integer(reader, reader.byte())
    if exponent is None:
        raise corrupt("a decimal fraction whose exponent is no integer")
    head = reader.byte()
    mantissa = integer(reader, head)
    if mantissa is None:
        tag = argument(reader, head) if head >> 5 == TAG else None
        if tag not in (2, 3):
            raise corrupt("a decimal fraction whose mantissa is no integer")
        mantissa = bignum(reader, tag)
    if is_indefinite and reader.byte() != BREAK:
        raise corrupt("a decimal fraction that is not an array of two")
    return f"{integer_text(mantissa)}e{exponent}"


def other(reader, head):
    low = head & 0x1F
    if low in LITERALS:
        return LITERALS[low]
    if low in FLOATS:
        return float_text(reader.number(FLOATS[low]))
    if low < 24:
        raise not_json("a simple value")
    if low == 24:
        if reader.byte() < 32:
            raise corrupt("a simple value in a longer form than it has")
        raise not_json("a simple value")
    raise corrupt("a break where none may stand, or reserved additional information")


def tagged(reader, head):
    tag = argument(reader, head)
    if tag in (2, 3):
        return integer_text(bignum(reader, tag))
    if tag == 4:
        return decimal_fraction(reader)
    raise not_json("a tag that is not of a number")


def read_cbor(data, room):
    reader, text = Reader(data), Text(room)
    # How many values or pairs are still to come (None: until a break), and whether they are pairs.
    levels = [(1, False)]
    while True:
        left, is_map = levels.pop()
        is_over = left == 0
        if left is None and reader.peek() == BREAK:
            is_over = reader.byte() == BREAK
        if is_over:
            if not levels:
                return reader.finish(text)
            text.close()
            continue
        levels.append((None if left is None else left - 1, is_map))
        if is_map:
            head = reader.byte()
            if head == BREAK:
                raise corrupt("a break where none may stand")
            if head >> 5 != STRING:
                raise not_json("a map key that is not a text string")
            text.key(string(reader, head))
        head = reader.byte()
        major = head >> 5
        if major in (UNSIGNED, NEGATIVE):
            text.value(str(integer(reader, head)))
        elif major == STRING:
            text.string(string(reader, head))
        elif major in (ARRAY, MAP):
            length = None
            if head & 0x1F != INDEFINITE:
                length = argument(reader, head)
                if length * (2 if major == MAP else 1) > len(data) - reader.at:
                    raise corrupt("the end of the input within a value")
            text.open(major == MAP)
            levels.append((length, major == MAP))
        elif major == OTHER:
            text.value(other(reader, head))
        elif major == BYTES:
            raise not_json("a byte string")
        else:
            text.value(tagged(reader, head))
