//! What a configuration must take, and what it must say of one that it refuses: the line, the
//! reason, and what would be right.

use super::*;

fn sources(text: &str) -> Sources {
    Sources {
        path: "cinch.toml".into(),
        text: text.to_owned(),
        variables: Vec::new(),
        process: "host-1".to_owned(),
        schema_reader: None,
    }
}

fn with_variables(text: &str, variables: &[(&str, &str)]) -> Sources {
    let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    Sources { variables: variables.collect(), ..sources(text) }
}

fn refusal(text: &str) -> String {
    sources(text).configuration().unwrap_err().to_string()
}

const CARTS: &str = "[namespaces.carts]\nkeys = [\"cart:*\"]\n";

#[test]
fn an_empty_file_is_a_configuration_that_does_nothing() {
    let configuration = sources("").configuration().unwrap();
    assert!(configuration.compression_enabled);
    assert_eq!(configuration.process, "host-1");
    assert!(configuration.namespace_of(b"cart:1").is_none());
}

#[test]
fn a_namespace_starts_as_published() {
    let configuration = sources(CARTS).configuration().unwrap();
    let carts = configuration.namespace_of(b"cart:1").unwrap();
    assert_eq!(carts.published, Some(PublishedCodec::DEFAULT));
    assert_eq!(carts.published.unwrap().name(), "LZ4_HIGH");
    let expected = Modes::Two { write: WriteMode::NoCompress, read: ReadMode::NoCompress };
    assert_eq!(carts.modes, expected);
}

#[test]
fn the_published_spellings_are_taken() {
    let text = "compressionEnabled = false\ncompressionCodec = \"LZ_FAST\"\nWRITE_MODE = \"DUAL\"\n\
                READ_MODE = \"VERIFY_COMPRESS\"\n[namespaces.carts]\nkeys = [\"*\"]\n";
    let configuration = sources(text).configuration().unwrap();
    assert!(!configuration.compression_enabled);
    let carts = &configuration.namespaces["carts"];
    assert_eq!(carts.published.unwrap().name(), "LZ4_FAST");
    let expected = Modes::Two { write: WriteMode::Dual, read: ReadMode::VerifyCompress };
    assert_eq!(carts.modes, expected);
}

#[test]
fn both_refused_pairs_are_refused_with_their_line_and_a_way_out() {
    let text = format!("{CARTS}read_mode = \"NO_COMPRESS\"\nwrite_mode = \"COMPRESS_ONLY\"\n");
    let message = refusal(&text);
    assert!(message.starts_with("cinch.toml:4: write_mode = COMPRESS_ONLY"), "{message}");
    assert!(message.contains("4 | write_mode = \"COMPRESS_ONLY\""), "{message}");
    assert!(message.contains("write DUAL"), "{message}");
    let message = refusal(&format!("{CARTS}read_mode = \"COMPRESS_ONLY\"\n"));
    assert!(message.contains("every write removes the copy that is read"), "{message}");
}

#[test]
fn a_variable_overrides_and_a_pair_is_checked_after_that() {
    let text = format!("{CARTS}write_mode = \"DUAL\"\nread_mode = \"COMPRESS_ONLY\"\n");
    let override_one = [("CINCH_NAMESPACES__CARTS__READ_MODE", "VERIFY_COMPRESS")];
    let configuration = with_variables(&text, &override_one).configuration().unwrap();
    let expected = Modes::Two { write: WriteMode::Dual, read: ReadMode::VerifyCompress };
    assert_eq!(configuration.namespaces["carts"].modes, expected);

    let override_two = [("CINCH_NAMESPACES__CARTS__WRITE_MODE", "NO_COMPRESS")];
    let error = with_variables(&text, &override_two).configuration().unwrap_err();
    assert!(error.to_string().contains("write DUAL first"), "{error}");

    let off = [("CINCH_COMPRESSION_ENABLED", "false"), ("CINCH_PYTHON", "/usr/bin/python3")];
    let configuration = with_variables(&text, &off).configuration().unwrap();
    assert!(!configuration.compression_enabled);
    assert!(configuration.warnings.is_empty());
}

#[test]
fn a_variable_that_does_not_fit_is_named() {
    let wrong = [("CINCH_NAMESPACES__CARTS__PERCENT", "many")];
    let error = with_variables(CARTS, &wrong).configuration().unwrap_err().to_string();
    assert!(error.starts_with("CINCH_NAMESPACES__CARTS__PERCENT=many: "), "{error}");
    let stranger = [("CINCH_NAMESPACE__CARTS__PERCENT", "5")];
    let warnings = with_variables(CARTS, &stranger).configuration().unwrap().warnings;
    assert_eq!(warnings, ["CINCH_NAMESPACE__CARTS__PERCENT is set and names no setting"]);
}

#[test]
fn a_slip_in_a_key_shows_its_line() {
    let message = refusal(&format!("{CARTS}wriet_mode = \"DUAL\"\n"));
    assert!(message.contains("wriet_mode"), "{message}");
    assert!(message.contains("line 3"), "{message}");
}

#[test]
fn one_slot_has_modes_of_its_own_and_an_envelope_for_a_published_codec() {
    let text = format!("{CARTS}write = \"packed\"\ncompression_codec = \"SNAPPY\"\n");
    let configuration = sources(&text).configuration().unwrap();
    let carts = &configuration.namespaces["carts"];
    assert_eq!(carts.modes, Modes::One { write: SingleWrite::Packed });
    assert_eq!(carts.published, None);
    assert_eq!(carts.profile.codec.name(), "snappy");
    let message = refusal(&format!("{CARTS}write = \"packed\"\nread_mode = \"NO_COMPRESS\"\n"));
    assert!(message.contains("a store with one slot"), "{message}");
}

#[test]
fn a_profile_and_a_published_codec_exclude_each_other() {
    let text = format!("{CARTS}profile = \"a.toml\"\ncompression_codec = \"GZIP\"\n");
    assert!(refusal(&text).contains("name one of them"));
}

#[test]
fn a_profile_that_is_not_there_is_told_with_the_line_that_names_it() {
    let message = refusal(&format!("{CARTS}profile = \"no-such.toml\"\n"));
    assert!(message.starts_with("cinch.toml:3: no-such.toml: No such file"), "{message}");
}

#[test]
fn legacy_readers_forbid_what_they_could_not_read() {
    let one = format!("{CARTS}legacy_readers = true\nwrite = \"packed\"\n");
    assert!(refusal(&one).contains("they would be handed envelopes"));
    let two = format!(
        "{CARTS}legacy_readers = true\nwrite_mode = \"COMPRESS_ONLY\"\n\
         read_mode = \"COMPRESS_ONLY\"\n"
    );
    assert!(refusal(&two).contains("empty raw field"));
}

/// The names of the settings of a table, which serde tells where one is unknown.
fn names_after(text: &str) -> Vec<String> {
    let message = refusal(text);
    let expected = message.split("expected one of").nth(1).expect("the settings are listed");
    let quoted = expected.split('`').skip(1).step_by(2).map(str::to_owned);
    // The published spellings stand beside ours.
    quoted.filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_')).collect()
}

#[test]
fn the_configuration_in_deploy_is_valid_and_names_every_setting() {
    let text = include_str!("../../../../deploy/cinch.toml");
    let configuration = sources(text).configuration().unwrap();
    assert_eq!(configuration.warnings, Vec::<String>::new());
    assert!(configuration.namespaces.contains_key("orders"));
    let names = names_after("[namespaces.carts]\nnonsense = 1\n");
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(
            text.contains(&format!("\n{name} = ")) || text.contains(&format!("\n# {name} = ")),
            "{name}"
        );
    }
}
