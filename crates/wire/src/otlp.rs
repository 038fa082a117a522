//! Logs of the OpenTelemetry protocol: the body of an export request, as protobuf or as JSON, to
//! one line of JSON for each log record, and the answer's body. HTTP and gRPC are the caller's.
//!
//! A request is taken or refused as a whole. A line has the fields of the record that are set, in
//! this order: `time_unix_nano`, `observed_time_unix_nano`, `severity_number`, `severity_text`,
//! `event_name`, `body`, `attributes`, `trace_id`, `span_id`, `flags`, `resource`, `scope`.
//! Attributes are objects, bytes are base64, ids are hexadecimal. Both forms of a request come to
//! the same lines.

mod binary;
mod json;

use crate::json_text::{JsonFault, Lines, TooLong};
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
    #[error("the body is no OTLP request: {detail}")]
    Json {
        /// What kind of fault it is.
        fault: JsonFault,
        /// The same in words.
        detail: String,
    },
    /// Values nest deeper than [`OTLP_DEPTH_MAX`].
    #[error("values nest deeper than {OTLP_DEPTH_MAX}")]
    TooDeep,
    /// The lines would be longer than the limit.
    #[error(transparent)]
    TooLong(#[from] TooLong),
}

/// Appends each record of a request to `lines` as a line that ends in LF, and answers how many
/// there were. Together they are no longer than `lines_bytes_max`.
///
/// # Errors
/// Any [`OtlpError`]; then `lines` is as it was.
pub fn read_logs(
    encoding: Encoding,
    body: &[u8],
    lines_bytes_max: usize,
    lines: &mut Vec<u8>,
) -> Result<usize, OtlpError> {
    Lines::write(lines, lines_bytes_max, |lines| match encoding {
        Encoding::Protobuf => binary::read(body, lines),
        Encoding::Json => json::read(body, lines),
    })
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
