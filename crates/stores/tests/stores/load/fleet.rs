//! The processes of the fleet, of both releases, each with its traffic, and what happens to them:
//! they are killed and come back, also as the other release, and their connections fail. Most are
//! tasks of the test's own process; the last ones are processes of the system.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cinch_rollout::Stamp;
use cinch_rollout::gate::Source;
use cinch_rollout::live::Live;
use cinch_rollout::policy::Plan;
use cinch_rollout::settings::{Configuration, Sources};
use cinch_stores::control::{Announcer, AnnouncerOptions, Control};
use cinch_stores::{Client, ClientError, Condition, Expiry, PutOutcome, Store, StoreError};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::line::{Line, Way};
use super::old::OldRelease;
use super::oracle::{KEYS, Oracle, cart, key};
use super::outside::{Addresses, Killed, Outside};

/// The lease of every process, in milliseconds.
pub const LEASE_MS: u64 = 3_000;

/// A pause between two calls of a process, so that a machine of two processors serves them all.
const PAUSE: Duration = Duration::from_millis(4);

/// What was seen happening, so that a run in which nothing happened is no success.
#[derive(Default)]
pub struct Counts {
    pub reads: AtomicU64,
    pub writes: AtomicU64,
    pub packed_reads: AtomicU64,
    pub old_packed_reads: AtomicU64,
    pub old_writes: AtomicU64,
    pub failed: AtomicU64,
    pub conflicts: AtomicU64,
}

/// The two stores of a service and its judge.
pub struct Site {
    pub data: Arc<dyn Store>,
    pub control: Arc<dyn Store>,
    pub oracle: Oracle,
    pub counts: Counts,
    pub is_two: bool,
    /// Names of the declared fleet.
    pub names: Vec<String>,
    /// What decides which carts a process reads and writes, with its place among all starts.
    pub seed: u64,
    pub started: AtomicU64,
    /// What became of the processes that are no tasks.
    pub killed: Killed,
    /// Where the stores are; nothing in such a process itself.
    pub addresses: Option<Addresses>,
}

/// Which release a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    Old,
    New,
}

/// A process that runs.
pub struct Process {
    pub release: Release,
    pub live: Option<Arc<Live>>,
    data: Arc<Line>,
    control: Arc<Line>,
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<()>>,
    announcer: Option<Arc<Announcer>>,
    outside: Option<Outside>,
}

/// The first number of those that are processes of the system; they are of both releases.
pub const FIRST_OUTSIDE: usize = 15;

impl Site {
    /// The configuration of a process, or of the operator.
    pub fn sources(&self, process: &str, codec: &str) -> Sources {
        let names: Vec<String> = self.names.iter().map(|name| format!("{name:?}")).collect();
        let slots = if self.is_two { "two" } else { "one" };
        let text = format!(
            "process = \"{process}\"\n[fleet]\nexpected = [{}]\nlease_ms = {LEASE_MS}\n\
             [namespaces.carts]\nkeys = [\"cart:*\"]\nmanaged = true\nslots = \"{slots}\"\n\
             compression_codec = \"{codec}\"\n",
            names.join(", ")
        );
        Sources { text, ..Sources::default() }
    }

    pub fn configuration(&self, process: &str, codec: &str) -> Configuration {
        self.sources(process, codec).configuration().expect("it is valid")
    }

    /// Starts a process, or says why it does not start.
    pub async fn start(
        self: &Arc<Site>,
        number: usize,
        release: Release,
        codec: &str,
    ) -> Result<Process, String> {
        let name = self.names[number].clone();
        let data = Arc::new(Line::new(Arc::clone(&self.data)));
        let control = Arc::new(Line::new(Arc::clone(&self.control)));
        let stop = Arc::new(AtomicBool::new(false));
        let mut process = Process {
            release,
            live: None,
            data: Arc::clone(&data),
            control: Arc::clone(&control),
            stop: Arc::clone(&stop),
            tasks: Vec::new(),
            announcer: None,
            outside: None,
        };
        if let Some(addresses) = self.addresses.as_ref().filter(|_| number >= FIRST_OUTSIDE) {
            let outside = Outside::start(self, addresses, number, release, codec).await?;
            process.outside = Some(outside);
            return Ok(process);
        }
        let writer = u32::try_from(number).expect("there are few processes");
        let random = self.seed ^ self.started.fetch_add(1, Ordering::Relaxed).rotate_left(32);
        let random = fastrand::Rng::with_seed(random);
        let traffic = Traffic { site: Arc::clone(self), stop, writer, random };
        match release {
            Release::New => {
                let live = Arc::new(Live::new(self.configuration(&name, codec)));
                let control = Control::new(control as Arc<dyn Store>);
                let options = AnnouncerOptions::default();
                let announcer = Announcer::start(control, Arc::clone(&live), options).await;
                let announcer = Arc::new(announcer.map_err(|error| error.to_string())?);
                let client = Client::new(data as Arc<dyn Store>, Arc::clone(&live));
                let task = traffic.of_new(client, Arc::clone(&announcer), format!("{name} (N)"));
                process.tasks.push(tokio::spawn(task));
                process.live = Some(live);
                process.announcer = Some(announcer);
            }
            Release::Old => {
                let data = data as Arc<dyn Store>;
                let control = control as Arc<dyn Store>;
                let mut old = OldRelease::new(name.clone(), data, control, self.is_two, LEASE_MS);
                old.join().await?;
                let task = traffic.of_old(old, format!("{name} (N-1)"));
                process.tasks.push(tokio::spawn(task));
            }
        }
        Ok(process)
    }
}

impl Process {
    /// Ends it by force: nothing is taken back, what was under way may arrive or not.
    pub fn kill(self) {
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.abort();
        }
        drop(self.announcer);
    }

    /// Ends it by force at the worst moment, where it is a process of the system; as a task it
    /// answers for nothing from here on.
    pub fn strike(&self) {
        match &self.outside {
            Some(outside) => outside.kill_at_next_write(),
            None => self.go(Way::Stalled, Way::Stalled),
        }
    }

    /// Ends it now where it is a process of the system, before another takes its name.
    pub fn make_room(&self) {
        if let Some(outside) = &self.outside {
            outside.kill();
        }
    }

    /// Lets its connections fail; a process of the system is stopped as a whole.
    pub fn go(&self, data: Way, control: Way) {
        if let Some(outside) = &self.outside {
            outside.stop((data, control) != (Way::Up, Way::Up));
        }
        self.data.go(data);
        self.control.go(control);
    }

    /// A panic of its traffic, which nobody else would see, or the end of its process.
    pub fn has_ended(&self) -> bool {
        self.tasks.iter().any(JoinHandle::is_finished)
            || self.outside.as_ref().is_some_and(Outside::has_ended)
    }

    /// Whether it is a process of the system.
    pub fn is_outside(&self) -> bool {
        self.outside.is_some()
    }
}

/// The traffic of one process.
struct Traffic {
    site: Arc<Site>,
    stop: Arc<AtomicBool>,
    writer: u32,
    random: fastrand::Rng,
}

impl Traffic {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    async fn of_new(mut self, client: Client, announcer: Arc<Announcer>, who: String) {
        let site = Arc::clone(&self.site);
        let Site { oracle, counts, .. } = site.as_ref();
        while !self.is_stopped() {
            sleep(PAUSE).await;
            if !announcer.is_ready() {
                continue;
            }
            let number = self.random.u64(..KEYS);
            let floor = oracle.floor(number);
            let is_write = self.random.u8(..3) == 0;
            let key = key(number);
            let got = match is_write {
                true => client.versioned(&key).await.map(|got| match got {
                    Some(got) => (Some(got.read), Condition::Is(got.version)),
                    None => (None, Condition::Absent),
                }),
                false => client.get(&key).await.map(|read| (read, Condition::Always)),
            };
            let (read, condition) = match got {
                Ok(got) => got,
                Err(ClientError::Store(StoreError::Unreachable { .. })) => {
                    counts.failed.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                Err(error) => {
                    oracle.is_violated(format!("{who}: cart {number}: {error}"));
                    continue;
                }
            };
            counts.reads.fetch_add(1, Ordering::Relaxed);
            let read = read.as_ref();
            let is_packed = read.is_some_and(|read| read.source == Source::Packed);
            counts.packed_reads.fetch_add(u64::from(is_packed), Ordering::Relaxed);
            if let Some(finding) = read.and_then(|r| r.findings.iter().find(|f| f.is_critical())) {
                oracle.is_violated(format!("{who}: cart {number}: {finding:?}"));
            }
            let payload = read.and_then(|read| read.payload.as_deref());
            let stamp = read.and_then(|read| read.stamp).map(|stamp| stamp.0);
            let Some(version) = oracle.judge(&who, number, floor, payload, stamp) else { continue };
            if !is_write {
                continue;
            }
            let next = version + 1;
            oracle.begins(number, next, self.writer);
            let payload = cart(number, next, self.writer);
            let stamp = Some(Stamp(next));
            let put = client.put(&key, payload.clone(), stamp, &condition, Expiry::Keep).await;
            self.note_put(
                &who,
                number,
                next,
                put.map_err(|error| match error {
                    ClientError::Store(error) => Some(error),
                    other => {
                        oracle.is_violated(format!("{who}: cart {number}: {other}"));
                        None
                    }
                }),
            );
        }
    }

    async fn of_old(mut self, mut old: OldRelease, who: String) {
        let site = Arc::clone(&self.site);
        let Site { oracle, counts, .. } = site.as_ref();
        while !self.is_stopped() {
            sleep(PAUSE).await;
            if old.is_due() {
                // What can't be renewed runs out by itself.
                let _ = old.renew(false).await;
            }
            if !old.is_ready() {
                continue;
            }
            let number = self.random.u64(..KEYS);
            let floor = oracle.floor(number);
            let Ok(found) = old.data.get(&key(number)).await else {
                counts.failed.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            counts.reads.fetch_add(1, Ordering::Relaxed);
            let read = found.as_ref().map(|found| old.payload_of(&found.record)).transpose();
            let (payload, is_packed) = match read {
                Ok(read) => read.unwrap_or_default(),
                Err(error) => {
                    oracle.is_violated(format!("{who}: cart {number}: {error}"));
                    continue;
                }
            };
            counts.old_packed_reads.fetch_add(u64::from(is_packed), Ordering::Relaxed);
            let payload = payload.as_deref();
            let Some(version) = oracle.judge(&who, number, floor, payload, None) else { continue };
            if self.random.u8(..3) > 0 {
                continue;
            }
            let next = version + 1;
            let condition = found.map_or(Condition::Absent, |found| Condition::Is(found.version));
            oracle.begins(number, next, self.writer);
            let record = old.record_of(&cart(number, next, self.writer), next);
            let put = old.data.put(&key(number), &record, &condition, Expiry::Keep).await;
            counts.old_writes.fetch_add(1, Ordering::Relaxed);
            self.note_put(&who, number, next, put.map_err(Some));
        }
    }

    fn note_put(
        &self,
        who: &str,
        number: u64,
        version: u64,
        put: Result<PutOutcome, Option<StoreError>>,
    ) {
        let Site { oracle, counts, .. } = self.site.as_ref();
        match put {
            Ok(PutOutcome::Written) => {
                oracle.is_confirmed(number, version);
                counts.writes.fetch_add(1, Ordering::Relaxed);
            }
            Ok(PutOutcome::ConditionFailed) => {
                counts.conflicts.fetch_add(1, Ordering::Relaxed);
            }
            Err(Some(error)) if !error.is_transient() => {
                oracle.is_violated(format!("{who}: cart {number}: {error}"));
            }
            Err(_) => {
                counts.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// What a process of this release does now, for messages.
pub fn does(process: &Process) -> String {
    let Some(live) = &process.live else {
        let place = if process.is_outside() { "a process" } else { "a task" };
        return format!("{:?}, {place}", process.release);
    };
    match live.snapshot().namespaces()[0].plans()[0] {
        Plan::Two(plan) => format!("{}/{}", plan.write.name(), plan.read.name()),
        Plan::One(plan) => plan.write.name().to_owned(),
    }
}
