//! Logs of the OpenTelemetry protocol: the body of an export request, as protobuf or as JSON, to
//! one line of JSON for each log record, and the answer's body. HTTP and gRPC are the caller's.
//!
//! A request is taken or refused as a whole. A line has the fields of the record that are set, in this order: `time_unix_nano`,
//! `observed_time_unix_nano`, `severity_number`, `severity_text`, `event_name`, `body`,
//! `attributes`, `trace_id`, `span_id`, `flags`, `resource`, `scope`. Attributes are objects,
//! bytes are base64, ids are hexadecimal. Both forms of a request come to the same lines.

mod binary;
mod json;
mod line;

use crate::limits::OTLP_DEPTH_MAX;
use crate::protobuf::ProtobufError;

/// How a request is written, and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// `application/x-protobuf`, and gRPC.
    Protobuf,
    /// `application/json`.
    Json,
}

/// Why a request is refused. The answer is status 400, and the client does not send it again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OtlpError {
    /// It is no protobuf.
    #[error(transparent)]
    Protobuf(#[from] ProtobufError),
    /// It is no JSON of an export request.
    #[error("the body is no OTLP request: {0}")]
    Json(String),
    /// Values nest deeper than [`OTLP_DEPTH_MAX`].
    #[error("values nest deeper than {OTLP_DEPTH_MAX}")]
    TooDeep,
    /// The lines would be longer than the limit.
    #[error("the records of the request are longer than {limit_bytes} bytes")]
    TooLong {
        /// What is allowed.
        limit_bytes: usize,
    },
}

/// Appends each record of a request to `lines` as a line that ends in LF, and answers how many
/// there were. Together they are no longer than `lines_bytes_max` and the last of them.
///
/// # Errors
/// Any [`OtlpError`]; then `lines` is as it was.
pub fn read_logs(
    encoding: Encoding,
    body: &[u8],
    lines_bytes_max: usize,
    lines: &mut Vec<u8>,
) -> Result<usize, OtlpError> {
    let before = lines.len();
    let mut lines = Lines { out: lines, count: 0, before, lines_bytes_max };
    let result = match encoding {
        Encoding::Protobuf => binary::read(body, &mut lines),
        Encoding::Json => json::read(body, &mut lines),
    };
    match result {
        Ok(()) => Ok(lines.count),
        Err(error) => {
            lines.out.truncate(before);
            Err(error)
        }
    }
}

/// The lines that are being written.
struct Lines<'a> {
    out: &'a mut Vec<u8>,
    count: usize,
    before: usize,
    lines_bytes_max: usize,
}

impl Lines<'_> {
    /// Ends the line that was appended to `out`.
    fn end(&mut self) -> Result<(), OtlpError> {
        self.out.push(b'\n');
        self.count += 1;
        let limit_bytes = self.lines_bytes_max;
        if self.out.len() - self.before > limit_bytes {
            return Err(OtlpError::TooLong { limit_bytes });
        }
        Ok(())
    }
}

/// Appends the body of the answer to a request of which `rejected` records were not taken, for the
/// reason that `message` gives. For none it says that all is well.
pub fn write_response(encoding: Encoding, rejected: u64, message: &str, out: &mut Vec<u8>) {
    match encoding {
        Encoding::Protobuf => binary::write_response(rejected, message, out),
        Encoding::Json => json::write_response(rejected, message, out),
    }
}

#[cfg(test)]
mod tests;
