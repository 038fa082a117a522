//! The other end: what a process does that an evaluation started to try candidates in.
//!
//! It reads requests until its input ends. Panics are caught and told; anything worse ends the
//! process, which is what it is for.

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::sync::Arc;

use cinch_core::dictionary::Dictionary;

use crate::candidate::{Candidate, Learned};
use crate::corpus::{Origin, Payload};
use crate::measure::executor::{Contexts, first_call};
use crate::measure::frames::{self, BATCH_PAYLOADS, Operation};
use crate::measure::runner::TimedFrom;
use crate::schemas::language_of;

/// Serves requests until the input ends.
///
/// # Errors
/// Where the pipes fail or carry something else than an evaluation's requests.
pub fn serve(input: impl Read, output: impl Write) -> io::Result<()> {
    let mut input = BufReader::new(input);
    let mut output = BufWriter::new(output);
    let mut contexts: Option<Contexts> = None;
    while let Some(operation) = frames::read_operation(&mut input)? {
        match operation {
            Operation::Begin => {
                contexts = None;
                let (candidate, from) = read_candidate(&mut input)?;
                let made = Contexts::new(&candidate, from);
                let outcome = made.map(|made| contexts = Some(made));
                frames::write_outcome(&mut output, &outcome)?;
            }
            Operation::Run => {
                let payloads = read_payloads(&mut input)?;
                let contexts = contexts.as_mut().ok_or_else(not_begun)?;
                for payload in &payloads {
                    frames::write_sized(&mut output, &contexts.size(payload))?;
                }
            }
            Operation::End => {
                let contexts = contexts.as_ref().ok_or_else(not_begun)?;
                let (compressor, decompressor) = contexts.memory_bytes();
                frames::write_number(&mut output, compressor as u64)?;
                frames::write_number(&mut output, decompressor as u64)?;
            }
            Operation::FirstCall => {
                let (candidate, from) = read_candidate(&mut input)?;
                let payload = read_payload(&mut input)?;
                let times = first_call(&candidate, from, &payload);
                let outcome = times.as_ref().map(|_| ()).map_err(Clone::clone);
                frames::write_outcome(&mut output, &outcome)?;
                if let Ok((pack_ns, unpack_ns)) = times {
                    frames::write_float(&mut output, pack_ns)?;
                    frames::write_float(&mut output, unpack_ns)?;
                }
            }
        }
        output.flush()?;
    }
    Ok(())
}

fn not_begun() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "no candidate was begun")
}

fn read_candidate(input: &mut impl Read) -> io::Result<(Candidate, TimedFrom)> {
    let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    let from = match frames::read_text(input)?.as_str() {
        "value" => TimedFrom::Value,
        _ => TimedFrom::Text,
    };
    let name = frames::read_text(input)?;
    let mut candidate = Candidate::parse(&name).map_err(|error| invalid(error.to_string()))?;
    let dictionary = frames::read_bytes(input)?;
    if !dictionary.is_empty() {
        let dictionary = Dictionary::new(dictionary).map_err(|error| invalid(error.to_string()))?;
        candidate.learned = Some(Arc::new(Learned {
            label: String::new(),
            dictionary,
            build_seconds: 0.0,
            sample_payloads: 0,
            sample_bytes: 0,
        }));
    }
    let schema = frames::read_bytes(input)?;
    if let (false, Some(language)) = (schema.is_empty(), language_of(candidate.encoding)) {
        let read = cinch_schema::read(language, &schema);
        candidate.schema = Some(read.map_err(|error| invalid(error.to_string()))?);
    }
    Ok((candidate, from))
}

fn read_payloads(input: &mut impl Read) -> io::Result<Vec<Payload>> {
    let count = frames::read_number(input)?;
    if count > BATCH_PAYLOADS as u64 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "too many payloads in a batch"));
    }
    (0..count).map(|_| read_payload(input)).collect()
}

fn read_payload(input: &mut impl Read) -> io::Result<Payload> {
    let mut is_json = [0];
    input.read_exact(&mut is_json)?;
    let bytes = frames::read_bytes(input)?.into_boxed_slice();
    Ok(Payload { bytes, is_json: is_json[0] != 0, origin: Origin { file: 0, line: 0 } })
}
