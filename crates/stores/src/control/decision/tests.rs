//! The decision over a simulated clock and fleet: every step of the walk, and each thing that may
//! stand against it on its own, in every step.

use cinch_rollout::settings::{Configuration, Sources};
use cinch_rollout::steps::STEPS;

use super::*;
use crate::control::directory::Incarnation;

/// What goes wrong with the world of a test.
type Mishap = fn(&mut World);

const NOW_MS: u64 = 1_000_000_000;
const EXPECTED: [&str; 3] = ["a", "b", "c"];

/// A fleet in which everybody follows, and nothing is wrong.
struct World {
    configuration: Configuration,
    state: NamespaceState,
    directory: Directory,
    limits: Limits,
    lag: Option<Lag>,
    bake_ms: Option<u64>,
    now_ms: u64,
    /// What is counted at the beginning of the step.
    baseline: Option<Baseline>,
}

impl World {
    fn new(settings: &str) -> World {
        let text = format!("[namespaces.carts]\nkeys = [\"*\"]\nmanaged = true\n{settings}");
        let configuration = Sources { text, ..Sources::default() }.configuration().unwrap();
        let mut world = World {
            configuration,
            state: NamespaceState::default(),
            directory: Directory::default(),
            limits: Limits::default(),
            lag: None,
            bake_ms: None,
            now_ms: NOW_MS,
            baseline: None,
        };
        for name in EXPECTED {
            let announcement = Announcement::of_this_release(name, 30_000);
            world.directory.announcements.push(announcement);
            world.directory.incarnations.insert(name.to_owned(), Incarnation::new());
        }
        world.enter(Step::Off, 100);
        world
    }

    fn namespace(&self) -> &Namespace {
        &self.configuration.namespaces["carts"]
    }

    /// A step holds, everybody has followed, and it has baked.
    fn enter(&mut self, step: Step, percent: u8) {
        self.now_ms += 7 * 24 * 3600 * 1000;
        let now_ms = self.now_ms - 2 * 24 * 3600 * 1000;
        let change = Change { step, first: vec!["a".to_owned()], percent };
        self.state = change.apply(&self.configuration.namespaces["carts"], &self.state, now_ms);
        self.follow();
        self.baseline = Some(Baseline::of(&self.directory, "carts"));
    }

    /// Everybody has seen the state and does what it says.
    fn follow(&mut self) {
        let progress = &self.state.progress;
        let slots = self.namespace().slots();
        let step = match progress.percent {
            100 => progress.step,
            _ => progress.step.back().unwrap(),
        };
        let (row, epoch, now_ms) = (step.row(), self.state.epoch, self.now_ms);
        for announcement in &mut self.directory.announcements {
            announcement.renewed_at_ms = now_ms;
            let other = usize::from(announcement.process != "a");
            let had = announcement.namespaces.remove("carts").unwrap_or_default();
            let mut practice = Practice { epoch, health: had.health, ..Practice::default() };
            match slots {
                Slots::Two => {
                    (practice.write, practice.read) =
                        (Some(row.two[other].0), Some(row.two[other].1));
                }
                Slots::One => practice.single = Some(row.one[other]),
            }
            announcement.namespaces.insert("carts".to_owned(), practice);
        }
    }

    fn practice(&mut self, name: &str) -> &mut Practice {
        let found = self.directory.announcements.iter_mut().find(|found| found.process == name);
        found.unwrap().namespaces.get_mut("carts").unwrap()
    }

    fn decide(&self, request: &Request) -> Verdict {
        let expected = EXPECTED.map(str::to_owned);
        let fleet = self.directory.fleet(self.now_ms, &expected);
        let situation = Situation {
            now_ms: self.now_ms,
            namespace: self.namespace(),
            state: &self.state,
            expected: &expected,
            directory: &self.directory,
            fleet: &fleet,
            baseline: self.baseline.as_ref(),
            lag: self.lag.as_ref(),
            limits: &self.limits,
            bake_ms: self.bake_ms,
        };
        situation.decide(request)
    }

    /// The one reason to wait.
    fn reason(&self) -> Reason {
        match self.decide(&Request::default()) {
            Verdict::Hold(mut reasons) if reasons.len() == 1 => reasons.remove(0),
            verdict => panic!("one reason was expected: {verdict:?}"),
        }
    }
}

/// Every step of both kinds of store that has one after it.
fn unfinished() -> Vec<World> {
    let mut worlds = Vec::new();
    for (settings, slots) in [("", Slots::Two), ("slots = \"one\"\n", Slots::One)] {
        for row in STEPS.iter().filter(|row| next_step(row.step, slots).is_some()) {
            let mut world = World::new(settings);
            world.enter(row.step, 100);
            worlds.push(world);
        }
    }
    worlds
}

#[test]
fn the_walk_is_the_published_one() {
    for (settings, walk) in [
        ("", &["first-write", "all-write", "verify", "first-read", "all-read", "packed-only"][..]),
        ("slots = \"one\"\n", &["first-write", "all-write", "first-read", "all-read"]),
    ] {
        let mut world = World::new(settings);
        let mut walked = Vec::new();
        while let Verdict::Advance(change) = world.decide(&Request::default()) {
            walked.push(change.step.row().name);
            world.enter(change.step, change.percent);
        }
        assert_eq!(walked, walk);
        assert_eq!(world.decide(&Request::default()), Verdict::Finished);
    }
}

#[test]
fn what_may_be_stored_is_written_down_with_the_step_that_allows_it() {
    let mut world = World::new("");
    let mut flags = Vec::new();
    for row in STEPS {
        world.enter(row.step, 100);
        flags.push((world.state.may_be_packed, world.state.may_lack_raw));
    }
    let (none, packed, all) = ((false, false), (true, false), (true, true));
    assert_eq!(flags, [none, packed, packed, packed, packed, packed, all]);
    // Going back takes nothing of it away: the data is still there.
    world.enter(Step::Off, 100);
    assert!(world.state.may_lack_raw && world.state.may_be_packed);
}

#[test]
fn everything_that_is_not_known_freezes_every_step() {
    let unknown: [(&str, Mishap); 8] = [
        ("missing", |world| {
            world.directory.announcements.pop();
        }),
        // The lease of 30 seconds and the difference of clocks are over.
        ("missing", |world| world.directory.announcements[1].renewed_at_ms -= 35_001),
        ("unreadable", |world| {
            world.directory.announcements.pop();
            world.directory.unreadable.push(("c".to_owned(), "version 2".to_owned()));
        }),
        ("without", |world| world.directory.announcements[2].namespaces.clear()),
        ("behind", |world| world.practice("b").epoch -= 1),
        ("baking", |world| world.bake_ms = Some(3 * 24 * 3600 * 1000)),
        ("halted", |world| world.state.progress.halted = Some("by hand".to_owned())),
        ("lag_unknown", |world| world.lag = Some(Err("no answer".to_owned()))),
    ];
    for (name, change) in unknown {
        for mut world in unfinished() {
            change(&mut world);
            let reason = world.reason();
            assert_eq!(reason.name(), name);
            assert!(!reason.is_stop());
        }
    }
}

#[test]
fn everything_that_is_known_to_be_wrong_stops_every_step() {
    let wrong: [(&str, Mishap); 6] = [
        ("mismatches", |world| world.practice("b").health.mismatches += 1),
        ("decode_errors", |world| world.practice("c").health.decode_errors += 1),
        ("pack_failures", |world| world.practice("a").health.pack_failures += 1),
        ("slower", |world| world.practice("a").health.read_p99_us = 40_000),
        ("slower", |world| world.practice("b").health.write_p99_us = 40_000),
        ("lag", |world| world.lag = Some(Ok(10_001))),
    ];
    for (name, change) in wrong {
        for mut world in unfinished() {
            for process in EXPECTED {
                world.practice(process).health.read_p99_us = 10_000;
                world.practice(process).health.write_p99_us = 10_000;
            }
            world.baseline = Some(Baseline::of(&world.directory, "carts"));
            assert!(matches!(world.decide(&Request::default()), Verdict::Advance(_)));
            change(&mut world);
            let reason = world.reason();
            assert_eq!(reason.name(), name);
            assert!(reason.is_stop());
        }
    }
}

#[test]
fn a_step_is_judged_by_what_happened_in_it() {
    let mut world = World::new("");
    world.practice("b").health.mismatches = 3;
    world.enter(Step::AllWrite, 100);
    assert!(matches!(world.decide(&Request::default()), Verdict::Advance(_)));
    // After a restart it counts from nothing, so that all it counted is of this step.
    world.directory.incarnations.insert("b".to_owned(), Incarnation::new());
    assert_eq!(world.reason().name(), "mismatches");
    world.limits.mismatches = 3;
    assert!(matches!(world.decide(&Request::default()), Verdict::Advance(_)));
}

#[test]
fn a_slower_p99_counts_over_its_growth_and_over_noise() {
    let mut world = World::new("");
    for (before_us, now_us, is_slower) in
        [(10_000, 15_000, false), (10_000, 15_001, true), (100, 1_100, false), (100, 1_101, true)]
    {
        world.practice("a").health.read_p99_us = before_us;
        world.enter(Step::AllRead, 100);
        world.practice("a").health.read_p99_us = now_us;
        let verdict = world.decide(&Request::default());
        assert_eq!(matches!(verdict, Verdict::Hold(_)), is_slower, "{before_us} {now_us}");
    }
}

#[test]
fn a_process_that_does_less_than_its_step_holds_it() {
    let mut world = World::new("");
    world.enter(Step::AllWrite, 100);
    world.practice("b").write = Some(WriteMode::NoCompress);
    let text = world.reason().to_string();
    assert_eq!(text, "b does NO_COMPRESS/NO_COMPRESS, the step says DUAL/NO_COMPRESS");
    // Doing more is no reason: where records lack their raw copy, the packed one is read.
    world.practice("b").write = Some(WriteMode::Dual);
    world.practice("b").read = Some(ReadMode::CompressOnly);
    assert!(matches!(world.decide(&Request::default()), Verdict::Advance(_)));
}

#[test]
fn legacy_processes_stand_against_exactly_what_hurts_them() {
    for (settings, step) in [
        ("legacy_writers = true\n", Step::FirstRead),
        ("legacy_readers = true\n", Step::PackedOnly),
        ("legacy_readers = true\nslots = \"one\"\n", Step::FirstRead),
    ] {
        let mut world = World::new(settings);
        loop {
            match world.decide(&Request::default()) {
                Verdict::Advance(change) => world.enter(change.step, 100),
                Verdict::Hold(reasons) => {
                    assert!(
                        matches!(&reasons[..], [Reason::Against(at, _)] if *at == step),
                        "{settings}: {reasons:?}"
                    );
                    break;
                }
                Verdict::Finished => panic!("{settings}: nothing held it"),
            }
        }
    }
}

#[test]
fn a_share_grows_and_is_whole_before_the_next_step() {
    let mut world = World::new("");
    let ask = |percent| Request { percent: Some(percent), ..Request::default() };
    let Verdict::Advance(change) = world.decide(&ask(10)) else { panic!("it stands free") };
    assert_eq!((change.step, change.percent), (Step::FirstWrite, 10));
    world.enter(Step::FirstWrite, 10);
    for percent in [5, 10] {
        assert!(matches!(world.decide(&ask(percent)), Verdict::Hold(_)), "{percent}");
    }
    let Verdict::Advance(change) = world.decide(&ask(50)) else { panic!("a larger share") };
    assert_eq!((change.step, change.percent), (Step::FirstWrite, 50));
    let Verdict::Advance(change) = world.decide(&Request::default()) else { panic!("all") };
    assert_eq!((change.step, change.percent), (Step::FirstWrite, 100));
    for percent in [0, 101] {
        assert!(matches!(world.decide(&ask(percent)), Verdict::Hold(_)), "{percent}");
    }
}

#[test]
fn who_goes_first_is_who_was_named_or_was_before_or_anybody() {
    let mut world = World::new("");
    world.state.progress.first.clear();
    let named = Request { first: vec!["c".to_owned()], ..Request::default() };
    let Verdict::Advance(change) = world.decide(&named) else { panic!("it stands free") };
    assert_eq!(change.first, ["c"]);
    let Verdict::Advance(change) = world.decide(&Request::default()) else { panic!("free") };
    assert_eq!(change.first, ["a"]);
    let stranger = Request { first: vec!["z".to_owned()], ..Request::default() };
    let Verdict::Hold(reasons) = world.decide(&stranger) else { panic!("nobody is called z") };
    assert_eq!(reasons[0].to_string(), "z is to go first and does not announce");
}

#[test]
fn nobody_at_all_is_a_reason_too() {
    let mut world = World::new("");
    world.directory = Directory::default();
    let Verdict::Hold(reasons) = world.decide(&Request::default()) else { panic!("nobody") };
    assert!(reasons.contains(&Reason::Nobody));
}

#[test]
fn a_step_bakes_from_its_beginning_to_the_millisecond() {
    let mut world = World::new("");
    world.bake_ms = Some(1_000);
    world.now_ms = world.state.progress.since_ms + 999;
    world.directory.announcements.iter_mut().for_each(|found| found.renewed_at_ms = world.now_ms);
    assert_eq!(world.reason(), Reason::Baking { left_ms: 1 });
    world.now_ms += 1;
    assert!(matches!(world.decide(&Request::default()), Verdict::Advance(_)));
    // A rollout that has not begun starts to bake when somebody looks.
    world.state.progress.since_ms = 0;
    assert_eq!(world.reason(), Reason::Baking { left_ms: 1_000 });
}
