//! One side of a comparison: something that turns an input into an output, many times over.
//!
//! The loop is inside the side, compiled for it, so that the one dynamic call of a batch is paid by
//! both sides alike and only our side pays for the trait object that it is about.

use std::hint::black_box;
use std::sync::Arc;

use cinch_core::codec::{Codec, Compressor, Decompressor};
use cinch_core::dictionary::Dictionary;

use crate::failure::Outcome;

/// What is done with a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Operation {
    Compress,
    Decompress,
}

impl Operation {
    pub(crate) const BOTH: [Operation; 2] = [Operation::Compress, Operation::Decompress];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Operation::Compress => "compress",
            Operation::Decompress => "decompress",
        }
    }
}

/// One call. It returns how many bytes it wrote, and 0 or an absurd number when it failed.
pub(crate) trait Call {
    fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize;
}

/// Many calls.
pub(crate) trait Side {
    /// Calls `calls` times and returns the sum of the bytes written, which the caller checks.
    fn run(&mut self, calls: u32, input: &[u8], output: &mut [u8]) -> usize;
}

impl<C: Call> Side for C {
    fn run(&mut self, calls: u32, input: &[u8], output: &mut [u8]) -> usize {
        let mut sum = 0_usize;
        for _ in 0..calls {
            let written = self.call(black_box(input), black_box(&mut *output));
            sum = sum.wrapping_add(written);
        }
        black_box(sum)
    }
}

struct OurCompressor(Box<dyn Compressor>);

impl Call for OurCompressor {
    #[inline]
    fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        self.0.compress(input, output).unwrap_or(0)
    }
}

struct OurDecompressor(Box<dyn Decompressor>);

impl Call for OurDecompressor {
    #[inline]
    fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        self.0.decompress(input, output).unwrap_or(0)
    }
}

/// Our side: the registry's call through its trait object.
pub(crate) fn ours(
    codec: &dyn Codec,
    level: i32,
    operation: Operation,
    dictionary: Option<&Arc<Dictionary>>,
) -> Outcome<Box<dyn Side>> {
    Ok(match operation {
        Operation::Compress => Box::new(OurCompressor(codec.compressor(level, dictionary)?)),
        Operation::Decompress => Box::new(OurDecompressor(codec.decompressor(dictionary)?)),
    })
}
