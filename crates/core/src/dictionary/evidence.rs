//! How many entities had what a dictionary holds, as the part of the file that says so.
//!
//! Nothing is decoded with it. It is there so that whoever is to hand a dictionary around can see
//! what of it few had.

use crate::envelope::{read_varint, write_varint};

/// How many entities had each thing in a dictionary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The lengths in bytes of the segments at the end of the codec's part, in order, and how many
    /// entities had each; 0 for a byte that only stands between two of them.
    pub segments: Vec<(u32, u32)>,
    /// How many entities had each line of the model, in the order of
    /// [`Model::contents`](crate::encoding::columnar::Model::contents).
    pub model: Vec<u32>,
}

impl Evidence {
    /// Appends the part's bytes.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_varint(self.segments.len() as u32, out);
        for &(bytes, entities) in &self.segments {
            write_varint(bytes, out);
            write_varint(entities, out);
        }
        for &entities in &self.model {
            write_varint(entities, out);
        }
    }

    /// Reads a part's bytes; nothing where they are none.
    pub(super) fn read(mut bytes: &[u8]) -> Option<Evidence> {
        let mut next = || {
            let (value, length) = read_varint(bytes)?;
            bytes = &bytes[length..];
            Some(value)
        };
        let mut evidence = Evidence::default();
        for _ in 0..next()? {
            evidence.segments.push((next()?, next()?));
        }
        while let Some(entities) = next() {
            evidence.model.push(entities);
        }
        bytes.is_empty().then_some(evidence)
    }
}
