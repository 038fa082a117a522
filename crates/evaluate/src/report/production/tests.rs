//! The page: that every call is a dot, that names of users can't break it, and that it loads and
//! runs nothing.

use std::collections::BTreeMap;

use cinch_rollout::metrics::{EXPORT_VERSION, Minute, Sample};

use super::*;

fn export(name: &str, calls: u64, minutes: u64) -> Export {
    let sample = |number: u64| Sample {
        kind: if number.is_multiple_of(2) { SampleKind::Write } else { SampleKind::Read },
        payload_bytes: 1_000 + number * 10,
        packed_bytes: 200 + number,
        time_ns: 5_000 + number,
    };
    let minute = |number: u64| Minute {
        minute: 29_000_000 + number,
        writes: 10,
        payload_bytes: 320_000,
        stored_bytes: if number < 5 { 320_000 } else { 50_000 },
    };
    let namespace = NamespaceExport {
        samples: (0..calls).map(sample).collect(),
        minutes: (0..minutes).map(minute).collect(),
    };
    let namespaces = BTreeMap::from([(name.to_owned(), namespace)]);
    Export { version: EXPORT_VERSION, processes: vec!["cart-1".to_owned()], namespaces }
}

fn dots(page: &str) -> usize {
    page.matches("class=\"dot f1\"").count()
}

#[test]
fn every_call_is_a_dot_up_to_the_bound() {
    // 50 writes are in two plots and 50 reads in one.
    assert_eq!(dots(&page(&export("carts", 100, 0))), 150);
    let many = dots(&page(&export("carts", 20_000, 0)));
    assert!((3_000..=3 * DOTS_MAX).contains(&many), "{many}");
}

#[test]
fn the_step_shows_in_words_and_the_graphs_appear_with_the_second_minute() {
    let text = page(&export("carts", 10, 10));
    assert!(text.contains("32.0 KB in the first minute, 5.00 KB in the last"), "{text}");
    assert_eq!(text.matches("<svg").count(), 5);
    assert_eq!(page(&export("carts", 10, 1)).matches("<svg").count(), 3);
}

#[test]
fn nothing_sampled_is_a_page_all_the_same() {
    let text = page(&export("carts", 0, 0));
    assert_eq!(text.matches("no calls yet").count(), 3);
    assert!(text.contains("Nothing was packed or read yet."));
}

#[test]
fn names_of_users_are_text_and_nothing_is_loaded_or_run() {
    let text = page(&export("<script>alert(1)</script>", 10, 10));
    assert!(!text.contains("<script>"));
    for forbidden in ["http:", "https:", "href", "url(", "@import", "<img"] {
        assert!(!text.contains(forbidden), "{forbidden}");
    }
}
