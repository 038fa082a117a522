"""XXH64 with seed 0, which checks headers and payloads and makes ids of dictionaries.

It is short enough to be written out, so that the reference decoder needs no package for it.
"""

PRIME_1 = 0x9E3779B185EBCA87
PRIME_2 = 0xC2B2AE3D27D4EB4F
PRIME_3 = 0x165667B19E3779F9
PRIME_4 = 0x85EBCA77C2B2AE63
PRIME_5 = 0x27D4EB2F165667C5
MASK = (1 << 64) - 1


def rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & MASK


def xxh64_round(accumulator, lane):
    return rotate((accumulator + lane * PRIME_2) & MASK, 31) * PRIME_1 & MASK


def xxh64(data):
    """XXH64 with seed 0."""
    at, end = 0, len(data)

    def word(size):
        return int.from_bytes(data[at : at + size], "little")

    if end >= 32:
        lanes = [(PRIME_1 + PRIME_2) & MASK, PRIME_2, 0, -PRIME_1 & MASK]
        while at + 32 <= end:
            for index in range(4):
                lanes[index] = xxh64_round(lanes[index], word(8))
                at += 8
        value = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            value = ((value ^ xxh64_round(0, lane)) * PRIME_1 + PRIME_4) & MASK
    else:
        value = PRIME_5
    value = (value + end) & MASK
    while at + 8 <= end:
        value = (rotate(value ^ xxh64_round(0, word(8)), 27) * PRIME_1 + PRIME_4) & MASK
        at += 8
    if at + 4 <= end:
        value = (rotate(value ^ word(4) * PRIME_1 & MASK, 23) * PRIME_2 + PRIME_3) & MASK
        at += 4
    while at < end:
        value = rotate(value ^ word(1) * PRIME_5 & MASK, 11) * PRIME_1 & MASK
        at += 1
    for shift, prime in ((33, PRIME_2), (29, PRIME_3), (32, 1)):
        value = (value ^ value >> shift) * prime & MASK
    return value
