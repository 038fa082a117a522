//! Commands that read inside a value, computed from the payload as the server computes them from
//! what it stores.

use crate::command::Inside;

/// A question about a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    Length,
    Range { start: i64, end: i64 },
    Bit { offset: u64 },
    BitCount { range: Option<BitRange> },
    BitPosition { bit: bool, range: BitRange, is_end_given: bool },
}

/// Positions in bytes or bits; negative ones count from the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BitRange {
    start: i64,
    end: i64,
    is_in_bits: bool,
}

/// What the client is answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    Integer(i64),
    Bytes(&'a [u8]),
}

/// The highest bit that a string may have: that of 512 MiB.
const BITS_MAX: u64 = 1 << 32;

const NO_INTEGER: &str = "ERR value is not an integer or out of range";
const SYNTAX: &str = "ERR syntax error";

impl Question {
    /// The question that a command asks, or the server's words for what is wrong with it.
    pub(super) fn of(inside: Inside, arguments: &[&[u8]]) -> Result<Question, String> {
        let arity = |allowed: &[usize]| {
            allowed.contains(&arguments.len()).then_some(()).ok_or_else(|| {
                let name = String::from_utf8_lossy(arguments[0]).to_lowercase();
                format!("ERR wrong number of arguments for '{name}' command")
            })
        };
        match inside {
            Inside::Length => arity(&[2]).map(|()| Question::Length),
            Inside::FieldLength => arity(&[3]).map(|()| Question::Length),
            Inside::Range => {
                arity(&[4])?;
                Ok(Question::Range { start: integer(arguments[2])?, end: integer(arguments[3])? })
            }
            Inside::Bit => {
                arity(&[3])?;
                let offset = integer(arguments[2]).ok().and_then(|at| u64::try_from(at).ok());
                let offset = offset.filter(|offset| *offset < BITS_MAX);
                let wrong = "ERR bit offset is not an integer or out of range";
                Ok(Question::Bit { offset: offset.ok_or(wrong)? })
            }
            Inside::BitCount => match arguments.len() {
                2 => Ok(Question::BitCount { range: None }),
                4 | 5 => Ok(Question::BitCount { range: Some(range(&arguments[2..])?) }),
                0 | 1 => arity(&[2]).map(|()| Question::BitCount { range: None }),
                _ => Err(SYNTAX.to_owned()),
            },
            Inside::BitPosition => {
                if arguments.len() < 3 {
                    arity(&[3])?;
                }
                let bit = match arguments[2] {
                    b"0" => false,
                    b"1" => true,
                    other => {
                        integer(other)?;
                        return Err("ERR The bit argument must be 1 or 0.".to_owned());
                    }
                };
                if arguments.len() > 6 {
                    return Err(SYNTAX.to_owned());
                }
                let range = range(&arguments[3..])?;
                Ok(Question::BitPosition { bit, range, is_end_given: arguments.len() > 4 })
            }
        }
    }

    /// What a key that does not exist is answered with.
    pub(super) fn of_nothing(self) -> Answer<'static> {
        match self {
            Question::Range { .. } => Answer::Bytes(b""),
            Question::BitPosition { bit, .. } => Answer::Integer(if bit { -1 } else { 0 }),
            _ => Answer::Integer(0),
        }
    }

    /// What this payload is answered with.
    pub(super) fn ask(self, payload: &[u8]) -> Answer<'_> {
        match self {
            Question::Length => Answer::Integer(payload.len() as i64),
            Question::Range { start, end } => match clamp(start, end, payload.len() as i64) {
                Some((start, end)) => Answer::Bytes(&payload[start as usize..=end as usize]),
                None => Answer::Bytes(b""),
            },
            Question::Bit { offset } => Answer::Integer(i64::from(bit_at(payload, offset))),
            Question::BitCount { range: None } => Answer::Integer(ones(payload)),
            Question::BitCount { range: Some(range) } => Answer::Integer(count(payload, range)),
            Question::BitPosition { bit, range, is_end_given } => {
                Answer::Integer(position(payload, bit, range, is_end_given))
            }
        }
    }
}

/// A number as the server takes it: no sign but a minus, no leading zero.
fn integer(text: &[u8]) -> Result<i64, String> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
    number.filter(|number| number.to_string().as_bytes() == text).ok_or(NO_INTEGER.to_owned())
}

fn range(arguments: &[&[u8]]) -> Result<BitRange, String> {
    let at = |index: usize, default| arguments.get(index).map_or(Ok(default), |text| integer(text));
    let is_in_bits = match arguments.get(2) {
        None => false,
        Some(unit) if unit.eq_ignore_ascii_case(b"BYTE") => false,
        Some(unit) if unit.eq_ignore_ascii_case(b"BIT") => true,
        Some(_) => return Err(SYNTAX.to_owned()),
    };
    Ok(BitRange { start: at(0, 0)?, end: at(1, -1)?, is_in_bits })
}

/// First and last position, both inside a length; `None` if there is nothing between them.
fn clamp(start: i64, end: i64, length: i64) -> Option<(i64, i64)> {
    if start < 0 && end < 0 && start > end {
        return None;
    }
    let from_end = |at: i64| if at < 0 { at.saturating_add(length).max(0) } else { at };
    let (start, end) = (from_end(start), from_end(end).min(length - 1));
    (start <= end).then_some((start, end))
}

fn bit_at(payload: &[u8], offset: u64) -> bool {
    let byte = payload.get((offset >> 3) as usize).copied().unwrap_or(0);
    byte >> (7 - (offset & 7)) & 1 == 1
}

fn ones(payload: &[u8]) -> i64 {
    payload.iter().map(|byte| i64::from(byte.count_ones())).sum()
}

/// First and last bit of a range.
fn bits(payload: &[u8], range: BitRange) -> Option<(i64, i64)> {
    let length = payload.len() as i64;
    if range.is_in_bits {
        return clamp(range.start, range.end, length * 8);
    }
    let (start, end) = clamp(range.start, range.end, length)?;
    Some((start * 8, end * 8 + 7))
}

/// The bits of a byte that are between two positions of the payload.
fn mask(byte: i64, start: i64, end: i64) -> u8 {
    let from = (start - byte * 8).clamp(0, 8) as u32;
    let to = (end + 1 - byte * 8).clamp(0, 8) as u32;
    let low = 0xFFu16 >> from;
    let high = !(0xFFu16 >> to);
    (low & high) as u8
}

fn count(payload: &[u8], range: BitRange) -> i64 {
    let Some((start, end)) = bits(payload, range) else { return 0 };
    let bytes = start / 8..=end / 8;
    bytes.map(|at| i64::from((payload[at as usize] & mask(at, start, end)).count_ones())).sum()
}

fn position(payload: &[u8], bit: bool, range: BitRange, is_end_given: bool) -> i64 {
    let Some((start, end)) = bits(payload, range) else { return -1 };
    for at in start / 8..=end / 8 {
        let byte = payload[at as usize];
        let wanted = if bit { byte } else { !byte } & mask(at, start, end);
        if wanted != 0 {
            return at * 8 + i64::from(wanted.leading_zeros());
        }
    }
    // Behind the value there are zeros for ever, unless somebody said where to stop.
    if bit || is_end_given { -1 } else { payload.len() as i64 * 8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(inside: Inside, command: &str, payload: &[u8]) -> Result<i64, String> {
        let words: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
        match Question::of(inside, &words)?.ask(payload) {
            Answer::Integer(number) => Ok(number),
            Answer::Bytes(bytes) => Err(String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    /// The examples of the server's own documentation.
    #[test]
    fn the_examples_of_the_manual_hold() {
        let range = |command: &str| ask(Inside::Range, command, b"This is a string").unwrap_err();
        assert_eq!(range("GETRANGE k 0 3"), "This");
        assert_eq!(range("GETRANGE k -3 -1"), "ing");
        assert_eq!(range("GETRANGE k 0 -1"), "This is a string");
        assert_eq!(range("GETRANGE k 10 100"), "string");
        assert_eq!(range("GETRANGE k 5 3"), "");
        let count = |command: &str| ask(Inside::BitCount, command, b"foobar");
        assert_eq!(count("BITCOUNT k"), Ok(26));
        assert_eq!(count("BITCOUNT k 0 0"), Ok(4));
        assert_eq!(count("BITCOUNT k 1 1"), Ok(6));
        assert_eq!(count("BITCOUNT k 1 1 BYTE"), Ok(6));
        assert_eq!(count("BITCOUNT k 5 30 BIT"), Ok(17));
        assert_eq!(count("BITCOUNT k 1"), Err(SYNTAX.to_owned()));
        let position = |command: &str, payload: &[u8]| ask(Inside::BitPosition, command, payload);
        assert_eq!(position("BITPOS k 0", b"\xff\xf0\x00"), Ok(12));
        assert_eq!(position("BITPOS k 1 0", b"\x00\xff\xf0"), Ok(8));
        assert_eq!(position("BITPOS k 1 2", b"\x00\xff\xf0"), Ok(16));
        assert_eq!(position("BITPOS k 1 2 -1 BYTE", b"\x00\xff\xf0"), Ok(16));
        assert_eq!(position("BITPOS k 1 7 15 BIT", b"\x00\xff\xf0"), Ok(8));
        assert_eq!(position("BITPOS k 1 7 -3 BIT", b"\x00\xff\xf0"), Ok(8));
        assert_eq!(position("BITPOS k 1", b"\x00\x00\x00"), Ok(-1));
        assert_eq!(position("BITPOS k 0", b"\xff\xff"), Ok(16));
        assert_eq!(position("BITPOS k 0 0 -1", b"\xff\xff"), Ok(-1));
        assert_eq!(ask(Inside::Bit, "GETBIT k 7", b"\x01"), Ok(1));
        assert_eq!(ask(Inside::Bit, "GETBIT k 100", b"\x01"), Ok(0));
        assert!(ask(Inside::Bit, "GETBIT k 4294967296", b"").is_err());
        assert!(ask(Inside::Range, "GETRANGE k +1 2", b"").is_err());
    }
}
