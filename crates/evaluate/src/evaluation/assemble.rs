//! From what the stages left behind to the model that every report renders.
//!
//! Every figure of the model is made here and nowhere else; spec/evaluation.md says how.

use std::collections::BTreeSet;

use cinch_core::codec::CODECS;
use cinch_core::dictionary::Dictionary;
use cinch_core::profile::{Method, Rule};
use cinch_core::schema::Schema;

use super::classes::{self, Class, classes};
use super::trials::{id_text, share, trial};
use super::{Measured, advice, models, noise, reasons, recall};
use crate::against;
use crate::candidate::Candidate;
use crate::corpus::Corpus;
use crate::measure::{Stage, profile_of};
use crate::model::{
    CorpusSummary, DictionaryFile, Evaluation, FrontPoint, ProblemSummary, QUANTILES,
    Recommendation, Reference, Run, SchemaFile, SizeSummary, SplitSummary, Version,
};
use crate::schemas;
use crate::select;
use crate::statistics::percentile;

/// Raised when a field of the model changes its meaning.
const FORMAT: u32 = 1;

pub(super) fn model(mut measured: Measured<'_>) -> Evaluation {
    let front = select::front(&measured.all, &measured.reported);
    name_the_dominated(&mut measured, &front);
    let classes = classes(&measured);
    let point = |&index: &usize| {
        let on_sheet = measured.reported.measured(index)?;
        Some(FrontPoint {
            name: measured.all[index].candidate.to_string(),
            packed_ratio: 1.0 / on_sheet.size_share.max(1e-9),
            pack_unpack_ns: on_sheet.pack_ns + on_sheet.unpack_ns,
        })
    };
    let mut evaluation = Evaluation {
        format: FORMAT,
        corpus: corpus_summary(&measured, &classes),
        goal: measured.request.goal.name.to_owned(),
        from: measured.request.from.name().to_owned(),
        budgets: measured.request.budgets.iter().map(ToString::to_string).collect(),
        trials: order(&measured).into_iter().map(|index| trial(&measured, index)).collect(),
        front: front.iter().filter_map(point).collect(),
        baseline: reference(&measured.all[measured.baseline].candidate),
        recommended: recommendation(&measured, &classes),
        schemas: measured.schemas.found.iter().map(|one| schema_file(&measured, one)).collect(),
        run: run(&measured),
        seed: measured.request.seed,
        versions: versions(),
        quantiles: QUANTILES.to_vec(),
        link: models::link(&measured),
        capacity: models::capacity(&measured),
        behind: models::behind(&measured),
        against: None,
    };
    let older = measured.request.against.as_ref();
    evaluation.against = older.map(|older| against::compare(older, &evaluation));
    evaluation
}

/// Says of each timed candidate off the front which one on it is smaller and faster.
fn name_the_dominated(measured: &mut Measured<'_>, front: &[usize]) {
    let figures = |measured: &Measured<'_>, index: usize| {
        let on_sheet = measured.reported.measured(index)?;
        Some((on_sheet.size_share, on_sheet.pack_ns + on_sheet.unpack_ns))
    };
    for index in measured.timed.clone() {
        let is_kept = front.contains(&index)
            || measured.decision.ties.contains(&index)
            || measured.winner() == Some(index)
            || measured.runner_up() == Some(index)
            || measured.baseline == index
            || measured.controls.contains(&index);
        if is_kept || measured.all[index].eliminated_by.is_some() {
            continue;
        }
        let Some((share, time)) = figures(measured, index) else { continue };
        let better = front.iter().find(|&&other| {
            figures(measured, other).is_some_and(|better| better.0 <= share && better.1 <= time)
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
    let mut order = measured.decision.ranked.clone();
    let by_size = |indices: &mut Vec<usize>| {
        indices.sort_by(|&a, &b| share(measured, a).total_cmp(&share(measured, b)));
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

fn reference(candidate: &Candidate) -> Reference {
    Reference {
        name: candidate.to_string(),
        encoding: candidate.encoding.name.to_owned(),
        codec: candidate.codec.name().to_owned(),
        level: candidate.codec.level,
    }
}

fn recommendation(measured: &Measured<'_>, classes: &[Class]) -> Recommendation {
    let candidate = reasons::recommended(measured);
    let name = |&index: &usize| measured.all[index].candidate.to_string();
    let winner = measured.winner();
    let mut profile = profile_of(&candidate);
    profile.name = format!("{}-{}", measured.request.name, candidate);
    // Below which size it pays is known of the recommended trial only; the winner of a class may
    // pay for less, which is what its rule is for.
    let mut by_class = profile.clone();
    let min_size_bytes = advice::min_size_bytes(measured);
    if let Some(bytes) = min_size_bytes {
        profile.min_size_bytes = profile.min_size_bytes.max(bytes as usize);
    }
    let text = profile.to_toml(file_name, schemas::file_name);
    let dictionaries: Vec<DictionaryFile> =
        profile.dictionaries().map(|dictionary| dictionary_file(dictionary)).collect();
    by_class.rules = rules(measured, classes, &candidate);
    let has_rules = !by_class.rules.is_empty();
    let is_further = |file: &DictionaryFile| !dictionaries.contains(file);
    let dictionaries_by_class: Vec<DictionaryFile> = by_class
        .dictionaries()
        .map(|dictionary| dictionary_file(dictionary))
        .filter(is_further)
        .collect();
    let Reference { name: full_name, encoding, codec, level } = reference(&candidate);
    Recommendation {
        fidelity: candidate.encoding.fidelity.name().to_owned(),
        dictionary: candidate.dictionary().map(|dictionary| id_text(dictionary.id())),
        name: full_name,
        encoding,
        codec,
        level,
        runner_up: measured.runner_up().as_ref().map(name),
        ties: measured.decision.ties.iter().filter(|&&tie| Some(tie) != winner).map(name).collect(),
        flips: advice::flips(measured),
        costs: advice::costs(measured),
        min_size_bytes,
        reasons: reasons::reasons(measured),
        remembered: recall::remembered(measured),
        profile: text,
        profile_by_class: has_rules.then(|| by_class.to_toml(file_name, schemas::file_name)),
        dictionaries,
        dictionaries_by_class,
    }
}

/// A rule for each size class up to the last that another trial wins clearly. A class in between
/// without a winner of its own keeps what is recommended overall; the profile's own method is for
/// what is above the last rule.
fn rules(measured: &Measured<'_>, classes: &[Class], overall: &Candidate) -> Vec<Rule> {
    let winner =
        |class: &Class| class.own_winner().map(|index| measured.all[index].candidate.clone());
    let Some(last) = classes.iter().rposition(|class| winner(class).is_some()) else {
        return Vec::new();
    };
    let method = |candidate: &Candidate| Method {
        encoding: candidate.encoding,
        codec: candidate.codec,
        dictionary: candidate.dictionary().cloned(),
        schema: candidate.schema.clone(),
    };
    let rule = |class: &Class| Rule {
        max_bytes: class.max_bytes,
        method: Some(method(&winner(class).unwrap_or_else(|| overall.clone()))),
    };
    classes[..=last].iter().map(rule).collect()
}

/// The file of a dictionary, beside the profile.
fn file_name(dictionary: &Dictionary) -> String {
    let ending = if dictionary.model().is_some() { "cinchdict" } else { "zdict" };
    format!("dictionary-{:08x}.{ending}", dictionary.id())
}

fn schema_file(measured: &Measured<'_>, schema: &Schema) -> SchemaFile {
    let is_given = measured.schemas.given.contains(&schema.language());
    SchemaFile {
        file_name: schemas::file_name(schema),
        language: schema.language().name().to_owned(),
        sha256: schema.sha256().iter().map(|byte| format!("{byte:02x}")).collect(),
        trained_on_payloads: if is_given { 0 } else { measured.schemas.payloads },
        bytes: schema.bytes().to_vec(),
    }
}

fn dictionary_file(dictionary: &Dictionary) -> DictionaryFile {
    DictionaryFile {
        file_name: file_name(dictionary),
        id: id_text(dictionary.id()),
        sha256: dictionary.sha256().iter().map(|byte| format!("{byte:02x}")).collect(),
        bytes: dictionary.bytes().to_vec(),
    }
}

fn corpus_summary(measured: &Measured<'_>, classes: &[Class]) -> CorpusSummary {
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
        classes: classes.iter().map(|class| classes::model(measured, class)).collect(),
        problems: problems(corpus),
        skipped_files: corpus.skipped_files.clone(),
        groups: measured.groups.count as u64,
        largest_group: measured.groups.largest as u64,
        split: SplitSummary {
            by: measured.split.by.map(|by| by.name().to_owned()),
            train: measured.split.train.len() as u64,
            select: measured.split.select.len() as u64,
            report: measured.split.report.len() as u64,
        },
    }
}

fn problems(corpus: &Corpus) -> ProblemSummary {
    ProblemSummary {
        count: corpus.problems.count,
        first: corpus.problems.first.iter().map(ToString::to_string).collect(),
    }
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
        stage2: measured.counts.stage2,
        training_seconds: measured.counts.training_seconds,
        noise: noise::noise(measured),
        notices: reasons::notices(measured),
        processor: measured.host[0].processor.clone(),
        processors: measured.host[0].processors,
        host: noise::facts(&measured.host[0]),
    }
}

/// cinch and every library that did the work.
pub(super) fn versions() -> Vec<Version> {
    let mut versions =
        vec![Version { name: "cinch".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }];
    for codec in CODECS {
        let info = codec.info();
        versions.push(Version { name: info.name.to_owned(), version: (info.library)() });
    }
    versions
}
