//! What would change which trial is fastest: the nearest round trip and the nearest bandwidth, to
//! either side, at which another one is.
//!
//! Which trial is fastest does not change in one direction only (each flight more is a step), so a
//! grid finds the nearest change and bisection its place.

use super::{Link, LinkInput, TIE, human};

/// Round trips from this to a second are searched, in nanoseconds.
const ROUND_TRIP_NS_MIN: f64 = 1e4;

/// The longest round trip that is searched, in nanoseconds, unless the link's own is longer.
const ROUND_TRIP_NS_MAX: f64 = 1e9;

/// Bandwidths are searched down to a thousandth of the link's own and up to a thousand times it.
const BANDWIDTH_FACTOR_MAX: f64 = 1e3;

/// How far apart the points of the grid are, as a factor.
const STEP: f64 = 1.25;

/// How often a change is bisected: places it to a thousandth, finer than it is told.
const BISECTIONS: usize = 10;

/// Sentences without a full stop, such as `Below a round trip of 20.0 ms: verbatim+lz4:1`.
pub(super) fn flips(link: &Link, trials: &[&LinkInput]) -> Vec<String> {
    let Some(fastest) = fastest(link, trials) else { return Vec::new() };
    let with_round_trip = |ns: f64| Link { round_trip_ns: ns, ..link.clone() };
    let with_bandwidth = |bits: f64| Link { bits_per_second: bits, ..link.clone() };
    let (round_trip, bandwidth) = (link.round_trip_ns, link.bits_per_second);
    let search = |from: f64, to: f64, at: &dyn Fn(f64) -> Link| {
        nearest(from, to, |value| overtaking(&at(value), trials, fastest))
    };
    let least_bandwidth = bandwidth / BANDWIDTH_FACTOR_MAX;
    let most_bandwidth = bandwidth * BANDWIDTH_FACTOR_MAX;
    let found = [
        (search(round_trip, ROUND_TRIP_NS_MIN, &with_round_trip), "Below a round trip of", true),
        (search(round_trip, ROUND_TRIP_NS_MAX, &with_round_trip), "Above a round trip of", true),
        (search(bandwidth, least_bandwidth, &with_bandwidth), "Below", false),
        (search(bandwidth, most_bandwidth, &with_bandwidth), "Above", false),
    ];
    let sentence = |(found, start, is_time): (Option<(f64, usize)>, &str, bool)| {
        let (value, index) = found?;
        let value = if is_time { human::time(value) } else { bits(value) };
        Some(format!("{start} {value}: {}", trials[index].name))
    };
    found.into_iter().filter_map(sentence).collect()
}

fn fastest(link: &Link, trials: &[&LinkInput]) -> Option<usize> {
    let means = trials.iter().map(|trial| link.mean_total_ns(trial)).enumerate();
    means.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
}

/// The trial that is faster than the given one over this link, by more than a tie.
fn overtaking(link: &Link, trials: &[&LinkInput], than: usize) -> Option<usize> {
    let best = fastest(link, trials)?;
    let is_faster =
        link.mean_total_ns(trials[best]) < (1.0 - TIE) * link.mean_total_ns(trials[than]);
    is_faster.then_some(best)
}

/// The value nearest to `from`, on the way to `to`, from which on something overtakes, and what.
fn nearest(from: f64, to: f64, overtaking: impl Fn(f64) -> Option<usize>) -> Option<(f64, usize)> {
    let is_down = to < from;
    let towards = |value: f64| if is_down { value / STEP } else { value * STEP };
    // Both ways, a value of 0 would never move; the least that is searched stands for it.
    let mut near = if from > 0.0 { from } else { ROUND_TRIP_NS_MIN };
    while if is_down { near > to } else { near < to } {
        let mut far = towards(near);
        far = if is_down { far.max(to) } else { far.min(to) };
        if let Some(mut index) = overtaking(far) {
            for _ in 0..BISECTIONS {
                let middle = (near * far).sqrt();
                match overtaking(middle) {
                    Some(found) => (far, index) = (middle, found),
                    None => near = middle,
                }
            }
            return Some((far, index));
        }
        near = far;
    }
    None
}

/// A bandwidth with a unit, such as `4.2 Gbps`.
fn bits(per_second: f64) -> String {
    let units = [("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)];
    let fitting = units.into_iter().find(|(_, scale)| per_second >= *scale);
    let (unit, scale) = fitting.unwrap_or(("bps", 1.0));
    let value = per_second / scale;
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}
