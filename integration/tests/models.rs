//! `--link`, `--rate`, `--behind` and `--against`: what is asked for stands in the JSON and in
//! every report, hangs together, and a value that is none is refused in one line.
//!
//! Whether the formulas are right is tested beside them.

use cinch_integration::{Folder, cinch, evaluate, figure, small_carts, trial};
use serde_json::Value;

const QUICK: [&str; 4] = ["--codecs", "zstd:3,lz4:1", "--encodings", "verbatim"];

/// An evaluation of these carts with more arguments, its reports in the folder `report`.
fn reported(folder: &Folder, more: &[&str]) -> Value {
    let file = folder.write("carts.ndjson", small_carts(60, 1));
    let report = folder.at("report");
    evaluate(&[&[file.as_str(), "--report", &report], &QUICK[..], more].concat())
}

/// Checks that both reports that people read hold each of these words.
#[track_caller]
fn reports_say(folder: &Folder, words: &[&str]) {
    for report in ["report/index.html", "report/report.md"] {
        let text = folder.read_text(report);
        for word in words {
            assert!(text.contains(word), "{report} does not say {word:?}");
        }
    }
}

fn names(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

#[test]
fn nothing_is_modelled_unless_it_is_asked_for() {
    let folder = Folder::new();
    let found = reported(&folder, &[]);
    for model in ["link", "capacity", "against"] {
        assert!(found[model].is_null(), "{model}: {}", found[model]);
    }
    assert_eq!(found["behind"], Value::Array(Vec::new()));
    assert!(!folder.read_text("report/report.md").contains("Over the link"));
}

#[test]
fn a_link_is_in_the_json_and_in_the_report() {
    let folder = Folder::new();
    let found = reported(&folder, &["--link", "10Mbps,20ms,tls"]);
    let link = &found["link"];
    assert_eq!((figure(link, "bits_per_second"), figure(link, "round_trip_ns")), (1e7, 2e7));
    assert_eq!((&link["has_tls"], &link["is_warm"]), (&true.into(), &false.into()));
    let totals: Vec<f64> = link["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| figure(&trial["total_ns"], "mean"))
        .collect();
    assert!(totals.len() >= 4 && totals.is_sorted(), "{totals:?}");
    for over in link["trials"].as_array().unwrap() {
        let (wire, total) = (figure(&over["wire_ns"], "mean"), figure(&over["total_ns"], "mean"));
        // Two round trips of handshakes, half a one for the data, and packing.
        assert!(5e7 < wire && wire < total, "{over}");
    }
    reports_say(&folder, &["Over the link", "10Mbps,20ms,tls", "verbatim+lz4:1"]);
}

#[test]
fn a_rate_and_a_disk_are_in_the_json_and_in_the_report() {
    let folder = Folder::new();
    let arguments = ["--rate", "1M/day", "--disk", "1TB", "--overhead", "40%"];
    let more = ["--growth", "10%/month", "--price", "0.10/GB"];
    let found = reported(&folder, &[arguments.as_slice(), &more].concat());
    let capacity = &found["capacity"];
    assert_eq!(figure(capacity, "payloads_per_day"), 1e6);
    assert_eq!((figure(capacity, "disk_bytes"), figure(capacity, "overhead_share")), (1e12, 0.4));
    let rows = capacity["rows"].as_array().unwrap();
    assert_eq!((&rows[0]["role"], &rows[0]["name"]), (&"now".into(), &"verbatim+stored".into()));
    let recommended = rows.iter().find(|row| row["role"] == "recommended").unwrap();
    assert_eq!(recommended["name"], found["recommended"]["name"]);
    assert!(figure(recommended, "days_gross") > figure(&rows[0], "days_gross"));
    assert!(figure(recommended, "price_of_year") < figure(&rows[0], "price_of_year"));
    for row in rows {
        assert!(figure(row, "days_net") < figure(row, "days_gross"), "{row}");
    }
    let mean = figure(&found["corpus"]["size"], "mean");
    assert!((figure(&rows[0], "payload_bytes") / mean - 1.0).abs() < 0.01, "plain is as it is");
    reports_say(&folder, &["Capacity", "verbatim+stored"]);
}

#[test]
fn stores_are_in_the_json_and_in_the_report_each_once() {
    let folder = Folder::new();
    let stores = ["--behind", "toast-pglz", "--behind", "http-gzip", "--behind", "toast-pglz"];
    let found = reported(&folder, &stores);
    assert_eq!(names(&found["behind"]), ["toast-pglz", "http-gzip"]);
    for store in found["behind"].as_array().unwrap() {
        let rows = &store["rows"];
        assert_eq!(figure(&rows[0], "network_gain"), 0.0, "doing nothing comes first");
        let names = names(rows);
        let recommended = found["recommended"]["name"].as_str().unwrap();
        assert!(names.contains(&recommended), "{recommended} is not among {names:?}");
        assert!(!store["verdict"].as_str().unwrap().is_empty());
    }
    reports_say(&folder, &["toast-pglz", "http-gzip", "Net gain"]);
}

#[test]
fn a_run_against_itself_keeps_its_profile() {
    let folder = Folder::new();
    // By size alone the same wins whatever else the machine does.
    let goal = ["--goal", "smallest"];
    let first = reported(&folder, &goal);
    let older = folder.write("older.json", serde_json::to_vec(&first).unwrap());
    let second = reported(&folder, &[&goal[..], &["--against", &older]].concat());
    let against = &second["against"];
    assert_eq!(against["decision"], "keep", "{against}");
    assert_eq!(against["recommended_then"], first["recommended"]["name"]);
    assert_eq!(against["recommended_now"], first["recommended"]["name"]);
    assert_eq!(
        (&against["drift"], &against["versions"]),
        (&Value::Array(vec![]), &Value::Array(vec![]))
    );
    for then_and_now in against["trials"].as_array().unwrap() {
        let change = then_and_now["change"].as_str().unwrap_or_default();
        assert!(!change.contains("larger") && !change.contains("smaller"), "{then_and_now}");
        let name = then_and_now["name"].as_str().unwrap();
        let is_timed = trial(&second, name)["stage"] != "sizes";
        assert!(is_timed || change.is_empty(), "{then_and_now} was not timed");
    }
    reports_say(&folder, &["Keep verbatim+zstd"]);
}

#[test]
fn another_goal_is_no_answer_to_whether_to_keep() {
    let folder = Folder::new();
    let older = serde_json::to_vec(&reported(&folder, &["--goal", "smallest"])).unwrap();
    let older = folder.write("older.json", older);
    let found = reported(&folder, &["--goal", "fastest", "--against", &older]);
    assert!(found["against"]["caveats"].to_string().contains("goal"), "{}", found["against"]);
}

#[test]
fn a_value_that_is_none_is_refused_in_one_line() {
    let refused = |arguments: &[&str], words: &[&str]| {
        cinch(["evaluate", "/no/such/source"]).and(arguments).run().refused(2, words);
    };
    refused(&["--link", "1Gbps"], &["1Gbps", "round trip", "1Gbps,150ms"]);
    refused(&["--link", "fast,150ms"], &["fast"]);
    refused(&["--link", "1Gbps,150ms,udp"], &["udp"]);
    let disk = ["--rate", "1M/day", "--disk", "1TB"];
    refused(&["--rate", "often", "--disk", "1TB"], &["often", "1M/day"]);
    refused(&["--rate", "1M/day", "--disk", "big"], &["big", "1TB"]);
    refused(&[&disk[..], &["--overhead", "100%"]].concat(), &["100%", "40%"]);
    refused(&[&disk[..], &["--growth", "10%/week"]].concat(), &["10%/week", "10%/month"]);
    refused(&[&disk[..], &["--price", "5"]].concat(), &["\"5\"", "0.10/GB"]);
    refused(&["--behind", "cassandra"], &["cassandra", "toast-pglz", "zstd-block"]);
    let ran = cinch(["evaluate", "--published", "netflix"]).run();
    ran.refused(2, &["netflix", "uber", "ebay", "doordash", "expedia"]);
    // What belongs together is said by the parser of arguments.
    cinch(["evaluate", "--rate", "1M/day"]).run().code(2).says(&["--disk"]);
    cinch(["evaluate", "--price", "1/GB"]).run().code(2).says(&["--rate"]);
    cinch(["evaluate", "--split-by", "size"]).run().code(2).says(&["group", "order", "none"]);
}

#[test]
fn an_older_run_that_is_none_is_refused_in_one_line() {
    let folder = Folder::new();
    let refused = |file: &str, words: &[&str]| {
        cinch(["evaluate", "--against", file]).run().refused(1, words);
    };
    refused(&folder.at("missing.json"), &["missing.json"]);
    refused(&folder.write("cart.json", "{\"a\":1}"), &["cart.json", "evaluate --json"]);
    refused(&folder.write("newer.json", "{\"format\":2,\"trials\":[{}]}"), &["newer.json", "2"]);
    refused(&folder.write("empty.json", ""), &["empty.json"]);
}
