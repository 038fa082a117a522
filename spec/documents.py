"""The registry of encodings: which id is decoded by what, as spec/registries.md lists them.

`VERBATIM` and `JSON` bodies are the payload as it is. The decoders take encoded bytes and the most
bytes that the text may have, and return the canonical text; that of `COLUMNAR` takes a model too,
and returns the payload. An id that is missing here must be refused, never passed through.
"""

from decode_bson import read_bson
from decode_cbor import read_cbor
from decode_columnar import read_columnar
from decode_flexbuffers import read_flexbuffers
from decode_ion import read_ion
from decode_msgpack import read_msgpack
from decode_smile import read_smile

VERBATIM, JSON, COLUMNAR = 0x10, 0x11, 0x16
DECODERS = {
    0x12: read_msgpack,
    0x13: read_cbor,
    0x14: read_bson,
    0x15: read_smile,
    0x1B: read_flexbuffers,
    0x1C: read_ion,
}
# Protobuf, Thrift (two protocols) and Avro: known by number; this decoder reads no schema files.
WITH_SCHEMA = {0x17, 0x18, 0x19, 0x1A}
IDS = {VERBATIM, JSON, COLUMNAR, *DECODERS, *WITH_SCHEMA}


def decode(encoding, encoded, payload_bytes, model):
    """The payload that an encoded form stands for, with the model of a dictionary or None."""
    if encoding == COLUMNAR:
        return read_columnar(encoded, payload_bytes, model)
    return DECODERS[encoding](encoded, payload_bytes).encode()
