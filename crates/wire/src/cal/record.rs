//! One CAL record: class, time and TAB-separated fields, each found when it is asked for. Most
//! records are only stored, so nothing here runs unless a rule wants it.

/// What a record is about: its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// `t`: a transaction starts. No status, duration or data.
    Start,
    /// `T`: a transaction ends.
    End,
    /// `A`: an atomic transaction, start and end in one.
    Atomic,
    /// `E`: an event.
    Event,
    /// `H`: a heartbeat.
    Heartbeat,
}

impl Class {
    /// The class of this letter.
    pub fn of(letter: u8) -> Option<Class> {
        Some(match letter {
            b't' => Class::Start,
            b'T' => Class::End,
            b'A' => Class::Atomic,
            b'E' => Class::Event,
            b'H' => Class::Heartbeat,
            _ => return None,
        })
    }

    /// The letter on the wire.
    pub fn letter(self) -> u8 {
        match self {
            Class::Start => b't',
            Class::End => b'T',
            Class::Atomic => b'A',
            Class::Event => b'E',
            Class::Heartbeat => b'H',
        }
    }

    /// The index of the field that is data, the last one, or `None` if there is none.
    fn data_index(self) -> Option<usize> {
        match self {
            Class::Start => None,
            Class::End | Class::Atomic => Some(4),
            Class::Event | Class::Heartbeat => Some(3),
        }
    }
}

/// Why a body is no record. It is stored as it is all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// There is nothing but line ends.
    #[error("the record is empty")]
    Empty,
    /// The first byte is no class.
    #[error("the record is of the unknown class 0x{0:02x}")]
    Class(u8),
    /// There is no TAB after class and time.
    #[error("the record has no TAB behind its 11-byte time")]
    Time,
}

/// A local time without a date or zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 60, for a leap second.
    pub second: u8,
    /// 0 to 99.
    pub centisecond: u8,
}

impl Time {
    fn parse(text: &[u8]) -> Option<Time> {
        let &[h, i, b':', m, n, b':', s, t, b'.', c, d] = text else { return None };
        let pair = |tens: u8, ones: u8, max: u8| {
            if !tens.is_ascii_digit() || !ones.is_ascii_digit() {
                return None;
            }
            let number = (tens - b'0') * 10 + (ones - b'0');
            (number <= max).then_some(number)
        };
        Some(Time {
            hour: pair(h, i, 23)?,
            minute: pair(m, n, 59)?,
            second: pair(s, t, 60)?,
            centisecond: pair(c, d, 99)?,
        })
    }
}

/// How a transaction, event or heartbeat went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status<'a> {
    /// `0`.
    Success,
    /// Anything else, in its four parts `severity.module.system_error.code`. Parts that are not
    /// there are empty; further dots belong to the code.
    Failure {
        /// The first part.
        severity: &'a [u8],
        /// The second part.
        module: &'a [u8],
        /// The third part.
        system_error: &'a [u8],
        /// The rest.
        code: &'a [u8],
    },
}

/// The bytes in front of the first field: class, time and TAB.
const HEAD_BYTES: usize = 13;

/// One record of known class. Fields are found by each call anew: keep what you need twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    class: Class,
    /// From the class to before the line end.
    text: &'a [u8],
}

impl<'a> Record<'a> {
    /// Looks at class and head of a message's body, with or without its line ends.
    ///
    /// # Errors
    /// Any [`RecordError`]; such a body is stored like any other, but has no fields.
    pub fn parse(body: &'a [u8]) -> Result<Record<'a>, RecordError> {
        // A start at level 0 has an empty line before it.
        let text = body.strip_prefix(b"\r\n").unwrap_or(body);
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let letter = *text.first().ok_or(RecordError::Empty)?;
        let class = Class::of(letter).ok_or(RecordError::Class(letter))?;
        match text.get(HEAD_BYTES - 1) {
            Some(b'\t') => Ok(Record { class, text }),
            _ => Err(RecordError::Time),
        }
    }

    /// What the record is about.
    pub fn class(self) -> Class {
        self.class
    }

    /// The whole record without the line ends around it.
    pub fn text(self) -> &'a [u8] {
        self.text
    }

    /// The local time, or `None` if it is written differently.
    pub fn time(self) -> Option<Time> {
        Time::parse(&self.text[1..HEAD_BYTES - 1])
    }

    /// The first field, such as `URL`, `EXEC` or `VID`.
    pub fn type_name(self) -> &'a [u8] {
        self.field(0).unwrap_or_default()
    }

    /// The second field; empty if it is not there.
    pub fn name(self) -> &'a [u8] {
        self.field(1).unwrap_or_default()
    }

    /// How it went. `None` for the start of a transaction.
    pub fn status(self) -> Option<Status<'a>> {
        self.class.data_index()?;
        let text = self.field(2)?;
        if text == b"0" {
            return Some(Status::Success);
        }
        let mut parts = text.splitn(4, |&byte| byte == b'.');
        let mut part = || parts.next().unwrap_or_default();
        let (severity, module, system_error, code) = (part(), part(), part(), part());
        Some(Status::Failure { severity, module, system_error, code })
    }

    /// How long a transaction took, in milliseconds. `None` for other classes, and where it is no
    /// plain decimal number.
    pub fn duration_ms(self) -> Option<f64> {
        if !matches!(self.class, Class::End | Class::Atomic) {
            return None;
        }
        let text = self.field(3)?;
        // The parser of the standard library also takes `inf` and exponents.
        let is_plain = text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
        str::from_utf8(text).ok().filter(|_| is_plain)?.parse().ok()
    }

    /// The rest of the record as the client gave it; it may hold TABs. `None` for the start of a
    /// transaction and where fields are missing.
    pub fn data(self) -> Option<&'a [u8]> {
        self.field(self.class.data_index()?)
    }

    /// The value of the first pair of this name in the data.
    pub fn value(self, name: &[u8]) -> Option<&'a [u8]> {
        self.pairs().find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// The `name=value` pairs of the data.
    pub fn pairs(self) -> Pairs<'a> {
        Pairs { rest: self.data() }
    }

    /// The field of this index; the last one that the class has goes on to the end.
    fn field(self, index: usize) -> Option<&'a [u8]> {
        let mut rest = &self.text[HEAD_BYTES..];
        for _ in 0..index {
            let tab = memchr::memchr(b'\t', rest)?;
            rest = &rest[tab + 1..];
        }
        if self.class.data_index() == Some(index) {
            return Some(rest);
        }
        let end = memchr::memchr(b'\t', rest).unwrap_or(rest.len());
        Some(&rest[..end])
    }
}

/// The `name=value` pairs of data, in order. A piece without `=` has an empty value. Data is not
/// escaped by the client: an `&` inside a value ends it here.
#[derive(Debug, Clone)]
pub struct Pairs<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let rest = self.rest.filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'&', rest);
        self.rest = end.map(|end| &rest[end + 1..]);
        let pair = &rest[..end.unwrap_or(rest.len())];
        let equals = memchr::memchr(b'=', pair).unwrap_or(pair.len());
        Some((&pair[..equals], pair.get(equals + 1..).unwrap_or_default()))
    }
}
