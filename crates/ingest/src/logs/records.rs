//! Cuts the text of a run into its records again, by their stored lengths or as they show in the
//! text, and gives a CAL record its header's numbers back.

use crate::format::{ReadRun, RunKind};

/// A record that was read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredRecord<'a> {
    /// Its text: for lines with the line end, for the others as it was on the wire.
    pub text: &'a [u8],
    /// The thread and the connect time in Unix seconds of a CAL message.
    pub lane: Option<(u32, u32)>,
    /// A newline that was not on the wire stands behind it.
    pub has_added_newline: bool,
}

/// The records of a run with this text.
pub fn records<'a>(run: &'a ReadRun, text: &'a [u8]) -> impl Iterator<Item = StoredRecord<'a>> {
    let mut rest = text;
    let mut lengths = run.lengths.iter();
    let mut lanes = run.lanes.iter();
    let mut lane: Option<(u32, u32, usize)> = None;
    std::iter::from_fn(move || {
        let stored = lengths.next().copied();
        // An empty record takes nothing of the text, but its length says that it is there.
        if rest.is_empty() && stored.is_none() {
            return None;
        }
        let (length, added) = match run.kind {
            RunKind::Cal => (stored.unwrap_or_else(|| shown(rest, true)), 0),
            RunKind::LengthPrefixed | RunKind::Syslog => match stored {
                // A record that has a newline at its end got none behind it.
                Some(length) if rest[..length.min(rest.len())].ends_with(b"\n") => (length, 0),
                Some(length) => (length.saturating_add(1), 1),
                None => (shown(rest, false), 1),
            },
            RunKind::Lines => (shown(rest, false), 0),
            RunKind::LinesUnended => {
                let length = shown(rest, false);
                (length, usize::from(length == rest.len()))
            }
        };
        // Damaged lengths must not lead out of the text.
        let (record, after) = rest.split_at(length.min(rest.len()));
        rest = after;
        if lane.is_none_or(|(_, _, left)| left == 0) {
            lane = lanes.next().copied();
        }
        let numbers = lane.map(|(thread, seconds, _)| (thread, seconds));
        if let Some((_, _, left)) = &mut lane {
            *left = left.saturating_sub(1);
        }
        let text = &record[..record.len() - added.min(record.len())];
        Some(StoredRecord { text, lane: numbers, has_added_newline: added > 0 })
    })
}

/// The length of the first line, which may have one empty line before it.
fn shown(text: &[u8], after_empty: bool) -> usize {
    let start = if after_empty && text.starts_with(b"\r\n") { 2 } else { 0 };
    memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end + 1)
}
