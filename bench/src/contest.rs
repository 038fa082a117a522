//! Several ways to do the same work on a corpus, timed in rounds: in every round each of them runs
//! once, in random order, so that a slow minute of the machine is shared by all. The result is the
//! median of each, and of the ratio to the reference within the same round.

use crate::clock::Clock;
use crate::failure::Outcome;
use crate::random::Random;
use crate::statistics::{median, median_interval};

/// The work, once over the whole corpus.
pub(crate) type Work<'a> = Box<dyn FnMut() -> Outcome + 'a>;

/// One way to do it.
pub(crate) struct Contestant<'a> {
    pub(crate) name: &'static str,
    pub(crate) work: Work<'a>,
}

/// How one of them did.
pub(crate) struct Standing {
    pub(crate) name: &'static str,
    pub(crate) megabytes_per_second: f64,
    /// How many times as fast as the reference, with the interval of 95 %.
    pub(crate) ratio: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Standing {
    /// The cells of a table: the speed, the ratio and its interval.
    pub(crate) fn cells(&self) -> [String; 3] {
        [
            format!("{:.0}", self.megabytes_per_second),
            format!("{:.2}", self.ratio),
            format!("{:.2} to {:.2}", self.low, self.high),
        ]
    }
}

/// Those who can do the work. A peer that refuses a payload of somebody's corpus is left out, and
/// that is told: the rest of the comparison still stands.
#[cfg(feature = "peers")]
pub(crate) fn able<'a>(contestants: Vec<Contestant<'a>>, corpus: &str) -> Vec<Contestant<'a>> {
    let try_once = |mut contestant: Contestant<'a>| match (contestant.work)() {
        Ok(()) => Some(contestant),
        Err(error) => {
            eprintln!("{corpus}: {} is left out: {error}", contestant.name);
            None
        }
    };
    contestants.into_iter().filter_map(try_once).collect()
}

/// Runs everybody `rounds` times after one round to warm up. The reference is one of them, by its
/// place.
pub(crate) fn contest(
    contestants: &mut [Contestant<'_>],
    reference: usize,
    corpus_bytes: usize,
    rounds: usize,
    random: &mut Random,
) -> Outcome<Vec<Standing>> {
    let mut order: Vec<usize> = (0..contestants.len()).collect();
    let mut times_ns = vec![Vec::new(); contestants.len()];
    for round in 0..=rounds {
        random.shuffle(&mut order);
        for &index in &order {
            let clock = Clock::start();
            (contestants[index].work)()?;
            if round > 0 {
                times_ns[index].push(clock.elapsed_ns());
            }
        }
    }
    let standing = |(contestant, times): (&Contestant<'_>, &Vec<f64>)| {
        let pairs = times.iter().zip(&times_ns[reference]);
        let ratios: Vec<Vec<f64>> = pairs.map(|(own, other)| vec![other / own]).collect();
        let (low, high) = median_interval(&ratios, random);
        Standing {
            name: contestant.name,
            // Bytes per nanosecond are gigabytes per second.
            megabytes_per_second: corpus_bytes as f64 / median(times) * 1e3,
            ratio: median(&ratios.concat()),
            low,
            high,
        }
    };
    Ok(contestants.iter().zip(&times_ns).map(standing).collect())
}
