//! Tests of profile files with rules: what is read, what is refused and in which words, and that
//! a file which was written says the same again.

use std::sync::Arc;

use super::*;
use crate::encoding::encoding_named;

/// The dictionary behind every path: its own name, repeated.
fn dictionary(path: &str) -> Result<Arc<Dictionary>, ProfileError> {
    Ok(Dictionary::new(path.repeat(20).into_bytes()).unwrap())
}

/// No profile here names a schema.
fn no_schema(path: &str) -> Result<Arc<crate::schema::Schema>, ProfileError> {
    panic!("{path} is asked for")
}

fn read(rules: &str) -> Result<Profile, ProfileError> {
    let head = "[profile]\nencoding = \"msgpack\"\ncodec = \"zstd\"\nlevel = 9\n";
    Profile::from_toml(&format!("{head}{rules}"), dictionary, no_schema)
}

const THREE_RULES: &str = r#"
dictionary = "large.dict"

[[profile.rule]]
max_bytes = 200
plain = true

[[profile.rule]]
max_bytes = 4096
codec = "zstd"
dictionary = "small.dict"

[[profile.rule]]
max_bytes = 16384
encoding = "cbor"
codec = "lz4"
level = "high"
dictionary = "small.dict"
"#;

/// What the profile does with payloads of this length, in words.
fn way(profile: &Profile, payload_bytes: usize) -> String {
    match profile.rule_for(payload_bytes) {
        None => format!("{}+{}", profile.encoding.name, profile.codec),
        Some(Rule { method: None, .. }) => "plain".to_owned(),
        Some(Rule { method: Some(method), .. }) => {
            format!("{}+{}", method.encoding.name, method.codec)
        }
    }
}

#[test]
fn a_payload_goes_to_the_first_rule_that_is_large_enough() {
    let profile = read(THREE_RULES).unwrap();
    for (payload_bytes, expected) in [
        (0, "plain"),
        (200, "plain"),
        (201, "verbatim+zstd:3"),
        (4096, "verbatim+zstd:3"),
        (4097, "cbor+lz4:9"),
        (16_384, "cbor+lz4:9"),
        (16_385, "msgpack+zstd:9"),
        (usize::MAX, "msgpack+zstd:9"),
    ] {
        assert_eq!(way(&profile, payload_bytes), expected, "{payload_bytes}");
        let encoding = profile.encoding_for(payload_bytes).map_or("plain", |found| found.name);
        assert!(expected.starts_with(encoding), "{payload_bytes}: {encoding}");
    }
    let profile = read("").unwrap();
    assert!(profile.rules.is_empty());
    assert_eq!(way(&profile, 10), "msgpack+zstd:9");
}

#[test]
fn a_dictionary_that_rules_share_is_read_once() {
    let mut paths = Vec::new();
    let head = "[profile]\ncodec = \"zstd\"\n";
    let profile = Profile::from_toml(
        &format!("{head}{THREE_RULES}"),
        |path| {
            paths.push(path.to_owned());
            dictionary(path)
        },
        no_schema,
    )
    .unwrap();
    assert_eq!(paths, ["large.dict", "small.dict"]);
    let found: Vec<_> = profile.dictionaries().collect();
    assert_eq!(found.len(), 3);
    assert!(Arc::ptr_eq(found[1], found[2]) && !Arc::ptr_eq(found[0], found[1]));
}

#[test]
fn one_content_in_two_files_is_one_dictionary_and_one_id_for_two_is_refused() {
    // In zstd's own format the id stands behind the magic, and says nothing of the content.
    let forged = |content: &str| {
        let start = [0x37, 0xA4, 0x30, 0xEC, 1, 0, 1, 0];
        Dictionary::new([&start[..], content.as_bytes()].concat()).unwrap()
    };
    let text = format!("[profile]\ncodec = \"zstd\"\n{THREE_RULES}");
    let same =
        Profile::from_toml::<ProfileError>(&text, |_| Ok(forged("same")), no_schema).unwrap();
    let found: Vec<_> = same.dictionaries().collect();
    assert!(Arc::ptr_eq(found[0], found[1]));
    let error =
        Profile::from_toml::<ProfileError>(&text, |path| Ok(forged(path)), no_schema).unwrap_err();
    assert_eq!(error, ProfileError::SameDictionaryId { id: 0x0001_0001 });
}

#[test]
fn what_is_written_is_read_as_the_same_profile() {
    let profile = read(THREE_RULES).unwrap();
    let path_of = |dictionary: &Dictionary| {
        let name = str::from_utf8(dictionary.bytes()).unwrap().split_at(10).0;
        name.to_owned()
    };
    let text = profile.to_toml(path_of, |_| unreachable!("no schema"));
    let again: Profile = Profile::from_toml(&text, dictionary, no_schema).unwrap();
    assert_eq!(again.to_toml(path_of, |_| unreachable!("no schema")), text);
    for payload_bytes in [0, 200, 201, 4097, 20_000] {
        assert_eq!(way(&again, payload_bytes), way(&profile, payload_bytes), "{text}");
    }
    let ids =
        |profile: &Profile| profile.dictionaries().map(|found| found.id()).collect::<Vec<_>>();
    assert_eq!(ids(&again), ids(&profile));
    // A profile without rules has no trace of them.
    assert!(!read("").unwrap().to_toml(path_of, |_| unreachable!("no schema")).contains("rule"));
}

#[test]
fn packed_forms_are_verified_by_default_where_any_encoding_is_not_verbatim() {
    let rule = |encoding: &str| {
        let text = format!(
            "[profile]\ncodec = \"zstd\"\n[[profile.rule]]\nmax_bytes = 9\n\
             encoding = \"{encoding}\"\ncodec = \"zstd\"\n"
        );
        Profile::from_toml(&text, dictionary, no_schema).unwrap().verify_on_pack
    };
    assert_eq!(rule("verbatim"), VerifyOnPack::Never);
    assert_eq!(rule("cbor"), VerifyOnPack::Always);
}

#[test]
fn a_rule_that_makes_no_sense_is_refused_by_its_number() {
    let rule = |body: &str| format!("[[profile.rule]]\n{body}\n");
    let sound = rule("max_bytes = 100\ncodec = \"snappy\"");
    for (body, words) in [
        ("max_bytes = 100\ncodec = \"snappy\"", "max_bytes is 100, but must be above 100"),
        ("max_bytes = 99\ncodec = \"snappy\"", "max_bytes is 99, but must be above 100"),
        ("max_bytes = 200", "it needs a codec, or plain = true"),
        ("max_bytes = 200\nplain = false", "it needs a codec, or plain = true"),
        ("max_bytes = 200\nplain = true\nlevel = 3", "with plain = true there is no level"),
        ("max_bytes = 200\nencoding = \"bsn\"\ncodec = \"zstd\"", "no encoding is called \"bsn\""),
        ("max_bytes = 200\ncodec = \"zst\"", "zst"),
        ("max_bytes = 200\ncodec = \"zstd\"\nlevel = 23", "23"),
    ] {
        let error = read(&(sound.clone() + &rule(body))).unwrap_err().to_string();
        assert!(error.starts_with("rule 2: ") && error.contains(words), "{body}: {error}");
    }
    let error = read(&rule("max_bytes = 0\nplain = true")).unwrap_err().to_string();
    assert!(error.starts_with("rule 1: max_bytes is 0, but must be above 0"), "{error}");
    for body in ["codec = \"zstd\"", "max_bytes = -1\nplain = true", "max_bytes = 1\nmin_gain = 0"]
    {
        let error = read(&rule(body)).unwrap_err();
        assert!(matches!(error, ProfileError::Syntax(_)), "{body}: {error}");
    }
}

#[test]
fn as_many_rules_as_the_limit_says_are_read() {
    let rules = |count: usize| -> String {
        let rule = |at: usize| format!("[[profile.rule]]\nmax_bytes = {at}\nplain = true\n");
        (1..=count).map(rule).collect()
    };
    assert_eq!(read(&rules(RULES_MAX)).unwrap().rules.len(), RULES_MAX);
    let error = read(&rules(RULES_MAX + 1)).unwrap_err();
    assert_eq!(error, ProfileError::TooManyRules { limit: RULES_MAX, got: RULES_MAX + 1 });
}

#[test]
fn a_length_beyond_the_integers_of_toml_can_be_written() {
    let mut profile =
        Profile::new(encoding_named("verbatim").unwrap(), CodecChoice::parse("zstd").unwrap());
    profile.rules.push(Rule { max_bytes: usize::MAX, method: None });
    let text = profile.to_toml(|_| unreachable!("no dictionary"), |_| unreachable!("no schema"));
    let again: Profile = Profile::from_toml(&text, dictionary, no_schema).unwrap();
    assert_eq!(again.rule_for(1 << 40).map(|rule| rule.max_bytes), Some(i64::MAX as usize));
}
