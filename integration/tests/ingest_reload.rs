//! A configuration that changes while the ingress runs: what can change does, what can't is
//! refused with a line, and a mistake leaves the last good one.

use std::io::Write;

use cinch_integration::{Folder, Ingress};

const CONFIG: &str = "
[sink.files]
kind = \"filer\"
directory = \"logs\"
[pool.default]
linger_ms = 60000
[[listener]]
name = \"lines\"
protocol = \"lines\"
address = \"127.0.0.1:0\"
pool = \"web\"
";

/// Puts another configuration where the first one was, with the same address of the status page.
fn write(folder: &Folder, config: &str) {
    folder.write("ingest.toml", format!("status = \"127.0.0.1:0\"\n{config}"));
}

#[test]
fn a_change_of_the_file_is_taken_within_seconds() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, CONFIG);
    let mut stream = ingress.connect("lines");
    stream.write_all(b"one\n").unwrap();
    ingress.wait_for("received_records_total", "", 1.0);
    assert_eq!(ingress.metric("configuration_generation", ""), 1.0);
    // The batch would wait for a minute.
    let rule = "[[metric]]\nname = \"all\"\nwindow_s = 1\n";
    write(&folder, &(CONFIG.replace("60000", "10") + rule));
    ingress.wait_for("configuration_generation", "", 2.0);
    ingress.wait_for("written_records_total", "", 1.0);
    stream.write_all(b"two\nthree\n").unwrap();
    ingress.wait_for("window_count", "\"all\"", 2.0);
    assert!(ingress.stop().0.success());
}

#[test]
fn mistakes_and_what_can_not_change_are_told_and_the_last_good_one_stays() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, CONFIG);
    write(&folder, &CONFIG.replace("linger_ms", "linger_days"));
    ingress.wait_for("configurations_refused_total", "", 1.0);
    write(&folder, &CONFIG.replace("pool = \"web\"", "pool = \"shop\""));
    ingress.wait_for("configurations_refused_total", "", 2.0);
    write(&folder, &CONFIG.replace("\"logs\"", "\"elsewhere\""));
    ingress.hang_up();
    ingress.wait_for("configurations_refused_total", "", 3.0);
    assert_eq!(ingress.metric("configuration_generation", ""), 1.0);
    // SIGHUP does not wait for the next look.
    write(&folder, &CONFIG.replace("60000", "10"));
    ingress.hang_up();
    ingress.wait_for("configuration_generation", "", 2.0);
    ingress.connect("lines").write_all(b"one\n").unwrap();
    ingress.wait_for("written_records_total", "", 1.0);
    let (status, said) = ingress.stop();
    assert!(status.success(), "{said:?}");
    let told = |text: &str| said.iter().filter(|line| line.contains(text)).count();
    assert_eq!(told("linger_days"), 1, "{said:?}");
    assert_eq!(told("[[listener]] can't change while it runs"), 1, "{said:?}");
    assert!(told("[sink] can't change while it runs") >= 1, "{said:?}");
    assert_eq!(told("configuration 2 holds"), 1, "{said:?}");
}
