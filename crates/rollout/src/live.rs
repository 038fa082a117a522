//! What a running process acts by: configuration, fleet and state, swapped as a whole while calls
//! go on.
//!
//! A call reads one snapshot, in which every plan is made already: a namespace has two, one for
//! keys inside the share and one for those outside. A configuration that is wrong changes nothing;
//! the last good one stays, and its generation is a metric, so that somebody sees who did not
//! follow.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;

use crate::decoders::schema_id;
use crate::fleet::{Announcement, Fleet, Practice};
use crate::gate::Gate;
use crate::metrics::{EXPORT_VERSION, Export, Metrics, NamespaceMetrics};
use crate::policy::{Circumstances, Plan, decide, share_of};
use crate::settings::{Configuration, ConfigurationError, Modes, Namespace, Sources};
use crate::state::NamespaceState;

/// Everything that calls act by, exchanged while they go on.
pub struct Live {
    snapshot: ArcSwap<Snapshot>,
    /// What the next snapshot is made of; a writer holds it, a call never.
    parts: Mutex<Parts>,
    metrics: Arc<Metrics>,
    refused: AtomicU64,
}

#[derive(Clone)]
struct Parts {
    generation: u64,
    configuration: Arc<Configuration>,
    fleet: Arc<Fleet>,
    states: BTreeMap<String, NamespaceState>,
    gates: BTreeMap<String, Arc<Gate>>,
    counters: BTreeMap<String, Arc<NamespaceMetrics>>,
    metrics: Arc<Metrics>,
    /// Whether a namespace of which no state is known is taken to be as its configuration says.
    takes_word: bool,
}

/// One state of affairs.
pub struct Snapshot {
    /// Grows with every configuration that was taken.
    pub generation: u64,
    /// The configuration.
    pub configuration: Arc<Configuration>,
    namespaces: Vec<Ready>,
}

/// A namespace, ready for calls.
pub struct Ready {
    /// Packs and unpacks.
    pub gate: Arc<Gate>,
    /// Counts what it does.
    pub metrics: Arc<NamespaceMetrics>,
    percent: u8,
    inside: Plan,
    outside: Plan,
}

impl Ready {
    /// The namespace.
    pub fn namespace(&self) -> &Arc<Namespace> {
        self.gate.namespace()
    }

    /// What to do with a key.
    pub fn plan_for(&self, key: &[u8]) -> &Plan {
        let is_inside = match self.percent {
            0 => false,
            100.. => true,
            percent => share_of(&self.namespace().name, key) < percent,
        };
        if is_inside { &self.inside } else { &self.outside }
    }

    /// What to do with keys inside the share, and with those outside.
    pub fn plans(&self) -> [&Plan; 2] {
        [&self.inside, &self.outside]
    }
}

impl Snapshot {
    /// The namespace that a key belongs to, ready for calls.
    pub fn namespace_of(&self, key: &[u8]) -> Option<&Ready> {
        self.namespaces.iter().find(|ready| ready.namespace().has_key(key))
    }

    /// All namespaces, in the order of names.
    pub fn namespaces(&self) -> &[Ready] {
        &self.namespaces
    }
}

impl Live {
    /// Acts by a configuration, alone and with the operator's word for the state, until a fleet
    /// and durable states are known.
    pub fn new(configuration: Configuration) -> Live {
        let metrics = Arc::new(Metrics::new());
        let mut parts = Parts {
            generation: 0,
            configuration: Arc::new(Configuration {
                namespaces: BTreeMap::new(),
                ..configuration.clone()
            }),
            fleet: Arc::new(Fleet::alone()),
            states: BTreeMap::new(),
            gates: BTreeMap::new(),
            counters: BTreeMap::new(),
            metrics: Arc::clone(&metrics),
            takes_word: true,
        };
        parts.take_configuration(configuration);
        let snapshot = ArcSwap::from_pointee(parts.snapshot());
        Live { snapshot, parts: Mutex::new(parts), metrics, refused: AtomicU64::new(0) }
    }

    /// What happened so far.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// The state of affairs, for one call.
    pub fn snapshot(&self) -> arc_swap::Guard<Arc<Snapshot>> {
        self.snapshot.load()
    }

    /// Takes another configuration, whole or not at all, and returns its generation.
    ///
    /// # Errors
    /// [`ConfigurationError`]; the last good configuration stays in force, and the refusal is
    /// counted.
    pub fn reload(&self, sources: &Sources) -> Result<u64, ConfigurationError> {
        match sources.configuration() {
            Ok(configuration) => Ok(self.change(|parts| parts.take_configuration(configuration))),
            Err(error) => {
                let refused = self.refused.fetch_add(1, Ordering::Relaxed) + 1;
                self.metrics.set_refused(refused);
                Err(error)
            }
        }
    }

    /// How many configurations were refused.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Takes nothing for granted from here on: a namespace whose durable state is not known writes
    /// raw copies only, also one that a later configuration adds.
    pub fn require_states(&self) {
        self.change(|parts| parts.takes_word = false);
    }

    /// Takes what the fleet announces now.
    pub fn set_fleet(&self, fleet: Fleet) {
        self.change(|parts| parts.fleet = Arc::new(fleet));
    }

    /// Takes the durable state of a namespace. One that is older than what is known is not taken,
    /// since answers of a store may overtake each other.
    pub fn set_state(&self, namespace: &str, state: NamespaceState) {
        self.change(|parts| {
            let known = parts.states.get(namespace);
            if known.is_none_or(|known| known.epoch <= state.epoch) {
                parts.states.insert(namespace.to_owned(), state);
            }
        });
    }

    /// What this process announces of itself.
    pub fn announcement(&self, now_ms: u64) -> Announcement {
        let parts = self.lock();
        let snapshot = self.snapshot();
        let configuration = &parts.configuration;
        let mut announcement =
            Announcement::of_this_release(&configuration.process, configuration.lease_ms);
        announcement.renewed_at_ms = now_ms;
        for ready in snapshot.namespaces() {
            let namespace = ready.namespace();
            let mut practice = Practice {
                dictionaries: namespace.all_dictionaries().map(|found| found.id()).collect(),
                schemas: namespace.all_schemas().map(|found| schema_id(found)).collect(),
                health: ready.metrics.health(),
                epoch: parts.states.get(&namespace.name).map_or(0, |state| state.epoch),
                keeps_seal: parts.states.get(&namespace.name).is_some_and(|state| state.sealed),
                ..Practice::default()
            };
            // What it does for some keys is what others must reckon with.
            for plan in ready.plans() {
                match plan {
                    Plan::Two(plan) => {
                        practice.write =
                            Some(practice.write.map_or(plan.write, |had| had.min(plan.write)));
                        practice.read =
                            Some(practice.read.map_or(plan.read, |had| had.min(plan.read)));
                    }
                    Plan::One(plan) => {
                        practice.single =
                            Some(practice.single.map_or(plan.write, |had| had.max(plan.write)));
                    }
                }
            }
            announcement.namespaces.insert(namespace.name.clone(), practice);
        }
        announcement
    }

    /// The latest calls and minutes, for `cinch report`.
    pub fn export(&self) -> Export {
        let snapshot = self.snapshot();
        let of = |ready: &Ready| (ready.namespace().name.clone(), ready.metrics.export());
        Export {
            version: EXPORT_VERSION,
            processes: vec![snapshot.configuration.process.clone()],
            namespaces: snapshot.namespaces().iter().map(of).collect(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Parts> {
        // A panic while it was held leaves whole parts: they are exchanged, not changed in steps.
        self.parts.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn change(&self, change: impl FnOnce(&mut Parts)) -> u64 {
        let mut parts = self.lock();
        change(&mut parts);
        let snapshot = parts.snapshot();
        let generation = snapshot.generation;
        self.snapshot.store(Arc::new(snapshot));
        generation
    }
}

impl Parts {
    fn take_configuration(&mut self, configuration: Configuration) {
        self.generation += 1;
        let counters_of = |namespace: &Arc<Namespace>| Arc::new(self.metrics.namespace(namespace));
        self.counters = configuration
            .namespaces
            .iter()
            .map(|(name, namespace)| {
                // What was counted goes on, unless other dictionaries are to be counted.
                let same = self.gates.get(name).is_some_and(|gate| {
                    let ids = |namespace: &Namespace| {
                        namespace.all_dictionaries().map(|found| found.id()).collect::<Vec<_>>()
                    };
                    ids(gate.namespace()) == ids(namespace)
                });
                let kept = self.counters.get(name).filter(|_| same).cloned();
                (name.clone(), kept.unwrap_or_else(|| counters_of(namespace)))
            })
            .collect();
        let gate_of = |namespace: &Arc<Namespace>| Arc::new(Gate::new(Arc::clone(namespace)));
        self.gates = configuration
            .namespaces
            .iter()
            .map(|(name, namespace)| (name.clone(), gate_of(namespace)))
            .collect();
        self.configuration = Arc::new(configuration);
    }

    fn snapshot(&self) -> Snapshot {
        let namespaces: Vec<Ready> = self
            .gates
            .values()
            .zip(self.counters.values())
            .map(|(gate, counters)| self.ready(gate, counters))
            .collect();
        let plans = namespaces.iter().map(|ready| (ready.namespace().name.as_str(), &ready.inside));
        self.metrics.set_plans(self.generation, plans);
        let configuration = Arc::clone(&self.configuration);
        Snapshot { generation: self.generation, configuration, namespaces }
    }

    fn ready(&self, gate: &Arc<Gate>, metrics: &Arc<NamespaceMetrics>) -> Ready {
        let namespace = gate.namespace();
        let assumed;
        let state = match self.states.get(&namespace.name) {
            Some(state) => state,
            None => {
                assumed = match self.takes_word {
                    true => NamespaceState::assumed_of(namespace),
                    false => NamespaceState::default(),
                };
                &assumed
            }
        };
        let circumstances = Circumstances {
            configuration: &self.configuration,
            namespace,
            fleet: &self.fleet,
            state,
        };
        let percent = match namespace.modes {
            Modes::Managed(_) => state.progress.percent,
            Modes::Two { .. } | Modes::One { .. } => namespace.percent,
        };
        Ready {
            gate: Arc::clone(gate),
            metrics: Arc::clone(metrics),
            percent,
            // Shares run from 0 to 99: the first is inside whatever is, the last outside.
            inside: decide(&circumstances, 0),
            outside: decide(&circumstances, 99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::{ReadMode, WriteMode};

    fn sources(settings: &str) -> Sources {
        let text = format!("process = \"a\"\n[namespaces.carts]\nkeys = [\"cart:*\"]\n{settings}");
        Sources { text, ..Sources::default() }
    }

    fn plan(live: &Live, key: &[u8]) -> (WriteMode, ReadMode) {
        match live.snapshot().namespace_of(key).unwrap().plan_for(key) {
            Plan::Two(plan) => (plan.write, plan.read),
            Plan::One(_) => panic!("two slots were configured"),
        }
    }

    #[test]
    fn a_configuration_is_taken_whole_and_a_wrong_one_not_at_all() {
        let live = Live::new(sources("write_mode = \"DUAL\"\n").configuration().unwrap());
        assert_eq!(plan(&live, b"cart:1"), (WriteMode::Dual, ReadMode::NoCompress));
        assert!(live.snapshot().namespace_of(b"menu:1").is_none());
        let wrong = sources("write_mode = \"COMPRESS_ONLY\"\n");
        live.reload(&wrong).unwrap_err();
        assert_eq!(plan(&live, b"cart:1"), (WriteMode::Dual, ReadMode::NoCompress));
        assert_eq!((live.snapshot().generation, live.refused()), (1, 1));
        let next = sources("write_mode = \"DUAL\"\nread_mode = \"VERIFY_COMPRESS\"\n");
        assert_eq!(live.reload(&next).unwrap(), 2);
        assert_eq!(plan(&live, b"cart:1"), (WriteMode::Dual, ReadMode::VerifyCompress));
    }

    #[test]
    fn a_share_of_keys_follows_and_the_others_stay() {
        let live =
            Live::new(sources("write_mode = \"DUAL\"\npercent = 30\n").configuration().unwrap());
        let keys: Vec<String> = (0..1_000).map(|number| format!("cart:{number}")).collect();
        let is_dual = |key: &&String| plan(&live, key.as_bytes()).0 == WriteMode::Dual;
        let inside = keys.iter().filter(is_dual).count();
        assert!((200..400).contains(&inside), "{inside}");
    }

    #[test]
    fn a_process_announces_the_least_of_what_it_writes_and_reads() {
        let live =
            Live::new(sources("write_mode = \"DUAL\"\npercent = 30\n").configuration().unwrap());
        let practice = &live.announcement(5).namespaces["carts"];
        assert_eq!(practice.write, Some(WriteMode::NoCompress));
        assert_eq!(practice.read, Some(ReadMode::NoCompress));
    }

    #[test]
    fn an_older_state_does_not_overtake_a_newer_one() {
        let live = Live::new(sources("").configuration().unwrap());
        let newer = NamespaceState { epoch: 4, may_lack_raw: true, ..NamespaceState::default() };
        live.set_state("carts", newer);
        live.set_state("carts", NamespaceState { epoch: 3, ..NamespaceState::default() });
        assert_eq!(plan(&live, b"cart:1"), (WriteMode::NoCompress, ReadMode::CompressOnly));
    }
}
