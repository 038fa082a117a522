#!/usr/bin/env python3
"""Reads a file of frames with the packages that everybody else uses, and prints what is in it.

Usage: read_frames.py zstd|lz4 FILE. The content goes to standard output in hexadecimal. Both
packages skip the frame that holds our header, as the programs `zstd -dc` and `lz4 -dc` do.
"""

import sys

import lz4.frame
import zstandard


def main():
    name, path = sys.argv[1:]
    if name == "zstd":
        with open(path, "rb") as file:
            reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            content = reader.read()
    else:
        with lz4.frame.open(path) as file:
            content = file.read()
    print(content.hex())


if __name__ == "__main__":
    main()
