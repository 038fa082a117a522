//! What becomes of logs when things go wrong: a sink that stalls, in all three modes, and a process
//! that is killed. What was acknowledged is there; what was dropped is counted; memory is bounded.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use cinch_ingest_client::{Client, Settings};
use cinch_integration::{
    FILER, Folder, Ingress, cinch, closed_port, listener, noise, pool_listener, pool_text,
};

const MEMORY_BYTES: u64 = 32 << 20;

/// What a process may need beside its budget.
const BESIDE_BYTES: u64 = 64 << 20;

/// What is sent to a pool whose sink stalls: far more than the budget.
const FLOOD_BYTES: usize = 80 << 20;

/// A pool before a pipe that nobody reads, which is the slowest sink there is, beside one before a
/// filer.
fn stalled(when_slow: &str) -> String {
    let listeners =
        pool_listener("stalled", "lines", "stalled") + &pool_listener("well", "lines", "well");
    format!(
        "memory = {MEMORY_BYTES}{FILER}
[spill]
directory = \"spill\"
[sink.slow]
kind = \"stdout\"
[pool.default]
sink = \"files\"
when_slow = \"backpressure\"
[pool.stalled]
sink = \"slow\"
when_slow = \"{when_slow}\"
{listeners}"
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

fn native() -> String {
    format!("{FILER}[pool.default]\nlinger_ms = 5\n{}", listener("native", "native", ""))
}

fn record(number: u64) -> String {
    format!("record {number} {}", "x".repeat((number % 7) as usize))
}

/// A client of the pool `web`, with small batches and a small buffer.
fn client(address: String) -> Client {
    let mut settings = Settings::new(address, "web");
    (settings.batch_bytes, settings.buffer_bytes) = (BATCH_BYTES, 32 * BATCH_BYTES);
    settings.linger = Duration::from_millis(1);
    settings.backoff_most = Duration::from_millis(50);
    Client::start(settings).unwrap()
}

/// Bytes of a batch of the client.
const BATCH_BYTES: usize = 1_000;

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn nothing_is_lost_of_a_client_that_sends_while_its_server_is_killed_again_and_again() {
    let folder = Folder::new();
    let address = format!("127.0.0.1:{}", closed_port());
    let config = native().replace("127.0.0.1:0", &address);
    let client = client(address);
    let mut ingress = Ingress::start(&folder, &config);
    let mut sent = 0;
    for round in 0..6 {
        // The moment is another one each time: after some batch, with others under way.
        let enough = client.counters().acknowledged_records + 500 + 137 * round;
        while client.counters().acknowledged_records < enough {
            client.send_within(record(sent).as_bytes(), PATIENCE).unwrap();
            sent += 1;
        }
        ingress.kill();
        // What was acknowledged is there before the client has any chance to send it again.
        let acknowledged = client.counters().acknowledged_records;
        let text = pool_text(&folder, "web");
        let found: HashSet<&str> = text.lines().collect();
        let lost = (0..acknowledged).find(|number| !found.contains(&record(*number)[..]));
        assert_eq!(lost, None, "{acknowledged} were acknowledged");
        ingress = Ingress::start(&folder, &config);
    }
    let counters = client.close(PATIENCE).unwrap();
    assert_eq!((counters.acknowledged_records, counters.dropped_records), (sent, 0));
    assert!(counters.connections > 6, "{counters:?}");
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "web");
    let mut found = HashMap::<&str, u64>::new();
    text.lines().for_each(|line| *found.entry(line).or_default() += 1);
    let expected: HashSet<String> = (0..sent).map(record).collect();
    assert!(expected.iter().all(|record| found.contains_key(&record[..])), "records are lost");
    assert_eq!(found.len() as u64, sent, "nobody sent some of these");
    // Only what was under way at a kill is there twice: at least once, as the protocol says.
    let twice: u64 = found.values().map(|count| count - 1).sum();
    let most = counters.resent_batches * (BATCH_BYTES / record(0).len()) as u64;
    assert!(twice <= most, "{twice} records came again, but {counters:?}");
}

#[test]
fn files_are_read_up_to_the_last_whole_batch_wherever_they_are_torn() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &native());
    let client = client(ingress.address("native").to_string());
    for number in 0..20 {
        client.send(record(number).as_bytes()).unwrap();
        client.flush(PATIENCE).unwrap();
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
    let ingress = Ingress::start(&folder, &native());
    let (_, said) = ingress.stop();
    assert!(said.iter().any(|line| line.contains("recovered 19 batches")), "{said:?}");
    assert!(!path.exists() && path.with_extension("").exists());
    assert_eq!(read(), before);
}
