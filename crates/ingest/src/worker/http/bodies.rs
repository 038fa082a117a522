//! What the bodies of requests are: OTLP, Elasticsearch's bulk form, Loki's push form, or lines.
//! Each becomes lines, and each has an answer that its clients expect.

use cinch_wire::bulk::{elastic, loki};
use cinch_wire::otlp::{self, Encoding};

use super::answers::{Refusal, answer};
use super::head::Kind;
use crate::limits::{
    BULK_INDEX_BYTES_MAX, BULK_ITEMS_MAX, HTTP_ANSWER_BYTES_MAX, HTTP_BODY_BYTES_MAX,
};

/// What is sent to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// An export of OpenTelemetry.
    Otlp,
    /// Actions and documents of Elasticsearch.
    Bulk,
    /// A push of Loki.
    Loki,
    /// Lines.
    Lines,
}

impl Route {
    pub(super) fn of(path: &str) -> Option<Route> {
        match path {
            "/v1/logs" => Some(Route::Otlp),
            "/loki/api/v1/push" => Some(Route::Loki),
            "/lines" => Some(Route::Lines),
            _ if path.ends_with("/_bulk") => Some(Route::Bulk),
            _ => None,
        }
    }
}

/// What a body holds.
pub(super) struct Records {
    /// How many lines were written.
    pub(super) count: usize,
    /// What is answered when they have come to stay.
    pub(super) answer: Vec<u8>,
}

/// The answer to who only asks whether somebody is there, and what.
pub(super) fn about(path: &str) -> Vec<u8> {
    let json = "application/json";
    match path {
        "/healthz" | "/ready" => answer("200 OK", "text/plain", b"ok\n", false),
        // Clients of Elasticsearch look for a version that has the bulk form which is read here.
        "/" => {
            let body = serde_json::json!({
                "name": "cinch",
                "version": { "number": "8.0.0", "build_flavor": "default" },
                "tagline": "You Know, for Search",
            });
            answer("200 OK", json, body.to_string().as_bytes(), false)
        }
        "/_cluster/health" => answer("200 OK", json, b"{\"status\":\"green\"}", false),
        _ => {
            let help = b"POST to /v1/logs, /_bulk, /loki/api/v1/push or /lines\n";
            answer("404 Not Found", "text/plain", help, false)
        }
    }
}

/// Writes the records of a body to `lines`, each as a line.
pub(super) fn read(
    route: Route,
    path: &str,
    kind: Kind,
    body: &[u8],
    lines: &mut Vec<u8>,
) -> Result<Records, Refusal> {
    lines.clear();
    match route {
        Route::Otlp => otlp(kind, body, lines),
        Route::Loki => {
            let count = match kind {
                Kind::Json => loki::read_json(body, HTTP_BODY_BYTES_MAX, lines),
                Kind::Protobuf | Kind::None => {
                    loki::read_protobuf(body, HTTP_BODY_BYTES_MAX, lines)
                }
                Kind::Ndjson | Kind::Other => return Err(Refusal::kind()),
            };
            let count = count.map_err(Refusal::bad)?;
            let answer = b"HTTP/1.1 204 No Content\r\n\r\n".to_vec();
            Ok(Records { count, answer })
        }
        Route::Bulk => bulk(path, kind, body, lines),
        Route::Lines => {
            lines.extend_from_slice(body);
            if !body.is_empty() && !body.ends_with(b"\n") {
                lines.push(b'\n');
            }
            let count = memchr::memchr_iter(b'\n', lines).count();
            Ok(Records { count, answer: answer("200 OK", "text/plain", b"", false) })
        }
    }
}

fn otlp(kind: Kind, body: &[u8], lines: &mut Vec<u8>) -> Result<Records, Refusal> {
    let (encoding, media) = match kind {
        Kind::Json => (Encoding::Json, "application/json"),
        Kind::Protobuf | Kind::None => (Encoding::Protobuf, "application/x-protobuf"),
        Kind::Ndjson | Kind::Other => return Err(Refusal::kind()),
    };
    let count = otlp::read_logs(encoding, body, HTTP_BODY_BYTES_MAX, lines);
    let count = count.map_err(Refusal::bad)?;
    let mut response = Vec::new();
    otlp::write_response(encoding, 0, "", &mut response);
    Ok(Records { count, answer: answer("200 OK", media, &response, false) })
}

fn bulk(path: &str, kind: Kind, body: &[u8], lines: &mut Vec<u8>) -> Result<Records, Refusal> {
    if kind == Kind::Protobuf {
        return Err(Refusal::kind());
    }
    let index = path.trim_end_matches("_bulk").trim_matches('/');
    if index.len() > BULK_INDEX_BYTES_MAX {
        let limit = format!("an index has at most {BULK_INDEX_BYTES_MAX} bytes");
        return Err(Refusal::bad(limit));
    }
    let mut items = Vec::new();
    elastic::read_bulk(body, &mut items).map_err(Refusal::bad)?;
    if items.len() > BULK_ITEMS_MAX {
        return Err(Refusal::too_large(format!("a request has at most {BULK_ITEMS_MAX} items")));
    }
    let outcomes: Vec<_> = items.iter().map(elastic::Outcome::of).collect();
    let mut count = 0;
    for (item, outcome) in items.iter().zip(&outcomes) {
        if *outcome == elastic::Outcome::Created {
            lines.extend_from_slice(item.document);
            lines.push(b'\n');
            count += 1;
        }
    }
    let mut response = Vec::new();
    elastic::write_response(0, &items, &outcomes, index, &mut response);
    if response.len() > HTTP_ANSWER_BYTES_MAX {
        return Err(Refusal::too_large("the answer to so many items would be too long"));
    }
    Ok(Records { count, answer: answer("200 OK", "application/json", &response, false) })
}
