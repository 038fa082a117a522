//! The task that keeps an application in its fleet: it renews the lease, follows state and fleet,
//! and raises the state before anything new is written.
//!
//! The order is what makes it safe. A process is on the list, has read the state and has announced
//! before it is ready; it raises the state and looks at the fleet *again* before it writes what the
//! raise allows. Of two processes of which one joins while the other raises, at least one therefore
//! sees the other. A process whose lease ran out acts as if it were missing itself: it writes raw
//! copies only, reads whatever is there, and is not ready.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cinch_rollout::decoders::{Decoders, Lack};
use cinch_rollout::fleet::{Fleet, Health};
use cinch_rollout::live::Live;
use cinch_rollout::settings::Configuration;
use cinch_rollout::state::NamespaceState;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout};

use super::directory::{Incarnation, Publication};
use super::raise::raised;
use super::{Control, ControlError, TRIES_MAX, now_ms};

/// A lease is renewed this many times before it would run out.
const RENEWALS_PER_LEASE: u32 = 3;

/// What an application tells of itself at every renewal, by namespace: what it counted since it
/// started.
pub type HealthSource = Arc<dyn Fn(&str) -> Health + Send + Sync>;

/// Milliseconds since 1970, by whatever clock.
pub type WallClock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// What an announcer needs to know beside the configuration.
#[derive(Clone)]
pub struct AnnouncerOptions {
    /// What the application counted in a namespace, where it counts itself; `None` tells what the
    /// metrics of `live` counted.
    pub health: Option<HealthSource>,
    /// The time that announcements carry.
    pub clock: WallClock,
}

impl Default for AnnouncerOptions {
    fn default() -> AnnouncerOptions {
        AnnouncerOptions { health: None, clock: Arc::new(now_ms) }
    }
}

/// Whether a process may take traffic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// It may.
    Ready,
    /// It may not; what it still does is safe, and saves nothing.
    NotReady(NotReady),
}

/// Why a process is not ready.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// Its announcement could not be renewed in time, so that the others need not reckon with it.
    #[error("the lease ran out: {0}")]
    Lease(String),
    /// Another run announces under its name.
    #[error("another run announces as {0}: every process needs a name of its own")]
    Taken(String),
    /// Values may need what it has not.
    #[error("values of {namespace} may need {lack}, which this process has not: {}", remedy(.lack))]
    Lacks {
        /// The namespace.
        namespace: String,
        /// What it has not.
        lack: Lack,
    },
}

/// What an operator does about something that a process lacks.
fn remedy(lack: &Lack) -> &'static str {
    match lack {
        Lack::Dictionary(_) => "add it to dictionaries",
        Lack::Schema(_) => "add it to schemas",
        Lack::Codec(_) | Lack::Encoding(_) | Lack::EnvelopeVersion(_) => {
            "run a release that reads it, or bring the values back first"
        }
    }
}

/// Why a process does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The control plane can't be read or written.
    #[error("cinch can't start without its control plane: {0}")]
    Control(#[from] ControlError),
    /// What is stored, or may be, can't be read by this process.
    #[error("cinch can't start: {0}")]
    NotReady(NotReady),
    /// The store did not answer within a lease.
    #[error("cinch can't start: the control store did not answer within {lease_ms} ms")]
    Stalled {
        /// The lease in milliseconds.
        lease_ms: u64,
    },
}

/// A process in its fleet. Dropping it ends the task; [`Announcer::stop`] also takes the
/// announcement back.
pub struct Announcer {
    readiness: watch::Receiver<Readiness>,
    lease: watch::Receiver<Instant>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Announcer {
    /// Joins the fleet, and returns when the process may take traffic.
    ///
    /// # Errors
    /// [`StartError`]; the process must not take traffic then, and `live` must not be used.
    pub async fn start(
        control: Control,
        live: Arc<Live>,
        options: AnnouncerOptions,
    ) -> Result<Announcer, StartError> {
        let lease_ms = live.snapshot().configuration.lease_ms;
        live.require_states();
        let mut member = Member {
            control,
            live,
            options,
            incarnation: Incarnation::new(),
            states: BTreeMap::new(),
        };
        let started = Instant::now();
        timeout(Duration::from_millis(lease_ms), member.join())
            .await
            .map_err(|_| StartError::Stalled { lease_ms })??;
        let (readiness_sender, readiness) = watch::channel(Readiness::Ready);
        let (lease_sender, lease) = watch::channel(started + Duration::from_millis(lease_ms));
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(member.run(readiness_sender, lease_sender, stopped));
        Ok(Announcer { readiness, lease, stop: Some(stop), task })
    }

    /// Whether the process may take traffic now. It looks at the clock too, so that a process
    /// which was suspended learns of it here before its task has run.
    pub fn readiness(&self) -> Readiness {
        let readiness = self.readiness.borrow().clone();
        if readiness == Readiness::Ready && *self.lease.borrow() < Instant::now() {
            return Readiness::NotReady(NotReady::Lease("it was not renewed in time".to_owned()));
        }
        readiness
    }

    /// Whether [`Announcer::readiness`] is [`Readiness::Ready`].
    pub fn is_ready(&self) -> bool {
        self.readiness() == Readiness::Ready
    }

    /// Follows the readiness.
    pub fn changes(&self) -> watch::Receiver<Readiness> {
        self.readiness.clone()
    }

    /// Leaves the fleet: the announcement is taken back, and the others need not wait for the lease
    /// to run out. The process must not write after that.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            // A task that has ended needs no telling.
            let _ = stop.send(());
        }
        if let Err(error) = (&mut self.task).await
            && error.is_panic()
        {
            std::panic::resume_unwind(error.into_panic());
        }
    }
}

impl Drop for Announcer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What the task works with.
struct Member {
    control: Control,
    live: Arc<Live>,
    options: AnnouncerOptions,
    incarnation: Incarnation,
    states: BTreeMap<String, NamespaceState>,
}

/// Why a renewal did not succeed.
enum Failure {
    Control(ControlError),
    Taken,
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Failure {
        Failure::Control(error)
    }
}

impl Member {
    /// The first announcement. Until the states that it was made by are still the newest after it,
    /// it is made again: who raised a state meanwhile may not have seen it.
    async fn join(&mut self) -> Result<(), StartError> {
        let configuration = self.configuration();
        self.control.register(&configuration.process).await?;
        let mut takes_over = true;
        for _ in 0..TRIES_MAX {
            self.follow(&configuration).await?;
            if let Some(reason) = self.lacks(&configuration) {
                return Err(StartError::NotReady(reason));
            }
            let publication = self.announce(takes_over).await?;
            if publication == Publication::Taken {
                return Err(StartError::NotReady(NotReady::Taken(configuration.process.clone())));
            }
            takes_over = false;
            let announced = self.epochs();
            let fleet = self.follow(&configuration).await?;
            if announced == self.epochs() {
                self.raise(&configuration, &fleet).await?;
                return Ok(());
            }
        }
        let store = self.control.store().name().to_owned();
        Err(ControlError::Contended { store, key: "cinch:state".to_owned() }.into())
    }

    async fn run(
        mut self,
        readiness: watch::Sender<Readiness>,
        lease: watch::Sender<Instant>,
        mut stopped: oneshot::Receiver<()>,
    ) {
        let mut lease_ms = self.configuration().lease_ms;
        let mut ticks = ticks(lease_ms);
        let mut has_lapsed = false;
        let mut last_error = "it was not renewed in time".to_owned();
        loop {
            let until = *lease.borrow();
            tokio::select! {
                biased;
                _ = &mut stopped => break,
                // The others count this process no longer from here on, whatever the next try says.
                () = sleep_until(until), if !has_lapsed => {
                    has_lapsed = true;
                    readiness.send_replace(self.lapse(NotReady::Lease(last_error.clone())));
                    continue;
                }
                _ = ticks.tick() => {}
            }
            let configured = self.configuration().lease_ms;
            if configured != lease_ms {
                lease_ms = configured;
                ticks = self::ticks(lease_ms);
            }
            let began = Instant::now();
            let third = Duration::from_millis(lease_ms) / RENEWALS_PER_LEASE;
            // An answer that comes after the end of the lease comes too late to keep it.
            let patience = if has_lapsed { third } else { third.min(until - began) };
            let outcome = timeout(patience, self.renew()).await;
            let now = match outcome {
                Ok(Ok(now)) => {
                    lease.send_replace(began + Duration::from_millis(lease_ms));
                    has_lapsed = false;
                    now
                }
                Ok(Err(Failure::Taken)) => {
                    has_lapsed = true;
                    self.lapse(NotReady::Taken(self.configuration().process.clone()))
                }
                Ok(Err(Failure::Control(error))) => {
                    last_error = error.to_string();
                    continue;
                }
                Err(_) => {
                    last_error = format!("no answer within {} ms", patience.as_millis());
                    continue;
                }
            };
            readiness.send_if_modified(|had| {
                let is_other = *had != now;
                *had = now;
                is_other
            });
        }
        let process = self.configuration().process.clone();
        // Where it can't be taken back, the lease runs out by itself.
        let _ = self.control.withdraw(&process, self.incarnation).await;
    }

    /// One round: look, raise, announce. A process that lacks something announces on: what it
    /// lacks is what the others must know.
    async fn renew(&mut self) -> Result<Readiness, Failure> {
        let configuration = self.configuration();
        let fleet = self.follow(&configuration).await?;
        self.raise(&configuration, &fleet).await?;
        if self.announce(false).await? == Publication::Taken {
            return Err(Failure::Taken);
        }
        Ok(self.lacks(&configuration).map_or(Readiness::Ready, Readiness::NotReady))
    }

    /// Takes the newest states and then the fleet, in this order: whoever joined without seeing a
    /// state that is seen here had announced before.
    async fn follow(&mut self, configuration: &Configuration) -> Result<Fleet, ControlError> {
        for name in configuration.namespaces.keys() {
            let state = self.control.state(name).await?.state;
            self.states.insert(name.clone(), state);
        }
        let fleet = self.look(configuration).await?;
        self.act();
        Ok(fleet)
    }

    /// Lets calls act by the states that were read.
    fn act(&self) {
        for (name, state) in &self.states {
            self.live.set_state(name, state.clone());
        }
    }

    /// Takes the fleet as it is now: that of the others, since what this process announces follows
    /// from what it does, and not the other way round.
    async fn look(&self, configuration: &Configuration) -> Result<Fleet, ControlError> {
        let now_ms = (self.options.clock)();
        let directory = self.control.directory(&configuration.fleet).await?;
        if !directory.registered.contains(&configuration.process) {
            self.control.register(&configuration.process).await?;
        }
        self.control.forget(&directory, now_ms).await?;
        let mut fleet = directory.fleet(now_ms, &configuration.fleet);
        fleet.live.retain(|found| found.process != configuration.process);
        fleet.missing.retain(|name| *name != configuration.process);
        self.live.set_fleet(fleet.clone());
        Ok(fleet)
    }

    /// Raises what has to be raised, and then looks at the fleet again before any call may act by
    /// it: a process that joined without seeing the raise is seen here.
    async fn raise(
        &mut self,
        configuration: &Configuration,
        fleet: &Fleet,
    ) -> Result<(), ControlError> {
        let mut is_raised = false;
        for (name, namespace) in &configuration.namespaces {
            let wish = |state: &NamespaceState| raised(configuration, namespace, fleet, state);
            if self.states.get(name).and_then(wish).is_some() {
                let state = self.control.change_state(name, wish).await?;
                self.states.insert(name.clone(), state);
                is_raised = true;
            }
        }
        if is_raised {
            self.look(configuration).await?;
            self.act();
        }
        Ok(())
    }

    async fn announce(&self, takes_over: bool) -> Result<Publication, ControlError> {
        let mut announcement = self.live.announcement((self.options.clock)());
        if let Some(health) = &self.options.health {
            for (name, practice) in &mut announcement.namespaces {
                practice.health = health(name);
            }
        }
        self.control.publish(&announcement, self.incarnation, takes_over).await
    }

    /// The first thing that values may need and this process has not.
    fn lacks(&self, configuration: &Configuration) -> Option<NotReady> {
        configuration.namespaces.iter().find_map(|(name, namespace)| {
            let has = Decoders::of_this_release(namespace);
            let lack = self.states.get(name)?.stored.missing_in(&has)?;
            Some(NotReady::Lacks { namespace: name.clone(), lack })
        })
    }

    /// Acts as if it were missing itself, which forbids everything but raw copies.
    fn lapse(&self, reason: NotReady) -> Readiness {
        let missing = vec![self.configuration().process.clone()];
        self.live.set_fleet(Fleet { live: Vec::new(), missing });
        Readiness::NotReady(reason)
    }

    fn epochs(&self) -> BTreeMap<String, u64> {
        self.states.iter().map(|(name, state)| (name.clone(), state.epoch)).collect()
    }

    fn configuration(&self) -> Arc<Configuration> {
        Arc::clone(&self.live.snapshot().configuration)
    }
}

fn ticks(lease_ms: u64) -> tokio::time::Interval {
    let period = Duration::from_millis(lease_ms) / RENEWALS_PER_LEASE;
    let mut ticks = interval_at(Instant::now() + period, period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
