//! Breaks text into lines of a terminal by what it shows, not by its bytes.
//!
//! Everything that reaches a terminal goes through here or through the table, so this is where
//! control characters are taken out.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::report::human::printable;

/// Appends `text` in lines of at most `width` columns, the first after `first`, others after
/// `rest`.
pub(super) fn lines(out: &mut String, first: &str, rest: &str, text: &str, width: usize) {
    painted(out, first, rest, text, width, str::to_owned);
}

/// The same with every line painted after its width is known.
pub(super) fn painted(
    out: &mut String,
    first: &str,
    rest: &str,
    text: &str,
    width: usize,
    paint: impl Fn(&str) -> String,
) {
    let text = printable(text);
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        for piece in pieces(word, width - rest.width().max(first.width())) {
            if !is_empty && line.width() + 1 + piece.width() > width {
                out.push_str(&paint(&line));
                out.push('\n');
                line = rest.to_owned();
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(&piece);
            is_empty = false;
        }
    }
    if !is_empty {
        out.push_str(&paint(&line));
        out.push('\n');
    }
}

/// The text cut to `width` columns, with an ellipsis where something is missing.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        if kept.width() + character.width().unwrap_or(0) + 1 > width {
            break;
        }
        kept.push(character);
    }
    format!("{}…", kept.trim_end())
}

/// A word in pieces that fit a line: a path or a name can be wider than any terminal.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for character in word.chars() {
        let last = pieces.last_mut().expect("there is always a piece");
        if last.width() + character.width().unwrap_or(0) > width {
            pieces.push(character.to_string());
        } else {
            last.push(character);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_break_and_wide_characters_count_twice() {
        let mut out = String::new();
        lines(&mut out, "- ", "  ", "漢字漢字漢字漢字 aaaaaaaaaaaaaaaaaaaaaaaaa b", 12);
        assert!(out.lines().all(|line| line.width() <= 12), "{out}");
        assert!(out.starts_with("- 漢字") && out.ends_with(" b\n"));
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("abc", 3), "abc");
    }
}
