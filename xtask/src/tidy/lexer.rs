//! Splits Rust source into code and comments, line by line, with the contents of strings left out.
//! Rules then find `unsafe` in code and not in a sentence about it, with no parser to depend on.
//!
//! It reads what rustc accepts; for anything else its answer may be wrong but never a panic.

/// One line of a Rust file.
pub(super) struct Line {
    /// The code, with every string and character literal emptied and comments left out.
    pub(super) code: String,
    /// The text of the comments on the line, their slashes included.
    pub(super) comment: String,
    /// Whether the line belongs to an item under `#[cfg(test)]`.
    pub(super) is_test: bool,
}

#[derive(Clone, Copy)]
enum State {
    Code,
    LineComment,
    /// Block comments nest; this is how deep.
    BlockComment(usize),
    Text,
    /// A raw string ends at a quote and this many hashes.
    RawText(usize),
}

pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut lines = split(text);
    mark_tests(&mut lines);
    lines
}

fn split(text: &str) -> Vec<Line> {
    let characters: Vec<char> = text.chars().collect();
    let at = |index: usize| characters.get(index).copied().unwrap_or('\0');
    let mut lines = Vec::new();
    let mut line = Line { code: String::new(), comment: String::new(), is_test: false };
    let mut state = State::Code;
    let mut index = 0;
    while index < characters.len() {
        let (here, next) = (at(index), at(index + 1));
        if here == '\n' {
            if let State::LineComment = state {
                state = State::Code;
            }
            let fresh = Line { code: String::new(), comment: String::new(), is_test: false };
            lines.push(std::mem::replace(&mut line, fresh));
            index += 1;
            continue;
        }
        let mut width = 1;
        match state {
            State::Code if here == '/' && next == '/' => {
                line.comment.push(here);
                state = State::LineComment;
            }
            State::Code if here == '/' && next == '*' => {
                state = State::BlockComment(1);
                width = 2;
            }
            State::Code if here == '"' => {
                state = raw_hashes(&line.code).map_or(State::Text, State::RawText);
                line.code.push(here);
            }
            State::Code if here == '\'' => {
                width = character_width(&characters[index..]);
                line.code.push_str(if width > 1 { "' '" } else { "'" });
            }
            State::Code => line.code.push(here),
            State::LineComment => line.comment.push(here),
            State::BlockComment(depth) if here == '*' && next == '/' => {
                state = if depth == 1 { State::Code } else { State::BlockComment(depth - 1) };
                width = 2;
            }
            State::BlockComment(depth) if here == '/' && next == '*' => {
                state = State::BlockComment(depth + 1);
                width = 2;
            }
            State::BlockComment(_) => line.comment.push(here),
            // An escaped newline must still end the line, so only other characters are skipped.
            State::Text if here == '\\' && next != '\n' => width = 2,
            State::Text if here == '"' => {
                line.code.push(here);
                state = State::Code;
            }
            State::RawText(hashes) if here == '"' => {
                if (1..=hashes).all(|offset| at(index + offset) == '#') {
                    line.code.push(here);
                    state = State::Code;
                    width = 1 + hashes;
                }
            }
            State::Text | State::RawText(_) => {}
        }
        index += width;
    }
    if !line.code.is_empty() || !line.comment.is_empty() {
        lines.push(line);
    }
    lines
}

/// How many hashes a raw string has whose quote follows `code`; none if it is an ordinary string.
fn raw_hashes(code: &str) -> Option<usize> {
    let before = code.trim_end_matches('#');
    let prefix = before.strip_suffix('r')?;
    let prefix = prefix.strip_suffix(['b', 'c']).unwrap_or(prefix);
    let is_name = prefix.ends_with(|last: char| last.is_alphanumeric() || last == '_');
    (!is_name).then_some(code.len() - before.len())
}

/// The width of a character literal that starts here, or 1 for the quote of a lifetime.
fn character_width(rest: &[char]) -> usize {
    match rest {
        // The escaped character itself may be a quote, so the search starts behind it.
        ['\'', '\\', _, tail @ ..] => {
            let closing = tail.iter().position(|&character| character == '\'');
            closing.map_or(1, |offset| offset + 4)
        }
        ['\'', _, '\'', ..] => 3,
        _ => 1,
    }
}

/// Marks the lines of each item under `#[cfg(test)]`, to its closing brace or semicolon.
fn mark_tests(lines: &mut [Line]) {
    let mut index = 0;
    while index < lines.len() {
        let code = lines[index].code.trim();
        if code.starts_with("#![cfg(test)]") {
            lines.iter_mut().for_each(|line| line.is_test = true);
            return;
        }
        if !(code.starts_with("#[cfg(test)]") || code.starts_with("#[cfg(all(test,")) {
            index += 1;
            continue;
        }
        let mut depth = 0;
        let mut is_closed = false;
        while index < lines.len() && !is_closed {
            lines[index].is_test = true;
            for character in lines[index].code.chars() {
                match character {
                    '{' | '(' | '[' => depth += 1,
                    '}' | ')' | ']' => depth -= 1,
                    _ => {}
                }
                is_closed |= depth == 0 && matches!(character, '}' | ';');
            }
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        lines(text).iter().map(|line| line.code.trim_end()).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn strings_and_comments_are_left_out() {
        assert_eq!(code("a(\"x // y\"); // z"), "a(\"\");");
        assert_eq!(code("a /* b /* c */ d */ e"), "a  e");
        assert_eq!(code("let x = r#\"a \" b\"#; y"), "let x = r#\"\"; y");
        assert_eq!(code("br\"\\\" z"), "br\"\" z");
        assert_eq!(code("\"\\\"q\" + 'x'"), "\"\" + ' '");
        assert_eq!(code("\"a\\\nb\" c"), "\"|\" c");
    }

    #[test]
    fn lifetimes_are_not_characters() {
        assert_eq!(
            code("fn f<'a>(x: &'a str, y: &'a u8) {}"),
            "fn f<'a>(x: &'a str, y: &'a u8) {}"
        );
        assert_eq!(code("['\\'', '\"', '\\u{1F600}', b'\\\\']; z"), "[' ', ' ', ' ', b' ']; z");
    }

    #[test]
    fn an_item_under_cfg_test_is_marked_to_its_end() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nfn c() {}\n\
                    #[cfg(test)]\nmod d;\nfn e() {}\n";
        let marks: Vec<bool> = lines(text).iter().map(|line| line.is_test).collect();
        assert_eq!(marks, [false, true, true, true, true, false, true, true, false]);
    }
}
