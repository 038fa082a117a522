//! Reading: which copy is right, and what else is said of the record. The order of the questions is
//! the rule: an older client first, then what is cheap, then what costs an unpacking.

use std::time::Instant;

use cinch_core::envelope::{Header, UnpackError, looks_like_envelope};
use cinch_core::pack::{looks_like_interop, unpack_interop};

use super::foreign;
use super::pool::Pool;
use super::same::is_same;
use super::{DecodeError, Finding, Read, ReadError, Source};
use crate::modes::ReadMode;
use crate::record::{Metadata, PackedField, Record, raw_checksum};
use crate::settings::{ForeignFormat, Namespace};

/// What the raw field says of the packed one.
enum Standing {
    /// The packed copy was made of this raw copy, or in its place.
    Current,
    /// The raw copy is newer.
    Stale,
    /// Nobody noted which raw copy it was made of.
    Unproven,
}

fn standing(record: &Record, metadata: &Metadata) -> Standing {
    match (&record.raw, metadata.raw_checksum, metadata.raw_nulled) {
        (Some(raw), Some(noted), _) if raw_checksum(raw) == noted => Standing::Current,
        (Some(_), Some(_), _) => Standing::Stale,
        (Some(_), None, _) => Standing::Unproven,
        // We left the raw copy there, and it is gone: an older client wrote null.
        (None, _, Some(false)) => Standing::Stale,
        (None, _, Some(true) | None) => Standing::Current,
    }
}

pub(super) fn two(
    namespace: &Namespace,
    pool: &Pool,
    mode: ReadMode,
    record: &Record,
) -> Result<Read, ReadError> {
    let mut read = Read {
        payload: record.raw.clone(),
        source: Source::Raw,
        stamp: record.stamp,
        packed_bytes: record.packed.as_ref().map(|packed| packed.bytes.len()),
        unpack_time: None,
        findings: Vec::new(),
    };
    let Some(packed) = &record.packed else {
        if mode == ReadMode::CompressOnly && record.raw.is_some() {
            read.findings.push(Finding::NotPacked);
        }
        return Ok(read);
    };
    let standing = standing(record, &packed.metadata);
    if let Standing::Stale = standing {
        read.findings.push(Finding::Stale);
        return Ok(read);
    }
    if record.raw.is_some() && mode == ReadMode::NoCompress {
        return Ok(read);
    }
    let started = Instant::now();
    let mut out = Vec::new();
    let result = pool.take().unpack_field(packed, &mut out);
    read.unpack_time = Some(started.elapsed());
    if let Err(error) = result {
        return undecodable(namespace, record, read, error);
    }
    read.findings.extend(size_mismatch(packed, out.len()));
    match (&record.raw, standing) {
        (None, _) => {
            if mode == ReadMode::NoCompress {
                read.findings.push(Finding::RawMissing);
            }
            read.payload = Some(out.into());
            read.source = Source::Packed;
        }
        (Some(raw), standing) => {
            let is_same = is_same(namespace, raw, &out);
            let is_proven = matches!(standing, Standing::Current);
            match (is_same, is_proven) {
                // A checksum that fits and a payload that does not: the packed copy is wrong.
                (false, true) => read.findings.push(Finding::Mismatch),
                (false, false) => read.findings.push(Finding::Unproven),
                (true, _) if mode == ReadMode::CompressOnly => {
                    read.payload = Some(out.into());
                    read.source = Source::Packed;
                }
                (true, _) => {}
            }
        }
    }
    Ok(read)
}

/// A packed copy that can't be unpacked costs nothing while there is a raw one.
fn undecodable(
    namespace: &Namespace,
    record: &Record,
    mut read: Read,
    error: DecodeError,
) -> Result<Read, ReadError> {
    if read.payload.is_none() {
        let packed = record.packed.as_ref().map_or(&[][..], |packed| &packed.bytes);
        return Err(failed(namespace, packed, error));
    }
    read.findings.push(Finding::Undecodable(error));
    Ok(read)
}

/// A value that can't be read. One that names a dictionary is never removed: with other bytes under
/// that id a sound value looks damaged, and it is this reader that is wrong.
fn failed(namespace: &Namespace, packed: &[u8], error: DecodeError) -> ReadError {
    let names_dictionary =
        Header::read(packed).is_ok_and(|(header, _)| header.dictionary.is_some());
    let may_be_removed = namespace.is_cache && error.is_damage() && !names_dictionary;
    ReadError { error, may_be_removed }
}

fn size_mismatch(packed: &PackedField, payload_bytes: usize) -> Option<Finding> {
    let metadata = &packed.metadata;
    let expected = (metadata.compressed_size, metadata.uncompressed_size);
    let got = (packed.bytes.len() as u64, payload_bytes as u64);
    (expected != got).then_some(Finding::SizeMismatch { expected, got })
}

/// What the value of a store with one slot is.
#[derive(Clone, Copy)]
enum Form {
    Envelope,
    Interop,
    Foreign(ForeignFormat),
    Plain,
}

fn form_of(namespace: &Namespace, value: &[u8]) -> Form {
    if looks_like_envelope(value) {
        Form::Envelope
    } else if looks_like_interop(value) {
        Form::Interop
    } else {
        let listed = foreign::format_of(&namespace.foreign_formats, value);
        listed.map_or(Form::Plain, Form::Foreign)
    }
}

pub(super) fn one(namespace: &Namespace, pool: &Pool, record: &Record) -> Result<Read, ReadError> {
    let mut read = Read {
        payload: None,
        source: Source::Raw,
        stamp: record.stamp,
        packed_bytes: None,
        unpack_time: None,
        findings: Vec::new(),
    };
    let Some(value) = &record.raw else { return Ok(read) };
    let failed = |error: DecodeError| failed(namespace, value, error);
    let form = form_of(namespace, value);
    if let Form::Plain = form {
        // It is handed on as it is: where compression is off a read copies nothing.
        let (limit, got) = (namespace.payload_bytes_max, value.len());
        if got > limit {
            return Err(failed(UnpackError::TooLarge { limit, got }.into()));
        }
        read.payload = Some(value.clone());
        return Ok(read);
    }
    let limit_bytes = namespace.payload_bytes_max;
    let mut out = Vec::new();
    let started = Instant::now();
    match form {
        Form::Envelope => pool.take().unpack(value, &mut out).map_err(failed)?,
        Form::Interop => {
            unpack_interop(value, limit_bytes, &mut out).map_err(|error| failed(error.into()))?;
        }
        Form::Foreign(format) => foreign::decode(format, value, limit_bytes, &mut out)
            .map_err(|error| failed(error.into()))?,
        Form::Plain => {}
    }
    read.source = if let Form::Foreign(_) = form { Source::Foreign } else { Source::Packed };
    read.unpack_time = Some(started.elapsed());
    read.packed_bytes = Some(value.len());
    read.payload = Some(out.into());
    Ok(read)
}
