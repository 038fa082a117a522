//! The zlib family by zlib-rs: the speed and ratio that everybody else's zlib has, in safe Rust.
//!
//! Contexts are made once and reset for each payload. The library's reset knows the zlib wrapper
//! and none, so the gzip member is put around raw DEFLATE here.

use zlib_rs::{
    Deflate, DeflateFlush, Inflate, InflateError, InflateFlush, Status, compress_bound as bound,
};

use super::{Wrapper, gzip};
use crate::codec::named::Named;
use crate::codec::{CodecInfo, CompressError, Compressor, DecompressError, Decompressor};

/// The library's default, and the most the format allows: a window of 32 KiB.
const WINDOW_BITS: u8 = 15;

/// What the compressor holds, by the library's own layout for 15 window bits and memory level 8:
/// the window twice, its chains, 2^16 hash heads, and 2^14 symbols in the pending buffer and the
/// symbol buffer.
const COMPRESSOR_BYTES: usize =
    2 * (1 << 15) + 2 * (1 << 15) + 2 * (1 << 16) + 4 * (1 << 14) + 3 * (1 << 14) + 8 * 1024;

/// What the decompressor holds: the window and the code tables.
const DECOMPRESSOR_BYTES: usize = (1 << 15) + 64 + 16 * 1024;

/// The most bytes that a payload can become in any of the wrappers.
pub(super) fn compress_bound(length: usize) -> usize {
    // The library's bound counts six bytes of zlib wrapper; a gzip member has 18.
    bound(length) + 12
}

pub(super) struct ZlibCompressor {
    named: Named,
    wrapper: Wrapper,
    level: i32,
    deflate: Deflate,
}

pub(super) struct ZlibDecompressor {
    named: Named,
    wrapper: Wrapper,
    inflate: Inflate,
}

impl ZlibCompressor {
    pub(super) fn new(info: &'static CodecInfo, wrapper: Wrapper, level: i32) -> Self {
        let deflate = ZlibCompressor::context(wrapper, level);
        ZlibCompressor { named: Named::of(info), wrapper, level, deflate }
    }

    fn context(wrapper: Wrapper, level: i32) -> Deflate {
        Deflate::new(level, wrapper == Wrapper::Zlib, WINDOW_BITS)
    }

    /// Writes what the library writes; an error leaves the context as good as new.
    fn blocks(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        self.deflate.reset();
        let result = self.stream(input, output);
        if result.is_err() {
            // Version 0.6.8 forgets to reset where its pending bytes begin, so that a stream which
            // was not finished would make a later one panic.
            self.deflate = ZlibCompressor::context(self.wrapper, self.level);
        }
        result
    }

    fn stream(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        loop {
            // One call does it all, except that the library takes at most 4 GiB in one.
            let done_in = self.deflate.total_in() as usize;
            let done_out = self.deflate.total_out() as usize;
            let rest = &input[done_in..];
            let flush = if rest.len() > u32::MAX as usize {
                DeflateFlush::NoFlush
            } else {
                DeflateFlush::Finish
            };
            let room = &mut output[done_out..];
            match self.deflate.compress(rest, room, flush) {
                Ok(Status::StreamEnd) => return Ok(self.deflate.total_out() as usize),
                Ok(_)
                    if self.deflate.total_in() as usize > done_in
                        && (self.deflate.total_out() as usize) < output.len() => {}
                Ok(_) => return Err(self.named.no_room(output)),
                Err(error) => return Err(self.named.compress_failed(error as i64)),
            }
        }
    }
}

impl Compressor for ZlibCompressor {
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        if self.wrapper != Wrapper::Gzip {
            return self.blocks(input, output);
        }
        let named = self.named;
        let capacity = output.len();
        let no_room = |_| CompressError::OutputTooSmall { codec: named.0, capacity };
        let Some((header, body)) = output.split_first_chunk_mut() else {
            return Err(named.no_room(output));
        };
        *header = gzip::HEADER;
        let length = self.blocks(input, body).map_err(|error| match error {
            CompressError::OutputTooSmall { .. } => no_room(error),
            other => other,
        })?;
        let Some(trailer) = body[length..].first_chunk_mut() else {
            return Err(CompressError::OutputTooSmall { codec: named.0, capacity });
        };
        *trailer = gzip::trailer(input);
        Ok(gzip::HEADER.len() + length + gzip::TRAILER_BYTES)
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + COMPRESSOR_BYTES
    }
}

impl ZlibDecompressor {
    pub(super) fn new(info: &'static CodecInfo, wrapper: Wrapper) -> Self {
        let inflate = Inflate::new(wrapper == Wrapper::Zlib, WINDOW_BITS);
        ZlibDecompressor { named: Named::of(info), wrapper, inflate }
    }

    /// Reads one stream of the library and returns how many bytes it read and wrote.
    fn blocks(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(usize, usize), DecompressError> {
        self.inflate.reset(self.wrapper == Wrapper::Zlib);
        loop {
            let done = (self.inflate.total_in() as usize, self.inflate.total_out() as usize);
            let (rest, room) = (&input[done.0..], &mut output[done.1..]);
            let status = self.inflate.decompress(rest, room, InflateFlush::Finish);
            let now = (self.inflate.total_in() as usize, self.inflate.total_out() as usize);
            match status {
                Ok(Status::StreamEnd) => return Ok(now),
                // The library takes at most 4 GiB in one call.
                Ok(_) if now != done && now.0 < input.len() && now.1 < output.len() => {}
                Ok(_) if now.1 == output.len() => return Err(self.full(&input[now.0..], now.1)),
                Ok(_) => return Err(self.named.corrupt()),
                Err(error) => return Err(self.failure(error)),
            }
        }
    }

    /// The output is full and the end was not seen: is there more content, or is the end cut off?
    #[cold]
    fn full(&mut self, rest: &[u8], capacity: usize) -> DecompressError {
        match self.inflate.decompress(rest, &mut [0], InflateFlush::Finish) {
            Err(error) => self.failure(error),
            Ok(_) if self.inflate.total_out() as usize > capacity => self.named.too_long(capacity),
            Ok(_) => self.named.corrupt(),
        }
    }

    #[cold]
    fn failure(&self, error: InflateError) -> DecompressError {
        match error {
            InflateError::NeedDict { dict_id } => self.named.needs_dictionary(dict_id),
            InflateError::DataError => self.named.corrupt(),
            InflateError::StreamError => self.named.decompress_failed(-2),
            InflateError::MemError => self.named.decompress_failed(-4),
        }
    }
}

impl Decompressor for ZlibDecompressor {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressError> {
        let (rest, written) = if self.wrapper == Wrapper::Gzip {
            let Some(body) = gzip::after_header(input) else {
                return Err(self.named.corrupt());
            };
            let (read, written) = self.blocks(body, output)?;
            match body[read..].split_first_chunk() {
                Some((trailer, rest)) if *trailer == gzip::trailer(&output[..written]) => {
                    (rest, written)
                }
                _ => return Err(self.named.corrupt()),
            }
        } else {
            let (read, written) = self.blocks(input, output)?;
            (&input[read..], written)
        };
        if !rest.is_empty() {
            return Err(self.named.trailing(rest.len()));
        }
        Ok(written)
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + DECOMPRESSOR_BYTES
    }

    fn name(&self) -> &'static str {
        self.named.0
    }
}
