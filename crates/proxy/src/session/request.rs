//! The command that is being received: how much of it has come, and where its arguments are. They
//! are places in the input, so that nothing is copied that only passes.

use cinch_wire::resp::{Event, inline_arguments};
use smallvec::SmallVec;

/// A command that is being received.
#[derive(Debug, Default)]
pub(super) struct Request {
    /// How much of the input was scanned; the command begins at the front.
    pub(super) scanned: usize,
    /// Where its arguments are in the input.
    arguments: Vec<(usize, usize)>,
    /// Where the argument is that comes in parts.
    parts: Option<(usize, usize)>,
    pub(super) inline: Option<Vec<Vec<u8>>>,
    pub(super) mode: Mode,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// It is collected.
    #[default]
    Whole,
    /// It passes as it comes.
    Streamed,
    /// It was refused, and is passed over.
    Skipped,
}

/// How many arguments are held without memory of their own.
const ARGUMENTS_USUAL: usize = 8;

impl Request {
    /// Takes events that were scanned at this place of the input; false where an inline command
    /// can't be understood.
    pub(super) fn note(&mut self, events: &[Event], at: usize, input: &[u8]) -> bool {
        for event in events {
            match event {
                Event::Inline(text) => match inline_arguments(text.of(&input[at..])) {
                    Ok(words) => self.inline = Some(words),
                    Err(_) => return false,
                },
                Event::Bulk(_, Some(body)) => {
                    self.arguments.push((at + body.start as usize, at + body.end as usize));
                }
                Event::BulkPart(part) => {
                    let (start, end) = (at + part.start as usize, at + part.end as usize);
                    self.parts = Some((self.parts.map_or(start, |(start, _)| start), end));
                }
                Event::BulkEnds => self.arguments.extend(self.parts.take()),
                _ => {}
            }
        }
        true
    }

    pub(super) fn arguments_of<'a>(
        &self,
        input: &'a [u8],
    ) -> SmallVec<[&'a [u8]; ARGUMENTS_USUAL]> {
        self.arguments.iter().map(|(start, end)| &input[*start..*end]).collect()
    }

    /// What lay in front was taken away.
    pub(super) fn moved(&mut self, by: usize) {
        let moved = |(start, end): (usize, usize)| (start - by, end - by);
        for place in &mut self.arguments {
            *place = moved(*place);
        }
        self.parts = self.parts.map(moved);
    }

    /// Forgets where arguments were in bytes that are gone.
    pub(super) fn forget_places(&mut self, is_whole: bool) {
        self.arguments.clear();
        self.parts = None;
        if is_whole {
            self.mode = Mode::Whole;
            self.inline = None;
        }
    }
}
