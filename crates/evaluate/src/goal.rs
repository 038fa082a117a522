//! Goals: what "best" means, as a formula over what was measured. spec/evaluation.md states each
//! one; less is better.
//!
//! A goal ranks by the bytes that are stored and the time of packing and unpacking. The weights are
//! choices, so they stand here in one table and nowhere else.

/// What a goal ranks a trial by.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Stored bytes over payload bytes.
    pub size_share: f64,
    /// Mean bytes of a stored payload.
    pub packed_bytes: f64,
    /// Mean time to pack a payload, in nanoseconds.
    pub pack_ns: f64,
    /// Mean time to unpack a payload, in nanoseconds.
    pub unpack_ns: f64,
}

/// One goal.
pub struct Goal {
    /// The name on the command line.
    pub name: &'static str,
    /// One line for help texts.
    pub summary: &'static str,
    /// The formula, as reports print it.
    pub formula: &'static str,
    /// Whether slow levels are tried.
    pub wants_slow: bool,
    /// Whether every fast level is tried, because nothing but time counts.
    pub wants_fast: bool,
    /// Whether times have a part in the score, so that more rounds can make a decision clearer.
    pub is_timed: bool,
    /// A difference of scores whose 95 % interval reaches below this is a tie: 0.02 is 2 % of the
    /// size or of the time.
    pub tie: f64,
    /// The formula.
    pub score: fn(&Measured) -> f64,
}

/// The tie of a goal in which size has a part, and of every other comparison.
pub const TIE: f64 = 0.02;

/// The tie of a goal for time alone: where in memory things lie, and what else uses the caches,
/// moves times of microseconds by that much from one run to the next.
const TIE_OF_TIMES: f64 = 0.05;

/// A trial that stores more than this share of the bytes does not pay, whatever the goal: an
/// envelope and its processing are worth more than the few bytes.
pub const SIZE_SHARE_MAX: f64 = 0.95;

/// What a round trip over a local network takes, in nanoseconds: a microsecond saved on top of it
/// is worth little, a millisecond much.
const CACHE_ROUND_TRIP_NS: f64 = 100_000.0;

/// How often a cached payload is read for each time it is written.
pub const CACHE_READS: f64 = 4.0;

/// The score of the `cache` goal with this many reads for each write.
pub fn cache_score(m: &Measured, reads: f64) -> f64 {
    let round_trips_ns = CACHE_ROUND_TRIP_NS * (1.0 + reads);
    m.size_share.ln() + (round_trips_ns + m.pack_ns + reads * m.unpack_ns).ln()
}

/// Every goal; the first is the default.
pub static GOALS: &[Goal] = &[
    Goal {
        name: "cache",
        summary: "held in memory, written once, read four times over a network: size x time",
        formula: "ln(size share) + ln(500,000 + pack ns + 4 unpack ns)",
        wants_slow: false,
        wants_fast: false,
        is_timed: true,
        tie: TIE,
        score: |m| cache_score(m, CACHE_READS),
    },
    Goal {
        name: "api",
        summary: "sent once over 1 Gbit/s: the time until the other side can use it",
        formula: "ln(pack ns + packed bytes x 8 ns + unpack ns)",
        wants_slow: false,
        wants_fast: false,
        is_timed: true,
        tie: TIE,
        score: |m| (m.pack_ns + m.packed_bytes * 8.0 + m.unpack_ns).max(1.0).ln(),
    },
    Goal {
        name: "archive",
        summary: "written once, hardly ever read: size, and a little time",
        formula: "ln(size share) + 0.05 ln(pack ns + unpack ns / 10)",
        wants_slow: true,
        wants_fast: false,
        is_timed: true,
        tie: TIE,
        score: |m| m.size_share.ln() + 0.05 * (m.pack_ns + m.unpack_ns / 10.0).max(1.0).ln(),
    },
    Goal {
        name: "smallest",
        summary: "size, whatever it takes",
        formula: "ln(size share)",
        wants_slow: true,
        wants_fast: false,
        is_timed: false,
        tie: TIE,
        score: |m| m.size_share.ln(),
    },
    Goal {
        name: "fastest",
        summary: "time, of what saves at least 5 % of the bytes",
        formula: "ln(pack ns + unpack ns)",
        wants_slow: false,
        wants_fast: true,
        is_timed: true,
        tie: TIE_OF_TIMES,
        score: |m| (m.pack_ns + m.unpack_ns).max(1.0).ln(),
    },
];

/// The goal of this name.
pub fn goal_named(name: &str) -> Option<&'static Goal> {
    GOALS.iter().find(|goal| goal.name == name)
}
