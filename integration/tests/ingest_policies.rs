//! What a pool chose holds from the first queue on: where records come faster than they can be
//! compressed, one drops whole messages and counts them, one is not read, one goes to disk. And an
//! acknowledgement stands for what `ack_when` says, in every protocol that has one.

use std::collections::HashSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use cinch_ingest_client::{Client, Durability, Settings};
use cinch_integration::{FILER, Folder, Ingress, noise, pool_listener, pool_text};

/// Far more than the first queue's part of the noisy pool.
const FLOOD_BYTES: usize = 12 << 20;

/// A pool whose records take the only worker so long that they wait before it, and a quiet one.
fn config(when_slow: &str) -> String {
    let listeners =
        pool_listener("noisy", "lines", "noisy") + &pool_listener("quiet", "lines", "quiet");
    format!(
        "memory = \"16MiB\"\nworkers = 1\n{FILER}[spill]\ndirectory = \"spill\"\n\
         [pool.default]\nquota = \"8MiB\"\n[pool.noisy]\nwhen_slow = {when_slow:?}\nlevel = 19\n\
         queue_quota = \"128KiB\"\n{listeners}"
    )
}

/// Lines of digits with their numbers, which take a compressor long.
fn flood() -> String {
    let noise = noise(FLOOD_BYTES / 2);
    let line = |(number, piece): (usize, &[u8])| {
        let digits: String = piece.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{number} {digits}\n")
    };
    noise.chunks_exact(100).enumerate().map(line).collect()
}

/// Sends everything from a thread of its own, and says when it was taken.
fn send(ingress: &Ingress, name: &str, text: &str) -> thread::JoinHandle<()> {
    let (mut stream, bytes) = (ingress.connect(name), text.as_bytes().to_vec());
    thread::spawn(move || {
        stream.write_all(&bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    })
}

/// The quiet pool's records come through although the noisy one floods.
fn the_quiet_pool_is_well(ingress: &Ingress) {
    let mut stream = ingress.connect("quiet");
    for number in 0..20 {
        writeln!(stream, "quiet {number}").unwrap();
        ingress.wait_for("received_records_total", "\"quiet\"", f64::from(number + 1));
    }
    assert_eq!(ingress.metric("dropped_records_total", "\"quiet\""), 0.0);
}

#[test]
fn a_pool_that_drops_does_so_at_the_first_queue_at_borders_and_counts_it() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config("drop"));
    let sent = flood();
    let sending = send(&ingress, "noisy", &sent);
    the_quiet_pool_is_well(&ingress);
    sending.join().unwrap();
    let records = sent.lines().count() as f64;
    ingress.wait_for("received_records_total", "\"noisy\"", records);
    let dropped = ingress.metric("dropped_records_total", "pool=\"noisy\",reason=\"queue\"");
    assert!(dropped > 0.0, "nothing was dropped");
    assert_eq!(ingress.metric("queued_bytes", ""), 0.0);
    ingress.stop();
    let sent: HashSet<&str> = sent.lines().collect();
    let text = pool_text(&folder, "noisy");
    assert!(text.lines().all(|line| sent.contains(line)), "a line was cut");
    assert_eq!(text.lines().count() as f64 + dropped, records);
    assert_eq!(pool_text(&folder, "quiet").lines().count(), 20);
}

#[test]
fn a_pool_with_backpressure_is_not_read_while_its_part_is_used_up_and_others_are() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config("backpressure"));
    let sent = flood();
    let sending = send(&ingress, "noisy", &sent);
    let mut most = 0.0;
    while ingress.metric("received_records_total", "\"noisy\"") < 10_000.0 {
        most = ingress.metric("queued_bytes", "\"noisy\"").max(most);
    }
    the_quiet_pool_is_well(&ingress);
    assert!(!sending.is_finished(), "all was taken at once");
    sending.join().unwrap();
    // One read goes on where the part is not used up yet.
    assert!(most > 0.0 && most <= f64::from((128 << 10) + (64 << 10)), "{most} bytes waited");
    let (status, said) = ingress.stop();
    assert!(status.success(), "{said:?}");
    assert!(pool_text(&folder, "noisy") == sent, "lines are missing, changed or in another order");
}

#[test]
fn a_pool_that_spills_puts_on_disk_what_comes_too_fast_and_keeps_its_order() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config("spill"));
    let sent = flood();
    let sending = send(&ingress, "noisy", &sent);
    the_quiet_pool_is_well(&ingress);
    sending.join().unwrap();
    ingress.wait_for("written_records_total", "\"noisy\"", sent.lines().count() as f64);
    assert!(ingress.metric("spilled_batches_total", "\"noisy\"") > 0.0, "the sink was never slow");
    assert_eq!(ingress.metric("dropped_records_total", ""), 0.0);
    assert!(ingress.stop().0.success());
    assert!(pool_text(&folder, "noisy") == sent, "lines are missing, changed or in another order");
}

/// Sends one record by a protocol; it ends when that is acknowledged.
type SendOne = fn(SocketAddr);

const PROTOCOLS: [(&str, &str, SendOne); 4] = [
    ("native", "native", |address| {
        // A client that asks for less than the pool's least gets the pool's.
        let mut settings = Settings::new(address.to_string(), pool_of("native"));
        settings.durability = Durability::Received;
        let client = Client::start(settings).unwrap();
        client.send(b"one").unwrap();
        client.flush(Duration::from_secs(60)).unwrap();
    }),
    ("forward", "forward", |address| {
        let mut stream = TcpStream::connect(address).unwrap();
        let event = b"\x93\xa3app\x91\x92\xce\x65\x53\xf1\x01\x81\xa1a\x01\x81\xa5chunk\xa2c1";
        stream.write_all(event).unwrap();
        expect(&mut stream, b"\x81\xa3ack\xa2c1");
    }),
    ("otlp", "http", |address| {
        let body =
            br#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}"#;
        post(address, "/v1/logs", body);
    }),
    ("bulk", "http", |address| {
        post(address, "/_bulk", b"{\"create\":{}}\n{\"a\":1}\n");
    }),
];

/// The pool of a protocol's listener; clients of the native one name it.
fn pool_of(protocol: &str) -> String {
    format!("pool-{protocol}")
}

fn post(address: SocketAddr, path: &str, body: &[u8]) {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
    .unwrap();
    stream.write_all(body).unwrap();
    expect(&mut stream, b"HTTP/1.1 200 OK\r\n");
}

fn expect(stream: &mut TcpStream, answer: &[u8]) {
    let mut read = vec![0; answer.len()];
    stream.read_exact(&mut read).unwrap();
    assert_eq!(String::from_utf8_lossy(&read), String::from_utf8_lossy(answer));
}

/// Every protocol, in pools whose acknowledgements stand for this.
fn acknowledging(ack_when: &str, linger_ms: u64) -> String {
    let mut config = format!(
        "{FILER}[pool.default]\nack_when = {ack_when:?}\nlinger_ms = {linger_ms}\n\
         when_slow = \"backpressure\"\n"
    );
    for (name, protocol, _) in PROTOCOLS {
        config += &match protocol {
            "native" => cinch_integration::listener(name, protocol, ""),
            _ => pool_listener(name, protocol, &pool_of(name)),
        };
    }
    config
}

/// The folder of each pool is a file: nothing can be written until it is removed.
fn block(folder: &Folder) {
    PROTOCOLS.iter().for_each(|(name, ..)| {
        folder.write(&format!("logs/{}", pool_of(name)), "");
    });
}

fn unblock(folder: &Folder) {
    for (name, ..) in PROTOCOLS {
        fs::remove_file(folder.at(&format!("logs/{}", pool_of(name)))).unwrap();
    }
}

#[test]
fn received_is_acknowledged_before_a_batch_is_closed() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &acknowledging("received", 600_000));
    for (name, _, send_one) in PROTOCOLS {
        send_one(ingress.address(name));
    }
    assert_eq!(ingress.metric("batches_total", ""), 0.0);
    assert!(ingress.stop().0.success());
}

#[test]
fn batched_is_acknowledged_before_the_sink_has_it_and_not_before_a_batch_is_closed() {
    let folder = Folder::new();
    block(&folder);
    let ingress = Ingress::start(&folder, &acknowledging("batched", 300));
    for (name, _, send_one) in PROTOCOLS {
        let start = Instant::now();
        send_one(ingress.address(name));
        assert!(start.elapsed() >= Duration::from_millis(200), "{name} did not wait for the batch");
        assert_eq!(ingress.metric("batches_total", &pool_of(name)), 1.0, "{name}");
    }
    assert_eq!(ingress.metric("written_records_total", ""), 0.0);
    unblock(&folder);
    ingress.wait_for("written_records_total", "", 4.0);
    assert!(ingress.stop().0.success());
}

#[test]
fn written_is_acknowledged_when_the_sink_has_it() {
    let folder = Folder::new();
    block(&folder);
    let ingress = Ingress::start(&folder, &acknowledging("written", 5));
    thread::scope(|scope| {
        let sending: Vec<_> = PROTOCOLS
            .map(|(name, _, send_one)| {
                let address = ingress.address(name);
                scope.spawn(move || send_one(address))
            })
            .into();
        for (name, ..) in PROTOCOLS {
            ingress.wait_for("batches_total", &pool_of(name), 1.0);
        }
        ingress.wait_for("write_failures_total", "", 2.0);
        assert!(sending.iter().all(|sending| !sending.is_finished()), "nothing is written");
        unblock(&folder);
        sending.into_iter().for_each(|sending| sending.join().unwrap());
    });
    assert_eq!(ingress.metric("written_records_total", ""), 4.0);
    assert!(ingress.stop().0.success());
}

#[test]
fn what_was_acknowledged_is_not_dropped_even_by_a_pool_that_drops() {
    let folder = Folder::new();
    folder.write(&format!("logs/{}", pool_of("native")), "");
    let config = format!(
        "memory = \"16MiB\"\n{FILER}[pool.default]\nack_when = \"received\"\nquota = \"64KiB\"\n\
         linger_ms = 5\nwhen_slow = \"drop\"\n{}",
        cinch_integration::listener("native", "native", "")
    );
    let ingress = Ingress::start(&folder, &config);
    let address = ingress.address("native").to_string();
    let mut settings = Settings::new(address, pool_of("native"));
    settings.durability = Durability::Received;
    settings.level = None;
    let client = Client::start(settings).unwrap();
    let lines: Vec<Vec<u8>> = noise(400_000)
        .chunks(40)
        .map(|piece| piece.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect())
        .collect();
    lines.iter().for_each(|line| client.send(line).unwrap());
    // It is held when the quota is used up; what was acknowledged by then is more than that.
    ingress.wait_for("pool_held", "", 1.0);
    fs::remove_file(folder.at(&format!("logs/{}", pool_of("native")))).unwrap();
    client.close(Duration::from_secs(60)).unwrap();
    // What the first queue had no room for was not acknowledged, and came again.
    for reason in ["quota", "ring", "shutdown"] {
        assert_eq!(ingress.metric("dropped_records_total", reason), 0.0, "{reason}");
    }
    ingress.stop();
    let text = pool_text(&folder, &pool_of("native"));
    assert!(text.lines().map(str::as_bytes).eq(lines.iter().map(Vec::as_slice)));
}
