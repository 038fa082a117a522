//! `deltas`: what packing each payload of a corpus against the one before it saves, in bytes and in
//! time. A folder of versions in their order tells what deltas are for; any other tells how alike
//! its payloads are.
//!
//! Beside the deltas that are written, which are of the text, stand those that would be of columns:
//! the columnar form of the payload after that of the base. Times are the medians over payloads of
//! the least of several calls.

use std::path::PathBuf;

use cinch_core::codec::{CodecChoice, codec_named};
use cinch_core::encoding::{Engine, encoding_named};
use cinch_core::pack::{DeltaOutcome, Packer, Unpacker};
use cinch_core::profile::Profile;

use crate::clock::Clock;
use crate::corpora::{self, Corpus};
use crate::failure::Outcome;
use crate::statistics::median;
use crate::table::Table;

/// Of a corpus no more than its first bytes are measured.
const BYTES_MAX: usize = 64 << 20;

/// Times are of so many calls, the least of them.
const CALLS: usize = 5;

/// What the header of a delta has in bytes, for columns, of which none is written.
const HEADER_BYTES: usize = 24;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A folder of .ndjson files, each with versions one after the other
    folder: PathBuf,
    /// The level of zstd
    #[arg(long, default_value_t = 3)]
    level: i32,
}

/// The bytes and times of one corpus.
#[derive(Default)]
struct Row {
    payloads: usize,
    deltas: usize,
    bytes: usize,
    alone: usize,
    columns: usize,
    against: usize,
    against_columns: usize,
    /// Nanoseconds to pack alone, to pack against, to unpack what was packed alone, and a delta.
    times_ns: [Vec<f64>; 4],
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let mut table = Table::new([
        "corpus",
        "payloads",
        "deltas",
        "bytes",
        "alone",
        "columns alone",
        "against",
        "columns against",
        "pack us",
        "against us",
        "unpack us",
        "delta us",
    ]);
    for corpus in corpora::of_folder(&arguments.folder, BYTES_MAX)? {
        let row = measure(&corpus, arguments.level)?;
        let mean = |bytes: usize| (bytes / row.payloads.max(1)).to_string();
        let time = |ns: &[f64]| match ns.is_empty() {
            true => "-".to_owned(),
            false => format!("{:.1}", median(ns) / 1e3),
        };
        table.row([
            corpus.name.clone(),
            row.payloads.to_string(),
            row.deltas.to_string(),
            mean(row.bytes),
            mean(row.alone),
            mean(row.columns),
            mean(row.against),
            mean(row.against_columns),
            time(&row.times_ns[0]),
            time(&row.times_ns[1]),
            time(&row.times_ns[2]),
            time(&row.times_ns[3]),
        ]);
    }
    println!("{}", table.text());
    println!("bytes are means over payloads, with headers; times are medians, in microseconds");
    Ok(())
}

/// The same code on a few generated payloads, for its results only.
#[cfg(test)]
pub(crate) fn smoke() -> Outcome {
    let mut corpus = corpora::generated(50_000).swap_remove(0);
    corpus.payloads.truncate(4);
    corpus.payloads =
        corpus.payloads.iter().flat_map(|cart| [cart.clone(), cart.clone()]).collect();
    let row = measure(&corpus, 3)?;
    if row.deltas == 0 || row.against >= row.alone {
        return Err("a cart is no smaller against itself".into());
    }
    Ok(())
}

fn measure(corpus: &Corpus, level: i32) -> Outcome<Row> {
    let encoding = |name| encoding_named(name).ok_or(format!("no encoding is called {name}"));
    let choice = CodecChoice { level, ..CodecChoice::parse("zstd")? };
    let mut packer = Packer::new(&Profile::new(encoding("verbatim")?, choice))?;
    let mut of_columns = Packer::new(&Profile::new(encoding("columnar")?, choice))?;
    let Engine::Text(engine) = encoding("columnar")?.engine else {
        return Err("columnar is no encoding of text".into());
    };
    let mut encoder = engine.encoder(None);
    let codec = codec_named("zstd-bare").ok_or("no codec is called zstd-bare")?;
    let mut compressor = codec.compressor(level, None)?;
    let mut unpacker = Unpacker::new([]);
    let (mut out, mut back, mut row) = (Vec::new(), Vec::new(), Row::default());
    for pair in corpus.payloads.windows(2) {
        let [previous, payload] = [&pair[0], &pair[1]];
        row.payloads += 1;
        row.bytes += payload.len();
        of_columns.pack(payload, &mut out)?;
        let columns = out.len();
        row.columns += columns;
        let mut forms = [Vec::new(), Vec::new()];
        let is_encoded = encoder.encode(previous, &mut forms[0]).is_ok()
            && encoder.encode(payload, &mut forms[1]).is_ok();
        row.against_columns += match compressor.with_prefix() {
            Some(compressor) if is_encoded => {
                let mut body = vec![0; codec.compress_bound(forms[1].len())];
                let length = compressor.compress_after(&forms[0], &forms[1], &mut body)?;
                columns.min(length + HEADER_BYTES)
            }
            _ => columns,
        };
        let alone = least(|| packer.pack(payload, &mut out).map(drop))?;
        row.alone += out.len();
        let unpack = least(|| unpacker.read(&out, &mut back).map(drop))?;
        let mut outcome = None;
        let against = least(|| {
            outcome = Some(packer.pack_against(previous, payload, &mut out)?);
            Ok::<(), cinch_core::pack::PackError>(())
        })?;
        row.against += out.len();
        let base_of = |_| Some(previous.as_slice());
        let delta = least(|| unpacker.read_against(base_of, &out, &mut back).map(drop))?;
        if back != *payload {
            return Err(format!("a payload of {} did not come back", corpus.name).into());
        }
        if let Some(DeltaOutcome::Delta { .. }) = outcome {
            row.deltas += 1;
            for (times, time) in row.times_ns.iter_mut().zip([alone, against, unpack, delta]) {
                times.push(time);
            }
        }
    }
    Ok(row)
}

/// The least time of some calls, in nanoseconds.
fn least<E>(mut call: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let mut least = f64::INFINITY;
    for _ in 0..CALLS {
        let clock = Clock::start();
        call()?;
        least = least.min(clock.elapsed_ns());
    }
    Ok(least)
}
