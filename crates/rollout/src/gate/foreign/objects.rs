//! Texts inside the serialisations of Ruby, Python and Java, taken out without making an object.
//!
//! These formats describe programs' objects, and reading one as its own language does can run code
//! that the value brings with it. So only what is a text from its first byte to its last is read,
//! by the few bytes that say so; anything else is refused by its name.

/// A serialisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// Ruby's Marshal, version 4.8.
    Ruby,
    /// Python's pickle, protocols 2 to 5.
    Python,
    /// Java's serialisation, version 5.
    Java,
    /// What Rails writes in place of Marshal where it is told to; never a string, which needs none.
    RubyMessagePack,
}

impl Language {
    /// The one that a value starts like.
    pub(super) fn of(value: &[u8]) -> Option<Language> {
        match value {
            [0x04, 0x08, ..] => Some(Language::Ruby),
            [0x80, 2..=5, ..] => Some(Language::Python),
            [0xAC, 0xED, 0x00, 0x05, ..] => Some(Language::Java),
            _ => None,
        }
    }

    /// The one of an entry of Rails that is no string. Anywhere else the second start is a letter
    /// with an accent.
    pub(super) fn of_rails(value: &[u8]) -> Option<Language> {
        match value {
            [0x04, 0x08, ..] => Some(Language::Ruby),
            [0xCC, 0x80, ..] => Some(Language::RubyMessagePack),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Language::Ruby => "an object of Ruby (Marshal)",
            Language::Python => "an object of Python (pickle)",
            Language::Java => "an object of Java",
            Language::RubyMessagePack => "an object of Ruby (MessagePack)",
        }
    }

    /// The text that a value is, where it is nothing else.
    pub(super) fn text(self, value: &[u8]) -> Option<&[u8]> {
        match self {
            Language::Ruby => ruby(value),
            Language::Python => python(value),
            Language::Java => java(value),
            Language::RubyMessagePack => None,
        }
    }
}

fn take<'v>(rest: &mut &'v [u8], count: usize) -> Option<&'v [u8]> {
    let (taken, after) = rest.split_at_checked(count)?;
    *rest = after;
    Some(taken)
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    take(rest, 1).map(|taken| taken[0])
}

/// A length of Marshal: small ones are shifted by five, others follow in that many bytes.
fn ruby_length(rest: &mut &[u8]) -> Option<usize> {
    match byte(rest)? {
        0 => Some(0),
        count @ 1..=4 => {
            let bytes = take(rest, usize::from(count))?.iter().rev();
            Some(bytes.fold(0, |number, byte| number << 8 | usize::from(*byte)))
        }
        small @ 6..=0x7F => Some(usize::from(small) - 5),
        _ => None,
    }
}

/// `"` and a length; with `I` before it and its encoding behind it, where it has one.
fn ruby(value: &[u8]) -> Option<&[u8]> {
    let mut rest = value.get(2..)?;
    match byte(&mut rest)? {
        b'"' => {
            let length = ruby_length(&mut rest)?;
            let text = take(&mut rest, length)?;
            rest.is_empty().then_some(text)
        }
        b'I' if byte(&mut rest)? == b'"' => {
            let length = ruby_length(&mut rest)?;
            let text = take(&mut rest, length)?;
            // One instance variable: :E is true for UTF-8 and false for US-ASCII.
            let is_plain = matches!(rest, [6, b':', 6, b'E', b'T' | b'F']);
            is_plain.then_some(text)
        }
        _ => None,
    }
}

/// A protocol, a frame, one text or bytes, what remembers it, and the end.
fn python(value: &[u8]) -> Option<&[u8]> {
    let mut rest = value.get(2..)?;
    if rest.first() == Some(&0x95) {
        let frame = take(&mut rest, 9)?;
        let length = u64::from_le_bytes(frame[1..].try_into().ok()?);
        if usize::try_from(length).ok()? != rest.len() {
            return None;
        }
    }
    let length_bytes = match byte(&mut rest)? {
        // SHORT_BINUNICODE and SHORT_BINBYTES; BINUNICODE and BINBYTES; those of eight bytes.
        0x8C | b'C' => 1,
        b'X' | b'B' => 4,
        0x8D | 0x8E => 8,
        _ => return None,
    };
    let length = take(&mut rest, length_bytes)?.iter().rev();
    let length = length.fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let text = take(&mut rest, usize::try_from(length).ok()?)?;
    // MEMOIZE, or BINPUT into the first place, or nothing; then STOP.
    let is_whole = matches!(rest, [0x94, b'.'] | [b'q', 0, b'.'] | [b'.']);
    is_whole.then_some(text)
}

/// One string, whose UTF-8 is that of everybody unless it has a NUL or a character of two units.
fn java(value: &[u8]) -> Option<&[u8]> {
    let mut rest = value.get(4..)?;
    let length_bytes = match byte(&mut rest)? {
        0x74 => 2,
        0x7C => 8,
        _ => return None,
    };
    let length = take(&mut rest, length_bytes)?.iter();
    let length = length.fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let is_whole = usize::try_from(length).ok()? == rest.len();
    (is_whole && str::from_utf8(rest).is_ok()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `python3 -c 'import pickle; print(pickle.dumps("{}", protocol).hex())'` and its like in
    /// Ruby and Java print them.
    const TEXTS: [(&[u8], &[u8]); 8] = [
        (b"\x80\x02X\x02\x00\x00\x00{}q\x00.", b"{}"),
        (b"\x80\x04\x95\x06\x00\x00\x00\x00\x00\x00\x00\x8c\x02{}\x94.", b"{}"),
        (b"\x80\x05\x95\x06\x00\x00\x00\x00\x00\x00\x00C\x02{}\x94.", b"{}"),
        (b"\x04\x08I\"\x07{}\x06:\x06ET", b"{}"),
        (b"\x04\x08\"\x07\xff\xfe", b"\xff\xfe"),
        (b"\x04\x08\"\x00", b""),
        (b"\xac\xed\x00\x05t\x00\x02{}", b"{}"),
        (b"\xac\xed\x00\x05|\x00\x00\x00\x00\x00\x00\x00\x02{}", b"{}"),
    ];

    #[test]
    fn a_text_is_taken_out_of_each_language() {
        for (value, text) in TEXTS {
            let language = Language::of(value).unwrap();
            assert_eq!(language.text(value), Some(text), "{value:?}");
            // What is cut or goes on is no text any more.
            for length in 0..value.len() {
                if let Some(language) = Language::of(&value[..length]) {
                    assert_eq!(language.text(&value[..length]), None, "{value:?} to {length}");
                }
            }
            assert_eq!(language.text(&[value, b"."].concat()), None, "{value:?}");
        }
    }

    #[test]
    fn objects_are_no_texts() {
        let objects: [&[u8]; 4] = [
            // pickle.dumps(os.system, 2) and a dict; Marshal.dump(["{}"]); an Integer of Java.
            b"\x80\x02cposix\nsystem\nq\x00.",
            b"\x80\x04}\x94.",
            b"\x04\x08[\x06I\"\x07{}\x06:\x06ET",
            b"\xac\xed\x00\x05sr\x00\x11java.lang.Integer",
        ];
        for value in objects {
            assert_eq!(Language::of(value).unwrap().text(value), None, "{value:?}");
        }
    }
}
