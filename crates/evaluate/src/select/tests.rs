//! Tests of the choice of finalists, on trials whose sizes the test says: which have a place
//! because they are near the best, and which have none.

use super::*;
use crate::candidate::Candidate;
use crate::goal::goal_named;

/// Levels of one codec, each of which stores a payload of a million bytes in so many.
fn levels(packed_bytes: impl Iterator<Item = usize>) -> Vec<Tracked> {
    let tracked = |(level, packed_bytes): (usize, usize)| {
        let mut tracked =
            Tracked::new(Candidate::parse(&format!("verbatim+zstd:{}", 1 + level)).unwrap());
        tracked.sizes.push(Sizes {
            payload: 0,
            bytes_in: 1_000_000,
            bytes_out: packed_bytes,
            packed_bytes,
        });
        tracked
    };
    packed_bytes.enumerate().map(tracked).collect()
}

#[test]
fn an_exhaustive_choice_has_room_for_all_that_is_near_the_best_and_for_no_more() {
    let goal = goal_named("smallest").unwrap();
    // Each level is 0.5 % larger than the one before: seven lie within 3 %.
    let mut all = levels((0..20).map(|level| 100_000 + 500 * level));
    let ranked = by_first_look(&all, goal, TimedFrom::Text);
    assert_eq!(near(&all, &ranked, 0.03, goal, TimedFrom::Text), 7);
    let count = count_with(7, 0);
    let chosen = finalists(&mut all, &ranked, &[], count);
    assert!((0..7).all(|level| chosen.contains(&level)), "{chosen:?}");
    assert!(!chosen.contains(&19), "{chosen:?}");
}

#[test]
fn where_nothing_pays_nothing_is_near() {
    let goal = goal_named("smallest").unwrap();
    let all = levels((0..3).map(|_| 1_000_000));
    let ranked = by_first_look(&all, goal, TimedFrom::Text);
    assert_eq!(near(&all, &ranked, 0.03, goal, TimedFrom::Text), 0);
}

/// A trial of which every payload of a thousand bytes is stored in so many.
fn trial(packed_bytes: impl Iterator<Item = usize>) -> Tracked {
    let mut tracked = Tracked::new(Candidate::parse("verbatim+snappy").unwrap());
    let sizes = |(payload, packed_bytes)| Sizes {
        payload,
        bytes_in: 1_000,
        bytes_out: packed_bytes,
        packed_bytes,
    };
    tracked.sizes = packed_bytes.enumerate().map(sizes).collect();
    tracked
}

#[test]
fn what_a_small_sample_can_not_tell_stays_in() {
    // 97.5 % of the bytes, always; and on average, of payloads that shrink by a fifth or not.
    assert!(!may_pay(&trial((0..128).map(|_| 975))));
    let differs =
        |count: usize| trial((0..count).map(|place| if place % 8 == 0 { 800 } else { 1_000 }));
    assert!(may_pay(&differs(64)));
    assert!(!may_pay(&differs(6_400)));
    // What never shrinks never pays, however few have been seen.
    assert!(!may_pay(&trial([1_000; 3].into_iter())));
}

#[test]
fn what_surely_pays_tells_what_is_near() {
    let goal = goal_named("smallest").unwrap();
    let mut all = levels([900_000, 960_000, 905_000].into_iter());
    let ranked = by_first_look(&all, goal, TimedFrom::Text);
    assert_eq!(ranked, [0, 2, 1]);
    assert_eq!(near(&all, &ranked, 0.01, goal, TimedFrom::Text), 2);
    // By a goal that the one which may not pay wins, the others would be far behind.
    all.swap(0, 1);
    let reverse = crate::goal::Goal { score: |measured| -measured.size_share.ln(), ..*goal };
    let ranked = by_first_look(&all, &reverse, TimedFrom::Text);
    assert_eq!(ranked, [0, 2, 1]);
    assert_eq!(near(&all, &ranked, 0.01, &reverse, TimedFrom::Text), 3);
}
