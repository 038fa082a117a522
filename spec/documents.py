"""The registry of encodings: which id is decoded by what, as spec/registries.md lists them.

`VERBATIM` and `JSON` bodies are the payload as it is; every other decoder takes encoded bytes and
the most bytes that the text may have, and returns the canonical text. An id that is missing here
must be refused, never passed through.
"""

from decode_bson import read_bson
from decode_cbor import read_cbor
from decode_msgpack import read_msgpack
from decode_smile import read_smile

VERBATIM, JSON = 0x10, 0x11
DECODERS = {0x12: read_msgpack, 0x13: read_cbor, 0x14: read_bson, 0x15: read_smile}
IDS = {VERBATIM, JSON, *DECODERS}
