//! What ships in `deploy/` against the programs that will read it: a rule that does not parse, or
//! that never fires, is found on the night when it was needed.

use std::process::Command;

/// Runs promtool beside the rules and hands its words on where it is not content.
fn promtool(arguments: &[&str]) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/prometheus");
    let output = Command::new("promtool")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("promtool is installed by .ci/run");
    let words = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&words));
}

#[test]
fn prometheus_takes_the_alert_rules() {
    promtool(&["check", "rules", "cinch-alerts.yml"]);
}

#[test]
fn each_alert_fires_on_what_it_is_for_and_is_silent_otherwise() {
    promtool(&["test", "rules", "cinch-alerts-test.yml"]);
}
