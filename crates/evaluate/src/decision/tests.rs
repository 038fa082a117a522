//! Tests of the decision on sheets that nobody measured, so that every time in them is known and a
//! tie is where the test says.

use std::collections::BTreeMap;
use std::sync::Arc;

use cinch_core::dictionary::Dictionary;

use super::*;
use crate::bootstrap::RESAMPLES;
use crate::candidate::{Candidate, Learned};
use crate::goal::goal_named;
use crate::sheet::Row;

/// Payloads of a sheet, each a group of its own.
const PAYLOADS: usize = 60;

/// A trial of this name, with a dictionary of so many bytes where there are any.
fn tracked(name: &str, dictionary_bytes: usize) -> Tracked {
    let learned = (dictionary_bytes > 0).then(|| {
        Arc::new(Learned {
            label: format!("{}K", dictionary_bytes >> 10),
            dictionary: Dictionary::new(vec![b'x'; dictionary_bytes]).unwrap(),
            build_seconds: 0.0,
            sample_payloads: 0,
            sample_bytes: 0,
        })
    });
    Tracked::new(Candidate { learned, ..Candidate::parse(name).unwrap() })
}

/// What is compared: trials, each with the stored bytes of a payload and the time of its round trip
/// in nanoseconds.
struct Compared {
    all: Vec<Tracked>,
    sheet: Sheet,
    resamples: Resamples,
}

impl Compared {
    fn new(trials: &[(&str, usize, f64, f64)]) -> Compared {
        let row = |&(_, _, packed_bytes, time_ns): &(&str, usize, f64, f64)| Row {
            packed_bytes: vec![packed_bytes; PAYLOADS],
            pack_ns: vec![time_ns / 2.0; PAYLOADS],
            unpack_ns: vec![time_ns / 2.0; PAYLOADS],
            lives: BTreeMap::new(),
        };
        let groups: Vec<u32> = (0..PAYLOADS as u32).collect();
        Compared {
            all: trials.iter().map(|&(name, bytes, ..)| tracked(name, bytes)).collect(),
            sheet: Sheet {
                payloads: (0..PAYLOADS).collect(),
                bytes_in: vec![1000.0; PAYLOADS],
                rows: trials.iter().map(row).enumerate().collect(),
            },
            resamples: Resamples::new(&groups, RESAMPLES, 1),
        }
    }

    fn decide(&self, goal: &str, before: Option<usize>) -> Decision {
        let goal = goal_named(goal).unwrap();
        decide(&self.all, &self.sheet, |_| true, goal, &self.resamples, before)
    }

    fn winner(&self, goal: &str, before: Option<usize>) -> usize {
        self.decide(goal, before).ranked[0]
    }
}

/// Levels that lie as close together as those of real codecs: each a little slower and smaller.
fn levels(last_ns: f64) -> Compared {
    Compared::new(&[
        ("verbatim+lz4:-8", 0, 400.0, 1000.0),
        ("verbatim+lz4:-7", 0, 390.0, 1012.0),
        ("verbatim+lz4:-6", 0, 380.0, 1030.0),
        ("verbatim+lz4:-5", 0, 370.0, last_ns),
    ])
}

#[test]
fn whether_a_slower_level_just_comes_in_does_not_change_the_fastest() {
    let (inside, outside) = (levels(1049.0), levels(1054.0));
    assert_eq!(inside.decide("fastest", None).ties, [0, 1, 2, 3]);
    assert_eq!(outside.decide("fastest", None).ties, [0, 1, 2]);
    assert_eq!(inside.winner("fastest", None), 0);
    assert_eq!(outside.winner("fastest", None), 0);
    assert!(!inside.decide("fastest", None).is_borderline);
    // Two levels that change places by noise are no other choice either.
    let swapped = Compared::new(&[
        ("verbatim+lz4:-8", 0, 400.0, 1004.0),
        ("verbatim+lz4:-7", 0, 390.0, 1000.0),
    ]);
    assert_eq!(swapped.winner("fastest", None), 0);
}

#[test]
fn of_dictionaries_of_one_codec_the_smaller_stands_for_it() {
    let compared = Compared::new(&[
        ("verbatim+zstd:-7", 22 << 10, 200.0, 1000.0),
        ("verbatim+zstd:-6", 16 << 10, 210.0, 1010.0),
        ("verbatim+zstd:-5", 16 << 10, 205.0, 1020.0),
    ]);
    assert_eq!(compared.winner("fastest", None), 1);
}

#[test]
fn between_codecs_the_one_without_a_dictionary_and_then_the_smaller_wins() {
    let compared = Compared::new(&[
        ("verbatim+zstd:-7", 16 << 10, 100.0, 1000.0),
        ("verbatim+snappy", 0, 400.0, 1001.0),
        ("verbatim+lz4:-2", 0, 390.0, 1030.0),
        ("verbatim+lz4:-1", 0, 350.0, 1040.0),
        ("msgpack+lz4:-1", 0, 300.0, 1002.0),
    ]);
    assert_eq!(compared.winner("fastest", None), 2);
}

#[test]
fn a_goal_for_size_has_the_smallest_of_a_tie() {
    let compared = Compared::new(&[
        ("verbatim+zstd:3", 0, 300.0, 1000.0),
        ("verbatim+zstd:5", 0, 299.0, 1300.0),
        ("verbatim+zstd:9", 0, 297.0, 1600.0),
    ]);
    assert_eq!(compared.winner("cache", None), 2);
    assert_eq!(compared.winner("smallest", None), 2);
}

#[test]
fn what_won_before_wins_again_in_a_tie_and_nowhere_else() {
    let tied = levels(1049.0);
    let decision = tied.decide("fastest", Some(2));
    assert_eq!((decision.ranked[0], decision.anew, decision.best), (2, Some(0), Some(0)));
    assert!(!decision.is_borderline);
    // It is at the border now: a little more, and it would have to change.
    assert!(tied.decide("fastest", Some(3)).is_borderline);
    let lost = levels(1060.0).decide("fastest", Some(3));
    assert_eq!((lost.ranked[0], lost.anew), (0, Some(0)));
    assert!(!lost.ties.contains(&3));
}

#[test]
fn what_was_taken_out_does_not_win_again() {
    let mut compared = levels(1049.0);
    compared.all[2].eliminated_by = Some("budget memory=1KB: it takes more".to_owned());
    assert_eq!(compared.winner("fastest", Some(2)), 0);
}
