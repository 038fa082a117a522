//! The columnar form of batches: a choice of a pool, smaller, stated in the index, and read back to
//! the byte like the plain one, with and without a search.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use cinch_integration::{FILER, Folder, Ingress, cinch, logs, pool_listener, pool_text};

/// Two pools with one listener each, of which one stores columns.
fn config() -> String {
    let listeners =
        pool_listener("plain", "lines", "plain") + &pool_listener("columnar", "lines", "columnar");
    format!(
        "workers = 1\n{FILER}[pool.default]\nfilter = true\n\
         [pool.columnar]\nform = \"columnar\"\n{listeners}"
    )
}

/// Lines of a few statements, as a service writes them.
fn service(count: u64) -> String {
    let line = |n: u64| {
        let (minute, second, thousandth) = (n / 3_000 % 60, n / 50 % 60, n * 37 % 1_000);
        let time = format!("2026-11-21 09:{minute:02}:{second:02},{thousandth:03}");
        match n % 4 {
            0 => format!("{time} INFO [worker-{}] took cart c{} in {} ms", n % 7, n * n, n % 90),
            1 => format!("{time} INFO 10.0.{}.{} GET /cart/{n} 200", n % 3, n % 50),
            2 => format!("{time} WARN [worker-{}] retry {} of {n:05}", n % 7, n % 3),
            _ => format!("{time} DEBUG cache é hit={} miss={}", n % 2 == 1, n * 7_919 % 1_000),
        }
    };
    (0..count).map(|n| line(n) + "\n").collect()
}

fn objects(count: u64) -> String {
    let line =
        |n: u64| format!("{{\"n\":{n},\"user\":\"u{}\",\"ok\":{}}}\n", n % 90, n.is_multiple_of(2));
    (0..count).map(line).collect()
}

/// The only closed file of a pool.
fn file(folder: &Folder, pool: &str) -> PathBuf {
    let mut path = folder.path().join("logs").join(pool);
    while path.is_dir() {
        let mut entries = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
        path = entries.next().expect("there is a file");
        assert!(entries.next().is_none(), "there is one file");
    }
    path
}

/// How many batches the index at the end of a file has, and how many of them it calls columnar.
fn indexed(file: &[u8]) -> (usize, usize) {
    let tail = &file[file.len() - 8..];
    assert_eq!(&tail[4..], b"cLI1");
    let length = u32::from_le_bytes(tail[..4].try_into().unwrap()) as usize;
    let rows = &file[file.len() - length + 12..file.len() - 16];
    let is_columnar = |row: &&[u8]| row[31] & 0x80 != 0;
    (rows.len() / 32, rows.chunks(32).filter(is_columnar).count())
}

#[test]
fn a_pool_that_stores_columns_is_smaller_and_comes_back_to_the_byte() {
    for text in [service(20_000), objects(20_000)] {
        let folder = Folder::new();
        let ingress = Ingress::start(&folder, &config());
        for pool in ["plain", "columnar"] {
            ingress.connect(pool).write_all(text.as_bytes()).unwrap();
        }
        ingress.wait_for("written_records_total", "", 40_000.0);
        let counted = ingress.metric("columnar_batches_total", "\"columnar\"");
        assert_eq!(ingress.metric("columnar_batches_total", "\"plain\""), 0.0);
        assert!(ingress.stop().0.success());
        let [plain, columnar] = ["plain", "columnar"].map(|pool| file(&folder, pool));
        let bytes = [&plain, &columnar].map(|path| fs::read(path).unwrap());
        assert!(bytes[1].len() * 4 < bytes[0].len() * 3, "{} {}", bytes[0].len(), bytes[1].len());
        assert_eq!(indexed(&bytes[0]).1, 0);
        let (batches, of_columns) = indexed(&bytes[1]);
        assert!(batches > 2 && of_columns == batches, "{of_columns} of {batches}");
        assert_eq!(counted, of_columns as f64);
        // The stock program checks both, and prints the text of one.
        for path in [&plain, &columnar] {
            assert!(Command::new("zstd").arg("-tq").arg(path).status().unwrap().success());
        }
        let printed = Command::new("zstd").arg("-dc").arg(&plain).output().unwrap();
        assert!(printed.stdout == text.as_bytes());
        assert!(pool_text(&folder, "columnar") == text, "lines are missing or changed");
        let wire = logs(&folder, &["--pool", "columnar", "--wire"]);
        assert!(wire == text.as_bytes());
        for wanted in ["worker-3", "retry 2 of", "\"u17\"", "hit=true"] {
            let found = logs(&folder, &["--pool", "columnar", "--grep", wanted]);
            let lines = text.lines().filter(|line| line.contains(wanted));
            let expected: String = lines.map(|line| line.to_owned() + "\n").collect();
            assert!(String::from_utf8(found).unwrap() == expected, "{wanted}");
        }
    }
}

#[test]
fn a_pool_that_stores_columns_prints_text_on_standard_output() {
    let folder = Folder::new();
    let listener = pool_listener("lines", "lines", "web");
    let config =
        format!("[sink.out]\nkind = \"stdout\"\n[pool.default]\nform = \"columnar\"\n{listener}");
    let mut ingress = Ingress::start_with(&folder, &config, std::process::Stdio::piped());
    let mut out = ingress.output();
    // Less than a pipe holds: nobody reads it yet.
    let text = service(500);
    ingress.connect("lines").write_all(text.as_bytes()).unwrap();
    ingress.wait_for("received_records_total", "", 500.0);
    assert!(ingress.stop().0.success());
    let mut printed = String::new();
    std::io::Read::read_to_string(&mut out, &mut printed).unwrap();
    assert!(printed == text);
}

#[test]
fn the_forms_are_compared_on_ones_own_logs() {
    let folder = Folder::new();
    let text = service(20_000);
    let file = folder.write("service.log", &text);
    let row = cinch(["ingest", "forms", &file, "--level", "3", "--json"]).run().quiet().json();
    assert_eq!(row["text_bytes"], text.len());
    let bytes = |form: &str| row[form]["bytes"].as_u64().unwrap();
    assert!(bytes("columnar") < bytes("plain"), "{row}");
    assert_eq!(row["columnar"]["columnar_batches"], row["columnar"]["batches"]);
    let filter = &row["filter"];
    assert!(filter["lacking"].as_u64() > Some(0), "{row}");
    assert!(filter["passed_over"].as_u64() <= filter["lacking"].as_u64(), "{row}");
    let table = cinch(["ingest", "forms", &file, "--level", "1,3"]).run().quiet();
    assert_eq!(table.text().lines().filter(|line| line.starts_with(" service.log")).count(), 2);
    cinch(["ingest", "forms", &folder.at("nothing")]).run().refused(1, &["nothing"]);
}
