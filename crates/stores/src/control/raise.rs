//! What the durable state must say before a process writes something new: a record without its raw
//! copy, a packed value, a dictionary.
//!
//! It is found with the policy itself: what would be written if the state allowed everything is
//! what the configuration asks for and the fleet does not forbid, and exactly that is raised.

use cinch_rollout::decoders::Decoders;
use cinch_rollout::fleet::Fleet;
use cinch_rollout::modes::{SingleWrite, WriteMode};
use cinch_rollout::policy::{Circumstances, Plan, decide};
use cinch_rollout::settings::{Configuration, Namespace, Slots};
use cinch_rollout::state::NamespaceState;

/// The share of a key that is inside whatever the share is, and of one that is outside.
const SHARES: [u8; 2] = [0, 99];

/// The state after which a process may write what it wishes to, where that is another one.
pub(super) fn raised(
    configuration: &Configuration,
    namespace: &Namespace,
    fleet: &Fleet,
    state: &NamespaceState,
) -> Option<NamespaceState> {
    let profile = Decoders::of_profile(&namespace.profile);
    let mut all = state.clone();
    all.may_lack_raw = true;
    all.may_be_packed = true;
    all.sealed = false;
    all.stored.extend(&profile);
    let circumstances = Circumstances { configuration, namespace, fleet, state: &all };
    let mut next = state.clone();
    for share in SHARES {
        let (is_packed, lacks_raw) = match decide(&circumstances, share) {
            Plan::Two(plan) => (plan.write.writes_packed(), plan.write == WriteMode::CompressOnly),
            Plan::One(plan) => (plan.write == SingleWrite::Packed, false),
        };
        // What a seal holds back is written after it was taken off, and its proof is void.
        if lacks_raw || is_packed && namespace.slots() == Slots::One {
            next.sealed = false;
        }
        next.may_be_packed |= is_packed;
        next.may_lack_raw |= lacks_raw;
        if is_packed {
            next.stored.extend(&profile);
        }
    }
    next.may_be_foreign |= !namespace.foreign_formats.is_empty();
    (next != *state).then(|| state.next(|changed| *changed = next))
}

#[cfg(test)]
mod tests {
    use cinch_rollout::fleet::{Announcement, Practice};
    use cinch_rollout::modes::ReadMode;
    use cinch_rollout::settings::Sources;
    use cinch_rollout::steps::Step;

    use super::*;

    fn configuration(settings: &str) -> Configuration {
        let text = format!("process = \"a\"\n[namespaces.carts]\nkeys = [\"*\"]\n{settings}");
        Sources { text, ..Sources::default() }.configuration().unwrap()
    }

    fn raise(settings: &str, fleet: &Fleet, state: &NamespaceState) -> Option<NamespaceState> {
        let configuration = configuration(settings);
        raised(&configuration, &configuration.namespaces["carts"], fleet, state)
    }

    fn other(read: ReadMode) -> Fleet {
        let mut announcement = Announcement::of_this_release("b", 1_000);
        let practice = Practice { read: Some(read), ..Practice::default() };
        announcement.namespaces.insert("carts".to_owned(), practice);
        Fleet { live: vec![announcement], missing: Vec::new() }
    }

    const RAW_LESS: &str = "write_mode = \"COMPRESS_ONLY\"\nread_mode = \"COMPRESS_ONLY\"\n";

    #[test]
    fn only_what_is_asked_for_is_raised() {
        let state = NamespaceState::default();
        assert_eq!(raise("", &Fleet::alone(), &state), None);
        let dual = raise("write_mode = \"DUAL\"\n", &Fleet::alone(), &state).unwrap();
        assert!(dual.may_be_packed && !dual.may_lack_raw);
        assert_eq!(dual.epoch, 1);
        let raw_less = raise(RAW_LESS, &Fleet::alone(), &dual).unwrap();
        assert!(raw_less.may_lack_raw);
        assert_eq!(raise(RAW_LESS, &Fleet::alone(), &raw_less), None);
    }

    #[test]
    fn nothing_is_raised_that_the_fleet_forbids() {
        let state = NamespaceState::default();
        let held = raise(RAW_LESS, &other(ReadMode::NoCompress), &state).unwrap();
        assert!(held.may_be_packed && !held.may_lack_raw);
        let free = raise(RAW_LESS, &other(ReadMode::VerifyCompress), &state).unwrap();
        assert!(free.may_lack_raw);
        let missing = Fleet { live: Vec::new(), missing: vec!["b".to_owned()] };
        assert_eq!(raise(RAW_LESS, &missing, &state), None);
    }

    #[test]
    fn a_step_is_raised_by_who_takes_it_and_shadow_never() {
        let mut state = NamespaceState::default();
        let one = "managed = true\nslots = \"one\"\n";
        state.progress.step = Step::Verify;
        assert_eq!(raise(one, &Fleet::alone(), &state), None);
        state.progress.step = Step::AllRead;
        assert!(raise(one, &Fleet::alone(), &state).unwrap().may_be_packed);
    }
}
