import com.amazon.ion.IonSystem;
import com.amazon.ion.system.IonSystemBuilder;
import com.google.flatbuffers.ArrayReadWriteBuf;
import com.google.flatbuffers.FlexBuffers;
import com.google.flatbuffers.FlexBuffersBuilder;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TMap;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolFactory;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TIOStreamTransport;
import org.apache.thrift.transport.TMemoryInputTransport;

/**
 * Reads what cinch encoded with the official libraries, and writes it again, so that cinch can be
 * asked whether it reads theirs.
 *
 * <p>A line of standard input is ENCODING SCHEMA ROOT HEX, with tabs between; SCHEMA is a file, for
 * Protobuf a descriptor set by protoc. A line of standard output is what was written, in
 * hexadecimal. Thrift's library has no schemas at run time: there it is the structure that is read
 * and written.
 */
public final class SchemaReaders {
  private interface Again {
    byte[] of(byte[] encoded) throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Again> known = new HashMap<>();
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] parts = line.split("\t", -1);
      String key = parts[0] + "\t" + parts[1];
      if (!known.containsKey(key)) {
        known.put(key, open(parts[0], Path.of(parts[1]), parts[2]));
      }
      byte[] encoded = HexFormat.of().parseHex(parts[3]);
      System.out.println(HexFormat.of().formatHex(known.get(key).of(encoded)));
    }
  }

  private static Again open(String encoding, Path schema, String root) throws Exception {
    switch (encoding) {
      case "protobuf":
        return protobuf(schema, root);
      case "avro":
        return avro(schema.toFile());
      case "thrift-binary":
        return thrift(new TBinaryProtocol.Factory());
      case "thrift-compact":
        return thrift(new TCompactProtocol.Factory());
      case "ion":
        IonSystem ion = IonSystemBuilder.standard().build();
        return encoded -> ion.getLoader().load(encoded).getBytes();
      case "flexbuffers":
        return SchemaReaders::flexbuffers;
      default:
        throw new IllegalArgumentException(encoding);
    }
  }

  private static Again protobuf(Path schema, String root) throws Exception {
    FileDescriptorSet files = FileDescriptorSet.parseFrom(Files.readAllBytes(schema));
    FileDescriptor file = FileDescriptor.buildFrom(files.getFile(0), new FileDescriptor[0]);
    Descriptor message = file.findMessageTypeByName(root);
    return encoded -> {
      DynamicMessage value = DynamicMessage.parseFrom(message, encoded);
      if (!value.getUnknownFields().asMap().isEmpty()) {
        throw new IOException("fields that the schema does not have");
      }
      return value.toByteArray();
    };
  }

  private static Again avro(File file) throws IOException {
    Schema schema = new Schema.Parser().parse(file);
    GenericDatumReader<Object> reader = new GenericDatumReader<>(schema);
    GenericDatumWriter<Object> writer = new GenericDatumWriter<>(schema);
    return encoded -> {
      BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(encoded, null);
      Object value = reader.read(null, decoder);
      if (!decoder.isEnd()) {
        throw new IOException("bytes are left over");
      }
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(out, null);
      writer.write(value, encoder);
      encoder.flush();
      return out.toByteArray();
    };
  }

  private static byte[] flexbuffers(byte[] encoded) {
    FlexBuffersBuilder to = new FlexBuffersBuilder();
    copy(FlexBuffers.getRoot(new ArrayReadWriteBuf(encoded, encoded.length)), null, to);
    ByteBuffer written = to.finish();
    byte[] bytes = new byte[written.remaining()];
    written.get(bytes);
    return bytes;
  }

  private static void copy(FlexBuffers.Reference from, String key, FlexBuffersBuilder to) {
    if (from.isNull()) {
      to.putNull(key);
    } else if (from.isBoolean()) {
      to.putBoolean(key, from.asBoolean());
    } else if (from.isUInt() && from.asUInt() < 0) {
      // No long holds it, and the builder offers nothing wider.
      to.putFloat(key, new BigDecimal(Long.toUnsignedString(from.asUInt())).doubleValue());
    } else if (from.isIntOrUInt()) {
      to.putInt(key, from.isUInt() ? from.asUInt() : from.asLong());
    } else if (from.isFloat()) {
      to.putFloat(key, from.asFloat());
    } else if (from.isString()) {
      to.putString(key, from.asString());
    } else if (from.isMap()) {
      FlexBuffers.Map map = from.asMap();
      int start = to.startMap();
      for (int index = 0; index < map.size(); index++) {
        copy(map.values().get(index), map.keys().get(index).toString(), to);
      }
      to.endMap(key, start);
    } else {
      FlexBuffers.Vector vector = from.asVector();
      int start = to.startVector();
      for (int index = 0; index < vector.size(); index++) {
        copy(vector.get(index), null, to);
      }
      to.endVector(key, start, false, false);
    }
  }

  private static Again thrift(TProtocolFactory factory) {
    return encoded -> {
      TMemoryInputTransport source = new TMemoryInputTransport(encoded);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      TProtocol target = factory.getProtocol(new TIOStreamTransport(out));
      copyStruct(factory.getProtocol(source), target);
      if (source.getBytesRemainingInBuffer() > 0) {
        throw new IOException("bytes are left over");
      }
      return out.toByteArray();
    };
  }

  private static void copyStruct(TProtocol from, TProtocol to) throws TException {
    to.writeStructBegin(from.readStructBegin());
    for (TField field = from.readFieldBegin(); field.type != TType.STOP; ) {
      to.writeFieldBegin(field);
      copy(field.type, from, to);
      from.readFieldEnd();
      to.writeFieldEnd();
      field = from.readFieldBegin();
    }
    to.writeFieldStop();
    from.readStructEnd();
    to.writeStructEnd();
  }

  private static void copy(byte type, TProtocol from, TProtocol to) throws TException {
    switch (type) {
      case TType.BOOL -> to.writeBool(from.readBool());
      case TType.BYTE -> to.writeByte(from.readByte());
      case TType.I16 -> to.writeI16(from.readI16());
      case TType.I32 -> to.writeI32(from.readI32());
      case TType.I64 -> to.writeI64(from.readI64());
      case TType.DOUBLE -> to.writeDouble(from.readDouble());
      case TType.STRING -> to.writeBinary(from.readBinary());
      case TType.STRUCT -> copyStruct(from, to);
      case TType.LIST -> {
        TList list = from.readListBegin();
        to.writeListBegin(list);
        for (int index = 0; index < list.size; index++) {
          copy(list.elemType, from, to);
        }
        from.readListEnd();
        to.writeListEnd();
      }
      case TType.MAP -> {
        TMap map = from.readMapBegin();
        to.writeMapBegin(map);
        for (int index = 0; index < map.size; index++) {
          copy(map.keyType, from, to);
          copy(map.valueType, from, to);
        }
        from.readMapEnd();
        to.writeMapEnd();
      }
      default -> throw new TException("a type that no schema of cinch has: " + type);
    }
  }
}
