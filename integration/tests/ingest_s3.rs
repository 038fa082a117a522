//! The sink that writes objects, against a server that speaks S3: objects are whole files, also
//! after an outage and a kill, and what was acknowledged is in them.

use std::fs;
use std::io::Write;
use std::time::Duration;

use cinch_ingest_client::{Client, Settings};
use cinch_integration::{BUCKET, Folder, Ingress, Moto, cinch, closed_port};

/// How long a test waits for what should come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client that waits until what it sent is written, in batches of a few records.
fn client(ingress: &Ingress, pool: &str) -> Client {
    let mut settings = Settings::new(ingress.address("native").to_string(), pool);
    (settings.linger, settings.batch_bytes) = (Duration::from_millis(1), 64);
    Client::start(settings).unwrap()
}

fn config(endpoint: &str, more: &str) -> String {
    format!(
        "memory = \"32MiB\"
[sink.objects]
kind = \"s3\"
bucket = \"{BUCKET}\"
prefix = \"cinch\"
region = \"us-east-1\"
endpoint = \"{endpoint}\"
object = \"256KiB\"
object_s = 1
[[listener]]
name = \"lines\"
protocol = \"lines\"
address = \"127.0.0.1:0\"
pool = \"web/1\"
[[listener]]
name = \"native\"
protocol = \"native\"
address = \"127.0.0.1:0\"
{more}"
    )
}

/// The environment is where AWS' own tools take credentials from.
fn start(folder: &Folder, config: &str) -> Ingress {
    let credentials = [("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")];
    Ingress::start_in(folder, config, &credentials)
}

/// Lays the objects out as the files that they are, and reads them as such.
#[track_caller]
fn read_back(moto: &Moto, pool: &str) -> Vec<u8> {
    let folder = Folder::new();
    for name in moto.names() {
        let rest = name.strip_prefix("cinch/").expect("all names start with the prefix");
        assert!(rest.ends_with(".zst"), "{name}");
        let path = folder.path().join(rest);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, moto.object(&name)).unwrap();
    }
    let directory = folder.path().to_str().unwrap();
    // It would say so, and end with another status, if a file were torn.
    cinch(["logs", "--directory", directory, "--pool", pool]).run().quiet().out
}

fn lines(count: usize) -> Vec<u8> {
    let noise = cinch_integration::noise(count * 20);
    let hex = |piece: &[u8]| piece.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let line = |(number, piece): (usize, &[u8])| format!("{number} {}\n", hex(piece)).into_bytes();
    noise.chunks_exact(20).enumerate().flat_map(line).collect()
}

#[test]
fn objects_are_whole_files_by_pool_and_hour() {
    let (moto, folder) = (Moto::start(), Folder::new());
    let ingress = start(&folder, &config(&moto.endpoint(), ""));
    let sent = lines(40_000);
    ingress.connect("lines").write_all(&sent).unwrap();
    let client = client(&ingress, "other");
    client.send(b"one").unwrap();
    // A batch is acknowledged when its object is there.
    client.flush(PATIENCE).unwrap();
    assert_eq!(read_back(&moto, "other"), b"one\n");
    ingress.wait_for("written_records_total", "", 40_001.0);
    assert!(ingress.stop().0.success());
    assert!(read_back(&moto, "web/1") == sent, "lines are missing, changed or in another order");
    let names = moto.names();
    assert!(names.len() > 3, "{names:?}");
    let parts: Vec<&str> = names[names.len() - 1].split('/').collect();
    let [prefix, pool, day, hour, _] = parts[..] else { panic!("{parts:?}") };
    assert_eq!((prefix, pool, day.len(), hour.len()), ("cinch", "web%2F1", 10, 2));
}

#[test]
fn a_pool_that_spills_waits_for_the_store_and_loses_nothing() {
    let (port, folder) = (closed_port(), Folder::new());
    let spill = "
[spill]
directory = \"spill\"
[pool.default]
when_slow = \"spill\"
quota = \"512KiB\"
";
    let ingress = start(&folder, &config(&format!("http://127.0.0.1:{port}"), spill));
    let sent = lines(100_000);
    ingress.connect("lines").write_all(&sent).unwrap();
    ingress.wait_for("received_records_total", "", 100_000.0);
    ingress.wait_for("spilled_batches_total", "", 1.0);
    ingress.wait_for("write_failures_total", "\"objects\"", 1.0);
    let moto = Moto::start_on(port);
    ingress.wait_for("written_records_total", "", 100_000.0);
    assert_eq!(ingress.metric("dropped_records_total", ""), 0.0);
    assert!(ingress.stop().0.success());
    assert!(read_back(&moto, "web/1") == sent, "lines are missing, changed or in another order");
}

#[test]
fn what_was_acknowledged_is_in_whole_objects_after_a_kill() {
    let (moto, folder) = (Moto::start(), Folder::new());
    let ingress = start(&folder, &config(&moto.endpoint(), "[pool.default]\nlinger_ms = 5\n"));
    let client = client(&ingress, "web");
    let send = |number: u64| client.send(format!("record {number}").as_bytes()).unwrap();
    (1..=30).for_each(send);
    client.flush(PATIENCE).unwrap();
    (31..=60).for_each(send);
    // Acknowledgements come in order: these many from the first on have one.
    let acknowledged = client.counters().acknowledged_records;
    assert!(acknowledged >= 30);
    ingress.kill();
    let text = String::from_utf8(read_back(&moto, "web")).unwrap();
    for number in 1..=acknowledged {
        let record = format!("record {number}");
        assert!(text.lines().any(|line| line == record), "{record} was acknowledged and is gone");
    }
}

#[test]
fn an_end_while_the_store_is_gone_counts_what_it_drops() {
    let folder = Folder::new();
    let ingress = start(&folder, &config(&format!("http://127.0.0.1:{}", closed_port()), ""));
    ingress.connect("lines").write_all(&lines(100)).unwrap();
    ingress.wait_for("received_records_total", "", 100.0);
    let (status, said) = ingress.stop();
    assert_eq!(status.code(), Some(3), "{said:?}");
    assert!(said.last().unwrap().contains("wrote 0, dropped 100"), "{said:?}");
}
