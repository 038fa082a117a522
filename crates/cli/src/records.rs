//! Records: packed payloads one after the other, each behind its length (spec/records.md).
//!
//! The length is the varint of the envelope, at most 2^32 - 1, and is checked against a limit
//! before anything is allocated.

use std::io::{self, BufRead, Read};

use cinch_core::envelope::{read_varint, write_varint};

use crate::failure::Failure;

/// The longest varint, in bytes.
const VARINT_BYTES_MAX: usize = 5;

/// Appends one record to `out`.
pub fn append(record: &[u8], out: &mut Vec<u8>) {
    write_varint(record.len() as u32, out);
    out.extend_from_slice(record);
}

/// Reads the next record into `record`; `false` at the end of the input.
pub fn next(
    input: &mut dyn BufRead,
    limit_bytes: usize,
    record: &mut Vec<u8>,
    name: &str,
) -> Result<bool, Failure> {
    let fail = |error| Failure::file(name, error);
    let mut length = Vec::with_capacity(VARINT_BYTES_MAX);
    while length.last().is_none_or(|byte| byte & 0x80 != 0) && length.len() < VARINT_BYTES_MAX {
        let mut byte = [0];
        if input.read(&mut byte).map_err(fail)? == 0 {
            break;
        }
        length.push(byte[0]);
    }
    if length.is_empty() {
        return Ok(false);
    }
    let Some((bytes, _)) = read_varint(&length) else {
        return Err(fail(invalid("is no sequence of records: a length is damaged or cut short")));
    };
    if bytes as usize > limit_bytes {
        return Err(fail(invalid(format!("has a record of {bytes} bytes, above {limit_bytes}"))));
    }
    record.clear();
    input.take(u64::from(bytes)).read_to_end(record).map_err(fail)?;
    if record.len() < bytes as usize {
        return Err(fail(invalid("is cut short inside a record")));
    }
    Ok(true)
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}
