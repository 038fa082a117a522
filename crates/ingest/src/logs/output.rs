//! The forms in which `cinch logs` prints a record: for people, for programs, and as the client
//! sent it.

use std::io::{self, Write};

use cinch_wire::cal;

use super::StoredRecord;
use crate::format::{Head, ReadRun, RunKind};

/// What is written of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Its text.
    Text,
    /// A line of JSON with its text and where it is from.
    Json,
    /// The bytes that its client sent.
    Wire,
}

pub(super) fn write(
    form: Form,
    pool: &str,
    head: &Head,
    run: &ReadRun,
    record: &StoredRecord,
    out: &mut impl Write,
) -> io::Result<()> {
    match form {
        Form::Text => {
            out.write_all(record.text)?;
            if record.text.ends_with(b"\n") { Ok(()) } else { out.write_all(b"\n") }
        }
        Form::Json => {
            serde_json::to_writer(&mut *out, &json(pool, head, run, record))?;
            out.write_all(b"\n")
        }
        Form::Wire => match (run.kind, record.lane) {
            (RunKind::Cal, Some((thread, seconds))) => {
                let mut message = Vec::with_capacity(cal::HEADER_BYTES + record.text.len());
                cal::write(thread, seconds, record.text, &mut message);
                out.write_all(&message)
            }
            (RunKind::LengthPrefixed, _) => {
                let length = u32::try_from(record.text.len()).unwrap_or(u32::MAX);
                out.write_all(&length.to_be_bytes())?;
                out.write_all(record.text)
            }
            (RunKind::Syslog, _) => {
                out.write_all(record.text)?;
                if record.text.ends_with(b"\n") { Ok(()) } else { out.write_all(b"\n") }
            }
            _ => out.write_all(record.text),
        },
    }
}

fn json(pool: &str, head: &Head, run: &ReadRun, record: &StoredRecord) -> serde_json::Value {
    let text = String::from_utf8_lossy(record.text);
    let is_exact = matches!(text, std::borrow::Cow::Borrowed(_));
    let text = text.trim_end_matches('\n').trim_end_matches('\r').trim_start_matches("\r\n");
    let mut line = serde_json::json!({
        "pool": pool,
        "received_ms": head.last_ms,
        "connection": run.connection,
        "peer": run.peer,
        "text": text,
    });
    if !run.host.is_empty() {
        line["host"] = run.host.clone().into();
    }
    if let Some((thread, seconds)) = record.lane {
        line["thread"] = thread.into();
        line["connect_time"] = seconds.into();
    }
    if !is_exact {
        line["is_utf8"] = false.into();
    }
    line
}
