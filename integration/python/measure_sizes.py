#!/usr/bin/env python3
"""Compresses each line of standard input with the packages that everybody else uses.

Prints {"gzip": bytes, "zstd": bytes, "bytes_in": bytes} as JSON: the sums over the lines, each
compressed by itself with gzip level 6 and zstd level 3. The ratios that cinch reports are compared
with these, so that a mistake in our measuring is seen by somebody else's ruler.
"""

import json
import sys
import zlib

import zstandard


def gzip_bytes(payload):
    # Through zlib itself: the gzip module may come with another library and another default.
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return len(packer.compress(payload) + packer.flush())


def main():
    zstd = zstandard.ZstdCompressor(level=3)
    sums = {"gzip": 0, "zstd": 0, "bytes_in": 0}
    for line in sys.stdin.buffer.read().splitlines():
        sums["bytes_in"] += len(line)
        sums["gzip"] += gzip_bytes(line)
        sums["zstd"] += len(zstd.compress(line))
    print(json.dumps(sums))


if __name__ == "__main__":
    main()
