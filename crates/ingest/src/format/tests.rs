//! Heads, sections and indexes come back as they were written, and anything else is refused: these
//! bytes are read from files that a crash or somebody else may have written.

use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, OnceLock};

use proptest::prelude::*;

use super::*;
use crate::connection::{Connection, Peer};
use crate::logs::records;

fn head() -> Head {
    Head {
        instance: 0x0102_0304_0506_0708,
        sequence: 9,
        first_ms: 1_795_175_478_000,
        last_ms: 1_795_175_478_200,
        records: 3,
        text_bytes: 100,
        frame_bytes: 60,
        sections_bytes: 20,
        flags: FLAG_SECTIONS_PACKED,
        checksum: 0xFFEE_DDCC_BBAA_9988,
    }
}

fn connection(id: u64) -> Connection {
    Connection {
        id,
        listener: 0,
        reader: 0,
        peer: Peer::Network(([10, 0, 0, 1], 4_711).into()),
        is_answered: false,
        pool: OnceLock::new(),
        outbox: Mutex::new(Vec::new()),
        waits: AtomicUsize::new(0),
    }
}

#[test]
fn a_head_comes_back_and_every_changed_bit_of_it_is_noticed() {
    let mut bytes = Vec::new();
    head().write(&mut bytes);
    assert_eq!(bytes.len(), SKIPPABLE_BYTES + HEAD_FIXED_BYTES);
    assert_eq!(Head::read(&bytes), Some(head()));
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Head::read(&changed), None, "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert_eq!(Head::read(&bytes[..length]), None);
    }
}

#[test]
fn an_index_is_found_from_the_end_of_a_file() {
    let mut index = Index::default();
    index.add(0, &head());
    index.add(160, &head());
    let mut file = b"batches".to_vec();
    file.extend_from_slice(&index.write());
    let length = Index::length_at_end(&file[file.len() - 8..]).unwrap() as usize;
    assert_eq!(Index::read(&file[file.len() - length..]), Some(index));
    assert_eq!(Index::length_at_end(&file[..8]), None);
    let last = file.len() - 20;
    file[last] ^= 1;
    assert_eq!(Index::read(&file[file.len() - length..]), None);
}

/// Bodies as clients send them and as they never would.
fn bodies() -> impl Strategy<Value = Vec<(u32, u32, Vec<u8>)>> {
    let byte = prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'x')];
    let body = prop::collection::vec(byte, 0..8);
    prop::collection::vec((0..3u32, 0..2u32, body), 1..20)
}

proptest! {
    #[test]
    fn records_of_cal_come_back_with_their_numbers(bodies in bodies()) {
        let mut writer = SectionsWriter::default();
        let mut text = Vec::new();
        for (thread, seconds, body) in &bodies {
            text.extend_from_slice(body);
            writer.cal_record(*thread, *seconds);
        }
        let of_bodies = bodies.iter().map(|(_, _, body)| &body[..]);
        crate::worker::CalRun::of(of_bodies).note_lengths(&text, &mut writer);
        writer.end_run(&connection(7), "h", RunKind::Cal, text.len(), bodies.len());
        let mut bytes = Vec::new();
        writer.finish(&mut bytes);
        let runs = read_sections(&bytes, text.len(), bodies.len()).unwrap();
        prop_assert_eq!(runs.len(), 1);
        prop_assert_eq!((runs[0].connection, &runs[0].host[..]), (7, "h"));
        let found: Vec<(u32, u32, Vec<u8>)> = records(&runs[0], &text)
            .map(|record| {
                let (thread, seconds) = record.lane.unwrap();
                (thread, seconds, record.text.to_vec())
            })
            .collect();
        prop_assert_eq!(found, bodies);
    }

    #[test]
    fn damaged_sections_give_an_error_or_no_more_than_the_text(
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        text in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        if let Ok(runs) = read_sections(&bytes, text.len(), 3) {
            for run in &runs {
                let found: usize = records(run, &text).map(|record| record.text.len()).sum();
                prop_assert!(found <= text.len());
            }
        }
    }
}
