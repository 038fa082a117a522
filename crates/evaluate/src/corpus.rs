//! Reads the payloads that an evaluation measures: files, folders and pipes of JSON in any layout,
//! of lines, and of binary payloads, packed or not.
//!
//! Two promises must not change. Nothing is dropped in silence: what can't be read as a payload is
//! a [`Problem`] with its file and line, and is counted. And memory is bounded by the options,
//! never by the source: every source is read as a stream, and what is kept is a fair sample.

mod elements;
mod error;
mod field;
mod find;
mod format;
mod lines;
mod meter;
mod sample;
mod scanner;
mod sink;
mod unpack;
mod values;
mod window;

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;

use cinch_core::document::Document;
use cinch_core::encoding::Parser;
use cinch_core::json;
use cinch_core::limits::PAYLOAD_BYTES_MAX;

pub use error::{CorpusError, Problem, Problems};
pub use field::{FieldPath, FieldPathError};
pub use meter::Progress;

use find::{Input, Place};
use meter::Meter;
use sample::{HELD_OVERHEAD_BYTES, Sampler};
use sink::Sink;
use unpack::Packing;
use window::Window;

/// One payload and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// The payload's own bytes, without white space around a JSON value.
    pub bytes: Box<[u8]>,
    /// Whether the bytes are one JSON value. Always checked by the parser, never guessed.
    pub is_json: bool,
    /// Where it was found.
    pub origin: Origin,
}

/// Where a payload was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Index into [`Corpus::files`].
    pub file: u32,
    /// The line on which it starts, from 1; 0 where the whole file is the payload.
    pub line: u64,
}

/// The payloads of an evaluation, in the order of the source.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    /// The payloads that were kept.
    pub payloads: Vec<Payload>,
    /// The names of the files that were read; `-` is the standard input.
    pub files: Vec<String>,
    /// How many payloads were seen, before sampling.
    pub seen: u64,
    /// Their bytes.
    pub seen_bytes: u64,
    /// How many of `payloads` are exact copies of an earlier one.
    pub duplicates: u64,
    /// What could not be read.
    pub problems: Problems,
    /// Files in folders that were passed over because of their extension.
    pub skipped_files: Vec<String>,
}

/// How a source is cut into payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// By the extension of the file, and where that says nothing by its first 64 KiB.
    #[default]
    Auto,
    /// JSON values one after the other, in any layout.
    Json,
    /// Each line is a payload.
    Lines,
    /// Each file is a payload.
    Binary,
}

/// What to read and how much of it to keep.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// How sources are cut into payloads.
    pub format: Format,
    /// Takes the elements of a top-level array as payloads, and not the array.
    pub split: bool,
    /// Takes this member of each JSON value as the payload.
    pub field: Option<FieldPath>,
    /// Keeps a fair sample of at most this many payloads.
    pub sample: Option<usize>,
    /// The most memory that kept payloads may take, in bytes, with what it costs to hold each.
    /// A corpus that is larger is sampled.
    pub sample_bytes_max: u64,
    /// Chooses the sample: the same seed and source give the same payloads.
    pub seed: u64,
    /// A longer payload is a problem and is skipped.
    pub payload_bytes_max: usize,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            format: Format::Auto,
            split: false,
            field: None,
            sample: None,
            sample_bytes_max: 1 << 30,
            seed: 1,
            payload_bytes_max: PAYLOAD_BYTES_MAX,
        }
    }
}

impl ReadOptions {
    /// The longest payload that every bound allows.
    fn payload_limit_bytes(&self) -> usize {
        let held = self.sample_bytes_max.saturating_sub(HELD_OVERHEAD_BYTES);
        let held = usize::try_from(held).unwrap_or(usize::MAX);
        self.payload_bytes_max.min(held).clamp(1, PAYLOAD_BYTES_MAX)
    }
}

/// Reads every source, in the order given, and keeps what the options allow. When `progress`
/// breaks, reading stops and what was read so far is the corpus.
///
/// # Errors
/// [`CorpusError`] where a source can't be read at all, or holds no payload. Damage inside a source
/// is not an error: it is in [`Corpus::problems`].
pub fn read(
    sources: &[String],
    stdin: &mut dyn Read,
    options: &ReadOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Corpus, CorpusError> {
    let found = find::find(sources, options.format)?;
    let limit_bytes = options.payload_limit_bytes();
    let meter = Meter::new(progress, found.inputs.len() as u64);
    let sampler = Sampler::new(options.seed, options.sample, options.sample_bytes_max);
    let mut sink = Sink::new(options, limit_bytes, sampler, meter);
    let mut files = Vec::with_capacity(found.inputs.len());
    for input in found.inputs {
        sink.start_file(files.len() as u32, &input.name);
        files.push(input.name.clone());
        match &input.place {
            Place::StandardInput => read_one(stdin, &input, limit_bytes, &mut sink),
            Place::Path(path) => {
                let mut file = File::open(path).map_err(|error| CorpusError::open(path, error))?;
                read_one(&mut file, &input, limit_bytes, &mut sink);
            }
        }
        if !sink.meter.finish_file() {
            break;
        }
    }
    let (sampler, problems) = sink.finish();
    if sampler.seen() == 0 {
        return Err(CorpusError::NoPayloads { sources: sources.join(", "), problems });
    }
    let (seen, seen_bytes) = (sampler.seen(), sampler.seen_bytes());
    let payloads = sampler.into_payloads();
    let duplicates = count_duplicates(&payloads);
    let skipped_files = found.skipped;
    Ok(Corpus { payloads, files, seen, seen_bytes, duplicates, problems, skipped_files })
}

fn read_one(source: &mut dyn Read, input: &Input, limit_bytes: usize, sink: &mut Sink<'_>) {
    let (packing, reader) = match unpack::open(source, |packing| input.is_unpacked(packing)) {
        Ok(opened) => opened,
        Err(error) => return sink.problem(0, Packing::None.explain(&error)),
    };
    let mut window = Window::new(reader, packing, limit_bytes);
    format::read(&mut window, input, sink);
    if let Some(reason) = window.failure() {
        sink.problem(window.line(), reason.to_owned());
    }
}

fn count_duplicates(payloads: &[Payload]) -> u64 {
    let mut hashes = HashSet::with_capacity(payloads.len());
    payloads
        .iter()
        .filter(|payload| !hashes.insert(xxhash_rust::xxh3::xxh3_128(&payload.bytes)))
        .count() as u64
}

impl Corpus {
    /// A corpus of payloads that are in memory already, all kept. They are numbered like lines.
    pub fn from_payloads(name: &str, payloads: impl IntoIterator<Item = Vec<u8>>) -> Corpus {
        let mut document = Document::new();
        let payloads: Vec<Payload> = payloads
            .into_iter()
            .zip(1..)
            .map(|(bytes, line)| Payload {
                is_json: json::parse(Parser::Simd, &bytes, &mut document).is_ok(),
                bytes: bytes.into_boxed_slice(),
                origin: Origin { file: 0, line },
            })
            .collect();
        Corpus {
            seen: payloads.len() as u64,
            seen_bytes: payloads.iter().map(|payload| payload.bytes.len() as u64).sum(),
            duplicates: count_duplicates(&payloads),
            files: vec![name.to_owned()],
            payloads,
            ..Corpus::default()
        }
    }

    /// Where a payload was found, as people write it: `carts.ndjson:17`.
    ///
    /// # Panics
    /// Where there is no payload of that index.
    pub fn describe(&self, payload: usize) -> String {
        let Origin { file, line } = self.payloads[payload].origin;
        match line {
            0 => self.files[file as usize].clone(),
            _ => format!("{}:{line}", self.files[file as usize]),
        }
    }

    /// The bytes of all kept payloads together.
    pub fn total_bytes(&self) -> u64 {
        self.payloads.iter().map(|payload| payload.bytes.len() as u64).sum()
    }
}

#[cfg(test)]
mod tests;
