//! The label: the first message of a CAL connection, which says whose records follow. It is read
//! once a connection, so its texts are owned.

use crate::limits::CAL_NAME_BYTES_MAX;

/// Who sends: the label's lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The pool, 1 to 127 bytes of visible ASCII. It may hold `/` and `..`: whoever names a file
    /// after it looks first.
    pub pool: String,
    /// The host, 0 to 127 bytes of visible ASCII.
    pub host: String,
    /// What `Environment:` says, empty if it is not there.
    pub environment: String,
    /// What `Label:` says, usually pool, version and build; empty if it is not there.
    pub version: String,
    /// What `Start:` says, a local time `YYYY-MM-DD HH:MM:SS` without a zone; empty if it is not
    /// there.
    pub start: String,
}

/// Why a first message is no label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// It does not begin with `SQLLog for`.
    #[error("it does not begin with \"SQLLog for\"")]
    Start,
    /// There is no pool, or no colon behind it.
    #[error("it names no pool")]
    NoPool,
    /// Pool or host are longer than 127 bytes, or hold bytes that no name has.
    #[error("its pool or host is longer than {CAL_NAME_BYTES_MAX} bytes or not visible ASCII")]
    Name,
}

const START: &[u8] = b"SQLLog for ";

impl Label {
    /// Reads the body of a first message. Lines that are unknown are passed over, and bytes that
    /// are no UTF-8 are replaced, but not in the names.
    ///
    /// # Errors
    /// Any [`LabelError`]: the connection can't be attributed to a pool.
    pub fn parse(body: &[u8]) -> Result<Label, LabelError> {
        let rest = body.strip_prefix(START).ok_or(LabelError::Start)?;
        let mut lines = rest.split(|&byte| byte == b'\n').map(|line| line.trim_ascii_end());
        let first = lines.next().unwrap_or_default();
        // The first colon: a host may be an IPv6 address, a pool has none.
        let colon = memchr::memchr(b':', first).ok_or(LabelError::NoPool)?;
        if colon == 0 {
            return Err(LabelError::NoPool);
        }
        let mut label = Label {
            pool: name(&first[..colon])?,
            host: name(&first[colon + 1..])?,
            environment: String::new(),
            version: String::new(),
            start: String::new(),
        };
        for line in lines {
            let Some(colon) = memchr::memchr(b':', line) else { continue };
            let value = String::from_utf8_lossy(line[colon + 1..].trim_ascii());
            match &line[..colon] {
                b"Environment" => label.environment = value.into_owned(),
                b"Label" => label.version = value.into_owned(),
                b"Start" => label.start = value.into_owned(),
                _ => {}
            }
        }
        Ok(label)
    }

    /// Appends the body of the message that says this, for clients and load generators.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(START);
        for part in [&self.pool, ":", &self.host, "\r\nEnvironment: ", &self.environment] {
            out.extend_from_slice(part.as_bytes());
        }
        for part in ["\r\nLabel: ", &self.version, "\r\nStart: ", &self.start, "\r\n\r\n"] {
            out.extend_from_slice(part.as_bytes());
        }
    }
}

fn name(bytes: &[u8]) -> Result<String, LabelError> {
    let is_name = bytes.len() <= CAL_NAME_BYTES_MAX && bytes.iter().all(u8::is_ascii_graphic);
    match str::from_utf8(bytes) {
        Ok(text) if is_name => Ok(text.to_owned()),
        _ => Err(LabelError::Name),
    }
}
