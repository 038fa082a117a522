//! What ships in `deploy/` against the programs that will read it: a rule that does not parse, or
//! that never fires, is found on the night when it was needed.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;

use cinch_integration::{Folder, Ingress, repository};
use serde_json::Value;

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

/// Every expression of a dashboard, its variable replaced by what it stands for when all is chosen.
fn expressions(dashboard: &str) -> Vec<String> {
    let path = repository().join("deploy/grafana").join(dashboard);
    let text = std::fs::read_to_string(path).expect("the dashboard is there");
    let dashboard: Value = serde_json::from_str(&text).expect("a dashboard is JSON");
    let panels = dashboard["panels"].as_array().expect("it has panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().expect("targets"));
    let expressions = targets.map(|target| target["expr"].as_str().expect("an expression"));
    expressions.map(|text| text.replace("$pool", ".*")).collect()
}

#[test]
fn the_dashboard_of_the_ingress_asks_for_what_an_ingress_tells_and_prometheus_reads_it() {
    let expressions = expressions("cinch-ingest.json");
    let folder = Folder::new();
    let config = "
[spill]
directory = \"spill\"
[sink.files]
kind = \"filer\"
directory = \"logs\"
[[listener]]
name = \"lines\"
protocol = \"lines\"
address = \"127.0.0.1:0\"
pool = \"web\"
";
    let ingress = Ingress::start(&folder, config);
    ingress.connect("lines").write_all(b"one\n").unwrap();
    ingress.wait_for("written_records_total", "", 1.0);
    let (_, page) = ingress.page("/metrics");
    let told: BTreeSet<&str> =
        page.lines().filter_map(|line| line.split(['{', ' ']).next()).collect();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    for expression in &expressions {
        for word in expression.split(|letter| !is_letter(letter)) {
            let is_metric = word.starts_with("cinch_ingest_");
            assert!(!is_metric || told.contains(word), "nobody tells {word}: {expression}");
        }
    }
    assert!(ingress.stop().0.success());
    let rules: Vec<Value> = expressions
        .iter()
        .enumerate()
        .map(|(number, expression)| {
            serde_json::json!({"record": format!("panel_{number}"), "expr": expression})
        })
        .collect();
    // JSON is YAML.
    let groups = serde_json::json!({"groups": [{"name": "panels", "rules": rules}]});
    promtool(&["check", "rules", &folder.write("rules.yml", groups.to_string())]);
}
