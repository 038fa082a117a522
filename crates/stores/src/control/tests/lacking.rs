//! What a process has not: a step that would write it is refused by the process's name, and a
//! process that could not read what is stored does not start.

use std::collections::BTreeSet;

use cinch_rollout::decoders::Lack;
use cinch_rollout::fleet::{Obstacle, Practice};

use super::super::decision::Reason;
use super::*;

/// Announces a release that decodes less, again and again, and follows every epoch.
fn older_release(site: &Site, take_away: fn(&mut Announcement)) -> tokio::task::JoinHandle<()> {
    let (control, clock) = (site.control(), site.clock());
    tokio::spawn(async move {
        let incarnation = Incarnation::new();
        control.register("b").await.unwrap();
        for round in 0.. {
            let state = control.state("carts").await.unwrap().state;
            let mut announcement = Announcement::of_this_release("b", 3_000);
            announcement.renewed_at_ms = clock();
            let (write, read) = state.progress.step.row().two[1];
            let practice = Practice {
                write: Some(write),
                read: Some(read),
                epoch: state.epoch,
                ..Practice::default()
            };
            announcement.namespaces.insert("carts".to_owned(), practice);
            take_away(&mut announcement);
            control.publish(&announcement, incarnation, round == 0).await.unwrap();
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_step_that_writes_what_a_live_process_can_not_read_names_the_process() {
    type Case = (fn(&mut Announcement), Lack, &'static str);
    let cases: [Case; 3] = [
        (
            |old| old.codecs = BTreeSet::from([0x10, 0x13]),
            Lack::Codec(0x12),
            "against first-write: b does not read the codec lz4 (0x12)",
        ),
        (
            |old| old.encodings.clear(),
            Lack::Encoding(0x10),
            "against first-write: b does not read the encoding verbatim (0x10)",
        ),
        (
            |old| old.envelope_version = 0,
            Lack::EnvelopeVersion(1),
            "against first-write: b does not read envelopes of version 1",
        ),
    ];
    for (take_away, lack, said) in cases {
        let site = Site::new();
        let a = live("a", MANAGED);
        let _first = site.join(&a).await.unwrap();
        let _older = older_release(&site, take_away);
        settle().await;
        let controller = site.controller(MANAGED);
        // The first request begins the rollout, whatever stands against its step.
        let held = controller.advance("carts", &Request::default(), None).await.unwrap();
        let Outcome::Began(reasons) = held else { panic!("{held:?}") };
        let expected = Obstacle::Lacks("b".to_owned(), lack);
        assert_eq!(reasons, [Reason::Against(Step::FirstWrite, expected)]);
        assert_eq!(reasons[0].to_string(), said);
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_names_what_its_values_need_and_nobody_starts_without_it() {
    let site = Site::new();
    let (a, b) = (live("a", MANAGED), live("b", MANAGED));
    let _fleet = (site.join(&a).await.unwrap(), site.join(&b).await.unwrap());
    settle().await;
    let controller = site.controller(MANAGED);
    controller.advance("carts", &Request::default(), None).await.unwrap();
    let stored = site.control().state("carts").await.unwrap().state.stored;
    assert_eq!((stored.codecs, stored.encodings), ([0x12].into(), [0x10].into()));
    // A codec and an encoding of a release to come: back to this one only when they are gone.
    for (codec, encoding, words) in
        [(0x7E, 0x10, "the codec of a newer release (0x7e)"), (0x12, 0x7E, "the encoding of a")]
    {
        let newer = move |state: &NamespaceState| {
            Some(state.next(|next| {
                next.stored.codecs = [codec].into();
                next.stored.encodings = [encoding].into();
            }))
        };
        site.control().change_state("carts", newer).await.unwrap();
        let said = site.join(&live("c", MANAGED)).await.err().unwrap().to_string();
        assert!(said.contains(words) && said.contains("run a release that reads it"), "{said}");
        settle().await;
    }
    let held = controller.advance("carts", &Request::default(), None).await.unwrap();
    let Outcome::Held(reasons) = held else { panic!("{held:?}") };
    let lacks = |reason: &Reason| matches!(reason, Reason::Against(_, Obstacle::Lacks(..)));
    assert!(reasons.iter().any(lacks), "{reasons:?}");
}
