//! LZ4 frames piece by piece: the calls into liblz4's frame functions, what of this crate is
//! `unsafe`. The wrappers that exist pull from a reader, which can't stop and go on.
//!
//! The library allocates two blocks of the size that a frame's header names. So the first bytes of
//! a header are looked at here before the library sees them.

use std::ptr;

use lz4_sys::{
    LZ4F_VERSION, LZ4F_createDecompressionContext, LZ4F_decompress, LZ4F_freeDecompressionContext,
    LZ4F_isError, LZ4FDecompressionContext,
};

use super::{Progress, StreamCodec, StreamError};

/// What a frame starts with. Legacy and skippable frames start otherwise and are refused.
const MAGIC: [u8; 4] = [0x04, 0x22, 0x4D, 0x18];

/// The bytes of a header up to the one that names the size of blocks.
const HEAD_BYTES: usize = 6;

/// What the library holds beside its two blocks: the window of linked blocks, and its state.
const FIXED_BYTES: usize = 192 << 10;

/// The decompressor of one stream of frames.
pub(super) struct State {
    context: LZ4FDecompressionContext,
    block_bytes_max: usize,
    /// The first bytes of a frame's header, kept until the size of its blocks is known.
    head: [u8; HEAD_BYTES],
    head_length: usize,
    /// How much of the head the library has been given.
    head_given: usize,
    block_bytes: usize,
}

// SAFETY: the context has no ties to the thread that made it, and is used only through `&mut self`
// and freed once.
unsafe impl Send for State {}

impl State {
    /// `None` when there is no memory for it.
    pub(super) fn new(block_bytes_max: usize) -> Option<State> {
        let mut context = LZ4FDecompressionContext(ptr::null_mut());
        // SAFETY: the context is a place for the pointer that the call makes.
        let result = unsafe { LZ4F_createDecompressionContext(&mut context, LZ4F_VERSION) };
        // SAFETY: a pure function of a number.
        let is_error = unsafe { LZ4F_isError(result) } != 0;
        let head = [0; HEAD_BYTES];
        let state =
            State { context, block_bytes_max, head, head_length: 0, head_given: 0, block_bytes: 0 };
        (!is_error).then_some(state)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        2 * self.block_bytes + FIXED_BYTES
    }

    /// One step, and whether it ended inside a frame.
    pub(super) fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(Progress, bool), StreamError> {
        let mut taken = 0;
        if self.head_length < HEAD_BYTES {
            taken = input.len().min(HEAD_BYTES - self.head_length);
            self.head[self.head_length..self.head_length + taken].copy_from_slice(&input[..taken]);
            self.head_length += taken;
            self.check_head()?;
            if self.head_length < HEAD_BYTES {
                return Ok((Progress { consumed: taken, written: 0 }, self.head_length > 0));
            }
        }
        while self.head_given < HEAD_BYTES {
            let head = self.head;
            let (progress, _) = self.call(&head[self.head_given..], &mut [])?;
            if progress.consumed == 0 {
                return Err(corrupt("liblz4 does not take the header"));
            }
            self.head_given += progress.consumed;
        }
        let (progress, hint) = self.call(&input[taken..], output)?;
        if hint == 0 {
            // The library is ready for the next frame by itself.
            (self.head_length, self.head_given) = (0, 0);
        }
        let consumed = taken + progress.consumed;
        Ok((Progress { consumed, written: progress.written }, hint != 0))
    }

    /// Refuses what is no frame as soon as that is known, and blocks above the limit.
    fn check_head(&mut self) -> Result<(), StreamError> {
        let magic_length = self.head_length.min(MAGIC.len());
        if self.head[..magic_length] != MAGIC[..magic_length] {
            return Err(corrupt("it does not begin with the magic of an LZ4 frame"));
        }
        if self.head_length == HEAD_BYTES {
            // Bits 4 to 6 name 64 KiB, 256 KiB, 1 MiB or 4 MiB by 4 to 7.
            let block_size = u32::from(self.head[5] >> 4 & 7);
            self.block_bytes = 1 << (2 * block_size + 8);
            if self.block_bytes > self.block_bytes_max {
                let limit_bytes = self.block_bytes_max;
                return Err(StreamError::WindowTooLarge { limit_bytes });
            }
        }
        Ok(())
    }

    fn call(&mut self, input: &[u8], output: &mut [u8]) -> Result<(Progress, usize), StreamError> {
        let (mut consumed, mut written) = (input.len(), output.len());
        // SAFETY: the context is live and exclusively ours; pointers and lengths are those of the
        // slices, and the call puts what it used of them in their place; there are no options.
        let hint = unsafe {
            LZ4F_decompress(
                self.context,
                output.as_mut_ptr(),
                &mut written,
                input.as_ptr(),
                &mut consumed,
                ptr::null(),
            )
        };
        // SAFETY: a pure function of a number.
        if unsafe { LZ4F_isError(hint) } != 0 {
            return Err(corrupt("liblz4 refuses the frame"));
        }
        Ok((Progress { consumed, written }, hint))
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the library and is freed once, here.
        unsafe { LZ4F_freeDecompressionContext(self.context) };
    }
}

fn corrupt(detail: &'static str) -> StreamError {
    StreamError::Corrupt { codec: StreamCodec::Lz4, detail }
}
