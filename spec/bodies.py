"""What the body of an envelope is for each codec id, as spec/envelope.md says under "Bodies".

Each function takes the body, the room for its content and a dictionary or None; those in WITH_BASE
also take the base of a delta or None, and never both. It returns the content, raises `damaged` for anything that is not exactly one whole body, and never makes more
than the room and one byte of it, because a body of a few bytes can hold gigabytes.
"""

import bz2
import lzma
import zlib

import brotli
import lz4.block
import lz4.frame
import zstandard

from problem import Problem, damaged


def stored(body, room, _dictionary):
    if len(body) > room:
        raise damaged("a body longer than the header says")
    return body


def snappy(body, room, _dictionary):
    """The raw block format, which is short enough to be written out."""
    length = at = 0
    for index in range(5):
        if index >= len(body):
            raise damaged("a Snappy block without its length")
        length |= (body[index] & 0x7F) << (7 * index)
        if body[index] < 0x80:
            at = index + 1
            break
    if at == 0 or length > room:
        raise damaged("a Snappy block longer than the header says")
    out = bytearray()

    def take(count):
        nonlocal at
        if at + count > len(body):
            raise damaged("a Snappy block that is cut short")
        at += count
        return body[at - count : at]

    while at < len(body):
        tag = take(1)[0]
        upper = tag >> 2
        if tag & 3 == 0:
            if upper >= 60:
                upper = int.from_bytes(take(upper - 59), "little")
            out += take(upper + 1)
        else:
            if tag & 3 == 1:
                count, offset = (upper & 7) + 4, upper >> 3 << 8 | take(1)[0]
            else:
                count = upper + 1
                offset = int.from_bytes(take(2 if tag & 3 == 2 else 4), "little")
            if not 1 <= offset <= len(out):
                raise damaged("a Snappy copy from before the start")
            if len(out) + count > length:
                raise damaged("a Snappy block longer than it says")
            for _ in range(count):
                out.append(out[-offset])
    if len(out) != length:
        raise damaged("a Snappy block of another length than it says")
    return bytes(out)


def lz4_block(body, room, dictionary):
    content = {} if dictionary is None else {"dict": dictionary[-(64 << 10) :]}
    try:
        return lz4.block.decompress(body, uncompressed_size=room, **content)
    except lz4.block.LZ4BlockError as error:
        raise damaged(f"an LZ4 block: {error}") from error


def lz4_frame(body, room, _dictionary):
    """One frame with its magic; the library would also take a skippable frame for a whole one."""
    if body[:4] != b"\x04\x22\x4d\x18":
        raise damaged("no LZ4 frame")
    try:
        lz4.frame.get_frame_info(body)
    except (RuntimeError, ValueError) as error:
        raise damaged(f"the header of an LZ4 frame: {error}") from error
    flags = body[4]
    if flags & 1:
        at = 14 if flags & 8 else 6
        needed = int.from_bytes(body[at : at + 4], "little")
        if needed != 0:
            raise Problem("missing-dictionary", f"the frame names dictionary {needed:#010x}")
    return whole(lz4.frame.LZ4FrameDecompressor(), body, room, RuntimeError)


def whole(decompressor, body, room, errors):
    """What a decompressor makes of a body that must end with its stream."""
    try:
        content = decompressor.decompress(body, room + 1)
    except errors as error:
        raise damaged(f"a body that does not decompress: {error}") from error
    if len(content) > room:
        raise damaged("a body longer than the header says")
    if not decompressor.eof:
        raise damaged("a body that is cut short")
    if decompressor.unused_data:
        raise damaged("bytes after the end of the body")
    return content


def deflate(window_bits):
    def decompress(body, room, _dictionary):
        return whole(zlib.decompressobj(window_bits), body, room, zlib.error)

    return decompress


def zstd_frame_dictionary(frame):
    """The dictionary id in a standard frame, which must fill all of `frame`."""
    if frame[:4] != b"\x28\xb5\x2f\xfd" or len(frame) < 5:
        raise damaged("no zstd frame")
    descriptor = frame[4]
    is_single_segment = descriptor & 0x20 != 0
    at = 5 if is_single_segment else 6
    if descriptor & 0x08 or (not is_single_segment and frame[5:6] >= b"\xb0"):
        raise damaged("a zstd frame of an unknown kind")
    id_bytes = (0, 1, 2, 4)[descriptor & 3]
    found = int.from_bytes(frame[at : at + id_bytes], "little")
    at += id_bytes + (1 if is_single_segment else 0, 2, 4, 8)[descriptor >> 6]
    is_last = False
    while not is_last:
        if at + 3 > len(frame):
            raise damaged("a zstd frame that is cut short")
        block = int.from_bytes(frame[at : at + 3], "little")
        is_last = block & 1 == 1
        is_run = block >> 1 & 3 == 1
        at += 3 + (1 if is_run else block >> 3)
    at += 4 if descriptor & 4 else 0
    if at != len(frame):
        raise damaged("a zstd frame that does not end with its body")
    return found


def zstd(frame, room, dictionary, base=None):
    needed = zstd_frame_dictionary(frame)
    options = {"max_window_size": 1 << 31}
    given = 0
    if base:
        # Whatever it starts with, these are bytes that stand before the content.
        kind = zstandard.DICT_TYPE_RAWCONTENT
        options["dict_data"] = zstandard.ZstdCompressionDict(base, dict_type=kind)
    if dictionary is not None:
        options["dict_data"] = zstandard.ZstdCompressionDict(dictionary)
        given = options["dict_data"].dict_id()
    if needed not in (0, given):
        raise Problem("missing-dictionary", f"the frame names dictionary {needed:#010x}")
    try:
        reader = zstandard.ZstdDecompressor(**options).stream_reader(frame)
        content = reader.read(room + 1)
    except zstandard.ZstdError as error:
        raise damaged(f"a zstd frame: {error}") from error
    if len(content) > room:
        raise damaged("a body longer than the header says")
    return content


def zstd_bare(body, room, dictionary, base=None):
    """A frame without its magic: with the magic in front it is a standard one."""
    return zstd(b"\x28\xb5\x2f\xfd" + body, room, dictionary, base)


def brotli_stream(body, room, _dictionary):
    decompressor = brotli.Decompressor()
    try:
        content = decompressor.process(body, output_buffer_limit=room + 1)
        while not decompressor.is_finished() and len(content) <= room:
            more = decompressor.process(b"", output_buffer_limit=room + 1 - len(content))
            if not more:
                raise damaged("a body that is cut short")
            content += more
    except brotli.error as error:
        raise damaged(f"a brotli stream: {error}") from error
    if len(content) > room:
        raise damaged("a body longer than the header says")
    return content


def lzma2(body, room, _dictionary):
    if not body or body[0] > 40:
        raise damaged("no LZMA2 dictionary size")
    # Content of `room` bytes can't refer back further, so the size in the body costs nothing.
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": min(max(room, 4096), 3 << 29)}]
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)
    return whole(decompressor, body[1:], room, lzma.LZMAError)


def bzip2(body, room, _dictionary):
    return whole(bz2.BZ2Decompressor(), body, room, (OSError, ValueError))


IDS = {
    0x10: stored,
    0x11: snappy,
    0x12: lz4_block,
    0x13: deflate(31),
    0x14: deflate(15),
    0x15: deflate(-15),
    0x16: zstd,
    0x17: zstd_bare,
    0x18: brotli_stream,
    0x19: lzma2,
    0x1A: bzip2,
    0x1C: lz4_frame,
}

WITH_DICTIONARY = (0x12, 0x16, 0x17)
WITH_BASE = (0x16, 0x17)


def decompress(codec, body, room, dictionary, base=None):
    """The content of a body, at most `room` bytes."""
    if base is None:
        return IDS[codec](body, room, dictionary)
    return IDS[codec](body, room, None, base)
