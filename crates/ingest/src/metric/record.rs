//! What a rule can ask of a record, whether that came from a CAL client or as a line. Nothing is
//! copied but what JSON has to unescape.

use std::borrow::Cow;

use cinch_wire::cal::Record;
use regex::bytes::Captures;

use super::Part;

/// A record and where it is from.
pub struct Source<'a> {
    /// The pool.
    pub pool: &'a str,
    /// The host that the client named.
    pub host: &'a str,
    /// The text of the record.
    pub text: &'a [u8],
    /// Its fields, if it is a CAL record.
    pub cal: Option<Record<'a>>,
}

impl<'a> Source<'a> {
    /// What this part is in the record; `None` where it has no such part.
    pub(super) fn part(
        &self,
        part: &Part,
        captures: Option<&Captures<'a>>,
    ) -> Option<Cow<'a, [u8]>> {
        let found: &'a [u8] = match part {
            Part::Pool => self.pool.as_bytes(),
            Part::Host => self.host.as_bytes(),
            Part::Type => self.cal?.type_name(),
            Part::Name => self.cal?.name(),
            Part::Status => self.fields().nth(2)?,
            Part::Duration => self.fields().nth(3)?,
            Part::Data(name) => self.cal?.value(name.as_bytes())?,
            Part::Capture(number) => captures?.get(*number)?.as_bytes(),
            Part::Json(name) => return self.json(name),
        };
        Some(Cow::Borrowed(found))
    }

    /// The fields of a CAL record after its time.
    fn fields(&self) -> impl Iterator<Item = &'a [u8]> {
        let text = self.cal.map_or(&[][..], |record| record.text());
        text.split(|&byte| byte == b'\t').skip(1)
    }

    fn json(&self, name: &str) -> Option<Cow<'a, [u8]>> {
        let value: serde_json::Value = serde_json::from_slice(self.text).ok()?;
        match value.get(name)? {
            serde_json::Value::String(text) => Some(Cow::Owned(text.clone().into_bytes())),
            other => Some(Cow::Owned(other.to_string().into_bytes())),
        }
    }
}

/// A number as logs write it.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}
