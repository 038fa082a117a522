//! `cinch ingest load`: sends as CAL clients do, and prints throughput and pause for each number of
//! connections, as the article's figure 8 draws them.

mod picture;

use std::fs;
use std::path::Path;
use std::time::Duration;

use cinch_ingest::config::Protocol;
use cinch_ingest::load::{Load, LoadResult, Messages, run as run_load};
use cinch_ingest::top::take_pause;

use crate::Done;
use crate::arguments::{LoadArguments, LoadProtocol};
use crate::failure::Failure;
use crate::output::{Output, Place};

use picture::Point;

/// How wide the bars of the drawing are at most, in characters.
const BAR_WIDTH: f64 = 40.0;

/// Runs every load.
pub fn run(arguments: &LoadArguments) -> Result<Done, Failure> {
    let protocol = match arguments.protocol {
        LoadProtocol::Cal => Protocol::Cal,
        LoadProtocol::Lines => Protocol::Lines,
        LoadProtocol::LengthPrefixed => Protocol::LengthPrefixed,
    };
    if arguments.connections.contains(&0) || arguments.rate.contains(&0) || arguments.bunch == 0 {
        let message = "--connections, --rate and --bunch are numbers above 0";
        return Err(Failure::Argument(message.to_owned()));
    }
    if let Some(path) = &arguments.picture {
        is_of_a_picture(path)?;
    }
    let mut lines = Vec::new();
    for path in &arguments.input {
        let text = fs::read(path).map_err(|error| Failure::file(path, error))?;
        let ended = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.extend(ended.map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec()));
    }
    let messages = Messages::new(protocol, &arguments.pool, arguments.bunch, &lines);
    let mut output = Output::open(&Place::Stdout, true)?;
    if !arguments.json {
        output
            .write(b"connections  asked MB/s  MB/s   disconnects  lost  pause p50/p99/max ms\n")?;
    }
    let top = arguments.rate.iter().copied().max().unwrap_or(1) as f64;
    let (mut is_whole, mut points) = (true, Vec::new());
    for &connections in &arguments.connections {
        for &rate in &arguments.rate {
            let load = Load {
                address: arguments.address,
                protocol,
                connections,
                rate,
                bunch_bytes: arguments.bunch,
                duration: Duration::from_secs(arguments.seconds),
                deadline: Duration::from_millis(arguments.deadline_ms),
            };
            let failed = |error| Failure::file(arguments.address.to_string(), error);
            // What was the longest before this load is taken away, and not looked at.
            arguments.status.map(take_pause).transpose()?;
            let result = run_load(&load, &messages).map_err(failed)?;
            let gap = arguments.status.map(take_pause).transpose()?;
            is_whole &= result.disconnects == 0;
            points.push(Point {
                connections: connections as f64,
                asked: rate as f64 / 1e6,
                reached: megabytes_per_second(&result),
                pause_ms: gap.map_or(result.pause.max_s(), |gap| gap.as_secs_f64()) * 1e3,
                disconnects: result.disconnects,
            });
            let line = match arguments.json {
                true => json(&load, &result, gap),
                false => row(&load, &result, gap, top),
            };
            output.write(line.as_bytes())?;
        }
    }
    output.finish()?;
    if let Some(path) = &arguments.picture {
        let is_of_reads = arguments.status.is_some();
        let mut drawn = picture::picture(&points, is_of_reads);
        if path.extension().is_some_and(|ending| ending == "html") {
            drawn = picture::page(&drawn);
        }
        fs::write(path, drawn).map_err(|error| Failure::file(path, error))?;
    }
    Ok(if is_whole { Done::Whole } else { Done::Partly })
}

/// Whether this is the name of a picture that can be drawn: told before anything is sent.
fn is_of_a_picture(path: &Path) -> Result<(), Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg" | "html") => Ok(()),
        _ => Err(Failure::Argument(format!(
            "--picture {}: pictures are .svg or .html",
            path.display()
        ))),
    }
}

fn megabytes_per_second(result: &LoadResult) -> f64 {
    result.sent_bytes as f64 / 1e6 / result.elapsed.as_secs_f64().max(1e-9)
}

fn row(load: &Load, result: &LoadResult, gap: Option<Duration>, top: f64) -> String {
    let (connections, asked) = (load.connections, load.rate as f64 / 1e6);
    let reached = megabytes_per_second(result);
    let pause = &result.pause;
    let [p50, p99] = [0.5, 0.99].map(|share| pause.quantile_s(share) * 1e3);
    let max = pause.max_s() * 1e3;
    let bar = "#".repeat((reached * 1e6 / top * BAR_WIDTH).round() as usize);
    let late = match result.late_bunches {
        0 => String::new(),
        late => format!("  {late} bunches were sent late: the load itself was too slow"),
    };
    let gap = match gap {
        None => String::new(),
        Some(gap) => format!("  longest gap between reads {:.1} ms", gap.as_secs_f64() * 1e3),
    };
    let (disconnects, lost) = (result.disconnects, result.lost_messages);
    format!(
        "{connections:>11}  {asked:>10.0}  {reached:>5.0}  {disconnects:>11}  {lost:>4}  \
         {p50:.1}/{p99:.1}/{max:.1}  {bar}{gap}{late}\n"
    )
}

fn json(load: &Load, result: &LoadResult, gap: Option<Duration>) -> String {
    let line = serde_json::json!({
        "connections": load.connections,
        "asked_bytes_per_s": load.rate,
        "elapsed_s": result.elapsed.as_secs_f64(),
        "sent_bytes": result.sent_bytes,
        "sent_messages": result.sent_messages,
        "disconnects": result.disconnects,
        "lost_messages": result.lost_messages,
        "late_bunches": result.late_bunches,
        "pause_p50_s": result.pause.quantile_s(0.5),
        "pause_p99_s": result.pause.quantile_s(0.99),
        "pause_max_s": result.pause.max_s(),
        "read_gap_max_s": gap.map(|gap| gap.as_secs_f64()),
    });
    format!("{line}\n")
}
