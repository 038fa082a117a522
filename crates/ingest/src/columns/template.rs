//! Cuts a line into what its statement always writes and what varies. Any cut is right, since the
//! line comes back from both; a good one gives lines of the same statement the same template.

/// Stands in a template where digits stood.
pub(super) const DIGITS: u8 = 1;

/// Stands in a template where any other text stood.
pub(super) const WORD: u8 = 2;

/// From so many hexadecimal digits on a word is taken for a hash, whatever letters it starts with.
const HASH_BYTES_MIN: usize = 8;

/// The lengths of the groups of a UUID.
const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// What stood where a template has a mark, as a range of the batch's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Value {
    pub(super) fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..self.end as usize]
    }
}

/// Cuts a line that starts there in its text.
pub(super) fn cut(line: &[u8], start: usize, template: &mut Vec<u8>, values: &mut Vec<Value>) {
    template.clear();
    values.clear();
    let mut add = |kind, from: usize, to: usize, template: &mut Vec<u8>| {
        template.push(kind);
        values.push(Value { start: (start + from) as u32, end: (start + to) as u32 });
    };
    // A line that holds a mark itself is one value as it is.
    if memchr::memchr2(DIGITS, WORD, line).is_some() {
        return add(WORD, 0, line.len(), template);
    }
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        if !byte.is_ascii_alphanumeric() {
            template.push(byte);
            at += 1;
            continue;
        }
        let rest = &line[at..];
        let end = at + token(rest);
        if let Some(length) = uuid(rest).or_else(|| address(rest)) {
            add(WORD, at, at + length, template);
            at += length;
            continue;
        }
        match number_of(&line[at..end]) {
            Part::Fixed => template.extend_from_slice(&line[at..end]),
            Part::Numbered { letters } => {
                template.extend_from_slice(&line[at..at + letters]);
                add(DIGITS, at + letters, end, template);
            }
            Part::Varies => add(WORD, at, end, template),
        }
        at = end;
    }
}

/// What a run of letters and digits is.
enum Part {
    /// Letters alone: a word of the statement as often as not.
    Fixed,
    /// So many letters, and digits behind them.
    Numbered { letters: usize },
    /// Anything else with digits in it.
    Varies,
}

fn number_of(token: &[u8]) -> Part {
    let Some(letters) = token.iter().position(u8::is_ascii_digit) else { return Part::Fixed };
    let is_hash = token.len() >= HASH_BYTES_MIN && token.iter().all(u8::is_ascii_hexdigit);
    match token[letters..].iter().all(u8::is_ascii_digit) {
        true if letters == 0 || !is_hash => Part::Numbered { letters },
        _ => Part::Varies,
    }
}

/// The bytes of the letters and digits that the input starts with.
fn token(input: &[u8]) -> usize {
    input.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(input.len())
}

/// The bytes of the UUID that the input starts with: some of its groups may be digits alone or
/// letters alone, so that its parts alone would give many templates.
fn uuid(input: &[u8]) -> Option<usize> {
    let mut at = 0;
    for (place, length) in UUID_GROUPS.into_iter().enumerate() {
        if place > 0 {
            if *input.get(at)? != b'-' {
                return None;
            }
            at += 1;
        }
        if !input.get(at..at + length)?.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        at += length;
    }
    (token(&input[at..]) == 0).then_some(at)
}

/// The bytes of the IPv4 address that the input starts with: as a whole it comes again, and its
/// parts alone tell nothing.
fn address(input: &[u8]) -> Option<usize> {
    let mut at = 0;
    for place in 0..4 {
        if place > 0 {
            if *input.get(at)? != b'.' {
                return None;
            }
            at += 1;
        }
        let digits = input[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=3).contains(&digits) {
            return None;
        }
        at += digits;
    }
    (token(&input[at..]) == 0).then_some(at)
}
