//! The rows of `overhead`: a registry row, a level, with or without a dictionary. They are those of
//! the table `BARE`; this file finds our side for each and proves that both sides do the same.

use std::sync::Arc;

use cinch_core::codec::{CodecChoice, codec_named};
use cinch_core::dictionary::Dictionary;

use crate::bare::{BARE, Bare};
use crate::failure::Outcome;
use crate::paired::{Comparison, Effort, Subject};
use crate::random::Random;
use crate::side::{self, Operation, Side};

/// A row to measure.
pub(super) struct Row {
    bare: &'static Bare,
    choice: CodecChoice,
    pub(super) has_dictionary: bool,
}

/// Every row.
pub(super) fn rows() -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for bare in BARE {
        let codec = codec_named(bare.codec)
            .ok_or_else(|| format!("the registry has no codec {}", bare.codec))?;
        for (levels, has_dictionary) in [(bare.levels, false), (bare.dictionary_levels, true)] {
            for &level in levels {
                rows.push(Row { bare, choice: CodecChoice { codec, level }, has_dictionary });
            }
        }
    }
    Ok(rows)
}

/// A row, an operation and a payload, whose two sides were found to agree.
pub(super) struct Work<'a> {
    row: &'a Row,
    operation: Operation,
    dictionary: Option<&'a Arc<Dictionary>>,
    pub(super) input: Vec<u8>,
    /// How many bytes an output buffer has.
    capacity_bytes: usize,
    written_bytes: usize,
}

impl Row {
    /// The name in tables, `zstd:3+dictionary`.
    pub(super) fn name(&self) -> String {
        format!("{}{}", self.choice, if self.has_dictionary { "+dictionary" } else { "" })
    }

    /// Runs both operations of both sides once. It fails unless both compress to the same bytes
    /// and both make the payload of them again.
    pub(super) fn verified<'a>(
        &'a self,
        operation: Operation,
        payload: &[u8],
        dictionary: &'a Arc<Dictionary>,
    ) -> Outcome<Work<'a>> {
        let dictionary = self.has_dictionary.then_some(dictionary);
        let work = |operation, input: &[u8], capacity_bytes| Work {
            row: self,
            operation,
            dictionary,
            input: input.to_vec(),
            capacity_bytes,
            written_bytes: 0,
        };
        let bound = self.choice.codec.compress_bound(payload.len());
        let mut compress = work(Operation::Compress, payload, bound);
        let compressed = compress.output_of(compress.bare().as_mut());
        if compressed != compress.output_of(compress.ours()?.as_mut()) {
            return Err(
                format!("{}: the two sides compress to different bytes", self.name()).into()
            );
        }
        let mut decompress = work(Operation::Decompress, &compressed, payload.len());
        for mut side in [decompress.ours()?, decompress.bare()] {
            if decompress.output_of(side.as_mut()) != payload {
                return Err(format!("{}: the payload did not come back", self.name()).into());
            }
        }
        compress.written_bytes = compressed.len();
        decompress.written_bytes = payload.len();
        Ok(if operation == Operation::Compress { compress } else { decompress })
    }
}

impl Work<'_> {
    pub(super) fn ours(&self) -> Outcome<Box<dyn Side>> {
        let CodecChoice { codec, level } = self.row.choice;
        // A dictionary keeps its prepared form, so a side of its own takes a dictionary of its own:
        // else all of our sides would share one place in memory, and the bare ones would not.
        let fresh = |dictionary: &Arc<Dictionary>| Dictionary::new(dictionary.bytes().to_vec());
        let dictionary = self.dictionary.map(fresh).transpose()?;
        side::ours(codec, level, self.operation, dictionary.as_ref())
    }

    pub(super) fn bare(&self) -> Box<dyn Side> {
        let dictionary = self.dictionary.map(|dictionary| dictionary.bytes());
        self.row.bare.side(self.operation, self.row.choice.level, dictionary)
    }

    /// A buffer for what a call writes.
    pub(super) fn output(&self) -> Vec<u8> {
        vec![0; self.capacity_bytes]
    }

    /// What one call writes; nothing if it failed.
    fn output_of(&self, side: &mut dyn Side) -> Vec<u8> {
        let mut output = self.output();
        let written = side.run(1, &self.input, &mut output);
        output.truncate(if written <= output.len() { written } else { 0 });
        output
    }

    pub(super) fn compare(&self, effort: Effort, random: &mut Random) -> Outcome<Comparison> {
        let subject = Subject {
            ours: &|| self.ours(),
            bare: &|| Ok(self.bare()),
            input: &self.input,
            written_bytes: self.written_bytes,
        };
        subject.compare(effort, &mut self.output(), random)
    }
}
