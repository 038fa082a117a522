//! Two sides timed in pairs of short batches, in random order, so that whatever else the machine
//! does falls on both. The difference of a pair is the datum; its median is the result.
//!
//! Where things happen to lie in memory can cost more than our call does. So each group of pairs
//! has fresh contexts, made in random order, each batch starts at a random depth of the stack, and
//! the interval draws whole groups again: luck becomes noise in place of a bias.

use std::hint::black_box;

use crate::clock::Clock;
use crate::failure::Outcome;
use crate::random::Random;
use crate::side::Side;
use crate::statistics::{median, median_interval};

/// The most that is allocated between two contexts to move them: some pages.
const BALLAST_BYTES_MAX: usize = 16 << 10;

/// The most frames of [`deeper`] below a batch: more than a page of stack, because the processor
/// takes two addresses for the same when they differ by whole pages.
const FRAMES_MAX: usize = 24;

/// A side, and the memory that was held before it was made.
type Placed = (Vec<u8>, Box<dyn Side>);

/// New contexts for both sides.
struct Fresh {
    ours: Placed,
    bare: Placed,
}

/// Makes a side with contexts of its own.
pub(crate) type MakeSide<'a> = &'a dyn Fn() -> Outcome<Box<dyn Side>>;

/// How long to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Groups of pairs, each with contexts of its own.
    pub(crate) groups: usize,
    /// Pairs of batches in a group.
    pub(crate) pairs: usize,
    /// The least time of a batch, far above the clock's own cost.
    pub(crate) batch_ns: f64,
}

impl Effort {
    /// 320 pairs.
    pub(crate) const USUAL: Effort = Effort { groups: 32, pairs: 10, batch_ns: 60_000.0 };

    /// Enough to run all the code, and far too little to believe a time.
    #[cfg(test)]
    pub(crate) const TINY: Effort = Effort { groups: 2, pairs: 1, batch_ns: 1.0 };

    /// Five times the pairs.
    pub(crate) fn more(self) -> Effort {
        Effort { groups: self.groups * 5, ..self }
    }
}

/// A median with its interval of 95 %.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Median {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// What a comparison found, in nanoseconds per call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comparison {
    pub(crate) ours_ns: f64,
    pub(crate) bare_ns: f64,
    pub(crate) difference_ns: Median,
    pub(crate) ratio: f64,
    pub(crate) pairs: usize,
}

/// What is compared: how each side is made, and what it works on.
pub(crate) struct Subject<'a> {
    pub(crate) ours: MakeSide<'a>,
    pub(crate) bare: MakeSide<'a>,
    pub(crate) input: &'a [u8],
    /// What one call writes, in bytes: a side that writes anything else has failed.
    pub(crate) written_bytes: usize,
}

impl Subject<'_> {
    /// Compares the sides. `output` is used by both.
    pub(crate) fn compare(
        &self,
        effort: Effort,
        output: &mut [u8],
        random: &mut Random,
    ) -> Outcome<Comparison> {
        let mut ours_ns = Vec::new();
        let mut bare_ns = Vec::new();
        let mut groups = Vec::new();
        let calls = self.calls(effort.batch_ns, output, random)?;
        for _ in 0..effort.groups {
            let Fresh { ours: (_ours_ballast, mut ours), bare: (_bare_ballast, mut bare) } =
                self.fresh(calls, output, random)?;
            let mut differences = Vec::with_capacity(effort.pairs);
            for _ in 0..effort.pairs {
                let (of_ours, of_bare) = if random.is_heads() {
                    let of_ours = self.time(ours.as_mut(), calls, output, random)?;
                    (of_ours, self.time(bare.as_mut(), calls, output, random)?)
                } else {
                    let of_bare = self.time(bare.as_mut(), calls, output, random)?;
                    (self.time(ours.as_mut(), calls, output, random)?, of_bare)
                };
                ours_ns.push(of_ours);
                bare_ns.push(of_bare);
                differences.push(of_ours - of_bare);
            }
            groups.push(differences);
        }
        let (low, high) = median_interval(&groups, random);
        let ratios: Vec<f64> =
            ours_ns.iter().zip(&bare_ns).map(|(ours, bare)| ours / bare).collect();
        Ok(Comparison {
            ours_ns: median(&ours_ns),
            bare_ns: median(&bare_ns),
            difference_ns: Median { value: median(&groups.concat()), low, high },
            ratio: median(&ratios),
            pairs: ours_ns.len(),
        })
    }

    /// New contexts in random order, and memory of random sizes before them that is only held: the
    /// allocator is regular enough to give one side the better place every time. Each is warmed up
    /// before the next is made, since a library may allocate in its first call.
    fn fresh(&self, calls: u32, output: &mut [u8], random: &mut Random) -> Outcome<Fresh> {
        let is_ours_first = random.is_heads();
        let mut fresh = |make: MakeSide<'_>| -> Outcome<Placed> {
            let ballast = Vec::with_capacity(1 + random.below(BALLAST_BYTES_MAX));
            let mut side = make()?;
            self.time(side.as_mut(), calls.div_ceil(4), output, random)?;
            Ok((ballast, side))
        };
        if is_ours_first {
            let ours = fresh(self.ours)?;
            Ok(Fresh { ours, bare: fresh(self.bare)? })
        } else {
            let bare = fresh(self.bare)?;
            Ok(Fresh { ours: fresh(self.ours)?, bare })
        }
    }

    /// How many calls of the bare side make a batch.
    fn calls(&self, batch_ns: f64, output: &mut [u8], random: &mut Random) -> Outcome<u32> {
        let mut bare = (self.bare)()?;
        self.time(bare.as_mut(), 1, output, random)?;
        let mut calls = 1_u32;
        loop {
            let call_ns = self.time(bare.as_mut(), calls, output, random)?;
            if call_ns * f64::from(calls) >= batch_ns {
                return Ok(calls);
            }
            let wanted = batch_ns / call_ns.max(1.0) * 1.1;
            calls = (wanted as u32).clamp(calls + 1, calls * 8);
        }
    }

    /// Nanoseconds per call.
    fn time(
        &self,
        side: &mut dyn Side,
        calls: u32,
        output: &mut [u8],
        random: &mut Random,
    ) -> Outcome<f64> {
        let (mut written, mut elapsed_ns) = (0, 0.0);
        deeper(random.below(FRAMES_MAX), &mut || {
            let clock = Clock::start();
            written = side.run(calls, self.input, output);
            elapsed_ns = clock.elapsed_ns();
        });
        if written != self.written_bytes * calls as usize {
            return Err("a side failed while it was timed".into());
        }
        Ok(elapsed_ns / f64::from(calls))
    }
}

/// Does the work this many frames further down the stack, each of a few hundred bytes.
#[inline(never)]
fn deeper(frames: usize, work: &mut dyn FnMut()) {
    let frame = black_box([0_u8; 240]);
    if frames == 0 {
        work();
    } else {
        deeper(frames - 1, work);
    }
    // Used after the call, so that the call can't take the frame's place.
    black_box(&frame);
}
