//! `overhead`: what our call costs above the library's. The target is at most 3 % or 30 ns above
//! the bare call with a reused context, whichever is more, for payloads of 300 B to 500 KB.
//!
//! Both sides must give identical bytes and the payload back before a row is timed: a call that
//! does less is not a faster one.

mod callgrind;
mod row;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use cinch_core::dictionary::Dictionary;
use serde_json::json;

pub(crate) use callgrind::{OneArguments, run_one};
use row::{Row, rows};

use crate::failure::Outcome;
use crate::paired::{Comparison, Effort};
use crate::random::Random;
use crate::side::Operation;
use crate::table::Table;
use crate::{machine, payloads};

/// The target: the larger of the two.
const SHARE_ALLOWED: f64 = 0.03;
const NANOSECONDS_ALLOWED: f64 = 30.0;

#[derive(Debug, clap::Args, Default)]
pub(crate) struct Arguments {
    /// Count instructions under valgrind in place of measuring time
    #[arg(long)]
    callgrind: bool,
    /// Write the figures to this file too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only rows whose name contains this, such as `zstd:3` or `dictionary`
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Only payloads of this size: 300, 2000, 20000 or 500000
    #[arg(long, value_name = "BYTES")]
    size: Option<u32>,
}

/// A payload and what it was chosen for.
pub(crate) struct Payload {
    /// One of [`payloads::SIZES_BYTES`].
    nominal_bytes: u32,
    bytes: Vec<u8>,
}

/// What the rows work on.
pub(crate) struct Material {
    payloads: Vec<Payload>,
    dictionary: Arc<Dictionary>,
}

impl Material {
    fn generate(size_bytes: Option<u32>) -> Outcome<Material> {
        let mut payloads = Vec::new();
        for nominal_bytes in payloads::SIZES_BYTES {
            if size_bytes.is_none_or(|size| size == nominal_bytes) {
                let bytes = payloads::nearest(nominal_bytes)?;
                payloads.push(Payload { nominal_bytes, bytes });
            }
        }
        Ok(Material { payloads, dictionary: Dictionary::new(payloads::dictionary()?)? })
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    print!("{}", machine::description());
    let material = Material::generate(arguments.size)?;
    for payload in &material.payloads {
        println!("payload {}: a cart of {} bytes", payload.nominal_bytes, payload.bytes.len());
    }
    println!("dictionary: {} bytes\n", material.dictionary.bytes().len());
    let rows = chosen(arguments.only.as_deref())?;
    if arguments.callgrind {
        return callgrind::run(&rows, &material);
    }
    measure(&rows, &material, Effort::USUAL, arguments.json.as_deref())
}

fn chosen(only: Option<&str>) -> Outcome<Vec<Row>> {
    let mut rows = rows()?;
    rows.retain(|row| only.is_none_or(|text| row.name().contains(text)));
    if rows.is_empty() { Err("no row has such a name".into()) } else { Ok(rows) }
}

/// The most that a call may cost above the bare one.
fn allowed_ns(bare_ns: f64) -> f64 {
    (bare_ns * SHARE_ALLOWED).max(NANOSECONDS_ALLOWED)
}

fn is_over(found: &Comparison) -> bool {
    found.difference_ns.value > allowed_ns(found.bare_ns)
}

/// Measures every row at every size, prints the table, and fails if a row is over twice.
fn measure(
    rows: &[Row],
    material: &Material,
    effort: Effort,
    json_file: Option<&std::path::Path>,
) -> Outcome {
    let mut random = Random::new(1);
    let mut table = Table::new([
        "row",
        "bytes",
        "operation",
        "ours ns",
        "bare ns",
        "diff ns",
        "95 % of diff",
        "ratio",
        "pairs",
        "verdict",
    ]);
    let mut figures = Vec::new();
    let mut count_over = 0;
    for row in rows {
        for payload in &material.payloads {
            for operation in Operation::BOTH {
                let work = row.verified(operation, &payload.bytes, &material.dictionary)?;
                let mut found = work.compare(effort, &mut random)?;
                if is_over(&found) {
                    found = work.compare(effort.more(), &mut random)?;
                }
                let verdict = if is_over(&found) { "OVER" } else { "ok" };
                count_over += usize::from(is_over(&found));
                let difference = found.difference_ns;
                table.row([
                    row.name(),
                    payload.nominal_bytes.to_string(),
                    operation.name().to_owned(),
                    format!("{:.0}", found.ours_ns),
                    format!("{:.0}", found.bare_ns),
                    format!("{:+.1}", difference.value),
                    format!("{:+.1} to {:+.1}", difference.low, difference.high),
                    format!("{:.4}", found.ratio),
                    found.pairs.to_string(),
                    verdict.to_owned(),
                ]);
                figures.push(json!({
                    "row": row.name(), "nominal_bytes": payload.nominal_bytes,
                    "payload_bytes": payload.bytes.len(), "operation": operation.name(),
                    "ours_ns": found.ours_ns, "bare_ns": found.bare_ns,
                    "difference_ns": difference.value, "difference_low_ns": difference.low,
                    "difference_high_ns": difference.high, "ratio": found.ratio,
                    "pairs": found.pairs, "verdict": verdict,
                }));
            }
        }
        eprintln!("measured {}", row.name());
    }
    print!("{}", table.text());
    println!(
        "\n{} rows; a row is ok when our call takes at most {:.0} % or {NANOSECONDS_ALLOWED} ns \
         more than the bare one",
        figures.len(),
        SHARE_ALLOWED * 100.0,
    );
    if let Some(path) = json_file {
        fs::write(path, serde_json::to_string_pretty(&figures)?)?;
    }
    if count_over > 0 {
        return Err(format!("{count_over} rows are OVER").into());
    }
    Ok(())
}

#[cfg(test)]
pub(crate) fn smoke() -> Outcome {
    let material = Material::generate(None)?;
    let mut random = Random::new(1);
    for row in rows()? {
        for payload in material.payloads.iter().filter(|payload| payload.nominal_bytes < 100_000) {
            for operation in Operation::BOTH {
                row.verified(operation, &payload.bytes, &material.dictionary)?
                    .compare(Effort::TINY, &mut random)?;
            }
        }
    }
    Ok(())
}
