//! `cinch ingest` and `cinch logs`: what clients send is there to the byte, is counted, and what
//! one client does is nothing to another.
//!
//! Messages are made here from the description of the protocols. The captured connection of a real
//! CAL client is used where it lies; a test says so where it does not.

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::process::Command;

use cinch_integration::{
    FILER, Folder, Ingress, cinch, gzip, listener, logs, noise, pool_listener, pool_text,
};

/// One connection of a real client, byte for byte.
const CAPTURED: &str = "/work/shared/data/cal/cal-client-session.bin";

fn cal() -> String {
    format!("{FILER}{}", listener("cal", "cal", ""))
}

fn message(thread: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in [thread, 1_795_175_478, body.len() as u32] {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    bytes.extend_from_slice(body);
    bytes
}

fn label(pool: &str, host: &str) -> Vec<u8> {
    let text = format!(
        "SQLLog for {pool}:{host}\r\nEnvironment: test\r\nLabel: {pool}-1-1\r\n\
         Start: 2026-11-20 11:51:18\r\n\r\n"
    );
    message(0, text.as_bytes())
}

/// A connection as a client makes it: every class, an empty line before a root transaction, data
/// with TABs and newlines, a body of one line end, and one without.
fn session(pool: &str, host: &str, rounds: u32) -> Vec<u8> {
    let mut bytes = label(pool, host);
    for round in 0..rounds {
        let bodies: [&[u8]; 7] = [
            b"\r\nt11:51:18.67\tURL\tSearch\r\n",
            b"A11:51:18.67\tEXEC\tSQL\t0\t69.0\trows=266\r\n",
            b"E11:51:18.67\tVID\tvid_1\t0\tvid=42&n=1&ua=a = \tb\r\n",
            b"\r\n",
            b"E11:51:18.67\tTRACE\tstack\t0\tone\r\ntwo\r\nthree\r\n",
            b"H11:51:18.67\tHEARTBEAT\tcpu\t0\tload=7",
            b"T11:51:18.68\tURL\tSearch\t2.CART.SYS.5\t288.0\tuser=1\r\n",
        ];
        for body in bodies {
            bytes.extend_from_slice(&message(round / 3, body));
        }
    }
    bytes
}

/// The closed files of a pool, in order.
fn files(folder: &Folder, pool: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.path().join("logs").join(pool)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_connection_is_read_back_to_the_byte_however_it_was_cut() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &cal());
    let sessions: Vec<Vec<u8>> =
        (0..3).map(|number| session(&format!("pool{number}"), "h", 50)).collect();
    for (sent, piece) in sessions.iter().zip([1, 13, 5_000]) {
        let mut stream = ingress.connect("cal");
        stream.set_nodelay(true).unwrap();
        sent.chunks(piece).for_each(|piece| stream.write_all(piece).unwrap());
    }
    ingress.wait_for("connections_accepted_total", "", 3.0);
    let (status, said) = ingress.stop();
    assert!(status.success(), "{said:?}");
    assert!(said.last().unwrap().contains("wrote 1053, dropped 0"), "{said:?}");
    for (number, sent) in sessions.iter().enumerate() {
        let pool = format!("pool{number}");
        assert_eq!(&logs(&folder, &["--pool", &pool, "--wire"]), sent, "{pool} came back changed");
    }
}

#[test]
fn a_captured_connection_of_a_real_client_is_read_back_to_the_byte() {
    let Ok(sent) = fs::read(CAPTURED) else {
        println!("{CAPTURED} is not here: nothing was tested");
        return;
    };
    let folder = Folder::new();
    let rules = "
[[metric]]
name = \"vid\"
class = \"E\"
type = \"VID\"
key = [\"pool\"]
";
    let metrics = fs::File::create(folder.at("metrics")).unwrap();
    let ingress = Ingress::start_with(&folder, &format!("{}{rules}", cal()), metrics.into());
    ingress.connect("cal").write_all(&sent).unwrap();
    ingress.wait_for("written_records_total", "", 2_943.0);
    ingress.wait_for("connections_open", "", 0.0);
    assert!(ingress.stop().0.success());
    assert_eq!(logs(&folder, &["--pool", "cartsvc", "--wire"]), sent);

    let text = logs(&folder, &["--pool", "cartsvc"]);
    let vids = text
        .split(|&byte| byte == b'\n')
        .filter(|line| line.starts_with(b"E") && line[12..].starts_with(b"\tVID\t"));
    let windows = folder.read_text("metrics");
    let counted: u64 = windows
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| line["count"].as_u64().unwrap())
        .sum();
    assert_eq!(counted, vids.count() as u64, "{windows}");
}

#[test]
fn the_stock_zstd_reads_the_files() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &cal());
    ingress.connect("cal").write_all(&session("web", "h", 2_000)).unwrap();
    ingress.wait_for("written_records_total", "", 14_001.0);
    assert!(ingress.stop().0.success());
    let files = files(&folder, "web");
    let ran = Command::new("zstd").arg("-dc").args(&files).output().expect("zstd is installed");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(ran.stdout, logs(&folder, &["--pool", "web"]));
}

#[test]
fn a_client_that_sends_nonsense_is_closed_and_nobody_else_is() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &cal());
    let sent = session("web", "h", 100);
    let mut good = ingress.connect("cal");
    good.write_all(&sent[..1_000]).unwrap();
    let mut absurd = label("web", "bad");
    absurd.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]);
    let hostile: [&[u8]; 4] = [b"GET / HTTP/1.1\r\n\r\n", &[0; 64], &[0xFF; 1_000], &absurd];
    for bytes in hostile {
        let mut bad = ingress.connect("cal");
        // It may be closed before all of it was sent.
        let _sent = bad.write_all(bytes);
        let mut answer = Vec::new();
        // A close with unread bytes is a reset.
        let _read = bad.read_to_end(&mut answer);
        assert!(answer.is_empty(), "the server never answers");
    }
    assert_eq!(ingress.metric("connections_refused_total", ""), 4.0);
    good.write_all(&sent[1_000..]).unwrap();
    drop(good);
    ingress.wait_for("written_records_total", "", 702.0);
    assert!(ingress.stop().0.success());
    let all = logs(&folder, &["--pool", "web", "--json"]);
    let of_bad = String::from_utf8(all).unwrap();
    assert!(of_bad.contains("\"host\":\"bad\""), "what was whole before the nonsense is kept");
    assert_eq!(logs(&folder, &["--pool", "web", "--wire", "--connection", "0"]), sent);
}

#[test]
fn a_pool_whose_name_is_a_path_stays_in_the_folder() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &cal());
    let sent = session("../../etc/cron.d/x", "h", 3);
    ingress.connect("cal").write_all(&sent).unwrap();
    ingress.wait_for("written_records_total", "", 22.0);
    assert!(ingress.stop().0.success());
    assert_eq!(logs(&folder, &["--pool", "../../etc/cron.d/x", "--wire"]), sent);
    let entries: Vec<_> = fs::read_dir(folder.at("logs")).unwrap().collect();
    assert_eq!(entries.len(), 1);
}

#[test]
fn lines_are_kept_with_their_ends_and_the_last_one_needs_none() {
    let folder = Folder::new();
    let lines = pool_listener("lines", "lines", "web");
    let lengths = pool_listener("lengths", "length-prefixed", "binary");
    let ingress = Ingress::start(&folder, &format!("{FILER}{lines}{lengths}"));
    let sent = b"one\r\ntwo\n\nfour \xFF\x00\nlast";
    ingress.connect("lines").write_all(sent).unwrap();
    ingress.wait_for("written_records_total", "web", 5.0);
    let prefixed = b"\0\0\0\x03one\0\0\0\0\0\0\0\x09two\nlines";
    ingress.connect("lengths").write_all(prefixed).unwrap();
    ingress.wait_for("written_records_total", "binary", 3.0);
    assert!(ingress.stop().0.success());
    assert_eq!(logs(&folder, &["--pool", "web", "--wire"]), sent);
    assert_eq!(logs(&folder, &["--pool", "binary", "--wire"]), prefixed);
    assert_eq!(logs(&folder, &["--pool", "web", "--grep", "^t"]), b"two\n");
}

#[test]
fn the_system_logger_delivers_in_both_framings() {
    let folder = Folder::new();
    let syslog = pool_listener("syslog", "syslog", "system");
    let ingress = Ingress::start(&folder, &format!("{FILER}{syslog}"));
    let port = ingress.address("syslog").port().to_string();
    for (framing, format) in [("--octet-count", "--rfc5424"), ("--no-act", "--rfc3164")] {
        let mut logger = Command::new("logger");
        logger.args(["--tcp", "--server", "127.0.0.1", "--port", &port, format, "--tag", "test"]);
        if framing != "--no-act" {
            logger.arg(framing);
        }
        let status = logger.arg(format!("hello in {format}")).status().expect("logger is there");
        assert!(status.success());
    }
    ingress.wait_for("written_records_total", "system", 2.0);
    assert!(ingress.stop().0.success());
    let text = pool_text(&folder, "system");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("hello in --rfc5424") && text.contains("hello in --rfc3164"), "{text}");
}

#[test]
fn a_million_messages_of_a_load_are_counted_and_there() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &cal());
    let address = ingress.address("cal").to_string();
    let load = ["ingest", "load", &address, "--connections", "50", "--rate", "30000000"];
    let ran = cinch(load).and(["--seconds", "4", "--deadline-ms", "60000", "--json"]).run();
    let result = ran.quiet().json();
    assert_eq!(result["disconnects"], 0, "{result}");
    let sent = result["sent_messages"].as_u64().unwrap() + 50;
    assert!(sent > 1_000_000, "{result}");
    ingress.wait_for("written_records_total", "load", sent as f64);
    let (status, said) = ingress.stop();
    assert!(status.success(), "{said:?}");
    let text = logs(&folder, &["--pool", "load"]);
    // Each record is one line, but for the labels, which have five.
    let lines = text.iter().filter(|&&byte| byte == b'\n').count() as u64;
    assert_eq!(lines, sent + 4 * 50);
    let wire = logs(&folder, &["--pool", "load", "--wire"]);
    let labels: u64 = 50 * label("load", "host0").len() as u64;
    let wire_bytes = wire.len() as u64;
    let sent_bytes = result["sent_bytes"].as_u64().unwrap();
    assert!(wire_bytes > sent_bytes && wire_bytes < sent_bytes + 2 * labels, "{wire_bytes}");
}

#[test]
fn logs_can_be_followed_while_they_are_written() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &cal());
    let mut stream = ingress.connect("cal");
    stream.write_all(&label("web", "h")).unwrap();
    ingress.wait_for("written_records_total", "web", 1.0);
    let directory = folder.at("logs");
    let arguments = ["logs", "--directory", &directory, "--pool", "web", "--follow"];
    let mut command = cinch(arguments).command();
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut first = [0; 10];
    out.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"SQLLog for");
    stream.write_all(&message(1, b"E11:51:18.67\tNEWS\tn\t0\tlater\r\n")).unwrap();
    let (mut found, mut byte) = (first.to_vec(), [0]);
    while !found.ends_with(b"later\r\n") {
        out.read_exact(&mut byte).unwrap();
        found.extend_from_slice(&byte);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    stream.shutdown(Shutdown::Both).unwrap();
}

#[test]
fn what_is_wrong_in_a_configuration_is_told_with_its_line() {
    let folder = Folder::new();
    let cases: [(&str, &[&str]); 6] = [
        ("[sink.a]\nkind = \"filer\"\n", &["ingest.toml:1", "directory"]),
        ("[sink.a]\nkind = \"stdout\"\n", &["ingest.toml", "[[listener]]"]),
        ("memory = \"1MiB\"\n[sink.a]\nkind = \"stdout\"\n", &["ingest.toml:1", "at least 16 MiB"]),
        ("[sink.a]\nkind = \"stdout\"\n[pool.default]\nwhen_slow = \"wait\"\n", &["ingest.toml:4"]),
        (
            "[sink.a]\nkind = \"stdout\"\n[[listener]]\nprotocol = \"lines\"\n\
             address = \"[::]:0\"\n",
            &["ingest.toml:4", "pool"],
        ),
        ("[sink.a]\nkind = \"stdout\"\nsize = 3\n", &["ingest.toml:3", "size"]),
    ];
    for (text, words) in cases {
        let file = folder.write("ingest.toml", text);
        cinch(["ingest", "--config", &file]).run().refused(2, words);
    }
    cinch(["ingest", "--config", &folder.at("nothing")]).run().refused(1, &["nothing"]);
}

/// Every protocol on a port of its own, and plain lines for somebody who behaves.
fn all() -> String {
    let mut config = FILER.to_owned() + &pool_listener("good", "lines", "good") + &cal_and_native();
    for (name, protocol) in [
        ("syslog", "syslog"),
        ("lengths", "length-prefixed"),
        ("forward", "forward"),
        ("http", "http"),
    ] {
        config += &pool_listener(name, protocol, "other");
    }
    config + &listener("packed", "lines", "compression = \"gzip\"\npool = \"packed\"")
}

/// Those whose clients name their pool.
fn cal_and_native() -> String {
    listener("cal", "cal", "") + &listener("native", "native", "")
}

#[test]
fn noise_at_every_listener_harms_nobody_else() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &all());
    let mut good = ingress.connect("good");
    let noise = noise(200_000);
    let names = ["cal", "native", "syslog", "lengths", "forward", "http", "packed"];
    // What a protocol begins with lets the noise behind it get further.
    let label = label("web", "h");
    let starts: [&[u8]; 7] = [
        b"",
        &label,
        b"H\0\0\0\0\0\0\x22",
        b"\x93\xa3app\xdd",
        b"POST /v1/logs HTTP/1.1\r\nContent-Length: 900\r\n\r\n",
        b"1234 <13>1 ",
        b"\x1F\x8B\x08\0\0\0\0\0\0\x03",
    ];
    for (number, piece) in noise.chunks(1_000).enumerate() {
        let mut stream = ingress.connect(names[number % names.len()]);
        // It may be closed before all of it was sent.
        let _sent = stream.write_all(starts[number / names.len() % starts.len()]);
        let _sent = stream.write_all(piece);
        good.write_all(format!("line {number}\n").as_bytes()).unwrap();
    }
    drop(good);
    ingress.wait_for("written_records_total", "\"good\"", 200.0);
    let (_, said) = ingress.stop();
    assert!(said.last().unwrap().contains("dropped 0"), "{said:?}");
    let expected: String = (0..200).map(|number| format!("line {number}\n")).collect();
    assert_eq!(logs(&folder, &["--pool", "good"]), expected.into_bytes());
}

#[test]
fn compressed_lines_are_kept_as_what_they_stand_for_and_a_bomb_takes_no_memory() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &all());
    let lines: String = (0..5_000).map(|number| format!("line {number}\n")).collect();
    ingress.connect("packed").write_all(&gzip(lines.as_bytes())).unwrap();
    ingress.wait_for("written_records_total", "\"packed\"", 5_000.0);
    assert_eq!(logs(&folder, &["--pool", "packed"]), lines.as_bytes());
    // A hundred megabytes without a newline, in a hundred kilobytes.
    let bomb = gzip(&vec![b'x'; 100 << 20]);
    ingress.connect("packed").write_all(&bomb).unwrap();
    ingress.wait_for("received_bytes_total", "\"packed\"", (100 << 20) as f64);
    let resident = ingress.resident_bytes();
    assert!(resident < (256 + 64) << 20, "{} MiB", resident >> 20);
    assert!(ingress.stop().0.success());
}
