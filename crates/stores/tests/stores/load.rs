//! Rollout and rollback under load: twenty processes of two releases read and write one set of
//! carts while an operator steps forward and back through the real control plane and processes are
//! killed, cut off and stalled. No read may return a cart that is wrong, older than what was
//! confirmed before, or that can't be decoded. Five of them are processes of the system, which get
//! SIGKILL in the middle of writes and SIGSTOP anywhere.
//!
//! What happens, and in which order, follows from a seed, which every failure prints:
//! `CINCH_LOAD_SEED=7 CINCH_LOAD_ROUNDS=200 cargo test -p cinch-stores --features all load`.

mod fleet;
mod line;
mod old;
mod oracle;
mod outside;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cinch_integration::{Postgres, Redis};
use cinch_rollout::state::NamespaceState;
use cinch_rollout::steps::{STEPS, Step};
use cinch_stores::control::controller::{Controller, Outcome};
use cinch_stores::control::decision::Request;
use cinch_stores::control::{Control, now_ms};
use cinch_stores::{Slots, Store};
use tokio::time::sleep;

use fleet::{Counts, FIRST_OUTSIDE, LEASE_MS, Process, Release, Site, does};
use line::Way;
use oracle::{KEYS, Oracle, key};
use outside::{Addresses, Killed};

/// How many processes there are.
const PROCESSES: usize = 20;

/// How many rounds a run has unless `CINCH_LOAD_ROUNDS` says otherwise.
const ROUNDS: u64 = 16;

/// How many processes must have been killed in the middle of a write.
const KILLED_MIN: u64 = 6;

/// How long one change may take to be followed by everybody, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// What both releases read, and what only the newer one does.
const COMMON: &str = "GZIP";
const NEWER: &str = "LZ4_HIGH";

/// What is done to one process in a round.
#[derive(Debug, Clone, Copy)]
enum Mishap {
    /// It is killed, and comes back after a while as this release.
    Kill(Release),
    /// Its connections do this for a while: to the payloads, and to the control store.
    Lines(Way, Way),
}

/// One round: what goes wrong, and what the operator does meanwhile.
#[derive(Debug)]
struct Round {
    mishaps: Vec<(usize, Mishap, Duration)>,
    /// How many steps back; 0 is one forward.
    back: usize,
}

impl Round {
    fn of(random: &mut fastrand::Rng) -> Round {
        let mishaps = (0..random.usize(0..4)).map(|_| {
            let ways = [Way::Up, Way::Cut, Way::Stalled];
            let mishap = match random.u8(0..5) {
                0 | 1 => Mishap::Kill(if random.bool() { Release::New } else { Release::Old }),
                _ => Mishap::Lines(ways[random.usize(0..3)], ways[random.usize(0..3)]),
            };
            let lasts = Duration::from_millis(random.u64(50..LEASE_MS * 4 / 3));
            (random.usize(1..PROCESSES), mishap, lasts)
        });
        let mishaps = mishaps.collect();
        Round { mishaps, back: if random.u8(0..4) == 0 { random.usize(1..4) } else { 0 } }
    }
}

struct Run {
    site: Arc<Site>,
    seed: u64,
    random: fastrand::Rng,
    controller: Controller,
    processes: Vec<Process>,
    /// The rounds so far, for whoever reads a failure.
    told: Vec<String>,
    codec: &'static str,
}

fn number_of(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable}={value} is no number")))
}

impl Run {
    async fn new(addresses: Addresses) -> Run {
        let data = opened(&addresses.data).await;
        let control = control_of(&addresses.control).await;
        let seed = number_of("CINCH_LOAD_SEED").unwrap_or_else(now_ms);
        println!("CINCH_LOAD_SEED={seed}");
        let is_two = data.shape().slots == Slots::Two;
        let site = Arc::new(Site {
            data,
            control: Arc::clone(&control),
            oracle: Oracle::new(),
            counts: Counts::default(),
            is_two,
            seed,
            started: AtomicU64::new(0),
            names: (0..PROCESSES).map(|number| format!("p{number:02}")).collect(),
            killed: Killed::default(),
            addresses: Some(addresses),
        });
        let configuration = Arc::new(site.configuration("operator", COMMON));
        let mut controller = Controller::new(Control::new(control), configuration);
        controller.bake_ms = Some(0);
        // Connections that stall on purpose are no reason to stop.
        for limit in ["read_p99=100000000", "write_p99=100000000"] {
            controller.limits.set(limit).expect("it is a limit");
        }
        let mut processes = Vec::new();
        for number in 0..PROCESSES {
            // The first is always of the newer release, so that somebody can go first.
            let release = if number % 5 < 3 { Release::New } else { Release::Old };
            processes.push(site.start(number, release, COMMON).await.expect("it starts"));
        }
        let random = fastrand::Rng::with_seed(seed);
        let (told, codec) = (Vec::new(), COMMON);
        Run { site, seed, random, controller, processes, told, codec }
    }

    #[track_caller]
    fn check(&self) {
        let violations = self.site.oracle.violations();
        let first: Vec<&String> = violations.iter().take(5).collect();
        assert!(
            violations.is_empty(),
            "CINCH_LOAD_SEED={}: {} violations, the first: {first:#?}\nafter {:#?}",
            self.seed,
            violations.len(),
            self.told
        );
        for (number, process) in self.processes.iter().enumerate() {
            assert!(!process.has_ended(), "CINCH_LOAD_SEED={}: p{number:02} ended", self.seed);
        }
    }

    async fn state(&self) -> NamespaceState {
        let control = self.controller.control();
        control.state("carts").await.expect("it answers").state
    }

    /// Puts a process in the place of another, as soon as it can start.
    async fn replace(&mut self, number: usize, release: Release) {
        self.processes[number].make_room();
        let until = Instant::now() + PATIENCE;
        loop {
            match self.site.start(number, release, self.codec).await {
                Ok(process) => {
                    std::mem::replace(&mut self.processes[number], process).kill();
                    return;
                }
                Err(why) => assert!(Instant::now() < until, "p{number:02} never starts: {why}"),
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Lets mishaps happen, and mends each when its time is over.
    async fn suffer(&mut self, mishaps: &[(usize, Mishap, Duration)]) {
        let mut mishaps = mishaps.to_vec();
        mishaps.sort_by_key(|(_, _, lasts)| *lasts);
        for (number, mishap, _) in &mishaps {
            match mishap {
                // Nobody answers for it until it is back.
                Mishap::Kill(_) => self.processes[*number].strike(),
                Mishap::Lines(data, control) => self.processes[*number].go(*data, *control),
            }
        }
        let began = Instant::now();
        for (number, mishap, lasts) in mishaps {
            sleep(lasts.saturating_sub(began.elapsed())).await;
            match mishap {
                Mishap::Kill(release) => self.replace(number, release).await,
                Mishap::Lines(..) => self.processes[number].go(Way::Up, Way::Up),
            }
        }
    }

    /// Kills processes of the system, one after the other, until enough were killed in the middle
    /// of a write.
    async fn strike_down(&mut self) {
        let until = Instant::now() + PATIENCE;
        while self.site.killed.while_writing.load(Ordering::Relaxed) < KILLED_MIN {
            let number = self.random.usize(FIRST_OUTSIDE..PROCESSES);
            self.processes[number].strike();
            while !self.processes[number].has_ended() {
                assert!(Instant::now() < until, "CINCH_LOAD_SEED={}: no write begins", self.seed);
                sleep(Duration::from_millis(20)).await;
            }
            let release = self.processes[number].release;
            self.replace(number, release).await;
        }
        self.check();
    }

    /// Tries to take the next step once.
    async fn advance(&self) -> Outcome {
        let request = Request { first: vec!["p00".to_owned()], percent: None };
        match self.controller.advance("carts", &request, None).await {
            Ok(outcome) => outcome,
            Err(error) => panic!("CINCH_LOAD_SEED={}: {error}", self.seed),
        }
    }

    /// Takes the next step as soon as nothing stands against it.
    async fn advance_at_last(&self) {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.advance().await {
                Outcome::Changed { .. } | Outcome::Nothing => return,
                Outcome::Held(why) => {
                    let does: Vec<String> = self.processes.iter().map(does).collect();
                    assert!(Instant::now() < until, "nothing goes on: {why:?} {does:?}");
                }
                Outcome::Began(_) | Outcome::Lost => {}
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    async fn round(&mut self) {
        let round = Round::of(&mut self.random);
        let step = self.state().await.progress.step;
        self.told.push(format!("at {}: {round:?}", step.row().name));
        // While things go wrong the operator tries all the same, and goes back at once.
        if round.back > 0 {
            let at = STEPS.iter().position(|row| row.step == step).unwrap_or_default();
            let to = STEPS[at.saturating_sub(round.back)].step;
            self.controller.back("carts", Some(to)).await.expect("back is always possible");
        } else {
            self.advance().await;
        }
        self.suffer(&round.mishaps).await;
        if round.back == 0 && self.state().await.progress.step == step {
            self.advance_at_last().await;
        }
        self.check();
    }

    async fn walk(&mut self) {
        let rounds = number_of("CINCH_LOAD_ROUNDS").unwrap_or(ROUNDS);
        let last = if self.site.is_two { Step::PackedOnly } else { Step::AllRead };
        let mut has_arrived = false;
        let mut done = 0;
        while done < rounds || !has_arrived {
            self.round().await;
            has_arrived |= self.state().await.progress.step == last;
            done += 1;
            assert!(done < rounds + 200, "CINCH_LOAD_SEED={}: it never arrives", self.seed);
        }
    }

    /// The newer release begins to write what the older one can't read: nothing happens until the
    /// last process of that is gone, and none of them starts any more after that.
    async fn outgrow(&mut self) {
        self.controller.back("carts", Some(Step::Off)).await.expect("back is always possible");
        self.advance_at_last().await;
        self.codec = NEWER;
        if self.processes.iter().all(|process| process.release == Release::New) {
            self.codec = COMMON;
            self.replace(7, Release::Old).await;
            self.codec = NEWER;
        }
        let configuration = Arc::new(self.site.configuration("operator", NEWER));
        let control = Control::new(Arc::clone(&self.site.control));
        let mut controller = Controller::new(control, configuration);
        (controller.bake_ms, controller.limits) = (Some(0), self.controller.limits);
        self.controller = controller;
        for (number, process) in self.processes.iter().enumerate() {
            if let Some(live) = &process.live {
                let sources = self.site.sources(&self.site.names[number], NEWER);
                live.reload(&sources).expect("it is valid");
            }
        }
        for number in FIRST_OUTSIDE..PROCESSES {
            if self.processes[number].release == Release::New {
                self.replace(number, Release::New).await;
            }
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let reasons = match self.advance().await {
                Outcome::Held(reasons) => reasons,
                // With one slot the first steps pack in the shadow, which nobody has to read.
                Outcome::Changed { to, .. }
                    if !self.site.is_two && to.progress.step < Step::FirstRead =>
                {
                    continue;
                }
                other => panic!("CINCH_LOAD_SEED={}: N-1 was forgotten: {other:?}", self.seed),
            };
            let said: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            if said.iter().any(|said| said.contains("does not read the codec lz4 (0x12)")) {
                break;
            }
            assert!(Instant::now() < until, "{said:?}");
            sleep(Duration::from_millis(100)).await;
        }
        self.check();
        for number in 0..PROCESSES {
            if self.processes[number].release == Release::Old {
                self.replace(number, Release::New).await;
            }
        }
        self.advance_at_last().await;
        while self.state().await.progress.step < Step::AllRead {
            self.advance_at_last().await;
        }
        let refused = self.site.start(3, Release::Old, NEWER).await;
        let why = refused.err().expect("it can't read what is stored");
        assert!(why.contains("the codec 18"), "{why}");
        self.check();
    }

    /// Every cart is there at the end, read by both releases where both may.
    async fn finish(self) {
        let Run { site, seed, processes, .. } = &self;
        assert!(processes.iter().all(|process| process.release == Release::New));
        for number in 0..KEYS {
            let floor = site.oracle.floor(number);
            let found = site.data.get(&key(number)).await.expect("it answers");
            assert_eq!(found.is_some(), floor > 0, "CINCH_LOAD_SEED={seed}: cart {number}");
        }
        self.check();
        let (counts, killed) = (&self.site.counts, &self.site.killed);
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        println!(
            "{} rounds, {} reads ({} packed, {} packed by N-1), {} writes ({} by N-1), {} lost \
             races, {} calls failed; processes of the system: {} writes, {} killed while writing, \
             {} elsewhere",
            self.told.len(),
            count(&counts.reads),
            count(&counts.packed_reads),
            count(&counts.old_packed_reads),
            count(&counts.writes),
            count(&counts.old_writes),
            count(&counts.conflicts),
            count(&counts.failed),
            count(&killed.confirmed),
            count(&killed.while_writing),
            count(&killed.elsewhere)
        );
        for (what, of) in [
            ("reads", &counts.reads),
            ("writes", &counts.writes),
            ("packed reads", &counts.packed_reads),
            ("packed reads by N-1", &counts.old_packed_reads),
            ("writes by N-1", &counts.old_writes),
            ("writes by processes of the system", &killed.confirmed),
        ] {
            assert!(count(of) > 20, "CINCH_LOAD_SEED={seed}: {} {what}", count(of));
        }
        for process in self.processes {
            process.kill();
        }
    }
}

async fn run(data: String, control: String) {
    old::check_vectors();
    let mut run = Run::new(Addresses { data, control }).await;
    run.walk().await;
    run.strike_down().await;
    run.outgrow().await;
    run.finish().await;
}

async fn opened(address: &str) -> Arc<dyn Store> {
    match cinch_stores::open(address).await {
        Ok(store) => Arc::from(store),
        Err(error) => panic!("{error}"),
    }
}

async fn control_of(address: &str) -> Arc<dyn Store> {
    let control = Control::open(address, true).await.expect("it can be made");
    Arc::clone(control.store())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollout_under_load_over_redis_returns_no_wrong_cart() {
    let (data, control) = (Redis::start(), Redis::start());
    run(data.address(), control.address()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollout_under_load_over_postgres_returns_no_wrong_cart() {
    let postgres = Postgres::shared();
    postgres.run(
        "CREATE TABLE load (id text PRIMARY KEY, cart text, packed bytea, about jsonb,
            version bigint)",
    );
    let names = "table=load&key=id&raw=cart&compressed=packed&metadata=about&stamp=version";
    run(format!("{}?{names}", postgres.address()), postgres.address()).await;
}
