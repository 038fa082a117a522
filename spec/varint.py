"""The varint of spec/envelope.md, which dictionary files and streams of records have too."""


def read_varint(data, at):
    """The number at `at` and the offset after it, or None: cut short, not minimal, or too large."""
    value = 0
    for index in range(5):
        if at + index >= len(data):
            return None
        byte = data[at + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte & 0x80 == 0:
            if (index > 0 and byte == 0) or value > 0xFFFF_FFFF:
                return None
            return value, at + index + 1
    return None
