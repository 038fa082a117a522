//! `cinch ingest top`: a live view of an ingress in a terminal, or one look for machines. The
//! figures are the library's; here they are laid out.

use std::thread;
use std::time::Duration;

use cinch_ingest::top::{Look, Top};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use console::Term;

use super::signals::Signals;
use crate::Done;
use crate::arguments::TopArguments;
use crate::failure::Failure;
use crate::output::{Output, Place};

/// How often it is looked whether to end.
const TICK: Duration = Duration::from_millis(50);

/// Lines that pools don't get: what stands around them, and the prompt.
const LINES_BESIDE_POOLS: usize = 9;

/// The pools that are shown where nobody says how high the terminal is.
const POOLS_SHOWN: usize = 40;

/// Shows what happens until it is told to stop, or once.
pub fn run(arguments: &TopArguments) -> Result<Done, Failure> {
    let signals = Signals::handled();
    let terminal = Term::stdout();
    let is_live = !arguments.once && !arguments.json && terminal.is_term();
    let mut before = Look::take(arguments.address)?;
    while wait(arguments.interval, &signals) {
        let now = Look::take(arguments.address)?;
        let top = now.since(&before);
        before = now;
        let text = match arguments.json {
            true => format!("{}\n", serde_json::json!(top)),
            false => page(&top, is_live.then(|| usize::from(terminal.size().0))),
        };
        if is_live {
            terminal.clear_screen().map_err(|error| Failure::file("the terminal", error))?;
        }
        let mut output = Output::open(&Place::Stdout, true)?;
        output.write(text.as_bytes())?;
        output.finish()?;
        if arguments.once {
            break;
        }
    }
    Ok(Done::Whole)
}

/// Waits for that long; `false` if it was told to stop meanwhile.
fn wait(interval: Duration, signals: &Signals) -> bool {
    let mut left = interval;
    while !left.is_zero() && !signals.stop() {
        let piece = left.min(TICK);
        thread::sleep(piece);
        left -= piece;
    }
    !signals.stop()
}

fn page(top: &Top, lines: Option<usize>) -> String {
    let millis = |[p50, p99, max]: [f64; 3]| {
        format!("{:.1}/{:.1}/{:.1} ms", p50 * 1e3, p99 * 1e3, max * 1e3)
    };
    let mut text = format!(
        "up {:.0} s  configuration {}  connections {}  reads {}/s  closed {:.1}/s\n\
         read interval p50/p99/max {}  in queue {}\n\n",
        top.uptime_s,
        top.generation,
        top.connections,
        size(top.read_bytes_per_s),
        top.closed_per_s,
        millis(top.read_interval_s),
        millis(top.queue_time_s),
    );
    let mut sinks = table(&["sink", "ring", "on disk", "failures/s"]);
    for sink in &top.sinks {
        sinks.add_row([
            sink.sink.clone(),
            format!("{:.0} %", sink.ring * 100.0),
            size(sink.spill_bytes),
            format!("{:.1}", sink.failures_per_s),
        ]);
    }
    text.push_str(&format!("{sinks}\n\n"));
    let columns =
        ["pool", "records/s", "text/s", "written/s", "dropped/s", "dropped so far", "ratio", ""];
    let mut pools = table(&columns);
    let beside = LINES_BESIDE_POOLS + top.sinks.len();
    let shown = lines.map_or(POOLS_SHOWN, |lines| lines.saturating_sub(beside).max(1));
    for pool in top.pools.iter().take(shown) {
        let dropped: Vec<String> =
            pool.dropped.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        pools.add_row([
            printable(&pool.pool),
            format!("{:.0}", pool.received_per_s),
            size(pool.received_bytes_per_s),
            format!("{:.0}", pool.written_per_s),
            format!("{:.0}", pool.dropped_per_s),
            if dropped.is_empty() { "-".to_owned() } else { dropped.join(", ") },
            format!("{:.1}", pool.ratio),
            if pool.is_held { "held".to_owned() } else { String::new() },
        ]);
    }
    text.push_str(&format!("{pools}\n"));
    if top.pools.len() > shown {
        text.push_str(&format!("and {} pools more\n", top.pools.len() - shown));
    }
    text
}

fn table(columns: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(columns.iter().copied());
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A name is the client's text, and a terminal obeys what it is not to be shown.
fn printable(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { '\u{FFFD}' } else { letter }).collect()
}

fn size(bytes: f64) -> String {
    match bytes {
        0.0..1e3 => format!("{bytes:.0} B"),
        1e3..1e6 => format!("{:.1} kB", bytes / 1e3),
        1e6..1e9 => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.1} GB", bytes / 1e9),
    }
}
