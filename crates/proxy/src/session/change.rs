//! Commands that change a value inside, computed on the payload as the server computes them on what
//! it stores. Their errors are the server's own words, because a client can't tell who did it.

use cinch_wire::resp::write_array;

/// What a command does to a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Append(Vec<u8>),
    SetRange { offset: usize, bytes: Vec<u8> },
    SetBit { offset: u64, bit: bool },
    Fields(Vec<Step>),
}

/// One operation of `BITFIELD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    kind: StepKind,
    overflow: Overflow,
    is_signed: bool,
    bits: u32,
    offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    Get,
    Set(i64),
    Add(i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overflow {
    Wrap,
    Saturate,
    Fail,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Changed {
    /// The new payload; nothing where it stays as it is.
    pub(super) payload: Option<Vec<u8>>,
    /// What the client reads.
    pub(super) reply: Vec<u8>,
}

/// The longest string of a server, in bytes.
const STRING_BYTES_MAX: u64 = 512 << 20;

const NO_INTEGER: &str = "ERR value is not an integer or out of range";
const BIT_OFFSET: &str = "ERR bit offset is not an integer or out of range";
const TOO_LONG: &str = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
const SYNTAX: &str = "ERR syntax error";

impl Change {
    /// The change that a command asks for, or the server's words for what is wrong with it.
    pub(super) fn of(name: &str, arguments: &[&[u8]]) -> Result<Change, String> {
        let arity = |wanted: usize| match arguments.len() == wanted {
            true => Ok(()),
            false => {
                let name = name.to_lowercase();
                Err(format!("ERR wrong number of arguments for '{name}' command"))
            }
        };
        match name {
            "APPEND" => {
                arity(3)?;
                Ok(Change::Append(arguments[2].to_vec()))
            }
            "SETRANGE" => {
                arity(4)?;
                let offset = integer(arguments[2]).ok_or(NO_INTEGER)?;
                let offset = u64::try_from(offset).map_err(|_| "ERR offset is out of range")?;
                let bytes = arguments[3].to_vec();
                let is_too_long = offset + bytes.len() as u64 > STRING_BYTES_MAX;
                if is_too_long && !bytes.is_empty() {
                    return Err(TOO_LONG.to_owned());
                }
                Ok(Change::SetRange { offset: offset as usize, bytes })
            }
            "SETBIT" => {
                arity(4)?;
                let offset = bit_offset(arguments[2], None).ok_or(BIT_OFFSET)?;
                match arguments[3] {
                    b"0" => Ok(Change::SetBit { offset, bit: false }),
                    b"1" => Ok(Change::SetBit { offset, bit: true }),
                    _ => Err("ERR bit is not an integer or out of range".to_owned()),
                }
            }
            "BITFIELD_RO" => {
                let change = Change::of("BITFIELD", arguments)?;
                match change.only_reads() {
                    true => Ok(change),
                    false => Err("ERR BITFIELD_RO only supports the GET subcommand".to_owned()),
                }
            }
            _ => steps(arguments.get(2..).unwrap_or_default()).map(Change::Fields),
        }
    }

    fn only_reads(&self) -> bool {
        match self {
            Change::Fields(steps) => steps.iter().all(|step| step.kind == StepKind::Get),
            _ => false,
        }
    }

    /// Applies it to a payload, or to nothing where the key is not there.
    pub(super) fn apply(
        &self,
        payload: Option<&[u8]>,
        is_version_3: bool,
    ) -> Result<Changed, String> {
        let old = payload.unwrap_or_default();
        let number = |number: usize| format!(":{number}\r\n").into_bytes();
        match self {
            Change::Append(bytes) => {
                let length = old.len() + bytes.len();
                if length as u64 > STRING_BYTES_MAX {
                    return Err(TOO_LONG.to_owned());
                }
                Ok(Changed { payload: Some([old, bytes].concat()), reply: number(length) })
            }
            Change::SetRange { bytes, .. } if bytes.is_empty() => {
                Ok(Changed { payload: None, reply: number(old.len()) })
            }
            Change::SetRange { offset, bytes } => {
                let end = offset + bytes.len();
                let mut new = grown(old, end);
                new[*offset..end].copy_from_slice(bytes);
                let reply = number(new.len());
                Ok(Changed { payload: Some(new), reply })
            }
            Change::SetBit { offset, bit } => {
                let (at, mask) = ((offset >> 3) as usize, 0x80 >> (offset & 7));
                let mut new = grown(old, at + 1);
                let was_set = new[at] & mask != 0;
                new[at] = if *bit { new[at] | mask } else { new[at] & !mask };
                Ok(Changed { payload: Some(new), reply: number(usize::from(was_set)) })
            }
            Change::Fields(steps) => Ok(self.fields(steps, old, is_version_3)),
        }
    }

    fn fields(&self, steps: &[Step], old: &[u8], is_version_3: bool) -> Changed {
        let writes = steps.iter().filter(|step| step.kind != StepKind::Get);
        // Room for every write is made before the first step, as the server does.
        let needed = writes.map(|step| (step.offset + u64::from(step.bits) - 1) / 8 + 1).max();
        let mut new = grown(old, needed.unwrap_or(0) as usize);
        let mut reply = Vec::new();
        write_array(steps.len() as u64, &mut reply);
        for step in steps {
            match step.take(&mut new) {
                Some(number) => reply.extend_from_slice(format!(":{number}\r\n").as_bytes()),
                None if is_version_3 => reply.extend_from_slice(b"_\r\n"),
                None => reply.extend_from_slice(b"$-1\r\n"),
            }
        }
        Changed { payload: needed.map(|_| new), reply }
    }
}

/// The bytes, with zeros behind them up to this length.
fn grown(old: &[u8], length: usize) -> Vec<u8> {
    let mut new = old.to_vec();
    new.resize(length.max(old.len()), 0);
    new
}

impl Step {
    /// Reads, and perhaps writes: what is answered; nothing where it does not fit and is to fail.
    fn take(&self, bytes: &mut [u8]) -> Option<i128> {
        let old = self.read(bytes);
        let (wanted, answers_new) = match self.kind {
            StepKind::Get => return Some(old),
            StepKind::Set(value) if self.is_signed => (i128::from(value), false),
            StepKind::Set(value) => (i128::from(value as u64), false),
            StepKind::Add(by) => (old + i128::from(by), true),
        };
        let (low, high) = match self.is_signed {
            true => (-(1_i128 << (self.bits - 1)), (1_i128 << (self.bits - 1)) - 1),
            false => (0, (1_i128 << self.bits) - 1),
        };
        let fits = (low..=high).contains(&wanted);
        let new = match self.overflow {
            _ if fits => wanted,
            Overflow::Wrap => self.wrapped(wanted),
            Overflow::Saturate => wanted.clamp(low, high),
            Overflow::Fail => return None,
        };
        self.write(bytes, new);
        Some(if answers_new { new } else { old })
    }

    fn wrapped(&self, value: i128) -> i128 {
        let rest = value & ((1_i128 << self.bits) - 1);
        let is_negative = self.is_signed && rest >> (self.bits - 1) & 1 == 1;
        if is_negative { rest - (1_i128 << self.bits) } else { rest }
    }

    fn places(&self) -> impl Iterator<Item = (usize, u8)> {
        let bits = self.offset..self.offset + u64::from(self.bits);
        bits.map(|bit| ((bit >> 3) as usize, 0x80 >> (bit & 7)))
    }

    fn read(&self, bytes: &[u8]) -> i128 {
        let is_set = |(at, mask): (usize, u8)| bytes.get(at).is_some_and(|byte| byte & mask != 0);
        let value = self.places().fold(0, |value, place| value << 1 | i128::from(is_set(place)));
        self.wrapped(value)
    }

    fn write(&self, bytes: &mut [u8], value: i128) {
        for ((at, mask), shift) in self.places().zip((0..self.bits).rev()) {
            match value >> shift & 1 {
                1 => bytes[at] |= mask,
                _ => bytes[at] &= !mask,
            }
        }
    }
}

/// The operations of `BITFIELD`.
fn steps(mut words: &[&[u8]]) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut overflow = Overflow::Wrap;
    while let Some((name, rest)) = words.split_first() {
        let name = name.to_ascii_uppercase();
        if name == b"OVERFLOW" && !rest.is_empty() {
            overflow = match rest[0].to_ascii_uppercase().as_slice() {
                b"WRAP" => Overflow::Wrap,
                b"SAT" => Overflow::Saturate,
                b"FAIL" => Overflow::Fail,
                _ => return Err("ERR Invalid OVERFLOW type specified".to_owned()),
            };
            words = &rest[1..];
            continue;
        }
        let count = match name.as_slice() {
            b"GET" => 2,
            b"SET" | b"INCRBY" => 3,
            _ => return Err(SYNTAX.to_owned()),
        };
        let operands = rest.get(..count).ok_or(SYNTAX)?;
        let (is_signed, bits) = kind(operands[0]).ok_or(
            "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported \
             but i64 is.",
        )?;
        let offset = bit_offset(operands[1], Some(bits)).ok_or(BIT_OFFSET)?;
        let value = || integer(operands[2]).ok_or(NO_INTEGER);
        let kind = match name.as_slice() {
            b"GET" => StepKind::Get,
            b"SET" => StepKind::Set(value()?),
            _ => StepKind::Add(value()?),
        };
        steps.push(Step { kind, overflow, is_signed, bits, offset });
        words = &rest[count..];
    }
    Ok(steps)
}

/// Signed or not, and how many bits.
fn kind(text: &[u8]) -> Option<(bool, u32)> {
    let (first, rest) = text.split_first()?;
    let bits = u32::try_from(integer(rest)?).ok()?;
    match first {
        b'i' if (1..=64).contains(&bits) => Some((true, bits)),
        b'u' if (1..=63).contains(&bits) => Some((false, bits)),
        _ => None,
    }
}

/// A bit's place; behind `#` it is counted in fields of this width.
fn bit_offset(text: &[u8], width: Option<u32>) -> Option<u64> {
    let (digits, factor) = match (text.strip_prefix(b"#"), width) {
        (Some(digits), Some(width)) => (digits, u64::from(width)),
        _ => (text, 1),
    };
    let offset = u64::try_from(integer(digits)?).ok()?.checked_mul(factor)?;
    (offset >> 3 < STRING_BYTES_MAX).then_some(offset)
}

/// A number as the server takes it: no sign but a minus, no leading zero.
fn integer(text: &[u8]) -> Option<i64> {
    let number = std::str::from_utf8(text).ok()?.parse::<i64>().ok()?;
    (number.to_string().as_bytes() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(command: &str, payload: Option<&[u8]>) -> Result<(Option<Vec<u8>>, String), String> {
        let words: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
        let name = command.split(' ').next().unwrap();
        let changed = Change::of(name, &words)?.apply(payload, false)?;
        Ok((changed.payload, String::from_utf8(changed.reply).unwrap()))
    }

    /// The examples of the server's own documentation.
    #[test]
    fn the_examples_of_the_manual_hold() {
        let said = |command: &str, payload: &[u8]| apply(command, Some(payload)).unwrap();
        assert_eq!(
            said("APPEND k World", b"Hello "),
            (Some(b"Hello World".into()), ":11\r\n".into())
        );
        let redis = (Some(b"Hello Redis".into()), ":11\r\n".into());
        assert_eq!(said("SETRANGE k 6 Redis", b"Hello World"), redis);
        let padded = (Some(b"\0\0\0\0\0\0Redis".into()), ":11\r\n".into());
        assert_eq!(apply("SETRANGE k 6 Redis", None).unwrap(), padded);
        assert_eq!(apply("SETRANGE k 6 ", None).unwrap(), (None, ":0\r\n".into()));
        assert_eq!(apply("SETBIT k 7 1", None).unwrap(), (Some(vec![1]), ":0\r\n".into()));
        assert_eq!(said("SETBIT k 7 0", &[1]), (Some(vec![0]), ":1\r\n".into()));
        let fields = apply("BITFIELD k INCRBY i5 100 1 GET u4 0", None).unwrap();
        assert_eq!(fields.1, "*2\r\n:1\r\n:0\r\n");
        let (payload, first) =
            said("BITFIELD k INCRBY u2 100 1 OVERFLOW SAT INCRBY u2 102 1", &[0; 13]);
        assert_eq!(first, "*2\r\n:1\r\n:1\r\n");
        let again = |payload: &[u8]| {
            said("BITFIELD k INCRBY u2 100 1 OVERFLOW SAT INCRBY u2 102 1", payload)
        };
        let (payload, _) = again(&payload.unwrap());
        let (payload, _) = again(&payload.unwrap());
        assert_eq!(again(&payload.unwrap()).1, "*2\r\n:0\r\n:3\r\n");
        let failed = said("BITFIELD k OVERFLOW FAIL INCRBY u2 102 1", &[0xFF; 13]);
        assert_eq!(failed.1, "*1\r\n$-1\r\n");
        let wrapped = said("BITFIELD k SET i8 #1 -1 GET u8 8 GET i8 #1", &[0, 7]);
        assert_eq!(wrapped, (Some(vec![0, 255]), "*3\r\n:7\r\n:255\r\n:-1\r\n".into()));
        assert_eq!(said("BITFIELD_RO k GET i64 0", &[0xFF; 8]), (None, "*1\r\n:-1\r\n".into()));
    }

    #[test]
    fn what_the_server_refuses_is_refused_in_its_words() {
        for (command, words) in [
            ("APPEND k", "ERR wrong number of arguments for 'append' command"),
            ("SETRANGE k -1 x", "ERR offset is out of range"),
            ("SETRANGE k 536870912 x", TOO_LONG),
            ("SETRANGE k 1.5 x", NO_INTEGER),
            ("SETBIT k -1 1", BIT_OFFSET),
            ("SETBIT k 4294967296 1", BIT_OFFSET),
            ("SETBIT k 0 2", "ERR bit is not an integer or out of range"),
            ("BITFIELD k GET u8", SYNTAX),
            ("BITFIELD k SET u8 #0 x", NO_INTEGER),
            ("BITFIELD k OVERFLOW x GET u8 0", "ERR Invalid OVERFLOW type specified"),
            ("BITFIELD_RO k SET u8 0 1", "ERR BITFIELD_RO only supports the GET subcommand"),
        ] {
            assert_eq!(apply(command, None), Err(words.to_owned()), "{command}");
        }
        for kind in ["u64", "i65", "u0", "x8", "8", ""] {
            let error = apply(&format!("BITFIELD k GET {kind} 0"), None).unwrap_err();
            assert!(error.starts_with("ERR Invalid bitfield type"), "{kind}");
        }
    }
}
