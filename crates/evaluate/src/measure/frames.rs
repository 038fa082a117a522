//! The bytes between an evaluation and the processes that try candidates for it: requests and
//! answers over a pair of pipes, both ends of the same build.
//!
//! Whoever reads takes a whole request before it answers, and whoever asks sends a whole request
//! before it reads, so that two full pipes never wait for each other.

use std::io::{self, Read, Write};

use cinch_core::limits::{DICTIONARY_BYTES_MAX, PAYLOAD_BYTES_MAX};

use crate::measure::Verdict;
use crate::measure::executor::Sized;
use crate::measure::runner::Steps;

/// The most bytes of a text in a frame: a name or a reason.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// The most payloads in one request.
pub(super) const BATCH_PAYLOADS: usize = 1024;

/// About how many bytes of payloads go into one request.
pub(super) const BATCH_BYTES: usize = 256 << 10;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Make the contexts of a candidate.
    Begin,
    /// Run payloads through them.
    Run,
    /// Tell what the contexts hold.
    End,
    /// Make new contexts and time their first call on one payload.
    FirstCall,
}

const OPERATIONS: &[(u8, Operation)] = &[
    (b'B', Operation::Begin),
    (b'R', Operation::Run),
    (b'E', Operation::End),
    (b'F', Operation::FirstCall),
];

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("a frame with {what}"))
}

pub(super) fn write_operation(output: &mut impl Write, operation: Operation) -> io::Result<()> {
    let row = OPERATIONS.iter().find(|(_, known)| *known == operation);
    output.write_all(&[row.map_or(0, |row| row.0)])
}

/// The next request, or nothing at the end of the input.
pub(super) fn read_operation(input: &mut impl Read) -> io::Result<Option<Operation>> {
    let mut byte = [0];
    if input.read(&mut byte)? == 0 {
        return Ok(None);
    }
    let row = OPERATIONS.iter().find(|(known, _)| *known == byte[0]);
    row.map(|row| Some(row.1)).ok_or_else(|| damaged("an unknown operation"))
}

pub(super) fn write_number(output: &mut impl Write, number: u64) -> io::Result<()> {
    output.write_all(&number.to_le_bytes())
}

pub(super) fn read_number(input: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

pub(super) fn write_bytes(output: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    write_number(output, bytes.len() as u64)?;
    output.write_all(bytes)
}

/// Bytes of a payload or a dictionary.
pub(super) fn read_bytes(input: &mut impl Read) -> io::Result<Vec<u8>> {
    read_at_most(input, PAYLOAD_BYTES_MAX.max(DICTIONARY_BYTES_MAX))
}

fn read_at_most(input: &mut impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let length = read_number(input)?;
    if length > limit as u64 {
        return Err(damaged("too long a part"));
    }
    let mut bytes = vec![0; length as usize];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn write_text(output: &mut impl Write, text: &str) -> io::Result<()> {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    write_bytes(output, &text.as_bytes()[..end])
}

pub(super) fn read_text(input: &mut impl Read) -> io::Result<String> {
    let bytes = read_at_most(input, TEXT_BYTES_MAX)?;
    String::from_utf8(bytes).map_err(|_| damaged("text that is not UTF-8"))
}

/// Whether it went well, and the reason where it did not.
pub(super) fn write_outcome(
    output: &mut impl Write,
    outcome: &Result<(), String>,
) -> io::Result<()> {
    match outcome {
        Ok(()) => output.write_all(&[0]),
        Err(reason) => {
            output.write_all(&[1])?;
            write_text(output, reason)
        }
    }
}

pub(super) fn read_outcome(input: &mut impl Read) -> io::Result<Result<(), String>> {
    let mut byte = [0];
    input.read_exact(&mut byte)?;
    Ok(if byte[0] == 0 { Ok(()) } else { Err(read_text(input)?) })
}

pub(super) fn write_float(output: &mut impl Write, value: f64) -> io::Result<()> {
    write_number(output, value.to_bits())
}

pub(super) fn read_float(input: &mut impl Read) -> io::Result<f64> {
    Ok(f64::from_bits(read_number(input)?))
}

pub(super) fn write_sized(output: &mut impl Write, sized: &Sized) -> io::Result<()> {
    let (tag, reason) = match &sized.verdict {
        Verdict::Fine => (0, ""),
        Verdict::Refused(reason) => (1, reason.as_str()),
        Verdict::Failed(reason) => (2, reason.as_str()),
    };
    output.write_all(&[tag])?;
    write_number(output, sized.bytes_out as u64)?;
    write_number(output, sized.packed_bytes as u64)?;
    for step in sized.steps.as_array() {
        output.write_all(&step.to_le_bytes())?;
    }
    if tag == 0 { Ok(()) } else { write_text(output, reason) }
}

pub(super) fn read_sized(input: &mut impl Read) -> io::Result<Sized> {
    let mut tag = [0];
    input.read_exact(&mut tag)?;
    let bytes_out = read_number(input)? as usize;
    let packed_bytes = read_number(input)? as usize;
    let mut steps = [0.0; Steps::COUNT];
    for step in &mut steps {
        let mut bytes = [0; 4];
        input.read_exact(&mut bytes)?;
        *step = f32::from_le_bytes(bytes);
    }
    let verdict = match tag[0] {
        0 => Verdict::Fine,
        1 => Verdict::Refused(read_text(input)?),
        _ => Verdict::Failed(read_text(input)?),
    };
    Ok(Sized { bytes_out, packed_bytes, steps: Steps::from_array(steps), verdict })
}
