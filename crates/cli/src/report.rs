//! `cinch report`: one page of what processes counted in production.
//!
//! The drawing is the library's; here files are read, merged and written.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use cinch_evaluate::report::production;
use cinch_rollout::metrics::Export;

use crate::Done;
use crate::arguments::ReportArguments;
use crate::failure::Failure;
use crate::output::{Place, write_whole};

/// The longest export that is read, in bytes: that of a process with all namespaces is below it.
const EXPORT_BYTES_MAX: u64 = 256 << 20;

/// Draws.
pub fn run(arguments: &ReportArguments) -> Result<Done, Failure> {
    let mut merged: Option<Export> = None;
    for path in &arguments.files {
        let export = read(path)?;
        match &mut merged {
            Some(merged) => merged.merge(export),
            None => merged = Some(export),
        }
    }
    let Some(merged) = merged else { return Ok(Done::Whole) };
    let text = if arguments.json { merged.to_json() + "\n" } else { production::page(&merged) };
    write_whole(&Place::of(&arguments.output), text.as_bytes())?;
    Ok(Done::Whole)
}

fn read(path: &Path) -> Result<Export, Failure> {
    let mut text = Vec::new();
    let mut take = |reader: &mut dyn Read| reader.take(EXPORT_BYTES_MAX + 1).read_to_end(&mut text);
    let result = if path == Path::new("-") {
        take(&mut io::stdin().lock())
    } else {
        fs::File::open(path).and_then(|mut file| take(&mut file))
    };
    result.map_err(|error| Failure::file(path, error))?;
    if text.len() as u64 > EXPORT_BYTES_MAX {
        let message = format!("it is longer than {EXPORT_BYTES_MAX} bytes");
        return Err(Failure::file(path, io::Error::new(io::ErrorKind::InvalidData, message)));
    }
    Export::from_json(&text)
        .map_err(|error| Failure::file(path, io::Error::new(io::ErrorKind::InvalidData, error)))
}
