//! Finds where a JSON value ends, in any number of pieces and in linear time.
//!
//! It checks how brackets, commas, colons and strings follow each other, so that damage is noticed
//! at the first wrong token and not at the end of the file. Numbers, literals and escapes are left
//! to the parser, which sees every payload afterwards. It must accept whatever the parser accepts;
//! a property test compares them. It holds one bit per level and never recurses.

use cinch_core::limits::NESTING_DEPTH_MAX;

/// What a piece of text led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The value goes on after this piece.
    More,
    /// The value ends before this offset of the piece.
    End(usize),
    /// The byte at this offset of the piece can't stand there.
    Damaged {
        /// Offset into the piece.
        at: usize,
        /// What is wrong.
        what: &'static str,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Value,
    ValueOrClose,
    Key,
    KeyOrClose,
    Colon,
    CommaOrClose,
    Text,
    Escape,
    Scalar,
}

/// Reads one value; white space before it is passed over.
pub(super) struct Scanner {
    state: State,
    text_is_key: bool,
    depth: usize,
    /// One bit per level: set for an object.
    objects: Vec<u64>,
}

impl Scanner {
    pub(super) fn new() -> Scanner {
        Scanner { state: State::Value, text_is_key: false, depth: 0, objects: Vec::new() }
    }

    /// Whether the value is a number or literal that may end here, which only the end of the text
    /// can tell.
    pub(super) fn may_end(&self) -> bool {
        self.state == State::Scalar && self.depth == 0
    }

    /// Reads the next piece. After anything but [`Step::More`] the scanner is used up.
    pub(super) fn advance(&mut self, piece: &[u8]) -> Step {
        let mut at = 0;
        while at < piece.len() {
            let byte = piece[at];
            match self.state {
                State::Text => {
                    let Some(found) = memchr::memchr3(b'"', b'\\', b'\n', &piece[at..]) else {
                        return Step::More;
                    };
                    at += found;
                    match piece[at] {
                        b'"' if self.text_is_key => self.state = State::Colon,
                        b'"' if self.depth == 0 => return Step::End(at + 1),
                        b'"' => self.state = State::CommaOrClose,
                        b'\\' => self.state = State::Escape,
                        _ => return Step::Damaged { at, what: "a line break inside a string" },
                    }
                }
                State::Escape => self.state = State::Text,
                State::Scalar => {
                    if is_scalar(byte) {
                        at += 1;
                        continue;
                    }
                    if self.depth == 0 {
                        return Step::End(at);
                    }
                    self.state = State::CommaOrClose;
                    continue;
                }
                _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => {}
                _ => match self.token(byte) {
                    Ok(true) => return Step::End(at + 1),
                    Ok(false) => {}
                    Err(what) => return Step::Damaged { at, what },
                },
            }
            at += 1;
        }
        Step::More
    }

    /// Takes a byte outside strings and scalars; true if the value ends with it.
    fn token(&mut self, byte: u8) -> Result<bool, &'static str> {
        let is_value = matches!(self.state, State::Value | State::ValueOrClose);
        match (byte, self.state) {
            (b'"', State::Key | State::KeyOrClose) => self.open_text(true),
            (b'"', _) if is_value => self.open_text(false),
            (b'{', _) if is_value => self.open(true)?,
            (b'[', _) if is_value => self.open(false)?,
            (b'}', State::KeyOrClose) | (b']', State::ValueOrClose) => return Ok(self.close()),
            (b'}', State::CommaOrClose) if self.in_object() => return Ok(self.close()),
            (b']', State::CommaOrClose) if !self.in_object() => return Ok(self.close()),
            (b',', State::CommaOrClose) if self.in_object() => self.state = State::Key,
            (b',', State::CommaOrClose) => self.state = State::Value,
            (b':', State::Colon) => self.state = State::Value,
            _ if is_value && is_scalar(byte) => self.state = State::Scalar,
            (_, State::Value | State::ValueOrClose) => return Err("expected a value"),
            (_, State::Key | State::KeyOrClose) => return Err("expected a key"),
            (_, State::Colon) => return Err("expected a colon"),
            _ => return Err("expected a comma or a closing bracket"),
        }
        Ok(false)
    }

    fn open_text(&mut self, is_key: bool) {
        self.text_is_key = is_key;
        self.state = State::Text;
    }

    fn open(&mut self, is_object: bool) -> Result<(), &'static str> {
        if self.depth == NESTING_DEPTH_MAX {
            return Err("arrays and objects nest too deep");
        }
        let (word, bit) = (self.depth / 64, self.depth % 64);
        if word == self.objects.len() {
            self.objects.push(0);
        }
        self.objects[word] = self.objects[word] & !(1 << bit) | u64::from(is_object) << bit;
        self.depth += 1;
        self.state = if is_object { State::KeyOrClose } else { State::ValueOrClose };
        Ok(())
    }

    fn close(&mut self) -> bool {
        self.depth -= 1;
        self.state = State::CommaOrClose;
        self.depth == 0
    }

    fn in_object(&self) -> bool {
        let level = self.depth - 1;
        self.objects[level / 64] >> (level % 64) & 1 == 1
    }
}

/// Whether a byte can be the first of a JSON value.
pub(super) fn starts_value(byte: u8) -> bool {
    matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
}

/// Whether a byte can be part of a number or literal, or of what was meant to be one.
fn is_scalar(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'+' | b'.' | b'_')
}

/// Where a damaged bracketed value may end within `line`: where its brackets outside strings are
/// balanced again. A guess, for skipping only.
pub(super) fn balanced_end(line: &[u8]) -> Option<usize> {
    let (mut depth, mut in_string, mut at) = (0usize, false, 0);
    while at < line.len() {
        match line[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinch_core::document::Document;
    use cinch_core::encoding::Parser;
    use cinch_core::json;
    use proptest::prelude::*;

    fn scan(text: &str) -> Step {
        Scanner::new().advance(text.as_bytes())
    }

    #[test]
    fn ends() {
        for (text, end) in [
            ("{}", 2),
            ("{}{}", 2),
            ("[]1", 2),
            ("1 2", 1),
            ("1\"x\"", 1),
            (r#""a\"b" 1"#, 6),
            (r#"{"a":[1,{"b":"]}"}]} x"#, 20),
            (" [ [ ] , { } , true ] ", 21),
            ("null\n", 4),
        ] {
            assert_eq!(scan(text), Step::End(end), "{text}");
        }
    }

    #[test]
    fn goes_on() {
        for text in ["", " ", "12", "{", "[1,", "\"a", "\"a\\", "{\"a\"", "{\"a\":1", "tru"] {
            assert_eq!(scan(text), Step::More, "{text}");
        }
    }

    #[test]
    fn damage_is_noticed_at_the_first_wrong_token() {
        for (text, offset) in [
            ("}", 0),
            ("{1", 1),
            ("{\"a\":{\"b\":1}\n{\"a\":2}", 13),
            ("{\"a\":1,\n{", 8),
            ("{\"a\":1]", 6),
            ("[1}", 2),
            ("[1 2", 3),
            ("[1,]", 3),
            ("{\"a\" 1", 5),
            ("{\"a\":\"x\"y\"", 8),
            ("\"a\n", 2),
        ] {
            let Step::Damaged { at, .. } = scan(text) else { panic!("{text}") };
            assert_eq!(at, offset, "{text}");
        }
    }

    #[test]
    fn a_damaged_value_may_end_where_brackets_balance() {
        assert_eq!(balanced_end(br#"{"a":1,},2"#), Some(8));
        assert_eq!(balanced_end(br#"{"}\"}":[1 2]} x"#), Some(14));
        assert_eq!(balanced_end(b"{\"a"), None);
        assert_eq!(balanced_end(b"]"), None);
    }

    #[test]
    fn nesting_is_counted_and_bounded() {
        let text = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(scan(&text(100_000)), Step::End(200_000));
        assert_eq!(scan(&text(NESTING_DEPTH_MAX)), Step::End(2 * NESTING_DEPTH_MAX));
        let Step::Damaged { at, .. } = scan(&text(NESTING_DEPTH_MAX + 1)) else { panic!() };
        assert_eq!(at, NESTING_DEPTH_MAX);
    }

    proptest! {
        /// What the parser accepts has its end where the scanner says, and no piece matters.
        #[test]
        fn agrees_with_the_parser(
            text in "[\\[\\]{}:,\"\\\\ a1\n]{0,12}|\
                (\\{\"a\":(1|\\[(2,?)*\\]|\"\\\\\"\")\\},? ?){1,3}",
            piece_bytes in 1usize..5,
        ) {
            let mut scanner = Scanner::new();
            let (mut start, mut step) = (0, Step::More);
            for piece in text.as_bytes().chunks(piece_bytes) {
                step = scanner.advance(piece);
                if step != Step::More {
                    break;
                }
                start += piece.len();
            }
            let whole = match scan(&text) {
                Step::More => Step::More,
                Step::End(end) => Step::End(end - start),
                Step::Damaged { at, what } => Step::Damaged { at: at - start, what },
            };
            prop_assert_eq!(step, whole);
            if json::parse(Parser::Ordinary, text.as_bytes(), &mut Document::new()).is_ok() {
                let used = text.trim_end_matches([' ', '\t', '\n', '\r']).len();
                match scan(&text) {
                    Step::End(end) => prop_assert_eq!(end, used),
                    Step::More => prop_assert!(used == text.len()),
                    damaged => prop_assert!(false, "{:?}", damaged),
                }
            }
        }
    }
}
