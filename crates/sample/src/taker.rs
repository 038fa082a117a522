//! Takes the values that an adapter finds: keeps the pace, unwraps them, and keeps a fair sample of
//! each size class in bounded memory.
//!
//! Every payload gets a random priority and those of the smallest priorities are kept, as in the
//! corpus sampler. Once a priority was given up in a class, no larger one may enter it again, or
//! what is found late would be favoured.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering as Memory};
use std::thread;
use std::time::{Duration, Instant};

use crate::class::{CLASSES, ClassCount, allot, class_of};
use crate::options::{SAMPLE_BYTES_MAX, SampleOptions, VALUE_BYTES_MAX};
use crate::random::Random;
use crate::unwrap::Unwrapper;

/// How long a wait may go on without a look at the stop flag.
const WAIT_SLICE: Duration = Duration::from_millis(50);

/// What a place in the sample costs beside its bytes: its fields and the allocator's share.
const HELD_OVERHEAD_BYTES: u64 = size_of::<Kept>() as u64 + 32;

/// The listing of this many keys is as much work for a store as the reading of one value.
const LISTED_PER_RECORD: u32 = 256;

/// One payload of the sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Where it was found: a key, a row, an offset.
    pub key: String,
    /// The payload, unwrapped.
    pub bytes: Vec<u8>,
}

/// What was taken.
#[derive(Debug, Clone, Default)]
pub struct Sampled {
    /// The payloads, in the order in which they were found.
    pub payloads: Vec<Taken>,
    /// How many values were read, with those that were refused.
    pub seen: u64,
    /// How many bytes the payloads had that were read and not refused.
    pub seen_bytes: u64,
    /// How many records the store has, where it says so.
    pub stored: Option<u64>,
    /// How many payloads of each size were seen and kept.
    pub classes: Vec<ClassCount>,
    /// How many were wrapped in what, by name.
    pub unwrapped: BTreeMap<&'static str, u64>,
    /// How many values were not taken, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Whether the user stopped it.
    pub is_cut_short: bool,
    /// Whether the limit of records to look at was reached before the end.
    pub has_reached_limit: bool,
}

struct Kept {
    priority: u64,
    index: u64,
    key: String,
    bytes: Vec<u8>,
}

impl Kept {
    fn rank(&self) -> (u64, u64) {
        (self.priority, self.index)
    }

    fn held_bytes(&self) -> u64 {
        (self.bytes.len() + self.key.len()) as u64 + HELD_OVERHEAD_BYTES
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Kept) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Kept {}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Kept) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Kept) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// The payloads of one size class.
struct Held {
    heap: BinaryHeap<Kept>,
    held_bytes: u64,
    seen: u64,
    /// The smallest rank that was given up; nothing at or above it enters.
    given_up: (u64, u64),
}

impl Held {
    fn give_up_largest(&mut self) {
        if let Some(largest) = self.heap.pop() {
            self.held_bytes -= largest.held_bytes();
            self.given_up = largest.rank();
        }
    }
}

/// Takes what an adapter finds.
pub struct Taker<'a> {
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(u64, u64),
    count: usize,
    bytes_max: u64,
    scan_limit: u64,
    interval: Option<Duration>,
    next_due: Instant,
    priorities: Random,
    choices: Random,
    unwrapper: Unwrapper,
    held: [Held; CLASSES.len()],
    listed: u64,
    /// Of the listed records, those that the pace does not know of yet.
    unpaced: u32,
    sampled: Sampled,
}

impl<'a> Taker<'a> {
    /// A taker of what these options ask for.
    pub fn new(
        options: &SampleOptions,
        stop: &'a AtomicBool,
        progress: &'a mut dyn FnMut(u64, u64),
    ) -> Taker<'a> {
        let interval = options.rate_per_second.map(|rate| Duration::from_secs(1) / rate.max(1));
        let held = std::array::from_fn(|_| Held {
            heap: BinaryHeap::new(),
            held_bytes: 0,
            seen: 0,
            given_up: (u64::MAX, u64::MAX),
        });
        let mut priorities = Random::new(options.seed);
        Taker {
            stop,
            progress,
            count: options.count,
            bytes_max: SAMPLE_BYTES_MAX,
            scan_limit: options.scan_limit,
            interval,
            next_due: Instant::now(),
            choices: Random::new(priorities.bits()),
            priorities,
            unwrapper: Unwrapper::new(VALUE_BYTES_MAX),
            held,
            listed: 0,
            unpaced: 0,
            sampled: Sampled::default(),
        }
    }

    /// Gives it a value as stored, and the name of where it was found. Waits as long as the pace
    /// asks for. On `Break` the adapter returns `Ok`: the user stopped it, or enough was looked at.
    pub fn offer(&mut self, key: &str, value: &[u8]) -> ControlFlow<()> {
        let flow = self.begin();
        let unwrapped = self.unwrapper.unwrap(value);
        match unwrapped {
            Ok((payload, wrappings)) => {
                for wrapping in wrappings {
                    *self.sampled.unwrapped.entry(wrapping.name()).or_default() += 1;
                }
                self.sampled.seen_bytes += payload.len() as u64;
                let priority = self.priorities.bits();
                let index = self.sampled.seen;
                let class = &mut self.held[class_of(payload.len())];
                class.seen += 1;
                if (priority, index) < class.given_up {
                    let (key, bytes) = (key.to_owned(), payload.to_vec());
                    let kept = Kept { priority, index, key, bytes };
                    class.held_bytes += kept.held_bytes();
                    class.heap.push(kept);
                    if class.heap.len() > self.count {
                        class.give_up_largest();
                    }
                }
                self.keep_bytes_bound();
            }
            Err(refusal) => self.count_refused(&refusal.to_string()),
        }
        self.tell();
        flow
    }

    /// Counts a value that was found and can't be taken, such as one without bytes. Paced as
    /// [`Taker::offer`] is.
    pub fn refuse(&mut self, reason: &str) -> ControlFlow<()> {
        let flow = self.begin();
        self.count_refused(reason);
        self.tell();
        flow
    }

    /// Counts records that were listed and whose values were not read, a little of the pace. On
    /// `Break` the adapter lists no more, and may still read what it chose unless the user stopped.
    pub fn list(&mut self, records: u32) -> ControlFlow<()> {
        self.listed += u64::from(records);
        self.unpaced = self.unpaced.saturating_add(records);
        while self.unpaced >= LISTED_PER_RECORD {
            self.unpaced -= LISTED_PER_RECORD;
            self.wait_for_turn();
        }
        self.flow(self.listed)
    }

    /// Whether the user asked to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Memory::Relaxed)
    }

    /// Random choices for the adapter, which follow from the seed.
    pub fn random(&mut self) -> &mut Random {
        &mut self.choices
    }

    /// Says how many records the store has.
    pub fn stored(&mut self, records: u64) {
        self.sampled.stored = Some(self.sampled.stored.unwrap_or(0).saturating_add(records));
    }

    /// The sample.
    pub fn finish(self) -> Sampled {
        let seen = self.held.each_ref().map(|class| class.seen);
        let held = self.held.each_ref().map(|class| class.heap.len());
        let places = allot(self.count, seen, held);
        let mut sampled = self.sampled;
        sampled.is_cut_short = self.stop.load(Memory::Relaxed);
        let mut kept = Vec::with_capacity(places.iter().sum());
        for ((class, places), found) in CLASSES.into_iter().zip(places).zip(self.held) {
            sampled.classes.push(ClassCount { class, seen: found.seen, kept: places as u64 });
            // In the order of their priorities, so that the places go to a fair choice of them.
            kept.extend(found.heap.into_sorted_vec().into_iter().take(places));
        }
        kept.sort_unstable_by_key(|kept| kept.index);
        let taken = |kept: Kept| Taken { key: kept.key, bytes: kept.bytes };
        sampled.payloads = kept.into_iter().map(taken).collect();
        sampled
    }

    fn begin(&mut self) -> ControlFlow<()> {
        self.wait_for_turn();
        self.sampled.seen += 1;
        self.flow(self.sampled.seen)
    }

    /// Records that were listed and values that were read each have the whole limit: what was
    /// chosen from a list may be read when the list was long.
    fn flow(&mut self, looked_at: u64) -> ControlFlow<()> {
        if looked_at >= self.scan_limit {
            self.sampled.has_reached_limit = true;
            return ControlFlow::Break(());
        }
        if self.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn count_refused(&mut self, reason: &str) {
        *self.sampled.refused.entry(reason.to_owned()).or_default() += 1;
    }

    fn tell(&mut self) {
        let held: usize = self.held.iter().map(|class| class.heap.len()).sum();
        (self.progress)(self.sampled.seen, held.min(self.count) as u64);
    }

    /// The class that holds the most bytes gives up, so that large payloads can't push small ones
    /// out.
    fn keep_bytes_bound(&mut self) {
        while self.held.iter().map(|class| class.held_bytes).sum::<u64>() > self.bytes_max {
            match self.held.iter_mut().max_by_key(|class| class.held_bytes) {
                Some(class) => class.give_up_largest(),
                None => break,
            }
        }
    }

    fn wait_for_turn(&mut self) {
        let Some(interval) = self.interval else { return };
        let mut now = Instant::now();
        while now < self.next_due && !self.stopped() {
            thread::sleep((self.next_due - now).min(WAIT_SLICE));
            now = Instant::now();
        }
        // Time that a slow store took is not made up for by a burst.
        self.next_due = self.next_due.max(now) + interval;
    }
}

#[cfg(test)]
mod tests;
