//! A profile with a rule per size class, as a service would use it: each payload is packed as its
//! class says, comes back, and whoever unpacks needs every dictionary of the profile.

use cinch_integration::{Envelope, Folder, assert_same_bytes, carts, cinch, records, same_value};

const PROFILE: &str = r#"
[profile]
name = "by-size"
codec = "zstd"
level = 9
dictionary = "large.dict"

[[profile.rule]]
max_bytes = 300
plain = true

[[profile.rule]]
max_bytes = 1500
codec = "lz4"
level = "high"
dictionary = "small.dict"

[[profile.rule]]
max_bytes = 4000
encoding = "msgpack"
codec = "zlib"
"#;

/// A folder with the profile, its dictionaries, and carts of every class, one a line.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("profile.toml", PROFILE);
    let samples = carts(60);
    folder.write("small.dict", &samples[..3_000]);
    folder.write("large.dict", &samples[3_000..20_000]);
    folder.write("carts.ndjson", carts(200));
    folder
}

#[test]
fn each_size_class_is_packed_as_its_rule_says_and_comes_back() {
    let folder = folder();
    let (profile, file) = (folder.at("profile.toml"), folder.at("carts.ndjson"));
    let packed = cinch(["pack", "--records", "--profile", &profile, &file, "-o", "-"]);
    let packed = packed.run().quiet().out;
    let carts = folder.read("carts.ndjson");
    let carts: Vec<&[u8]> = carts.split(|&byte| byte == b'\n').collect();
    let mut seen = [0; 4];
    for (cart, record) in carts.iter().zip(records(&packed)) {
        let class = match cart.len() {
            0..=300 => 0,
            301..=1_500 => 1,
            1_501..=4_000 => 2,
            _ => 3,
        };
        seen[class] += 1;
        if class == 0 {
            assert_same_bytes(record, cart, "a plain cart");
            continue;
        }
        let envelope = Envelope::read(record);
        // The ids of lz4, zlib and bare zstd, and of MessagePack.
        let expected = [0x12, 0x14, 0x17][class - 1];
        assert_eq!(envelope.codec, expected, "{} bytes", cart.len());
        assert_eq!(envelope.encoding.is_some(), class == 2, "{} bytes", cart.len());
        assert_eq!(envelope.dictionary.is_some(), class != 2, "{} bytes", cart.len());
    }
    assert!(seen.iter().all(|&count| count > 5), "{seen:?}");

    let back = cinch(["unpack", "--records", "--profile", &profile]).input(packed.clone());
    let back = back.run().quiet().out;
    for (cart, again) in carts.iter().zip(back.split(|&byte| byte == b'\n')) {
        if cart != &again {
            same_value(cart, again).unwrap_or_else(|difference| panic!("{difference}"));
        }
    }
    // One dictionary of two is not enough.
    let one = cinch(["unpack", "--records", "--dictionary", &folder.at("small.dict")]);
    one.input(packed).run().code(1).says(&["dictionary", "--profile"]);
}

#[test]
fn an_estimate_follows_the_rules() {
    let folder = folder();
    let (profile, file) = (folder.at("profile.toml"), folder.at("carts.ndjson"));
    let found = cinch(["estimate", &file, "--profile", &profile, "--json", "-"]).run().json();
    assert_eq!(found["failures"], 0, "{found}");
    assert_eq!(found["payloads"], 200);
    let small = folder
        .read("carts.ndjson")
        .split(|&byte| byte == b'\n')
        .fold(0, |count, cart| count + u64::from(!cart.is_empty() && cart.len() <= 300));
    assert_eq!(found["plain_reasons"]["rule"], small, "{found}");
}

#[test]
fn a_profile_with_rules_that_make_no_sense_is_refused() {
    let folder = folder();
    let refused = |from: &str, to: &str, words: &[&str]| {
        let file = folder.write("wrong.toml", PROFILE.replace(from, to));
        cinch(["pack", "--profile", &file]).input("{}").run().refused(1, words);
    };
    refused("max_bytes = 1500", "max_bytes = 300", &["wrong.toml", "rule 2", "max_bytes", "300"]);
    refused("codec = \"zlib\"", "codec = \"zlip\"", &["wrong.toml", "rule 3", "zlip"]);
    refused("plain = true", "plain = true\ncodec = \"zstd\"", &["rule 1", "plain", "codec"]);
    refused("plain = true", "plain = false", &["rule 1", "codec", "plain = true"]);
    refused("small.dict", "other.dict", &["other.dict"]);
}

#[test]
fn the_interop_form_takes_no_rules() {
    let folder = folder();
    let interop = cinch(["pack", "--interop", "--profile", &folder.at("profile.toml")]);
    interop.input("{}").run().refused(2, &["--interop", "rules"]);
}
