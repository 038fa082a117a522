//! The policy: a pure function of the configuration, the key, the fleet and the durable state to
//! what is written and how it is read.
//!
//! The configured modes are a wish. Where the fleet or the state stands against it, the answer is
//! the nearest mode that no reader can be hurt by, with the obstacle beside it, so that a process
//! which was configured too early is counted and not wrong. Nothing here waits or fails.

use xxhash_rust::xxh64::xxh64;

use crate::decoders::{Decoders, Lack};
use crate::fleet::{Fleet, Obstacle};
use crate::modes::{ReadMode, SingleWrite, WriteMode};
use crate::settings::{Configuration, Modes, Namespace, Slots};
use crate::state::NamespaceState;

/// The seed of the hash that sorts keys for shares: other users of XXH64 over keys (sharding,
/// caches) must not see the same keys together.
const SHARE_SEED: u64 = 0x63696E63680001;

/// Everything that a decision depends on, but for the key.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    /// The process's settings.
    pub configuration: &'a Configuration,
    /// The namespace's.
    pub namespace: &'a Namespace,
    /// What the fleet announces.
    pub fleet: &'a Fleet,
    /// What is durable.
    pub state: &'a NamespaceState,
}

/// What to do with a store that has two slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwoSlotPlan {
    /// What a write puts there.
    pub write: WriteMode,
    /// What a read believes.
    pub read: ReadMode,
    /// Why it is not what was configured, if it is not.
    pub write_obstacle: Option<Obstacle>,
    /// Why reading is not what was configured, if it is not.
    pub read_obstacle: Option<Obstacle>,
}

/// What to do with a store that has one slot. Every envelope is read, always.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneSlotPlan {
    /// What a write puts there.
    pub write: SingleWrite,
    /// Why it is not what was configured, if it is not.
    pub write_obstacle: Option<Obstacle>,
}

/// A plan for either kind of store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// For a store with two slots.
    Two(TwoSlotPlan),
    /// For a store with one.
    One(OneSlotPlan),
}

/// Where a key stands among all keys, from 0 to 99: it is in a share of p percent if this is less
/// than p. It depends on the key and the namespace's name alone, so a key keeps its side.
pub fn share_of(namespace: &str, key: &[u8]) -> u8 {
    let hash = xxh64(key, xxh64(namespace.as_bytes(), SHARE_SEED));
    ((u128::from(hash) * 100) >> 64) as u8
}

/// What to write and how to read, for a key that stands at `share` ([`share_of`]).
pub fn decide(circumstances: &Circumstances<'_>, share: u8) -> Plan {
    let wish = wish(circumstances, share);
    match wish {
        Wish::Two(write, read) => Plan::Two(two(circumstances, write, read)),
        Wish::One(write) => Plan::One(one(circumstances, write)),
    }
}

/// What was configured for a key, before the fleet and the state are asked.
enum Wish {
    Two(WriteMode, ReadMode),
    One(SingleWrite),
}

fn wish(circumstances: &Circumstances<'_>, share: u8) -> Wish {
    let Circumstances { configuration, namespace, state, .. } = circumstances;
    let off = match namespace.slots() {
        Slots::Two => Wish::Two(WriteMode::NoCompress, ReadMode::NoCompress),
        Slots::One => Wish::One(SingleWrite::Plain),
    };
    if !configuration.compression_enabled {
        return off;
    }
    let progress = &state.progress;
    let (first, percent) = match namespace.modes {
        Modes::Managed(_) => (&progress.first, progress.percent),
        Modes::Two { .. } | Modes::One { .. } => (&namespace.processes, namespace.percent),
    };
    let is_first = first.contains(&configuration.process);
    let is_in_share = share < percent;
    match namespace.modes {
        Modes::Two { .. } | Modes::One { .. } if !is_in_share => off,
        Modes::Two { .. } | Modes::One { .. } if !first.is_empty() && !is_first => off,
        Modes::Two { write, read } => Wish::Two(write, read),
        Modes::One { write } => Wish::One(write),
        Modes::Managed(slots) => {
            // A key outside the share is treated as it was one step before.
            let step = match is_in_share {
                true => progress.step,
                false => progress.step.back().unwrap_or(progress.step),
            };
            let row = step.row();
            match slots {
                Slots::Two => {
                    let (write, read) = row.two[usize::from(!is_first)];
                    Wish::Two(write, read)
                }
                Slots::One => Wish::One(row.one[usize::from(!is_first)]),
            }
        }
    }
}

fn two(circumstances: &Circumstances<'_>, write: WriteMode, read: ReadMode) -> TwoSlotPlan {
    let (write, write_obstacle) = two_write(circumstances, write);
    let (read, read_obstacle) = two_read(circumstances, read);
    TwoSlotPlan { write, read, write_obstacle, read_obstacle }
}

fn two_write(circumstances: &Circumstances<'_>, wish: WriteMode) -> (WriteMode, Option<Obstacle>) {
    let Circumstances { namespace, fleet, state, .. } = circumstances;
    if !wish.writes_packed() {
        return (wish, None);
    }
    // With the raw copy beside it, a packed copy that somebody can't decode costs a counter there
    // and not a payload; still nothing is gained by it.
    if let Some(obstacle) = fleet.against_profile(&namespace.name, &namespace.profile) {
        return (WriteMode::NoCompress, Some(obstacle));
    }
    if let Some(obstacle) = unnamed(namespace, state) {
        return (WriteMode::NoCompress, Some(obstacle));
    }
    if wish.writes_raw() {
        return (wish, None);
    }
    let obstacle = if namespace.has_legacy_readers {
        Some(Obstacle::LegacyReaders)
    } else if !state.may_lack_raw {
        Some(Obstacle::State("that no record lacks its raw copy"))
    } else if state.sealed {
        Some(Obstacle::State("that a verification proves that no record lacks its raw copy"))
    } else {
        fleet.against_raw_less(&namespace.name)
    };
    match obstacle {
        None => (wish, None),
        obstacle => (WriteMode::Dual, obstacle),
    }
}

fn two_read(circumstances: &Circumstances<'_>, wish: ReadMode) -> (ReadMode, Option<Obstacle>) {
    let Circumstances { namespace, fleet, state, .. } = circumstances;
    match wish {
        // The raw field of some records is empty. Reading it alone would lose them.
        ReadMode::NoCompress if state.may_lack_raw => {
            let obstacle = Obstacle::State("that records may lack their raw copy");
            (ReadMode::CompressOnly, Some(obstacle))
        }
        ReadMode::VerifyCompress if state.may_lack_raw => (wish, None),
        // While somebody writes the raw copy alone it is the one that is right; once records lack
        // it there is nothing else to read.
        ReadMode::CompressOnly if !state.may_lack_raw => {
            let obstacle = match namespace.has_legacy_writers {
                true => Some(Obstacle::LegacyWriters),
                false => fleet.against_packed_only_reads(&namespace.name),
            };
            match obstacle {
                None => (wish, None),
                obstacle => (ReadMode::VerifyCompress, obstacle),
            }
        }
        _ => (wish, None),
    }
}

fn one(circumstances: &Circumstances<'_>, wish: SingleWrite) -> OneSlotPlan {
    let Circumstances { namespace, fleet, state, .. } = circumstances;
    let obstacle = if wish != SingleWrite::Packed {
        None
    } else if namespace.has_legacy_readers {
        Some(Obstacle::LegacyReaders)
    } else if !state.may_be_packed {
        Some(Obstacle::State("that no value is packed"))
    } else if state.sealed {
        Some(Obstacle::State("that a verification proves that no value is packed"))
    } else {
        unnamed(namespace, state)
            .or_else(|| fleet.against_profile(&namespace.name, &namespace.profile))
    };
    match obstacle {
        None => OneSlotPlan { write: wish, write_obstacle: None },
        obstacle => OneSlotPlan { write: SingleWrite::Plain, write_obstacle: obstacle },
    }
}

/// What would be needed to read what is written, and does not stand in the durable state, where
/// whoever starts looks for it.
fn unnamed(namespace: &Namespace, state: &NamespaceState) -> Option<Obstacle> {
    let missing = Decoders::of_profile(&namespace.profile).missing_in(&state.stored)?;
    Some(Obstacle::State(match missing {
        Lack::Dictionary(_) => "that no value names the profile's dictionary",
        Lack::Schema(_) => "that no value names the profile's schema",
        Lack::Encoding(_) => "that no value is in the profile's encoding",
        Lack::Codec(_) | Lack::EnvelopeVersion(_) => "that no value is in the profile's codec",
    }))
}

#[cfg(test)]
mod tests;
