//! The control plane over a store in memory: who is first, who is seen, and what a process does
//! when the store is gone. Time is simulated.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cinch_rollout::fleet::Announcement;
use cinch_rollout::live::Live;
use cinch_rollout::modes::{ReadMode, WriteMode};
use cinch_rollout::policy::Plan;
use cinch_rollout::settings::{Configuration, Sources};
use cinch_rollout::steps::Step;
use tokio::time::Instant;

use super::controller::{Controller, Outcome};
use super::decision::{Reason, Request};
use super::directory::PROCESSES_KEY;
use super::*;
use crate::faults::{Fault, FaultyStore};
use crate::memory::MemoryStore;
use crate::store::Slots;

mod lacking;
mod outage;
mod proof;

use outage::Outage;

/// Tests run on simulated time, and so do their wall clocks.
const EPOCH_MS: u64 = 1_700_000_000_000;

/// A store that can go away, and a clock.
struct Site {
    store: Arc<Outage>,
    began: Instant,
}

impl Site {
    fn new() -> Site {
        let store = Arc::new(Outage::new(MemoryStore::new(Slots::One)));
        Site { store, began: Instant::now() }
    }

    fn control(&self) -> Control {
        Control::new(Arc::clone(&self.store) as Arc<dyn Store>)
    }

    fn clock(&self) -> announcer::WallClock {
        let began = self.began;
        Arc::new(move || EPOCH_MS + began.elapsed().as_millis() as u64)
    }

    async fn join(&self, live: &Arc<Live>) -> Result<Announcer, StartError> {
        let options = AnnouncerOptions { clock: self.clock(), ..AnnouncerOptions::default() };
        Announcer::start(self.control(), Arc::clone(live), options).await
    }

    fn controller(&self, settings: &str) -> Controller {
        let configuration = Arc::new(configuration("operator", settings));
        let mut controller = Controller::new(self.control(), configuration);
        controller.bake_ms = Some(0);
        controller.clock = self.clock();
        controller
    }
}

const MANAGED: &str = "managed = true\n";

fn configuration(process: &str, settings: &str) -> Configuration {
    let text = format!(
        "process = \"{process}\"\n[fleet]\nexpected = [\"a\", \"b\"]\nlease_ms = 3000\n\
         [namespaces.carts]\nkeys = [\"*\"]\n{settings}"
    );
    Sources { text, ..Sources::default() }.configuration().unwrap()
}

fn live(process: &str, settings: &str) -> Arc<Live> {
    Arc::new(Live::new(configuration(process, settings)))
}

fn does(live: &Live) -> (WriteMode, ReadMode) {
    match live.snapshot().namespaces()[0].plans()[0] {
        Plan::Two(plan) => (plan.write, plan.read),
        Plan::One(_) => panic!("two slots were configured"),
    }
}

/// Two renewals: every process has seen what was written before, and the others have seen it.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(2_500)).await;
}

#[tokio::test(start_paused = true)]
async fn of_many_changes_at_once_none_is_lost() {
    let control = Site::new().control();
    let mut tasks = tokio::task::JoinSet::new();
    // Sixteen tries are enough where as many change at a time: each round one of them succeeds.
    for id in 0..TRIES_MAX as u32 {
        let control = control.clone();
        tasks.spawn(async move {
            let add = |state: &NamespaceState| {
                Some(state.next(|next| {
                    next.stored.dictionaries.insert(id);
                }))
            };
            control.change_state("carts", add).await.unwrap();
        });
    }
    tasks.join_all().await;
    let state = control.state("carts").await.unwrap().state;
    assert_eq!((state.stored.dictionaries.len(), state.epoch), (TRIES_MAX, TRIES_MAX as u64));
}

#[tokio::test(start_paused = true)]
async fn a_change_over_an_older_state_is_refused() {
    let control = Site::new().control();
    let held = control.state("carts").await.unwrap();
    let next = held.state.next(|next| next.may_lack_raw = true);
    control.replace_state("carts", &held, &next).await.unwrap();
    let again = control.replace_state("carts", &held, &next).await;
    assert!(matches!(again, Err(ControlError::Conflict { .. })), "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_damaged_or_newer_is_named_and_never_taken_for_nothing() {
    let control = Site::new().control();
    for (value, words) in [
        (&b"{"[..], "damaged"),
        (b"{\"version\": 2, \"epoch\": 7}", "update it"),
        (b"{\"version\": 1}", "damaged"),
    ] {
        let record = Record::single(value.to_vec());
        let key = state_key("carts").unwrap();
        let put = control.store().put(key.as_bytes(), &record, &Condition::Always, Expiry::Never);
        put.await.unwrap();
        let message = control.state("carts").await.unwrap_err().to_string();
        assert!(message.contains(words) && message.contains(&key), "{message}");
    }
    let large = Record::single(vec![b' '; STATE_BYTES_MAX + 1]);
    let put = control.store().put(b"cinch:state:carts", &large, &Condition::Always, Expiry::Never);
    put.await.unwrap();
    assert!(control.state("carts").await.unwrap_err().to_string().contains("at most"));
    for name in ["", "a\nb", &"n".repeat(NAME_BYTES_MAX + 1)] {
        assert!(matches!(control.state(name).await, Err(ControlError::Name { .. })), "{name:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_announcement_that_can_not_be_read_is_a_process_that_is_missing() {
    let control = Site::new().control();
    control.register("a").await.unwrap();
    let newer = Record::single(b"{\"version\": 9, \"news\": true}".to_vec());
    let put = control.store().put(b"cinch:process:a", &newer, &Condition::Always, Expiry::Never);
    put.await.unwrap();
    // It is not even expected, and still counts.
    let directory = control.directory(&[]).await.unwrap();
    assert_eq!(directory.fleet(now_ms(), &[]).missing, ["a"]);
    assert!(directory.unreadable[0].1.contains("update it"));
}

#[tokio::test(start_paused = true)]
async fn the_list_of_processes_has_a_bound() {
    let control = Site::new().control();
    let names: Vec<String> = (0..directory::PROCESSES_MAX).map(|n| format!("\"p{n}\"")).collect();
    let list = format!("{{\"version\":1,\"names\":[{}]}}", names.join(","));
    let record = Record::single(list.into_bytes());
    let key = PROCESSES_KEY.as_bytes();
    control.store().put(key, &record, &Condition::Always, Expiry::Never).await.unwrap();
    assert!(matches!(control.register("one more").await, Err(ControlError::Full { .. })));
    control.register("p7").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn nothing_raw_less_is_written_before_the_state_says_so_and_everybody_reads_it() {
    let site = Site::new();
    let wish = "write_mode = \"COMPRESS_ONLY\"\nread_mode = \"COMPRESS_ONLY\"\n";
    let a = live("a", wish);
    let _first = site.join(&a).await.unwrap();
    // The other one is expected and silent: nothing is packed at all.
    assert_eq!(does(&a).0, WriteMode::NoCompress);
    assert!(!site.control().state("carts").await.unwrap().state.may_lack_raw);
    let b = live("b", "write_mode = \"DUAL\"\n");
    let second = site.join(&b).await.unwrap();
    settle().await;
    // It is there and reads the raw copy alone.
    assert_eq!(does(&a).0, WriteMode::Dual);
    let state = site.control().state("carts").await.unwrap().state;
    assert!(state.may_be_packed && !state.may_lack_raw);
    second.stop().await;
    let b = live("b", "write_mode = \"DUAL\"\nread_mode = \"VERIFY_COMPRESS\"\n");
    let _second = site.join(&b).await.unwrap();
    settle().await;
    assert_eq!(does(&a).0, WriteMode::CompressOnly);
    assert!(site.control().state("carts").await.unwrap().state.may_lack_raw);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_joins_later_reads_what_lacks_its_raw_copy() {
    let site = Site::new();
    let raised = |state: &NamespaceState| Some(state.next(|next| next.may_lack_raw = true));
    site.control().change_state("carts", raised).await.unwrap();
    let b = live("b", "");
    let _announcer = site.join(&b).await.unwrap();
    assert_eq!(does(&b).1, ReadMode::CompressOnly);
}

#[tokio::test(start_paused = true)]
async fn without_its_lease_a_process_writes_raw_copies_and_is_not_ready() {
    let site = Site::new();
    let (a, b) = (live("a", "write_mode = \"DUAL\"\n"), live("b", "write_mode = \"DUAL\"\n"));
    let (first, second) = (site.join(&a).await.unwrap(), site.join(&b).await.unwrap());
    settle().await;
    assert_eq!(does(&a).0, WriteMode::Dual);
    site.store.go(outage::Way::Refuse);
    // A short outage is what a lease is for.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert!(first.is_ready());
    tokio::time::sleep(Duration::from_millis(2_000)).await;
    assert!(!first.is_ready() && !second.is_ready());
    assert_eq!(does(&a).0, WriteMode::NoCompress);
    let Readiness::NotReady(NotReady::Lease(why)) = first.readiness() else { panic!("a lease") };
    assert!(why.contains("gone"), "{why}");
    site.store.go(outage::Way::Serve);
    settle().await;
    assert!(first.is_ready() && second.is_ready());
    assert_eq!(does(&a).0, WriteMode::Dual);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_stalls_costs_the_lease_at_its_end_and_not_later() {
    let site = Site::new();
    let a = live("a", "");
    let announcer = site.join(&a).await.unwrap();
    let joined = Instant::now();
    site.store.go(outage::Way::Stall);
    let mut changes = announcer.changes();
    changes.changed().await.unwrap();
    let after = joined.elapsed();
    assert!(after <= Duration::from_millis(3_000), "{after:?}");
    assert!(matches!(site.join(&live("b", "")).await, Err(StartError::Stalled { .. })));
}

#[tokio::test(start_paused = true)]
async fn who_can_not_read_what_is_stored_does_not_start() {
    let site = Site::new();
    let named = |state: &NamespaceState| {
        Some(state.next(|next| {
            next.stored.dictionaries.insert(0x1234_5678);
        }))
    };
    site.control().change_state("carts", named).await.unwrap();
    let message = site.join(&live("a", "")).await.err().unwrap().to_string();
    assert!(message.contains("0x12345678") && message.contains("carts"), "{message}");
    // Nor without the control plane.
    site.store.go(outage::Way::Refuse);
    let start = site.join(&live("a", "")).await;
    assert!(matches!(start, Err(StartError::Control(_))));
}

#[tokio::test(start_paused = true)]
async fn a_second_run_takes_the_name_and_the_first_one_notices() {
    let site = Site::new();
    let (old, new) = (live("a", ""), live("a", ""));
    let first = site.join(&old).await.unwrap();
    let second = site.join(&new).await.unwrap();
    settle().await;
    assert_eq!(first.readiness(), Readiness::NotReady(NotReady::Taken("a".to_owned())));
    assert!(second.is_ready());
    // The one that lost the name does not take the other's announcement back.
    first.stop().await;
    settle().await;
    assert!(second.is_ready());
    second.stop().await;
    assert!(site.control().directory(&[]).await.unwrap().announcements.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_process_that_is_gone_for_a_day_leaves_the_list_and_one_that_came_back_does_not() {
    let site = Site::new();
    let control = site.control();
    let mut gone = Announcement::of_this_release("gone", 3_000);
    gone.renewed_at_ms = EPOCH_MS;
    control.register("gone").await.unwrap();
    control.publish(&gone, Incarnation::new(), true).await.unwrap();
    let directory = control.directory(&[]).await.unwrap();
    let day = EPOCH_MS + 24 * 3600 * 1000;
    control.forget(&directory, day).await.unwrap();
    assert!(control.directory(&[]).await.unwrap().registered.contains("gone"));
    gone.renewed_at_ms = day + 5_000;
    control.publish(&gone, Incarnation::new(), true).await.unwrap();
    control.forget(&directory, day + 5_000).await.unwrap();
    assert!(control.directory(&[]).await.unwrap().registered.contains("gone"));
    let directory = control.directory(&[]).await.unwrap();
    control.forget(&directory, 2 * day).await.unwrap();
    assert_eq!(control.directory(&[]).await.unwrap(), Directory::default());
}

#[tokio::test]
async fn a_run_that_takes_the_name_while_the_one_before_withdraws_stays_and_is_listed() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Slots::One));
    let faulty = Arc::new(FaultyStore::new(Arc::clone(&store)));
    let (slow, other) = (Control::new(Arc::clone(&faulty) as Arc<dyn Store>), Control::new(store));
    let process = Announcement::of_this_release("a", 3_000);
    let (first, second) = (Incarnation::new(), Incarnation::new());
    slow.register("a").await.unwrap();
    slow.publish(&process, first, true).await.unwrap();
    // The first call reads the announcement, the second one the list.
    faulty.plan(1, Fault::Stall);
    let withdrawal = tokio::spawn(async move { slow.withdraw("a", first).await });
    faulty.stalled().await;
    other.register("a").await.unwrap();
    other.publish(&process, second, true).await.unwrap();
    faulty.release();
    withdrawal.await.unwrap().unwrap();
    let directory = other.directory(&[]).await.unwrap();
    assert_eq!(directory.incarnations.get("a"), Some(&second));
    assert!(directory.registered.contains("a"));
}

#[tokio::test(start_paused = true)]
async fn a_fleet_walks_forward_and_back() {
    let site = Site::new();
    let (a, b) = (live("a", MANAGED), live("b", MANAGED));
    let (_first, _second) = (site.join(&a).await.unwrap(), site.join(&b).await.unwrap());
    let controller = site.controller(MANAGED);
    let request = Request { first: vec!["b".to_owned()], percent: None };
    let mut step = Step::Off;
    while let Some(next) = step.next(cinch_rollout::settings::Slots::Two) {
        // Nobody has seen the newest state in the same moment.
        settle().await;
        let outcome = controller.advance("carts", &request, None).await.unwrap();
        let Outcome::Changed { to, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(to.progress.step, next);
        let at_once = controller.advance("carts", &request, None).await.unwrap();
        let Outcome::Held(reasons) = at_once else { panic!("nobody has followed yet") };
        assert!(matches!(reasons[0], Reason::Behind { .. }), "{reasons:?}");
        settle().await;
        let [first, others] = next.row().two;
        assert_eq!((does(&b), does(&a)), (first, others), "{}", next.row().name);
        step = next;
    }
    assert_eq!(controller.advance("carts", &request, None).await.unwrap(), Outcome::Nothing);
    while let Some(before) = step.back() {
        let Outcome::Changed { to, .. } = controller.back("carts", None).await.unwrap() else {
            panic!("back is always possible")
        };
        assert_eq!(to.progress.step, before);
        step = before;
    }
    settle().await;
    // Raw copies are written again; what lacks one is still read.
    assert_eq!(does(&a), (WriteMode::NoCompress, ReadMode::CompressOnly));
    assert_eq!(controller.back("carts", None).await.unwrap(), Outcome::Nothing);
}

#[tokio::test(start_paused = true)]
async fn of_two_operators_one_wins() {
    let site = Site::new();
    let (a, b) = (live("a", MANAGED), live("b", MANAGED));
    let (_first, _second) = (site.join(&a).await.unwrap(), site.join(&b).await.unwrap());
    settle().await;
    let (one, other) = (site.controller(MANAGED), site.controller(MANAGED));
    let request = Request::default();
    let outcomes =
        tokio::join!(one.advance("carts", &request, None), other.advance("carts", &request, None));
    let outcomes = [outcomes.0.unwrap(), outcomes.1.unwrap()];
    let won = outcomes.iter().filter(|found| matches!(found, Outcome::Changed { .. })).count();
    assert_eq!(won, 1, "{outcomes:?}");
    let state = site.control().state("carts").await.unwrap().state;
    assert_eq!(state.progress.step, Step::FirstWrite);
    // What the step is judged by is there, whoever won.
    let since_ms = state.progress.since_ms;
    assert!(site.control().baseline("carts", since_ms).await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_halt_stays_until_it_is_resumed_and_going_back_is_free() {
    let site = Site::new();
    let counted = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&counted);
    let health = move |_: &str| cinch_rollout::fleet::Health {
        mismatches: told.load(Ordering::Relaxed),
        ..Default::default()
    };
    let options = AnnouncerOptions { health: Some(Arc::new(health)), clock: site.clock() };
    let (a, b) = (live("a", MANAGED), live("b", MANAGED));
    let _first = Announcer::start(site.control(), Arc::clone(&a), options).await.unwrap();
    let _second = site.join(&b).await.unwrap();
    let controller = site.controller(MANAGED);
    let request = Request::default();
    controller.advance("carts", &request, None).await.unwrap();
    settle().await;
    let quiet = controller.watch("carts", None, None).await.unwrap();
    assert_eq!(quiet, Outcome::Nothing);
    counted.store(1, Ordering::Relaxed);
    settle().await;
    let halted = controller.watch("carts", Some(&request), None).await.unwrap();
    let Outcome::Changed { to, .. } = halted else { panic!("{halted:?}") };
    assert!(to.progress.halted.unwrap().contains("a counted 1 mismatches"));
    assert_eq!(to.progress.step, Step::FirstWrite);
    let held = controller.advance("carts", &request, None).await.unwrap();
    assert!(matches!(held, Outcome::Held(_)));
    let back = controller.back("carts", None).await.unwrap();
    let Outcome::Changed { to, .. } = back else { panic!("{back:?}") };
    assert!(to.progress.step == Step::Off && to.progress.halted.is_some());
    settle().await;
    let held = controller.advance("carts", &request, None).await.unwrap();
    assert!(matches!(held, Outcome::Held(_)), "{held:?}");
    controller.resume("carts").await.unwrap();
    settle().await;
    let on = controller.advance("carts", &request, None).await.unwrap();
    assert!(matches!(on, Outcome::Changed { .. }), "{on:?}");
}

#[tokio::test(start_paused = true)]
async fn a_rollout_begins_when_it_is_first_asked_to_go_on() {
    let site = Site::new();
    let (a, b) = (live("a", MANAGED), live("b", MANAGED));
    let (_first, _second) = (site.join(&a).await.unwrap(), site.join(&b).await.unwrap());
    let mut controller = site.controller(MANAGED);
    controller.bake_ms = Some(60_000);
    let request = Request::default();
    let began = controller.advance("carts", &request, None).await.unwrap();
    assert!(matches!(began, Outcome::Began(_)), "{began:?}");
    tokio::time::sleep(Duration::from_millis(59_000)).await;
    let held = controller.advance("carts", &request, None).await.unwrap();
    assert!(matches!(&held, Outcome::Held(reasons) if reasons.len() == 1), "{held:?}");
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let on = controller.advance("carts", &request, None).await.unwrap();
    assert!(matches!(on, Outcome::Changed { .. }), "{on:?}");
}
