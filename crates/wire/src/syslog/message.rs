//! One syslog message. Reading it never fails: the RFCs ask a receiver to take what has no header,
//! or half of one, as a message without it, and senders make use of that.

use super::structured::Elements;
use super::timestamp::Timestamp;

/// Where a message comes from, 0 to 23, as numbered by the RFCs: 0 kernel, 1 user, 16 local0.
pub type Facility = u8;

/// How severe it is, 0 to 7: 0 emergency, 3 error, 4 warning, 6 informational, 7 debug.
pub type Severity = u8;

/// The number in angle brackets in front of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Priority {
    /// The upper part.
    pub facility: Facility,
    /// The lower three bits.
    pub severity: Severity,
}

/// Which header a message has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// That of RFC 5424.
    Rfc5424,
    /// That of RFC 3164, in whole or in part, or none: everything that is not the other.
    Rfc3164,
}

/// A message and the fields that its header has. What is not there, or is `-`, is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Facility and severity.
    pub priority: Option<Priority>,
    /// Which header it has.
    pub format: Format,
    /// When it was sent.
    pub timestamp: Option<Timestamp>,
    /// Which host sent it.
    pub hostname: Option<&'a [u8]>,
    /// Which program: the tag of RFC 3164.
    pub app_name: Option<&'a [u8]>,
    /// Its process id, or what stands there.
    pub process_id: Option<&'a [u8]>,
    /// The kind of message; RFC 5424 only.
    pub message_id: Option<&'a [u8]>,
    /// The structured data as it was sent; RFC 5424 only.
    pub structured_data: Option<&'a [u8]>,
    /// The text. A byte order mark in front of it is taken away.
    pub text: &'a [u8],
}

/// The highest number of a priority: facility 23, severity 7.
const PRIORITY_MAX: u16 = 191;

/// Says that the text is UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl<'a> Message<'a> {
    /// Reads a frame or datagram. A line end and zero bytes behind it are taken away.
    pub fn parse(frame: &'a [u8]) -> Message<'a> {
        let end = frame.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r' | 0));
        let frame = &frame[..end.map_or(0, |end| end + 1)];
        let Some((priority, rest)) = priority(frame) else {
            return rfc3164(None, frame);
        };
        rfc5424(priority, rest).unwrap_or_else(|| rfc3164(Some(priority), rest))
    }

    /// The elements of the structured data, in order.
    pub fn elements(&self) -> Elements<'a> {
        Elements::new(self.structured_data.unwrap_or_default())
    }
}

/// `<N>` with one to three digits.
fn priority(text: &[u8]) -> Option<(Priority, &[u8])> {
    let rest = text.strip_prefix(b"<")?;
    let digits = rest.iter().take(4).position(|byte| *byte == b'>').filter(|digits| *digits > 0)?;
    let number = str::from_utf8(&rest[..digits]).ok()?;
    // The parser of the standard library takes a sign.
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
    let number: u16 = number.parse().ok().filter(|number| is_plain && *number <= PRIORITY_MAX)?;
    let priority = Priority { facility: (number >> 3) as u8, severity: (number & 7) as u8 };
    Some((priority, &rest[digits + 1..]))
}

fn rfc5424(priority: Priority, text: &[u8]) -> Option<Message<'_>> {
    let rest = text.strip_prefix(b"1 ")?;
    let (timestamp, rest) = match rest.strip_prefix(b"-") {
        Some(rest) => (None, rest),
        None => Timestamp::rfc3339(rest).map(|(timestamp, rest)| (Some(timestamp), rest))?,
    };
    let (hostname, rest) = field(rest)?;
    let (app_name, rest) = field(rest)?;
    let (process_id, rest) = field(rest)?;
    let (message_id, rest) = field(rest)?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    // Data that breaks the grammar is part of the text: better there than lost.
    let (structured_data, text) = match Elements::split(rest) {
        Some((data, behind)) if behind.is_empty() || behind[0] == b' ' => {
            ((!data.is_empty()).then_some(data), behind.strip_prefix(b" ").unwrap_or(behind))
        }
        _ => (None, rest),
    };
    Some(Message {
        priority: Some(priority),
        format: Format::Rfc5424,
        timestamp,
        hostname,
        app_name,
        process_id,
        message_id,
        structured_data,
        text: text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text),
    })
}

/// A space and a field of the header, which ends before the next space or with the text.
fn field(text: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let rest = text.strip_prefix(b" ")?;
    let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
    let (field, rest) = rest.split_at(end);
    match field {
        b"" => None,
        b"-" => Some((None, rest)),
        field => Some((Some(field), rest)),
    }
}

fn rfc3164(priority: Option<Priority>, text: &[u8]) -> Message<'_> {
    let (timestamp, hostname, rest) = time_and_host(text);
    let (app_name, process_id, text) = tag(rest).unwrap_or((None, None, rest));
    Message {
        priority,
        format: Format::Rfc3164,
        timestamp,
        hostname,
        app_name,
        process_id,
        message_id: None,
        structured_data: None,
        text: text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text),
    }
}

/// Time and host, if they are there. A host only follows a time, and on a local socket there is
/// none: what would be it is then the tag.
fn time_and_host(text: &[u8]) -> (Option<Timestamp>, Option<&[u8]>, &[u8]) {
    // Routers put a mark in front of a clock that is not synchronised.
    let unmarked = text.strip_prefix(b"*").or_else(|| text.strip_prefix(b".")).unwrap_or(text);
    let found = Timestamp::rfc3164(unmarked).or_else(|| Timestamp::rfc3339(unmarked));
    let Some((timestamp, rest)) = found else { return (None, None, text) };
    let rest = rest.strip_prefix(b":").unwrap_or(rest);
    let Some(rest) = rest.strip_prefix(b" ") else {
        // Nothing follows, or the time is only the start of some other word.
        return if rest.is_empty() { (Some(timestamp), None, rest) } else { (None, None, text) };
    };
    let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
    let is_host = end > 0 && end < rest.len() && tag(rest).is_none();
    if is_host {
        (Some(timestamp), Some(&rest[..end]), &rest[end + 1..])
    } else {
        (Some(timestamp), None, rest)
    }
}

/// Program, process and what follows.
type Tag<'a> = (Option<&'a [u8]>, Option<&'a [u8]>, &'a [u8]);

/// A tag: a word that ends in `:`, or in `[process]` with or without a colon; and what follows.
fn tag(text: &[u8]) -> Option<Tag<'_>> {
    let end = text.iter().position(|byte| matches!(byte, b' ' | b':' | b'[' | b'"' | b'{'))?;
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        return None;
    }
    let (process_id, rest) = match rest.strip_prefix(b"[") {
        None => (None, rest.strip_prefix(b":")?),
        Some(rest) => {
            let close = rest.iter().position(|byte| matches!(byte, b']' | b' '))?;
            let behind = rest[close..].strip_prefix(b"]")?;
            (Some(&rest[..close]), behind.strip_prefix(b":").unwrap_or(behind))
        }
    };
    // A colon inside a word, as in an address or a URL, ends no tag.
    let text = match rest.split_first() {
        None => rest,
        Some((b' ', text)) => text,
        Some(_) => return None,
    };
    Some((Some(name), process_id.filter(|id| !id.is_empty()), text))
}
