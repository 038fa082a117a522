//! White space: the usual styles, each in a few bits, so that a pretty-printed payload comes back
//! as it was.

use super::Corrupt;

/// How a payload is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Style {
    /// A space after each colon.
    pub(super) colon_space: bool,
    /// A space after each comma.
    pub(super) comma_space: bool,
    /// A new line for every member and element, indented by this for each level.
    pub(super) indent: Indent,
    /// A line feed after the value.
    pub(super) final_newline: bool,
}

/// What a level is indented by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Indent {
    /// Everything stands on one line.
    #[default]
    OneLine,
    Two,
    Four,
    Tab,
}

impl Indent {
    const ALL: [Indent; 4] = [Indent::OneLine, Indent::Two, Indent::Four, Indent::Tab];

    pub(super) fn unit(self) -> &'static [u8] {
        match self {
            Indent::OneLine => b"",
            Indent::Two => b"  ",
            Indent::Four => b"    ",
            Indent::Tab => b"\t",
        }
    }
}

/// The bit of the first byte that says that texts stand in the order of the payload, and not slot
/// by slot.
pub(super) const TEXTS_IN_ORDER: u8 = 0x20;

/// The bit of the first byte that says that the payload brings additions to the model.
pub(super) const HAS_ADDITIONS: u8 = 0x80;

impl Style {
    /// Its bits in the first byte.
    pub(super) fn code(self) -> u8 {
        u8::from(self.colon_space)
            | u8::from(self.comma_space) << 1
            | (self.indent as u8) << 2
            | u8::from(self.final_newline) << 4
    }

    /// The style of a first byte.
    pub(super) fn of_code(code: u8) -> Result<Style, Corrupt> {
        if code & 0x60 != 0 {
            return Err(Corrupt("an unknown style"));
        }
        Ok(Style {
            colon_space: code & 1 != 0,
            comma_space: code & 2 != 0,
            indent: Indent::ALL[usize::from(code >> 2 & 3)],
            final_newline: code & 0x10 != 0,
        })
    }

    /// Whether there is no white space but perhaps at the end.
    pub(super) fn is_compact(self) -> bool {
        !self.colon_space && !self.comma_space && self.indent == Indent::OneLine
    }

    /// The style that the beginning and the end of a text suggest, without what follows colons and
    /// commas; whether all of it is of that style is seen on the way.
    pub(super) fn of_ends(text: &[u8]) -> Style {
        let indent = match text {
            [b'{' | b'[', b'\n', rest @ ..] => {
                let is_indented = |indent: &Indent| rest.starts_with(indent.unit());
                // The longest that fits, so that four spaces are not taken for two.
                [Indent::Tab, Indent::Four, Indent::Two]
                    .into_iter()
                    .find(is_indented)
                    .unwrap_or_default()
            }
            _ => Indent::OneLine,
        };
        Style {
            colon_space: false,
            comma_space: false,
            indent,
            final_newline: text.last() == Some(&b'\n'),
        }
    }

    /// How many bytes stand before the first member or element of something at this depth, and
    /// before its closing bracket with one depth less.
    pub(super) fn line_bytes(self, depth: usize) -> usize {
        if self.indent == Indent::OneLine { 0 } else { 1 + depth * self.indent.unit().len() }
    }

    /// Whether the white space before a member, an element or a closing bracket is that.
    pub(super) fn is_line(self, space: &[u8], depth: usize) -> bool {
        if self.indent == Indent::OneLine {
            return space.is_empty();
        }
        let unit = self.indent.unit();
        space.split_first().is_some_and(|(&first, rest)| {
            first == b'\n'
                && rest.len() == depth * unit.len()
                && rest.chunks(unit.len()).all(|c| c == unit)
        })
    }
}
