//! `evaluation.json`: the model as it is, for programs. The names of its fields are a promise of
//! the model; this file only prints them.
//!
//! JSON has no NaN or infinity, and serde_json would write `null` for them, which no reader of
//! the model accepts. Such a figure is a mistake of the measurement, caught here when debugging.

use crate::model::Evaluation;

/// Makes the pretty-printed text of `evaluation.json`.
///
/// # Panics
///
/// When debugging, if a figure of the evaluation is not finite.
pub fn render(evaluation: &Evaluation) -> String {
    let mut text = serde_json::to_string_pretty(evaluation)
        .expect("the model has only named fields, so it always prints");
    debug_assert!(
        serde_json::from_str::<Evaluation>(&text).is_ok()
            && evaluation.trials.iter().all(|trial| trial.score.is_none_or(f64::is_finite)),
        "a figure of the evaluation is not finite"
    );
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_prints_the_same() {
        for evaluation in example::all() {
            let text = render(&evaluation);
            let again: Evaluation = serde_json::from_str(&text).unwrap();
            // The last digit of a fraction may differ, so the figures compared are whole.
            let whole = |evaluation: &Evaluation| {
                let trials = evaluation.trials.iter();
                let sizes = trials.map(|trial| (trial.name.clone(), trial.packed_bytes));
                sizes.collect::<Vec<_>>()
            };
            assert_eq!(whole(&again), whole(&evaluation));
            assert_eq!(again.corpus.name, evaluation.corpus.name);
            assert_eq!(again.recommended.profile, evaluation.recommended.profile);
            assert!(text.ends_with("}\n") && text.starts_with("{\n  \"format\": "));
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    fn figures_that_are_not_finite_are_mistakes() {
        for spoil in [
            (|evaluation| evaluation.trials[3].ratio = f64::NAN) as fn(&mut Evaluation),
            |evaluation| evaluation.trials[4].score = Some(f64::INFINITY),
            |evaluation| evaluation.corpus.size.mean = f64::NEG_INFINITY,
        ] {
            let mut evaluation = example::typical();
            spoil(&mut evaluation);
            assert!(std::panic::catch_unwind(|| render(&evaluation)).is_err());
        }
    }
}
