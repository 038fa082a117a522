//! The policy, rule by rule: what each obstacle does to each wish. That the rules together are safe
//! is the model checker's business.

use std::sync::Arc;

use super::*;
use crate::fleet::{Announcement, Lack, Practice};
use crate::settings::Sources;
use crate::steps::{STEPS, Step};

fn configuration(settings: &str) -> Configuration {
    let text = format!("process = \"a\"\n[namespaces.carts]\nkeys = [\"*\"]\n{settings}");
    Sources { text, ..Sources::default() }.configuration().unwrap()
}

fn practice(write: WriteMode, read: ReadMode) -> Practice {
    Practice { write: Some(write), read: Some(read), ..Practice::default() }
}

fn announcing(process: &str, practice: Practice) -> Announcement {
    let mut announcement = Announcement::of_this_release(process, 1_000);
    announcement.namespaces.insert("carts".to_owned(), practice);
    announcement
}

fn fleet_of(others: Vec<Announcement>) -> Fleet {
    Fleet { live: others, missing: Vec::new() }
}

/// A state that names what values need that are written by the default profile.
fn named() -> NamespaceState {
    let default = configuration("");
    let stored = Decoders::of_profile(&default.namespaces["carts"].profile);
    NamespaceState { stored, ..NamespaceState::default() }
}

fn raw_less() -> NamespaceState {
    NamespaceState { may_lack_raw: true, ..named() }
}

fn two_slot(configuration: &Configuration, fleet: &Fleet, state: &NamespaceState) -> TwoSlotPlan {
    let namespace = &configuration.namespaces["carts"];
    match decide(&Circumstances { configuration, namespace, fleet, state }, 0) {
        Plan::Two(plan) => plan,
        Plan::One(_) => panic!("two slots were configured"),
    }
}

const END: &str = "write_mode = \"COMPRESS_ONLY\"\nread_mode = \"COMPRESS_ONLY\"\n";

#[test]
fn alone_and_with_the_state_behind_it_every_wish_is_granted() {
    for write in WriteMode::ALL {
        for read in ReadMode::ALL {
            if crate::modes::check_pair(write, read).is_err() {
                continue;
            }
            let text = format!("write_mode = {:?}\nread_mode = {:?}\n", write.name(), read.name());
            let state =
                NamespaceState { may_lack_raw: write == WriteMode::CompressOnly, ..named() };
            let plan = two_slot(&configuration(&text), &Fleet::alone(), &state);
            assert_eq!((plan.write, plan.read), (write, read));
            assert_eq!((plan.write_obstacle, plan.read_obstacle), (None, None));
        }
    }
}

#[test]
fn the_raw_copy_is_kept_while_anybody_alive_reads_it_alone() {
    let reads_raw = announcing("b", practice(WriteMode::Dual, ReadMode::NoCompress));
    let plan = two_slot(&configuration(END), &fleet_of(vec![reads_raw]), &raw_less());
    assert_eq!(plan.write, WriteMode::Dual);
    assert_eq!(plan.write_obstacle, Some(Obstacle::ReadsRawOnly("b".to_owned())));
}

#[test]
fn the_raw_copy_is_kept_until_the_state_says_that_it_may_lack() {
    let plan = two_slot(&configuration(END), &Fleet::alone(), &named());
    assert_eq!(plan.write, WriteMode::Dual);
    assert!(matches!(plan.write_obstacle, Some(Obstacle::State(_))));
}

#[test]
fn who_is_missing_counts_as_the_worst_of_all() {
    let fleet = Fleet { live: Vec::new(), missing: vec!["c".to_owned()] };
    let plan = two_slot(&configuration(END), &fleet, &raw_less());
    assert_eq!(plan.write, WriteMode::NoCompress);
    assert_eq!(plan.write_obstacle, Some(Obstacle::Missing("c".to_owned())));
    // There may be nothing else to read, so reading goes on.
    assert_eq!(plan.read, ReadMode::CompressOnly);
}

#[test]
fn the_packed_copy_is_not_relied_on_while_anybody_alive_removes_it() {
    let text = "write_mode = \"DUAL\"\nread_mode = \"COMPRESS_ONLY\"\n";
    let removes = announcing("b", practice(WriteMode::NoCompress, ReadMode::NoCompress));
    let plan = two_slot(&configuration(text), &fleet_of(vec![removes]), &named());
    assert_eq!((plan.write, plan.read), (WriteMode::Dual, ReadMode::VerifyCompress));
    assert_eq!(plan.read_obstacle, Some(Obstacle::WritesRawOnly("b".to_owned())));
}

/// Who was there before cinch never announces itself: an operator says that it is there.
#[test]
fn what_was_there_before_cinch_holds_back_what_it_could_not_read_or_would_remove() {
    let at = |settings: &str, step: Step| {
        let configuration = configuration(&format!("managed = true\n{settings}"));
        let mut state = NamespaceState { may_be_packed: true, ..named() };
        state.may_lack_raw = step == Step::PackedOnly;
        state.progress.step = step;
        let namespace = &configuration.namespaces["carts"];
        let fleet = &Fleet::alone();
        decide(&Circumstances { configuration: &configuration, namespace, fleet, state: &state }, 0)
    };
    let Plan::Two(plan) = at("legacy_readers = true\n", Step::PackedOnly) else { panic!("two") };
    assert_eq!((plan.write, plan.write_obstacle), (WriteMode::Dual, Some(Obstacle::LegacyReaders)));
    let Plan::Two(plan) = at("legacy_writers = true\n", Step::AllRead) else { panic!("two") };
    let expected = (ReadMode::VerifyCompress, Some(Obstacle::LegacyWriters));
    assert_eq!((plan.read, plan.read_obstacle), expected);
    let one = "slots = \"one\"\nlegacy_readers = true\n";
    let Plan::One(plan) = at(one, Step::AllRead) else { panic!("one") };
    assert_eq!(
        (plan.write, plan.write_obstacle),
        (SingleWrite::Plain, Some(Obstacle::LegacyReaders))
    );
}

#[test]
fn rolling_back_does_not_lose_what_has_no_raw_copy() {
    let plan = two_slot(&configuration(""), &Fleet::alone(), &raw_less());
    assert_eq!((plan.write, plan.read), (WriteMode::NoCompress, ReadMode::CompressOnly));
    let off = format!("{END}percent = 0\n");
    let plan = two_slot(&configuration(&off), &Fleet::alone(), &raw_less());
    assert_eq!((plan.write, plan.read), (WriteMode::NoCompress, ReadMode::CompressOnly));
}

#[test]
fn nothing_is_written_that_a_live_reader_lacks_the_decoder_for() {
    type Change = fn(&mut Announcement);
    let lacking: [(Change, Lack); 3] = [
        (|old| old.codecs.clear(), Lack::Codec(0x12)),
        (|old| old.encodings.clear(), Lack::Encoding(0x10)),
        (|old| old.envelope_version = 0, Lack::EnvelopeVersion(1)),
    ];
    for (take_away, lack) in lacking {
        let mut old = announcing("b", practice(WriteMode::Dual, ReadMode::CompressOnly));
        take_away(&mut old);
        let fleet = fleet_of(vec![old]);
        let plan = two_slot(&configuration(END), &fleet, &raw_less());
        assert_eq!(plan.write, WriteMode::NoCompress);
        assert_eq!(plan.write_obstacle, Some(Obstacle::Lacks("b".to_owned(), lack.clone())));

        let one = configuration("write = \"packed\"\n");
        let namespace = &one.namespaces["carts"];
        let state = NamespaceState { may_be_packed: true, ..named() };
        let circumstances =
            Circumstances { configuration: &one, namespace, fleet: &fleet, state: &state };
        let Plan::One(plan) = decide(&circumstances, 0) else { panic!("one slot") };
        assert_eq!(plan.write, SingleWrite::Plain);
        assert_eq!(plan.write_obstacle, Some(Obstacle::Lacks("b".to_owned(), lack)));
    }
}

#[test]
fn what_values_need_is_named_in_the_state_before_they_are_written() {
    for end in [END, "write_mode = \"DUAL\"\n"] {
        let state = NamespaceState { stored: Decoders::default(), ..raw_less() };
        let plan = two_slot(&configuration(end), &Fleet::alone(), &state);
        assert_eq!(plan.write, WriteMode::NoCompress);
        assert!(matches!(plan.write_obstacle, Some(Obstacle::State(_))));
    }
}

#[test]
fn under_a_seal_nobody_writes_what_is_proved_to_be_gone() {
    let sealed = NamespaceState { sealed: true, may_be_packed: true, ..raw_less() };
    let plan = two_slot(&configuration(END), &Fleet::alone(), &sealed);
    // What is there already may lack its raw copy, so that reading goes on.
    assert_eq!((plan.write, plan.read), (WriteMode::Dual, ReadMode::CompressOnly));
    assert!(matches!(plan.write_obstacle, Some(Obstacle::State(_))));
    let one = configuration("write = \"packed\"\n");
    let namespace = &one.namespaces["carts"];
    let fleet = Fleet::alone();
    let circumstances =
        Circumstances { configuration: &one, namespace, fleet: &fleet, state: &sealed };
    let Plan::One(plan) = decide(&circumstances, 0) else { panic!("one slot") };
    assert_eq!(plan.write, SingleWrite::Plain);
}

#[test]
fn a_share_grows_and_no_key_changes_sides_twice() {
    let keys: Vec<Vec<u8>> = (0..10_000).map(|n| format!("cart:{n}").into_bytes()).collect();
    for percent in [1, 10, 50, 90] {
        let inside = keys.iter().filter(|key| share_of("carts", key) < percent).count();
        let expected = usize::from(percent) * keys.len() / 100;
        assert!(inside.abs_diff(expected) < 200, "{percent} %: {inside}");
    }
    let other = keys.iter().filter(|key| share_of("menus", key) == share_of("carts", key)).count();
    assert!(other < 300, "two namespaces sort keys alike: {other}");
}

#[test]
fn a_managed_namespace_does_what_its_step_says() {
    let configuration = configuration("managed = true\n");
    for row in STEPS {
        for (first, expected) in [(vec!["a".to_owned()], row.two[0]), (Vec::new(), row.two[1])] {
            let mut state = named();
            state.progress.step = row.step;
            state.progress.first = first;
            state.may_lack_raw = row.step == Step::PackedOnly;
            let plan = two_slot(&configuration, &Fleet::alone(), &state);
            assert_eq!((plan.write, plan.read), expected, "{}", row.name);
        }
    }
}

#[test]
fn the_master_switch_turns_writing_off_and_nothing_else() {
    let text = "process = \"a\"\ncompression_enabled = false\n[namespaces.carts]\nkeys = [\"*\"]\n\
                write_mode = \"DUAL\"\nread_mode = \"VERIFY_COMPRESS\"\n";
    let sources = Sources { text: text.to_owned(), ..Sources::default() };
    let configuration = sources.configuration().unwrap();
    let namespace = Arc::clone(&configuration.namespaces["carts"]);
    let state = raw_less();
    let circumstances = Circumstances {
        configuration: &configuration,
        namespace: &namespace,
        fleet: &Fleet::alone(),
        state: &state,
    };
    let Plan::Two(plan) = decide(&circumstances, 0) else { panic!("two slots") };
    assert_eq!((plan.write, plan.read), (WriteMode::NoCompress, ReadMode::CompressOnly));
}
