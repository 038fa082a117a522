//! From what the stages left behind to the model that every report renders.
//!
//! Every figure of the model is made here and nowhere else; spec/evaluation.md says how.

use std::collections::BTreeSet;

use cinch_core::codec::CODECS;
use cinch_core::encoding::encoding_named;
use cinch_core::profile::Profile;

use super::{Measured, reasons};
use crate::candidate::Candidate;
use crate::corpus::Corpus;
use crate::measure::Stage;
use crate::model::{
    CorpusSummary, Evaluation, FrontPoint, ProblemSummary, QUANTILES, Recommendation, Reference,
    Run, SizeClass, SizeSummary, Trial, Version,
};
use crate::select;
use crate::statistics::{P99_COUNT_MIN, percentile};

/// Raised when a field of the model changes its meaning.
const FORMAT: u32 = 1;

/// The upper bounds of the size classes in bytes, and their names.
const CLASSES: &[(usize, &str)] = &[
    (1 << 10, "up to 1 KiB"),
    (4 << 10, "1 to 4 KiB"),
    (16 << 10, "4 to 16 KiB"),
    (128 << 10, "16 to 128 KiB"),
    (usize::MAX, "above 128 KiB"),
];

pub(super) fn model(mut measured: Measured<'_>) -> Evaluation {
    let from = measured.request.from;
    let front = select::front(&measured.all, &measured.whole_or_timed(), from);
    name_the_dominated(&mut measured, &front);
    let baseline_trial = &measured.all[measured.baseline];
    let baseline_bytes = baseline_trial.size_share();
    let baseline_time = select::time_ns(baseline_trial, from);
    let trials = order(&measured)
        .into_iter()
        .map(|index| trial(&measured, index, baseline_bytes, baseline_time))
        .collect();
    Evaluation {
        format: FORMAT,
        corpus: corpus_summary(&measured),
        goal: measured.request.goal.name.to_owned(),
        from: from.name().to_owned(),
        budgets: measured.request.budgets.iter().map(ToString::to_string).collect(),
        trials,
        front: front
            .iter()
            .map(|&index| FrontPoint {
                name: measured.all[index].candidate.to_string(),
                packed_ratio: 1.0 / measured.all[index].size_share().max(1e-9),
                pack_unpack_ns: select::time_ns(&measured.all[index], from),
            })
            .collect(),
        baseline: reference(&baseline_trial.candidate),
        recommended: recommendation(&measured),
        run: run(&measured),
        seed: measured.request.seed,
        versions: versions(),
        quantiles: QUANTILES.to_vec(),
        ..Evaluation::default()
    }
}

impl Measured<'_> {
    /// The candidates that the front is made of: those that ran over the whole corpus, or, in a run
    /// that was cut short, those that were timed.
    fn whole_or_timed(&self) -> Vec<usize> {
        let whole: Vec<usize> = self
            .timed
            .iter()
            .copied()
            .filter(|&index| self.all[index].stage == Stage::Whole)
            .collect();
        if whole.is_empty() { self.timed.clone() } else { whole }
    }
}

/// Says of each timed candidate off the front which one on it is smaller and faster.
fn name_the_dominated(measured: &mut Measured<'_>, front: &[usize]) {
    let from = measured.request.from;
    for &index in &measured.timed {
        let is_kept = front.contains(&index)
            || measured.winner == Some(index)
            || measured.runner_up == Some(index)
            || measured.baseline == index
            || measured.controls.contains(&index);
        if is_kept || measured.all[index].eliminated_by.is_some() {
            continue;
        }
        let (share, time) =
            (measured.all[index].size_share(), select::time_ns(&measured.all[index], from));
        let better = front.iter().find(|&&other| {
            measured.all[other].size_share() <= share
                && select::time_ns(&measured.all[other], from) <= time
        });
        if let Some(&better) = better {
            let better = measured.all[better].candidate.to_string();
            measured.all[index].eliminated_by =
                Some(format!("dominated: {better} is smaller and faster"));
        }
    }
}

/// The order of the table: the ranked, then the timed by size, then the rest by size.
fn order(measured: &Measured<'_>) -> Vec<usize> {
    let (goal, from) = (measured.request.goal, measured.request.from);
    let mut order: Vec<usize> = measured.winner.into_iter().collect();
    order.extend(select::ranked(&measured.all, &measured.timed, goal, from));
    let by_size = |indices: &mut Vec<usize>| {
        indices.sort_by(|&a, &b| {
            measured.all[a].size_share().total_cmp(&measured.all[b].size_share())
        });
    };
    let mut timed = measured.timed.clone();
    by_size(&mut timed);
    order.extend(timed);
    let mut rest: Vec<usize> = (0..measured.all.len()).collect();
    by_size(&mut rest);
    order.extend(rest);
    let mut seen = BTreeSet::new();
    order.retain(|&index| seen.insert(index));
    order
}

fn trial(measured: &Measured<'_>, index: usize, baseline_share: f64, baseline_time: f64) -> Trial {
    let from = measured.request.from;
    let tracked = &measured.all[index];
    let candidate = &tracked.candidate;
    let (bytes_in, bytes_out, packed_bytes) = tracked.bytes();
    let (pack_ns, unpack_ns) = tracked.totals(from);
    let factor = |value: f64, base: f64| if base > 0.0 { value / base } else { 0.0 };
    let timed_payloads = tracked.times.iter().filter(|times| !times.rounds.is_empty()).count();
    let score = (measured.request.goal.score)(&select::measured(tracked, from));
    Trial {
        name: candidate.to_string(),
        encoding: candidate.encoding.name.to_owned(),
        codec: candidate.codec.name().to_owned(),
        level: candidate.codec.level,
        dictionary: None,
        is_control: measured.controls.contains(&index),
        stage: tracked.stage.name().to_owned(),
        payloads: tracked.sizes.len() as u64,
        bytes_in,
        bytes_out,
        packed_bytes,
        ratio: factor(bytes_in as f64, bytes_out as f64),
        median_ratio: tracked.median_ratio(),
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
        pack_ns,
        unpack_ns,
        first_call_ns: tracked.first_call_ns,
        round_spread: tracked.round_spread(),
        memory_bytes: tracked.memory_bytes as u64,
        refused: tracked.refused,
        refusal: tracked.refusal.clone(),
        failures: tracked.failures,
        failure: tracked.failure.clone(),
        size_factor: factor(tracked.size_share(), baseline_share),
        speed_factor: factor(select::time_ns(tracked, from), baseline_time),
        score: (score.is_finite() && !tracked.sizes.is_empty()).then_some(score),
        eliminated_by: tracked.eliminated_by.clone(),
        ..Trial::default()
    }
}

fn reference(candidate: &Candidate) -> Reference {
    Reference {
        name: candidate.to_string(),
        encoding: candidate.encoding.name.to_owned(),
        codec: candidate.codec.name().to_owned(),
        level: candidate.codec.level,
    }
}

fn recommendation(measured: &Measured<'_>) -> Recommendation {
    let candidate = reasons::recommended(measured);
    let mut profile = Profile::new(candidate.encoding, candidate.codec);
    profile.name = format!("{}-{}", measured.request.name, candidate);
    let text = profile.to_toml(|dictionary| format!("{:08x}.dict", dictionary.id()));
    let Reference { name, encoding, codec, level } = reference(&candidate);
    Recommendation {
        fidelity: encoding_named(&encoding)
            .map(|encoding| encoding.fidelity.name().to_owned())
            .unwrap_or_default(),
        name,
        encoding,
        codec,
        level,
        dictionary: None,
        runner_up: measured.runner_up.map(|index| measured.all[index].candidate.to_string()),
        reasons: reasons::reasons(measured),
        profile: text,
        ..Recommendation::default()
    }
}

fn corpus_summary(measured: &Measured<'_>) -> CorpusSummary {
    let corpus = measured.corpus;
    let mut sizes: Vec<u64> =
        corpus.payloads.iter().map(|payload| payload.bytes.len() as u64).collect();
    sizes.sort_unstable();
    let bytes: u64 = sizes.iter().sum();
    CorpusSummary {
        name: measured.request.name.to_owned(),
        payloads: sizes.len() as u64,
        bytes,
        json_payloads: corpus.payloads.iter().filter(|payload| payload.is_json).count() as u64,
        seen: corpus.seen,
        seen_bytes: corpus.seen_bytes,
        duplicates: corpus.duplicates,
        size: SizeSummary {
            min: percentile(&sizes, 0.0),
            mean: bytes as f64 / (sizes.len() as f64).max(1.0),
            p50: percentile(&sizes, 0.5),
            p95: percentile(&sizes, 0.95),
            p99: percentile(&sizes, 0.99),
            max: percentile(&sizes, 1.0),
        },
        classes: classes(measured),
        problems: problems(corpus),
        skipped_files: corpus.skipped_files.clone(),
        ..CorpusSummary::default()
    }
}

fn problems(corpus: &Corpus) -> ProblemSummary {
    ProblemSummary {
        count: corpus.problems.count,
        first: corpus.problems.first.iter().map(ToString::to_string).collect(),
    }
}

fn classes(measured: &Measured<'_>) -> Vec<SizeClass> {
    let mut above = 0;
    CLASSES
        .iter()
        .map(|&(max, name)| {
            let range = above..=max;
            above = max.saturating_add(1);
            let lengths = measured.corpus.payloads.iter().map(|payload| payload.bytes.len());
            let lengths: Vec<usize> = lengths.filter(|length| range.contains(length)).collect();
            SizeClass {
                name: name.to_owned(),
                payloads: lengths.len() as u64,
                bytes: lengths.iter().map(|&length| length as u64).sum(),
                winner: reasons::winner_within(measured, &range)
                    .map(|index| measured.all[index].candidate.to_string()),
                ..SizeClass::default()
            }
        })
        .filter(|class| class.payloads > 0)
        .collect()
}

fn run(measured: &Measured<'_>) -> Run {
    let stage = |stage: Stage| measured.all.iter().filter(|t| t.stage >= stage).count() as u64;
    let rounds = measured.timed.iter().map(|&index| measured.all[index].rounds()).max();
    Run {
        interrupted: measured.interrupted,
        stage1_payloads: measured.counts.stage1_payloads as u64,
        stage1_trials: measured.all.iter().filter(|t| !t.sizes.is_empty()).count() as u64,
        stage2_payloads: measured.counts.stage2_payloads as u64,
        stage2_trials: measured.timed.len() as u64,
        stage2_rounds: rounds.unwrap_or_default() as u32,
        stage3_trials: stage(Stage::Whole),
        stage_seconds: measured.counts.stage_seconds,
        notices: reasons::notices(measured),
        processor: processor(),
        processors: std::thread::available_parallelism().map_or(0, |count| count.get() as u64),
        ..Run::default()
    }
}

/// The processor as Linux names it; elsewhere the architecture.
fn processor() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information.lines().find_map(|line| line.strip_prefix("model name"));
    model.map_or(std::env::consts::ARCH.to_owned(), |name| {
        name.trim_start_matches([' ', '\t', ':']).to_owned()
    })
}

fn versions() -> Vec<Version> {
    let mut versions =
        vec![Version { name: "cinch".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }];
    for codec in CODECS {
        let info = codec.info();
        versions.push(Version { name: info.name.to_owned(), version: (info.library)() });
    }
    versions
}
