//! The same rows as instruction counts under valgrind, which no other process disturbs. Each side
//! runs in a process of its own with two counts of calls; the difference of the two is what the
//! calls alone execute, since making contexts and reading the payload is in both.
//!
//! valgrind knows fewer processor features than a new machine has (no AVX-512), so a library may
//! choose another kernel there; both sides then choose the same one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cinch_core::dictionary::Dictionary;

use super::row::{Row, rows};
use super::{Material, Payload, SHARE_ALLOWED};
use crate::failure::Outcome;
use crate::side::Operation;
use crate::table::Table;

/// 30 ns as instructions, at 3 GHz and three a cycle. The calls measured here reach four and more
/// on a current processor, so this is the stricter of the two targets.
const INSTRUCTIONS_ALLOWED: f64 = 270.0;

#[derive(Debug, clap::Args)]
pub(crate) struct OneArguments {
    /// Which of the two runs
    #[arg(long)]
    side: SideName,
    /// The row's name as the table prints it
    #[arg(long)]
    row: String,
    #[arg(long)]
    operation: Operation,
    /// A file that holds the payload
    #[arg(long)]
    payload: PathBuf,
    /// A file that holds the dictionary
    #[arg(long)]
    dictionary: PathBuf,
    #[arg(long)]
    calls: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SideName {
    Ours,
    Bare,
}

impl SideName {
    fn name(self) -> &'static str {
        match self {
            SideName::Ours => "ours",
            SideName::Bare => "bare",
        }
    }
}

/// One side of one row, `calls` times. What comes before the calls is the same for both sides.
pub(crate) fn run_one(arguments: &OneArguments) -> Outcome {
    let payload = fs::read(&arguments.payload)?;
    let dictionary = Dictionary::new(fs::read(&arguments.dictionary)?)?;
    let rows = rows()?;
    let row = rows.iter().find(|row| row.name() == arguments.row).ok_or("no such row")?;
    let work = row.verified(arguments.operation, &payload, &dictionary)?;
    let mut side = match arguments.side {
        SideName::Ours => work.ours()?,
        SideName::Bare => work.bare(),
    };
    side.run(arguments.calls, &work.input, &mut work.output());
    Ok(())
}

/// Counts every row at every size and prints the table; fails if a row is over.
pub(super) fn run(rows: &[Row], material: &Material) -> Outcome {
    let version = Command::new("valgrind").arg("--version").output();
    let Some(version) = version.ok().filter(|output| output.status.success()) else {
        return Err("valgrind is missing: apt-get install valgrind".into());
    };
    println!("{}", String::from_utf8_lossy(&version.stdout));
    let folder = tempfile::tempdir()?;
    let dictionary = folder.path().join("dictionary");
    fs::write(&dictionary, material.dictionary.bytes())?;
    let mut table =
        Table::new(["row", "bytes", "operation", "ours", "bare", "diff", "ratio", "verdict"]);
    let mut count_over = 0;
    for row in rows {
        for payload in &material.payloads {
            let file = folder.path().join("payload");
            fs::write(&file, &payload.bytes)?;
            for operation in Operation::BOTH {
                let count = |side| instructions(row, operation, side, payload, &file, &dictionary);
                let (ours, bare) = (count(SideName::Ours)?, count(SideName::Bare)?);
                let is_over = ours - bare > (bare * SHARE_ALLOWED).max(INSTRUCTIONS_ALLOWED);
                count_over += usize::from(is_over);
                table.row([
                    row.name(),
                    payload.nominal_bytes.to_string(),
                    operation.name().to_owned(),
                    format!("{ours:.0}"),
                    format!("{bare:.0}"),
                    format!("{:+.0}", ours - bare),
                    format!("{:.4}", ours / bare),
                    if is_over { "OVER" } else { "ok" }.to_owned(),
                ]);
            }
        }
        eprintln!("counted {}", row.name());
    }
    print!("{}", table.text());
    println!(
        "\ninstructions per call; a row is ok when our call executes at most {:.0} % or \
         {INSTRUCTIONS_ALLOWED} more than the bare one",
        SHARE_ALLOWED * 100.0,
    );
    if count_over > 0 {
        return Err(format!("{count_over} rows are OVER").into());
    }
    Ok(())
}

/// The instructions of one call.
fn instructions(
    row: &Row,
    operation: Operation,
    side: SideName,
    payload: &Payload,
    file: &Path,
    dictionary: &Path,
) -> Outcome<f64> {
    // A call of half a megabyte takes a second under valgrind, and two of them tell as much.
    let calls: u32 = match payload.bytes.len() {
        0..5_000 => 100,
        5_000..100_000 => 10,
        _ => 2,
    };
    let total = |calls: u32| -> Outcome<u64> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe()?)
            .args(["one", "--side", side.name(), "--row", &row.name()])
            .args(["--operation", operation.name(), "--calls", &calls.to_string()])
            .arg("--payload")
            .arg(file)
            .arg("--dictionary")
            .arg(dictionary)
            .output()?;
        let log = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{} failed under valgrind:\n{log}", row.name()).into());
        }
        collected(&log).ok_or_else(|| format!("valgrind told no count:\n{log}").into())
    };
    let (once, twice) = (total(calls)?, total(calls * 2)?);
    Ok((twice as f64 - once as f64) / f64::from(calls))
}

/// The count in callgrind's log, `==123== Collected : 4567`.
fn collected(log: &str) -> Option<u64> {
    log.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{OneArguments, SideName, collected, run_one};
    use crate::payloads;
    use crate::side::Operation;

    #[test]
    fn one_side_runs_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (payload, dictionary) = (folder.path().join("p"), folder.path().join("d"));
        fs::write(&payload, payloads::nearest(300).unwrap()).unwrap();
        fs::write(&dictionary, payloads::dictionary().unwrap()).unwrap();
        for side in [SideName::Ours, SideName::Bare] {
            let arguments = |row: &str| OneArguments {
                side,
                row: row.to_owned(),
                operation: Operation::Decompress,
                payload: payload.clone(),
                dictionary: dictionary.clone(),
                calls: 2,
            };
            run_one(&arguments("zstd:3+dictionary")).unwrap();
            assert!(run_one(&arguments("zstd:4")).is_err());
        }
    }

    #[test]
    fn the_count_is_read_from_the_log() {
        let log = "==7== Events    : Ir\n==7== Collected : 225640\n==7==\n";
        assert_eq!(collected(log), Some(225_640));
        assert_eq!(collected("==7== Events    : Ir\n"), None);
    }
}
