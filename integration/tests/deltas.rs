//! `cinch pack --base` writes a delta where that is smaller, which the stock library reads with the
//! same base; `cinch unpack --base` gives the payload back, and no other base ever does.

use std::io::Read;

use cinch_integration::{Envelope, Folder, assert_same_bytes, carts, cinch, noise, records};
use serde_json::Value;
use xxhash_rust::xxh64::xxh64;

/// A cart, and the same cart after one more of something was put in.
fn versions() -> [Vec<u8>; 2] {
    let lines = carts(30);
    let cart = lines.split(|&byte| byte == b'\n').max_by_key(|line| line.len()).unwrap();
    let at = cart.iter().rposition(u8::is_ascii_digit).unwrap();
    let next = [&cart[..at], b"7", &cart[at..]].concat();
    [cart.to_vec(), next]
}

/// The two versions as files in a folder.
fn files() -> (Folder, [String; 2], [Vec<u8>; 2]) {
    let (folder, versions) = (Folder::new(), versions());
    let files = [folder.write("cart.v1.json", &versions[0]), folder.write("v2.json", &versions[1])];
    (folder, files, versions)
}

#[test]
fn a_version_comes_back_with_its_base_over_files_and_pipes() {
    let (folder, [first, second], [_, payload]) = files();
    cinch(["pack", "--base", &first, &second]).run().quiet();
    std::fs::remove_file(&second).unwrap();
    let packed = folder.at("v2.json.cinch");
    cinch(["unpack", "--base", &first, &packed]).run().quiet();
    assert_same_bytes(&folder.read("v2.json"), &payload, "over files");
    let piped = cinch(["pack", "--base", &first]).input(payload.clone()).run().quiet().out;
    assert_same_bytes(&piped, &folder.read("v2.json.cinch"), "packed over a pipe");
    let back = cinch(["unpack", "--base", &first]).input(piped).run().quiet().out;
    assert_same_bytes(&back, &payload, "over pipes");
}

#[test]
fn the_envelope_is_that_of_the_specification_and_the_stock_library_reads_it() {
    let (_folder, [first, second], [base, payload]) = files();
    for codec in ["zstd:1", "zstd:3", "zstd:19"] {
        let run = cinch(["pack", "--codec", codec, "--base", &first, "-o", "-", &second]);
        let packed = run.run().quiet().out;
        let alone = cinch(["pack", "--codec", codec, "-o", "-", &second]).run().quiet().out;
        assert!(packed.len() * 3 < alone.len(), "{codec}: {} and {}", packed.len(), alone.len());
        let header = Envelope::read(&packed);
        header.is_of(&payload);
        assert_eq!(header.base, Some(xxh64(&base, 0)), "{codec}");
        assert_eq!((header.codec, header.encoding, header.dictionary), (0x17, None, None));
        let frame = [&[0x28, 0xB5, 0x2F, 0xFD], header.body].concat();
        let mut stock = zstd::Decoder::with_ref_prefix(&frame[..], &base).unwrap();
        let mut back = Vec::new();
        stock.read_to_end(&mut back).unwrap();
        assert_same_bytes(&back, &payload, codec);
    }
}

#[test]
fn without_the_base_or_with_another_it_is_refused_by_name() {
    let (folder, [first, second], [base, _]) = files();
    let packed = cinch(["pack", "--base", &first, "-o", "-", &second]).run().quiet().out;
    let id = format!("{:#018x}", xxh64(&base, 0));
    let file = folder.write("packed.cinch", &packed);
    cinch(["unpack", &file]).run().refused(1, &["packed.cinch", &id, "missing", "--base"]);
    let other = folder.write("other.json", noise(500));
    let other_id = format!("{:#018x}", xxh64(&noise(500), 0));
    let run = cinch(["unpack", "--base", &other, "--base", &second, &file]).run();
    run.refused(1, &[&id, "missing", "other.json", &other_id, "v2.json"]);
    assert!(!folder.names().contains(&"packed".to_owned()), "a file was written all the same");
    // Among several, the right one is found.
    let run = cinch(["unpack", "--base", &other, "--base", &first, &file, "-o", "-"]);
    assert_same_bytes(&run.run().quiet().out, &folder.read("v2.json"), "of two bases");
    cinch(["unpack", "--base", &folder.at("none.json"), &file]).run().refused(1, &["none.json"]);
}

#[test]
fn inspect_shows_the_base() {
    let (_folder, [first, second], [base, _]) = files();
    let packed = cinch(["pack", "--base", &first, "-o", "-", &second]).run().quiet().out;
    let id = format!("{:#018x}", xxh64(&base, 0));
    let found = cinch(["inspect", "--json"]).input(packed.clone()).run().quiet().json();
    assert_eq!(found["header"]["base"], id.as_str());
    let text = cinch(["inspect"]).input(packed).run().quiet();
    assert!(text.text().contains(&id), "{}", text.text());
    let alone = cinch(["pack", "-o", "-", &second]).run().quiet().out;
    let found = cinch(["inspect", "--json"]).input(alone).run().quiet().json();
    assert_eq!(found["header"]["base"], Value::Null);
}

#[test]
fn where_a_delta_is_no_use_the_payload_is_packed_alone_and_it_is_said() {
    let (folder, [first, second], [_, payload]) = files();
    let packed = folder.write("v1.cinch", cinch(["pack", &first, "-o", "-"]).run().quiet().out);
    let unlike = folder.write("unlike", noise(2_000));
    let empty = folder.write("empty", "");
    for (options, word) in [
        (vec!["--base", &unlike], "not be smaller"),
        (vec!["--base", &empty], "0 bytes"),
        (vec!["--base", &packed], "packed itself"),
        (vec!["--base", &first, "--codec", "gzip"], "gzip takes no base"),
    ] {
        let run = cinch(["pack", &second, "-o", "-"]).and(&options).run().code(0);
        let run = run.says(&["cinch: ", "v2.json", word]);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        assert_eq!(Envelope::read(&run.out).base, None, "{options:?}");
        let back = cinch(["unpack"]).input(run.out).run().quiet().out;
        assert_same_bytes(&back, &payload, word);
    }
    let interop = cinch(["pack", "--interop", "--base", &first, &second, "-o", "-"]).run();
    assert_eq!(interop.code, Some(2), "{}", interop.err);
}

#[test]
fn records_may_all_be_deltas_against_one_base() {
    let (_folder, [first, _], [base, payload]) = files();
    let text = [&base[..], b"\n", &payload, b"\n", &payload, b"\n"].concat();
    let packed = cinch(["pack", "--records", "--base", &first]).input(text.clone()).run().quiet();
    let packed = packed.out;
    let found = records(&packed);
    assert_eq!(found.len(), 3);
    for record in &found {
        assert_eq!(Envelope::read(record).base, Some(xxh64(&base, 0)));
    }
    let run = cinch(["unpack", "--records", "--base", &first]).input(packed.clone()).run();
    assert_same_bytes(&run.quiet().out, &text, "records");
    cinch(["unpack", "--records"]).input(packed).run().refused(1, &["record 1", "missing"]);
}
