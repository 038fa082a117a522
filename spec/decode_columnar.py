"""The columnar encoding: columns to the text that they were made of, as in spec/columnar.md.

Every column is read whole and kept under its slot; then the text is written from the root, taking
the next of each column. What comes out is bytes: a payload is whatever it was, JSON or not. Numbers
are counted before anything is made of them, as few bytes may ask for very many values.
"""

from canonical import Reader
from problem import corrupt

SLOTS_MAX = 16 << 10
DEPTH_MAX = 256
VARIANTS_MAX = 64 << 10
KEYS_MAX = 1 << 20
TUPLE_MAX = 64

LONG_COLUMN = 8
BITS_64 = (1 << 64) - 1
UNIT_OF_DATES = "day"
INDENTATIONS = (b"", b"  ", b"    ", b"\t")


# --- Reading -------------------------------------------------------------------------------------


def read_number(reader, most=BITS_64, what="a number above its limit"):
    value = 0
    for index in range(10):
        byte = reader.byte()
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            break
    else:
        raise corrupt("a number of more than ten bytes")
    if value > most:
        raise corrupt(what)
    return value


def wrapped(value):
    """The integer of 64 bits and a sign that sums wrap around to."""
    value &= BITS_64
    return value - (1 << 64) if value >> 63 else value


def read_signed(reader):
    value = read_number(reader)
    return -(value + 1 >> 1) if value & 1 else value >> 1


def read_text(reader):
    return reader.until(0)


# --- Forms ---------------------------------------------------------------------------------------


def days_before_year(year):
    """The days from 0000-01-01 to the first of January of a year."""
    before = year - 1
    leap_years = before // 4 - before // 100 + before // 400 + 1 if year > 0 else 0
    return 365 * year + leap_years


DAYS_TO_1970 = days_before_year(1970)
LAST_DAY = days_before_year(10_000) - 1


def date_text(day):
    day = min(max(day + DAYS_TO_1970, 0), LAST_DAY)
    year = day // 366
    while days_before_year(year + 1) <= day:
        year += 1
    day -= days_before_year(year)
    is_leap = days_before_year(year + 1) - days_before_year(year) == 366
    month = 1
    for length in (31, 29 if is_leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30):
        if day < length:
            break
        day -= length
        month += 1
    return f"{year:04}-{month:02}-{day + 1:02}"


def time_text(value, separator, digits):
    seconds, part = divmod(value, 10**digits)
    day, second = divmod(seconds, 86_400)
    fraction = f".{part:0{digits}}" if digits else ""
    time = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    return f"{date_text(day)}{separator}{time}{fraction}"


def decimal_text(value, digits, kept_min):
    """A value with so many digits after the point, of which zeros at the end are left out."""
    whole, part = divmod(abs(value), 10**digits)
    fraction = f"{part:0{digits}}"
    fraction = fraction[:kept_min] + fraction[kept_min:].rstrip("0")
    return ("-" if value < 0 else "") + str(whole) + ("." + fraction if fraction else "")


def form_of(code):
    """How an integer is written in a form, and the unit of a form of times."""
    if code == 0x00:
        return str, None
    if code == 0x01:
        return date_text, UNIT_OF_DATES
    digits = (code - 0x10) % 0x20 + 1
    if 0x10 <= code < 0x90 and digits <= 18:
        kind = (code - 0x10) // 0x20
        if kind == 3:
            return (lambda value: f"{abs(value):0{digits}}"), None
        kept_min = (digits, 0, 1)[kind]
        return (lambda value: decimal_text(value, digits, kept_min)), None
    digits = code & 0x0F
    if code >> 4 in (9, 10) and digits <= 7:
        separator = "T" if code >> 4 == 9 else " "
        return (lambda value: time_text(value, separator, digits)), digits
    raise corrupt(f"form {code:#04x}")


def hex_text(value, is_upper, is_uuid):
    digits = value.hex()
    if is_uuid:
        digits = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    return digits.upper() if is_upper else digits


# --- The model -----------------------------------------------------------------------------------


class Slot:
    """A path: its variants, and the slots below it."""

    def __init__(self, depth):
        self.depth = depth
        self.variants = []
        self.keys = []
        self.positions = []
        self.element = None
        self.last_key_list = ()

    def copy(self):
        copy = Slot(self.depth)
        copy.variants = list(self.variants)
        copy.keys = list(self.keys)
        copy.positions = list(self.positions)
        copy.element = self.element
        copy.last_key_list = self.last_key_list
        return copy

    def below(self):
        """The slots right below, in the order of the format."""
        below = [slot for _, slot in self.keys] + self.positions
        return below if self.element is None else [*below, self.element]


class Model:
    """Slots by their numbers; a variant is a tuple whose first item says its kind."""

    def __init__(self):
        self.slots = [Slot(0)]
        self.variants = 0
        self.listed_keys = 0

    def copy(self):
        """A model for one payload, which adds to it."""
        copy = Model()
        copy.slots = [slot.copy() for slot in self.slots]
        copy.variants = self.variants
        copy.listed_keys = self.listed_keys
        return copy

    def add_slot(self, above):
        if above.depth == DEPTH_MAX:
            raise corrupt("too many slots above each other")
        if len(self.slots) == SLOTS_MAX:
            raise corrupt("too many slots")
        self.slots.append(Slot(above.depth + 1))
        return len(self.slots) - 1

    def read_additions(self, number, reader):
        slot = self.slots[number]
        for _ in range(read_number(reader, VARIANTS_MAX)):
            variant = self.read_variant(slot, reader)
            if self.variants == VARIANTS_MAX:
                raise corrupt("too many variants")
            self.variants += 1
            slot.variants.append(variant)

    def read_variant(self, slot, reader):
        def number(prefix, suffix):
            write, unit = form_of(reader.byte())
            return "number", prefix, suffix, write, unit, read_signed(reader)

        def hexadecimal(count, is_uuid):
            is_upper = reader.byte() != 0
            prefix, suffix = read_text(reader), read_text(reader)
            return "bytes", prefix, suffix, (is_upper, is_uuid), count

        code = reader.byte()
        if code == 0x00:
            return "constant", read_text(reader)
        if code == 0x01:
            return "text", b'"', b'"'
        if code == 0x02:
            return "text", b"", b""
        if code == 0x03:
            return "text", read_text(reader), read_text(reader)
        if code == 0x04:
            return "object", self.read_key_list(slot, reader)
        if code == 0x05:
            if slot.element is not None:
                raise corrupt("a second array variant")
            slot.element = self.add_slot(slot)
            return ("array",)
        if code == 0x06:
            return number(b"", b"")
        if code == 0x07:
            prefix, suffix = read_text(reader), read_text(reader)
            return number(prefix, suffix)
        if code == 0x08:
            return hexadecimal(reader.byte(), False)
        if code == 0x09:
            return hexadecimal(16, True)
        if code in (0x0A, 0x0B, 0x0C):
            return "constant", (b"true", b"false", b"null")[code - 0x0A]
        if code == 0x0D:
            return number(b'"', b'"')
        if code == 0x0E:
            return "constant", b'"' + read_text(reader) + b'"'
        if code == 0x0F:
            length = read_number(reader, TUPLE_MAX)
            while len(slot.positions) < length:
                slot.positions.append(self.add_slot(slot))
            return "tuple", length
        raise corrupt(f"variant {code:#04x}")

    def read_key_list(self, slot, reader):
        copied = read_number(reader, len(slot.last_key_list))
        added = read_number(reader)
        self.listed_keys += copied + added
        if self.listed_keys > KEYS_MAX:
            raise corrupt("too many keys in key lists")
        keys = list(slot.last_key_list[:copied])
        for _ in range(added):
            number = read_number(reader, len(slot.keys))
            if number == 0:
                slot.keys.append((read_text(reader), self.add_slot(slot)))
                number = len(slot.keys)
            keys.append(number - 1)
        slot.last_key_list = tuple(keys)
        return slot.last_key_list


def read_model(data):
    """The model of a dictionary file (spec/dictionary.md)."""
    model, reader = Model(), Reader(data)
    to_come = [0]
    while to_come:
        number = to_come.pop()
        model.read_additions(number, reader)
        if not model.slots[number].variants:
            raise corrupt("a slot without variants")
        to_come += reversed(model.slots[number].below())
    if reader.peek() is not None:
        raise corrupt("bytes after the model")
    return model


# --- Columns -------------------------------------------------------------------------------------


def read_small_numbers(reader, count, most):
    if count < LONG_COLUMN:
        return [read_number(reader, most) for _ in range(count)]
    way = reader.byte()
    if way == 0:
        return [read_number(reader, most) for _ in range(count)]
    if way == 1:
        return [read_number(reader, most)] * count
    raise corrupt(f"way {way:#04x} of small numbers")


def read_integers(reader, count, base, is_time):
    values = []
    way = reader.byte() if count >= LONG_COLUMN else 1 if is_time else 0
    if way <= 4:
        for at in range(count):
            before = values[at - way] if 0 < way <= at else base
            values.append(wrapped(before + read_signed(reader)))
    elif 0x11 <= way <= 0x18:
        least = read_signed(reader)
        planes = [reader.take(count) for _ in range(way - 0x10)]
        for column in zip(*planes):
            values.append(wrapped(least + int.from_bytes(column, "big")))
    elif way == 0x20:
        table = []
        for _ in range(reader.byte() + 1):
            base = wrapped(base + read_signed(reader))
            table.append(base)
        places = reader.take(count)
        if max(places) >= len(table):
            raise corrupt("a place beyond the table")
        values = [table[place] for place in places]
    else:
        raise corrupt(f"way {way:#04x} of integers")
    return values


class Column:
    """What is known of the values of one slot, in the order of the text."""

    def __init__(self, slot, count):
        self.slot = slot
        self.count = count
        self.symbols = None
        self.lengths = iter(())
        # Texts of integers and bytes by variant.
        self.numbers = {}
        self.texts = iter(())

    def counted(self):
        """How many values each variant has that some value has, by the variants' numbers."""
        counts = {}
        for symbol in self.symbols:
            counts[symbol] = counts.get(symbol, 0) + 1
        return sorted(counts.items())


def read_structure(model, reader, additions, changed, values_max):
    """The columns of all slots that have values, in order, by the numbers of slots."""
    base_slots = len(model.slots)
    counts = {0: 1}
    values = 1
    columns = {}
    to_come = [0]
    while to_come:
        number = to_come.pop()
        slot = model.slots[number]
        if number >= base_slots or number in changed:
            model.read_additions(number, additions)
        column = columns[number] = Column(slot, counts[number])
        if not slot.variants:
            raise corrupt("a slot without variants")
        if len(slot.variants) == 1:
            column.symbols = [0] * column.count
        else:
            column.symbols = read_small_numbers(reader, column.count, len(slot.variants) - 1)
        for symbol, times in column.counted():
            kind, *content = slot.variants[symbol]
            if kind == "object":
                below = [slot.keys[key][1] for key in content[0]]
            elif kind == "tuple":
                below = slot.positions[: content[0]]
            elif kind == "array":
                lengths = read_small_numbers(reader, times, (1 << 32) - 1)
                column.lengths = iter(lengths)
                below, times = [slot.element], sum(lengths)
            else:
                continue
            values += len(below) * times
            if values > values_max:
                raise corrupt("more values than the payload has bytes")
            for slot_below in below:
                counts[slot_below] = counts.get(slot_below, 0) + times
        to_come += [below for below in reversed(slot.below()) if counts.get(below, 0) > 0]
    return columns


def read_numbers(columns, reader):
    last_times = {}
    for column in columns.values():
        for symbol, times in column.counted():
            kind, *content = column.slot.variants[symbol]
            if kind == "number":
                _, _, write, unit, base = content
                base = last_times.get(unit, base)
                integers = read_integers(reader, times, base, unit is not None)
                if unit is not None:
                    last_times[unit] = integers[-1]
                column.numbers[symbol] = map(write, integers)
            elif kind == "bytes":
                _, _, kind_of_digits, count = content
                whole = reader.take(count * times)
                pieces = [whole[at * count : (at + 1) * count] for at in range(times)]
                texts = [hex_text(piece, *kind_of_digits) for piece in pieces]
                column.numbers[symbol] = iter(texts)


def read_texts(columns, reader, is_in_order):
    if is_in_order:
        # One after the other, whichever slot comes next.
        texts = iter(lambda: read_text(reader), None)
        for column in columns.values():
            column.texts = texts
        return
    for column in columns.values():
        kinds = [variant[0] for variant in column.slot.variants]
        if "text" in kinds:
            count = sum(kinds[symbol] == "text" for symbol in column.symbols)
            column.texts = iter([read_text(reader) for _ in range(count)])


# --- Text ----------------------------------------------------------------------------------------


class Output:
    """The text, which may not become longer than announced."""

    def __init__(self, room, style):
        self.room = room
        self.parts = []
        self.colon = b" " if style & 1 else b""
        self.indentation = INDENTATIONS[style >> 2 & 3]
        self.comma = b" " if style & 2 and not self.indentation else b""

    def add(self, part):
        self.room -= len(part)
        if self.room < 0:
            raise corrupt("a longer text than announced")
        self.parts.append(part)

    def line(self, depth):
        if self.indentation:
            self.add(b"\n" + depth * self.indentation)


def write_text(columns, output):
    # What is open: the members or elements to come, whether there were some, and the end.
    levels = []
    symbols = {number: iter(column.symbols) for number, column in columns.items()}
    number = 0
    while True:
        column = columns[number]
        slot, symbol = column.slot, next(symbols[number])
        kind, *content = slot.variants[symbol]
        if kind == "constant":
            output.add(content[0])
        elif kind == "text":
            output.add(content[0] + next(column.texts) + content[1])
        elif kind in ("number", "bytes"):
            output.add(content[0] + next(column.numbers[symbol]).encode() + content[1])
        elif kind == "object":
            output.add(b"{")
            levels.append([[slot.keys[key] for key in content[0]], 0, b"}"])
        elif kind == "tuple":
            output.add(b"[")
            elements = [(None, position) for position in slot.positions[: content[0]]]
            levels.append([elements, 0, b"]"])
        else:
            output.add(b"[")
            levels.append([[(None, slot.element)] * next(column.lengths), 0, b"]"])
        while levels and levels[-1][1] == len(levels[-1][0]):
            members, _, end = levels.pop()
            if members:
                output.line(len(levels))
            output.add(end)
        if not levels:
            return
        members, done, _ = levels[-1]
        levels[-1][1] += 1
        if done > 0:
            output.add(b"," + output.comma)
        output.line(len(levels))
        key, number = members[done]
        if key is not None:
            output.add(b'"' + key + b'":' + output.colon)


def read_columnar(data, text_bytes, model=None):
    """The text of exactly `text_bytes` that an encoded form was made of, as bytes."""
    model = Model() if model is None else model.copy()
    reader, additions, changed = Reader(data), Reader(b""), set()
    first = reader.byte()
    if first & 0x40:
        raise corrupt("a style that is not known")
    if first & 0x80:
        additions = Reader(reader.take(read_number(reader)))
        slot = 0
        for _ in range(read_number(additions, len(model.slots))):
            slot += read_number(additions)
            if slot >= len(model.slots):
                raise corrupt("a changed slot that does not exist")
            changed.add(slot)
    columns = read_structure(model, reader, additions, changed, text_bytes)
    if additions.peek() is not None:
        raise corrupt("bytes after the additions")
    read_numbers(columns, reader)
    read_texts(columns, reader, first & 0x20)
    output = Output(text_bytes, first)
    write_text(columns, output)
    if reader.peek() is not None:
        raise corrupt("bytes after the texts")
    if first & 0x10:
        output.add(b"\n")
    if output.room > 0:
        raise corrupt("a shorter text than announced")
    return b"".join(output.parts)
