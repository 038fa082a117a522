//! What would change the choice, what other choices cost, and below which size nothing pays.
//!
//! Each is a sentence with figures, because a recommendation without its limits is an opinion.

use super::{Measured, trials};
use crate::decision;
use crate::goal::{GOALS, SIZE_SHARE_MAX};
use crate::report::human;
use crate::select;

/// Reads for one write that the `cache` goal is tried with to see what changes.
const READS_TRIED: &[f64] = &[0.0, 1.0, 20.0, 100.0, 1_000.0];

/// What would change the choice, as sentences.
pub(super) fn flips(measured: &Measured<'_>) -> Vec<String> {
    let Some(winner) = measured.winner() else { return Vec::new() };
    let mut flips: Vec<String> = Vec::new();
    for goal in GOALS.iter().filter(|goal| goal.name != measured.request.goal.name) {
        let pays = |index: usize| select::may_pay(&measured.all[index]);
        let Measured { all, chosen, resamples, .. } = measured;
        let decision = decision::decide(all, chosen, pays, goal, resamples, None);
        if let Some(&other) = decision.ranked.first()
            && other != winner
            && !decision.ties.contains(&winner)
        {
            let name = &measured.all[other].candidate;
            flips.push(format!("If the goal were {}: {name}.", goal.name));
        }
    }
    if measured.request.goal.name == "cache" {
        flips.extend(flips_by_reads(measured, winner));
    }
    flips
}

/// Who would win a cache with more or fewer reads for each write.
fn flips_by_reads(measured: &Measured<'_>, winner: usize) -> Vec<String> {
    let ranked = &measured.decision.ranked;
    let best_with = |reads: f64| -> Option<usize> {
        let score = |&index: &usize| {
            let m = measured.chosen.measured(index)?;
            Some((index, crate::goal::cache_score(&m, reads)))
        };
        let scores = ranked.iter().filter_map(score);
        scores.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
    };
    let usual = best_with(crate::goal::CACHE_READS);
    let mut said = Vec::new();
    let mut flips = Vec::new();
    for &reads in READS_TRIED {
        if let Some(other) = best_with(reads)
            && Some(other) != usual
            && other != winner
            && !said.contains(&other)
        {
            said.push(other);
            let name = &measured.all[other].candidate;
            flips.push(format!(
                "With {} for each write instead of {}: {name}.",
                human::counted(reads as u64, "read"),
                crate::goal::CACHE_READS,
            ));
        }
    }
    flips
}

/// What doing nothing and gzip -6 cost instead, as sentences.
pub(super) fn costs(measured: &Measured<'_>) -> Vec<String> {
    let Some(winner) = measured.winner() else { return Vec::new() };
    let from = measured.request.from;
    let best_share = trials::share(measured, winner).max(1e-9);
    let best_time = trials::time_ns(&measured.all[winner], from).max(1.0);
    let mut costs = Vec::new();
    for &index in &measured.controls {
        let other = &measured.all[index];
        if index == winner || other.sizes.is_empty() {
            continue;
        }
        let share = trials::share(measured, index);
        let bytes = format!("{:.2} times the bytes", share / best_share);
        let name = other.candidate.to_string();
        let time = trials::time_ns(other, from) / best_time;
        costs.push(match other.candidate.is_nothing() {
            true => format!("Doing nothing stores {bytes}."),
            false => format!("{name} stores {bytes} and takes {time:.2} times the time."),
        });
    }
    costs
}

/// Below how many bytes payloads had better stay plain: the largest size such that all payloads up
/// to it together don't shrink enough. Nothing where even the smallest do.
pub(super) fn min_size_bytes(measured: &Measured<'_>) -> Option<u64> {
    let winner = &measured.all[measured.winner()?];
    let mut sizes: Vec<(usize, usize)> =
        winner.sizes.iter().map(|sizes| (sizes.bytes_in, sizes.packed_bytes)).collect();
    sizes.sort_unstable();
    let (mut bytes_in, mut packed, mut found) = (0, 0, None);
    for (place, &(bytes, stored)) in sizes.iter().enumerate() {
        bytes_in += bytes;
        packed += stored;
        let is_last_of_size = sizes.get(place + 1).is_none_or(|next| next.0 > bytes);
        if is_last_of_size && packed as f64 > SIZE_SHARE_MAX * bytes_in as f64 {
            found = Some(bytes as u64 + 1);
        }
    }
    found
}
