//! snap's raw format, called directly: an encoder that keeps its table, and the decoder, which has
//! nothing to keep. The library is Rust, so the compiler may inline it here as it may in our row.

use snap::raw::{Decoder, Encoder};

use crate::side::{Call, Operation, Side};

/// A side for the row `snappy`.
pub(super) fn side(operation: Operation, _: i32, _: Option<&[u8]>) -> Box<dyn Side> {
    match operation {
        Operation::Compress => Box::new(Compress(Encoder::new())),
        Operation::Decompress => Box::new(Decompress(Decoder::new())),
    }
}

struct Compress(Encoder);

impl Call for Compress {
    #[inline]
    fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        self.0.compress(input, output).unwrap_or(0)
    }
}

struct Decompress(Decoder);

impl Call for Decompress {
    #[inline]
    fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        self.0.decompress(input, output).unwrap_or(0)
    }
}
