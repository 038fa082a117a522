//! What a text must hold so that an expression can match it, as far as that can be said without
//! matching: the pieces of the expression that stand for themselves.

use regex_syntax::hir::{Hir, HirKind};

use crate::format::{Filter, GRAM_BYTES};

/// What must be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Needed {
    /// Nothing that a filter knows of.
    Nothing,
    /// This text.
    Text(Box<[u8]>),
    /// All of these.
    All(Vec<Needed>),
    /// One of these.
    OneOf(Vec<Needed>),
}

impl Needed {
    /// What this expression needs; nothing for one that can't be read.
    pub fn of(pattern: &str) -> Needed {
        let parser = regex_syntax::ParserBuilder::new().utf8(false).build().parse(pattern);
        parser.map_or(Needed::Nothing, |expression| Needed::of_part(&expression))
    }

    fn of_part(part: &Hir) -> Needed {
        match part.kind() {
            HirKind::Literal(literal) if literal.0.len() >= GRAM_BYTES => {
                Needed::Text(literal.0.clone())
            }
            HirKind::Capture(capture) => Needed::of_part(&capture.sub),
            HirKind::Repetition(repetition) if repetition.min > 0 => {
                Needed::of_part(&repetition.sub)
            }
            HirKind::Concat(parts) => {
                let parts = parts.iter().map(Needed::of_part);
                let parts: Vec<Needed> = parts.filter(|part| *part != Needed::Nothing).collect();
                if parts.is_empty() { Needed::Nothing } else { Needed::All(parts) }
            }
            HirKind::Alternation(parts) => {
                let parts: Vec<Needed> = parts.iter().map(Needed::of_part).collect();
                let is_open = parts.contains(&Needed::Nothing);
                if is_open { Needed::Nothing } else { Needed::OneOf(parts) }
            }
            _ => Needed::Nothing,
        }
    }

    /// Whether a batch with this filter may hold it.
    pub fn may_be_in(&self, filter: &Filter) -> bool {
        match self {
            Needed::Nothing => true,
            Needed::Text(text) => filter.may_hold(text),
            Needed::All(parts) => parts.iter().all(|part| part.may_be_in(filter)),
            Needed::OneOf(parts) => parts.iter().any(|part| part.may_be_in(filter)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Needed {
        Needed::Text(text.as_bytes().into())
    }

    #[test]
    fn only_what_every_match_holds_is_needed() {
        assert_eq!(Needed::of("(?m)ERROR"), text("ERROR"));
        assert_eq!(
            Needed::of("user=[0-9]+ failed"),
            Needed::All(vec![text("user="), text(" failed")])
        );
        assert_eq!(
            Needed::of("error|warning"),
            Needed::OneOf(vec![text("error"), text("warning")])
        );
        assert_eq!(Needed::of("(timeout)+"), text("timeout"));
        for open in ["(timeout)*", "error|.", "(?i)error", "ab", "", "(", "a?"] {
            assert_eq!(Needed::of(open), Needed::Nothing, "{open}");
        }
    }
}
