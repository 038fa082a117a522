"""Reads what cinch encoded with the libraries that the formats' own projects publish, and writes it
again, so that cinch can be asked whether it reads theirs.

    official.py PROTOCOL SCHEMA ROOT FOLDER < HEX LINES > HEX LINES

A line is an encoded payload in hexadecimal. Every line must be read to its end.
"""

import importlib
import io
import json
import subprocess
import sys


def protobuf(schema, root, folder):
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    compiled = f"{folder}/schema.bin"
    subprocess.run(
        ["protoc", f"--proto_path={folder}", f"--descriptor_set_out={compiled}", schema],
        check=True,
    )
    with open(compiled, "rb") as file:
        files = descriptor_pb2.FileDescriptorSet.FromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName(root))
    return lambda encoded: message.FromString(encoded).SerializeToString()


def thrift(schema, root, folder, protocol):
    from thrift.protocol import TBinaryProtocol, TCompactProtocol
    from thrift.transport import TTransport

    subprocess.run(["thrift", "--gen", "py", "-o", folder, schema], check=True, stderr=2)
    sys.path.insert(0, f"{folder}/gen-py")
    of = getattr(importlib.import_module("schema.ttypes"), root)
    make = {
        "thrift-binary": TBinaryProtocol.TBinaryProtocol,
        "thrift-compact": TCompactProtocol.TCompactProtocol,
    }[protocol]

    def again(encoded):
        source = TTransport.TMemoryBuffer(encoded)
        value = of()
        value.read(make(source))
        assert source.read(1) == b"", "bytes are left over"
        target = TTransport.TMemoryBuffer()
        value.write(make(target))
        return target.getvalue()

    return again


def avro(schema):
    import fastavro

    with open(schema) as file:
        parsed = fastavro.parse_schema(json.load(file))

    def again(encoded):
        source = io.BytesIO(encoded)
        value = fastavro.schemaless_reader(source, parsed, return_record_name=True)
        assert source.read(1) == b"", "bytes are left over"
        target = io.BytesIO()
        fastavro.schemaless_writer(target, parsed, value)
        return target.getvalue()

    return again


def flexbuffers():
    from flatbuffers import flexbuffers

    return lambda encoded: bytes(flexbuffers.Dumps(flexbuffers.Loads(encoded)))


def ion():
    from amazon.ion import simpleion

    return lambda encoded: simpleion.dumps(simpleion.loads(encoded), binary=True)


def main():
    protocol, schema, root, folder = sys.argv[1:]
    if protocol == "protobuf":
        again = protobuf(schema, root, folder)
    elif protocol == "avro":
        again = avro(schema)
    elif protocol == "flexbuffers":
        again = flexbuffers()
    elif protocol == "ion":
        again = ion()
    else:
        again = thrift(schema, root, folder, protocol)
    for line in sys.stdin:
        print(again(bytes.fromhex(line.strip())).hex())


main()
