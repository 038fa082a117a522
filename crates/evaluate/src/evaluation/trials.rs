//! One trial of the model, from what the stages left behind: the only place where a trial's figures
//! are made, so that spec/evaluation.md has one thing to describe.

use super::Measured;
use crate::bootstrap::Interval;
use crate::measure::{self, TimedFrom, Times, Tracked};
use crate::model::{
    Calls, ClassTrial, DictionaryCost, HeldOut, Nanoseconds, QUANTILES, Spread, Trial,
};
use crate::select;
use crate::sheet::Sheet;
use crate::statistics::{P99_COUNT_MIN, percentile};

pub(super) fn factor(value: f64, base: f64) -> f64 {
    if base > 0.0 { value / base } else { 0.0 }
}

/// Mean time to pack and unpack one payload, in nanoseconds.
pub(super) fn time_ns(tracked: &Tracked, from: TimedFrom) -> f64 {
    let (pack, unpack) = tracked.totals(from);
    pack.mean + unpack.mean
}

/// A share over the payloads that can be compared with other trials': those that report where they
/// were timed there, else all that were sized.
pub(super) fn share(measured: &Measured<'_>, index: usize) -> f64 {
    match measured.reported.measured(index) {
        Some(on_sheet) => on_sheet.size_share,
        None => measured.all[index].size_share(),
    }
}

pub(super) fn trial(measured: &Measured<'_>, index: usize) -> Trial {
    let from = measured.request.from;
    let tracked = &measured.all[index];
    let candidate = &tracked.candidate;
    let (bytes_in, bytes_out, packed_bytes) = tracked.bytes();
    let (pack_ns, unpack_ns) = tracked.totals(from);
    let timed_payloads = tracked.times().iter().filter(|times| !times.rounds.is_empty()).count();
    let first_look = (measured.request.goal.score)(&select::first_look(tracked, from));
    let score = measured.chosen.score(index, measured.request.goal).unwrap_or(first_look);
    let baseline = &measured.all[measured.baseline];
    let winner = measured.winner();
    let (compressor, decompressor) = tracked.memory_bytes;
    Trial {
        name: candidate.to_string(),
        encoding: candidate.encoding.name.to_owned(),
        codec: candidate.codec.name().to_owned(),
        level: candidate.codec.level,
        dictionary: candidate.dictionary().map(|dictionary| id_text(dictionary.id())),
        is_control: measured.controls.contains(&index),
        stage: tracked.stage.name().to_owned(),
        payloads: tracked.sizes.len() as u64,
        bytes_in,
        bytes_out,
        packed_bytes,
        ratio: factor(bytes_in as f64, bytes_out as f64),
        median_ratio: tracked.median_ratio(),
        mean_share: tracked.mean_share(),
        held_out: held_out(measured, tracked),
        fidelity: candidate.encoding.fidelity.name().to_owned(),
        timed_payloads: timed_payloads as u64,
        rounds: tracked.rounds() as u32,
        p99_is_max: timed_payloads < P99_COUNT_MIN,
        parse_ns: tracked.summary(|steps| steps.parse),
        encode_ns: tracked.summary(|steps| steps.encode),
        compress_ns: tracked.summary(|steps| steps.compress),
        decompress_ns: tracked.summary(|steps| steps.decompress),
        decode_ns: tracked.summary(|steps| steps.decode),
        write_ns: tracked.summary(|steps| steps.write),
        checksum_ns: tracked.summary(|steps| steps.checksum),
        pack_ns,
        unpack_ns,
        spread: spread(&measured.reported, index),
        calls: calls(tracked),
        regimes: tracked.regimes,
        first_call_ns: tracked.first_call_ns,
        first_call: tracked.first_call,
        round_spread: tracked.round_spread(),
        memory_bytes: (compressor + decompressor) as u64,
        compressor_memory_bytes: compressor as u64,
        decompressor_memory_bytes: decompressor as u64,
        dictionary_cost: dictionary_cost(measured, index),
        refused: tracked.refused,
        refused_share: factor(tracked.refused as f64, tracked.sizes.len() as f64),
        refusal: tracked.refusal.clone(),
        failures: tracked.failures,
        failure: tracked.failure.clone(),
        size_factor: factor(share(measured, index), share(measured, measured.baseline)),
        speed_factor: factor(time_ns(tracked, from), time_ns(baseline, from)),
        score: (score.is_finite() && !tracked.sizes.is_empty()).then_some(score),
        paired: winner.and_then(|winner| {
            measured.chosen.paired(index, winner, measured.request.goal, &measured.resamples)
        }),
        eliminated_by: tracked.eliminated_by.clone(),
    }
}

/// An id as profiles and envelopes show it.
pub(super) fn id_text(id: u32) -> String {
    format!("{id:#010x}")
}

/// Sizes of the payloads that neither trained nor chose, of those that were sized.
fn held_out(measured: &Measured<'_>, tracked: &Tracked) -> Option<HeldOut> {
    measured.split.by?;
    let report = &measured.split.report;
    let sizes: Vec<_> =
        tracked.sizes.iter().filter(|sizes| report.binary_search(&sizes.payload).is_ok()).collect();
    if sizes.is_empty() {
        return None;
    }
    let (bytes_in, bytes_out, packed_bytes) = measure::total(sizes.iter().copied());
    let payloads: Vec<usize> = sizes.iter().map(|sizes| sizes.payload).collect();
    let packed: Vec<f64> = sizes.iter().map(|sizes| sizes.packed_bytes as f64).collect();
    let plain: Vec<f64> = sizes.iter().map(|sizes| sizes.bytes_in as f64).collect();
    Some(HeldOut {
        payloads: payloads.len() as u64,
        bytes_in,
        bytes_out,
        packed_bytes,
        packed_share: factor(packed_bytes as f64, bytes_in as f64),
        packed_share_interval: measured.resamples(&payloads).ratio_of_sums(&packed, &plain),
    })
}

/// How the figures of the payloads that report are spread.
fn spread(sheet: &Sheet, index: usize) -> Option<Spread> {
    let row = sheet.rows.get(&index)?;
    let at = |values: &[f64]| -> Vec<f64> {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        QUANTILES.iter().map(|&share| percentile(&values, share)).collect()
    };
    Some(Spread {
        packed_bytes: at(&row.packed_bytes),
        pack_ns: at(&row.pack_ns),
        unpack_ns: at(&row.unpack_ns),
    })
}

/// Figures over raw calls.
fn calls(tracked: &Tracked) -> Option<Calls> {
    let log = &tracked.calls;
    let count = log.pack_ns.len();
    if count == 0 {
        return None;
    }
    let mean = |values: &[f32]| values.iter().map(|&v| f64::from(v)).sum::<f64>() / count as f64;
    let at = |values: &[f32], share: f64| {
        let mut values = values.to_vec();
        values.sort_by(f32::total_cmp);
        f64::from(percentile(&values, share))
    };
    let wall_ns = mean(&log.pack_ns) + mean(&log.unpack_ns);
    Some(Calls {
        count: count as u64,
        preempted: log.preempted,
        wall_ns,
        // The thread's clock is read around many calls, so its share is what is known of each.
        cpu_ns: wall_ns * (log.cpu_ns / log.wall_ns.max(1.0)).min(1.0),
        pack_p99_ns: at(&log.pack_ns, 0.99),
        pack_p999_ns: at(&log.pack_ns, 0.999),
        unpack_p99_ns: at(&log.unpack_ns, 0.99),
        unpack_p999_ns: at(&log.unpack_ns, 0.999),
    })
}

pub(super) fn dictionary_cost(measured: &Measured<'_>, index: usize) -> Option<DictionaryCost> {
    let tracked = &measured.all[index];
    let learned = tracked.candidate.learned.as_ref()?;
    let codec = tracked.candidate.codec;
    let memory =
        codec.codec.dictionary_memory(codec.level, &learned.dictionary).unwrap_or_default();
    let base = tracked.candidate.without_dictionary();
    let base = measured.all.iter().find(|other| other.candidate == base);
    let (mut with, mut without, mut payloads) = (Vec::new(), Vec::new(), Vec::new());
    for sizes in &tracked.sizes {
        if let Some(other) = base.and_then(|base| base.sizes_of(sizes.payload)) {
            with.push(sizes.packed_bytes as f64);
            without.push(other.packed_bytes as f64);
            payloads.push(sizes.payload);
        }
    }
    if payloads.is_empty() {
        return None;
    }
    let ratio = measured.resamples(&payloads).ratio_of_sums(&with, &without);
    Some(DictionaryCost {
        id: id_text(learned.dictionary.id()),
        bytes: learned.dictionary.bytes().len() as u64,
        compress_memory_bytes: memory.compress_bytes as u64,
        decompress_memory_bytes: memory.decompress_bytes as u64,
        build_seconds: learned.build_seconds,
        trained_on_payloads: learned.sample_payloads,
        trained_on_bytes: learned.sample_bytes,
        gain: 1.0 - factor(with.iter().sum(), without.iter().sum::<f64>().max(1.0)),
        gain_interval: Interval { low: 1.0 - ratio.high, high: 1.0 - ratio.low },
    })
}

/// One trial on the payloads of a size class.
pub(super) fn class_trial(
    measured: &Measured<'_>,
    sheet: &Sheet,
    index: usize,
) -> Option<ClassTrial> {
    let tracked = &measured.all[index];
    let from = measured.request.from;
    let sizes: Vec<_> =
        sheet.payloads.iter().filter_map(|&payload| tracked.sizes_of(payload)).collect();
    let (bytes_in, bytes_out, packed_bytes) = measure::total(sizes.iter().copied());
    let of_class: Vec<&Times> = tracked
        .times()
        .iter()
        .filter(|times| !times.rounds.is_empty() && sheet.payloads.contains(&times.payload))
        .collect();
    let candidate = &tracked.candidate;
    let summary = |figure: &dyn Fn(&measure::Steps) -> f32| {
        Nanoseconds::of(of_class.iter().map(|times| times.median(figure)).collect())
    };
    (!sizes.is_empty()).then(|| ClassTrial {
        name: candidate.to_string(),
        payloads: sizes.len() as u64,
        bytes_in,
        bytes_out,
        packed_bytes,
        ratio: factor(bytes_in as f64, bytes_out as f64),
        compress_ns: summary(&|steps| steps.compress),
        decompress_ns: summary(&|steps| steps.decompress),
        pack_ns: summary(&|steps| steps.totals(candidate, from).0),
        unpack_ns: summary(&|steps| steps.totals(candidate, from).1),
        score: sheet.score(index, measured.request.goal).filter(|score| score.is_finite()),
    })
}
