//! A configuration says what it says, or what is wrong with it and where. Nobody should have to
//! guess which line of a page is meant.

use super::*;

const LEAST: &str = "
[sink.files]
kind = \"filer\"
directory = \"/logs\"
[[listener]]
protocol = \"cal\"
address = \"127.0.0.1:1118\"
";

fn wrong(text: &str) -> (usize, String) {
    match Config::parse("file", text) {
        Err(ConfigError::Line { line, message, .. }) => (line, message),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_said_has_a_default() {
    let config = Config::parse("file", LEAST).unwrap();
    assert_eq!(config.memory_bytes, 256 << 20);
    assert_eq!(config.listeners[0].name, "127.0.0.1:1118");
    let pool = config.pool("anything");
    assert_eq!((pool.batch_bytes, pool.when_slow), (160 << 10, WhenSlow::Drop));
    assert_eq!(pool.sink, "files");
}

#[test]
fn a_pool_has_what_the_default_pool_has_unless_it_says_otherwise() {
    let pools = "
[pool.default]
linger_ms = 7
level = 3
[pool.web]
when_slow = \"backpressure\"
linger_ms = 9
";
    let config = Config::parse("file", &format!("{LEAST}{pools}")).unwrap();
    assert_eq!((config.pool("web").linger_ms, config.pool("web").level), (9, 3));
    assert_eq!(config.pool("web").when_slow, WhenSlow::Backpressure);
    assert_eq!(config.pool("other").linger_ms, 7);
}

#[test]
fn sizes_are_numbers_or_have_a_unit() {
    for (text, bytes) in [("16777216", 16 << 20), ("\"32MiB\"", 32 << 20), ("\"1 GiB\"", 1 << 30)] {
        let config = Config::parse("file", &format!("memory = {text}\n{LEAST}")).unwrap();
        assert_eq!(config.memory_bytes, bytes);
    }
    for text in ["\"12MB\"", "\"\"", "-1", "\"99999999999TiB\"", "1.5"] {
        assert_eq!(wrong(&format!("memory = {text}\n{LEAST}")).0, 1, "{text}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let spill = format!("{LEAST}[pool.web]\nwhen_slow = \"spill\"\n");
    assert_eq!(wrong(&spill).0, 9);
    let sink = format!("{LEAST}[pool.web]\nsink = \"nowhere\"\n");
    let (line, message) = wrong(&sink);
    assert_eq!(line, 9);
    assert!(message.contains("files"), "{message}");
    let metric = format!("{LEAST}[[metric]]\nname = \"x\"\nmatches = \"(\"\n");
    assert_eq!(wrong(&metric).0, 8);
    let key = format!("{LEAST}[[metric]]\nname = \"x\"\nkey = [\"colour\"]\n");
    assert!(wrong(&key).1.contains("colour"));
    assert_eq!(wrong(&format!("{LEAST}pool = \"web\"\n")).0, 8);
    assert_eq!(wrong(&format!("speed = 3\n{LEAST}")).0, 1);
}
