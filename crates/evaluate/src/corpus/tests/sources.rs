//! Files, folders, pipes and packed streams.
//!
//! What is made here on disk is small and goes away with the test.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::Path;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn read_paths(paths: &[&Path], options: &ReadOptions) -> Result<Corpus, CorpusError> {
    let sources: Vec<String> = paths.iter().map(|path| path.to_str().unwrap().into()).collect();
    read(&sources, &mut io::empty(), options, &mut |_| ControlFlow::Continue(()))
}

/// Writes files into a new folder.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

#[test]
fn packed_streams_of_any_name_and_from_a_pipe() {
    let skippable = b"\x50\x2A\x4D\x18\x03\0\0\0abc".to_vec();
    let packed = [
        gzip(b"{\"a\":1}\n{\"a\":2}\n"),
        [gzip(b"{\"a\":1}\n{\"a"), gzip(b"\":2}\n")].concat(),
        zstd(b"{\"a\":1}\n{\"a\":2}\n"),
        [zstd(b"{\"a\":1}\n{\"a"), skippable.clone(), zstd(b"\":2}\n")].concat(),
        [skippable, zstd(b"{\"a\":1}\n{\"a\":2}\n")].concat(),
    ];
    for bytes in packed {
        let folder = folder(&[("x.json", &bytes), ("y", &bytes), ("z.gz", &bytes)]);
        for name in ["x.json", "y", "z.gz"] {
            let path = folder.path().join(name);
            let corpus = read_paths(&[&path], &ReadOptions::default()).unwrap();
            assert_eq!(listed(&corpus), ["1: {\"a\":1}", "2: {\"a\":2}"]);
            assert_eq!(corpus.problems.count, 0, "{}", corpus.problems);
        }
        assert_eq!(outcome(&bytes, &ReadOptions::default()).0.len(), 2);
    }
}

#[test]
fn a_truncated_packed_stream_keeps_the_payloads_before_the_cut() {
    let mut noise = 1u64;
    let text: String = (0..50_000)
        .map(|number| {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            format!("{{\"n\":{number},\"x\":{}}}\n", noise >> 16)
        })
        .collect();
    for (packed, name) in [(gzip(text.as_bytes()), "gzip"), (zstd(text.as_bytes()), "zstd")] {
        for format in [Format::Json, Format::Lines] {
            let options = ReadOptions { format, ..ReadOptions::default() };
            let corpus = read_with(&packed[..packed.len() / 2], &options).unwrap();
            assert!(corpus.seen > 1_000 && corpus.seen < 49_000, "{}", corpus.seen);
            for (line, payload) in text.lines().zip(&corpus.payloads) {
                assert_eq!(line.as_bytes(), &*payload.bytes);
            }
            assert_eq!(corpus.problems.count, 1);
            let problem = &corpus.problems.first[0];
            assert_eq!(problem.reason, format!("the {name} stream is cut short"));
            assert!(problem.line >= corpus.seen, "{problem}");
        }
        // A cut anywhere in the last bytes, where checksums stand, is noticed too.
        for cut in 1..12 {
            let bytes = &packed[..packed.len() - cut];
            let corpus = read_with(bytes, &json_options()).unwrap();
            assert_eq!(corpus.problems.count, 1, "{name} {cut}");
        }
    }
    let mut damaged = gzip(text.as_bytes());
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xFF);
    let corpus = read_with(&damaged, &json_options()).unwrap();
    assert!(corpus.problems.count >= 1 && corpus.seen > 1_000);
}

#[test]
fn folders_are_walked_in_order() {
    let folder = folder(&[
        ("b.ndjson", b"{\"b\":1}"),
        ("a/z.log.gz", &gzip(b"line\n")),
        ("a/c.json.zst", &zstd(b"[1]")),
        ("a/photo.jpg", b"\xFF\xD8"),
        (".hidden.json", b"{}"),
        (".git/x.json", b"{}"),
        ("README.md", b"# x"),
    ]);
    let corpus = read_paths(&[folder.path()], &ReadOptions::default()).unwrap();
    assert_eq!(listed(&corpus), ["1: [1]", "1: line", "1: {\"b\":1}"]);
    let names = |names: &[String]| -> Vec<String> {
        let root = folder.path().to_str().unwrap();
        names.iter().map(|name| name.strip_prefix(root).unwrap()[1..].to_owned()).collect()
    };
    assert_eq!(names(&corpus.files), ["a/c.json.zst", "a/z.log.gz", "b.ndjson"]);
    assert_eq!(names(&corpus.skipped_files), ["README.md", "a/photo.jpg"]);
    assert!(corpus.describe(2).ends_with("b.ndjson:1"));
}

#[test]
fn a_folder_without_known_names_is_binary_payloads() {
    let packed = gzip(b"inside");
    let folder = folder(&[("1", b"\0\x01"), ("2.bin", &packed), ("3.gz", &packed), ("4", b"")]);
    let corpus = read_paths(&[folder.path()], &ReadOptions::default()).unwrap();
    let found: Vec<&[u8]> = corpus.payloads.iter().map(|payload| &*payload.bytes).collect();
    assert_eq!(found, [&b"\0\x01"[..], &packed, b"inside"]);
    assert!(corpus.payloads.iter().all(|p| !p.is_json && p.origin.line == 0));
    assert_eq!(corpus.problems.count, 1);
    assert!(corpus.problems.first[0].to_string().ends_with("4: empty"));
    assert!(corpus.describe(1).ends_with("2.bin"));
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_in_circles() {
    let folder = folder(&[("a/x.json", b"1")]);
    let root = folder.path();
    std::os::unix::fs::symlink(root, root.join("a/up")).unwrap();
    std::os::unix::fs::symlink(root.join("a"), root.join("b")).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("c.json")).unwrap();
    let corpus = read_paths(&[root], &ReadOptions::default()).unwrap();
    assert_eq!(listed(&corpus), ["1: 1"]);
    assert_eq!(corpus.skipped_files.len(), 1);
}

#[test]
fn sources_that_can_not_be_read_are_errors_that_name_them() {
    let options = ReadOptions::default();
    let folder = folder(&[("a/.hidden", b"1"), ("b/x.json", b"")]);
    let missing = folder.path().join("missing.json");
    let error = read_paths(&[&missing], &options).unwrap_err();
    assert!(matches!(&error, CorpusError::NotFound { path } if *path == missing), "{error}");
    assert!(error.to_string().contains("missing.json"));
    let error = read_paths(&[&folder.path().join("a")], &options).unwrap_err();
    assert!(matches!(&error, CorpusError::EmptyFolder { .. }), "{error}");
    let error = read_paths(&[&folder.path().join("b")], &options).unwrap_err();
    assert!(matches!(&error, CorpusError::NoPayloads { problems, .. } if problems.count == 1));
    assert!(error.to_string().contains("x.json: empty"), "{error}");
    assert!(matches!(read_paths(&[], &options), Err(CorpusError::NoSources)));
    let twice = read_paths(&[Path::new("-"), Path::new("-")], &options);
    assert!(matches!(twice, Err(CorpusError::StandardInputTwice)));
}

#[test]
fn progress_counts_files_and_bytes() {
    let folder = folder(&[("a.json", b"1 2"), ("b.json", b"3")]);
    let mut seen = Vec::new();
    let source = folder.path().to_str().unwrap().to_owned();
    read(&[source], &mut io::empty(), &ReadOptions::default(), &mut |progress| {
        seen.push(progress);
        ControlFlow::Continue(())
    })
    .unwrap();
    let expected = [
        Progress { files_done: 1, files_total: 2, payloads: 2, bytes: 3 },
        Progress { files_done: 2, files_total: 2, payloads: 3, bytes: 4 },
    ];
    assert_eq!(seen, expected);
}
