//! The rollout, model-checked: three processes, one record, every interleaving of steps that are
//! taken, seen late, taken back, and of reads and writes in between.
//!
//! Two kinds of process. Ours decides by the real policy and reads by the real gate, and must be
//! right however late it sees a step. The published one does what its mode says and nothing else,
//! as the cart service did and as an older release may; it is right only where steps wait for
//! everybody. The combinations that are known to be bad must be found bad, or the model would prove
//! nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use cinch_rollout::decoders::Decoders;
use cinch_rollout::fleet::{Announcement, Fleet, Practice};
use cinch_rollout::gate::Gate;
use cinch_rollout::modes::{ReadMode, WriteMode};
use cinch_rollout::policy::{Circumstances, Plan, decide};
use cinch_rollout::settings::{Configuration, Slots, Sources};
use cinch_rollout::state::NamespaceState;
use cinch_rollout::steps::Step;
use cinch_rollout::{PackedField, Record};
use stateright::{Checker, Model, Property};

const PROCESSES: usize = 3;

/// A version of the payload as the model tells them apart: the latest, or an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Age {
    Latest,
    Older,
}

/// The record of the one key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Cart {
    raw: Option<Age>,
    /// The packed copy's version, and whether the raw copy was emptied with it.
    packed: Option<(Age, bool)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    /// The durable step, and whether records may lack their raw copy.
    step: Step,
    may_lack_raw: bool,
    /// The step that each process acts by.
    seen: [Step; PROCESSES],
    cart: Cart,
    /// Set where a read returned something else than the latest version.
    wrong: Option<(usize, Step)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Advance,
    Back,
    See(usize),
    Write(usize),
    /// A client older than any of this sets the raw field and nothing else.
    WriteRawOnly,
    Read(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ours,
    Published,
}

struct Rollout {
    kind: Kind,
    /// Whether a step waits until every process acts by the one before.
    waits: bool,
    goes_back: bool,
    /// Whether going back is allowed while records lack their raw copy.
    back_without_backfill: bool,
    old_writer: bool,
    configuration: Configuration,
    gate: Gate,
    payloads: BTreeMap<Age, Bytes>,
    packed: BTreeMap<Age, PackedField>,
}

impl Rollout {
    fn new(kind: Kind) -> Rollout {
        let text = "process = \"p0\"\n[namespaces.carts]\nkeys = [\"*\"]\nmanaged = true\n";
        let sources = Sources { text: text.to_owned(), ..Sources::default() };
        let configuration = sources.configuration().unwrap();
        let gate = Gate::new(Arc::clone(&configuration.namespaces["carts"]));
        let mut payloads = BTreeMap::new();
        let mut packed = BTreeMap::new();
        for age in [Age::Latest, Age::Older] {
            let payload =
                Bytes::from(format!("{{\"cart\":\"{}\"}}", format!("{age:?}").repeat(30)));
            let plan = plan_of(WriteMode::Dual, ReadMode::NoCompress);
            let record = gate.write(&plan, &payload, None, 0).unwrap().record;
            packed.insert(age, record.packed.unwrap());
            payloads.insert(age, payload);
        }
        Rollout {
            kind,
            waits: true,
            goes_back: true,
            back_without_backfill: true,
            old_writer: true,
            configuration,
            gate,
            payloads,
            packed,
        }
    }

    /// What a process writes and believes while it acts by a step.
    fn modes(&self, state: &State, process: usize) -> (WriteMode, ReadMode) {
        let step = state.seen[process];
        // The first process goes first.
        let wish = step.row().two[usize::from(process != 0)];
        match self.kind {
            Kind::Published => wish,
            Kind::Ours => {
                let plan = self.plan(state, process);
                (plan.0, plan.1)
            }
        }
    }

    /// The real policy's answer.
    fn plan(&self, state: &State, process: usize) -> (WriteMode, ReadMode) {
        let mut configuration = self.configuration.clone();
        configuration.process = format!("p{process}");
        let mut durable =
            NamespaceState { may_lack_raw: state.may_lack_raw, ..NamespaceState::default() };
        let namespace = &self.configuration.namespaces["carts"];
        durable.stored = Decoders::of_profile(&namespace.profile);
        durable.progress.step = state.seen[process];
        durable.progress.first = vec!["p0".to_owned()];
        let live = (0..PROCESSES).map(|other| {
            let (write, read) = state.seen[other].row().two[usize::from(other != 0)];
            let mut announcement = Announcement::of_this_release(&format!("p{other}"), 1_000);
            let practice = Practice { write: Some(write), read: Some(read), ..Practice::default() };
            announcement.namespaces.insert("carts".to_owned(), practice);
            announcement
        });
        let fleet = Fleet { live: live.collect(), missing: Vec::new() };
        let circumstances = Circumstances {
            configuration: &configuration,
            namespace: &configuration.namespaces["carts"],
            fleet: &fleet,
            state: &durable,
        };
        match decide(&circumstances, 0) {
            Plan::Two(plan) => (plan.write, plan.read),
            Plan::One(_) => panic!("two slots were configured"),
        }
    }

    fn read(&self, state: &State, process: usize) -> Option<Age> {
        let (_, mode) = self.modes(state, process);
        match self.kind {
            Kind::Published => match mode {
                ReadMode::NoCompress | ReadMode::VerifyCompress => state.cart.raw,
                // Carts that nobody wrote since the first step have no packed copy yet.
                ReadMode::CompressOnly => state.cart.packed.map(|(age, _)| age).or(state.cart.raw),
            },
            Kind::Ours => {
                let record = Record {
                    raw: state.cart.raw.map(|age| self.payloads[&age].clone()),
                    packed: state.cart.packed.map(|(age, is_nulled)| {
                        let mut packed = self.packed[&age].clone();
                        packed.metadata.raw_nulled = Some(is_nulled);
                        packed
                    }),
                    stamp: None,
                };
                let plan = plan_of(WriteMode::Dual, mode);
                let payload = self.gate.read(&plan, &record).ok()?.payload?;
                self.payloads.iter().find(|(_, own)| **own == payload).map(|(age, _)| *age)
            }
        }
    }
}

fn plan_of(write: WriteMode, read: ReadMode) -> Plan {
    Plan::Two(cinch_rollout::policy::TwoSlotPlan {
        write,
        read,
        write_obstacle: None,
        read_obstacle: None,
    })
}

impl Model for Rollout {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            step: Step::Off,
            may_lack_raw: false,
            seen: [Step::Off; PROCESSES],
            cart: Cart { raw: Some(Age::Latest), packed: None },
            wrong: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let all_see = state.seen.iter().all(|seen| *seen == state.step);
        if (all_see || !self.waits) && state.step.next(Slots::Two).is_some() {
            actions.push(Action::Advance);
        }
        let may_go_back = self.back_without_backfill || !state.may_lack_raw;
        if self.goes_back && may_go_back && state.step.back().is_some() {
            // Ours goes back at once; what does only what its mode says has to wait here too.
            if all_see || self.kind == Kind::Ours || !self.waits {
                actions.push(Action::Back);
            }
        }
        for process in 0..PROCESSES {
            if state.seen[process] != state.step {
                actions.push(Action::See(process));
            }
            actions.push(Action::Write(process));
            actions.push(Action::Read(process));
        }
        if self.old_writer && state.step <= Step::AllRead {
            actions.push(Action::WriteRawOnly);
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        let older = |cart: &Cart| Cart {
            raw: cart.raw.map(|_| Age::Older),
            packed: cart.packed.map(|(_, is_nulled)| (Age::Older, is_nulled)),
        };
        match action {
            Action::Advance => {
                next.step = state.step.next(Slots::Two)?;
                // Written down before anybody acts by it.
                next.may_lack_raw |= next.step == Step::PackedOnly;
            }
            Action::Back => next.step = state.step.back()?,
            Action::See(process) => next.seen[process] = state.step,
            Action::Write(process) => {
                let (mode, _) = self.modes(state, process);
                next.cart = Cart {
                    raw: mode.writes_raw().then_some(Age::Latest),
                    packed: mode.writes_packed().then_some((Age::Latest, !mode.writes_raw())),
                };
            }
            Action::WriteRawOnly => {
                next.cart = Cart { raw: Some(Age::Latest), ..older(&state.cart) };
            }
            Action::Read(process) => {
                if self.read(state, process) != Some(Age::Latest) {
                    next.wrong = Some((process, state.seen[process]));
                }
            }
        }
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("every read returns the latest cart", |_, state: &State| {
                state.wrong.is_none()
            }),
            Property::sometimes("the last step is reached", |_, state: &State| {
                state.seen == [Step::PackedOnly; PROCESSES]
            }),
        ]
    }
}

fn is_right(model: Rollout) -> bool {
    let checker = model.checker().spawn_bfs().join();
    assert!(checker.is_done());
    // Without this a model that can't move would be right.
    assert!(checker.discovery("the last step is reached").is_some());
    checker.discovery("every read returns the latest cart").is_none()
}

#[test]
fn ours_is_right_however_late_a_step_is_seen_and_from_wherever_it_goes_back() {
    assert!(is_right(Rollout::new(Kind::Ours)));
    assert!(is_right(Rollout { waits: false, ..Rollout::new(Kind::Ours) }));
}

#[test]
fn the_published_modes_are_right_where_every_step_waits_for_everybody() {
    let model = Rollout {
        old_writer: false,
        back_without_backfill: false,
        ..Rollout::new(Kind::Published)
    };
    assert!(is_right(model));
}

#[test]
fn the_published_modes_are_wrong_where_a_step_does_not_wait() {
    let model = Rollout {
        old_writer: false,
        goes_back: false,
        waits: false,
        ..Rollout::new(Kind::Published)
    };
    assert!(!is_right(model));
}

#[test]
fn the_published_modes_lose_what_has_no_raw_copy_when_they_go_back() {
    let model = Rollout { old_writer: false, ..Rollout::new(Kind::Published) };
    assert!(!is_right(model));
}

#[test]
fn the_published_modes_lose_to_a_client_that_rewrites_the_raw_field() {
    let model = Rollout { goes_back: false, ..Rollout::new(Kind::Published) };
    assert!(!is_right(model));
}
