//! Clearing what the durable state says may be there, by a verification that found none of it.
//!
//! Reading every record takes hours, and what was looked at may be written again behind it. So the
//! state is sealed first: from the epoch of the seal on nobody writes such records, and every
//! process announces that it keeps the seal before the first record is read. Who wants to write
//! them after all takes the seal off by compare-and-set. The flag is cleared over exactly the state
//! that was sealed, so that a proof is never about another state than the one it changes.

use std::time::Duration;

use cinch_rollout::decoders::Decoders;
use cinch_rollout::fleet::Practice;
use cinch_rollout::modes::{SingleWrite, WriteMode};
use cinch_rollout::settings::{Configuration, Modes, Namespace, Slots};
use cinch_rollout::state::{NamespaceState, Proof};
use cinch_rollout::steps::Step;
use tokio::time::{Instant, sleep};

use super::announcer::WallClock;
use super::{CLOCK_SKEW_MS, Control, ControlError, Held, now_ms};
use crate::store::Store;
use crate::verify::VerifyReport;

/// How long a write may be under way whose process has seen the seal since, unless somebody says
/// otherwise, in milliseconds: three times what the adapters wait for an answer.
pub const SETTLE_MS_DEFAULT: u64 = 30_000;

/// How often the fleet is looked at while it follows, in milliseconds.
const POLL_MS: u64 = 200;

/// How a proof is taken.
#[derive(Clone)]
pub struct ProofOptions {
    /// How long to wait after everybody keeps the seal, for writes that were under way, in
    /// milliseconds.
    pub settle_ms: u64,
    /// The time.
    pub clock: WallClock,
}

impl Default for ProofOptions {
    fn default() -> ProofOptions {
        ProofOptions { settle_ms: SETTLE_MS_DEFAULT, clock: std::sync::Arc::new(now_ms) }
    }
}

/// Why nothing is cleared.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// The control plane can't be read or written.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// Something stands against it; the flags are as they were.
    #[error("namespace {namespace}: nothing is cleared: {why}")]
    Refused {
        /// The namespace.
        namespace: String,
        /// What.
        why: String,
    },
}

/// A sealed namespace, in which a verification may prove something.
#[derive(Debug)]
pub struct Seal {
    namespace: String,
    slots: Slots,
    held: Held,
    sealed_ms: u64,
}

impl Seal {
    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The epoch that everybody has seen.
    pub fn epoch(&self) -> u64 {
        self.held.state.epoch
    }

    /// What is proved to be gone, in words.
    pub fn what(&self) -> &'static str {
        what(self.slots)
    }

    fn refused(&self, why: impl Into<String>) -> ProofError {
        refused(&self.namespace, why)
    }
}

impl Control {
    /// Seals a namespace, and returns when every process of the fleet keeps the seal and what was
    /// under way before has arrived. `None` where the state has no flag to clear.
    ///
    /// # Errors
    /// [`ProofError::Refused`] where somebody writes what is to be proved gone, is missing, or did
    /// not follow within two leases.
    pub async fn seal(
        &self,
        configuration: &Configuration,
        namespace: &Namespace,
        options: &ProofOptions,
    ) -> Result<Option<Seal>, ProofError> {
        let name = &namespace.name;
        let held = self.state(name).await?;
        let slots = namespace.slots();
        let has_flag = match slots {
            Slots::Two => held.state.may_lack_raw,
            Slots::One => held.state.may_be_packed,
        };
        if !has_flag {
            return Ok(None);
        }
        may_be_sealed(configuration, namespace, &held.state).map_err(|why| refused(name, why))?;
        let before = self.against(configuration, name, 0, (options.clock)()).await?;
        if !before.is_empty() {
            return Err(refused(name, before.join("; ")));
        }
        let next = held.state.next(|next| next.sealed = true);
        self.replace_state(name, &held, &next).await?;
        let held = self.state(name).await?;
        let seal = Seal { namespace: name.clone(), slots, held, sealed_ms: (options.clock)() };
        if seal.held.state != next {
            return Err(seal.refused("somebody else changed the state in the same moment"));
        }
        let patience = Duration::from_millis(2 * configuration.lease_ms + CLOCK_SKEW_MS);
        let until = Instant::now() + patience;
        loop {
            let now_ms = (options.clock)();
            let against = self.against(configuration, name, seal.epoch(), now_ms).await?;
            if against.is_empty() {
                break;
            }
            if Instant::now() > until {
                self.unseal(&seal).await;
                return Err(seal.refused(against.join("; ")));
            }
            sleep(Duration::from_millis(POLL_MS)).await;
        }
        sleep(Duration::from_millis(options.settle_ms)).await;
        Ok(Some(seal))
    }

    /// Clears what a verification has proved that began after the seal and read `store`.
    ///
    /// # Errors
    /// [`ProofError::Refused`] where it proves nothing, or the state is not the one that was
    /// sealed; the seal is then off, and the flags are as they were.
    pub async fn clear(
        &self,
        configuration: &Configuration,
        seal: Seal,
        report: &VerifyReport,
        store: &dyn Store,
        options: &ProofOptions,
    ) -> Result<NamespaceState, ProofError> {
        let cleared_ms = (options.clock)();
        let outcome = match store.scans_all() {
            true => self.proved(configuration, &seal, report, cleared_ms).await,
            false => Err(seal.refused("the address restricts which keys are looked at")),
        };
        let records = match outcome {
            Ok(records) => records,
            Err(error) => {
                self.unseal(&seal).await;
                return Err(error);
            }
        };
        let sealed_epoch = seal.epoch();
        let next = seal.held.state.next(|next| {
            match seal.slots {
                Slots::Two => next.may_lack_raw = false,
                Slots::One => {
                    next.may_be_packed = false;
                    next.stored = Decoders::default();
                }
            }
            next.sealed = false;
            next.proof = Some(Proof {
                store: store.name().to_owned(),
                sealed_epoch,
                records,
                sealed_ms: seal.sealed_ms,
                cleared_ms,
            });
        });
        match self.replace_state(&seal.namespace, &seal.held, &next).await {
            Ok(()) => Ok(next),
            Err(ControlError::Conflict { .. }) => {
                Err(seal.refused("the state was changed since it was sealed; verify again"))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Takes a seal off again. One that can't be taken off holds nobody up: the next step, and
    /// every process that is configured to write what it forbids, takes it off first.
    pub async fn unseal(&self, seal: &Seal) {
        let next = seal.held.state.next(|next| next.sealed = false);
        let _ = self.replace_state(&seal.namespace, &seal.held, &next).await;
    }

    /// How many records the report proves it by.
    async fn proved(
        &self,
        configuration: &Configuration,
        seal: &Seal,
        report: &VerifyReport,
        now_ms: u64,
    ) -> Result<u64, ProofError> {
        let facts = report.namespaces.get(&seal.namespace);
        let facts = facts.ok_or_else(|| seal.refused("it was not verified"))?;
        if !report.is_complete {
            return Err(seal.refused("the verification did not come to its end"));
        }
        let wrong = facts.unreadable + facts.mismatches + facts.broken_copies;
        if wrong > 0 {
            return Err(seal.refused(format!("{wrong} records are not as they should be")));
        }
        let found = match seal.slots {
            Slots::Two => facts.lack_raw,
            Slots::One => facts.packed + facts.foreign,
        };
        if found > 0 {
            return Err(seal.refused(format!("{found} {} are there", seal.what())));
        }
        if facts.records == 0 {
            return Err(seal.refused("no record was found: is it the right store?"));
        }
        let against = self.against(configuration, &seal.namespace, seal.epoch(), now_ms).await?;
        if !against.is_empty() {
            return Err(seal.refused(against.join("; ")));
        }
        Ok(facts.records)
    }

    /// What stands against a proof in the fleet: who is missing, who writes what is to be proved
    /// gone, and, from the epoch of a seal on, who does not keep it.
    async fn against(
        &self,
        configuration: &Configuration,
        namespace: &str,
        epoch: u64,
        now_ms: u64,
    ) -> Result<Vec<String>, ControlError> {
        let directory = self.directory(&configuration.fleet).await?;
        let fleet = directory.fleet(now_ms, &configuration.fleet);
        let missing = fleet.missing.iter();
        let mut against: Vec<String> =
            missing.map(|name| format!("{name} is expected and does not announce")).collect();
        for process in &fleet.live {
            // Who does nothing in the namespace writes nothing in it.
            let Some(practice) = process.namespaces.get(namespace) else { continue };
            let name = &process.process;
            if writes(practice) {
                against.push(format!("{name} writes {}", writes_what(practice)));
            } else if epoch > 0 && practice.epoch < epoch {
                against.push(format!("{name} has seen epoch {}, and not {epoch}", practice.epoch));
            } else if epoch > 0 && !practice.keeps_seal {
                against.push(format!("{name} runs a release that keeps no seal"));
            }
        }
        Ok(against)
    }
}

fn refused(namespace: &str, why: impl Into<String>) -> ProofError {
    ProofError::Refused { namespace: namespace.to_owned(), why: why.into() }
}

fn what(slots: Slots) -> &'static str {
    match slots {
        Slots::Two => "records without a raw copy",
        Slots::One => "packed values",
    }
}

fn writes(practice: &Practice) -> bool {
    practice.write == Some(WriteMode::CompressOnly) || practice.single == Some(SingleWrite::Packed)
}

fn writes_what(practice: &Practice) -> &'static str {
    practice.write.map_or("packed values", WriteMode::name)
}

/// Whether a namespace stands where nobody is to write what is to be proved gone.
fn may_be_sealed(
    configuration: &Configuration,
    namespace: &Namespace,
    state: &NamespaceState,
) -> Result<(), String> {
    if configuration.fleet.is_empty() {
        let why = "the configuration declares no fleet (expected under [fleet]), so that a \
                   process may be absent and come back to write them";
        return Err(why.to_owned());
    }
    let step = state.progress.step;
    let is_written = match (namespace.modes, namespace.slots()) {
        (Modes::Two { write, .. }, _) => !write.writes_raw(),
        (Modes::One { write }, _) => write == SingleWrite::Packed,
        (Modes::Managed(_), Slots::Two) => step == Step::PackedOnly,
        (Modes::Managed(_), Slots::One) => step.row().one.contains(&SingleWrite::Packed),
    };
    let what = what(namespace.slots());
    match (is_written, namespace.modes) {
        (false, _) => Ok(()),
        (true, Modes::Managed(_)) => {
            let step = step.row().name;
            Err(format!("the step {step} writes {what}: `cinch rollout back` first"))
        }
        (true, _) => Err(format!("the configuration writes {what}: change its modes first")),
    }
}
