//! Whether a rollout may go on, as a pure function of what is known at one moment.
//!
//! Three answers: the next change, the reasons to wait, or the reasons to stop. Waiting is the
//! answer to everything that is not known: a process that is silent, one that has not followed yet,
//! a step that has not baked. Stopping is the answer to what is known to be wrong.

use std::fmt;
use std::time::Duration;

use cinch_rollout::decoders::Decoders;
use cinch_rollout::fleet::{Announcement, Fleet, Health, Obstacle, Practice};
use cinch_rollout::modes::{ReadMode, SingleWrite, WriteMode};
use cinch_rollout::settings::{Modes, Namespace, Slots};
use cinch_rollout::state::NamespaceState;
use cinch_rollout::steps::{Step, StepRow};

use super::baseline::Baseline;
use super::directory::Directory;
use super::limits::{Limits, P99_NOISE_US};

#[cfg(test)]
mod tests;

/// Everything that a decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
    /// The namespace, as this operator's configuration has it.
    pub namespace: &'a Namespace,
    /// Its durable state.
    pub state: &'a NamespaceState,
    /// Who is expected.
    pub expected: &'a [String],
    /// Everybody who was found.
    pub directory: &'a Directory,
    /// Who counts of them.
    pub fleet: &'a Fleet,
    /// What was counted when the step began, where that was kept.
    pub baseline: Option<&'a Baseline>,
    /// How far replicas lag, where somebody measures it.
    pub lag: Option<&'a Lag>,
    /// What stops it.
    pub limits: &'a Limits,
    /// How long this step bakes, in milliseconds; the step's own time where nothing is said.
    pub bake_ms: Option<u64>,
}

/// How far replicas lag, or why that is not known.
pub type Lag = Result<u64, String>;

/// What an operator asks for beside going on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// Who goes first; those of before where nothing is said.
    pub first: Vec<String>,
    /// For which share of keys, in percent, from 1 to 100.
    pub percent: Option<u8>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// This change.
    Advance(Change),
    /// Nothing yet, and why.
    Hold(Vec<Reason>),
    /// Nothing any more: the last step holds for all keys, and no reason stands against it.
    Finished,
}

/// The next step, or a larger share of keys within a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The step that holds then.
    pub step: Step,
    /// Who goes first.
    pub first: Vec<String>,
    /// For which share of keys, in percent.
    pub percent: u8,
}

/// Why a rollout does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It was halted.
    Halted(String),
    /// No process announces.
    Nobody,
    /// A process is expected and does not announce.
    Missing(String),
    /// A process announces something that this release can't read.
    Unreadable(String, String),
    /// An expected process knows nothing of the namespace.
    Without(String),
    /// A process has not seen the newest state.
    Behind {
        /// Which.
        process: String,
        /// The epoch that it has seen.
        epoch: u64,
        /// The newest.
        newest: u64,
    },
    /// A process does less than the step says.
    Differs {
        /// Which.
        process: String,
        /// What it does.
        does: String,
        /// What the step says.
        should: String,
    },
    /// The step has not held long enough.
    Baking {
        /// How much longer, in milliseconds.
        left_ms: u64,
    },
    /// Something stands against the next step.
    Against(Step, Obstacle),
    /// The request can't be done.
    Request(String),
    /// Packed copies differ from the raw ones.
    Mismatches(Count),
    /// Values could not be unpacked.
    DecodeErrors(Count),
    /// Payloads could not be packed.
    PackFailures(Count),
    /// A p99 grew.
    Slower {
        /// Where.
        process: String,
        /// Reads or writes.
        what: &'static str,
        /// The p99 now, in microseconds.
        p99_us: u64,
        /// That of the step before, in microseconds.
        before_us: u64,
        /// By how many percent it may grow.
        limit_percent: u64,
    },
    /// Replicas lag.
    Lag {
        /// By how much, in milliseconds.
        lag_ms: u64,
        /// By how much they may, in milliseconds.
        limit_ms: u64,
    },
    /// Nobody knows how far replicas lag.
    LagUnknown(String),
}

/// What one process counted over its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// Which process.
    pub process: String,
    /// How many since the step began.
    pub count: u64,
    /// How many are allowed.
    pub limit: u64,
}

impl Reason {
    /// Whether it shows that something is wrong, and not only that something is not known yet.
    pub fn is_stop(&self) -> bool {
        match self {
            Reason::Mismatches(_)
            | Reason::DecodeErrors(_)
            | Reason::PackFailures(_)
            | Reason::Slower { .. }
            | Reason::Lag { .. } => true,
            Reason::Halted(_)
            | Reason::Nobody
            | Reason::Missing(_)
            | Reason::Unreadable(..)
            | Reason::Without(_)
            | Reason::Behind { .. }
            | Reason::Differs { .. }
            | Reason::Baking { .. }
            | Reason::Against(..)
            | Reason::Request(_)
            | Reason::LagUnknown(_) => false,
        }
    }

    /// A name for programs, without what varies.
    pub fn name(&self) -> &'static str {
        match self {
            Reason::Halted(_) => "halted",
            Reason::Nobody => "nobody",
            Reason::Missing(_) => "missing",
            Reason::Unreadable(..) => "unreadable",
            Reason::Without(_) => "without",
            Reason::Behind { .. } => "behind",
            Reason::Differs { .. } => "differs",
            Reason::Baking { .. } => "baking",
            Reason::Against(..) => "against",
            Reason::Request(_) => "request",
            Reason::Mismatches(_) => "mismatches",
            Reason::DecodeErrors(_) => "decode_errors",
            Reason::PackFailures(_) => "pack_failures",
            Reason::Slower { .. } => "slower",
            Reason::Lag { .. } => "lag",
            Reason::LagUnknown(_) => "lag_unknown",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |f: &mut fmt::Formatter<'_>, found: &Count, what: &str| {
            let Count { process, count, limit } = found;
            write!(f, "{process} counted {count} {what} since the step began; at most {limit}")
        };
        match self {
            Reason::Halted(why) => write!(f, "halted: {why}"),
            Reason::Nobody => f.write_str("no process announces in this namespace"),
            Reason::Missing(process) => write!(f, "{process} is expected and does not announce"),
            Reason::Unreadable(process, why) => {
                write!(f, "{process} announces something that can't be read: {why}")
            }
            Reason::Without(process) => {
                write!(f, "{process} does not have this namespace in its configuration")
            }
            Reason::Behind { process, epoch, newest } => {
                write!(f, "{process} has seen epoch {epoch}, and {newest} is the newest")
            }
            Reason::Differs { process, does, should } => {
                write!(f, "{process} does {does}, the step says {should}")
            }
            Reason::Baking { left_ms } => {
                write!(f, "the step bakes for another {}", time(*left_ms))
            }
            Reason::Against(step, obstacle) => {
                write!(f, "against {}: {obstacle}", step.row().name)
            }
            Reason::Request(why) => f.write_str(why),
            Reason::Mismatches(found) => count(f, found, "mismatches"),
            Reason::DecodeErrors(found) => count(f, found, "values that can't be unpacked"),
            Reason::PackFailures(found) => count(f, found, "payloads that can't be packed"),
            Reason::Slower { process, what, p99_us, before_us, limit_percent } => write!(
                f,
                "{process}: the p99 of {what} is {p99_us} us, {before_us} us in the step before; \
                 at most {limit_percent} % more"
            ),
            Reason::Lag { lag_ms, limit_ms } => {
                write!(f, "replicas lag by {}; at most {}", time(*lag_ms), time(*limit_ms))
            }
            Reason::LagUnknown(why) => write!(f, "the lag of replicas is not known: {why}"),
        }
    }
}

/// A time for people, in whole seconds from ten seconds on.
fn time(milliseconds: u64) -> String {
    let shown = if milliseconds < 10_000 { milliseconds } else { milliseconds / 1000 * 1000 };
    humantime::format_duration(Duration::from_millis(shown)).to_string()
}

impl Situation<'_> {
    /// What is to be done.
    pub fn decide(&self, request: &Request) -> Verdict {
        let mut reasons = self.holds();
        reasons.extend(self.stops());
        match self.change(request) {
            Ok(None) if reasons.is_empty() => Verdict::Finished,
            Ok(None) => Verdict::Hold(reasons),
            Err(reason) => {
                reasons.push(reason);
                Verdict::Hold(reasons)
            }
            Ok(Some(change)) => {
                reasons.extend(self.against(change.step));
                match reasons.is_empty() {
                    true => Verdict::Advance(change),
                    false => Verdict::Hold(reasons),
                }
            }
        }
    }

    /// What is known to be wrong in this step.
    pub fn stops(&self) -> Vec<Reason> {
        let step = self.state.progress.step;
        let mut reasons = Vec::new();
        for (process, _) in self.practices() {
            let health = self.since(process);
            let mut over = |make: fn(Count) -> Reason, count: u64, limit: u64| {
                if count > limit {
                    let process = process.process.clone();
                    reasons.push(make(Count { process, count, limit }));
                }
            };
            over(Reason::Mismatches, health.mismatches, self.limits.mismatches);
            over(Reason::DecodeErrors, health.decode_errors, self.limits.decode_errors);
            over(Reason::PackFailures, health.pack_failures, self.limits.pack_failures);
            let Some(baseline) = self.baseline else { continue };
            let (read_us, write_us) = baseline.p99s(&process.process);
            let pairs = [
                ("reads", health.read_p99_us, read_us, self.limits.read_p99_percent(step)),
                ("writes", health.write_p99_us, write_us, self.limits.write_p99_percent(step)),
            ];
            for (what, p99_us, before_us, limit_percent) in pairs {
                let most = before_us.saturating_add(before_us.saturating_mul(limit_percent) / 100);
                let is_noise = p99_us.saturating_sub(before_us) <= P99_NOISE_US;
                if before_us > 0 && p99_us > most && !is_noise {
                    let process = process.process.clone();
                    reasons.push(Reason::Slower {
                        process,
                        what,
                        p99_us,
                        before_us,
                        limit_percent,
                    });
                }
            }
        }
        let limit_ms = self.limits.lag_ms();
        match self.lag {
            Some(Ok(lag_ms)) if *lag_ms > limit_ms => {
                reasons.push(Reason::Lag { lag_ms: *lag_ms, limit_ms });
            }
            _ => {}
        }
        reasons
    }

    /// What is not known yet.
    fn holds(&self) -> Vec<Reason> {
        let progress = &self.state.progress;
        let mut reasons = Vec::new();
        reasons.extend(progress.halted.clone().map(Reason::Halted));
        let unreadable = &self.directory.unreadable;
        for name in &self.fleet.missing {
            reasons.push(match unreadable.iter().find(|(found, _)| found == name) {
                Some((_, why)) => Reason::Unreadable(name.clone(), why.clone()),
                None => Reason::Missing(name.clone()),
            });
        }
        if self.practices().next().is_none() {
            reasons.push(Reason::Nobody);
        }
        for process in &self.fleet.live {
            match process.namespaces.get(&self.namespace.name) {
                Some(practice) => reasons.extend(self.follows(&process.process, practice)),
                None if self.expected.contains(&process.process) => {
                    reasons.push(Reason::Without(process.process.clone()));
                }
                None => {}
            }
        }
        let left_ms = self.bake_left_ms();
        if left_ms > 0 {
            reasons.push(Reason::Baking { left_ms });
        }
        if let Some(Err(why)) = self.lag {
            reasons.push(Reason::LagUnknown(why.clone()));
        }
        reasons
    }

    /// Why a process does not count as having taken the step, if it has not.
    fn follows(&self, process: &str, practice: &Practice) -> Option<Reason> {
        let newest = self.state.epoch;
        if practice.epoch < newest {
            let process = process.to_owned();
            return Some(Reason::Behind { process, epoch: practice.epoch, newest });
        }
        let progress = &self.state.progress;
        // Outside the share the step before holds, and a process announces the least it does.
        let step = match progress.percent {
            100.. => progress.step,
            _ => progress.step.back().unwrap_or(progress.step),
        };
        let (does, should) =
            less(practice, step.row(), progress.first.iter().any(|p| p == process))?;
        Some(Reason::Differs { process: process.to_owned(), does, should })
    }

    /// How much longer the step bakes, in milliseconds.
    pub fn bake_left_ms(&self) -> u64 {
        let progress = &self.state.progress;
        let bake_ms = self.bake_ms.unwrap_or(progress.step.row().bake_s * 1000);
        // A rollout that has not begun starts to bake now.
        let since_ms = if progress.since_ms == 0 { self.now_ms } else { progress.since_ms };
        since_ms.saturating_add(bake_ms).saturating_sub(self.now_ms)
    }

    /// The next change, if there is one.
    fn change(&self, request: &Request) -> Result<Option<Change>, Reason> {
        let progress = &self.state.progress;
        let refuse = |why: String| Err(Reason::Request(why));
        let percent = request.percent.unwrap_or(100);
        if !(1..=100).contains(&percent) {
            return refuse(format!("a share is from 1 to 100 percent, and not {percent}"));
        }
        let is_live = |name: &&String| self.practices().any(|(found, _)| found.process == **name);
        if let Some(stranger) = request.first.iter().find(|name| !is_live(name)) {
            return refuse(format!("{stranger} is to go first and does not announce"));
        }
        // A share that is not whole grows first; the next step is for all keys of this one.
        if progress.percent < 100 {
            if percent <= progress.percent {
                let now = progress.percent;
                return refuse(format!("the share is {now} % and can only grow; or go back"));
            }
            if !request.first.is_empty() && request.first != progress.first {
                return refuse("who goes first is chosen with a step, not with a share".to_owned());
            }
            let (step, first) = (progress.step, progress.first.clone());
            return Ok(Some(Change { step, first, percent }));
        }
        let Some(step) = self.next_step() else { return Ok(None) };
        let mut first = request.first.clone();
        if first.is_empty() {
            first = progress.first.iter().filter(is_live).cloned().collect();
        }
        if first.is_empty() {
            // Any one process of the declared fleet will do, as published, and no job beside it;
            // the same answer every time is easier to check.
            let is_meant = |name: &String| self.expected.is_empty() || self.expected.contains(name);
            let names = self.practices().map(|(found, _)| found.process.clone());
            first.extend(names.filter(is_meant).min());
        }
        Ok(Some(Change { step, first, percent }))
    }

    /// The step after this one that changes anything with this number of slots.
    pub fn next_step(&self) -> Option<Step> {
        next_step(self.state.progress.step, self.namespace.slots())
    }

    /// What stands against a step, in the fleet or in what the configuration declares.
    fn against(&self, step: Step) -> Vec<Reason> {
        let (namespace, fleet) = (self.namespace, self.fleet);
        let needs = Needs::of(step, namespace.slots());
        let mut found = Vec::new();
        if needs.decoders {
            let mut values = self.state.stored.clone();
            values.extend(&Decoders::of_profile(&namespace.profile));
            found.extend(fleet.against_values(&namespace.name, &values));
        }
        if needs.packed_writers {
            found.extend(namespace.has_legacy_writers.then_some(Obstacle::LegacyWriters));
            found.extend(fleet.against_packed_only_reads(&namespace.name));
        }
        if needs.packed_readers {
            found.extend(namespace.has_legacy_readers.then_some(Obstacle::LegacyReaders));
            if namespace.slots() == Slots::Two {
                found.extend(fleet.against_raw_less(&namespace.name));
            }
        }
        // Who is missing was said already.
        found.retain(|obstacle| !matches!(obstacle, Obstacle::Missing(_)));
        found.into_iter().map(|obstacle| Reason::Against(step, obstacle)).collect()
    }

    /// What a process counted since the step began; the percentiles are those of now.
    pub fn since(&self, process: &Announcement) -> Health {
        let practice = process.namespaces.get(&self.namespace.name);
        let health = practice.map_or(Health::default(), |practice| practice.health);
        let incarnation = self.directory.incarnations.get(&process.process).copied();
        match self.baseline {
            Some(baseline) => baseline.since(&process.process, incarnation, health),
            None => health,
        }
    }

    /// The live processes that do anything in the namespace.
    pub fn practices(&self) -> impl Iterator<Item = (&Announcement, &Practice)> {
        self.fleet.live.iter().filter_map(|process| {
            process.namespaces.get(&self.namespace.name).map(|practice| (process, practice))
        })
    }
}

impl Change {
    /// The state in which the change holds: what may be stored from then on is written down in the
    /// same compare-and-set as the step that allows it.
    pub fn apply(
        &self,
        namespace: &Namespace,
        state: &NamespaceState,
        now_ms: u64,
    ) -> NamespaceState {
        let needs = Needs::of(self.step, namespace.slots());
        state.next(|next| {
            if needs.decoders {
                next.may_be_packed = true;
                next.stored.extend(&Decoders::of_profile(&namespace.profile));
            }
            next.may_lack_raw |= needs.packed_readers && namespace.slots() == Slots::Two;
            // Whoever proves that there are no such records has to begin anew.
            next.sealed &= !needs.packed_readers;
            next.may_be_foreign |= !namespace.foreign_formats.is_empty();
            next.progress.step = self.step;
            next.progress.percent = self.percent;
            next.progress.first.clone_from(&self.first);
            // A moment names a step's baseline, so no two steps begin at the same one.
            next.progress.since_ms = now_ms.max(state.progress.since_ms + 1);
        })
    }
}

/// What a step relies on.
struct Needs {
    /// Packed values are stored: everybody must be able to decode them.
    decoders: bool,
    /// The packed copy is believed: everybody must write it.
    packed_writers: bool,
    /// There is no raw copy: everybody must read the packed one.
    packed_readers: bool,
}

impl Needs {
    fn of(step: Step, slots: Slots) -> Needs {
        let row = step.row();
        match slots {
            Slots::Two => Needs {
                decoders: row.two.iter().any(|(write, _)| write.writes_packed()),
                packed_writers: row.two.iter().any(|(_, read)| *read == ReadMode::CompressOnly),
                packed_readers: row.two.iter().any(|(write, _)| *write == WriteMode::CompressOnly),
            },
            Slots::One => {
                let packs = row.one.contains(&SingleWrite::Packed);
                Needs { decoders: packs, packed_writers: false, packed_readers: packs }
            }
        }
    }
}

/// The step after one that changes anything with a number of slots.
pub fn next_step(step: Step, slots: Slots) -> Option<Step> {
    let mut next = step.next(slots)?;
    while slots == Slots::One && next.row().one == step.row().one {
        next = next.next(slots)?;
    }
    Some(next)
}

/// What a process does and what a step says, where that is more.
fn less(practice: &Practice, row: &StepRow, is_first: bool) -> Option<(String, String)> {
    let other = usize::from(!is_first);
    if let (Some(write), Some(read)) = (practice.write, practice.read) {
        let (row_write, row_read) = row.two[other];
        let shown = |write: WriteMode, read: ReadMode| format!("{}/{}", write.name(), read.name());
        return (write < row_write || read < row_read)
            .then(|| (shown(write, read), shown(row_write, row_read)));
    }
    let (write, should) = (practice.single?, row.one[other]);
    (write < should).then(|| (write.name().to_owned(), should.name().to_owned()))
}

/// Whether the steps of a namespace are in the durable state, and not in configurations.
pub fn is_managed(namespace: &Namespace) -> bool {
    matches!(namespace.modes, Modes::Managed(_))
}
