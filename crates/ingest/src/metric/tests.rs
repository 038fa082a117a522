//! Rules count what they say they count, for CAL and for lines, and a flood of keys stays bounded:
//! keys are the text of clients.

use std::sync::Arc;

use super::*;
use crate::limits::METRIC_KEY_BYTES_MAX;

fn rules(text: &str) -> (Rules, Arc<Windows>) {
    #[derive(Deserialize)]
    struct Sections {
        metric: Vec<MetricSection>,
    }
    let sections: Sections = toml::from_str(text).unwrap();
    let rules = sections.metric.into_iter().map(|section| Arc::new(section.validate().unwrap()));
    let windows = Arc::new(Windows::new(rules.collect()));
    (Rules::new(Arc::clone(&windows)), windows)
}

fn counted(windows: &Windows) -> Vec<(u64, Vec<String>, u64, f64)> {
    let lines = windows.take(u64::MAX).into_iter();
    lines.map(|line| (line.start_s, line.key, line.sums.count, line.sums.sum)).collect()
}

fn key(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

#[test]
fn records_of_cal_are_counted_by_their_fields() {
    let (mut rules, windows) = rules(
        "[[metric]]
        name = \"vid\"
        class = \"E\"
        type = \"VID\"
        key = [\"pool\", \"name\", \"data.vid\"]
        value = \"data.n\"
        [[metric]]
        name = \"slow\"
        class = \"AT\"
        key = [\"host\", \"status\"]
        value = \"duration_ms\"",
    );
    rules.at(100);
    let bodies: [&[u8]; 5] = [
        b"E11:51:18.67\tVID\tvid_1\t0\tvid=42&n=3\r\n",
        b"E11:51:18.67\tVID\tvid_1\t0\tvid=42&n=4\r\n",
        b"E11:51:18.67\tOTHER\tvid_1\t0\tvid=42&n=9\r\n",
        b"\r\nt11:51:18.67\tURL\tSearch\r\n",
        b"T11:51:18.67\tURL\tSearch\t2.CART.SYS.5\t288.5\tuser=1\r\n",
    ];
    bodies.iter().for_each(|body| rules.cal("web", "h1", body));
    rules.finish();
    assert_eq!(
        counted(&windows),
        [
            (100, key(&["web", "vid_1", "42"]), 2, 7.0),
            (100, key(&["h1", "2.CART.SYS.5"]), 1, 288.5),
        ]
    );
}

#[test]
fn lines_are_counted_by_what_they_hold() {
    let (mut rules, windows) = rules(
        "[[metric]]
        name = \"errors\"
        contains = \"ERROR\"
        matches = \"code=([0-9]+) took=([0-9.]+)\"
        key = [\"1\"]
        value = \"2\"
        [[metric]]
        name = \"json\"
        contains = \"{\"
        key = [\"json.level\"]",
    );
    rules.at(5);
    let block = b"INFO code=1 took=5\nERROR code=7 took=2.5\r\nERROR code=7 took=1\n\
                  {\"level\":\"warn\"}\nERROR none\n";
    rules.lines("web", "", block);
    rules.finish();
    assert_eq!(counted(&windows), [(0, key(&["7"]), 2, 3.5), (0, key(&["warn"]), 1, 0.0)]);
}

#[test]
fn a_flood_of_keys_is_counted_under_one() {
    let (mut rules, windows) = rules(
        "[[metric]]
        name = \"all\"
        keys_max = 10
        matches = \"(.*)\"
        key = [\"1\"]",
    );
    rules.at(5);
    (0..1_000).for_each(|number| rules.lines("web", "", format!("{number}\n").as_bytes()));
    rules.finish();
    let counted = counted(&windows);
    assert_eq!(counted.len(), 11);
    assert_eq!(counted[0], (0, key(&[OTHER_KEYS]), 990, 0.0));
}

#[test]
fn windows_leave_when_they_are_over_and_not_before() {
    let (mut rules, windows) = rules("[[metric]]\nname = \"all\"\nwindow_s = 10");
    rules.at(19);
    rules.lines("web", "", b"one\n");
    rules.at(20);
    rules.lines("web", "", b"two\nthree\n");
    assert!(windows.take(21).is_empty(), "workers may still have some");
    assert_eq!(windows.take(22).len(), 1);
    rules.finish();
    assert_eq!(counted(&windows), [(20, key(&[""]), 2, 0.0)]);
}

#[test]
fn the_largest_keys_leave_and_the_rest_is_one_line() {
    let (mut rules, windows) = rules(
        "[[metric]]
        name = \"all\"
        top = 2
        matches = \"(.) (.)\"
        key = [\"1\"]
        value = \"2\"",
    );
    rules.at(5);
    rules.lines("web", "", b"a 1\nb 1\nb 1\nc 5\nc 5\nc 5\nd 7\n");
    rules.finish();
    let expected =
        [(0, key(&["c"]), 3, 15.0), (0, key(&["b"]), 2, 2.0), (0, key(&[OTHER_KEYS]), 2, 8.0)];
    assert_eq!(counted(&windows), expected);
}

#[test]
fn the_cap_of_keys_holds_for_all_workers_together() {
    let text = "[[metric]]
        name = \"all\"
        keys_max = 10
        matches = \"(.*)\"
        key = [\"1\"]";
    let (mut first, windows) = rules(text);
    let mut second = Rules::new(Arc::clone(&windows));
    for (worker, start) in [(&mut first, 0), (&mut second, 100)] {
        worker.at(5);
        (start..start + 100).for_each(|n| worker.lines("web", "", format!("{n}\n").as_bytes()));
        let long = "x".repeat(METRIC_KEY_BYTES_MAX + 1);
        worker.lines("web", "", long.as_bytes());
        worker.finish();
    }
    let counted = counted(&windows);
    assert_eq!(counted.len(), 11);
    assert_eq!(counted.iter().map(|line| line.2).sum::<u64>(), 202);
}

#[test]
fn quantiles_are_within_a_hundredth_whichever_worker_saw_the_values() {
    let text = "[[metric]]
        name = \"all\"
        matches = \"(.*)\"
        value = \"1\"
        quantiles = [0.5, 0.99, 1]";
    let (mut first, windows) = rules(text);
    let mut second = Rules::new(Arc::clone(&windows));
    for n in 1..=1_000 {
        let worker = if n % 3 == 0 { &mut first } else { &mut second };
        worker.at(5);
        worker.lines("web", "", format!("{n}\n").as_bytes());
    }
    first.finish();
    second.finish();
    let sums = windows.take(u64::MAX).remove(0).sums;
    for (share, value) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1_000.0)] {
        let found = sums.quantile(share).unwrap();
        assert!((found - value).abs() <= value * 0.011, "{share}: {found} for {value}");
    }
}

#[test]
fn a_rule_that_a_reload_keeps_goes_on_and_one_that_is_gone_leaves_what_it_had() {
    let (mut worker, windows) = rules(
        "[[metric]]
        name = \"kept\"
        [[metric]]
        name = \"gone\"",
    );
    worker.at(5);
    worker.lines("web", "", b"one\n");
    let kept = Arc::clone(&windows.rules()[0]);
    windows.reload(Arc::new([kept]));
    worker.at(6);
    worker.lines("web", "", b"two\nthree\n");
    worker.finish();
    let mut left: Vec<(String, u64)> = windows
        .take(u64::MAX)
        .into_iter()
        .map(|line| (line.rule.name.clone(), line.sums.count))
        .collect();
    left.sort();
    assert_eq!(left, [("gone".to_owned(), 1), ("kept".to_owned(), 3)]);
}
