//! Brings what is stored to what the policy would write today, or back to plain, while the
//! application goes on: one compare-and-set for each record, on exactly what was read.
//!
//! What a writer changes meanwhile is left to the writer, whose record is newer; a time to live
//! stays as it is; nothing is written that would not read as what was read. The job can be ended at
//! any moment, also by force: it goes on from its checkpoint, and doing a record twice changes
//! nothing. spec/stores.md says what is guaranteed and what else such a job disturbs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use cinch_rollout::Record;
use cinch_rollout::live::{Live, Ready};
use cinch_rollout::modes::{ReadMode, SingleWrite, WriteMode};
use cinch_rollout::policy::{OneSlotPlan, Plan, TwoSlotPlan};
use cinch_rollout::settings::Modes;

use crate::problems;
use crate::store::{Condition, Expiry, Found, PutOutcome, Store};
use crate::walk::{self, Call, Paced, Steps, Visit, WalkError, WalkOptions};

mod checkpoint;
mod convert;
mod estimate;
mod job;
mod report;
#[cfg(test)]
mod tests;

pub use estimate::{Estimate, EstimateOptions, Interval, SAMPLE_DEFAULT, estimate};
pub use report::{BackfillReport, Counts};

use checkpoint::Checkpoint;
use convert::{Decision, Left, decide};

/// How often a record is tried that somebody changes between reading and writing it. After that it
/// is left: a record under such traffic is written by the application anyway.
const TRIES_MAX: u32 = 4;

/// The time that a record must have left for a rewrite to be worth it, unless somebody says
/// otherwise, in milliseconds.
pub const SKIP_EXPIRING_BELOW_MS_DEFAULT: u64 = 60_000;

/// What records are brought to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// What the policy would write for each key today: also another codec or dictionary, and
    /// envelopes in place of the foreign formats that the namespace lists.
    Policy,
    /// Plain payloads: raw fields without packed ones, values without envelopes.
    Plain,
}

/// How a backfill goes.
#[derive(Debug, Clone)]
pub struct BackfillOptions {
    /// Which keys, and how fast.
    pub walk: WalkOptions,
    /// What they become.
    pub target: Target,
    /// Whether records are also rewritten whose packed bytes alone differ, as those of another
    /// level or an older encoder do.
    pub is_exact: bool,
    /// Records with less time left than this are skipped, in milliseconds.
    pub skip_expiring_below_ms: u64,
    /// Where the job goes on after an interruption; `None` keeps no checkpoint.
    pub checkpoint: Option<PathBuf>,
}

impl Default for BackfillOptions {
    fn default() -> BackfillOptions {
        BackfillOptions {
            walk: WalkOptions::default(),
            target: Target::Policy,
            is_exact: false,
            skip_expiring_below_ms: SKIP_EXPIRING_BELOW_MS_DEFAULT,
            checkpoint: None,
        }
    }
}

/// What somebody who waits sees.
#[derive(Debug, Clone)]
pub struct Progress<'a> {
    /// What was done so far, earlier runs of the job included.
    pub counts: &'a Counts,
    /// The rate that the server allows, in records a second.
    pub rate: f64,
}

/// Runs a backfill to its end, to `stop`, or to an error; from its checkpoint, where it has one.
///
/// # Errors
/// [`WalkError`]; what was done stays done, and the checkpoint says where to go on.
pub async fn backfill(
    store: Arc<dyn Store>,
    live: Arc<Live>,
    options: &BackfillOptions,
    stop: &AtomicBool,
    progress: &mut (dyn FnMut(&Progress<'_>) + Send),
) -> Result<BackfillReport, WalkError> {
    check(store.as_ref(), &live, options)?;
    let job = job::of(store.as_ref(), &live, options);
    let mut checkpoint = Checkpoint::open(options.checkpoint.as_deref(), &job)?;
    let (from, resumed) = (checkpoint.cursor(), checkpoint.was_there());
    let work = Arc::new(Backfill {
        paced: Paced::new(store, &options.walk),
        live,
        options: options.clone(),
        counts: Mutex::new(checkpoint.counts()),
    });
    let told = Arc::clone(&work);
    let saved = Arc::clone(&work);
    let mut after_record = move || {
        let rate = told.paced.pace.rate();
        progress(&Progress { counts: &told.counts(), rate });
    };
    let mut after_page = |next: Option<&[u8]>| checkpoint.save(next, &saved.counts());
    let steps = Steps { after_page: &mut after_page, after_record: &mut after_record };
    let is_complete =
        walk::walk(&work.paced, &work, options.walk.concurrency, from, stop, steps).await?;
    let counts = work.counts().clone();
    Ok(BackfillReport { is_complete, resumed, counts })
}

/// Whether a backfill may begin: its namespaces are there and fit the store, and the policy is what
/// is configured, for all keys.
///
/// # Errors
/// [`WalkError`], which says what to see to first.
pub fn check(store: &dyn Store, live: &Live, options: &BackfillOptions) -> Result<(), WalkError> {
    walk::check(store, live, options.walk.namespace.as_deref())?;
    check_plans(live, options)
}

/// A name for the checkpoint of a job, which another job has not.
pub fn checkpoint_name(store: &dyn Store, live: &Live, options: &BackfillOptions) -> String {
    format!("cinch-backfill-{}.json", job::of(store, live, options).hash)
}

/// Refuses to bring records to what nobody configured, because the policy is held back.
fn check_plans(live: &Live, options: &BackfillOptions) -> Result<(), WalkError> {
    let snapshot = live.snapshot();
    let process = &snapshot.configuration.process;
    let only = options.walk.namespace.as_deref();
    let in_question = |ready: &&Ready| only.is_none_or(|name| ready.namespace().name == name);
    for ready in snapshot.namespaces().iter().filter(in_question) {
        ready.plans().into_iter().try_for_each(|plan| not_held_back(ready, plan, options))?;
        let namespace = ready.namespace();
        let first = &namespace.processes;
        if options.target == Target::Policy && !first.is_empty() && !first.contains(process) {
            return Err(WalkError::HeldBack {
                namespace: namespace.name.clone(),
                obstacle: format!("its modes hold for {} alone", first.join(", ")),
            });
        }
    }
    Ok(())
}

fn not_held_back(ready: &Ready, plan: &Plan, options: &BackfillOptions) -> Result<(), WalkError> {
    let obstacle = match plan {
        Plan::Two(plan) => &plan.write_obstacle,
        Plan::One(plan) => &plan.write_obstacle,
    };
    match obstacle {
        Some(obstacle) if options.target == Target::Policy => Err(WalkError::HeldBack {
            namespace: ready.namespace().name.clone(),
            obstacle: obstacle.to_string(),
        }),
        _ if options.target == Target::Policy => not_ahead(ready, plan),
        _ => Ok(()),
    }
}

/// Refuses to go where a managed rollout does not stand: while its step packs nothing for this
/// process or for some keys, what others have packed would be taken apart again.
fn not_ahead(ready: &Ready, plan: &Plan) -> Result<(), WalkError> {
    let is_packing = match plan {
        Plan::Two(plan) => plan.write.writes_packed(),
        Plan::One(plan) => plan.write == SingleWrite::Packed,
    };
    match ready.namespace().modes {
        Modes::Managed(_) if !is_packing => {
            Err(WalkError::Ahead { namespace: ready.namespace().name.clone() })
        }
        _ => Ok(()),
    }
}

/// The plan by which a record is read and written: both copies are read and compared, whatever the
/// application believes.
fn plan_of(policy: &Plan, target: Target) -> Plan {
    match (policy, target) {
        (Plan::Two(plan), target) => Plan::Two(TwoSlotPlan {
            write: if target == Target::Plain { WriteMode::NoCompress } else { plan.write },
            read: ReadMode::VerifyCompress,
            write_obstacle: None,
            read_obstacle: None,
        }),
        (Plan::One(plan), target) => Plan::One(OneSlotPlan {
            write: if target == Target::Plain { SingleWrite::Plain } else { plan.write },
            write_obstacle: None,
        }),
    }
}

/// The work on each record.
struct Backfill {
    paced: Paced,
    live: Arc<Live>,
    options: BackfillOptions,
    counts: Mutex<Counts>,
}

/// A write whose answer was lost.
struct Unsure {
    before: usize,
    after: usize,
}

impl Backfill {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        // A panic while it was held leaves counts of which one may be missing.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_expiring(&self, found: &Found) -> bool {
        found.expires_in_ms.is_some_and(|left| left < self.options.skip_expiring_below_ms)
    }

    /// What is to become of a record now; the policy may have changed since the last one.
    fn decide(&self, key: &[u8], found: &Found) -> Result<Option<Decision>, WalkError> {
        let snapshot = self.live.snapshot();
        let only = self.options.walk.namespace.as_deref();
        let Some(ready) = walk::ready_of(&snapshot, key, only) else { return Ok(None) };
        let policy = ready.plan_for(key);
        not_held_back(ready, policy, &self.options)?;
        let plan = plan_of(policy, self.options.target);
        let shape = self.paced.store.shape();
        let record = &found.record;
        let is_exact = self.options.is_exact;
        Ok(Some(decide(&ready.gate, &plan, &shape, record, is_exact, now_ms())))
    }

    async fn replace(
        &self,
        key: &[u8],
        found: Found,
        record: &Record,
    ) -> Result<PutOutcome, crate::StoreError> {
        let condition = Condition::Is(found.version);
        let put = self.paced.store.put(key, record, &condition, Expiry::Keep);
        self.paced.timed(Call::Write, put).await
    }

    fn note_left(&self, key: &[u8], left: Left) {
        let mut counts = self.counts();
        match left {
            Left::Already => {
                counts.already += 1;
                return;
            }
            Left::Null => {
                counts.null += 1;
                return;
            }
            _ => {}
        }
        let (kind, message) = left.told();
        counts.left += 1;
        let hides_keys = self.options.walk.hides_keys;
        problems::note(&mut counts.problems, kind, key, message, hides_keys);
    }
}

#[async_trait]
impl Visit for Backfill {
    fn wants(&self, key: &[u8]) -> bool {
        let only = self.options.walk.namespace.as_deref();
        let is_wanted = walk::ready_of(&self.live.snapshot(), key, only).is_some();
        if !is_wanted {
            self.counts().outside += 1;
        }
        is_wanted
    }

    async fn visit(&self, key: &[u8]) -> Result<(), WalkError> {
        let mut unsure: Option<Unsure> = None;
        let mut breaks = 0;
        let mut tries = 0;
        while tries < TRIES_MAX {
            let found = match self.paced.get(key).await {
                Ok(Some(found)) => found,
                Ok(None) => {
                    self.counts().gone += 1;
                    return Ok(());
                }
                Err(error) if is_about_one_record(&error) => {
                    let mut counts = self.counts();
                    counts.left += 1;
                    let hides_keys = self.options.walk.hides_keys;
                    let problems = &mut counts.problems;
                    problems::note(problems, "refused", key, error.to_string(), hides_keys);
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
            if self.is_expiring(&found) {
                self.counts().expiring += 1;
                return Ok(());
            }
            let Some(decision) = self.decide(key, &found)? else { return Ok(()) };
            let write = match decision {
                Decision::Write(write) => write,
                Decision::Leave(Left::Already) if unsure.is_some() => break,
                Decision::Leave(left) => {
                    self.note_left(key, left);
                    return Ok(());
                }
            };
            match self.replace(key, found, &write.record).await {
                Ok(PutOutcome::Written) => {
                    self.counts().note_rewritten(&write);
                    return Ok(());
                }
                Ok(PutOutcome::ConditionFailed) => {
                    self.counts().conflicts += 1;
                    tries += 1;
                }
                // It may have been written; the next read tells.
                Err(error) if error.is_transient() && breaks < TRIES_MAX => {
                    breaks += 1;
                    unsure = Some(Unsure { before: write.before, after: write.after });
                }
                Err(error) if is_about_one_record(&error) => {
                    self.note_left(key, Left::NotPacked(error.to_string()));
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
        let mut counts = self.counts();
        match unsure {
            Some(sizes) if tries < TRIES_MAX => counts.note_sizes(sizes.before, sizes.after),
            _ => counts.changed += 1,
        }
        Ok(())
    }
}

/// Whether a store refused one record and would take the next.
fn is_about_one_record(error: &crate::StoreError) -> bool {
    use crate::StoreError::{Shape, TooLarge};
    matches!(error, Shape { .. } | TooLarge { .. })
}

/// The time for the metadata, in milliseconds since 1970; people read it, no decision does.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Whether somebody asked to stop.
fn is_stopped(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}
