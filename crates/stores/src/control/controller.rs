//! What an operator does with a rollout: look, advance, go back, resume, halt.
//!
//! The decision is [`Situation::decide`]; here it is fed from the store and its answer written back
//! over exactly the state that it was made from. Whoever is second finds another state, and has
//! changed nothing.

use std::sync::Arc;

use cinch_rollout::fleet::Fleet;
use cinch_rollout::settings::{Configuration, Namespace, Slots};
use cinch_rollout::state::NamespaceState;
use cinch_rollout::steps::Step;

use super::announcer::WallClock;
use super::baseline::Baseline;
use super::decision::{Lag, Reason, Request, Situation, Verdict, is_managed};
use super::directory::Directory;
use super::limits::Limits;
use super::{Control, ControlError, Held, now_ms};

/// Moves the rollouts of a configuration's namespaces.
pub struct Controller {
    control: Control,
    configuration: Arc<Configuration>,
    /// What stops a rollout.
    pub limits: Limits,
    /// How long every step bakes, in milliseconds; each its own time where nothing is said.
    pub bake_ms: Option<u64>,
    /// The time; that of this host unless a test says another.
    pub clock: WallClock,
}

/// Everything about a namespace at one moment.
#[derive(Debug)]
pub struct Survey {
    /// When, in milliseconds since 1970.
    pub now_ms: u64,
    /// The namespace.
    pub namespace: Arc<Namespace>,
    /// Its state.
    pub held: Held,
    /// Everybody who was found.
    pub directory: Directory,
    /// Who counts of them.
    pub fleet: Fleet,
    /// What was counted when the step began.
    pub baseline: Option<Baseline>,
    /// How far replicas lag, where it was measured.
    pub lag: Option<Lag>,
    expected: Vec<String>,
    limits: Limits,
    bake_ms: Option<u64>,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The state is another one now.
    Changed {
        /// What it was.
        from: Box<NamespaceState>,
        /// What it is.
        to: Box<NamespaceState>,
    },
    /// Nothing was changed, and why.
    Held(Vec<Reason>),
    /// The rollout began: its first step bakes from now on.
    Began(Vec<Reason>),
    /// It stands where it was to go.
    Nothing,
    /// Somebody else changed the state first; nothing was changed here.
    Lost,
}

/// Why a command can't be tried at all.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// The control plane can't be read or written.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// There is no such namespace.
    #[error("there is no namespace {name} in the configuration; there is {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Those that are.
        known: String,
    },
    /// Its modes stand in the configuration.
    #[error(
        "namespace {0} has its modes in the configuration; say managed = true (and slots) there to \
         have them moved"
    )]
    NotManaged(String),
}

impl Survey {
    /// What a decision is made of.
    pub fn situation(&self) -> Situation<'_> {
        Situation {
            now_ms: self.now_ms,
            namespace: &self.namespace,
            state: &self.held.state,
            expected: &self.expected,
            directory: &self.directory,
            fleet: &self.fleet,
            baseline: self.baseline.as_ref(),
            lag: self.lag.as_ref(),
            limits: &self.limits,
            bake_ms: self.bake_ms,
        }
    }
}

impl Controller {
    /// A controller with the limits and bake times of the steps.
    pub fn new(control: Control, configuration: Arc<Configuration>) -> Controller {
        Controller {
            control,
            configuration,
            limits: Limits::default(),
            bake_ms: None,
            clock: Arc::new(now_ms),
        }
    }

    /// The configuration.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The control plane.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Reads everything about a namespace.
    ///
    /// # Errors
    /// [`ControllerError`].
    pub async fn survey(&self, name: &str, lag: Option<Lag>) -> Result<Survey, ControllerError> {
        let namespaces = &self.configuration.namespaces;
        let namespace = namespaces.get(name).ok_or_else(|| ControllerError::Unknown {
            name: name.to_owned(),
            known: namespaces.keys().cloned().collect::<Vec<_>>().join(", "),
        })?;
        let expected = self.configuration.fleet.clone();
        let held = self.control.state(name).await?;
        let since_ms = held.state.progress.since_ms;
        let baseline = self.control.baseline(name, since_ms).await?;
        let directory = self.control.directory(&expected).await?;
        let now_ms = (self.clock)();
        Ok(Survey {
            now_ms,
            namespace: Arc::clone(namespace),
            held,
            fleet: directory.fleet(now_ms, &expected),
            directory,
            baseline,
            lag,
            expected,
            limits: self.limits,
            bake_ms: self.bake_ms,
        })
    }

    /// Takes the next step, or a larger share within one, if nothing stands against it.
    ///
    /// # Errors
    /// [`ControllerError`]. After an unreachable store the step may hold or not; look before trying
    /// again.
    pub async fn advance(
        &self,
        name: &str,
        request: &Request,
        lag: Option<Lag>,
    ) -> Result<Outcome, ControllerError> {
        let survey = self.managed(name, lag).await?;
        let state = &survey.held.state;
        match survey.situation().decide(request) {
            Verdict::Finished => Ok(Outcome::Nothing),
            Verdict::Hold(reasons) if state.progress.since_ms == 0 => {
                let begun = state.next(|next| next.progress.since_ms = survey.now_ms.max(1));
                Ok(match self.write(name, &survey, begun).await? {
                    Outcome::Changed { .. } => Outcome::Began(reasons),
                    other => other,
                })
            }
            Verdict::Hold(reasons) => Ok(Outcome::Held(reasons)),
            Verdict::Advance(change) => {
                let next = change.apply(&survey.namespace, state, survey.now_ms);
                self.write(name, &survey, next).await
            }
        }
    }

    /// Goes back to an earlier step for all keys, at once and whatever stands in the fleet; to the
    /// one before where none is named. A halt stays until it is resumed.
    ///
    /// # Errors
    /// [`ControllerError`].
    pub async fn back(&self, name: &str, to: Option<Step>) -> Result<Outcome, ControllerError> {
        let survey = self.managed(name, None).await?;
        let state = &survey.held.state;
        let step = state.progress.step;
        let target = to.or_else(|| step_before(step, survey.namespace.slots()));
        let Some(target) = target.filter(|target| *target < step) else {
            return Ok(match to {
                Some(later) if later > step => {
                    let why = format!("{} is not before {}", later.row().name, step.row().name);
                    Outcome::Held(vec![Reason::Request(why)])
                }
                _ => Outcome::Nothing,
            });
        };
        let next = state.next(|next| {
            next.progress.step = target;
            next.progress.percent = 100;
            next.progress.since_ms = survey.now_ms.max(state.progress.since_ms + 1);
        });
        self.write(name, &survey, next).await
    }

    /// Lets a rollout that was halted go on. Its step begins anew: it bakes, and is judged by what
    /// is counted from now on.
    ///
    /// # Errors
    /// [`ControllerError`].
    pub async fn resume(&self, name: &str) -> Result<Outcome, ControllerError> {
        let survey = self.managed(name, None).await?;
        let state = &survey.held.state;
        if state.progress.halted.is_none() {
            return Ok(Outcome::Nothing);
        }
        let next = state.next(|next| {
            next.progress.halted = None;
            next.progress.since_ms = survey.now_ms.max(state.progress.since_ms + 1);
        });
        self.write(name, &survey, next).await
    }

    /// One look of a watch: a reason to stop halts the rollout; with `advances`, the next step is
    /// taken if nothing stands against it.
    ///
    /// # Errors
    /// [`ControllerError`].
    pub async fn watch(
        &self,
        name: &str,
        advances: Option<&Request>,
        lag: Option<Lag>,
    ) -> Result<Outcome, ControllerError> {
        let survey = self.managed(name, lag.clone()).await?;
        let state = &survey.held.state;
        let stops = survey.situation().stops();
        if state.progress.halted.is_none() && !stops.is_empty() {
            let reasons: Vec<String> = stops.iter().map(Reason::to_string).collect();
            let halted = halt_text(&reasons);
            let next = state.next(|next| next.progress.halted = Some(halted));
            return match self.control.replace_state(name, &survey.held, &next).await {
                Ok(()) => {
                    let from = Box::new(state.clone());
                    Ok(Outcome::Changed { from, to: Box::new(next) })
                }
                Err(ControlError::Conflict { .. }) => Ok(Outcome::Lost),
                Err(error) => Err(error.into()),
            };
        }
        match advances {
            // A share that is not whole is made whole next, whatever share steps begin with.
            Some(_) if state.progress.percent < 100 => {
                self.advance(name, &Request::default(), lag).await
            }
            Some(request) => self.advance(name, request, lag).await,
            None => match survey.situation().decide(&Request::default()) {
                Verdict::Hold(reasons) => Ok(Outcome::Held(reasons)),
                Verdict::Advance(_) | Verdict::Finished => Ok(Outcome::Nothing),
            },
        }
    }

    async fn managed(&self, name: &str, lag: Option<Lag>) -> Result<Survey, ControllerError> {
        let survey = self.survey(name, lag).await?;
        match is_managed(&survey.namespace) {
            true => Ok(survey),
            false => Err(ControllerError::NotManaged(name.to_owned())),
        }
    }

    /// Writes the beginning of a step over the state that was surveyed, what was counted first.
    async fn write(
        &self,
        name: &str,
        survey: &Survey,
        next: NamespaceState,
    ) -> Result<Outcome, ControllerError> {
        let baseline = Baseline::of(&survey.directory, name);
        let written = async {
            self.control.keep_baseline(name, next.progress.since_ms, &baseline).await?;
            self.control.replace_state(name, &survey.held, &next).await
        };
        let (dropped, outcome) = match written.await {
            Ok(()) => {
                let from = Box::new(survey.held.state.clone());
                (from.progress.since_ms, Outcome::Changed { from, to: Box::new(next) })
            }
            Err(ControlError::Conflict { key, .. }) => {
                // A baseline of the same millisecond is the other operator's, who needs it.
                if key.starts_with("cinch:baseline:") {
                    return Ok(Outcome::Lost);
                }
                (next.progress.since_ms, Outcome::Lost)
            }
            Err(error) => return Err(error.into()),
        };
        // What can't be removed stays and is read by nobody.
        let _ = self.control.drop_baseline(name, dropped).await;
        Ok(outcome)
    }
}

/// The most reasons that a halt keeps: the first say what to look at.
const HALT_REASONS_MAX: usize = 3;

fn halt_text(reasons: &[String]) -> String {
    let shown = reasons.iter().take(HALT_REASONS_MAX).cloned().collect::<Vec<_>>().join("; ");
    match reasons.len().saturating_sub(HALT_REASONS_MAX) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

/// The step before one that changes anything with a number of slots.
fn step_before(step: Step, slots: Slots) -> Option<Step> {
    let mut before = step.back()?;
    while let (Slots::One, Some(earlier)) = (slots, before.back()) {
        if earlier.row().one != before.row().one {
            break;
        }
        before = earlier;
    }
    Some(before)
}
