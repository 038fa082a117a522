//! What becomes of logs when things go wrong: a sink that stalls, in all three modes, and a process
//! that is killed. What was acknowledged is there; what was dropped is counted; memory is bounded.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::thread;

use cinch_integration::{Folder, Ingress, NativeClient, cinch, noise};

const MEMORY_BYTES: u64 = 32 << 20;

/// What a process may need beside its budget.
const BESIDE_BYTES: u64 = 64 << 20;

/// What is sent to a pool whose sink stalls: far more than the budget.
const FLOOD_BYTES: usize = 80 << 20;

/// A pool before a pipe that nobody reads, which is the slowest sink there is, beside one before a
/// filer.
fn stalled(when_slow: &str) -> String {
    format!(
        "memory = {MEMORY_BYTES}
[spill]
directory = \"spill\"
[sink.files]
kind = \"filer\"
directory = \"logs\"
[sink.slow]
kind = \"stdout\"
[pool.default]
sink = \"files\"
when_slow = \"backpressure\"
[pool.stalled]
sink = \"slow\"
when_slow = \"{when_slow}\"
[[listener]]
name = \"stalled\"
protocol = \"lines\"
address = \"127.0.0.1:0\"
pool = \"stalled\"
[[listener]]
name = \"well\"
protocol = \"lines\"
address = \"127.0.0.1:0\"
pool = \"well\"
"
    )
}

/// Lines that do not compress well, each with its number.
fn flood(bytes: usize) -> Vec<u8> {
    let noise: Vec<u8> = noise(bytes / 2 + 100);
    let mut lines = Vec::with_capacity(bytes + 200);
    for (number, piece) in noise.chunks_exact(50).enumerate() {
        if lines.len() >= bytes {
            break;
        }
        lines.extend_from_slice(format!("{number} ").as_bytes());
        lines.extend(piece.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()));
        lines.push(b'\n');
    }
    lines
}

/// Sends to the other pool, which must not notice anything.
#[track_caller]
fn another_pool_is_well(ingress: &Ingress) {
    let before = ingress.metric("written_records_total", "\"well\"");
    let mut stream = ingress.connect("well");
    (0..200).for_each(|number| stream.write_all(format!("line {number}\n").as_bytes()).unwrap());
    ingress.wait_for("written_records_total", "\"well\"", before + 200.0);
    assert_eq!(ingress.metric("dropped_records_total", "\"well\""), 0.0);
}

#[track_caller]
fn memory_is_bounded(ingress: &Ingress) {
    let resident = ingress.resident_bytes();
    assert!(resident < MEMORY_BYTES + BESIDE_BYTES, "{} MiB", resident >> 20);
}

#[test]
fn a_pool_that_drops_loses_what_its_stalled_sink_has_no_room_for_and_counts_it() {
    let folder = Folder::new();
    let ingress = Ingress::start_with(&folder, &stalled("drop"), Stdio::piped());
    let sent = flood(FLOOD_BYTES);
    ingress.connect("stalled").write_all(&sent).unwrap();
    let records = sent.iter().filter(|&&byte| byte == b'\n').count() as f64;
    ingress.wait_for("received_records_total", "\"stalled\"", records);
    another_pool_is_well(&ingress);
    memory_is_bounded(&ingress);
    assert!(ingress.metric("dropped_records_total", "\"stalled\"") > 0.0);
    // Nobody will ever read: what waits is dropped when the ingress stops, and counted.
    let (status, said) = ingress.stop();
    assert_eq!(status.code(), Some(3), "{said:?}");
    let last = said.last().unwrap();
    let numbers: Vec<f64> = last
        .split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect();
    let [received, _, written, dropped] = numbers[..] else { panic!("{last}") };
    assert_eq!(received, records + 200.0, "{last}");
    assert_eq!(received, written + dropped, "{last}");
}

#[test]
fn a_pool_with_backpressure_is_not_read_until_its_sink_goes_on_and_loses_nothing() {
    let folder = Folder::new();
    let mut ingress = Ingress::start_with(&folder, &stalled("backpressure"), Stdio::piped());
    let sent = flood(FLOOD_BYTES);
    let mut stream = ingress.connect("stalled");
    stream.set_nonblocking(true).unwrap();
    // The connection is held when its pool is; then a client's writes come to an end.
    let mut taken = 0;
    while ingress.metric("pool_held", "\"stalled\"") < 1.0 {
        taken += write_some(&mut stream, &sent[taken..]);
    }
    assert!(taken < sent.len(), "all was taken although nobody reads");
    another_pool_is_well(&ingress);
    memory_is_bounded(&ingress);

    let mut output = ingress.output();
    let expected = sent.clone();
    let reader = thread::spawn(move || {
        let mut read = vec![0; expected.len()];
        output.read_exact(&mut read).unwrap();
        (read == expected, output)
    });
    stream.set_nonblocking(false).unwrap();
    stream.write_all(&sent[taken..]).unwrap();
    drop(stream);
    let (is_same, _output) = reader.join().unwrap();
    assert!(is_same, "lines are missing, changed or in another order");
    assert_eq!(ingress.metric("dropped_records_total", ""), 0.0);
    assert!(ingress.stop().0.success());
}

fn write_some(stream: &mut TcpStream, bytes: &[u8]) -> usize {
    match stream.write(&bytes[..bytes.len().min(1 << 20)]) {
        Ok(count) => count,
        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
        Err(error) => panic!("the connection is broken: {error}"),
    }
}

#[test]
fn a_pool_that_spills_loses_nothing_and_keeps_its_order() {
    let folder = Folder::new();
    let mut ingress = Ingress::start_with(&folder, &stalled("spill"), Stdio::piped());
    let sent = flood(FLOOD_BYTES);
    ingress.connect("stalled").write_all(&sent).unwrap();
    let records = sent.iter().filter(|&&byte| byte == b'\n').count() as f64;
    ingress.wait_for("received_records_total", "\"stalled\"", records);
    assert!(ingress.metric("spilled_batches_total", "\"stalled\"") > 0.0);
    another_pool_is_well(&ingress);
    memory_is_bounded(&ingress);
    let mut read = vec![0; sent.len()];
    let mut output = ingress.output();
    output.read_exact(&mut read).unwrap();
    assert!(read == sent, "lines are missing, changed or in another order");
    assert_eq!(ingress.metric("dropped_records_total", ""), 0.0);
    ingress.wait_for("written_records_total", "\"stalled\"", records);
    assert_eq!(ingress.metric("spill_bytes", ""), 0.0, "disk is not given back");
    assert!(ingress.stop().0.success());
}

#[test]
fn what_waits_on_disk_is_there_after_a_kill_and_is_written_in_order() {
    let folder = Folder::new();
    let config = stalled("spill");
    let ingress = Ingress::start_with(&folder, &config, Stdio::piped());
    let sent = flood(FLOOD_BYTES / 2);
    ingress.connect("stalled").write_all(&sent).unwrap();
    let records = sent.iter().filter(|&&byte| byte == b'\n').count() as f64;
    ingress.wait_for("received_records_total", "\"stalled\"", records);
    ingress.kill();

    let repaired = config.replace("kind = \"stdout\"", "kind = \"filer\"\ndirectory = \"later\"");
    let ingress = Ingress::start(&folder, &repaired);
    ingress.wait_for("written_records_total", "\"stalled\"", 1.0);
    assert!(ingress.stop().0.success());
    let later = folder.at("later");
    let ran = cinch(["logs", "--directory", &later, "--pool", "stalled"]).run().quiet();
    let start = sent.windows(60).position(|window| ran.out.starts_with(window)).unwrap();
    assert!(start > 0, "what was in memory was not acknowledged to anybody");
    let spilled = &sent[start..start + ran.out.len()];
    assert!(ran.out == spilled, "lines are missing, changed or in another order");
    assert!(ran.out.len() > 1 << 20, "next to nothing was on disk");
}

const NATIVE: &str = "
[sink.files]
kind = \"filer\"
directory = \"logs\"
[pool.default]
linger_ms = 5
[[listener]]
name = \"native\"
protocol = \"native\"
address = \"127.0.0.1:0\"
";

fn batch(sequence: u64) -> Vec<Vec<u8>> {
    (0..1 + sequence % 7).map(|n| format!("batch {sequence} record {n}").into_bytes()).collect()
}

#[test]
fn every_batch_that_was_acknowledged_survives_a_kill_at_any_moment() {
    let folder = Folder::new();
    let (mut acknowledged, mut next) = (0, 1);
    for round in 0..6u64 {
        let ingress = Ingress::start(&folder, NATIVE);
        let stream = ingress.connect("native");
        let mut client = NativeClient::hello(stream, *b"a client of test", acknowledged + 1, "web");
        for sequence in acknowledged + 1..next {
            assert!(client.send(sequence, &batch(sequence)));
        }
        // The moment is another one each time: after some batch, with others under way.
        for _ in 0..20 + 13 * round {
            assert!(client.send(next, &batch(next)));
            next += 1;
            assert!(client.wait_for(next.saturating_sub(10 + round)));
        }
        acknowledged = client.acknowledged;
        ingress.kill();
    }
    assert!(acknowledged > 100);
    // The last start puts in order what the kill before it has left.
    let ingress = Ingress::start(&folder, NATIVE);
    assert!(ingress.stop().0.success());
    let directory = folder.at("logs");
    let text = cinch(["logs", "--directory", &directory, "--pool", "web"]).run().quiet().out;
    let mut found = BTreeMap::<&str, usize>::new();
    let text = String::from_utf8(text).unwrap();
    text.lines().for_each(|line| *found.entry(line).or_default() += 1);
    for sequence in 1..=acknowledged {
        for record in batch(sequence) {
            let record = String::from_utf8(record).unwrap();
            let count = found.remove(&record[..]).unwrap_or(0);
            assert!(count > 0, "{record} was acknowledged and is gone");
            // Ten batches at most are under way at a kill and are sent again.
            assert!(count <= 2, "{record} is there {count} times");
        }
    }
    let is_later = |line: &&str| {
        let number = line.split(' ').nth(1).and_then(|number| number.parse::<u64>().ok());
        number.is_some_and(|number| number > acknowledged && number < next)
    };
    assert!(found.keys().all(is_later), "nobody sent {found:?}");
}

#[test]
fn files_are_read_up_to_the_last_whole_batch_wherever_they_are_torn() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, NATIVE);
    let stream = ingress.connect("native");
    let mut client = NativeClient::hello(stream, [7; 16], 1, "web");
    for sequence in 1..=20 {
        client.send(sequence, &batch(sequence));
        assert!(client.wait_for(sequence));
    }
    ingress.kill();
    let directory = folder.at("logs");
    let mut path = folder.path().join("logs");
    while path.is_dir() {
        path = fs::read_dir(&path).unwrap().next().unwrap().unwrap().path();
    }
    assert_eq!(path.extension().unwrap(), "partial");
    let whole = fs::read(&path).unwrap();
    let read = || cinch(["logs", "--directory", &directory, "--pool", "web"]).run().quiet().out;
    let all = read();
    for cut in [1, 50, 100, whole.len() / 2, whole.len() - 30] {
        fs::write(&path, &whole[..whole.len() - cut]).unwrap();
        let some = read();
        assert!(all.starts_with(&some) && some.len() < all.len(), "cut by {cut}");
    }
    // A start of the ingress cuts it and closes it.
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let before = read();
    let ingress = Ingress::start(&folder, NATIVE);
    let (_, said) = ingress.stop();
    assert!(said.iter().any(|line| line.contains("recovered 19 batches")), "{said:?}");
    assert!(!path.exists() && path.with_extension("").exists());
    assert_eq!(read(), before);
}
