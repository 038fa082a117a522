//! Sources that are damaged: what can be read is measured, what can't is told with its file and
//! line, counted and skipped, and the exit status says so. Where there is nothing to measure, that
//! is said too.
//!
//! Sound sources are in `sources.rs`.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use cinch_integration::{Folder, Ran, binary, carts, cinch};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

const CHEAP: [&str; 8] =
    ["--encodings", "verbatim", "--codecs", "snappy", "--time", "1s", "--json", "-"];

fn evaluate(sources: &[&str]) -> Ran {
    cinch(["evaluate"]).and(sources).and(CHEAP).run()
}

/// Evaluates sources of which something is skipped: `problems` are the texts that standard error
/// and the JSON both have to hold, one for each problem.
fn skips(sources: &[&str], payloads: u64, problems: &[String]) -> Value {
    let ran = evaluate(sources).code(3);
    let corpus = ran.json()["corpus"].take();
    assert_eq!(corpus["payloads"], payloads, "{}", ran.err);
    assert_eq!(corpus["problems"]["count"], problems.len(), "{}", ran.err);
    for (index, problem) in problems.iter().enumerate() {
        let told = corpus["problems"]["first"][index].as_str().unwrap_or_default();
        assert!(told.contains(problem), "{told:?} does not hold {problem:?}");
        assert!(ran.err.contains(&format!("cinch: skipped: {told}\n")), "{}", ran.err);
    }
    corpus
}

#[test]
fn bad_lines_are_told_with_file_and_line_and_the_rest_is_measured() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", "{\"a\":1}\n{\"a\":\n{\"a\":3}\nnonsense\n{\"a\":5}\n");
    let corpus = skips(&[&file], 3, &[format!("{file}:2: "), format!("{file}:4: ")]);
    assert_eq!(corpus["seen"], 3);
}

#[test]
fn many_bad_lines_are_counted_exactly_and_told_in_part() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", format!("{}{}", "{\"a\":1}\n", "{bad}\n".repeat(500)));
    let ran = evaluate(&[&file]).code(3).says(&["skipped", "480 more"]);
    assert_eq!(ran.json()["corpus"]["problems"]["count"], 500);
    assert_eq!(ran.err.lines().count(), 21, "{}", ran.err);
}

#[test]
fn estimates_skip_and_tell_alike() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", "{\"a\":1}\n{\"a\":\n{\"a\":3}\n");
    let ran = cinch(["estimate", &file, "--json", "-"]).run().code(3);
    let ran = ran.says(&[&format!("skipped: {file}:2: ")]);
    assert_eq!(ran.json()["payloads"], 2);
}

#[test]
fn the_report_for_people_tells_problems_too() {
    let folder = Folder::new();
    let file = folder.write("carts.ndjson", "{\"a\":1}\n{\"a\":\n");
    let run = cinch(["evaluate", &file, "--codecs", "snappy", "--encodings", "verbatim"]);
    let ran = run.and(["--time", "1s"]).inside(folder.path()).run().code(3);
    assert!(ran.text().contains("1 could not be read"), "{}", ran.text());
    assert!(folder.read_text("report/index.html").contains("carts.ndjson:2"));
}

#[test]
fn a_line_that_is_no_utf8_is_skipped() {
    let folder = Folder::new();
    let file =
        folder.write("carts.ndjson", b"{\"a\":\"ok\"}\n{\"a\":\"\xFF\xFE\"}\n{\"a\":\"ok\"}\n");
    skips(&[&file], 2, &[format!("{file}:2: ")]);
}

#[test]
fn a_utf16_file_is_refused_by_its_name() {
    let folder = Folder::new();
    let wide = |text: &str| -> Vec<u8> {
        std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let bad = folder.write("wide.json", wide("{\"a\":1}\n"));
    evaluate(&[&bad]).code(1).says(&["wide.json", "UTF-16", "convert"]);
    let good = folder.write("good.json", "{\"a\":1}");
    skips(&[&good, &bad], 1, &[format!("{bad}:1: UTF-16")]);
}

#[test]
fn a_file_that_ends_inside_a_value_is_told() {
    let folder = Folder::new();
    let file = folder.write("cut.json", "{\"a\":1}\n{\"b\":[1,2");
    skips(&[&file], 1, &[format!("{file}:2: ")]);
    let only = folder.write("only.json", "{\"b\":[1,2");
    evaluate(&[&only]).code(1).says(&["only.json"]);
}

#[test]
fn a_packed_file_that_is_cut_is_measured_as_far_as_it_goes() {
    let folder = Folder::new();
    let text = carts(400);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(&text).unwrap();
    let packed = encoder.finish().unwrap();
    let gzip = folder.write("carts.json.gz", &packed[..packed.len() / 2]);
    let ran = evaluate(&[&gzip]).code(3).says(&["carts.json.gz:", "gzip", "cut short"]);
    let corpus = ran.json()["corpus"].take();
    assert!(corpus["payloads"].as_u64().is_some_and(|count| count > 50), "{corpus}");
    assert_eq!(corpus["problems"]["count"], 1);
    let packed = zstd::stream::encode_all(text.as_slice(), 3).unwrap();
    let file = folder.write("carts.json.zst", &packed[..packed.len() / 2]);
    evaluate(&[&file]).says(&["carts.json.zst", "zstd", "cut short"]);
}

#[test]
fn a_packed_file_that_is_damaged_is_told() {
    let folder = Folder::new();
    // With the checksum that the zstd program writes unless told not to.
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(&carts(400)).unwrap();
    let mut packed = encoder.finish().unwrap();
    let middle = packed.len() / 2;
    packed[middle..middle + 40].fill(0xAA);
    let file = folder.write("carts.json.zst", &packed);
    let ran = evaluate(&[&file]).says(&["carts.json.zst", "zstd"]);
    assert_ne!(ran.code, Some(0));
}

#[test]
fn sources_without_payloads_are_refused() {
    let folder = Folder::new();
    let path = folder.path().to_str().unwrap();
    evaluate(&[path]).refused(1, &[path]);
    folder.write("only/hidden/.json", "{}");
    evaluate(&[&folder.at("only")]).refused(1, &["only"]);
    let empty = folder.write("empty.json", "");
    evaluate(&[&empty]).code(1).says(&["empty.json"]);
    evaluate(&[&folder.at("missing")]).refused(1, &["missing"]);
    evaluate(&["-"]).code(1).says(&["-"]);
    cinch(["estimate", &empty]).run().code(1).says(&["empty.json"]);
}

#[test]
fn standard_input_can_be_named_once() {
    let ran = cinch(["evaluate", "-", "-"]).input("{}").run();
    assert_ne!(ran.code, Some(0));
    ran.says(&["standard input"]);
}

#[test]
fn a_field_that_is_missing_in_some_is_told_for_each() {
    let folder = Folder::new();
    let file = folder.write("rows.ndjson", "{\"a\":[1]}\n{\"b\":2}\n{\"a\":[3]}\n");
    let corpus = skips(&[&file, "--field", "a"], 2, &[format!("{file}:2: ")]);
    assert_eq!(corpus["bytes"], 6);
}

#[test]
fn a_folder_that_may_not_be_read_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("open.json", "{\"a\":1}");
    let closed = folder.write("closed/inner.json", "{\"a\":1}");
    let parent = folder.at("closed");
    std::fs::set_permissions(&parent, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read everything: there is nothing to see then but that it does.
    let may_read = std::fs::read(&closed).is_ok();
    let ran = evaluate(&[folder.path().to_str().unwrap()]);
    std::fs::set_permissions(&parent, std::fs::Permissions::from_mode(0o700)).unwrap();
    if may_read {
        assert_eq!(ran.code(0).json()["corpus"]["payloads"], 2);
    } else {
        assert_ne!(ran.code, Some(0));
        ran.says(&["closed"]);
    }
}

/// One gigabyte without a line break, between good lines. The address space of the whole process
/// is held below a gigabyte, so that it can't have been read into memory.
#[test]
fn a_line_of_a_gigabyte_is_refused_in_bounded_memory() {
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -v 1000000; exec \"$0\" evaluate - \"$@\""])
        .arg(binary())
        .args(CHEAP)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || -> std::io::Result<()> {
        stdin.write_all(b"{\"good\":1}\n{\"good\":2}\n[1")?;
        let piece = ",1".repeat(1 << 17);
        for _ in 0..(1 << 30) / piece.len() {
            stdin.write_all(piece.as_bytes())?;
        }
        stdin.write_all(b"]\n{\"good\":4}\n")
    });
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    writer.join().unwrap().unwrap_or_else(|error| panic!("it stopped reading: {error}: {said}"));
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("skipped: -:3: longer than the limit"), "{said}");
    let corpus: Value = serde_json::from_str::<Value>(&out).unwrap()["corpus"].take();
    assert_eq!(corpus["payloads"], 3);
    assert_eq!(corpus["bytes"], 30);
    assert_eq!(corpus["problems"]["count"], 1);
}
