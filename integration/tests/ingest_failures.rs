//! A filer that stalls and disks that are full, in all three modes: what was received is written or
//! counted, memory is bounded, and files stay whole. The faults are those of `c/faults.c`.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use cinch_integration::{Folder, Ingress, cinch, noise, pool_listener, repository};

const MEMORY_BYTES: u64 = 32 << 20;

/// What a process may need beside its budget.
const BESIDE_BYTES: u64 = 64 << 20;

/// What is sent: far more than the budget.
const FLOOD_BYTES: usize = 64 << 20;

fn config(when_slow: &str) -> String {
    format!(
        "memory = {MEMORY_BYTES}
[spill]
directory = \"spill\"
[sink.files]
kind = \"filer\"
directory = \"logs\"
[pool.default]
when_slow = \"{when_slow}\"
[[listener]]
name = \"lines\"
protocol = \"lines\"
address = \"127.0.0.1:0\"
pool = \"web\"
"
    )
}

/// Lines that do not compress well, each with its number.
fn flood(bytes: usize) -> Vec<u8> {
    let noise = noise(bytes / 2);
    let hex = |piece: &[u8]| piece.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let line = |(number, piece): (usize, &[u8])| format!("{number} {}\n", hex(piece)).into_bytes();
    noise.chunks_exact(200).enumerate().flat_map(line).collect()
}

fn records(bytes: &[u8]) -> f64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as f64
}

/// An ingress some of whose writes fail while a switch is there.
struct Faulty {
    folder: Folder,
    ingress: Ingress,
}

impl Faulty {
    /// Files below `faulty` are those that can fail; the switch is on from the start.
    #[track_caller]
    fn start(config: &str, faulty: &str, switch: &str) -> Faulty {
        let folder = Folder::new();
        let library = folder.at("faults.so");
        let source = repository().join("integration/c/faults.c");
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O1", "-o", &library]).arg(source).arg("-ldl");
        assert!(compile.status().expect("cc is installed").success());
        folder.write(switch, "");
        let path = folder.path().canonicalize().unwrap();
        let (switches, faulty) = (path.to_str().unwrap().to_owned(), path.join(faulty));
        let faulty = faulty.to_str().unwrap();
        let variables = [("LD_PRELOAD", &library[..]), ("FAULTS", &switches), ("FAULTY", faulty)];
        let ingress = Ingress::start_in(&folder, config, &variables);
        Faulty { folder, ingress }
    }

    /// Takes the switch away.
    fn repair(&self, switch: &str) {
        fs::remove_file(self.folder.at(switch)).unwrap();
    }

    #[track_caller]
    fn memory_is_bounded(&self) {
        let resident = self.ingress.resident_bytes();
        assert!(resident < MEMORY_BYTES + BESIDE_BYTES, "{} MiB", resident >> 20);
    }

    /// Ends it and returns what was received, written and dropped, and the text of the files.
    #[track_caller]
    fn finish(self) -> ([f64; 3], Vec<u8>) {
        let (_, said) = self.ingress.stop();
        let numbers: Vec<f64> = said
            .last()
            .unwrap()
            .split(|letter: char| !letter.is_ascii_digit())
            .filter_map(|digits| digits.parse().ok())
            .collect();
        let [received, _, written, dropped] = numbers[..] else { panic!("{said:?}") };
        let mut torn: Vec<PathBuf> = vec![self.folder.path().join("logs")];
        while let Some(path) = torn.pop() {
            match path.is_dir() {
                true => torn.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path())),
                false => assert_eq!(path.extension().unwrap(), "zst", "{path:?} is left"),
            }
        }
        let directory = self.folder.at("logs");
        // It says so where a file is torn.
        let ran = cinch(["logs", "--directory", &directory, "--pool", "web"]).run().quiet();
        ([received, written, dropped], ran.out)
    }
}

#[test]
fn a_filer_that_stalls_loses_nothing_of_a_pool_that_spills() {
    let faulty = Faulty::start(&config("spill"), "logs", "stall");
    let sent = flood(FLOOD_BYTES);
    faulty.ingress.connect("lines").write_all(&sent).unwrap();
    faulty.ingress.wait_for("received_records_total", "", records(&sent));
    assert!(faulty.ingress.metric("spilled_batches_total", "") > 0.0);
    faulty.memory_is_bounded();
    faulty.repair("stall");
    faulty.ingress.wait_for("written_records_total", "", records(&sent));
    let (numbers, text) = faulty.finish();
    assert_eq!(numbers, [records(&sent), records(&sent), 0.0]);
    assert!(text == sent, "lines are missing, changed or in another order");
}

#[test]
fn a_filer_that_stalls_costs_a_pool_that_drops_whole_batches_which_are_counted() {
    let faulty = Faulty::start(&config("drop"), "logs", "stall");
    let sent = flood(FLOOD_BYTES);
    faulty.ingress.connect("lines").write_all(&sent).unwrap();
    faulty.ingress.wait_for("received_records_total", "", records(&sent));
    faulty.memory_is_bounded();
    faulty.repair("stall");
    let ([received, written, dropped], text) = faulty.finish();
    assert_eq!(received, records(&sent));
    assert_eq!(received, written + dropped);
    assert!(dropped > 0.0 && written > 0.0, "{written} {dropped}");
    assert_eq!(records(&text), written, "what is counted as written is there");
}

#[test]
fn a_filer_that_stalls_holds_a_pool_with_backpressure_until_it_goes_on() {
    let faulty = Faulty::start(&config("backpressure"), "logs", "stall");
    let sent = flood(FLOOD_BYTES);
    let mut stream = faulty.ingress.connect("lines");
    stream.set_nonblocking(true).unwrap();
    let mut taken = 0;
    while faulty.ingress.metric("pool_held", "") < 1.0 {
        match stream.write(&sent[taken..sent.len().min(taken + (1 << 20))]) {
            Ok(count) => taken += count,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }
    assert!(taken < sent.len(), "all was taken although nothing is written");
    faulty.memory_is_bounded();
    faulty.repair("stall");
    stream.set_nonblocking(false).unwrap();
    stream.write_all(&sent[taken..]).unwrap();
    drop(stream);
    faulty.ingress.wait_for("written_records_total", "", records(&sent));
    let (numbers, text) = faulty.finish();
    assert_eq!(numbers, [records(&sent), records(&sent), 0.0]);
    assert!(text == sent, "lines are missing, changed or in another order");
}

/// Files are opened and closed all the time.
fn rotating(when_slow: &str) -> String {
    config(when_slow).replace("kind = \"filer\"", "kind = \"filer\"\nrotate = \"1MiB\"")
}

/// An ingress that has written something, and whose files can't be opened or closed any more.
#[track_caller]
fn without_names(when_slow: &str) -> (Faulty, f64) {
    let faulty = Faulty::start(&rotating(when_slow), "logs", "full");
    faulty.repair("full");
    faulty.ingress.connect("lines").write_all(b"first\n").unwrap();
    faulty.ingress.wait_for("written_records_total", "", 1.0);
    faulty.folder.write("names", "");
    (faulty, 1.0)
}

#[test]
fn a_mount_where_no_file_opens_or_closes_costs_no_pool_but_one_that_drops() {
    for when_slow in ["spill", "drop", "backpressure"] {
        let (faulty, first) = without_names(when_slow);
        let sent = flood(FLOOD_BYTES);
        let (all, mut stream) = (records(&sent) + first, faulty.ingress.connect("lines"));
        let sending = thread::spawn({
            let sent = sent.clone();
            move || stream.write_all(&sent).unwrap()
        });
        match when_slow {
            "backpressure" => faulty.ingress.wait_for("pool_held", "", 1.0),
            _ => faulty.ingress.wait_for("received_records_total", "", all),
        }
        faulty.memory_is_bounded();
        faulty.repair("names");
        sending.join().unwrap();
        faulty.ingress.wait_for("received_records_total", "", all);
        if when_slow != "drop" {
            faulty.ingress.wait_for("written_records_total", "", all);
        }
        let ([received, written, dropped], text) = faulty.finish();
        assert_eq!((received, written + dropped), (all, all), "{when_slow}");
        assert_eq!(dropped > 0.0, when_slow == "drop", "{when_slow}: {dropped} were dropped");
        assert_eq!(records(&text), written, "what is counted as written is there");
        let kept = text.strip_prefix(b"first\n").expect("the first one is there");
        assert!(when_slow == "drop" || kept == sent, "{when_slow}: lines are missing or changed");
    }
}

#[test]
fn a_pool_whose_data_fits_is_read_on_while_the_filer_stalls_and_another_one_is_held() {
    let both = config("backpressure") + &pool_listener("quiet", "lines", "quiet");
    let faulty = Faulty::start(&both, "logs", "stall");
    let (sent, mut taken) = (flood(FLOOD_BYTES), 0);
    let mut stream = faulty.ingress.connect("lines");
    stream.set_nonblocking(true).unwrap();
    while faulty.ingress.metric("pool_held", "\"web\"") < 1.0 {
        match stream.write(&sent[taken..sent.len().min(taken + (1 << 20))]) {
            Ok(count) => taken += count,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }
    // Nothing is written, and what this one sends is taken at once all the same.
    let mut quiet = faulty.ingress.connect("quiet");
    for number in 1..=50 {
        writeln!(quiet, "quiet {number}").unwrap();
        faulty.ingress.wait_for("received_records_total", "\"quiet\"", f64::from(number));
    }
    assert_eq!(faulty.ingress.metric("pool_held", "\"quiet\""), 0.0);
    assert_eq!(faulty.ingress.metric("written_records_total", "\"quiet\""), 0.0);
    faulty.memory_is_bounded();
    faulty.repair("stall");
    faulty.ingress.wait_for("written_records_total", "\"quiet\"", 50.0);
    assert_eq!(faulty.ingress.metric("dropped_records_total", "\"quiet\""), 0.0);
}

#[test]
fn a_full_disk_leaves_no_torn_file_and_loses_nothing_when_there_is_room_again() {
    let faulty = Faulty::start(&config("spill"), "logs", "full");
    let sent = flood(8 << 20);
    faulty.ingress.connect("lines").write_all(&sent).unwrap();
    faulty.ingress.wait_for("write_failures_total", "", 2.0);
    assert_eq!(faulty.ingress.metric("written_records_total", ""), 0.0);
    faulty.repair("full");
    faulty.ingress.wait_for("written_records_total", "", records(&sent));
    let (numbers, text) = faulty.finish();
    assert_eq!(numbers, [records(&sent), records(&sent), 0.0]);
    assert!(text == sent, "lines are missing, changed or in another order");
}

#[test]
fn a_spill_without_room_drops_and_counts() {
    // The sink stalls too, for otherwise nothing spills.
    let faulty = Faulty::start(&config("spill"), "", "full");
    let sent = flood(FLOOD_BYTES);
    faulty.ingress.connect("lines").write_all(&sent).unwrap();
    faulty.ingress.wait_for("received_records_total", "", records(&sent));
    faulty.ingress.wait_for("dropped_records_total", "\"spill\"", 1.0);
    faulty.memory_is_bounded();
    faulty.repair("full");
    let ([received, written, dropped], text) = faulty.finish();
    assert_eq!(received, written + dropped);
    assert_eq!(records(&text), written);
}
