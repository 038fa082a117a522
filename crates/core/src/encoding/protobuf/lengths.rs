//! Lengths that stand before what they measure: one byte is left for each, and those that need more
//! are filled in at the end, all in one pass.
//!
//! So a message is written once, front to back, whatever it nests, and nothing is moved twice.

/// A length that a byte was left for.
#[derive(Debug, Clone, Copy)]
struct Hole {
    /// Where the byte stands.
    at: usize,
    /// The length, once it is known and needs more than one byte; else 0.
    length: usize,
}

/// The lengths of one payload.
#[derive(Default)]
pub(super) struct Lengths {
    holes: Vec<Hole>,
    /// The bytes that the lengths known so far will take beside the one left for each.
    extra: usize,
}

/// A length that is being measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    hole: usize,
    extra: usize,
}

/// A place to go back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    holes: usize,
    extra: usize,
}

impl Lengths {
    /// Leaves a byte for the length of what follows.
    #[inline]
    pub(super) fn open(&mut self, out: &mut Vec<u8>) -> Open {
        let open = Open { hole: self.holes.len(), extra: self.extra };
        self.holes.push(Hole { at: out.len(), length: 0 });
        out.push(0);
        open
    }

    /// What was opened ends here.
    #[inline]
    pub(super) fn close(&mut self, open: Open, out: &mut [u8]) {
        let hole = &mut self.holes[open.hole];
        let length = out.len() - hole.at - 1 + self.extra - open.extra;
        if length < 0x80 {
            out[hole.at] = length as u8;
        } else {
            hole.length = length;
            self.extra += varint_bytes(length) - 1;
        }
    }

    /// A place to go back to with [`Lengths::back_to`].
    #[inline]
    pub(super) fn mark(&self) -> Mark {
        Mark { holes: self.holes.len(), extra: self.extra }
    }

    /// Forgets what was opened since the mark.
    pub(super) fn back_to(&mut self, mark: Mark) {
        self.holes.truncate(mark.holes);
        self.extra = mark.extra;
    }

    /// Writes the lengths that need more than a byte, from the last to the first.
    pub(super) fn fill(&self, out: &mut Vec<u8>) {
        if self.extra == 0 {
            return;
        }
        let mut end = out.len();
        out.resize(end + self.extra, 0);
        let mut to = out.len();
        for hole in self.holes.iter().rev().filter(|hole| hole.length > 0) {
            let start = hole.at + 1;
            out.copy_within(start..end, to - (end - start));
            to -= end - start;
            let mut varint = [0; 10];
            let bytes = write_varint(hole.length, &mut varint);
            out[to - bytes..to].copy_from_slice(&varint[..bytes]);
            to -= bytes;
            end = hole.at;
            if to == end {
                break;
            }
        }
    }
}

fn varint_bytes(value: usize) -> usize {
    ((usize::BITS - (value | 1).leading_zeros()) as usize).div_ceil(7)
}

fn write_varint(mut value: usize, into: &mut [u8; 10]) -> usize {
    let mut bytes = 0;
    while value >= 0x80 {
        into[bytes] = value as u8 | 0x80;
        value >>= 7;
        bytes += 1;
    }
    into[bytes] = value as u8;
    bytes + 1
}
