//! A store's own compressor: one of cinch's codecs at the level that the store uses. Only the
//! length of what comes out is of interest here, so the bytes are written over each time.

use cinch_core::codec::{CodecChoice, Compressor};

use super::BehindError;

/// A compressor and the buffer that it writes into, kept from one call to the next.
pub(super) struct Squeeze {
    codec: CodecChoice,
    compressor: Box<dyn Compressor>,
    output: Vec<u8>,
}

impl Squeeze {
    /// The codec and level of this notation, such as `zstd:6`.
    pub(super) fn new(codec: &str) -> Result<Squeeze, BehindError> {
        let codec = CodecChoice::parse(codec)?;
        let compressor = codec.codec.compressor(codec.level, None)?;
        Ok(Squeeze { codec, compressor, output: Vec::new() })
    }

    /// How many bytes the input becomes.
    pub(super) fn length(&mut self, input: &[u8]) -> Result<usize, BehindError> {
        let bound = self.codec.codec.compress_bound(input.len());
        if self.output.len() < bound {
            self.output.resize(bound, 0);
        }
        Ok(self.compressor.compress(input, &mut self.output)?)
    }
}
