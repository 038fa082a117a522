//! Conditions under many tasks at once: the store decides, and every decision counts once. Half of
//! the tasks use connections of their own, as another process would.

use cinch_rollout::{Record, Stamp};
use tokio::task::JoinSet;

use super::Subject;
use crate::store::{Condition, Expiry, PutOutcome};

/// How many tasks run at once, and how often each counts.
const TASKS: u64 = 8;
const ROUNDS: u64 = 12;

/// The stores take turns, so that two processes compete and not only two tasks of one.
fn store_of(subject: &Subject, task: u64) -> std::sync::Arc<dyn crate::Store> {
    if task.is_multiple_of(2) { subject.store.clone() } else { subject.other.clone() }
}

pub(super) async fn increments_are_not_lost(subject: &Subject) {
    let key = b"counter";
    let zero = Record::single(b"0".to_vec());
    let put = subject.store.put(key, &zero, &Condition::Always, Expiry::Keep).await;
    assert!(matches!(put, Ok(PutOutcome::Written)), "{put:?}");
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let store = store_of(subject, task);
        tasks.spawn(async move {
            for _ in 0..ROUNDS {
                loop {
                    let found = store.get(key).await.expect("it answers").expect("it is there");
                    let raw = found.record.raw.expect("a raw copy");
                    let count: u64 = String::from_utf8_lossy(&raw).parse().expect("a count");
                    let next = Record::single((count + 1).to_string().into_bytes());
                    let condition = Condition::Is(found.version);
                    let put = store.put(key, &next, &condition, Expiry::Keep).await;
                    match put.expect("it answers") {
                        PutOutcome::Written => break,
                        PutOutcome::ConditionFailed => {}
                    }
                }
            }
        });
    }
    tasks.join_all().await;
    let raw = subject.get(key).await.record.raw;
    assert_eq!(raw, Some((TASKS * ROUNDS).to_string().into()), "updates were lost");
}

pub(super) async fn one_of_many_creates(subject: &Subject) {
    for round in 0..ROUNDS {
        let key = format!("created-{round}");
        let mut tasks = JoinSet::new();
        for task in 0..TASKS {
            let (store, key, record) = (store_of(subject, task), key.clone(), subject.record(task));
            tasks.spawn(async move {
                let put = store.put(key.as_bytes(), &record, &Condition::Absent, Expiry::Keep);
                (task, put.await.expect("it answers"))
            });
        }
        let outcomes = tasks.join_all().await;
        let won: Vec<u64> = outcomes
            .into_iter()
            .filter(|(_, outcome)| *outcome == PutOutcome::Written)
            .map(|(task, _)| task)
            .collect();
        assert_eq!(won.len(), 1, "{won:?} all created {key}");
        assert_eq!(subject.get(key.as_bytes()).await.record, subject.record(won[0]));
    }
}

pub(super) async fn the_largest_stamp_wins(subject: &Subject) {
    if !subject.has_stamp() {
        return;
    }
    for round in 0..ROUNDS {
        let key = format!("stamped-{round}");
        let mut tasks = JoinSet::new();
        for task in 0..TASKS {
            // The largest is neither the first nor the last to start.
            let number = (task * 5 + round) % TASKS + 1;
            let (store, key, record) =
                (store_of(subject, task), key.clone(), subject.record(number));
            tasks.spawn(async move {
                let condition = Condition::OlderThan(Stamp(number));
                let put = store.put(key.as_bytes(), &record, &condition, Expiry::Keep).await;
                put.expect("it answers");
            });
        }
        tasks.join_all().await;
        let found = subject.get(key.as_bytes()).await.record;
        assert_eq!(found, subject.record(TASKS), "an older record won");
    }
}
