//! The report on a terminal: the corpus, the trials that matter, what was eliminated by which
//! rule, and the recommendation with its reasons, in that order, so that the last line a person
//! sees is what to do.
//!
//! No line is wider than asked for, and without `color` there is not one escape code: names from
//! users lose their control characters before they get here.

mod models;
mod table;
mod wrap;

use anstyle::{AnsiColor, Style};

use super::human;
use super::sentences;
use super::view;
use crate::model::Evaluation;

/// How a terminal report looks.
#[derive(Debug, Clone)]
pub struct TerminalOptions {
    /// The most columns of a line; below 72 it is treated as 72.
    pub width: usize,
    /// Whether to use escape codes for bold and colours.
    pub color: bool,
    /// What the user can do next, a line each; the caller knows the commands.
    pub next_steps: Vec<String>,
}

impl Default for TerminalOptions {
    fn default() -> TerminalOptions {
        TerminalOptions { width: 100, color: false, next_steps: Vec::new() }
    }
}

/// The narrowest report that can still be read.
const NARROWEST: usize = 72;

/// How many names a rule shows before it only counts.
const NAMES_OF_A_RULE: usize = 4;

/// Makes the report for a terminal.
pub fn render(evaluation: &Evaluation, options: &TerminalOptions) -> String {
    let width = options.width.max(NARROWEST);
    let paint = Paint { color: options.color };
    let mut out = String::new();
    head(evaluation, width, paint, &mut out);
    out.push('\n');
    out.push_str(&table::render(evaluation, width, paint));
    eliminated(evaluation, width, paint, &mut out);
    models::render(evaluation, width, paint, &mut out);
    notices(evaluation, width, paint, &mut out);
    recommended(evaluation, width, paint, &mut out);
    if !options.next_steps.is_empty() {
        out.push_str(&format!("\n{}\n", paint.strong("Next")));
        for step in &options.next_steps {
            wrap::lines(&mut out, "  ", "    ", step, width);
        }
    }
    out
}

/// Escape codes where they are wanted, and nothing where they are not.
#[derive(Debug, Clone, Copy)]
struct Paint {
    color: bool,
}

impl Paint {
    fn strong(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    fn quiet(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    fn chosen(self, text: &str) -> String {
        self.with(Style::new().bold().fg_color(Some(AnsiColor::Green.into())), text)
    }

    fn warning(self, text: &str) -> String {
        self.with(Style::new().fg_color(Some(AnsiColor::Yellow.into())), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

fn head(evaluation: &Evaluation, width: usize, paint: Paint, out: &mut String) {
    let corpus = &evaluation.corpus;
    let name = human::shortened(&human::printable(&corpus.name), width);
    out.push_str(&format!("{}\n", paint.strong(&wrap::cut(&name, width))));
    let mut facts = format!(
        "{}, {}; each p50 {}, p95 {}, max {}",
        human::counted(corpus.payloads, "payload"),
        human::size(corpus.bytes as f64),
        human::size(corpus.size.p50 as f64),
        human::size(corpus.size.p95 as f64),
        human::size(corpus.size.max as f64),
    );
    if corpus.seen > corpus.payloads {
        facts.push_str(&format!("; sampled from {}", human::count(corpus.seen)));
    }
    if corpus.duplicates > 0 {
        facts.push_str(&format!("; {}", human::counted(corpus.duplicates, "exact duplicate")));
    }
    if corpus.json_payloads < corpus.payloads {
        let others = human::count(corpus.payloads - corpus.json_payloads);
        facts.push_str(&format!("; {others} not JSON"));
    }
    wrap::lines(out, "", "", &facts, width);
    let goal = format!("goal {}, from {}", evaluation.goal, evaluation.from);
    let goals: Vec<String> = std::iter::once(goal).chain(evaluation.budgets.clone()).collect();
    wrap::lines(out, "", "", &goals.join("; "), width);
    if corpus.problems.count > 0 {
        let mut problem = format!("{} could not be read", human::count(corpus.problems.count));
        if let Some(first) = corpus.problems.first.first() {
            problem.push_str(&format!(", first {}", human::shortened(first, 200)));
        }
        wrap::painted(out, "! ", "  ", &problem, width, |line| paint.warning(line));
    }
}

fn eliminated(evaluation: &Evaluation, width: usize, paint: Paint, out: &mut String) {
    let rules = view::eliminated(evaluation);
    if rules.is_empty() {
        return;
    }
    out.push_str(&format!("\n{}\n", paint.strong("Eliminated")));
    for rule in rules {
        let shown: Vec<String> = rule
            .trials
            .iter()
            .take(NAMES_OF_A_RULE)
            .map(|trial| human::shortened(&trial.name, 40))
            .collect();
        let more = rule.trials.len() - shown.len();
        let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
        let meaning =
            if rule.meaning.is_empty() { String::new() } else { format!(" ({})", rule.meaning) };
        let name = human::shortened(rule.name, 120);
        let line = format!("{name}{meaning}: {}{tail}", shown.join(", "));
        wrap::lines(out, "  ", "    ", &line, width);
    }
}

fn notices(evaluation: &Evaluation, width: usize, paint: Paint, out: &mut String) {
    let notices = &evaluation.run.notices;
    if !notices.is_empty() {
        out.push('\n');
    }
    for notice in notices {
        wrap::painted(out, "! ", "  ", notice, width, |line| paint.warning(line));
    }
}

fn recommended(evaluation: &Evaluation, width: usize, paint: Paint, out: &mut String) {
    let name = human::printable(&evaluation.recommended.name);
    let line = wrap::cut(&format!("Recommended: {name}"), width);
    out.push_str(&format!("\n{}\n", paint.chosen(&line)));
    let recommended = &evaluation.recommended;
    let mut sentences = recommended.reasons.clone();
    sentences.extend(sentences::sure(evaluation));
    sentences.extend(sentences::min_size(evaluation));
    sentences.extend(recommended.costs.iter().cloned());
    for sentence in &sentences {
        wrap::lines(out, "  - ", "    ", sentence, width);
    }
    if !recommended.flips.is_empty() {
        out.push_str("  What would change it:\n");
    }
    for flip in &recommended.flips {
        wrap::lines(out, "  ? ", "    ", flip, width);
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::super::example;
    use super::*;

    fn options(width: usize, color: bool) -> TerminalOptions {
        let next = "cinch pack --profile carts.toml < carts.jsonl > carts.packed".to_owned();
        TerminalOptions { width, color, next_steps: vec![next, example::HOSTILE.repeat(4)] }
    }

    #[test]
    fn no_line_is_wider_than_asked_for_and_no_code_comes_unasked() {
        for evaluation in example::all() {
            for width in [72, 80, 100, 200] {
                let text = render(&evaluation, &options(width, false));
                for line in text.lines() {
                    assert!(line.width() <= width, "{} > {width}: {line}", line.width());
                    assert_eq!(line.trim_end(), line, "spaces at the end of {line:?}");
                }
                assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
            }
        }
    }

    #[test]
    fn colour_changes_nothing_but_the_colour() {
        for evaluation in example::all() {
            let plain = render(&evaluation, &options(100, false));
            let mut stripped = String::new();
            let colored = render(&evaluation, &options(100, true));
            for (index, part) in colored.split('\u{1b}').enumerate() {
                let text = if index == 0 { part } else { part.split_once('m').unwrap().1 };
                stripped.push_str(text);
            }
            assert_eq!(stripped, plain);
            assert!(colored.contains('\u{1b}'));
        }
    }

    #[test]
    fn it_says_what_to_use_and_why_and_what_is_out() {
        let evaluation = example::typical();
        let text = render(&evaluation, &options(100, false));
        assert_eq!(text.lines().filter(|line| line.starts_with('★')).count(), 1);
        for reason in &evaluation.recommended.reasons {
            assert!(text.contains(reason.split_at(40).0), "{reason}");
        }
        for point in &evaluation.front {
            assert!(text.contains(&point.name), "{}", point.name);
        }
        for rule in view::eliminated(&evaluation) {
            assert!(text.contains(rule.name), "{}", rule.name);
        }
        assert!(text.contains(&format!("Recommended: {}", evaluation.recommended.name)));
        assert!(text.contains("json+zlib:6") && text.contains("baseline"));
        assert!(text.contains("verbatim+stored") && text.contains("control"));
        for flip in &evaluation.recommended.flips {
            assert!(text.contains(flip), "{flip}");
        }
        let tied = text.lines().find(|line| line.contains("dict-64K")).unwrap();
        assert!(tied.ends_with("tie"), "{tied}");
        assert!(text.contains("cinch pack --profile"));
    }

    #[test]
    fn the_models_that_were_asked_for_have_a_line_each() {
        let text = render(&example::typical(), &options(100, false));
        for told in ["Over the link", "Capacity", "Behind toast-pglz", "Against carts-2026-05"] {
            assert!(text.contains(told), "{told} is missing:\n{text}");
        }
        for told in ["under the goal", "14.0 % better", "Dictionaries"] {
            assert!(text.contains(told), "{told} is missing:\n{text}");
        }
        let without = render(&example::one_payload(), &options(100, false));
        assert!(!without.contains("Over the link") && !without.contains("Capacity"));
    }

    #[test]
    fn a_usual_run_fits_a_window() {
        let mut evaluation = example::typical();
        (evaluation.link, evaluation.capacity, evaluation.against) = (None, None, None);
        evaluation.behind.clear();
        let text = render(&evaluation, &TerminalOptions::default());
        assert!(text.lines().count() <= 45, "{} lines", text.lines().count());
    }

    #[test]
    fn maxima_that_stand_for_p99_are_marked() {
        let text = render(&example::one_payload(), &options(100, false));
        assert!(text.contains("* maximum"));
        assert!(!render(&example::typical(), &options(100, false)).contains("* maximum"));
    }
}
