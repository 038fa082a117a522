//! The same calls under other circumstances: a warm payload, cold caches, new contexts, the first
//! call of a process; and what single calls took, the system's interruptions included.

use super::{Cell, Column, Row, Table};
use crate::model::{Calls, Evaluation, FirstCall, Regimes, RoundTrip, Trial};
use crate::report::human;

/// The trials whose regimes were measured; nothing where there are none.
pub(in crate::report) fn regimes(evaluation: &Evaluation) -> Option<Table> {
    let has_any = |trial: &&Trial| trial.regimes.is_some() || trial.first_call.is_some();
    let with = evaluation.trials.iter().filter(has_any);
    let rows: Vec<Row> = with.map(|trial| row(evaluation, trial)).collect();
    Table {
        id: "regimes".to_owned(),
        title: "Warm, rotating, cold, new".to_owned(),
        caption: "Packing, and unpacking in small below it: p50 over payloads. Rotating payloads \
                  with reused contexts are what every other time in this report is of; the same \
                  payload again and again is a lower bound that no service sees."
            .to_owned(),
        columns: vec![
            Column::words("Trial", "Encoding, codec, level, dictionary"),
            Column::figure("Same payload", "The least of repeated calls on one payload"),
            Column::figure("Rotating", "Another payload each call, contexts reused"),
            Column::figure("Cold caches", "Caches filled with something else before each call"),
            Column::figure("New context", "A new context for each call"),
            Column::figure("First call", "In a process of its own: the median of them"),
            Column::figure("Slowest first call", "In a process of its own: the longest"),
        ],
        rows,
    }
    .filled()
}

fn row(evaluation: &Evaluation, trial: &Trial) -> Row {
    let pair = |pack: f64, unpack: f64| Cell::figure(pack, human::time).noted(human::time(unpack));
    let both = |of: fn(&Regimes) -> &RoundTrip| match trial.regimes.as_ref().map(of) {
        Some(times) if times.pack_ns.mean > 0.0 => pair(times.pack_ns.p50, times.unpack_ns.p50),
        _ => Cell::nothing(),
    };
    let first = |of: fn(&FirstCall) -> (f64, f64)| {
        let first = trial.first_call.as_ref().map(of);
        first.map_or_else(Cell::nothing, |(pack, unpack)| pair(pack, unpack))
    };
    let cells = vec![
        Cell::trial(evaluation, &trial.name),
        both(|regimes| &regimes.same_payload),
        both(|regimes| &regimes.rotating),
        both(|regimes| &regimes.cold_cache),
        both(|regimes| &regimes.fresh_context),
        first(|first| (first.pack_p50_ns, first.unpack_p50_ns)),
        first(|first| (first.pack_max_ns, first.unpack_max_ns)),
    ];
    Row::of(evaluation, &trial.name, cells)
}

/// The trials whose single calls were kept; nothing where there are none.
pub(in crate::report) fn calls(evaluation: &Evaluation) -> Option<Table> {
    let with = evaluation.trials.iter().filter_map(|trial| Some((trial, trial.calls.as_ref()?)));
    let rows: Vec<Row> = with.map(|(trial, calls)| call(evaluation, trial, calls)).collect();
    Table {
        id: "calls".to_owned(),
        title: "Single calls".to_owned(),
        caption: "Over all calls and not over payloads: what a service sees. Calls that the \
                  system interrupted count only in the wall time."
            .to_owned(),
        columns: vec![
            Column::words("Trial", "Encoding, codec, level, dictionary"),
            Column::figure("Round trips", "How many were made"),
            Column::figure("Interrupted", "How many of them the system interrupted"),
            Column::figure("Wall", "Mean wall time of a round trip"),
            Column::figure("CPU", "Mean CPU time of a round trip"),
            Column::figure("Pack p99", "99 % of the packing calls; 99.9 % below"),
            Column::figure("Unpack p99", "99 % of the unpacking calls; 99.9 % below"),
        ],
        rows,
    }
    .filled()
}

fn call(evaluation: &Evaluation, trial: &Trial, calls: &Calls) -> Row {
    let tail = |p99: f64, p999: f64| Cell::figure(p99, human::time).noted(human::time(p999));
    let cells = vec![
        Cell::trial(evaluation, &trial.name),
        Cell::count(calls.count),
        Cell::count(calls.preempted),
        Cell::figure(calls.wall_ns, human::time),
        Cell::figure(calls.cpu_ns, human::time),
        tail(calls.pack_p99_ns, calls.pack_p999_ns),
        tail(calls.unpack_p99_ns, calls.unpack_p999_ns),
    ];
    Row::of(evaluation, &trial.name, cells)
}
