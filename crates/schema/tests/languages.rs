//! What is inferred, in every language: any payloads give a schema that is read again and takes
//! them, the same one each time; and schema files of others, and files that are none.

use std::sync::Arc;

use cinch_core::document::{Document, Fidelity, first_difference};
use cinch_core::encoding::{ENCODINGS, Parser, Refusal, WithSchema};
use cinch_core::json;
use cinch_core::schema::{Language, Plan, Schema};
use cinch_schema::{Kind, Model, Observations, read, write};
use proptest::prelude::*;

fn document(text: &str) -> Document {
    let mut document = Document::new();
    json::parse(Parser::Ordinary, text.as_bytes(), &mut document).unwrap();
    document
}

fn model<T: AsRef<str>>(texts: &[T]) -> Model {
    let mut observations = Observations::new();
    texts.iter().for_each(|text| observations.observe(&document(text.as_ref())));
    Model::of(&observations)
}

fn schema(language: Language, model: &Model) -> Arc<Schema> {
    let text = write(language, model, None, false).unwrap().text;
    read(language, text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn coders(schema: &Arc<Schema>) -> Vec<(&'static str, Box<dyn WithSchema>)> {
    let made = |row: &cinch_core::encoding::Encoding| row.with_schema(Some(schema)).ok().flatten();
    ENCODINGS.iter().filter_map(|row| Some((row.name, made(row)?))).collect()
}

/// Encodes, decodes and compares; answers how many members travelled in the rest.
fn round_trip(coder: &dyn WithSchema, text: &str) -> Result<u64, Refusal> {
    let before = document(text);
    let (mut bytes, mut after) = (Vec::new(), Document::new());
    let outside = coder.encode_counting(&before, &mut bytes)?;
    coder.decode(&bytes, &mut after).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(first_difference(&before, &after, Fidelity::Value), None, "{text}");
    Ok(outside)
}

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
        any::<u64>().prop_map(|value| value.to_string()),
        (-500i32..500).prop_map(|value| format!("{}", f64::from(value) / 8.0)),
        Just("1e400".to_owned()),
        Just("\"\\ud800\"".to_owned()),
        "[a-zé]{0,6}".prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let key = prop_oneof!["[abc]", "[a-d_@ ]{0,3}", Just("class".to_owned())];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5)
                .prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec((key, inner), 0..6).prop_map(|all| {
                let pairs: Vec<String> =
                    all.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", pairs.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_taught_a_schema_comes_back_from_it(texts in prop::collection::vec(any_json(), 1..6)) {
        let model = model(&texts);
        for language in Language::ALL {
            let schema = schema(language, &model);
            for (name, coder) in coders(&schema) {
                for text in &texts {
                    // Only what no schema can say is refused: a text that is no Unicode at the top.
                    let result = round_trip(coder.as_ref(), text);
                    let is_fine = result.is_ok() || text.contains("ud800");
                    prop_assert!(is_fine, "{name} {text} {result:?}");
                }
            }
        }
    }

    #[test]
    fn other_payloads_come_back_or_are_refused_with_a_path(
        texts in prop::collection::vec(any_json(), 1..4),
        others in prop::collection::vec(any_json(), 1..4),
    ) {
        let model = model(&texts);
        for language in Language::ALL {
            for (_, coder) in coders(&schema(language, &model)) {
                for text in &others {
                    let refusal = round_trip(coder.as_ref(), text).err();
                    let is_told = matches!(&refusal, None | Some(Refusal::OutsideSchema { .. }));
                    prop_assert!(is_told, "{refusal:?}");
                }
            }
        }
    }

    #[test]
    fn numbers_stay_when_more_payloads_are_seen(
        texts in prop::collection::vec(any_json(), 1..4),
        more in prop::collection::vec(any_json(), 1..4),
    ) {
        let first = model(&texts);
        let all = model(&[&texts[..], &more[..]].concat());
        for language in [Language::Protobuf, Language::Thrift] {
            let before = schema(language, &first);
            // Payloads of another kind than before are a new schema, with --break only.
            let Ok(written) = write(language, &all, Some(&before), false) else { continue };
            let after = read(language, written.text.as_bytes()).unwrap();
            let (Plan::Tagged(old), Plan::Tagged(new)) = (before.plan(), after.plan()) else {
                panic!("both are tagged")
            };
            for record in old.records() {
                let kept = new.records().iter().find(|other| other.name == record.name);
                for field in &record.fields {
                    let same = kept.and_then(|kept| {
                        kept.fields.iter().find(|other| other.key == field.key)
                    });
                    for alternative in &field.alternatives {
                        let stays = same.is_some_and(|same| {
                            same.alternatives.iter().any(|other| {
                                other.number == alternative.number && other.name == alternative.name
                            })
                        });
                        prop_assert!(stays, "{}.{}", record.name, field.key);
                    }
                }
            }
            // The same payloads change nothing.
            let again = write(language, &all, Some(&after), false).unwrap();
            prop_assert_eq!(again.text, written.text);
            prop_assert!(again.changes.is_empty(), "{:?}", again.changes);
        }
    }

    #[test]
    fn files_that_are_none_are_errors(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        text in "(struct|message|[{}()\"=;<,]|1:|list<|a )*",
    ) {
        for language in Language::ALL {
            drop(read(language, &bytes));
            drop(read(language, text.as_bytes()));
        }
    }
}

#[test]
fn the_same_payloads_give_the_same_file() {
    let texts: Vec<String> =
        (0..50).map(|n| format!(r#"{{"k{}":{n},"z":{{"y":[{n},"{n}"]}}}}"#, n % 7)).collect();
    for language in Language::ALL {
        let files = [(); 3].map(|()| write(language, &model(&texts), None, false).unwrap().text);
        assert!(files[0] == files[1] && files[1] == files[2]);
    }
}

#[test]
fn replies_to_replies_are_one_type_and_dates_are_a_map() {
    let texts = [
        r#"{"c":[{"by":"a","replies":[{"by":"b","replies":[{"by":"c","replies":[]}]}]}]}"#,
        r#"{"days":{"2026-01-01":1,"2026-01-02":2,"2026-01-03":3}}"#,
    ];
    let model = model(&texts);
    let names: Vec<&str> = model.records.iter().map(|record| record.name.as_str()).collect();
    assert_eq!(names, ["Payload", "C"]);
    let days = model.records[0].fields.iter().find(|field| field.key == "days").unwrap();
    assert!(matches!(&days.value.kinds[..], [Kind::Map(_)]), "{days:?}");
    let deeper =
        r#"{"c":[{"by":"a","replies":[{"replies":[{"replies":[{"replies":[{"by":"x"}]}]}]}]}]}"#;
    for (name, coder) in coders(&schema(Language::Protobuf, &model)) {
        assert_eq!(round_trip(coder.as_ref(), deeper), Ok(0), "{name}");
    }
}

#[test]
fn a_small_object_is_not_taken_for_the_large_one_around_it() {
    let text = concat!(
        r#"{"kind":"Claim","id":"1","status":"active","use":"claim","total":5,"reference":"r","#,
        r#""created":"2026","insurer":"x","subject":{"reference":"p"},"items":[{"subject":"#,
        r#"{"reference":"p"},"id":"i"},{"subject":{"reference":"q"},"id":"j"}]}"#,
    );
    let model = model(&[text]);
    let subject = model.records[0].fields.iter().find(|field| field.key == "subject").unwrap();
    let Kind::Record(index) = &subject.value.kinds[0] else { panic!("{subject:?}") };
    assert_eq!(model.records[*index].fields.len(), 1);
    for (name, coder) in coders(&schema(Language::Avro, &model)) {
        let mut bytes = Vec::new();
        coder.encode(&document(text), &mut bytes).unwrap();
        assert!(bytes.len() * 2 < text.len(), "{name}: {} of {}", bytes.len(), text.len());
    }
}

#[test]
fn what_breaks_old_readers_is_refused_without_break() {
    let before = schema(Language::Protobuf, &model(&[r#"{"a":1}"#]));
    let lists = model(&["[1]"]);
    let error = write(Language::Protobuf, &lists, Some(&before), false).unwrap_err();
    assert!(error.to_string().contains("--break"), "{error}");
    assert!(write(Language::Protobuf, &lists, Some(&before), true).is_ok());
    let before = schema(Language::Avro, &model(&[r#"{"a":1}"#]));
    let wider = model(&[r#"{"a":1}"#, r#"{"a":5000000000}"#]);
    let error = write(Language::Avro, &wider, Some(&before), false).unwrap_err();
    assert_eq!((error.change.path.as_str(), error.change.breaks), ("$.a", true));
    let longer = model(&[r#"{"a":1,"b":"new"}"#]);
    let written = write(Language::Avro, &longer, Some(&before), false).unwrap();
    assert_eq!(written.changes.len(), 1);
}

#[test]
fn files_of_others_are_read() {
    let cart = concat!(
        r#"{"id":"c","lines":[{"sku":"x","count":2},{"sku":"y"}],"totals":{"eur":-5},"#,
        r#""kind":"GIFT","blob":"AAE=","weights":[0.5,1],"card":"visa","user_id":7}"#,
    );
    let files = [
        (Language::Protobuf, include_str!("files/shop.proto")),
        (Language::Thrift, include_str!("files/shop.thrift")),
        (Language::Avro, include_str!("files/shop.avsc")),
    ];
    for (language, text) in files {
        let schema = read(language, text.as_bytes()).unwrap();
        for (name, coder) in coders(&schema) {
            assert_eq!(round_trip(coder.as_ref(), cart), Ok(0), "{name}");
            let unknown = cart.replace("\"sku\":\"y\"", "\"sku\":\"y\",\"color\":1");
            let refusal = round_trip(coder.as_ref(), &unknown).unwrap_err();
            let color = "$.lines[1].color";
            assert!(
                matches!(&refusal, Refusal::OutsideSchema { path, .. } if path == color),
                "{name}: {refusal}"
            );
        }
    }
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_its_place() {
    for (language, text, told) in [
        (Language::Protobuf, "syntax = \"proto3\";\nmessage A { strin a = 1; }", "strin"),
        (Language::Protobuf, "syntax = \"proto3\";\nimport \"other.proto\";", "other.proto"),
        (
            Language::Protobuf,
            "syntax = \"proto3\";\nmessage A { map<int32, string> m = 1; }",
            "A.m",
        ),
        (Language::Protobuf, "syntax = \"proto3\";", "message"),
        (Language::Thrift, "struct A {\n  1: strin a\n}", "line 2"),
        (Language::Thrift, "struct A { 0: string a }", "line 1"),
        (Language::Thrift, "typedef A A\nstruct B { 1: A a }", "itself"),
        (Language::Thrift, "include \"x.thrift\"", "include"),
        (Language::Thrift, "struct A {", "too early"),
        (Language::Avro, "{\"type\":\"record\",\"name\":\"A\"}", "A"),
        (Language::Avro, "[\"null\",[\"string\"]]", "union"),
        (Language::Avro, "{\"type\":\n", "line"),
        (Language::Avro, "\"nothing\"", "nothing"),
    ] {
        let error = read(language, text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
}

#[test]
fn what_other_readers_would_refuse_or_drop_is_refused() {
    let oneof = "syntax = \"proto3\"; message A { oneof pay { string card = 1; bool cash = 2; } }";
    let both = r#"{"card":"visa","cash":true}"#;
    let required = "syntax = \"proto2\"; message A { required string id = 1; }";
    for (language, text, taken, refused, what) in [
        (Language::Protobuf, oneof, r#"{"cash":false}"#, both, "two keys"),
        (Language::Protobuf, required, r#"{"id":""}"#, "{}", "requires"),
        (
            Language::Protobuf,
            "syntax = \"proto3\"; enum K { option allow_alias = true; N = 0; B = 1; A = 1; } \
             message M { oneof x { K kind = 1; K other = 2; } }",
            r#"{"kind":"B"}"#,
            r#"{"kind":"B","other":"B"}"#,
            "two keys",
        ),
        (Language::Thrift, "union A { 1: string card 2: bool cash }", "{}", both, "two keys"),
        (Language::Thrift, "struct A { 1: required i32 n }", r#"{"n":1}"#, "{}", "requires"),
    ] {
        for (name, coder) in coders(&read(language, text.as_bytes()).unwrap()) {
            assert_eq!(round_trip(coder.as_ref(), taken), Ok(0), "{name}: {text}");
            let refusal = round_trip(coder.as_ref(), refused).unwrap_err().to_string();
            assert!(refusal.contains("the value at $ ") && refusal.contains(what), "{refusal}");
        }
    }
}

#[test]
fn what_a_written_file_would_lose_of_anothers_needs_a_break() {
    let file = "syntax = \"proto3\"; enum K { NONE = 0; GIFT = 1; } message A { K kind = 1; }";
    let before = read(Language::Protobuf, file.as_bytes()).unwrap();
    let model = model(&[r#"{"kind":"GIFT"}"#]);
    let error = write(Language::Protobuf, &model, Some(&before), false).unwrap_err();
    assert!(error.change.path == "A.kind" && error.to_string().contains("--break"), "{error}");
    let written = write(Language::Protobuf, &model, Some(&before), true).unwrap();
    assert!(written.text.contains("string kind = 1"), "{}", written.text);
}
