//! `cinch ingest top` on a terminal, once, and for machines; and a search that passes over batches
//! that can't match.

use std::io::Write;
use std::process::Stdio;

use cinch_integration::{Folder, Ingress, Terminal, cinch, closed_port};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const CONFIG: &str = "
[sink.files]
kind = \"filer\"
directory = \"logs\"
[pool.default]
linger_ms = 10
filter = true
[[listener]]
name = \"lines\"
protocol = \"lines\"
address = \"127.0.0.1:0\"
pool = \"web\\u001b[31m\"
";

#[test]
fn a_terminal_shows_rates_as_they_change_and_no_name_paints_it() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, CONFIG);
    let mut stream = ingress.connect("lines");
    let (mut terminal, theirs) = Terminal::open();
    let address = ingress.status().to_string();
    let mut command = cinch(["ingest", "top", &address, "--interval", "200ms"]).command();
    let mut child = command
        .stdout(Stdio::from(theirs))
        .stderr(Stdio::null())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    drop(command);
    terminal.wait_for("connections 1");
    stream.write_all(&b"one line of a log\n".repeat(1_000)).unwrap();
    terminal.wait_for("web\u{FFFD}[31m");
    terminal.wait_for("files");
    drop(stream);
    terminal.wait_for("connections 0");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
    let shown = terminal.finish();
    assert!(shown.matches("read interval").count() >= 2, "{shown}");
    assert!(ingress.stop().0.success());
}

#[test]
fn one_look_is_a_table_or_an_object() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, CONFIG);
    ingress.connect("lines").write_all(b"one\ntwo\n").unwrap();
    ingress.wait_for("written_records_total", "", 2.0);
    let address = ingress.status().to_string();
    let once = ["ingest", "top", &address, "--once", "--interval", "50ms"];
    let table = cinch(once).run().quiet().out;
    let table = String::from_utf8(table).unwrap();
    assert!(table.contains("records/s") && table.contains("files"), "{table}");
    let look = cinch(once).and(["--json"]).run().quiet().out;
    let look: Value = serde_json::from_slice(&look).unwrap();
    assert_eq!(look["pools"][0]["pool"], "web\u{1b}[31m");
    assert_eq!(look["pools"][0]["dropped_per_s"], 0.0);
    assert_eq!(look["generation"], 1.0);
    assert!(ingress.stop().0.success());
    let nobody = format!("127.0.0.1:{}", closed_port());
    cinch(["ingest", "top", &nobody, "--once"]).run().code(1).says(&[&nobody, "does not answer"]);
}

#[test]
fn a_search_passes_over_batches_that_can_not_match_and_finds_all_that_do() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, CONFIG);
    let mut stream = ingress.connect("lines");
    for batch in 0..20 {
        let lines: String = (0..200).map(|n| format!("batch {batch} line {n} is well\n")).collect();
        let word = if batch == 7 { "an OutOfMemoryError here\n" } else { "" };
        stream.write_all(format!("{lines}{word}").as_bytes()).unwrap();
        let records = f64::from((batch + 1) * 200 + i32::from(batch >= 7));
        ingress.wait_for("written_records_total", "", records);
    }
    let directory = folder.at("logs");
    let arguments = ["logs", "--directory", &directory, "--stats", "--grep"];
    let search = |pattern: &str| {
        let ran = cinch(arguments).and([pattern]).run().code(0);
        let numbers: Vec<u64> = ran
            .err
            .split(|letter: char| !letter.is_ascii_digit())
            .filter_map(|digits| digits.parse().ok())
            .collect();
        (ran.out, numbers)
    };
    // While the file is being written, and when it is closed and has its index.
    let check = || {
        let (out, numbers) = search("OfMemory");
        assert_eq!(out, b"an OutOfMemoryError here\n");
        let [batches, read, skipped, _, records] = numbers[..] else { panic!("{numbers:?}") };
        assert_eq!((batches, records), (read + skipped, 1));
        assert!(batches >= 20 && skipped >= batches - 2, "{numbers:?}");
        let (out, numbers) = search("batch 1[0-9] line 7 |OutOf");
        assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 11);
        assert_eq!(numbers[4], 11);
        assert_eq!(search("NeverThere").1[1], 0, "nothing is unpacked for what is nowhere");
    };
    check();
    assert!(ingress.stop().0.success());
    check();
}
