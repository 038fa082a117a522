//! Tests of the choice of finalists, on trials whose sizes the test says: which have a place
//! because they are near the best, and which have none.

use super::*;
use crate::candidate::Candidate;
use crate::goal::goal_named;
use crate::measure::Sizes;

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
