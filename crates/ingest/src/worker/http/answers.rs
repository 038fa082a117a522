//! Answers, in the words that each kind of client reads: an OTLP exporter looks for a status in its
//! own encoding, a client of Elasticsearch for an `error`, everybody for the code.

use std::io::Write;

use super::bodies::Route;
use super::head::Kind;

/// gRPC's number for an argument that is wrong, which OTLP's statuses have over HTTP too.
const INVALID_ARGUMENT: u8 = 3;

/// A request that is not taken, and why.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The code and its phrase.
    pub(super) status: &'static str,
    /// A line for a person.
    pub(super) reason: String,
}

impl Refusal {
    fn new(status: &'static str, reason: impl ToString) -> Refusal {
        Refusal { status, reason: reason.to_string() }
    }

    /// It is malformed.
    pub(super) fn bad(reason: impl ToString) -> Refusal {
        Refusal::new("400 Bad Request", reason)
    }

    /// Its body is too long.
    pub(super) fn too_large(reason: impl ToString) -> Refusal {
        Refusal::new("413 Content Too Large", reason)
    }

    /// Its head is too long.
    pub(super) fn head(reason: impl ToString) -> Refusal {
        Refusal::new("431 Request Header Fields Too Large", reason)
    }

    /// Its body is of another kind than its path takes.
    pub(super) fn kind() -> Refusal {
        let reason = "application/json and application/x-protobuf are read here";
        Refusal::new("415 Unsupported Media Type", reason)
    }

    /// Its body is compressed with something else.
    pub(super) fn coding() -> Refusal {
        Refusal::new("415 Unsupported Media Type", "gzip and zstd are read")
    }

    /// It is no POST.
    pub(super) fn method() -> Refusal {
        Refusal::new("405 Method Not Allowed", "send it with POST")
    }

    /// Its body is cut in a way that is not read.
    pub(super) fn transfer() -> Refusal {
        Refusal::new("501 Not Implemented", "chunked is the only transfer coding")
    }

    /// What the client is told.
    pub(super) fn answer(&self, route: Option<Route>, kind: Kind, closes: bool) -> Vec<u8> {
        let reason = &self.reason;
        let code = self.status.split(' ').next().and_then(|code| code.parse::<u16>().ok());
        let (media, body) = match (route, kind) {
            (Some(Route::Otlp), Kind::Json) => {
                let body = serde_json::json!({ "code": INVALID_ARGUMENT, "message": reason });
                ("application/json", body.to_string().into_bytes())
            }
            (Some(Route::Otlp), _) => ("application/x-protobuf", status_message(reason)),
            (Some(Route::Bulk), _) => {
                let error = serde_json::json!({
                    "error": { "type": "illegal_argument_exception", "reason": reason },
                    "status": code,
                });
                ("application/json", error.to_string().into_bytes())
            }
            _ => ("text/plain", format!("{reason}\n").into_bytes()),
        };
        answer(self.status, media, &body, closes)
    }
}

/// An answer with a body.
pub(super) fn answer(status: &str, media: &str, body: &[u8], closes: bool) -> Vec<u8> {
    let (length, close) = (body.len(), if closes { "Connection: close\r\n" } else { "" });
    // Clients of Elasticsearch talk to nobody who does not have the product's name.
    let product = "X-Elastic-Product: Elasticsearch\r\n";
    let allow = if status.starts_with("405") { "Allow: POST\r\n" } else { "" };
    let mut out = Vec::with_capacity(length + 160);
    // Writing to a vector does not fail.
    let _written = write!(
        out,
        "HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {length}\r\n\
         {product}{allow}{close}\r\n"
    );
    out.extend_from_slice(body);
    out
}

/// A `google.rpc.Status` in protobuf: its code is field 1, its message field 2.
fn status_message(reason: &str) -> Vec<u8> {
    // Its length takes one byte then.
    let reason = &reason[..reason.floor_char_boundary(127)];
    let mut out = vec![0x08, INVALID_ARGUMENT, 0x12, reason.len() as u8];
    out.extend_from_slice(reason.as_bytes());
    out
}
