//! Apache Kafka: values come back byte for byte by their offsets, an envelope is marked, and an
//! address of a topic is no store of records under keys.

use cinch_core::codec::CodecChoice;
use cinch_core::encoding::encoding_named;
use cinch_core::pack::{Outcome, Packer};
use cinch_core::profile::Profile;
use cinch_integration::{Kafka, closed_port};
use cinch_stores::{KafkaTopic, StoreError};

use crate::failure;

fn envelope(payload: &[u8]) -> Vec<u8> {
    let codec = CodecChoice::parse("zstd").expect("a codec");
    let profile = Profile::new(encoding_named("verbatim").expect("an encoding"), codec);
    let mut envelope = Vec::new();
    let outcome = Packer::new(&profile).expect("a packer").pack(payload, &mut envelope);
    assert!(matches!(outcome, Ok(Outcome::Packed { .. })), "{outcome:?}");
    envelope
}

#[tokio::test(flavor = "multi_thread")]
async fn values_are_appended_and_read_by_their_offsets() {
    let broker = Kafka::shared();
    broker.produce("orders", "none", "first\t{\"by\":\"others\"}\n");
    let topic = KafkaTopic::open(&broker.address("orders")).await.expect("the topic is there");
    let mut theirs = None;
    for partition in topic.partitions() {
        let (first, end) = topic.offsets(partition).await.expect("it answers");
        if first < end {
            theirs = Some((partition, end));
        }
    }
    let (partition, end) = theirs.expect("a partition has the record of others");
    let payload = b"{\"cart\":1}".repeat(100);
    let envelope = envelope(&payload);
    let mut written = Vec::new();
    for value in [Some(payload.as_slice()), Some(&envelope), Some(b"\xff\x00"), Some(b""), None] {
        let offset = topic.append(partition, Some(b"k"), value).await.expect("it is appended");
        written.push((offset, value));
    }
    assert_eq!(written[0].0, end);
    let mut read = Vec::new();
    let mut offset = 0;
    loop {
        let range = topic.read(partition, offset).await.expect("it answers");
        read.extend(range.records);
        offset = range.next_offset;
        if offset >= range.end_offset {
            break;
        }
    }
    assert_eq!(read[0].value.as_deref(), Some(&b"{\"by\":\"others\"}"[..]));
    for (found, (offset, value)) in read[read.len() - 5..].iter().zip(&written) {
        assert_eq!((found.offset, found.value.as_deref()), (*offset, *value));
        assert_eq!(found.is_marked, *value == Some(&envelope), "{value:?}");
        assert_eq!(found.key.as_deref(), Some(&b"k"[..]));
    }
    let none = topic.append(99, None, None).await;
    assert!(matches!(none, Err(StoreError::Address(_))), "{none:?}");
    let missing = KafkaTopic::open(&broker.address("none")).await;
    assert!(missing.expect_err("it is not made").to_string().contains("no topic called"));
    let no_store = failure(&broker.address("orders"), "").await;
    assert!(no_store.contains("a topic is a log"), "{no_store}");
    let closed = format!("kafka://u:secret@127.0.0.1:{}/x?timeout_ms=2000", closed_port());
    let said = KafkaTopic::open(&closed).await.expect_err("nobody is there").to_string();
    assert!(said.contains("can't be reached") && !said.contains("secret"), "{said}");
}
