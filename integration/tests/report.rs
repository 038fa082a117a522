//! The HTML report, as a browser shows it: everything is there, nothing is loaded from anywhere,
//! and the console stays empty.
//!
//! What its parts look like is tested where they are made; here Chromium opens the file.

use cinch_integration::{Folder, carts, chromium, cinch};
use serde_json::Value;

/// A folder with the report on some carts whose file has a name that would break careless HTML.
fn report() -> (Folder, Value) {
    let folder = Folder::new();
    let file = folder.write("<b>carts & \"menus\".ndjson", carts(80));
    let run = cinch(["evaluate", &file, "--time", "1s", "--report", &folder.at("report")]);
    run.run().quiet();
    let found = serde_json::from_slice(&folder.read("report/evaluation.json")).unwrap();
    (folder, found)
}

/// What the page wrote to the console, a line each.
fn console(log: &str) -> Vec<&str> {
    let is_page = |line: &&str| line.contains("CONSOLE") || line.contains("Refused to");
    log.lines().filter(is_page).collect()
}

#[test]
fn a_browser_opens_it_without_errors_and_shows_the_recommendation() {
    let (folder, found) = report();
    let page = format!("file://{}", folder.at("report/index.html"));
    let profile = folder.path().join("profile");
    let (dom, log) = chromium(&profile).and(&["--dump-dom", &page]).run("");
    assert_eq!(console(&log), Vec::<&str>::new());
    let recommended = found["recommended"]["name"].as_str().unwrap();
    assert!(dom.contains(recommended), "{recommended} is not on the page");
    for point in found["front"].as_array().unwrap() {
        assert!(dom.contains(point["name"].as_str().unwrap()), "{} is missing", point["name"]);
    }
    for reason in found["recommended"]["reasons"].as_array().unwrap() {
        let start = reason.as_str().unwrap().split(['<', '&', '"', '\'']).next().unwrap();
        assert!(dom.contains(start), "{reason} is missing");
    }
    assert!(dom.contains("&lt;b&gt;carts &amp; "), "the name of the file is escaped");
    assert!(!dom.contains("<b>carts"), "the name of the file became HTML");
}

#[test]
fn a_message_on_the_console_would_be_seen() {
    let folder = Folder::new();
    let page = folder.write("page.html", "<script>console.error('seen'); nothing.at.all</script>");
    let profile = folder.path().join("profile");
    let page = format!("file://{page}");
    let (_, log) = chromium(&profile).and(&["--dump-dom", &page]).run("");
    assert_eq!(console(&log).len(), 2, "{log}");
}

#[test]
fn it_can_be_photographed_in_light_and_dark_and_on_a_telephone() {
    let (folder, _) = report();
    let page = format!("file://{}", folder.at("report/index.html"));
    let profile = folder.path().join("profile");
    for (name, size, more) in [
        ("light.png", "1200,1600", "--disable-extensions"),
        ("dark.png", "1200,1600", "--force-dark-mode"),
        ("telephone.png", "500,1200", "--disable-extensions"),
    ] {
        let file = format!("--screenshot={}", folder.at(name));
        let size = format!("--window-size={size}");
        chromium(&profile).and(&[&file, &size, more, "--hide-scrollbars", &page]).run("");
        let picture = folder.read(name);
        assert!(picture.starts_with(b"\x89PNG"), "{name} is no picture");
        assert!(picture.len() > 20_000, "{name} has {} bytes: it is empty", picture.len());
    }
}

#[test]
fn it_needs_no_other_file_and_no_network() {
    let (folder, _) = report();
    let html = folder.read_text("report/index.html");
    for loading in ["src=\"http", "@import", "url(http", "fetch(", "XMLHttpRequest"] {
        assert!(!html.contains(loading), "the page has {loading}");
    }
    for link in html.split("<link").skip(1) {
        assert!(link.contains("href=\"data:"), "the page links {link:.60}");
    }
    assert!(html.contains("Content-Security-Policy") && html.contains("default-src 'none'"));
    // A namespace is a name and not an address; every link is for people to follow.
    let addresses = html.split("http").skip(1).filter(|rest| rest.starts_with([':', 's']));
    for address in addresses {
        let address: String = address.chars().take(60).collect();
        let is_name = address.starts_with("://www.w3.org/");
        assert!(is_name, "the page names http{address}");
    }
    let svg = folder.read_text("report/scatter.svg");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
}
