//! Heads of requests, as far as they matter here. What says in two ways how long a body is, or in
//! none that we know, is refused: a proxy in front might read it as another request than we do.

use cinch_wire::stream::StreamCodec;

use super::answers::Refusal;
use crate::limits::{HTTP_BODY_BYTES_MAX, HTTP_HEAD_BYTES_MAX, HTTP_HEADERS_MAX};

/// How long a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// So many bytes.
    Bytes(usize),
    /// It says so itself.
    Chunked,
}

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    /// Not at all.
    Plain,
    /// As a whole.
    Packed(StreamCodec),
    /// As Loki's protobuf always is, whether its sender says so or not.
    Snappy,
    /// With something that is not read.
    Unknown,
}

/// What a body is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing is said.
    None,
    Json,
    Protobuf,
    /// JSON, a document a line.
    Ndjson,
    Other,
}

/// The head of a request.
pub(super) struct Head {
    /// Its own length.
    pub(super) bytes: usize,
    pub(super) is_post: bool,
    /// Without what is behind a question mark.
    pub(super) path: String,
    pub(super) length: Length,
    pub(super) coding: Coding,
    pub(super) kind: Kind,
    /// The client sends the body when it is told to go on.
    pub(super) waits_for_promise: bool,
    /// No request follows.
    pub(super) closes: bool,
}

/// Reads the head of a request; `None` while it is not whole.
pub(super) fn read(bytes: &[u8]) -> Result<Option<Head>, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; HTTP_HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let start = &bytes[..bytes.len().min(HTTP_HEAD_BYTES_MAX)];
    let parsed = request.parse(start).map_err(|error| match error {
        httparse::Error::TooManyHeaders => Refusal::head(error),
        _ => Refusal::bad(error),
    })?;
    let httparse::Status::Complete(length) = parsed else {
        if bytes.len() >= HTTP_HEAD_BYTES_MAX {
            let limit = format!("the head of a request has at most {HTTP_HEAD_BYTES_MAX} bytes");
            return Err(Refusal::head(limit));
        }
        return Ok(None);
    };
    let mut head = Head {
        bytes: length,
        // Clients of Elasticsearch use either.
        is_post: matches!(request.method, Some("POST" | "PUT")),
        path: request.path.unwrap_or_default().split('?').next().unwrap_or_default().to_owned(),
        length: Length::Bytes(0),
        coding: Coding::Plain,
        kind: Kind::None,
        waits_for_promise: false,
        closes: request.version == Some(0),
    };
    let (mut length, mut is_chunked) = (None, false);
    for header in request.headers.iter() {
        let value = std::str::from_utf8(header.value).unwrap_or_default().trim();
        match &header.name.to_ascii_lowercase()[..] {
            "content-length" => {
                let bytes = content_length(value)?;
                if length.replace(bytes).is_some_and(|before| before != bytes) {
                    return Err(Refusal::bad("two lengths of one body"));
                }
            }
            "transfer-encoding" => {
                if is_chunked || !value.eq_ignore_ascii_case("chunked") {
                    return Err(Refusal::transfer());
                }
                is_chunked = true;
            }
            "content-encoding" => head.coding = coding(value),
            "content-type" => head.kind = kind(value),
            "expect" => head.waits_for_promise = value.eq_ignore_ascii_case("100-continue"),
            "connection" => {
                let mut options = value.split(',').map(str::trim);
                head.closes |= options.any(|option| option.eq_ignore_ascii_case("close"));
            }
            _ => {}
        }
    }
    head.length = match (length, is_chunked) {
        (Some(_), true) => return Err(Refusal::bad("a length and chunks for one body")),
        (None, true) => Length::Chunked,
        (length, false) => Length::Bytes(length.unwrap_or(0)),
    };
    Ok(Some(head))
}

fn content_length(value: &str) -> Result<usize, Refusal> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(Refusal::bad("Content-Length is no number"));
    }
    match value.parse() {
        Ok(bytes) if bytes <= HTTP_BODY_BYTES_MAX => Ok(bytes),
        _ => Err(Refusal::too_large(format!("a body has at most {HTTP_BODY_BYTES_MAX} bytes"))),
    }
}

fn coding(value: &str) -> Coding {
    match &value.to_ascii_lowercase()[..] {
        "gzip" | "x-gzip" => Coding::Packed(StreamCodec::Gzip),
        "zstd" => Coding::Packed(StreamCodec::Zstd),
        "snappy" => Coding::Snappy,
        "identity" | "" => Coding::Plain,
        _ => Coding::Unknown,
    }
}

fn kind(value: &str) -> Kind {
    let media = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match &media[..] {
        "application/json" | "application/vnd.elasticsearch+json" => Kind::Json,
        "application/x-protobuf" | "application/protobuf" => Kind::Protobuf,
        "application/x-ndjson" | "application/vnd.elasticsearch+x-ndjson" => Kind::Ndjson,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(head: &str) -> &'static str {
        match read(head.as_bytes()) {
            Err(refusal) => refusal.status,
            Ok(head) => panic!("taken: {}", head.map_or(0, |head| head.bytes)),
        }
    }

    #[test]
    fn a_body_has_one_length_that_is_a_number() {
        let head = |lines: &str| format!("POST /lines HTTP/1.1\r\n{lines}\r\n");
        for lines in [
            "Content-Length: +5\r\n",
            "Content-Length: -1\r\n",
            "Content-Length: 5, 5\r\n",
            "Content-Length:\r\n",
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        ] {
            assert!(status(&head(lines)).starts_with("400"), "{lines}");
        }
        assert!(status(&head("Transfer-Encoding: gzip, chunked\r\n")).starts_with("501"));
        assert!(status(&head("Content-Length: 99999999999999999999999\r\n")).starts_with("413"));
        let same = head("Content-Length: 5\r\nContent-Length: 5\r\n");
        assert!(read(same.as_bytes()).unwrap().unwrap().length == Length::Bytes(5));
    }

    #[test]
    fn a_head_that_never_ends_is_refused() {
        let long = format!("POST /{} HTTP/1.1\r\n", "x".repeat(HTTP_HEAD_BYTES_MAX));
        assert!(status(&long).starts_with("431"));
        let many = format!("POST / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(HTTP_HEADERS_MAX + 1));
        assert!(status(&many).starts_with("431"));
    }
}
