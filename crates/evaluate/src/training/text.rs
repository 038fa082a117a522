//! The result of training as text for the terminal.
//! It says what was tried, what came of it, and in its last line what to do.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

use super::result::TrainingResult;
use crate::report::human;

/// What people read.
pub fn render(result: &TrainingResult) -> String {
    let [train, select, report] = result.parts;
    let mut text = format!(
        "{} of {}, entities: {}; {train} train, {select} select, {report} report; {}\n",
        human::counted(result.payloads as u64, "payload"),
        human::size(result.payload_bytes as f64),
        human::count(result.entities as u64),
        result.codec,
    );
    if !result.tried.is_empty() {
        text.push_str(
            "\nSearched, on payloads that select (bytes by those without a dictionary):\n",
        );
        text.push_str(&sizes(result));
    }
    if !result.held_out.is_empty() {
        text.push_str("\nHeld out, on payloads that report:\n");
        text.push_str(&contenders(result));
    }
    if let Some(facts) = &result.facts {
        text.push_str(&format!(
            "\nThe dictionary: id {:#010x}, {} to distribute ({} of content, {} of model), \
             from {} of {} entities in {:.1} s.\n",
            facts.id,
            human::size(facts.file_bytes as f64),
            human::size(facts.content_bytes as f64),
            human::size(facts.model_bytes as f64),
            human::counted(facts.payloads as u64, "payload"),
            human::count(facts.entities as u64),
            facts.build_seconds,
        ));
        if facts.denied_payloads > 0 {
            text.push_str(&format!(
                "{} held e-mail addresses, phone or card numbers, or what --deny names; none of it \
                 was learned.\n",
                human::counted(facts.denied_payloads as u64, "payload"),
            ));
        }
    }
    if let Some(privacy) = &result.privacy {
        let price = match privacy.price() * 100.0 {
            price if price > 0.05 => format!("makes payloads {price:.1} % larger"),
            _ => "costs nothing".to_owned(),
        };
        text.push_str(&format!(
            "Everything in it was had by {} entities or more, which {price} against a dictionary \
             with what anybody had.\n",
            privacy.entities_min,
        ));
    }
    for warning in &result.warnings {
        text.push_str(&format!("\nNote: {warning}\n"));
    }
    text.push_str(&format!("\n{}\n", result.decision.reason));
    text
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn finished(table: &Table) -> String {
    let lines: Vec<String> =
        table.to_string().lines().map(|line| format!(" {}\n", line.trim_end())).collect();
    lines.concat()
}

/// A row for each encoding and size: the best of the parameters that were tried with it.
fn sizes(result: &TrainingResult) -> String {
    let mut rows: Vec<(&str, usize)> =
        result.tried.iter().map(|tried| (tried.encoding, tried.bytes)).collect();
    rows.sort_by_key(|&(encoding, bytes)| (std::cmp::Reverse(encoding == "columnar"), bytes));
    rows.dedup();
    let mut table = table(&["encoding", "content up to", "bytes", ""]);
    for (encoding, bytes) in rows {
        let of_row = || result.tried.iter().filter(|t| (t.encoding, t.bytes) == (encoding, bytes));
        let Some(best) = of_row().min_by_key(|tried| tried.judged_bytes) else { continue };
        let share = best.judged_bytes as f64 / best.judged_bytes_without.max(1) as f64;
        let mark = if of_row().any(|tried| tried.is_best) { "taken" } else { "" };
        table.add_row([
            encoding.to_owned(),
            human::size(bytes as f64),
            human::percent(share),
            mark.to_owned(),
        ]);
    }
    finished(&table)
}

fn contenders(result: &TrainingResult) -> String {
    let mut table = table(&["", "encoding", "bytes", "ratio", "pack", "unpack"]);
    for contender in &result.held_out {
        table.add_row([
            contender.name.to_owned(),
            contender.encoding.to_owned(),
            human::size(contender.bytes as f64),
            human::ratio(contender.ratio),
            human::time(contender.pack_ns),
            human::time(contender.unpack_ns),
        ]);
    }
    finished(&table)
}
