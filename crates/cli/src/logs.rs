//! `cinch logs`: reads back what an ingress has written, from its folder alone: the ingress need
//! not run.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cinch_ingest::config::{Config, SinkKind};
use cinch_ingest::logs::{Form, LogsError, Query, Search};
use regex::bytes::Regex;

use crate::Done;
use crate::arguments::LogsArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// Prints what was asked for.
pub fn run(arguments: &LogsArguments) -> Result<Done, Failure> {
    let pattern = arguments.grep.as_ref().map(|text| {
        // A record ends at its line, whatever the pattern says of line ends.
        Regex::new(&format!("(?m){text}")).map_err(|error| {
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or_default().trim().to_owned();
            Failure::Argument(format!("--grep {text}: {reason}"))
        })
    });
    let query = Query {
        directory: directory(arguments)?,
        pool: arguments.pool.clone(),
        since_ms: arguments.since.as_deref().map_or(Ok(0), |text| time("--since", text))?,
        until_ms: arguments.until.as_deref().map_or(Ok(u64::MAX), |text| time("--until", text))?,
        pattern: pattern.transpose()?,
        connection: arguments.connection,
        form: match (arguments.json, arguments.wire) {
            (true, _) => Form::Json,
            (_, true) => Form::Wire,
            _ => Form::Text,
        },
    };
    let out = io::BufWriter::new(io::stdout().lock());
    let mut search = Search::new(&query, out);
    let found = if arguments.follow {
        let interrupt = Interrupt::handled();
        let tell = |error: &LogsError| eprintln!("cinch: {error}; it is waited for");
        search.follow(|| interrupt.stop.load(Ordering::Relaxed), tell)
    } else {
        search.pass()
    };
    let found = found.map_err(|error| match error {
        LogsError::Output(error) => Failure::file("standard output", error),
        error => Failure::Logs(error),
    })?;
    if arguments.stats {
        let (batches, read) = (found.batches, found.read_batches);
        let (skipped, repeated) = (found.skipped_batches, found.repeated_batches);
        eprintln!(
            "cinch: {batches} batches, {read} read, {skipped} passed over by their filters, \
             {repeated} repeated; {} records",
            found.records
        );
    }
    if found.damaged_files > 0 {
        let count = found.damaged_files;
        eprintln!("cinch: {count} files end in a batch that is torn or damaged; the rest was read");
        return Ok(Done::Partly);
    }
    Ok(Done::Whole)
}

fn directory(arguments: &LogsArguments) -> Result<PathBuf, Failure> {
    if let Some(directory) = &arguments.directory {
        return Ok(directory.clone());
    }
    let path = arguments.config.as_deref().unwrap_or_else(|| "".as_ref());
    let config = Config::read(path)?;
    let mut folders = config.sinks.iter().filter_map(|sink| match &sink.kind {
        SinkKind::Filer(settings) => Some(settings.directory.clone()),
        _ => None,
    });
    match (folders.next(), folders.next()) {
        (Some(folder), None) => Ok(folder),
        _ => Err(Failure::Argument(format!(
            "{} has not one filer; name its folder with --directory",
            path.display()
        ))),
    }
}

/// A time, or how long ago, in Unix milliseconds.
fn time(argument: &str, text: &str) -> Result<u64, Failure> {
    let now = SystemTime::now();
    let time = match humantime::parse_duration(text) {
        Ok(ago) => now.checked_sub(ago).unwrap_or(UNIX_EPOCH),
        Err(_) => humantime::parse_rfc3339_weak(text).map_err(|_| {
            Failure::Argument(format!(
                "{argument} {text} is neither a time such as 2026-11-21T10:00:00Z nor how long \
                 ago, such as 15m"
            ))
        })?,
    };
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Ok(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
