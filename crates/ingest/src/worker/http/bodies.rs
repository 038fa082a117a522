//! What the bodies of requests are: OTLP, Elasticsearch's bulk form, Loki's push form, or lines.
//! Each becomes lines, and each has an answer that its clients expect.

use cinch_wire::bulk::{elastic, loki};
use cinch_wire::otlp::{self, Encoding};

use super::{BAD_REQUEST, HttpError, refused, response};
use crate::limits::HTTP_BODY_BYTES_MAX;

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

/// Writes the records of a body to `lines`, each as a line.
pub(super) fn read(
    route: Route,
    path: &str,
    is_json: bool,
    body: &[u8],
    lines: &mut Vec<u8>,
) -> Result<Records, HttpError> {
    lines.clear();
    let mut answer = Vec::new();
    match route {
        Route::Otlp => {
            let (encoding, kind) = match is_json {
                true => (Encoding::Json, "application/json"),
                false => (Encoding::Protobuf, "application/x-protobuf"),
            };
            let count = otlp::read_logs(encoding, body, HTTP_BODY_BYTES_MAX, lines)
                .map_err(|error| refused(BAD_REQUEST, error))?;
            otlp::write_response(encoding, 0, "", &mut answer);
            Ok(Records { count, answer: response("200 OK", kind, &answer, false) })
        }
        Route::Loki => {
            let count = match is_json {
                true => loki::read_json(body, HTTP_BODY_BYTES_MAX, lines),
                false => loki::read_protobuf(body, HTTP_BODY_BYTES_MAX, lines),
            };
            let count = count.map_err(|error| refused(BAD_REQUEST, error))?;
            let answer = b"HTTP/1.1 204 No Content\r\n\r\n".to_vec();
            Ok(Records { count, answer })
        }
        Route::Bulk => {
            let mut items = Vec::new();
            elastic::read_bulk(body, &mut items).map_err(|error| refused(BAD_REQUEST, error))?;
            let outcomes: Vec<_> = items.iter().map(elastic::Outcome::of).collect();
            let mut count = 0;
            for (item, outcome) in items.iter().zip(&outcomes) {
                if *outcome == elastic::Outcome::Created {
                    lines.extend_from_slice(item.document);
                    lines.push(b'\n');
                    count += 1;
                }
            }
            let index = path.trim_end_matches("_bulk").trim_matches('/');
            elastic::write_response(0, &items, &outcomes, index, &mut answer);
            let answer = response("200 OK", "application/json", &answer, false);
            Ok(Records { count, answer })
        }
        Route::Lines => {
            lines.extend_from_slice(body);
            if !body.is_empty() && !body.ends_with(b"\n") {
                lines.push(b'\n');
            }
            let count = memchr::memchr_iter(b'\n', lines).count();
            Ok(Records { count, answer: response("200 OK", "text/plain", b"", false) })
        }
    }
}
