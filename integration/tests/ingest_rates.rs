//! Limits of bytes in a second, of a pool and of a client: what is above them waits or is dropped
//! and counted, as the pool chose, and nobody else notices. No test measures time: a limit of one
//! byte in a second is used up by the first read for longer than any test runs, until a reload
//! lifts it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;

use cinch_ingest_client::{Client, Settings};
use cinch_integration::{FILER, Folder, Ingress, cinch, listener, pool_listener, pool_text};

/// More than one read takes, and than sockets hold.
const LINES: usize = 400_000;

fn text() -> String {
    (0..LINES).map(|number| format!("line {number} of many\n")).collect()
}

/// Two pools of lines, of which one has these keys.
fn config(keys: &str) -> String {
    let listeners =
        pool_listener("loud", "lines", "loud") + &pool_listener("quiet", "lines", "quiet");
    format!("{FILER}[pool.loud]\n{keys}\n{listeners}")
}

/// Sends everything from a thread of its own, until it was taken.
fn send(address: SocketAddr, text: &str) -> thread::JoinHandle<()> {
    let (mut stream, bytes) = (TcpStream::connect(address).unwrap(), text.as_bytes().to_vec());
    thread::spawn(move || {
        stream.write_all(&bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    })
}

/// The quiet pool's records come through although the loud one sends.
fn the_quiet_pool_is_well(ingress: &Ingress) {
    let mut stream = ingress.connect("quiet");
    for number in 0..20 {
        writeln!(stream, "quiet {number}").unwrap();
        ingress.wait_for("received_records_total", "\"quiet\"", f64::from(number + 1));
    }
    assert_eq!(ingress.metric("dropped_records_total", "\"quiet\""), 0.0);
}

#[test]
fn what_is_above_a_pools_limit_waits_until_there_is_no_limit() {
    for when_slow in ["backpressure", "spill"] {
        let folder = Folder::new();
        let keys = format!("when_slow = {when_slow:?}");
        let limit = "rate_limit_bytes_per_second = 1";
        let spill = "[spill]\ndirectory = \"spill\"\n";
        let limited = format!("{spill}{}", config(&format!("{keys}\n{limit}")));
        let ingress = Ingress::start(&folder, &limited);
        let sent = text();
        let sending = send(ingress.address("loud"), &sent);
        ingress.wait_for("paced_reads_total", "\"loud\"", 1.0);
        the_quiet_pool_is_well(&ingress);
        assert!(!sending.is_finished(), "all was taken at once");
        let received = ingress.metric("received_records_total", "\"loud\"");
        assert!(received < LINES as f64, "all was taken at once");
        let lifted = format!("{spill}{}", config(&keys));
        folder.write("ingest.toml", format!("status = \"127.0.0.1:0\"\n{lifted}"));
        ingress.hang_up();
        sending.join().unwrap();
        ingress.wait_for("written_records_total", "\"loud\"", LINES as f64);
        assert_eq!(ingress.metric("dropped_records_total", ""), 0.0);
        assert!(ingress.stop().0.success());
        assert!(pool_text(&folder, "loud") == sent, "{when_slow}: lines are missing or changed");
    }
}

#[test]
fn a_pool_that_drops_counts_whole_records_above_its_limit_and_keeps_the_others() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config("rate_limit_bytes_per_second = \"1KiB\""));
    let sent = text();
    send(ingress.address("loud"), &sent).join().unwrap();
    ingress.wait_for("received_records_total", "\"loud\"", LINES as f64);
    the_quiet_pool_is_well(&ingress);
    let dropped = ingress.metric("dropped_records_total", "pool=\"loud\",reason=\"rate\"");
    let dropped_bytes = ingress.metric("dropped_bytes_total", "pool=\"loud\",reason=\"rate\"");
    assert!(dropped > 0.0 && dropped < LINES as f64, "{dropped} were dropped");
    ingress.stop();
    let kept = pool_text(&folder, "loud");
    assert_eq!(kept.lines().count() as f64 + dropped, LINES as f64);
    assert_eq!(kept.len() as f64 + dropped_bytes, sent.len() as f64);
    let mut lines = sent.lines();
    assert!(kept.lines().all(|line| lines.any(|sent| sent == line)), "cut, or in another order");
}

#[test]
fn who_is_answered_waits_even_where_the_pool_drops() {
    let folder = Folder::new();
    let native = listener("native", "native", "");
    let limited = config("rate_limit_bytes_per_second = 1") + &native;
    let ingress = Ingress::start(&folder, &limited);
    let address = ingress.address("native").to_string();
    let sending = thread::spawn(move || {
        let client = Client::start(Settings::new(address, "loud")).unwrap();
        for line in text().lines() {
            while client.send(line.as_bytes()).is_err() {
                client.flush(Duration::from_secs(60)).unwrap();
            }
        }
        client.flush(Duration::from_secs(60)).unwrap();
    });
    ingress.wait_for("paced_reads_total", "\"native\"", 1.0);
    folder.write("ingest.toml", format!("status = \"127.0.0.1:0\"\n{}{native}", config("")));
    ingress.hang_up();
    sending.join().unwrap();
    assert_eq!(ingress.metric("dropped_records_total", ""), 0.0);
    assert!(ingress.stop().0.success());
    assert_eq!(pool_text(&folder, "loud").lines().count(), LINES);
}

#[test]
fn a_client_above_its_limit_waits_and_one_of_another_address_does_not() {
    let folder = Folder::new();
    let limited =
        listener("lines", "lines", "pool = \"web\"\nclient_rate_limit_bytes_per_second = 1");
    let ingress = Ingress::start(&folder, &format!("{FILER}{limited}"));
    let mut loud = ingress.connect("lines");
    // So much is above the limit for a quarter of an hour.
    let one = "one".repeat(300);
    loud.write_all(format!("{one}\ntwo\n").as_bytes()).unwrap();
    ingress.wait_for("received_records_total", "", 2.0);
    // The limit is that of the address: another connection from there is no way around it, even
    // when the first one is gone.
    loud.write_all(b"three\n").unwrap();
    ingress.wait_for("paced_reads_total", "\"lines\"", 1.0);
    let mut second = ingress.connect("lines");
    second.write_all(b"four\n").unwrap();
    send_from("127.0.0.2", ingress.address("lines"), "five\n");
    ingress.wait_for("received_records_total", "", 3.0);
    assert_eq!(ingress.metric("received_records_total", ""), 3.0, "the others wait");
    assert_eq!(ingress.metric("dropped_records_total", ""), 0.0);
    // What waits is read when the ingress stops.
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "web");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["five", "four", &one, "three", "two"]);
}

/// Sends this from an address of this machine that is not the usual one.
fn send_from(from: &str, to: SocketAddr, text: &str) {
    let script = "import socket, sys\nto, own = ('127.0.0.1', int(sys.argv[2])), (sys.argv[1], 0)\n\
                  socket.create_connection(to, source_address=own).sendall(sys.argv[3].encode())";
    let port = to.port().to_string();
    let status = Command::new("python3").args(["-c", script, from, &port, text]).status();
    assert!(status.unwrap().success());
}

#[test]
fn limits_that_mean_nothing_are_refused_with_their_line() {
    let folder = Folder::new();
    let udp = "transport = \"udp\"\npool = \"web\"\nclient_rate_limit_bytes_per_second = 9";
    for (config, said) in [
        (config("rate_limit_bytes_per_second = 0"), "a limit of 0 takes nothing"),
        (format!("{FILER}{}", listener("udp", "lines", udp)), "limit the pool"),
    ] {
        let file = folder.write("wrong.toml", config);
        cinch(["ingest", "--config", &file]).run().refused(2, &[said]);
    }
}
