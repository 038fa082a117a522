//! Sampling a Kafka that really runs, filled by Kafka's own producer with every codec.
//! What a stub sends is not what a producer sends: batches, compression and tombstones.

use cinch_integration::{Cinch, Kafka, TOMBSTONE, cinch, closed_port};
use serde_json::Value;

fn documents(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|number| format!("key{number}\t{{\"number\":{number}}}\n")).collect()
}

fn sample(arguments: &[&str]) -> Cinch {
    cinch(["sample"]).and(arguments).and(["--read-rate", "0", "-o", "-"])
}

/// The numbers of the documents in a sample, sorted.
fn numbers(lines: &[u8]) -> Vec<u64> {
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let number = |line: &[u8]| {
        let value: Value = serde_json::from_slice(line).expect("each line is a document");
        value["number"].as_u64().expect("each document has its number")
    };
    let mut numbers: Vec<u64> = lines.map(number).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn batches_of_every_codec_are_read_whole() {
    let kafka = Kafka::shared();
    for (codec, start) in [("none", 0), ("gzip", 1), ("snappy", 2), ("lz4", 3), ("zstd", 4)] {
        kafka.produce("codecs", codec, documents(start * 100..start * 100 + 100));
    }
    let ran = sample(&[&kafka.address("codecs")]).run().code(0).says(&["500 stored", "500 kept"]);
    assert_eq!(numbers(&ran.out), (0..500).collect::<Vec<u64>>());
}

/// The bounds are six standard deviations of a fair draw.
#[test]
fn the_sample_is_fair_and_follows_from_the_seed() {
    let kafka = Kafka::shared();
    kafka.produce("many", "lz4", documents(0..20_000));
    let address = kafka.address("many");
    let take = |seed: &str| {
        let ran = sample(&[&address, "--count", "1000", "--seed", seed]).run().code(0);
        numbers(&ran.says(&["20,000 stored", "1,000 kept"]).out)
    };
    let mut found = take("1");
    assert_eq!(found, take("1"));
    assert_ne!(found, take("2"));
    let early = found.iter().filter(|&&number| number < 10_000).count();
    assert!(early.abs_diff(500) < 95, "{early} of the first half");
    found.dedup();
    assert_eq!(found.len(), 1_000, "no payload is taken twice");
}

/// Neither a group, nor an offset, nor a topic is left behind.
#[test]
fn topics_are_chosen_by_pattern_and_nothing_is_written() {
    let kafka = Kafka::shared();
    kafka.produce("orders-1", "none", documents(0..5));
    kafka.produce("orders-2", "none", format!("{}gone\t{TOMBSTONE}\n", documents(5..10)));
    kafka.produce("parcels", "none", documents(10..15));
    let ran = sample(&[&kafka.address(""), "--match", "orders-*"]).run().code(3);
    let ran = ran.says(&["11 read, 10 kept", "tombstone: 1"]);
    assert_eq!(numbers(&ran.out), (0..10).collect::<Vec<u64>>());
    let ran = sample(&[&kafka.address("orders-1,parcels")]).run().code(0);
    assert_eq!(numbers(&ran.out), [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]);
    sample(&[&kafka.address("")]).run().refused(1, &["name a topic", "orders-1"]);
    sample(&[&kafka.address("parcel")]).run().refused(1, &["nothing was found"]);
    let (groups, topics) = kafka.groups_and_topics();
    assert_eq!(groups, "");
    assert!(!topics.lines().any(|topic| topic == "parcel"), "{topics}");
    assert!(!topics.contains("__consumer_offsets"), "{topics}");
}

#[test]
fn a_broker_that_is_not_there_is_one_line() {
    let closed = format!("kafka://127.0.0.1:{}/orders", closed_port());
    sample(&[&closed]).run().refused(1, &["can't be reached", "is a broker running"]);
    let nameless = "kafka:///orders";
    sample(&[nameless]).run().refused(1, &["names no host"]);
}
