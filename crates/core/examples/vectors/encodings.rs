//! Vectors of the encodings alone: payload text to encoded bytes, and what comes back.
//!
//! Our encoders are deterministic, so a valid vector is `encode_exact`: a release that writes other
//! bytes for the same value breaks it. `decode` vectors are forms that others write and we only
//! read. `refused` ones are values that an encoding can't carry.

use crate::Vector;
use crate::forge::{decoded, encoded, hex, medium};

/// Values that every encoding carries, inside an object, which BSON needs.
const CARRIED: &[(&str, &str)] = &[
    ("empty object", "{}"),
    ("white space", " { \"a\" :\t[ 1 ,\n2 ] } "),
    ("literals", r#"{"a":null,"b":true,"c":false}"#),
    ("small integers", r#"{"a":[0,1,15,16,23,24,31,32,63,64,127,128,255,256]}"#),
    ("negative integers", r#"{"a":[-1,-16,-17,-24,-25,-32,-33,-127,-128,-129,-256,-257]}"#),
    ("16-bit bounds", r#"{"a":[32767,32768,65535,65536,-32768,-32769]}"#),
    ("32-bit bounds", r#"{"a":[2147483647,2147483648,4294967295,4294967296]}"#),
    ("negative 32-bit bounds", r#"{"a":[-2147483648,-2147483649,-4294967296]}"#),
    ("64-bit bounds", r#"{"a":[9223372036854775807,-9223372036854775808]}"#),
    ("number spellings", r#"{"a":[1.0,1e2,1E+2,12.50,0.0,100e-2,1.5e300]}"#),
    ("negative zero", r#"{"a":[-0,-0.0,-0e5]}"#),
    ("doubles", r#"{"a":[0.1,0.30000000000000004,5e-324,1.7976931348623157e308]}"#),
    (
        "halves and singles",
        r#"{"a":[0.5,65504.0,65505.5,0.00006103515625,1e-7,3.4028234663852886e38]}"#,
    ),
    (
        "layout of doubles",
        r#"{"a":[1e15,1e16,1e-5,1e-6,123456789.125e7,1e21,9007199254740992.0e0]}"#,
    ),
    (
        "strings",
        r#"{"":"","a":"b","é":"ü","€":"𝄞","long":"0123456789012345678901234567890123456789"}"#,
    ),
    ("escapes", r#"{"a":"\"\\\/\b\f\n\r\t\u0000\u001f\u007f\u00e9\ud834\udd1e"}"#),
    ("duplicate keys", r#"{"a":1,"a":2,"b":{"a":3,"a":3}}"#),
    ("order of keys", r#"{"b":1,"a":2,"10":3,"9":4}"#),
    ("nesting", r#"{"a":[[],[[]],{},{"b":{"c":[{"d":[]}]}}]}"#),
    (
        "repeated keys and strings",
        r#"{"a":[{"sku":"x","n":1},{"sku":"x","n":2},{"sku":"y","n":1}]}"#,
    ),
    ("look-alikes of others", r#"{"a":"\u00c1\u009e","b":":)\n","$oid":"0"}"#),
];

/// Values at whose top there is no object, which BSON refuses.
const TOPS: &[(&str, &str)] = &[
    ("top: null", "null"),
    ("top: true", "true"),
    ("top: number", "-17"),
    ("top: string", r#""hello""#),
    ("top: array", r#"[1,"a",{}]"#),
];

/// Numbers that no 64-bit integer or double holds.
const BIG: &[(&str, &str)] = &[
    ("integer of 20 digits", r#"{"a":18446744073709551616}"#),
    ("negative integer of 20 digits", r#"{"a":-9223372036854775809}"#),
    ("integer of 40 digits", r#"{"a":1234567890123456789012345678901234567890}"#),
    ("fraction of 20 digits", r#"{"a":0.12345678901234567891}"#),
    ("negative fraction", r#"{"a":-123.45678901234567891}"#),
    ("1e400", r#"{"a":1e400}"#),
    ("1e-400", r#"{"a":1e-400}"#),
    ("integer with many zeros", r#"{"a":123456789012345678900000000000000000000}"#),
    ("2^53 and 1, as a fraction", r#"{"a":9007199254740993.5}"#),
];

const U64: &[(&str, &str)] =
    &[("unsigned 64-bit", r#"{"a":[9223372036854775808,18446744073709551615]}"#)];

const SURROGATES: &[(&str, &str)] = &[
    ("lone high surrogate", r#"{"a":"\ud834"}"#),
    ("lone low surrogate", r#"{"a":"x\udd1ey"}"#),
    ("surrogates in the wrong order", r#"{"a":"\udd1e\ud834"}"#),
    ("lone surrogate in a key", r#"{"\udfff":1}"#),
];

const NUL_IN_KEY: &[(&str, &str)] = &[("NUL in a key", r#"{"a\u0000b":1}"#)];

fn exact(encoding: &'static str, rows: &[(&str, &str)]) -> Vec<Vector> {
    rows.iter()
        .map(|(name, text)| {
            let (bytes, payload) = encoded(encoding, text);
            Vector {
                name: (*name).to_owned(),
                encoding: Some(encoding),
                text: Some((*text).to_owned()),
                hex: hex(&bytes),
                payload_text: Some(payload),
                result: "valid",
                check: "encode_exact",
                ..Vector::default()
            }
        })
        .collect()
}

fn refused(encoding: &'static str, error: &'static str, rows: &[(&str, &str)]) -> Vec<Vector> {
    rows.iter()
        .map(|(name, text)| Vector {
            name: (*name).to_owned(),
            encoding: Some(encoding),
            text: Some((*text).to_owned()),
            result: "refused",
            error: Some(error),
            check: "encode_exact",
            ..Vector::default()
        })
        .collect()
}

/// Forms that we do not write, but read.
fn read_only(encoding: &'static str, rows: &[(&str, &[u8])]) -> Vec<Vector> {
    rows.iter()
        .map(|(name, bytes)| Vector {
            name: (*name).to_owned(),
            encoding: Some(encoding),
            hex: hex(bytes),
            payload_text: Some(decoded(encoding, bytes)),
            result: "valid",
            check: "decode",
            ..Vector::default()
        })
        .collect()
}

fn invalid(encoding: &'static str, error: &'static str, rows: &[(&str, &[u8])]) -> Vec<Vector> {
    rows.iter()
        .map(|(name, bytes)| Vector {
            name: (*name).to_owned(),
            encoding: Some(encoding),
            hex: hex(bytes),
            result: "invalid",
            error: Some(error),
            check: "decode",
            ..Vector::default()
        })
        .collect()
}

/// Every proper prefix of a small document is refused.
fn cut(encoding: &'static str) -> Vec<Vector> {
    let (bytes, _) = encoded(encoding, r#"{"a":[1.5,"x"]}"#);
    (0..bytes.len())
        .map(|length| {
            let name = format!("cut to {length} bytes");
            invalid(encoding, "corrupt", &[(&name, &bytes[..length])]).remove(0)
        })
        .collect()
}

pub(crate) fn json() -> Vec<Vector> {
    let mut vectors = exact("json", CARRIED);
    for rows in [TOPS, BIG, U64, SURROGATES, NUL_IN_KEY] {
        vectors.extend(exact("json", rows));
    }
    let not_json: &[(&str, &[u8])] = &[
        ("nothing", b""),
        ("white space alone", b" "),
        ("two values", b"1 2"),
        ("a comma at the end", b"[1,]"),
        ("a key without quotes", b"{a:1}"),
        ("a leading zero", b"01"),
        ("a plus sign", b"+1"),
        ("a bare point", b"1."),
        ("a point first", b".5"),
        ("an empty exponent", b"1e"),
        ("NaN", b"NaN"),
        ("a control character", b"\"\x01\""),
        ("an unknown escape", b"\"\\x41\""),
        ("half an escape", b"\"\\u12\""),
        ("an open string", b"\"a"),
        ("an open array", b"[1"),
        ("a wrong bracket", b"[1}"),
        ("a byte order mark", b"\xEF\xBB\xBF1"),
        ("bytes that are no UTF-8", b"\"\xFF\""),
        ("a surrogate in UTF-8", b"\"\xED\xA0\x80\""),
        ("an overlong form", b"\"\xC0\x80\""),
    ];
    vectors.extend(invalid("json", "corrupt", not_json));
    vectors
}

pub(crate) fn msgpack() -> Vec<Vector> {
    let mut vectors = exact("msgpack", CARRIED);
    for rows in [TOPS, U64, NUL_IN_KEY] {
        vectors.extend(exact("msgpack", rows));
    }
    vectors.extend(refused("msgpack", "number", BIG));
    vectors.extend(refused("msgpack", "lone-surrogate", SURROGATES));
    let forms: &[(&str, &[u8])] = &[
        ("integers in longer forms", b"\x94\xCC\x01\xCD\0\x01\xD3\0\0\0\0\0\0\0\x01\xD0\xFF"),
        ("a single", b"\xCA\x3F\xC0\0\0"),
        ("strings in longer forms", b"\x93\xD9\x01a\xDA\0\x01b\xDB\0\0\0\x01c"),
        ("containers in longer forms", b"\xDC\0\x02\xDE\0\x01\xA1a\x01\xDF\0\0\0\0"),
    ];
    vectors.extend(read_only("msgpack", forms));
    let corrupt: &[(&str, &[u8])] = &[
        ("the unused byte C1", b"\xC1"),
        ("a string that is no UTF-8", b"\xA1\xFF"),
        ("a surrogate in UTF-8", b"\xA3\xED\xA0\x80"),
        ("an array of 2^32 - 1", b"\xDD\xFF\xFF\xFF\xFF\xC0"),
        ("a string of 2^32 - 1", b"\xDB\xFF\xFF\xFF\xFFa"),
        ("a byte after the value", b"\xC0\xC0"),
    ];
    vectors.extend(invalid("msgpack", "corrupt", corrupt));
    let not_json: &[(&str, &[u8])] = &[
        ("binary data", b"\xC4\x01a"),
        ("an extension", b"\xD4\x01a"),
        ("a timestamp", b"\xD6\xFF\0\0\0\0"),
        ("an integer as a key", b"\x81\x01\x02"),
        ("NaN", b"\xCB\x7F\xF8\0\0\0\0\0\0"),
        ("an infinity", b"\xCA\x7F\x80\0\0"),
    ];
    vectors.extend(invalid("msgpack", "not-json", not_json));
    vectors.extend(cut("msgpack"));
    vectors
}

pub(crate) fn cbor() -> Vec<Vector> {
    let mut vectors = exact("cbor", CARRIED);
    for rows in [TOPS, BIG, U64, NUL_IN_KEY] {
        vectors.extend(exact("cbor", rows));
    }
    vectors.extend(refused("cbor", "lone-surrogate", SURROGATES));
    let forms: &[(&str, &[u8])] = &[
        ("integers in longer forms", b"\x83\x18\x01\x19\0\x01\x3B\0\0\0\0\0\0\0\0"),
        ("indefinite lengths", b"\x9F\x7F\x61a\x61b\xFF\xBF\x61a\x01\xFF\x9F\xFF\xFF"),
        ("the smallest negative integer", b"\x3B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
        ("a bignum with leading zeros", b"\xC2\x43\0\0\x07"),
        ("a bignum in chunks", b"\xC2\x5F\x41\x01\x41\0\xFF"),
        ("an empty bignum", b"\xC2\x40"),
        ("a negative bignum of nothing", b"\xC3\x40"),
        ("a decimal fraction", b"\xC4\x82\x21\x19\x6A\xB3"),
        ("a decimal fraction of indefinite length", b"\xC4\x9F\x21\x19\x6A\xB3\xFF"),
        ("a decimal fraction of 1e1000000", b"\xC4\x82\x1A\0\x0F\x42\x40\x01"),
        ("halves", b"\x83\xF9\x3C\0\xF9\0\x01\xF9\x80\0"),
    ];
    vectors.extend(read_only("cbor", forms));
    let corrupt: &[(&str, &[u8])] = &[
        ("reserved additional information", b"\x1C"),
        ("a break alone", b"\xFF"),
        ("a break in an array of two", b"\x82\x01\xFF"),
        ("a break after a key", b"\xBF\x61a\xFF"),
        ("a text that is no UTF-8", b"\x61\xFF"),
        ("a character across chunks", b"\x7F\x61\xC3\x61\xA9\xFF"),
        ("a chunk of another type", b"\x7F\x41a\xFF"),
        ("a simple value in a longer form", b"\xF8\x14"),
        ("an array of 2^64 - 1", b"\x9B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0"),
        ("a text of 2^64 - 1", b"\x7B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFa"),
        ("a decimal fraction of three", b"\xC4\x83\x01\x02\x03"),
        ("a decimal fraction of floats", b"\xC4\x82\xF9\0\0\x01"),
        ("a bignum that is a text", b"\xC2\x61\x31"),
        ("a byte after the value", b"\xF6\xF6"),
    ];
    vectors.extend(invalid("cbor", "corrupt", corrupt));
    let not_json: &[(&str, &[u8])] = &[
        ("a byte string", b"\x41a"),
        ("undefined", b"\xF7"),
        ("a simple value", b"\xE0"),
        ("a date", b"\xC1\0"),
        ("a tag of its own", b"\xD9\xD9\xF7\0"),
        ("an integer as a key", b"\xA1\x01\x02"),
        ("NaN", b"\xF9\x7E\0"),
        ("an infinity", b"\xFB\x7F\xF0\0\0\0\0\0\0"),
    ];
    vectors.extend(invalid("cbor", "not-json", not_json));
    vectors.extend(cut("cbor"));
    vectors
}

pub(crate) fn bson() -> Vec<Vector> {
    let mut vectors = exact("bson", CARRIED);
    vectors.extend(refused("bson", "top-is-not-an-object", TOPS));
    vectors.extend(refused("bson", "number", BIG));
    vectors.extend(refused("bson", "number", U64));
    vectors.extend(refused("bson", "lone-surrogate", SURROGATES));
    vectors.extend(refused("bson", "nul-in-key", NUL_IN_KEY));
    let forms: &[(&str, &[u8])] = &[
        ("an array with other keys", b"\x11\0\0\0\x04a\0\x09\0\0\0\x08x\0\x01\0\0"),
        ("a small integer in 64 bits", b"\x10\0\0\0\x12a\0\x01\0\0\0\0\0\0\0\0"),
    ];
    vectors.extend(read_only("bson", forms));
    let corrupt: &[(&str, &[u8])] = &[
        ("a document of 4 bytes", b"\x04\0\0\0"),
        ("a negative length", b"\xFF\xFF\xFF\xFF\0"),
        ("a length beyond the end", b"\x06\0\0\0\0"),
        ("a length before the end", b"\x05\0\0\0\0\0"),
        ("an inner document that ends with the outer", b"\x0D\0\0\0\x03a\0\x06\0\0\0\0\0"),
        ("a string without a terminator", b"\x0E\0\0\0\x02a\0\x02\0\0\0bc\0"),
        ("a string of length 0", b"\x0D\0\0\0\x02a\0\0\0\0\0\0\0"),
        ("a boolean of 2", b"\x09\0\0\0\x08a\0\x02\0"),
        ("an unknown type", b"\x08\0\0\0\x20a\0\0"),
        ("a key that is no UTF-8", b"\x09\0\0\0\x08\xFF\0\x01\0"),
    ];
    vectors.extend(invalid("bson", "corrupt", corrupt));
    let not_json: &[(&str, &[u8])] = &[
        ("binary data", b"\x0E\0\0\0\x05a\0\x01\0\0\0\0x\0"),
        ("an ObjectId", b"\x14\0\0\0\x07a\x00123456789012\0"),
        ("a date", b"\x10\0\0\0\x09a\0\0\0\0\0\0\0\0\0\0"),
        ("NaN", b"\x10\0\0\0\x01a\0\0\0\0\0\0\0\xF8\x7F\0"),
    ];
    vectors.extend(invalid("bson", "not-json", not_json));
    vectors.extend(cut("bson"));
    vectors
}

pub(crate) fn smile() -> Vec<Vector> {
    let mut vectors = exact("smile", CARRIED);
    for rows in [TOPS, BIG, U64, NUL_IN_KEY] {
        vectors.extend(exact("smile", rows));
    }
    let medium = medium();
    let keys: Vec<String> = (0..70).map(|index| format!("\"k{index}\":\"v{index}\"")).collect();
    let many = format!("[{{{0}}},{{{0}}}]", keys.join(","));
    vectors.extend(exact("smile", &[("a cart", &medium), ("70 keys, twice", &many)]));
    vectors.extend(refused("smile", "lone-surrogate", SURROGATES));
    let forms: &[(&str, &[u8])] = &[
        ("nothing shared", b":)\n\0\xFA\x80a\x40x\x80a\x40x\xFB"),
        ("an end of content", b":)\n\x03\x21\xFF"),
        ("a single", b":)\n\x03\x28\x03\x7E\0\0\0"),
        ("a single with its sign above it", b":)\n\x03\x28\x7B\x7E\0\0\0"),
        ("a big integer that is small", b":)\n\x03\x26\x81\x07\x01"),
        ("long strings that are short", b":)\n\x03\xF8\xE0a\xFC\xE4\xC3\xA9\xFC\xF9"),
    ];
    vectors.extend(read_only("smile", forms));
    let corrupt: &[(&str, &[u8])] = &[
        ("another magic", b":(\n\x03\x21"),
        ("another version", b":)\n\x13\x21"),
        ("a reference to nothing", b":)\n\x03\xF8\x40x\x02\xF9"),
        ("a reference where none are shared", b":)\n\x01\xF8\x40x\x01\xF9"),
        ("a key reference to nothing", b":)\n\x03\xFA\x40\x21\xFB"),
        ("a long reference to a low index", b":)\n\x03\xF8\x40x\xEC\0\xF9"),
        ("an ASCII string that is not", b":)\n\x03\x40\xE9"),
        ("a Unicode string that is not", b":)\n\x03\x80\xFF\xFF"),
        ("an integer of 33 bits", b":)\n\x03\x24\x20\0\0\0\x80"),
        ("an integer that ends with C0", b":)\n\x03\x24\xC0"),
        ("a double with a bit too many", b":)\n\x03\x29\x02\0\0\0\0\0\0\0\0\0"),
        ("a big integer without bytes", b":)\n\x03\x26\x80"),
        ("an end of an array in an object", b":)\n\x03\xFA\xF9"),
        ("an end of an object in an array", b":)\n\x03\xF8\xFB"),
        ("a byte that starts nothing", b":)\n\x03\x3A"),
        ("a byte after the value", b":)\n\x03\x21\x21"),
    ];
    vectors.extend(invalid("smile", "corrupt", corrupt));
    let not_json: &[(&str, &[u8])] = &[
        ("raw binary data", b":)\n\x07\xFD\x81x"),
        ("seven-bit binary data", b":)\n\x03\xE8\x81\x3C\0"),
        ("NaN", b":)\n\x03\x28\x07\x7E\0\0\0"),
    ];
    vectors.extend(invalid("smile", "not-json", not_json));
    vectors.extend(cut("smile"));
    vectors
}

pub(crate) fn flexbuffers() -> Vec<Vector> {
    let mut vectors = exact("flexbuffers", CARRIED);
    for rows in [TOPS, U64] {
        vectors.extend(exact("flexbuffers", rows));
    }
    let orders: &[(&str, &str)] = &[
        ("keys in another order each time", r#"[{"a":1,"b":2},{"b":1,"a":2},{"a":1,"b":2}]"#),
        ("rows of the same keys", r#"[{"id":1,"n":"x"},{"id":2,"n":"y"},{"id":3,"n":"z"}]"#),
        ("lists of one type", "[[1,-2,300],[true,false],[0.5,0.1],[18446744073709551615]]"),
    ];
    vectors.extend(exact("flexbuffers", orders));
    vectors.extend(refused("flexbuffers", "number", BIG));
    vectors.extend(refused("flexbuffers", "lone-surrogate", SURROGATES));
    vectors.extend(refused("flexbuffers", "nul-in-key", NUL_IN_KEY));
    let forms: &[(&str, &[u8])] = &[
        ("types beside each element", b"\x03\x01\x02\x03\x04\x04\x04\x06\x28\x01"),
        ("an indirect integer", b"\x2C\x01\x02\x19\x01"),
        ("an indirect float", b"\0\0\xC0\x3F\x04\x22\x01"),
        ("two numbers without a length", b"\x01\x02\x02\x40\x01"),
        ("three numbers without a length", b"\x01\x02\xFF\x03\x4C\x01"),
        ("a key as a value", b"a\0\x02\x10\x01"),
        ("a list of keys", b"a\0b\0\x02\x05\x04\x02\x38\x01"),
        (
            "a map whose keys stand in another order",
            b"b\0a\0\x02\x03\x06\x02\x01\x02\x02\x01\x04\x04\x04\x24\x01",
        ),
    ];
    vectors.extend(read_only("flexbuffers", forms));
    let corrupt: &[(&str, &[u8])] = &[
        ("two bytes", b"\x04\x01"),
        ("a root of three bytes", b"\x05\x04\x03"),
        ("an offset to itself", b"\0\x28\x01"),
        ("an offset before the start", b"\x05\x28\x01"),
        ("a type that there is not", b"\0\x01\x6C\x01"),
        ("a float of 8 bits", b"\x05\x0C\x01"),
        ("a list of 255", b"\xFF\0\x01\x28\x01"),
        ("a string of 255", b"\xFFa\0\x02\x14\x01"),
        ("a string without its NUL", b"\x01a\x01\x02\x14\x01"),
        ("a string that is no UTF-8", b"\x01\xFF\0\x02\x14\x01"),
        ("a key without an end", b"a\x01\x01\x10\x01"),
        ("keys of three bytes", b"a\0\x01\x03\x01\x03\x01\x01\x04\x02\x24\x01"),
        ("more values than keys", b"a\0\x01\x03\x01\x01\x02\x01\x02\x04\x04\x04\x24\x01"),
        ("a list in itself", b"\x02\x01\x01\x04\x28\x04\x28\x01"),
    ];
    vectors.extend(invalid("flexbuffers", "corrupt", corrupt));
    let not_json: &[(&str, &[u8])] = &[
        ("binary data", b"\x01a\0\x02\x64\x01"),
        ("NaN", b"\0\0\xC0\x7F\x0E\x04"),
        ("an infinity", b"\0\0\0\0\0\0\xF0\x7F\x0F\x08"),
    ];
    vectors.extend(invalid("flexbuffers", "not-json", not_json));
    vectors
}

pub(crate) fn ion() -> Vec<Vector> {
    let marked = |bytes: &[u8]| [b"\xE0\x01\0\xEA", bytes].concat();
    let mut vectors = exact("ion", CARRIED);
    for rows in [TOPS, BIG, U64, NUL_IN_KEY] {
        vectors.extend(exact("ion", rows));
    }
    let own: &[(&str, &str)] = &[
        ("names of Ion's own symbols", r#"{"name":1,"$ion":{"symbols":[]}}"#),
        ("decimals with all their digits", "[12.50,0.00,-0.5,100.00,0.07]"),
    ];
    vectors.extend(exact("ion", own));
    vectors.extend(refused("ion", "lone-surrogate", SURROGATES));
    let forms: &[(&str, &[u8])] = &[
        ("a length that is padded", b"\x8E\0\0\x81a"),
        ("an integer with leading zeros", b"\x23\0\0\x01"),
        ("a null with a type", b"\xDF"),
        ("padding", b"\x03xyz\xB4\0\x21\x01\0"),
        ("a struct with sorted keys", b"\xD1\x83\x84\x21\x01"),
        ("a symbol", b"\x71\x04"),
        (
            "two tables",
            b"\xE7\x81\x83\xD4\x87\xB2\x81a\
              \xEA\x81\x83\xD7\x86\x71\x03\x87\xB2\x81b\xB4\x71\x0A\x71\x0B",
        ),
        ("a decimal of 64 places", b"\x53\x40\xC0\x07"),
        ("a decimal of 65 places", b"\x53\x40\xC1\x07"),
    ];
    for (name, bytes) in forms {
        vectors.extend(read_only("ion", &[(name, &marked(bytes))]));
    }
    let corrupt: &[(&str, &[u8])] = &[
        ("a type that there is not", b"\xF0"),
        ("a boolean of 2", b"\x12"),
        ("a negative zero", b"\x30"),
        ("a float of two bytes", b"\x42\x3F\xC0"),
        ("a sorted struct of nothing", b"\xD1\x80"),
        ("a byte after the value", b"\x0F\x0F"),
        ("a string that is no UTF-8", b"\x81\xFF"),
        ("a value past its list", b"\xB1\x21\x01"),
        ("a list of 2^49", b"\xBE\x7F\x7F\x7F\x7F\x7F\x7F\xFF"),
        ("a length of 64 bits", b"\xBE\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\xFF"),
        ("a symbol in no table", b"\x71\x0A"),
        ("an annotation of nothing", b"\xE1\x81"),
        ("a table that is no struct", b"\xE3\x81\x83\x20"),
    ];
    for (name, bytes) in corrupt {
        vectors.extend(invalid("ion", "corrupt", &[(name, &marked(bytes))]));
    }
    vectors.extend(invalid("ion", "corrupt", &[("no marker", b"\x0F")]));
    let not_json: &[(&str, &[u8])] = &[
        ("a timestamp", b"\x67\xC0\x0F\xD0\x81\x81\x80\x80"),
        ("a blob", b"\xA1a"),
        ("a clob", b"\x91a"),
        ("an S-expression", b"\xC1\x0F"),
        ("an annotation", b"\xE3\x81\x84\x0F"),
        ("a symbol of unknown text", b"\x71\0"),
        ("an import", b"\xE8\x81\x83\xD5\x86\xB3\xD2\x84\x0F\x0F"),
        ("NaN", b"\x44\x7F\xC0\0\0"),
    ];
    for (name, bytes) in not_json {
        vectors.extend(invalid("ion", "not-json", &[(name, &marked(bytes))]));
    }
    vectors.extend(cut("ion"));
    vectors
}
