//! Other languages read what we wrote: the usual packages of Python take MessagePack, CBOR,
//! BSON, FlexBuffers and Ion, Jackson takes Smile, and none of them sees code of ours on the way.
//!
//! Python opens the envelopes by the specification (`python/envelope_cases.py`), so this is also
//! what a reader in another language has to do, from the stored bytes to the value.

use cinch_integration::{Folder, Peer, carts, cinch, generated, maven, python};

/// Payloads that every encoding carries, and some that are hard.
fn payloads() -> Vec<u8> {
    let mut lines = carts(40);
    for (kind, count) in [("menus", 15), ("trips", 40), ("flights", 4), ("logs", 40)] {
        lines.extend(generated(kind, count));
    }
    let numbers: [&[&str]; 3] = [
        &["0", "-1", "127", "128", "-32", "-33", "255", "256", "65535", "65536", "4294967295"],
        &["4294967296", "9223372036854775807", "-9223372036854775808", "12.50", "1.0", "0.1"],
        &["1E5", "5e-324", "1.7976931348623157e308", "-2.5", "3.4028234663852886e38", "1e-7"],
    ];
    let words = ["true", "false", "null", "{}", "[]", "\"\"", "\"\\u0000\"", "\"ä€😀\""];
    let long = format!("\"{}\"", "abcdefghij".repeat(40));
    for value in numbers.concat().into_iter().chain(words).chain([long.as_str()]) {
        lines.extend(padded(&format!("\"key\":{value},\"many\":[{value},{value}]")));
    }
    let keys: Vec<String> = (0..2_000).map(|n| format!("\"key number {n}\":\"v{n}\"")).collect();
    lines.extend(format!("{{{}}}\n", keys.join(",")).into_bytes());
    lines
}

/// Members that only some encodings hold: numbers that no double is, and a key that comes twice.
const HARD: [&str; 8] = [
    "\"a\":18446744073709551615",
    "\"a\":[12345678901234567890]",
    "\"a\":123456789012345678901234567890",
    "\"a\":[-123456789012345678901234567890]",
    "\"a\":0.1234567890123456789",
    "\"a\":[1e400,-1e-400]",
    "\"a\":1,\"b\":2,\"a\":3",
    "\"a\":[-9223372036854775809,18446744073709551616]",
];

fn hard() -> Vec<u8> {
    HARD.iter().flat_map(|members| padded(members)).collect()
}

/// An object of these members and something that shrinks, since what does not stays plain.
fn padded(members: &str) -> Vec<u8> {
    format!("{{{members},\"padding\":\"{}\"}}\n", "ab ".repeat(40)).into_bytes()
}

/// The lines that other readers are given, how many payloads stay plain because nothing is gained,
/// and how many are packed verbatim because the encoding refuses them.
fn cases(encoding: &str, payloads: &[u8]) -> (String, usize, usize) {
    let folder = Folder::new();
    let profile = folder.write(
        "profile.toml",
        format!(
            "[profile]\nencoding = \"{encoding}\"\ncodec = \"zlib\"\n\
             min_size_bytes = 0\nmin_gain = 0.0\n"
        ),
    );
    let file = folder.write("payloads", payloads);
    let packed = folder.at("packed");
    cinch(["pack", "--records", "--profile", &profile, &file, "-o", &packed]).run().code(0);
    let (cases, counts) = python("envelope_cases.py").and(&[encoding, &file, &packed]).run("");
    let (plain, verbatim) = counts.trim().split_once(' ').unwrap();
    (cases, plain.parse().unwrap(), verbatim.parse().unwrap())
}

/// Runs a reader on the cases, and checks that it passed every one of them.
#[track_caller]
fn read_by(peer: Peer, cases: &str) {
    let (out, _) = peer.run(cases);
    let expected = format!("{} passed, 0 failed", cases.lines().count());
    assert!(out.contains(&expected), "{out}");
}

/// Has a reader check everything that was encoded: all that is usual, and `count` of the hard ones.
fn check(encoding: &str, count: usize, read: impl Fn(&str)) {
    let (usual, plain, verbatim) = cases(encoding, &payloads());
    assert_eq!(verbatim, 0, "{encoding} refuses {verbatim} usual payloads");
    assert!(usual.lines().count() > 10 * plain, "{encoding} leaves {plain} payloads plain");
    let (hard, plain, verbatim) = cases(encoding, &hard());
    let counts = (hard.lines().count(), plain, verbatim);
    assert_eq!(counts, (count, 0, HARD.len() - count), "{encoding}");
    read(&(usual + &hard));
}

#[test]
fn python_reads_our_messagepack() {
    check("msgpack", 3, |cases| read_by(python("read_encodings.py"), cases));
}

#[test]
fn python_reads_our_cbor() {
    check("cbor", 8, |cases| read_by(python("read_encodings.py"), cases));
}

/// BSON holds no unsigned integers of 64 bits.
#[test]
fn python_reads_our_bson() {
    check("bson", 1, |cases| read_by(python("read_encodings.py"), cases));
}

#[test]
fn python_reads_our_flexbuffers() {
    check("flexbuffers", 3, |cases| read_by(python("read_encodings.py"), cases));
}

#[test]
fn python_reads_our_ion() {
    check("ion", 8, |cases| read_by(python("read_encodings.py"), cases));
}

#[test]
fn jackson_reads_our_smile() {
    let project = Folder::new();
    check("smile", 8, |cases| read_by(maven(project.path()), cases));
}
