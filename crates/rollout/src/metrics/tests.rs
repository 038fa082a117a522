//! The metrics: that every name has its place, and that what an operator would look for is there
//! after a call of each kind.

use std::sync::Arc;

use super::*;
use crate::gate::Gate;
use crate::modes::{ReadMode, WriteMode};
use crate::policy::TwoSlotPlan;
use crate::settings::Sources;

fn namespace() -> Arc<Namespace> {
    let text = "[namespaces.carts]\nkeys = [\"*\"]\n".to_owned();
    let sources = Sources { text, ..Sources::default() };
    Arc::clone(&sources.configuration().unwrap().namespaces["carts"])
}

fn plan(write: WriteMode, read: ReadMode) -> Plan {
    Plan::Two(TwoSlotPlan { write, read, write_obstacle: None, read_obstacle: None })
}

fn has(text: &str, line: &str) -> bool {
    text.lines().any(|found| found == line)
}

#[test]
fn every_name_that_can_be_counted_has_a_place_of_its_own() {
    for mode in WriteMode::ALL {
        assert_eq!(MODES[place(MODES, mode.name())], mode.name());
    }
    let reasons = [
        PlainReason::BelowMinSize,
        PlainReason::Number,
        PlainReason::AlreadyCompressed,
        PlainReason::Rule,
        PlainReason::GainTooSmall,
        PlainReason::VerificationFailed,
    ];
    for reason in reasons {
        assert_eq!(OUTCOMES[place(OUTCOMES, reason.name())], reason.name());
    }
    for finding in [Finding::Stale, Finding::Unproven, Finding::NotPacked, Finding::RawMissing] {
        assert_eq!(FINDINGS[place(FINDINGS, finding.name())], finding.name());
    }
}

#[test]
fn a_write_and_a_read_show_in_the_text_that_is_scraped() {
    let metrics = Metrics::new();
    let namespace = namespace();
    let of_namespace = metrics.namespace(&namespace);
    let gate = Gate::new(namespace);
    let plan = plan(WriteMode::Dual, ReadMode::VerifyCompress);
    let payload = Bytes::from(br#"{"sku":"SKU-1","price":12.50},"#.repeat(20));
    let written = gate.write(&plan, &payload, None, 0).unwrap();
    of_namespace.wrote(&written);
    of_namespace.wrote(&gate.write(&plan, &Bytes::from("12"), None, 0).unwrap());
    let mut record = written.record;
    of_namespace.read(&gate.read(&plan, &record).unwrap());
    record.raw = Some(Bytes::from([b"[", &payload[1..]].concat()));
    of_namespace.read(&gate.read(&plan, &record).unwrap());
    record.raw = None;
    record.packed.as_mut().unwrap().metadata.raw_nulled = Some(true);
    record.packed.as_mut().unwrap().metadata.codec = "OODLE".to_owned();
    of_namespace.failed(&gate.read(&plan, &record).unwrap_err().error);

    let text = metrics.text();
    for line in [
        "cinch_writes_total{mode=\"DUAL\",namespace=\"carts\",outcome=\"packed\"} 1",
        "cinch_writes_total{mode=\"DUAL\",namespace=\"carts\",outcome=\"below min size\"} 1",
        "cinch_reads_total{namespace=\"carts\",source=\"raw\"} 2",
        "cinch_findings_total{finding=\"stale\",namespace=\"carts\"} 1",
        "cinch_decode_errors_total{kind=\"unknown-codec\",namespace=\"carts\"} 1",
        "cinch_pack_seconds_count{namespace=\"carts\"} 2",
        &format!("cinch_written_bytes_total{{copy=\"payload\",namespace=\"carts\"}} {}", 602),
    ] {
        assert!(has(&text, line), "{line} is not in\n{text}");
    }
    // A bound is the name of a series, which nobody finds by the digits of a rounding error.
    assert!(text.contains("le=\"0.000005\""), "{text}");
    let health = of_namespace.health();
    assert_eq!((health.writes, health.reads, health.decode_errors), (2, 2, 1));
    let NamespaceExport { samples, minutes } = of_namespace.export();
    assert_eq!(samples.len(), 2);
    assert_eq!(samples[0].payload_bytes, 600);
    assert!(samples[0].packed_bytes < 200);
    assert_eq!(minutes.iter().map(|minute| minute.writes).sum::<u64>(), 2);
}

#[test]
fn what_holds_now_replaces_what_held_before() {
    let metrics = Metrics::new();
    let first = plan(WriteMode::Dual, ReadMode::NoCompress);
    metrics.set_plans(1, [("carts", &first)].into_iter());
    let second = plan(WriteMode::CompressOnly, ReadMode::CompressOnly);
    metrics.set_plans(2, [("carts", &second)].into_iter());
    let text = metrics.text();
    let line = "cinch_mode{direction=\"write\",mode=\"COMPRESS_ONLY\",namespace=\"carts\"} 1";
    assert!(has(&text, line), "{text}");
    assert!(!text.contains("mode=\"DUAL\""), "{text}");
    assert!(has(&text, "cinch_configuration_generation 2"), "{text}");
}

#[test]
fn the_dashboard_and_the_alerts_name_only_what_is_counted() {
    let counted = include_str!("../metrics.rs");
    for text in [
        include_str!("../../../../deploy/grafana/cinch-rollout.json"),
        include_str!("../../../../deploy/prometheus/cinch-alerts.yml"),
    ] {
        let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
        let mut names = 0;
        for (at, _) in text.match_indices("cinch_") {
            let rest = &text[at..];
            let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
            let family = name.trim_end_matches("_bucket").trim_end_matches("_count");
            assert!(counted.contains(&format!("\"{family}\"")), "{name} is counted nowhere");
            names += 1;
        }
        assert!(names > 8, "only {names} names were found");
    }
}
