//! Tests of the columnar encoding: everything comes back byte by byte, with a model and without,
//! and hostile bytes are refused within bounds.

use proptest::prelude::*;

use super::model::Model;
use super::{Corrupt, Decoder, Encoder, Refused, learn};

mod hostile;

fn contexts(model: Option<&[u8]>) -> (Encoder, Decoder) {
    let model = model.map_or_else(Model::new, |bytes| Model::read(bytes).unwrap());
    (Encoder::new(&model), Decoder::new(&model))
}

/// Encodes and decodes, and returns the encoded form.
fn round_trip(contexts: &mut (Encoder, Decoder), text: &[u8]) -> Result<Vec<u8>, Refused> {
    let (mut encoded, mut decoded) = (Vec::new(), b"before ".to_vec());
    contexts.0.encode(text, &mut encoded)?;
    let result = contexts.1.decode(&encoded, text.len(), &mut decoded);
    assert_eq!(result, Ok(()), "{}", String::from_utf8_lossy(text));
    let decoded = decoded.strip_prefix(b"before ").unwrap();
    assert_eq!(String::from_utf8_lossy(decoded), String::from_utf8_lossy(text));
    Ok(encoded)
}

/// Texts that show what the encoding knows, and what it had better not touch.
const TEXTS: &[&str] = &[
    "0",
    "-0",
    "1.10",
    "1e5",
    "1E+05",
    "123456789012345678901234567890",
    "\"\"",
    "true",
    "null",
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    "{\"a\":[]}",
    "\"a\\u0041\\\"\\\\\\/\"",
    "[1,2,3]",
    "[1,\"a\"]",
    "[\"a\",\"b\",3]",
    "[\"a\",\"b\",3,[4]]",
    "[{\"k\":[\"a\",\"b\"]},{\"k\":[\"c\",\"d\",5,true]},{\"k\":[5,6]}]",
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

#[test]
fn what_the_encoding_knows_comes_back() {
    let mut contexts = contexts(None);
    for text in TEXTS {
        round_trip(&mut contexts, text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    }
}

/// A text with other white space: Python's, JavaScript's and Go's ways.
fn laid_out(text: &str, indent: &str, colon: &str, comma: &str) -> String {
    let (mut out, mut depth, mut in_string, mut escaped) = (String::new(), 0, false, false);
    let line = |depth: usize| match indent {
        "" => String::new(),
        _ => format!("\n{}", indent.repeat(depth)),
    };
    let bytes: Vec<char> = text.chars().collect();
    for (at, &c) in bytes.iter().enumerate() {
        let is_empty = |open: char, close: char| {
            c == open && bytes.get(at + 1) == Some(&close)
                || c == close && at > 0 && bytes[at - 1] == open
        };
        if in_string {
            out.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                out.push(c);
            }
            '{' | '[' | '}' | ']' if is_empty('{', '}') || is_empty('[', ']') => out.push(c),
            '{' | '[' => {
                depth += 1;
                out.push(c);
                out += &line(depth);
            }
            '}' | ']' => {
                depth -= 1;
                out += &line(depth);
                out.push(c);
            }
            ':' => out += colon,
            ',' if indent.is_empty() => out += comma,
            ',' => {
                out.push(',');
                out += &line(depth);
            }
            _ => out.push(c),
        }
    }
    out
}

#[test]
fn the_usual_styles_come_back_and_cost_nothing() {
    let mut contexts = contexts(None);
    for text in TEXTS {
        let compact = round_trip(&mut contexts, text.as_bytes()).unwrap();
        for (indent, colon, comma) in [
            ("", ": ", ", "),
            ("", ":", ", "),
            ("  ", ": ", ","),
            ("    ", ": ", ","),
            ("\t", ": ", ","),
        ] {
            // The first comma or colon may stand behind a long string.
            let late = format!("[\"{}\",{text}]", "x".repeat(5_000));
            let late = laid_out(&late, indent, colon, comma);
            round_trip(&mut contexts, late.as_bytes()).unwrap_or_else(|e| panic!("{e:?}: {text}"));
            let text = laid_out(text, indent, colon, comma);
            for text in [text.clone(), text + "\n"] {
                let encoded = round_trip(&mut contexts, text.as_bytes())
                    .unwrap_or_else(|error| panic!("{error:?}: {text:?}"));
                assert_eq!(encoded.len(), compact.len(), "{text}");
            }
        }
    }
}

#[test]
fn what_can_not_come_back_is_refused() {
    let mut contexts = contexts(None);
    for (text, refused) in [
        ("", Refused::NotJson),
        ("nul", Refused::NotJson),
        ("01", Refused::NotJson),
        ("1.", Refused::NotJson),
        ("+1", Refused::NotJson),
        ("\"\n\"", Refused::NotJson),
        ("\"\u{0}\"", Refused::NotJson),
        ("[1,]", Refused::NotJson),
        ("[1}", Refused::NotJson),
        ("{\"a\"}", Refused::NotJson),
        ("{\"a\":1,}", Refused::NotJson),
        ("{1:2}", Refused::NotJson),
        ("1 2", Refused::NotJson),
        ("[1", Refused::NotJson),
        ("\"a", Refused::NotJson),
        (" 1", Refused::Style),
        ("[1 ,2]", Refused::Style),
        ("[ 1]", Refused::Style),
        ("[1, 2,3]", Refused::Style),
        ("{\"a\" :1}", Refused::Style),
        ("[1,\r\n2]", Refused::Style),
        ("{\n   \"a\": 1\n}", Refused::Style),
        ("[ ]", Refused::Style),
    ] {
        assert_eq!(round_trip(&mut contexts, text.as_bytes()), Err(refused), "{text:?}");
        // A refusal leaves nothing behind.
        round_trip(&mut contexts, b"{\"a\":[1,{\"b\":\"c\"}]}").unwrap();
    }
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(round_trip(&mut contexts, deep.as_bytes()), Err(Refused::Depth));
    let keys: Vec<String> = (0..20_000).map(|key| format!("\"{key}\":0")).collect();
    let many = format!("{{{}}}", keys.join(","));
    assert_eq!(round_trip(&mut contexts, many.as_bytes()), Err(Refused::Keys));
    round_trip(&mut contexts, b"[1]").unwrap();
}

#[test]
fn keys_that_stand_in_another_order_each_time_come_back() {
    let count = 4_000;
    // Both numbers have nothing in common with the count, so that each key is met once.
    let object = |step: usize| {
        let member = |at: usize| format!("\"key {}\":{at}", at * step % count);
        let members: Vec<String> = (0..count).map(member).collect();
        format!("{{{}}}", members.join(","))
    };
    let mut contexts = contexts(None);
    let text = format!("[{},{},{}]", object(1), object(2_477), object(3_001));
    let first = round_trip(&mut contexts, text.as_bytes()).unwrap();
    // What a context has met makes no difference.
    round_trip(&mut contexts, object(1_237).as_bytes()).unwrap();
    assert_eq!(round_trip(&mut contexts, text.as_bytes()), Ok(first));
}

fn orders(count: usize) -> Vec<String> {
    let order = |at: usize| {
        let city = ["Berlin", "Paris", "Rome"][at % 3];
        let extra = if at.is_multiple_of(7) { ",\"gift\":true" } else { "" };
        let items =
            format!(r#"[{{"sku":"A-{:04}","n":1}},{{"sku":"A-{:04}","n":2}}]"#, at % 50, at % 13,);
        format!(
            r#"{{"id":{},"city":"{city}","at":"2026-11-{:02}T10:{:02}:00Z","total":{}.{:02},"#,
            10_000 + at,
            at % 28 + 1,
            at % 60,
            at % 90,
            at % 100,
        ) + &format!(r#""items":{items}{extra}}}"#)
    };
    (0..count).map(order).collect()
}

fn learned(payloads: &[String], entities_min: u32) -> Option<Vec<u8>> {
    let payloads: Vec<(&[u8], u32)> =
        payloads.iter().enumerate().map(|(at, text)| (text.as_bytes(), at as u32)).collect();
    learn(&payloads, entities_min).map(|learned| learned.bytes)
}

#[test]
fn what_a_model_knows_takes_few_bytes() {
    let orders = orders(400);
    let model = learned(&orders[..300], 10).unwrap();
    let (mut with, mut without) = (contexts(Some(&model)), contexts(None));
    for order in &orders[300..] {
        let known = round_trip(&mut with, order.as_bytes()).unwrap();
        let new = round_trip(&mut without, order.as_bytes()).unwrap();
        assert!(known.len() * 5 < order.len(), "{} of {}", known.len(), order.len());
        assert!(known.len() * 4 < new.len());
    }
    // What it does not know comes back too.
    for text in TEXTS {
        round_trip(&mut with, text.as_bytes()).unwrap();
    }
}

#[test]
fn texts_in_the_order_of_the_payload_come_back_too() {
    let orders = orders(400);
    let model = learned(&orders[..300], 10).unwrap();
    let model = Model::read(&model).unwrap();
    let mut by_slots = (Encoder::new(&model), Decoder::new(&model));
    let in_order = model.with_texts_in_order(true);
    let mut in_order = (Encoder::new(&in_order), Decoder::new(&in_order));
    let mut differ = 0;
    let pairs: Vec<String> = (0..20)
        .map(|at| format!("[{{\"a\":\"x{at}\",\"b\":\"y\"}},{{\"a\":\"z\",\"b\":\"{at}!\"}}]"))
        .collect();
    let texts = orders[300..].iter().chain(&pairs).map(String::as_str);
    for text in texts.chain(TEXTS.iter().copied()) {
        let [ordered, slots] = [&mut in_order, &mut by_slots]
            .map(|contexts| round_trip(contexts, text.as_bytes()).unwrap());
        assert_eq!(ordered.len(), slots.len(), "{text}");
        differ += usize::from(ordered[1..] != slots[1..]);
        // A decoder goes by the form and not by its model.
        let mut back = Vec::new();
        by_slots.1.decode(&ordered, text.len(), &mut back).unwrap();
        assert_eq!(back, text.as_bytes());
    }
    assert!(differ >= 20, "{differ}");
}

#[test]
fn a_model_holds_only_what_enough_entities_had() {
    let mut orders = orders(300);
    for order in orders.iter_mut().take(9) {
        *order = order.replace("Rome", "Ann Example").replace("\"city\"", "\"private\"");
    }
    // One entity in many payloads.
    let mut payloads: Vec<(&[u8], u32)> =
        orders.iter().enumerate().map(|(at, text)| (text.as_bytes(), at as u32)).collect();
    let repeated = "{\"id\":1,\"city\":\"Bob Example\",\"secret\":{\"x\":1}}";
    payloads.extend((0..200).map(|_| (repeated.as_bytes(), 1_000)));
    // One entity in many texts that differ, where all others have the same one.
    let notes: Vec<String> =
        (0..20).map(|at| format!("{{\"note\":\"Eve Example {at} x\"}}")).collect();
    payloads.extend((0..20).map(|entity| (&b"{\"note\":\"\"}"[..], entity)));
    payloads.extend(notes.iter().map(|note| (note.as_bytes(), 1_001)));
    let model = learn(&payloads, 10).unwrap().bytes;
    let holds = |text: &str| memchr::memmem::find(&model, text.as_bytes()).is_some();
    assert!(holds("Berlin") && holds("city") && holds("note"));
    for private in ["Ann Example", "Bob Example", "Eve Example", "private", "secret"] {
        assert!(!holds(private), "{private}");
    }
}

#[test]
fn a_model_of_more_than_it_holds_keeps_keys_and_gives_up_constants() {
    // Thirteen kinds of payloads with a thousand keys, each of which has six values.
    let payload = |kind: usize, entity: usize| {
        let member = |key: usize| format!("\"{kind}.{key}\":\"value {}\"", (key + entity) % 6);
        let members: Vec<String> = (0..1_000).map(member).collect();
        format!("{{{}}}", members.join(","))
    };
    let kinds = (0..13).flat_map(|kind| (0..24).map(move |entity| payload(kind, entity)));
    let payloads: Vec<String> = kinds.collect();
    let model = learned(&payloads, 2).unwrap();
    let mut contexts = contexts(Some(&model));
    for payload in payloads.iter().step_by(11) {
        let encoded = round_trip(&mut contexts, payload.as_bytes()).unwrap();
        assert!(encoded.len() * 3 < payload.len() * 2, "{} of {}", encoded.len(), payload.len());
    }
}

#[test]
fn the_same_payloads_give_the_same_model_and_the_same_bytes() {
    let orders = orders(200);
    let model = learned(&orders, 5);
    assert_eq!(model, learned(&orders, 5));
    let (mut one, mut other) = (contexts(model.as_deref()), contexts(model.as_deref()));
    for text in &orders {
        let first = round_trip(&mut one, text.as_bytes());
        assert_eq!(first, round_trip(&mut other, text.as_bytes()));
        assert_eq!(first, round_trip(&mut one, text.as_bytes()), "state from an earlier payload");
    }
    assert!(learned(&[], 5).is_none());
}

#[test]
fn hostile_bytes_are_refused_within_bounds() {
    let orders = orders(60);
    let model = learned(&orders[..50], 5);
    let mut state = 7u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize
    };
    let mut accepted = 0;
    for model in [None, model.as_deref()] {
        let mut contexts = contexts(model);
        let texts = TEXTS.iter().map(|text| (*text).to_owned()).chain(orders[50..].to_vec());
        for text in texts {
            let encoded = round_trip(&mut contexts, text.as_bytes()).unwrap();
            for _ in 0..200 {
                let mut hostile = encoded.clone();
                for _ in 0..=random() % 3 {
                    let at = random() % hostile.len();
                    match random() % 4 {
                        0 => hostile[at] = random() as u8,
                        1 => hostile[at] ^= 1 << (random() % 8),
                        2 => hostile.truncate(at + 1),
                        _ => hostile.insert(at, random() as u8),
                    }
                }
                let mut out = Vec::new();
                let announced = [text.len(), 1 << 16][random() % 2];
                if contexts.1.decode(&hostile, announced, &mut out).is_ok() {
                    assert_eq!(out.len(), announced);
                    accepted += 1;
                }
                assert!(out.len() <= announced + hostile.len() + 64);
            }
            // What came before leaves nothing behind.
            round_trip(&mut contexts, text.as_bytes()).unwrap();
        }
    }
    assert!(accepted > 0);
}

#[test]
fn a_few_bytes_do_not_become_many_values() {
    let mut decoder = contexts(None).1;
    // An array whose elements are the same constant needs no byte for each.
    let array_of_ones = [0x80, 8, 1, 0, 1, 5, 1, 0, b'1', 0];
    let encoded = [&array_of_ones[..], &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]].concat();
    assert!(matches!(decoder.decode(&encoded, 1 << 20, &mut Vec::new()), Err(Corrupt(_))));
    let few = [&array_of_ones[..], &[3]].concat();
    let mut out = Vec::new();
    assert_eq!(decoder.decode(&few, 7, &mut out), Ok(()));
    assert_eq!(out, b"[1,1,1]");
}

/// An encoded form whose root has these variants and nothing below them, and what follows.
fn with_root(variants: &[u8], rest: &[u8]) -> Vec<u8> {
    let mut encoded = vec![0x80];
    super::varint::write(variants.len() as u64 + 2, &mut encoded);
    encoded.extend([1, 0]);
    [&encoded[..], variants, rest].concat()
}

#[test]
fn a_few_bytes_do_not_become_many_keys() {
    let mut decoder = contexts(None).1;
    // A list of 2^11 keys, then lists that are copies of it: 2^20 keys in all, or as many more.
    let of_lists = |lists: u16| {
        let mut variants = vec![];
        super::varint::write(u64::from(lists), &mut variants);
        variants.extend([4, 0, 0x80, 0x10, 0, 0]);
        variants.extend([1; 2047]);
        for _ in 1..lists {
            variants.extend([4, 0x80, 0x10, 0]);
        }
        variants.extend([1, 12]);
        // The root is the object with the first list, whose keys are all null.
        with_root(&variants, &[0])
    };
    let text = format!("{{{}}}", ["\"\":null"; 2048].join(","));
    let mut out = Vec::new();
    assert_eq!(decoder.decode(&of_lists(512), text.len(), &mut out), Ok(()));
    assert!(out == text.as_bytes());
    let result = decoder.decode(&of_lists(513), text.len(), &mut Vec::new());
    assert_eq!(result, Err(Corrupt("too many keys in the lists of objects")));
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    let mut decoder = contexts(None).1;
    let arrays = with_root(&[2, 5, 5, 1, 12], &[0, 1]);
    let result = decoder.decode(&arrays, 6, &mut Vec::new());
    assert_eq!(result, Err(Corrupt("a second variant of arrays")));
    // Eight integers by a table of two, of which the last has a third.
    let table = |last: u8| {
        let numbers = [0x20, 1, 2, 2, 0, 1, 0, 1, 0, 1, 0, last];
        with_root(&[1, 5, 1, 6, 0, 0], &[&[8][..], &numbers].concat())
    };
    let mut out = Vec::new();
    assert_eq!(decoder.decode(&table(1), 17, &mut out), Ok(()));
    assert_eq!(out, b"[1,2,1,2,1,2,1,2]");
    let result = decoder.decode(&table(2), 17, &mut Vec::new());
    assert_eq!(result, Err(Corrupt("a place beyond the table")));
}

#[test]
fn a_slot_may_have_many_columns_of_numbers() {
    let mut decoder = contexts(None).1;
    // Twelve forms, and a value of each in the opposite order.
    let forms: Vec<u8> = (0x10..0x1C).flat_map(|code| [6, code, 0]).collect();
    let variants = [&[1, 5, 12][..], &forms].concat();
    let symbols: Vec<u8> = (0..12).rev().collect();
    let numbers: Vec<u8> = (1..=12).map(|value| 2 * value).collect();
    let encoded = with_root(&variants, &[&[12, 0][..], &symbols, &numbers].concat());
    let texts: Vec<String> = (1..=12).rev().map(|n| format!("0.{n:0>n$}")).collect();
    let text = format!("[{}]", texts.join(","));
    let mut out = Vec::new();
    assert_eq!(decoder.decode(&encoded, text.len(), &mut out), Ok(()));
    assert_eq!(String::from_utf8_lossy(&out), text);
}

fn value() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
        (-1000i64..1000).prop_map(|value| value.to_string()),
        (-100_000i64..100_000, 0usize..6)
            .prop_map(|(value, digits)| format!("{:.digits$}", value as f64 / 1000.0)),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(|f| format!("{f:e}")),
        "[a-c]{0,3}".prop_map(|text| format!("\"{text}\"")),
        "[a-z0-9 :/.\u{e9}-]{0,20}".prop_map(|text| format!("\"{text}\"")),
        "[0-9a-f]{8}".prop_map(|text| format!("\"{text}\"")),
        (0i64..4_000_000_000).prop_map(|seconds| {
            let mut to = [0; super::form::FORM_BYTES];
            let bytes = super::calendar::write_time(seconds, b'T', 0, &mut to);
            format!("\"{}Z\"", std::str::from_utf8(&to[..bytes]).unwrap())
        }),
    ];
    scalar.prop_recursive(5, 200, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12)
                .prop_map(|values| format!("[{}]", values.join(","))),
            prop::collection::vec(("[a-d]", inner), 0..6).prop_map(|members| {
                let member = |(key, value): &(String, String)| format!("\"{key}\":{value}");
                let members: Vec<String> = members.iter().map(member).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_json_comes_back(texts in prop::collection::vec(value(), 1..8)) {
        let model = learned(&texts, 1);
        let (mut without, mut with) = (contexts(None), contexts(model.as_deref()));
        for text in &texts {
            round_trip(&mut without, text.as_bytes()).unwrap();
            round_trip(&mut with, text.as_bytes()).unwrap();
        }
    }

    #[test]
    fn any_bytes_decode_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut out = Vec::new();
        let mut decoder = contexts(None).1;
        if decoder.decode(&bytes, 200, &mut out).is_ok() {
            assert_eq!(out.len(), 200);
        }
    }
}
