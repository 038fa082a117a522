//! What the page says of the corpus and of how the measurement went.
//!
//! Only words and units are made here; every figure is the model's.

use minijinja::{Value, context};

use super::text;
use crate::model::Evaluation;
use crate::report::{human, sentences};

/// The corpus: its name and the facts below the title.
pub(super) fn corpus(evaluation: &Evaluation) -> Value {
    let corpus = &evaluation.corpus;
    let mut facts = vec![
        fact("payloads", human::count(corpus.payloads)),
        fact("together", human::size(corpus.bytes as f64)),
        fact("half are at most", human::size(corpus.size.p50 as f64)),
        fact("95 % are at most", human::size(corpus.size.p95 as f64)),
        fact("largest", human::size(corpus.size.max as f64)),
        fact("exact duplicates", human::count(corpus.duplicates)),
    ];
    if corpus.json_payloads != corpus.payloads {
        let others = corpus.payloads.saturating_sub(corpus.json_payloads);
        facts.push(fact("not JSON", human::count(others)));
    }
    if corpus.seen > corpus.payloads {
        let seen = human::count(corpus.seen);
        let bytes = human::size(corpus.seen_bytes as f64);
        facts.push(fact("sampled from", format!("{seen} ({bytes})")));
    }
    if corpus.problems.count > 0 {
        facts.push(fact("could not be read", human::count(corpus.problems.count)));
    }
    let skipped: Vec<String> = corpus.skipped_files.iter().map(|name| text(name)).collect();
    context! {
        name => text(&corpus.name),
        facts => facts,
        problems => corpus.problems.first.iter().map(|one| text(one)).collect::<Vec<_>>(),
        problem_count => human::count(corpus.problems.count),
        skipped => skipped,
    }
}

/// What ranked the trials.
pub(super) fn goal(evaluation: &Evaluation) -> Value {
    context! {
        name => text(&evaluation.goal),
        from => text(&evaluation.from),
        budgets => evaluation.budgets.iter().map(|one| text(one)).collect::<Vec<_>>(),
    }
}

/// How it was measured.
pub(super) fn run(evaluation: &Evaluation) -> Value {
    let run = &evaluation.run;
    let stages = vec![
        stage(
            "1 Sizes",
            format!(
                "{} on {}",
                human::counted(run.stage1_trials, "trial"),
                human::counted(run.stage1_payloads, "payload")
            ),
            run.stage_seconds[0],
        ),
        stage(
            "2 Times",
            format!(
                "{} on {} in {}, interleaved and shuffled",
                human::counted(run.stage2_trials, "trial"),
                human::counted(run.stage2_payloads, "payload"),
                human::counted(u64::from(run.stage2_rounds), "round")
            ),
            run.stage_seconds[1],
        ),
        stage(
            "3 Whole corpus",
            format!("{}, every payload checked", human::counted(run.stage3_trials, "trial")),
            run.stage_seconds[2],
        ),
    ];
    let versions = evaluation.versions.iter().map(|version| {
        context! { name => text(&version.name), version => text(&version.version) }
    });
    context! {
        interrupted => run.interrupted,
        stages => stages,
        notices => run.notices.iter().map(|one| text(one)).collect::<Vec<_>>(),
        facts => measured(evaluation),
        processor => text(&run.processor),
        processors => human::counted(run.processors, "logical processor"),
        seed => evaluation.seed.to_string(),
        versions => versions.collect::<Vec<_>>(),
    }
}

/// What else there is to say of the measurement, a row each.
fn measured(evaluation: &Evaluation) -> Vec<Value> {
    let run = &evaluation.run;
    let mut facts = Vec::new();
    facts.extend(sentences::split(evaluation).map(|split| fact("Split", split)));
    facts.extend(sentences::groups(evaluation).map(|groups| fact("Groups", groups)));
    facts.extend(sentences::noise(evaluation).map(|noise| fact("Noise", noise)));
    if run.training_seconds > 0.0 {
        facts.push(fact("Training dictionaries", human::time(run.training_seconds * 1e9)));
    }
    if run.stage2.measured_seconds > 0.0 {
        let stage = &run.stage2;
        let parts = format!(
            "{} in measured calls, {} comparing what came back, {} elsewhere: {} overhead",
            human::time(stage.measured_seconds * 1e9),
            human::time(stage.comparison_seconds * 1e9),
            human::time(stage.other_seconds * 1e9),
            human::percent(stage.overhead_share),
        );
        facts.push(fact("Time of stage 2", parts));
    }
    facts.extend(run.host.iter().map(|(name, value)| fact(&text(name), text(value))));
    facts
}

fn fact(name: &str, figure: String) -> Value {
    context! { name => name, figure => figure }
}

fn stage(name: &str, what: String, seconds: f64) -> Value {
    context! { name => name, what => what, time => human::time(seconds * 1e9) }
}
