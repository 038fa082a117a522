//! What the terminal says beside the table: size classes with another winner, dictionaries, the
//! link, the disk, the store behind, the older run. A few lines each, and none where nothing was
//! asked for; the page has the tables.

use super::{Paint, wrap};
use crate::model::{Evaluation, LinkModel};
use crate::report::tables::{capacity, link};
use crate::report::{human, sentences, view};

/// Writes every part that there is.
pub(super) fn render(evaluation: &Evaluation, width: usize, paint: Paint, out: &mut String) {
    let parts = [
        ("Size classes".to_owned(), sentences::other_winners(evaluation)),
        ("Dictionaries".to_owned(), dictionaries(evaluation)),
        over_link(evaluation),
        ("Capacity".to_owned(), on_disk(evaluation)),
    ];
    let behind = evaluation.behind.iter().map(|behind| {
        (format!("Behind {}", human::shortened(&behind.name, 60)), vec![behind.verdict.clone()])
    });
    for (title, lines) in parts.into_iter().chain(behind).chain([against(evaluation)]) {
        if lines.is_empty() {
            continue;
        }
        let title = wrap::cut(&human::printable(&title), width);
        out.push_str(&format!("\n{}\n", paint.strong(&title)));
        for line in lines {
            wrap::lines(out, "  ", "    ", &line, width);
        }
    }
}

/// The dictionaries, each with the best trial that uses it.
fn dictionaries(evaluation: &Evaluation) -> Vec<String> {
    let trials = evaluation.trials.iter().filter(|trial| view::is_timed(trial));
    let with = trials.filter_map(|trial| Some((trial, trial.dictionary_cost.as_ref()?)));
    let mut known: Vec<&str> = Vec::new();
    let best = with.filter(|(_, cost)| {
        let is_new = !known.contains(&cost.id.as_str());
        known.push(&cost.id);
        is_new
    });
    best.map(|(trial, cost)| {
        let interval = &cost.gain_interval;
        format!(
            "{}: {} smaller ({}), {} to distribute, {} memory",
            human::shortened(&trial.name, 40),
            human::percent(cost.gain),
            human::percent_interval(interval.low, interval.high),
            human::size(cost.bytes as f64),
            human::size((cost.compress_memory_bytes + cost.decompress_memory_bytes) as f64),
        )
    })
    .collect()
}

fn over_link(evaluation: &Evaluation) -> (String, Vec<String>) {
    let Some(model) = &evaluation.link else { return (String::new(), Vec::new()) };
    let title = format!("Over the link {}", human::shortened(&model.text, 60));
    let mut lines = vec![link::summary(model)];
    lines.extend(fastest(model));
    lines.extend(model.flips.iter().cloned());
    (title, lines)
}

/// The fastest trials over the link.
fn fastest(model: &LinkModel) -> Option<String> {
    let trials: Vec<String> = model
        .trials
        .iter()
        .take(3)
        .map(|trial| {
            let name = human::shortened(&trial.name, 40);
            format!("{name} {}", human::time(trial.total_ns.mean))
        })
        .collect();
    (!trials.is_empty()).then(|| format!("until usable: {}", trials.join(", ")))
}

fn on_disk(evaluation: &Evaluation) -> Vec<String> {
    let Some(model) = &evaluation.capacity else { return Vec::new() };
    let mut lines = vec![capacity::summary(model)];
    lines.extend(model.rows.iter().map(|row| {
        let price = row.price_of_year.map(|price| format!(", {} a year", human::money(price)));
        format!(
            "{} ({}): full after {} days, {} net{}",
            human::shortened(&row.role, 20),
            human::shortened(&row.name, 40),
            human::days(row.days_gross),
            human::days(row.days_net),
            price.unwrap_or_default(),
        )
    }));
    lines
}

fn against(evaluation: &Evaluation) -> (String, Vec<String>) {
    let Some(model) = &evaluation.against else { return (String::new(), Vec::new()) };
    let mut lines = vec![model.verdict.clone()];
    let changed = model.trials.iter().filter_map(|trial| {
        Some(format!("{}: {}", human::shortened(&trial.name, 40), trial.change.as_ref()?))
    });
    lines.extend(changed.take(3));
    lines.extend(model.drift.iter().take(2).cloned());
    (format!("Against {}", human::shortened(&model.name, 60)), lines)
}
