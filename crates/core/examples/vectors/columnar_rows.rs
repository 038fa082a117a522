//! Rows of the vectors of the columnar encoding: texts, and forms that were written by hand from
//! spec/columnar.md, which no choice of the encoder changes.

/// Texts that have one form.
pub(super) const EXACT: &[&str] =
    &["[]", "{}", "[[]]", "[{}]", "{\"a\":[]}", "{\"a\":{\"a\":{}}}", "{\n  \"a\": []\n}", "[]\n"];

/// Texts of every kind that the encoder knows.
pub(super) const TEXTS: &[&str] = &[
    "0",
    "-0",
    "1.10",
    "1e5",
    "1E+05",
    "123456789012345678901234567890",
    "\"\"",
    "true",
    "null",
    "\"a\\u0041\\\"\\\\\\/\"",
    "[1,2,3]",
    "[1,\"a\"]",
    "[[1.5,2.25],[3.5,4.125],[1.5,0]]",
    "[[1,2],[3],[]]",
    "[\"a\",\"a\",\"a\",\"b\"]",
    "{\"a\":1,\"a\":2}",
    "{\"\":0}",
    "{\"é\":\"\u{1F600}\"}",
    "[0.1,0.25,12,7.5]",
    "[1.0,2.5,3.0]",
    "[1.10,2.20,3.30]",
    "[true,false,null,1,\"x\",[],{}]",
    "[\"2026-11-21\",\"2026-11-22\",\"2026-02-30\"]",
    "{\"t\":\"2026-11-21T10:11:12.345Z\",\"u\":\"2026-11-21 10:11:12\",\"d\":\"2026-11-21\"}",
    "[\"550e8400-e29b-41d4-a716-446655440000\",\"550E8400-E29B-41D4-A716-446655440000\"]",
    "[\"deadbeef\",\"00ff00ff\",\"DEADBEEF\",\"deadbeefe\"]",
    "[\"order-0001\",\"order-0002\",\"order-0010\",\"order-11\"]",
    "[\"https://a.example/x/1\",\"https://a.example/x/2\",\"https://a.example/x/3\"]",
    "[{\"a\":1,\"b\":2},{\"b\":2},{\"a\":1,\"c\":{\"d\":[1,2]}},{\"a\":\"1\",\"b\":null}]",
    "[1,2,3,4,5,6,7,8,9,10,11,12,1000000,-5,9223372036854775807,-9223372036854775808]",
    "[100000,200001,100002,200003,100004,200005,100006,200007,100008,200009]",
    "[7,7,7,7,7,7,7,7,7,7]",
    "[[],[],[],[],[],[],[],[],[]]",
    "[\"0012\",\"0013\",\"0014\"]",
    "[\"12\",\"13.5\",\"x\"]",
    "{\"a\":{\"a\":{\"a\":{}}}}",
    "[\"\\\"\",\"\\\"\",\"ends with \\\\\"]",
];

/// A name, the style, the additions, what follows them, and the text.
pub(super) type Form = (&'static str, u8, &'static [u8], &'static [u8], &'static [u8]);

/// What is read, if the encoder writes it or not.
pub(super) const FORMS: &[Form] = &[
    (
        "the example of the page",
        0x00,
        &[1, 5, 1, 4, 0, 2, 0, 0x6E, 0, 0, 0x73, 0, 1, 6, 0, 0, 1, 1],
        &[2, 2, 3, 0x61, 0, 0x62, 0],
        b"[{\"n\":1,\"s\":\"a\"},{\"n\":-2,\"s\":\"b\"}]",
    ),
    (
        "texts slot by slot",
        0x00,
        &[1, 5, 1, 4, 0, 2, 0, b'a', 0, 0, b'b', 0, 1, 1, 1, 1],
        &[2, b'x', 0, b'y', 0, b'1', 0, b'2', 0],
        b"[{\"a\":\"x\",\"b\":\"1\"},{\"a\":\"y\",\"b\":\"2\"}]",
    ),
    (
        "texts in the order of the payload",
        0x20,
        &[1, 5, 1, 4, 0, 2, 0, b'a', 0, 0, b'b', 0, 1, 1, 1, 1],
        &[2, b'x', 0, b'1', 0, b'y', 0, b'2', 0],
        b"[{\"a\":\"x\",\"b\":\"1\"},{\"a\":\"y\",\"b\":\"2\"}]",
    ),
    (
        "integers, way 0",
        0x00,
        &[1, 5, 1, 6, 0, 0],
        &[8, 0, 0, 1, 2, 3, 4, 5, 6, 7],
        b"[0,-1,1,-2,2,-3,3,-4]",
    ),
    (
        "integers, way 0, with a base",
        0x00,
        &[1, 5, 1, 6, 0, 0xC8, 1],
        &[8, 0, 0, 1, 2, 3, 4, 5, 6, 7],
        b"[100,99,101,98,102,97,103,96]",
    ),
    (
        "integers, way 1",
        0x00,
        &[1, 5, 1, 6, 0, 0],
        &[8, 1, 2, 2, 2, 2, 2, 2, 2, 2],
        b"[1,2,3,4,5,6,7,8]",
    ),
    (
        "integers, way 3",
        0x00,
        &[1, 5, 1, 6, 0, 0xC8, 1],
        &[9, 3, 0, 2, 4, 2, 2, 2, 2, 2, 2],
        b"[100,101,102,101,102,103,102,103,104]",
    ),
    (
        "integers, way 4, with a base",
        0x00,
        &[1, 5, 1, 6, 0, 0xC8, 1],
        &[8, 4, 0, 2, 4, 6, 2, 2, 2, 2],
        b"[100,101,102,103,101,102,103,104]",
    ),
    (
        "integers, way 0x11",
        0x00,
        &[1, 5, 1, 6, 0, 0xC8, 1],
        &[8, 0x11, 5, 0, 1, 2, 3, 4, 5, 6, 0xFF],
        b"[-3,-2,-1,0,1,2,3,252]",
    ),
    (
        "integers, way 0x12",
        0x00,
        &[1, 5, 1, 6, 0, 0],
        &[8, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7],
        b"[0,1,2,3,4,5,6,263]",
    ),
    (
        "integers, way 0x18",
        0x00,
        &[1, 5, 1, 6, 0, 0],
        &[
            8, 0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0xFF, 0x80, 0x80,
            0x80, 0x80, 0x80, 0x80, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0xFF,
            0, 0, 0, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0, 0,
            0, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0,
        ],
        b"[-9223372036854775808,9223372036854775807,0,0,0,0,0,0]",
    ),
    (
        "integers, way 0x20, with a base",
        0x00,
        &[1, 5, 1, 6, 0, 0xC8, 1],
        &[8, 0x20, 1, 1, 4, 0, 1, 0, 1, 0, 1, 0, 1],
        b"[99,101,99,101,99,101,99,101]",
    ),
    (
        "integers that wrap around",
        0x00,
        &[1, 5, 1, 6, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
        &[2, 2, 4],
        b"[-9223372036854775808,-9223372036854775807]",
    ),
    (
        "integers, a short column to the base",
        0x00,
        &[1, 5, 1, 6, 0, 0xC8, 1],
        &[3, 2, 2, 2],
        b"[101,101,101]",
    ),
    (
        "times, a short column",
        0x00,
        &[1, 5, 1, 6, 1, 0],
        &[3, 2, 2, 2],
        b"[1970-01-02,1970-01-03,1970-01-04]",
    ),
    (
        "times, the last of a unit in another slot",
        0x00,
        &[1, 0x0F, 4, 1, 6, 0x90, 0, 1, 6, 0xA0, 9, 1, 6, 1, 0, 1, 6, 0x90, 9],
        &[0x78, 2, 2, 1],
        b"[1970-01-01T00:01:00,1970-01-01 00:01:01,1970-01-02,1970-01-01T00:01:00]",
    ),
    (
        "times, a long column by way 0",
        0x00,
        &[1, 0x0F, 2, 1, 6, 0x90, 0, 1, 5, 1, 6, 0x90, 0],
        &[8, 0x78, 0, 0, 1, 0, 1, 0, 1, 0, 1],
        b"[1970-01-01T00:01:00,[1970-01-01T00:01:00,1970-01-01T00:00:59,\
          1970-01-01T00:01:00,1970-01-01T00:00:59,1970-01-01T00:01:00,\
          1970-01-01T00:00:59,1970-01-01T00:01:00,1970-01-01T00:00:59]]",
    ),
    (
        "forms of -5",
        0x00,
        &[
            1, 0x0F, 0x0B, 1, 6, 0, 0, 1, 6, 0x10, 0, 1, 6, 0x11, 0, 1, 6, 0x30, 0, 1, 6, 0x31, 0,
            1, 6, 0x50, 0, 1, 6, 0x70, 0, 1, 6, 0x72, 0, 1, 6, 1, 0, 1, 6, 0x90, 0, 1, 6, 0xA3, 0,
        ],
        &[9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9],
        b"[-5,-0.5,-0.05,-0.5,-0.05,-0.5,5,005,1969-12-27,1969-12-31T23:59:55,\
          1969-12-31 23:59:59.995]",
    ),
    (
        "forms of 1,200",
        0x00,
        &[
            1, 0x0F, 9, 1, 6, 0, 0, 1, 6, 0x11, 0, 1, 6, 0x31, 0, 1, 6, 0x51, 0, 1, 6, 0x32, 0, 1,
            6, 0x52, 0, 1, 6, 0x13, 0, 1, 6, 0x71, 0, 1, 6, 0x75, 0,
        ],
        &[
            0xE0, 0x12, 0xE0, 0x12, 0xE0, 0x12, 0xE0, 0x12, 0xE0, 0x12, 0xE0, 0x12, 0xE0, 0x12,
            0xE0, 0x12, 0xE0, 0x12,
        ],
        b"[1200,12.00,12,12.0,1.2,1.2,0.1200,1200,001200]",
    ),
    (
        "forms of 0",
        0x00,
        &[
            1, 0x0F, 8, 1, 6, 0, 0, 1, 6, 0x11, 0, 1, 6, 0x31, 0, 1, 6, 0x51, 0, 1, 6, 0x70, 0, 1,
            6, 0x71, 0, 1, 6, 1, 0, 1, 6, 0x91, 0,
        ],
        &[0, 0, 0, 0, 0, 0, 0, 0],
        b"[0,0.00,0,0.0,0,00,1970-01-01,1970-01-01T00:00:00.0]",
    ),
    (
        "forms of the least integer",
        0x00,
        &[
            1, 0x0F, 8, 1, 6, 0, 0, 1, 6, 0x21, 0, 1, 6, 0x41, 0, 1, 6, 0x61, 0, 1, 6, 0x81, 0, 1,
            6, 1, 0, 1, 6, 0x90, 0, 1, 6, 0x97, 0,
        ],
        &[
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF, 0xFF, 0xFF, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1,
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF, 0xFF, 0xFF, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1,
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF, 0xFF, 0xFF, 1,
        ],
        b"[-9223372036854775808,-9.223372036854775808,-9.223372036854775808,\
          -9.223372036854775808,9223372036854775808,0000-01-01,\
          0000-01-01T08:29:52,0000-01-01T21:11:54.5224192]",
    ),
    (
        "forms of the largest integer",
        0x00,
        &[1, 0x0F, 4, 1, 6, 0x21, 0, 1, 6, 0x70, 0, 1, 6, 1, 0, 1, 6, 0xA0, 0],
        &[
            0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF, 0xFF, 0xFF, 1, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1,
            0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1,
        ],
        b"[9.223372036854775807,9223372036854775807,9999-12-31,9999-12-31 15:30:07]",
    ),
    (
        "days",
        0x00,
        &[1, 5, 1, 6, 1, 0],
        &[7, 0x8C, 0xB5, 2, 0xD3, 0xC3, 5, 0x88, 0x91, 0xE9, 2, 2, 0x91, 0xED, 0xBD, 3, 1, 0x78],
        b"[2024-02-29,1900-03-01,9999-12-31,9999-12-31,0000-01-01,0000-01-01,\
          0000-02-29]",
    ),
    (
        "numbers in longer forms than needed",
        0x00,
        &[0x81, 0, 5, 1, 0x0A],
        &[0x82, 0x80, 0],
        b"[true,true]",
    ),
    (
        "variants of 8 values",
        0x00,
        &[1, 5, 2, 0x0A, 0x0B],
        &[8, 0, 0, 1, 0, 1, 0, 1, 0, 1],
        b"[true,false,true,false,true,false,true,false]",
    ),
    (
        "one variant of 8 values",
        0x00,
        &[1, 5, 2, 0x0A, 0x0B],
        &[8, 1, 1],
        b"[false,false,false,false,false,false,false,false]",
    ),
    (
        "lengths of 8 arrays",
        0x00,
        &[1, 5, 1, 5, 1, 0x0C],
        &[8, 0, 0, 1, 0, 0, 0, 0, 0, 2],
        b"[[],[null],[],[],[],[],[],[null,null]]",
    ),
    ("one length of 8 arrays", 0x00, &[1, 5, 1, 5], &[8, 1, 0], b"[[],[],[],[],[],[],[],[]]"),
    (
        "a key twice in a list",
        0x00,
        &[1, 4, 0, 2, 0, 0x61, 0, 1, 1, 6, 0, 0],
        &[2, 4],
        b"{\"a\":1,\"a\":2}",
    ),
    (
        "two keys of one text",
        0x00,
        &[1, 4, 0, 2, 0, 0x61, 0, 0, 0x61, 0, 1, 6, 0, 0, 1, 1],
        &[2, 0x78, 0],
        b"{\"a\":1,\"a\":\"x\"}",
    ),
    (
        "a list that begins like the one before",
        0x00,
        &[
            1, 5, 3, 4, 0, 2, 0, 0x61, 0, 0, 0x62, 0, 0x0A, 4, 1, 2, 0, 0x63, 0, 2, 1, 0x0C, 1,
            0x0C, 1, 0x0C,
        ],
        &[3, 0, 1, 2],
        b"[{\"a\":null,\"b\":null},true,{\"a\":null,\"c\":null,\"b\":null}]",
    ),
    (
        "tuples that share positions",
        0x00,
        &[1, 5, 3, 0x0F, 2, 0x0F, 0, 0x0F, 3, 1, 6, 0, 0, 1, 6, 0, 0, 1, 6, 0, 0],
        &[3, 0, 1, 2, 2, 4, 6, 8, 0x0A],
        b"[[1,3],[],[2,4,5]]",
    ),
    (
        "keys, positions and elements below one slot",
        0x00,
        &[1, 5, 3, 5, 0x0F, 1, 4, 0, 1, 0, 0x61, 0, 1, 1, 1, 1, 1, 1],
        &[3, 0, 1, 2, 1, 0x78, 0, 0x79, 0, 0x7A, 0],
        b"[[\"z\"],[\"y\"],{\"a\":\"x\"}]",
    ),
    (
        "bytes and UUIDs",
        0x00,
        &[
            1, 0x0F, 5, 1, 8, 2, 0, 0x22, 0, 0x22, 0, 1, 8, 2, 2, 0x22, 0, 0x22, 0, 1, 8, 0, 0,
            0x22, 0, 0x22, 0, 1, 9, 0, 0x22, 0, 0x22, 0, 1, 9, 1, 0, 0,
        ],
        &[
            0xAB, 0xCD, 0xAB, 0xCD, 0x55, 0x0E, 0x84, 0, 0xE2, 0x9B, 0x41, 0xD4, 0xA7, 0x16, 0x44,
            0x66, 0x55, 0x44, 0, 0, 0x55, 0x0E, 0x84, 0, 0xE2, 0x9B, 0x41, 0xD4, 0xA7, 0x16, 0x44,
            0x66, 0x55, 0x44, 0, 0,
        ],
        b"[\"abcd\",\"ABCD\",\"\",\"550e8400-e29b-41d4-a716-446655440000\",\
          550E8400-E29B-41D4-A716-446655440000]",
    ),
    (
        "texts of several variants",
        0x00,
        &[1, 5, 3, 1, 3, 0x22, 0x78, 0x2D, 0, 0x2F, 0x22, 0, 2],
        &[4, 1, 0, 2, 1, 0x31, 0, 0x32, 0, 0x33, 0, 0],
        b"[\"x-1/\",\"2\",3,\"x-/\"]",
    ),
    (
        "integers between texts",
        0x00,
        &[1, 0x0F, 2, 1, 7, 0x22, 0x6E, 0x6F, 0x20, 0, 0x21, 0x22, 0, 0, 0, 1, 0x0D, 0x10, 2],
        &[2, 0],
        b"[\"no 1!\",\"0.1\"]",
    ),
    (
        "what is no JSON",
        0x00,
        &[1, 2],
        &[0x6E, 0x6F, 0x6E, 0x73, 0x65, 0x6E, 0x73, 0x65, 0],
        b"nonsense",
    ),
    ("what is no UTF-8", 0x00, &[1, 1], &[0xFF, 0xC1, 0], b"\"\xFF\xC1\""),
    ("no text at all", 0x00, &[1, 0, 0], &[], b""),
    (
        "style 0x01",
        0x01,
        &[1, 5, 3, 4, 0, 1, 0, 0x61, 0, 5, 4, 0, 0, 1, 6, 0, 0],
        &[3, 0, 1, 2, 0, 2],
        b"[{\"a\": 1},[],{}]",
    ),
    (
        "style 0x02",
        0x02,
        &[1, 5, 3, 4, 0, 1, 0, 0x61, 0, 5, 4, 0, 0, 1, 6, 0, 0],
        &[3, 0, 1, 2, 0, 2],
        b"[{\"a\":1}, [], {}]",
    ),
    (
        "style 0x03",
        0x03,
        &[1, 5, 3, 4, 0, 1, 0, 0x61, 0, 5, 4, 0, 0, 1, 6, 0, 0],
        &[3, 0, 1, 2, 0, 2],
        b"[{\"a\": 1}, [], {}]",
    ),
    (
        "style 0x04",
        0x04,
        &[1, 5, 3, 4, 0, 1, 0, 0x61, 0, 5, 4, 0, 0, 1, 6, 0, 0],
        &[3, 0, 1, 2, 0, 2],
        b"[\n  {\n    \"a\":1\n  },\n  [],\n  {}\n]",
    ),
    (
        "style 0x06",
        0x06,
        &[1, 5, 3, 4, 0, 1, 0, 0x61, 0, 5, 4, 0, 0, 1, 6, 0, 0],
        &[3, 0, 1, 2, 0, 2],
        b"[\n  {\n    \"a\":1\n  },\n  [],\n  {}\n]",
    ),
    (
        "style 0x09",
        0x09,
        &[1, 5, 3, 4, 0, 1, 0, 0x61, 0, 5, 4, 0, 0, 1, 6, 0, 0],
        &[3, 0, 1, 2, 0, 2],
        b"[\n    {\n        \"a\": 1\n    },\n    [],\n    {}\n]",
    ),
    (
        "style 0x0d",
        0x0d,
        &[1, 5, 3, 4, 0, 1, 0, 0x61, 0, 5, 4, 0, 0, 1, 6, 0, 0],
        &[3, 0, 1, 2, 0, 2],
        b"[\n\t{\n\t\t\"a\": 1\n\t},\n\t[],\n\t{}\n]",
    ),
    (
        "style 0x10",
        0x10,
        &[1, 5, 3, 4, 0, 1, 0, 0x61, 0, 5, 4, 0, 0, 1, 6, 0, 0],
        &[3, 0, 1, 2, 0, 2],
        b"[{\"a\":1},[],{}]\n",
    ),
    (
        "style 0x1f",
        0x1f,
        &[1, 5, 3, 4, 0, 1, 0, 0x61, 0, 5, 4, 0, 0, 1, 6, 0, 0],
        &[3, 0, 1, 2, 0, 2],
        b"[\n\t{\n\t\t\"a\": 1\n\t},\n\t[],\n\t{}\n]\n",
    ),
];

/// What is no text, or does not come back, and why.
pub(super) const REFUSED: &[(&str, &str, &str)] = &[
    ("nothing", "not-json", ""),
    ("half a literal", "not-json", "nul"),
    ("a leading zero", "not-json", "01"),
    ("a bare point", "not-json", "1."),
    ("a plus sign", "not-json", "+1"),
    ("a line feed in a string", "not-json", "\"\n\""),
    ("a comma at the end", "not-json", "[1,]"),
    ("a wrong bracket", "not-json", "[1}"),
    ("a key without a value", "not-json", "{\"a\"}"),
    ("a key without quotes", "not-json", "{1:2}"),
    ("two values", "not-json", "1 2"),
    ("an open array", "not-json", "[1"),
    ("an open string", "not-json", "\"a"),
    ("a space before", "white-space", " 1"),
    ("a space before a comma", "white-space", "[1 ,2]"),
    ("a space in brackets", "white-space", "[ 1]"),
    ("a space after one comma", "white-space", "[1, 2,3]"),
    ("a space before a colon", "white-space", "{\"a\" :1}"),
    ("a carriage return", "white-space", "[1,\r\n2]"),
    ("three spaces", "white-space", "{\n   \"a\": 1\n}"),
    ("an empty array with a space", "white-space", "[ ]"),
];

/// A name, the additions of the value, its structure, the rest, and how long its text would be.
pub(super) type Corrupt = (&'static str, &'static [u8], &'static [u8], &'static [u8], usize);

/// Values that break the rules.
pub(super) const CORRUPT: &[Corrupt] = &[
    ("variant 0x10", &[1, 0x10], &[], &[], 4),
    ("variant 0xff", &[1, 0xFF], &[], &[], 4),
    ("a variant that its slot does not have", &[2, 0x0A, 0x0B], &[2], &[], 4),
    ("a variant of 2^32", &[2, 0x0A, 0x0B], &[0x80, 0x80, 0x80, 0x80, 0x10], &[], 4),
    ("a length of 2^32", &[1, 5, 1, 0x0A], &[0x80, 0x80, 0x80, 0x80, 0x10], &[], 2),
    ("a length of 2^32 - 1", &[1, 5, 1, 0x0A], &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F], &[], 2),
    ("more keys than the list before has", &[1, 4, 1, 0], &[], &[], 2),
    ("an unknown key", &[1, 4, 0, 1, 1], &[], &[], 2),
    ("a second array variant", &[2, 5, 5, 1, 0x0A], &[0, 1], &[], 6),
    ("way 2 of small numbers", &[1, 5, 2, 0x0A, 0x0B], &[8, 2, 0, 0, 0, 0, 0, 0, 0, 0], &[], 41),
    (
        "an integer of 65 bits",
        &[1, 6, 0, 0],
        &[],
        &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2],
        1,
    ),
    (
        "an integer of eleven bytes",
        &[1, 6, 0, 0],
        &[],
        &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0],
        1,
    ),
    (
        "a place beyond the table",
        &[1, 5, 1, 6, 0, 0],
        &[8],
        &[0x20, 1, 2, 2, 0, 1, 0, 1, 0, 1, 0, 2],
        17,
    ),
    ("additions of a slot without values", &[1, 5, 1, 0x0A], &[0], &[], 2),
    ("a text without an end", &[1, 1], &[], &[0x61], 3),
];

/// Forms beside those that there are.
pub(super) const UNKNOWN_FORMS: &[u8] =
    &[0x02, 0x0F, 0x22, 0x2F, 0x42, 0x62, 0x82, 0x8F, 0x98, 0xA8, 0xB0, 0xFF];

/// Ways of integers beside those that there are.
pub(super) const UNKNOWN_WAYS: &[u8] = &[0x05, 0x10, 0x19, 0x1F, 0x21, 0xFF];
