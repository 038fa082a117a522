//! Reads every record of a store as a reader would, and says what can't be read, what is odd, and
//! what is stored at all.
//!
//! It writes nothing. What it finds about a namespace are facts of the moments at which each record
//! was read: they allow the durable state to forget that records may lack their raw copy, or that a
//! dictionary is needed, only if nobody has written such records since the verification began.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cinch_core::envelope::{Header, looks_like_envelope};
use cinch_core::pack::looks_like_interop;
use cinch_rollout::Record;
use cinch_rollout::gate::{Finding, Read, ReadError, Source};
use cinch_rollout::live::Live;
use cinch_rollout::modes::ReadMode;
use cinch_rollout::policy::{Plan, TwoSlotPlan};
use serde::Serialize;

use crate::error::StoreError;
use crate::problems::{self, Problems};
use crate::store::Store;
use crate::walk::{self, Paced, Steps, Visit, WalkError, WalkOptions};

/// The most dictionaries that are counted apart: more ids than this are noise.
const DICTIONARIES_MAX: usize = 1_024;

/// What is stored in a namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// Records that were read.
    pub records: u64,
    /// Records with a raw copy or a plain value alone.
    pub plain: u64,
    /// Records with a packed copy, or a value in an envelope.
    pub packed: u64,
    /// Of the packed ones, those without a raw copy; in a store with one slot that is all of them.
    pub lack_raw: u64,
    /// Values in a listed format of another tool.
    pub foreign: u64,
    /// Records without a payload: an older client wrote null.
    pub null: u64,
    /// Records without any copy that can be read, and those that the store itself refused to hand
    /// out.
    pub unreadable: u64,
    /// Raw copies that are newer than the packed ones beside them.
    pub stale: u64,
    /// Packed copies that say nothing of the raw ones beside them and differ from them.
    pub unproven: u64,
    /// Packed copies that unpack to something else than the raw ones they were made of, or that
    /// have another size than their metadata says.
    pub mismatches: u64,
    /// Packed copies that can't be unpacked while there is a raw one.
    pub broken_copies: u64,
    /// How many records name each dictionary, by its id in eight hexadecimal digits.
    pub dictionaries: BTreeMap<String, u64>,
    /// What is wrong, by kind, with examples.
    pub problems: Problems,
}

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Whether every key was looked at.
    pub is_complete: bool,
    /// The facts by namespace.
    pub namespaces: BTreeMap<String, Facts>,
    /// Keys of no namespace, or of none that was asked for.
    pub outside: u64,
    /// Keys that were gone before they were read.
    pub gone: u64,
}

impl VerifyReport {
    /// Whether everything was looked at and every copy can be read and is right.
    pub fn is_clean(&self) -> bool {
        let is_clean =
            |facts: &Facts| facts.unreadable + facts.mismatches + facts.broken_copies == 0;
        self.is_complete && self.namespaces.values().all(is_clean)
    }

    /// Whether the durable state may forget that records of this namespace may lack their raw copy.
    /// It holds only if nobody has written such records since the verification began, which the
    /// announcements of the fleet say and not this report.
    pub fn has_raw_everywhere(&self, namespace: &str) -> bool {
        self.proves(namespace, |facts| facts.lack_raw == 0)
    }

    /// Whether the durable state may forget that values of this namespace may be packed; with the
    /// same condition.
    pub fn is_plain_everywhere(&self, namespace: &str) -> bool {
        self.proves(namespace, |facts| facts.packed == 0 && facts.foreign == 0)
    }

    /// What can't be read may be anything, so one such record proves nothing of its namespace.
    fn proves(&self, namespace: &str, what: impl Fn(&Facts) -> bool) -> bool {
        let facts = self.namespaces.get(namespace);
        self.is_complete && facts.is_some_and(|facts| facts.unreadable == 0 && what(facts))
    }
}

/// Verifies a store, to its end or to `stop`.
///
/// # Errors
/// [`WalkError`]; what can't be read is no error but what was looked for.
pub async fn verify(
    store: Arc<dyn Store>,
    live: Arc<Live>,
    options: &WalkOptions,
    stop: &AtomicBool,
    progress: &mut (dyn FnMut(&VerifyReport, f64) + Send),
) -> Result<VerifyReport, WalkError> {
    walk::check(store.as_ref(), &live, options.namespace.as_deref())?;
    let mut report = VerifyReport::default();
    {
        let snapshot = live.snapshot();
        let names = snapshot.namespaces().iter().map(|ready| ready.namespace().name.clone());
        let wanted = names.filter(|name| options.namespace.as_ref().is_none_or(|n| n == name));
        report.namespaces = wanted.map(|name| (name, Facts::default())).collect();
    }
    let work = Arc::new(Verification {
        paced: Paced::new(store, options),
        live,
        options: options.clone(),
        report: Mutex::new(report),
    });
    let told = Arc::clone(&work);
    let mut after_record = move || progress(&told.report(), told.paced.pace.rate());
    let mut after_page = |_: Option<&[u8]>| Ok(());
    let steps = Steps { after_page: &mut after_page, after_record: &mut after_record };
    let is_complete =
        walk::walk(&work.paced, &work, options.concurrency, None, stop, steps).await?;
    let mut report = work.report().clone();
    report.is_complete = is_complete;
    Ok(report)
}

struct Verification {
    paced: Paced,
    live: Arc<Live>,
    options: WalkOptions,
    report: Mutex<VerifyReport>,
}

impl Verification {
    fn report(&self) -> MutexGuard<'_, VerifyReport> {
        // A panic while it was held leaves counts of which one may be missing.
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The facts of a namespace, in which one more record was read.
    fn note(&self, namespace: &str, change: impl FnOnce(&mut Facts)) {
        let mut report = self.report();
        let facts = report.namespaces.entry(namespace.to_owned()).or_default();
        facts.records += 1;
        change(facts);
    }
}

/// A record, as problems name it.
#[derive(Clone, Copy)]
struct Named<'k> {
    key: &'k [u8],
    hides_keys: bool,
}

#[async_trait]
impl Visit for Verification {
    fn wants(&self, key: &[u8]) -> bool {
        let only = self.options.namespace.as_deref();
        let is_wanted = walk::ready_of(&self.live.snapshot(), key, only).is_some();
        if !is_wanted {
            self.report().outside += 1;
        }
        is_wanted
    }

    async fn visit(&self, key: &[u8]) -> Result<(), WalkError> {
        let found = self.paced.get(key).await;
        let snapshot = self.live.snapshot();
        let only = self.options.namespace.as_deref();
        let Some(ready) = walk::ready_of(&snapshot, key, only) else { return Ok(()) };
        let namespace = ready.namespace();
        let named = Named { key, hides_keys: self.options.hides_keys };
        match found {
            Ok(None) => self.report().gone += 1,
            Ok(Some(found)) => {
                let plan = compared(ready.plan_for(key));
                let read = ready.gate.read(&plan, &found.record);
                let is_two = matches!(plan, Plan::Two(_));
                self.note(&namespace.name, |facts| facts.add(named, &found.record, is_two, read));
            }
            Err(error @ (StoreError::Shape { .. } | StoreError::TooLarge { .. })) => {
                self.note(&namespace.name, |facts| {
                    facts.unreadable += 1;
                    facts.add_problem(named, "refused", error.to_string());
                });
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

/// The plan that reads both copies and compares them, whatever the application believes.
fn compared(policy: &Plan) -> Plan {
    match policy {
        Plan::Two(plan) => Plan::Two(TwoSlotPlan {
            write: plan.write,
            read: ReadMode::VerifyCompress,
            write_obstacle: None,
            read_obstacle: None,
        }),
        Plan::One(plan) => Plan::One(plan.clone()),
    }
}

impl Facts {
    fn add(
        &mut self,
        named: Named<'_>,
        record: &Record,
        is_two: bool,
        read: Result<Read, ReadError>,
    ) {
        let envelope = match (&record.packed, &record.raw) {
            (Some(packed), _) if is_two => Some(&packed.bytes),
            (_, raw) if !is_two => raw.as_ref(),
            _ => None,
        };
        let header = envelope.and_then(|bytes| Header::read(bytes).ok());
        if let Some(id) = header.and_then(|(header, _)| header.dictionary) {
            let id = format!("{id:08x}");
            if self.dictionaries.len() < DICTIONARIES_MAX || self.dictionaries.contains_key(&id) {
                *self.dictionaries.entry(id).or_default() += 1;
            }
        }
        let is_packed = match is_two {
            true => record.packed.is_some(),
            false => record
                .raw
                .as_deref()
                .is_some_and(|value| looks_like_envelope(value) || looks_like_interop(value)),
        };
        let is_foreign = read.as_ref().is_ok_and(|read| read.source == Source::Foreign);
        self.packed += u64::from(is_packed);
        self.foreign += u64::from(is_foreign);
        self.lack_raw += u64::from(is_packed && (!is_two || record.raw.is_none()));
        match read {
            Err(ReadError { error, .. }) => {
                self.unreadable += 1;
                self.add_problem(named, error.kind(), error.to_string());
            }
            Ok(read) => {
                self.null += u64::from(read.payload.is_none());
                self.plain += u64::from(read.payload.is_some() && !is_packed && !is_foreign);
                read.findings.iter().for_each(|finding| self.add_finding(named, finding));
            }
        }
    }

    fn add_finding(&mut self, named: Named<'_>, finding: &Finding) {
        let message = match finding {
            Finding::Stale => {
                self.stale += 1;
                return;
            }
            Finding::Unproven => {
                self.unproven += 1;
                return;
            }
            Finding::NotPacked | Finding::RawMissing => return,
            Finding::Mismatch => {
                self.mismatches += 1;
                "the packed copy unpacks to something else than the raw one it was made of".into()
            }
            Finding::SizeMismatch { expected, got } => {
                self.mismatches += 1;
                format!(
                    "the metadata says {} bytes packed and {} unpacked, they are {} and {}",
                    expected.0, expected.1, got.0, got.1
                )
            }
            Finding::Undecodable(error) => {
                self.broken_copies += 1;
                format!("beside its raw copy: {error}")
            }
        };
        self.add_problem(named, finding.name(), message);
    }

    fn add_problem(&mut self, named: Named<'_>, kind: &str, message: String) {
        problems::note(&mut self.problems, kind, named.key, message, named.hides_keys);
    }
}
