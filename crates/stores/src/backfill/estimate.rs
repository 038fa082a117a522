//! The dry run: what a backfill would save, from a fair sample, with the interval that a sample of
//! this size allows. It lists keys, reads those that were drawn, and writes nothing.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cinch_rollout::live::Live;
use serde::Serialize;
use tokio::task::JoinSet;

use super::convert::{Decision, Left, decide};
use super::{BackfillOptions, check_plans, is_stopped, not_held_back, now_ms, plan_of};
use crate::problems::{self, Problems};
use crate::store::Store;
use crate::walk::{self, CONCURRENCY_MAX, Paced, Steps, Visit, WalkError};

/// How many records are drawn unless somebody says otherwise.
pub const SAMPLE_DEFAULT: usize = 1_000;

/// The most records that may be drawn: their keys are held in memory.
pub const SAMPLE_MAX: usize = 1_000_000;

/// Below so many records an interval would promise what nobody knows.
const INTERVAL_SAMPLE_MIN: usize = 30;

/// The 97.5th percentile of the normal distribution: both ends of a 95 % interval.
const Z_95: f64 = 1.96;

/// How a dry run goes.
#[derive(Debug, Clone, Copy)]
pub struct EstimateOptions {
    /// How many records are drawn, at most [`SAMPLE_MAX`].
    pub sample: usize,
    /// Decides which.
    pub seed: u64,
}

impl Default for EstimateOptions {
    fn default() -> EstimateOptions {
        EstimateOptions { sample: SAMPLE_DEFAULT, seed: 1 }
    }
}

/// A figure of the whole, estimated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end of the 95 % interval; none where the sample is too small for one.
    pub low: Option<f64>,
    /// The estimate.
    pub middle: f64,
    /// The upper end.
    pub high: Option<f64>,
}

/// What a backfill would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// Keys of the namespaces in question.
    pub keys: u64,
    /// Keys of no namespace, or of none that was asked for.
    pub outside: u64,
    /// Whether every key was listed; else the figures are of those that were.
    pub is_complete: bool,
    /// Records that were drawn and read.
    pub sampled: u64,
    /// Of these, those that would be rewritten.
    pub would_rewrite: u64,
    /// Of these, those that are as they should be.
    pub already: u64,
    /// Of these, those that expire too soon.
    pub expiring: u64,
    /// Of these, those that would be left with a problem.
    pub left: u64,
    /// What the copies of the sample take, in bytes.
    pub sampled_bytes: u64,
    /// What they would take.
    pub sampled_bytes_after: u64,
    /// How many records would be rewritten.
    pub rewrites: Interval,
    /// How many bytes would be saved; less than nothing where they would grow, as raw copies that
    /// get a packed one beside them do.
    pub saved_bytes: Interval,
    /// What would be left and why.
    pub problems: Problems,
}

/// Estimates what a backfill of these options would do.
///
/// # Errors
/// [`WalkError`].
pub async fn estimate(
    store: Arc<dyn Store>,
    live: Arc<Live>,
    options: &BackfillOptions,
    how: EstimateOptions,
    stop: &AtomicBool,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Estimate, WalkError> {
    let only = options.walk.namespace.as_deref();
    walk::check(store.as_ref(), &live, only)?;
    check_plans(&live, options)?;
    let work = Arc::new(Dry {
        paced: Paced::new(store, &options.walk),
        live,
        options: options.clone(),
        drawn: Mutex::new(Drawn::new(how)),
        found: Mutex::new(Found::default()),
    });
    let told = Arc::clone(&work);
    let mut after_page = |_: Option<&[u8]>| {
        progress(told.drawn().seen, 0);
        Ok(())
    };
    let steps = Steps { after_page: &mut after_page, after_record: &mut || {} };
    // Listing visits nothing: `wants` draws the key and sends it away.
    let is_complete = walk::walk(&work.paced, &work, 1, None, stop, steps).await?;
    let (keys, seen, outside) = work.drawn().take();
    let mut in_work = JoinSet::new();
    let concurrency = options.walk.concurrency.clamp(1, CONCURRENCY_MAX);
    let mut read = 0;
    for key in keys {
        while in_work.len() >= concurrency {
            finished(in_work.join_next().await)?;
            read += 1;
            progress(seen, read);
        }
        if is_stopped(stop) {
            break;
        }
        work.paced.pace.wait().await;
        let work = Arc::clone(&work);
        in_work.spawn(async move { work.look(&key).await });
    }
    while !in_work.is_empty() {
        finished(in_work.join_next().await)?;
    }
    let found = work.found();
    let (rewrites, saved) = (found.whole(seen, |row| row.0), found.whole(seen, |row| row.1));
    Ok(Estimate {
        keys: seen,
        outside,
        is_complete: is_complete && !is_stopped(stop),
        sampled: found.rows.len() as u64,
        would_rewrite: found.rows.iter().filter(|row| row.0 > 0.0).count() as u64,
        already: found.already,
        expiring: found.expiring,
        left: found.left,
        sampled_bytes: found.bytes,
        sampled_bytes_after: found.bytes_after,
        rewrites,
        saved_bytes: saved,
        problems: found.problems.clone(),
    })
}

fn finished(
    joined: Option<Result<Result<(), WalkError>, tokio::task::JoinError>>,
) -> Result<(), WalkError> {
    match joined {
        None => Ok(()),
        Some(Ok(result)) => result,
        Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Some(Err(_)) => Ok(()),
    }
}

struct Dry {
    paced: Paced,
    live: Arc<Live>,
    options: BackfillOptions,
    drawn: Mutex<Drawn>,
    found: Mutex<Found>,
}

/// Keys drawn so that each that was seen has the same chance.
struct Drawn {
    keys: Vec<Vec<u8>>,
    size: usize,
    random: fastrand::Rng,
    seen: u64,
    outside: u64,
}

impl Drawn {
    fn new(how: EstimateOptions) -> Drawn {
        let size = how.sample.clamp(1, SAMPLE_MAX);
        let random = fastrand::Rng::with_seed(how.seed);
        Drawn { keys: Vec::new(), size, random, seen: 0, outside: 0 }
    }

    fn offer(&mut self, key: &[u8]) {
        self.seen += 1;
        if self.keys.len() < self.size {
            self.keys.push(key.to_vec());
            return;
        }
        let place = self.random.u64(0..self.seen) as usize;
        if let Some(kept) = self.keys.get_mut(place) {
            *kept = key.to_vec();
        }
    }

    fn take(&mut self) -> (Vec<Vec<u8>>, u64, u64) {
        (std::mem::take(&mut self.keys), self.seen, self.outside)
    }
}

/// What the sample showed.
#[derive(Default)]
struct Found {
    /// For each record, whether it would be rewritten (1 or 0), and the bytes that would save.
    rows: Vec<(f64, f64)>,
    already: u64,
    expiring: u64,
    left: u64,
    bytes: u64,
    bytes_after: u64,
    problems: Problems,
}

impl Found {
    /// The sum over all keys of a figure that was measured on the sample.
    fn whole(&self, keys: u64, figure: impl Fn(&(f64, f64)) -> f64) -> Interval {
        let (count, keys) = (self.rows.len() as f64, keys as f64);
        if self.rows.is_empty() {
            return Interval { low: None, middle: 0.0, high: None };
        }
        let mean = self.rows.iter().map(&figure).sum::<f64>() / count;
        let middle = mean * keys;
        if self.rows.len() as f64 >= keys {
            return Interval { low: Some(middle), middle, high: Some(middle) };
        }
        if self.rows.len() < INTERVAL_SAMPLE_MIN {
            return Interval { low: None, middle, high: None };
        }
        let squares = self.rows.iter().map(|row| (figure(row) - mean).powi(2)).sum::<f64>();
        let deviation = (squares / (count - 1.0)).sqrt();
        // What was drawn is known; only the rest is guessed.
        let unknown = (1.0 - count / keys).max(0.0).sqrt();
        let half = Z_95 * keys * deviation / count.sqrt() * unknown;
        Interval { low: Some(middle - half), middle, high: Some(middle + half) }
    }
}

impl Dry {
    fn drawn(&self) -> MutexGuard<'_, Drawn> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn look(&self, key: &[u8]) -> Result<(), WalkError> {
        let found = match self.paced.get(key).await {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(()),
            Err(error) if super::is_about_one_record(&error) => {
                self.note_left(key, "refused", error.to_string());
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let bytes = found.record.stored_bytes();
        if found.expires_in_ms.is_some_and(|left| left < self.options.skip_expiring_below_ms) {
            let mut all = self.found();
            all.expiring += 1;
            all.note(bytes, bytes, false);
            return Ok(());
        }
        let decision = {
            let snapshot = self.live.snapshot();
            let only = self.options.walk.namespace.as_deref();
            let Some(ready) = walk::ready_of(&snapshot, key, only) else { return Ok(()) };
            let policy = ready.plan_for(key);
            not_held_back(ready, policy, &self.options)?;
            let plan = plan_of(policy, self.options.target);
            let shape = self.paced.store.shape();
            decide(&ready.gate, &plan, &shape, &found.record, self.options.is_exact, now_ms())
        };
        let mut all = self.found();
        match decision {
            Decision::Write(write) => all.note(write.before, write.after, true),
            Decision::Leave(Left::Already | Left::Null) => {
                all.already += 1;
                all.note(bytes, bytes, false);
            }
            Decision::Leave(left) => {
                all.note(bytes, bytes, false);
                drop(all);
                let (kind, message) = left.told();
                self.note_left(key, kind, message);
            }
        }
        Ok(())
    }

    fn note_left(&self, key: &[u8], kind: &str, message: String) {
        let mut all = self.found();
        all.left += 1;
        let hides_keys = self.options.walk.hides_keys;
        problems::note(&mut all.problems, kind, key, message, hides_keys);
    }
}

impl Found {
    fn note(&mut self, before: usize, after: usize, is_rewritten: bool) {
        self.bytes += before as u64;
        self.bytes_after += after as u64;
        self.rows.push((f64::from(u8::from(is_rewritten)), before as f64 - after as f64));
    }
}

#[async_trait]
impl Visit for Dry {
    fn wants(&self, key: &[u8]) -> bool {
        let only = self.options.walk.namespace.as_deref();
        let is_inside = walk::ready_of(&self.live.snapshot(), key, only).is_some();
        let mut drawn = self.drawn();
        match is_inside {
            true => drawn.offer(key),
            false => drawn.outside += 1,
        }
        false
    }

    async fn visit(&self, _key: &[u8]) -> Result<(), WalkError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_the_same_chance() {
        let mut hits = [0_u32; 100];
        for seed in 0..2_000 {
            let mut drawn = Drawn::new(EstimateOptions { sample: 10, seed });
            (0..100_u8).for_each(|key| drawn.offer(&[key]));
            drawn.keys.iter().for_each(|key| hits[usize::from(key[0])] += 1);
        }
        // Each is drawn 200 times on average, with a deviation of 13.
        assert!(hits.iter().all(|count| (120..280).contains(count)), "{hits:?}");
    }

    #[test]
    fn an_interval_covers_what_it_says_and_a_whole_needs_none() {
        let values: Vec<f64> = (0..10_000).map(|n| f64::from(n % 977)).collect();
        let truth: f64 = values.iter().sum();
        let mut covered = 0;
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let picked = random.choose_multiple(values.iter(), 400);
            let rows = picked.into_iter().map(|value| (1.0, *value)).collect();
            let found = Found { rows, ..Found::default() };
            let interval = found.whole(10_000, |row| row.1);
            let (low, high) = (interval.low.unwrap(), interval.high.unwrap());
            covered += u32::from((low..=high).contains(&truth));
        }
        assert!((180..=199).contains(&covered), "{covered} of 200");
        let whole = Found { rows: vec![(1.0, 5.0); 40], ..Found::default() };
        let exact = Interval { low: Some(200.0), middle: 200.0, high: Some(200.0) };
        assert_eq!(whole.whole(40, |row| row.1), exact);
        let few = Found { rows: vec![(1.0, 5.0); 29], ..Found::default() };
        assert_eq!(few.whole(40, |row| row.1).low, None);
    }
}
