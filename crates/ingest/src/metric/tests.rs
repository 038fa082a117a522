//! Rules count what they say they count, for CAL and for lines, and a flood of keys stays bounded:
//! keys are the text of clients.

use std::sync::Arc;

use super::*;

fn rules(text: &str) -> (Rules, Arc<Windows>) {
    #[derive(Deserialize)]
    struct Sections {
        metric: Vec<MetricSection>,
    }
    let sections: Sections = toml::from_str(text).unwrap();
    let rules: Arc<[MetricRule]> =
        sections.metric.into_iter().map(|section| section.validate().unwrap()).collect();
    let windows = Arc::new(Windows::new(Arc::clone(&rules)));
    (Rules::new(rules, Arc::clone(&windows)), windows)
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
    assert_eq!(windows.take(21), [], "workers may still have some");
    assert_eq!(windows.take(22).len(), 1);
    rules.finish();
    assert_eq!(counted(&windows), [(20, key(&[""]), 2, 0.0)]);
}
