//! JSON as a flat list of tokens, which keeps what values lose: the text of numbers, the order of
//! keys, duplicates, and lone surrogates. It says what `value+text` and `value` fidelity promise.
//!
//! It reads text that is JSON already and never recurses, whatever the nesting.

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// A bracket, comma or colon.
    Mark(u8),
    /// `true`, `false` or `null`.
    Word(String),
    /// A number, as it is written.
    Number(String),
    /// A string or key, as UTF-16 code units.
    Text(Vec<u16>),
}

/// The tokens of a JSON text.
#[track_caller]
pub fn tokens(json: &[u8]) -> Vec<Token> {
    let text = std::str::from_utf8(json).expect("JSON is UTF-8");
    let mut characters = text.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(first) = characters.next() {
        match first {
            ' ' | '\t' | '\n' | '\r' => {}
            '[' | ']' | '{' | '}' | ',' | ':' => tokens.push(Token::Mark(first as u8)),
            '"' => tokens.push(Token::Text(string(&mut characters))),
            _ => {
                let mut word = String::from(first);
                while let Some(next) = characters
                    .next_if(|next| next.is_ascii_alphanumeric() || matches!(next, '.' | '+' | '-'))
                {
                    word.push(next);
                }
                let is_number = first == '-' || first.is_ascii_digit();
                tokens.push(if is_number { Token::Number(word) } else { Token::Word(word) });
            }
        }
    }
    tokens
}

fn string(characters: &mut impl Iterator<Item = char>) -> Vec<u16> {
    let mut units = Vec::new();
    let mut next = || characters.next().expect("the string is closed");
    loop {
        match next() {
            '"' => return units,
            '\\' => units.push(match next() {
                'b' => 0x08,
                'f' => 0x0C,
                'n' => 0x0A,
                'r' => 0x0D,
                't' => 0x09,
                'u' => {
                    let digits: String = (0..4).map(|_| next()).collect();
                    u16::from_str_radix(&digits, 16).expect("four hexadecimal digits")
                }
                other => other as u16,
            }),
            other => units.extend(other.encode_utf16(&mut [0; 2]).iter()),
        }
    }
}

/// Where the same value with the same number texts is not what came back, if anywhere.
pub fn same_text(before: &[u8], after: &[u8]) -> Result<(), String> {
    first_difference(before, after, |left, right| left == right)
}

/// Where the same value, numbers equal as decimals, is not what came back, if anywhere.
pub fn same_value(before: &[u8], after: &[u8]) -> Result<(), String> {
    first_difference(before, after, |left, right| match (left, right) {
        (Token::Number(left), Token::Number(right)) => decimal(left) == decimal(right),
        _ => left == right,
    })
}

fn first_difference(
    before: &[u8],
    after: &[u8],
    is_same: impl Fn(&Token, &Token) -> bool,
) -> Result<(), String> {
    let (before, after) = (tokens(before), tokens(after));
    if let Some(index) = before.iter().zip(&after).position(|(left, right)| !is_same(left, right)) {
        return Err(format!("token {index}: {:?}, then {:?}", before[index], after[index]));
    }
    if before.len() != after.len() {
        return Err(format!("{} tokens, then {}", before.len(), after.len()));
    }
    Ok(())
}

/// The sign, the significant digits and the power of ten of the last one; zero has neither sign
/// nor digits.
fn decimal(number: &str) -> (bool, String, i64) {
    let (is_negative, rest) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_end_matches('0');
    let exponent: i64 = exponent.parse().expect("an exponent of 64 bits");
    let exponent = exponent - fraction.len() as i64 + (all.len() - significant.len()) as i64;
    match significant.trim_start_matches('0') {
        "" => (false, String::new(), 0),
        digits => (is_negative, digits.to_owned(), exponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_texts_and_decimals_are_told_apart() {
        let (left, right) = (b"[1.50, -0]".as_slice(), b"[15e-1,0.0]".as_slice());
        assert!(same_text(left, right).is_err());
        assert_eq!(same_value(left, right), Ok(()));
        assert!(same_value(b"[1]", b"[10]").is_err());
        assert!(same_value(b"[1]", b"[-1]").is_err());
    }

    #[test]
    fn escapes_are_the_same_as_what_they_stand_for() {
        assert_eq!(same_text(br#"["\u00e4\/\ud83d\ude00"]"#, "[\"ä/😀\"]".as_bytes()), Ok(()));
        assert!(same_text(br#"["\ud800"]"#, br#"["\ud801"]"#).is_err());
    }
}
