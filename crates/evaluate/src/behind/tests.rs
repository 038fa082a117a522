//! Tests of the net gain on payloads whose outcome is certain: noise that nothing shrinks, and
//! records that everything shrinks.

use super::*;
use crate::statistics::Chooser;

/// Bytes that no codec shrinks.
pub(super) fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut chooser = Chooser::new(seed, "noise");
    (0..length).map(|_| chooser.below(256) as u8).collect()
}

/// A record of about 3 KB, which shrinks to a fraction.
fn record(index: usize) -> Vec<u8> {
    let line = |n: usize| format!(r#"{{"line":{n},"sku":"{}","price":{}}},"#, index * n, n % 90);
    format!(r#"{{"id":{index},"lines":[{}0]}}"#, (0..80).map(line).collect::<String>()).into()
}

fn records(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(record).collect()
}

fn views(payloads: &[Vec<u8>]) -> Vec<&[u8]> {
    payloads.iter().map(Vec::as_slice).collect()
}

fn packed(
    name: &str,
    payloads: &[Vec<u8>],
    by: impl Fn(usize, &Vec<u8>) -> Vec<u8>,
) -> BehindInput {
    let packed = payloads.iter().enumerate().map(|(index, payload)| by(index, payload)).collect();
    BehindInput { name: name.to_owned(), packed }
}

#[test]
fn every_store_has_a_name_of_its_own_and_is_found_by_it() {
    for behind in BEHIND {
        assert!(std::ptr::eq(behind_named(behind.name).unwrap(), behind));
        assert!(behind.summary.ends_with('.') && !behind.source.is_empty());
    }
    let error = behind_named("oracle").unwrap_err().to_string();
    assert!(error.contains("toast-pglz") && error.contains("kafka-zstd"), "{error}");
}

#[test]
fn leaving_payloads_as_they_are_gains_exactly_nothing_anywhere() {
    let payloads = records(300);
    let same = [packed("same", &payloads, |_, payload| payload.clone())];
    for behind in BEHIND {
        let found = model(behind, &views(&payloads), &same).unwrap();
        assert_eq!(found.rows[0].name, "nothing");
        assert_eq!((found.rows[1].network_gain, found.rows[1].at_rest_gain), (0.0, 0.0));
        assert!(found.verdict.contains("no difference"), "{}", found.verdict);
        assert!(found.verdict.ends_with("Leave the payloads plain there."), "{}", found.verdict);
    }
}

#[test]
fn a_store_that_keeps_what_it_gets_gains_what_packing_gains() {
    let payloads = records(50);
    let half = [packed("half", &payloads, |_, payload| payload[..payload.len() / 2].to_vec())];
    let found = model(behind_named("none").unwrap(), &views(&payloads), &half).unwrap();
    assert!((found.rows[1].network_gain - 0.5).abs() < 0.001);
    assert_eq!(
        found.verdict,
        "In front of a store that does not compress, half saves 50 % on the network and at rest \
         alike."
    );
}

#[test]
fn packed_bytes_that_pages_cannot_shrink_may_take_more_than_plain_ones() {
    // Pages shrink these records to well below a third, which is what the packed noise has.
    let payloads = records(600);
    let third =
        [packed("third", &payloads, |index, payload| noise(index as u64, payload.len() / 3))];
    let found = model(behind_named("zstd-block").unwrap(), &views(&payloads), &third).unwrap();
    assert!(found.rows[1].network_gain > 0.6 && found.rows[1].at_rest_gain < -0.1);
    assert!(found.verdict.contains("saves 67 % on the network and takes "), "{}", found.verdict);
    let shrinks = "It shrinks all of the plain pages and none of the packed ones.";
    assert!(found.verdict.contains(shrinks), "{}", found.verdict);
    assert!(found.verdict.contains("Pack for the network only"), "{}", found.verdict);
}

#[test]
fn http_has_nothing_at_rest() {
    let payloads = records(20);
    let small = [packed("small", &payloads, |index, _| noise(index as u64, 100))];
    let found = model(behind_named("http-gzip").unwrap(), &views(&payloads), &small).unwrap();
    assert_eq!((found.rows[1].at_rest_bytes, found.rows[1].at_rest_gain), (0, 0.0));
    assert!(!found.verdict.contains("rest"), "{}", found.verdict);
}

#[test]
fn no_payloads_and_no_trials_are_told_so() {
    for behind in BEHIND {
        let found = model(behind, &[], &[]).unwrap();
        assert_eq!((found.payloads, found.rows.len()), (0, 1));
        assert!(found.rows[0].network_gain == 0.0 && found.rows[0].at_rest_gain == 0.0);
    }
}

#[test]
fn the_window_is_bounded_but_never_empty() {
    let large = vec![0; PAYLOAD_BYTES_MAX + 1];
    let half = vec![0; PAYLOAD_BYTES_MAX / 2];
    assert_eq!(window(&[&large, b"1"]).len(), 1);
    assert_eq!(window(&[&half, &half, b"1"]).len(), 2);
    assert_eq!(window(&[]).len(), 0);
}
