//! Where `pack` and `unpack` write, and what they leave behind when something is wrong: no half
//! file, no temporary file, and one line that says what it was.
//!
//! Round trips are in `pack.rs`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use cinch_integration::{Envelope, Folder, assert_same_bytes, carts, cinch, noise};

/// A folder with `cart.json` and `cart.json.cinch`.
fn packed() -> (Folder, Vec<u8>, Vec<u8>) {
    let folder = Folder::new();
    let cart = carts(5);
    let file = folder.write("cart.json", &cart);
    cinch(["pack", &file]).run().quiet();
    let packed = folder.read("cart.json.cinch");
    (folder, cart, packed)
}

#[test]
fn a_file_that_exists_is_replaced_only_by_force() {
    let (folder, cart, packed) = packed();
    let file = folder.at("cart.json");
    cinch(["pack", &file]).run().refused(1, &["cart.json.cinch", "exists", "--force"]);
    assert_same_bytes(&folder.read("cart.json.cinch"), &packed, "cart.json.cinch");
    folder.write("cart.json", b"something else, something else, something else, something else");
    cinch(["unpack", &folder.at("cart.json.cinch")]).run().refused(1, &["exists", "--force"]);
    cinch(["unpack", "--force", &folder.at("cart.json.cinch")]).run().quiet();
    assert_same_bytes(&folder.read("cart.json"), &cart, "cart.json");
    cinch(["pack", "--force", "--codec", "zlib", &file]).run().quiet();
    assert_ne!(folder.read("cart.json.cinch"), packed);
    assert_eq!(folder.names(), ["cart.json", "cart.json.cinch"]);
}

#[test]
fn the_output_goes_where_it_is_said_to_go() {
    let (folder, cart, packed) = packed();
    let file = folder.at("cart.json");
    cinch(["pack", &file, "-o", &folder.at("other")]).run().quiet();
    assert_same_bytes(&folder.read("other"), &packed, "other");
    assert_same_bytes(
        &cinch(["pack", &file, "-o", "-"]).run().quiet().out,
        &packed,
        "what came back",
    );
    cinch(["unpack", &folder.at("other"), "--output", &folder.at("back")]).run().quiet();
    assert_same_bytes(&folder.read("back"), &cart, "back");
    assert_same_bytes(
        &cinch(["unpack", "-o", "-", &folder.at("other")]).run().quiet().out,
        &cart,
        "what came back",
    );
    cinch(["pack", "-", "-o", &folder.at("piped")]).input(cart).run().quiet();
    assert_same_bytes(&folder.read("piped"), &packed, "piped");
}

#[test]
fn a_name_without_the_ending_needs_an_output() {
    let (folder, _, packed) = packed();
    folder.write("other", packed);
    cinch(["unpack", &folder.at("other")]).run().refused(2, &["other", ".cinch", "-o"]);
}

#[test]
fn many_files_are_packed_each_beside_itself() {
    let folder = Folder::new();
    let names: Vec<String> = (0..5).map(|n| folder.write(&format!("{n}.json"), carts(3))).collect();
    cinch(["pack"]).and(&names).run().quiet();
    assert_eq!(folder.names().len(), 10);
    let both = cinch(["pack", &names[0], &names[1], "-o", &folder.at("x")]).run();
    both.refused(2, &["-o", "one input"]);
    assert_eq!(folder.names().len(), 10);
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::new();
    for command in ["pack", "unpack", "inspect", "evaluate", "estimate"] {
        let missing = folder.at("missing.cinch");
        cinch([command, &missing]).run().refused(1, &["missing.cinch"]);
    }
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn a_folder_is_no_file() {
    let folder = Folder::new();
    let path = folder.path().to_str().unwrap();
    for command in ["pack", "inspect"] {
        cinch([command, path]).run().refused(1, &[path]);
    }
    let output = cinch(["pack", "-o", path]).input("{}").run();
    output.refused(1, &[path, "folder"]);
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn no_envelope_that_was_cut_is_unpacked_or_leaves_a_file() {
    let (folder, _, packed) = packed();
    for length in (2..packed.len()).step_by(packed.len() / 40 + 1).chain(3..16) {
        let cut = folder.write("cut.cinch", &packed[..length]);
        cinch(["unpack", &cut]).run().refused(1, &["cut.cinch", "damaged"]);
        fs::remove_file(cut).unwrap();
        assert_eq!(folder.names(), ["cart.json", "cart.json.cinch"], "at {length}");
    }
}

#[test]
fn no_envelope_with_a_flipped_bit_is_unpacked_to_something_else() {
    let (folder, cart, packed) = packed();
    for at in (0..packed.len()).step_by(packed.len() / 60 + 1).chain(0..16) {
        let mut damaged = packed.clone();
        damaged[at] ^= 0x04;
        let file = folder.write("damaged.cinch", &damaged);
        let ran = cinch(["unpack", &file, "-o", "-"]).run();
        match ran.code {
            Some(0) if at < 4 => assert_same_bytes(&ran.out, &damaged, "no envelope any more"),
            Some(0) => assert_same_bytes(&ran.out, &cart, "a bit that does not count"),
            _ => drop(ran.refused(1, &["damaged.cinch"])),
        }
    }
    assert_eq!(folder.names(), ["cart.json", "cart.json.cinch", "damaged.cinch"]);
}

#[test]
fn damaged_records_leave_no_file() {
    let folder = Folder::new();
    let packed = cinch(["pack", "--records"]).input(carts(50)).run().quiet().out;
    let cut = folder.write("r.cinch", &packed[..packed.len() - 3]);
    let run = cinch(["unpack", "--records", &cut, "-o", &folder.at("out")]).run();
    run.refused(1, &["r.cinch", "cut short"]);
    assert_eq!(folder.names(), ["r.cinch"]);
    let noise = folder.write("r.cinch", noise(1_000));
    cinch(["unpack", "--records", &noise]).run().refused(1, &["r.cinch"]);
    assert_eq!(folder.names(), ["r.cinch"]);
}

#[test]
fn a_payload_above_the_limit_is_refused_before_it_is_unpacked() {
    let zeros = vec![0; 10_000_000];
    let packed = cinch(["pack"]).input(zeros).run().quiet().out;
    assert!(packed.len() < 10_000);
    let run = cinch(["unpack", "--limit", "9999999"]).input(packed.clone()).run();
    run.refused(1, &["10000000", "9999999", "--limit"]);
    let run = cinch(["unpack", "--limit", "10000000"]).input(packed).run().quiet();
    assert_eq!(run.out.len(), 10_000_000);
}

#[test]
fn a_dictionary_packs_unpacks_and_is_asked_for_where_it_is_missing() {
    let folder = Folder::new();
    let text = carts(200);
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let dictionary = folder.write("carts.dict", lines[..100].join(&b'\n'));
    let payload = lines[150];
    for codec in ["zstd:3", "zstd-bare:3", "lz4:9"] {
        let packed = cinch(["pack", "--codec", codec, "--dictionary", &dictionary])
            .input(payload)
            .run()
            .quiet()
            .out;
        let without = cinch(["pack", "--codec", codec]).input(payload).run().quiet().out;
        assert!(packed.len() < without.len(), "{codec}: {} of {}", packed.len(), without.len());
        let header = Envelope::read(&packed);
        header.is_of(payload);
        assert!(header.dictionary.is_some());
        let unpack = cinch(["unpack", "--dictionary", &dictionary]).input(packed.clone());
        assert_same_bytes(&unpack.run().quiet().out, payload, codec);
        let unpack = cinch(["unpack"]).input(packed.clone()).run();
        unpack.refused(1, &["dictionary", "missing", "--dictionary"]);
        let other = folder.write("other.dict", noise(5_000));
        let unpack = cinch(["unpack", "--dictionary", &other]).input(packed).run();
        unpack.refused(1, &["dictionary", "missing"]);
    }
}

#[test]
fn a_dictionary_that_is_none_is_refused() {
    let folder = Folder::new();
    let missing = folder.at("missing.dict");
    cinch(["pack", "--dictionary", &missing]).run().refused(1, &["missing.dict"]);
    let short = folder.write("short.dict", "short");
    cinch(["pack", "--dictionary", &short]).run().refused(1, &["short.dict", "at least 8"]);
    let fine = folder.write("fine.dict", carts(20));
    let run = cinch(["pack", "--codec", "snappy", "--dictionary", &fine]).run();
    run.refused(1, &["snappy", "no dictionary"]);
}

#[test]
fn a_profile_file_packs_with_its_dictionary_beside_it() {
    let folder = Folder::new();
    folder.write("sub/carts.dict", carts(50));
    let text = "[profile]\ncodec = \"zstd\"\nlevel = 3\ndictionary = \"carts.dict\"\n";
    let profile = folder.write("sub/profile.toml", text);
    let payload = carts(1);
    let packed = cinch(["pack", "--profile", &profile]).input(payload.clone()).run().quiet().out;
    assert!(Envelope::read(&packed).dictionary.is_some());
    let dictionary = folder.at("sub/carts.dict");
    let unpack = cinch(["unpack", "--dictionary", &dictionary]).input(packed);
    assert_same_bytes(&unpack.run().quiet().out, &payload, "what came back");
}

#[test]
fn a_profile_with_a_mistake_is_refused_with_its_name_and_what_is_wrong() {
    let folder = Folder::new();
    let cases = [
        ("codec = \"zstd\"", "profile"),
        ("[profile]\ncodec = \"zstf\"", "zstf"),
        ("[profile]\ncodec = \"zstd\"\nlevel = 99", "99"),
        ("[profile]\ncodec = \"zstd\"\nencoding = \"jsn\"", "jsn"),
        ("[profile]\ncodec = \"zstd\"\nmin_gain = 2.0", "min_gain"),
        ("[profile]\ncodec = \"zstd\"\nmin_sise = 2", "min_sise"),
        ("[profile]\ncodec = \"zstd\"\ndictionary = \"gone.dict\"", "gone.dict"),
    ];
    for (text, word) in cases {
        let profile = folder.write("p.toml", text);
        let ran = cinch(["pack", "--profile", &profile]).input("{}").run();
        let ran = ran.code(1).says(&["cinch: ", word]);
        assert!(word == "gone.dict" || ran.err.contains("p.toml"), "{}", ran.err);
    }
}

#[test]
fn a_full_disk_on_standard_output_is_said() {
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for arguments in [&["generate", "carts"][..], &["evaluate", "--sample", "9", "--json", "-"]] {
        let output = cinch(arguments).command().stdout(full()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("standard output") && said.contains("space"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// The devices are named through links in a folder of our own: run by root, a binary that replaces
/// what it is told to write to would otherwise replace the machine's `/dev/null`.
#[test]
fn a_device_is_written_to_and_not_replaced() {
    let folder = Folder::new();
    let link = |name: &str, device: &str| {
        std::os::unix::fs::symlink(device, folder.at(name)).unwrap();
        folder.at(name)
    };
    let is_link = |path: &str| fs::symlink_metadata(path).unwrap().is_symlink();
    let (null, full) = (link("null", "/dev/null"), link("full", "/dev/full"));
    let stdout = link("stdout", "/dev/stdout");
    cinch(["pack", "-o", &null]).input(noise(9_000)).run().quiet();
    assert!(is_link(&null), "/dev/null was replaced by a file");
    let payload = noise(9_000);
    let ran = cinch(["pack", "-o", &stdout]).input(payload.clone()).run().quiet();
    assert!(is_link(&stdout), "/dev/stdout was replaced by a file");
    assert_same_bytes(&ran.out, &payload, "/dev/stdout");
    let ran = cinch(["pack", "-o", &full]).input(payload).run();
    assert!(is_link(&full), "/dev/full was replaced by a file");
    ran.refused(1, &["full", "space"]);
}

#[test]
fn a_reader_that_leaves_early_ends_the_writer_quietly() {
    let mut child = cinch(["generate", "carts", "--count", "1000000"])
        .command()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    drop(reader);
    let output = child.wait_with_output().unwrap();
    assert!(line.starts_with('{') && line.ends_with("}\n"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}
