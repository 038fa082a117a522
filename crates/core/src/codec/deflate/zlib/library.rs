//! zlib's streams behind safe types: one allocation when they are made, a reset for each payload.
//!
//! A stream's state points back to the stream, so the stream is boxed and never moves. The library
//! counts what it is given in 32 bits, so longer buffers are handed over in parts.

use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;
use std::ptr;

use libz_sys::{
    Z_BUF_ERROR, Z_DATA_ERROR, Z_DEFAULT_STRATEGY, Z_DEFLATED, Z_FINISH, Z_NEED_DICT, Z_NO_FLUSH,
    Z_OK, Z_STREAM_END, Z_STREAM_ERROR, deflate, deflateEnd, deflateInit2_, deflateReset, inflate,
    inflateEnd, inflateInit2_, inflateReset, z_stream, zlibVersion,
};

use super::super::Wrapper;

/// The most the format allows, and everybody's default: a window of 32 KiB.
const WINDOW_BITS: c_int = 15;

/// Everybody's default.
const MEMORY_LEVEL: c_int = 8;

/// What zlib.h says that deflate takes: (1 << (windowBits+2)) + (1 << (memLevel+9)), and a few KB.
pub(super) const DEFLATE_BYTES: usize = (1 << 17) + (1 << 17) + 6 * 1024;

/// What zlib.h says that inflate takes: 1 << windowBits, and about 7 KB.
pub(super) const INFLATE_BYTES: usize = (1 << 15) + 7 * 1024;

/// The code of an error in the input.
pub(super) const DAMAGE: i64 = Z_DATA_ERROR as i64;

/// The code of a stream that was used wrongly.
pub(super) const STREAM: i64 = Z_STREAM_ERROR as i64;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// The end of the stream was written or read.
    End,
    /// There is no more input, or no more room.
    NoProgress,
    /// The input breaks the format.
    Damage,
    /// The input needs a dictionary with this checksum.
    NeedsDictionary(u32),
    /// Anything else, with the library's code.
    Failed(i64),
}

/// How a call ended, and how many bytes it read and wrote.
type Progress = (Status, usize, usize);

/// The library's own bound for default memory settings, and what a gzip member takes more than the
/// zlib wrapper that it counts.
pub(super) fn compress_bound(length: usize) -> usize {
    length + (length >> 12) + (length >> 14) + (length >> 25) + 13 + 12
}

pub(super) fn version() -> String {
    // SAFETY: the library returns a static string.
    let version = unsafe { CStr::from_ptr(zlibVersion()) };
    format!("zlib {}", version.to_string_lossy())
}

/// The window size as the library is told the wrapper by it.
fn window_bits(wrapper: Wrapper) -> c_int {
    match wrapper {
        Wrapper::Gzip => WINDOW_BITS + 16,
        Wrapper::Zlib => WINDOW_BITS,
        Wrapper::Raw => -WINDOW_BITS,
    }
}

/// A stream that is not initialised yet: the library allocates for itself.
fn blank() -> Box<z_stream> {
    let mut stream = Box::new(MaybeUninit::<z_stream>::zeroed());
    let allocators = stream.as_mut_ptr();
    // SAFETY: both fields are inside the box. The binding's type has no room for "none", and the
    // pair from the C library is what the library itself would use.
    unsafe {
        ptr::addr_of_mut!((*allocators).zalloc).write(allocate);
        ptr::addr_of_mut!((*allocators).zfree).write(give_back);
    }
    // SAFETY: the two function pointers are set; zero is a valid value of every other field.
    unsafe { Box::from_raw(Box::into_raw(stream).cast()) }
}

// SAFETY: both are the C library's, with the types that every C library gives them.
unsafe extern "C" {
    safe fn calloc(items: usize, size: usize) -> libz_sys::voidpf;
    fn free(block: libz_sys::voidpf);
}

extern "C" fn allocate(_: libz_sys::voidpf, items: u32, size: u32) -> libz_sys::voidpf {
    calloc(items as usize, size as usize)
}

extern "C" fn give_back(_: libz_sys::voidpf, block: libz_sys::voidpf) {
    // SAFETY: the library gives back only what `allocate` gave it, once.
    unsafe { free(block) }
}

/// Calls `step` until the stream ends or stands still, giving it at most 4 GiB at a time.
fn run(
    stream: &mut z_stream,
    input: &[u8],
    output: &mut [u8],
    step: unsafe extern "C" fn(*mut z_stream, c_int) -> c_int,
) -> Progress {
    let (mut read, mut written) = (0, 0);
    loop {
        let rest = &input[read..];
        let room = &mut output[written..];
        let offered_in = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        let offered_out = u32::try_from(room.len()).unwrap_or(u32::MAX);
        stream.next_in = rest.as_ptr().cast_mut();
        stream.avail_in = offered_in;
        stream.next_out = room.as_mut_ptr();
        stream.avail_out = offered_out;
        let is_last = rest.len() == offered_in as usize;
        // SAFETY: the stream is initialised and boxed, and the pointers and counts are those of
        // two slices that live across the call; the library does not write to its input.
        let code = unsafe { step(stream, if is_last { Z_FINISH } else { Z_NO_FLUSH }) };
        let (taken, given) = (offered_in - stream.avail_in, offered_out - stream.avail_out);
        read += taken as usize;
        written += given as usize;
        let status = match code {
            Z_STREAM_END => Status::End,
            Z_OK | Z_BUF_ERROR if taken == 0 && given == 0 => Status::NoProgress,
            Z_OK | Z_BUF_ERROR => continue,
            Z_DATA_ERROR => Status::Damage,
            Z_NEED_DICT => Status::NeedsDictionary(stream.adler as u32),
            other => Status::Failed(i64::from(other)),
        };
        return (status, read, written);
    }
}

/// A compression stream.
pub(super) struct DeflateState(Box<z_stream>);

// SAFETY: the stream owns its memory and is reached only through `&mut`; the library keeps nothing
// that belongs to a thread.
unsafe impl Send for DeflateState {}

impl DeflateState {
    pub(super) fn new(wrapper: Wrapper, level: i32) -> Option<DeflateState> {
        let mut stream = blank();
        // SAFETY: the stream is blank as the library asks for, and version and size are those of
        // the header that the bindings were made from.
        let code = unsafe {
            deflateInit2_(
                &mut *stream,
                level,
                Z_DEFLATED,
                window_bits(wrapper),
                MEMORY_LEVEL,
                Z_DEFAULT_STRATEGY,
                zlibVersion(),
                size_of::<z_stream>() as c_int,
            )
        };
        (code == Z_OK).then_some(DeflateState(stream))
    }

    /// Compresses all of `input`, or stops where `output` is full.
    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Progress {
        // SAFETY: the stream was initialised for compression.
        unsafe { deflateReset(&mut *self.0) };
        run(&mut self.0, input, output, deflate)
    }
}

impl Drop for DeflateState {
    fn drop(&mut self) {
        // SAFETY: the stream was initialised for compression and is ended once, here.
        unsafe { deflateEnd(&mut *self.0) };
    }
}

/// A decompression stream.
pub(super) struct InflateState(Box<z_stream>);

// SAFETY: as for `DeflateState`.
unsafe impl Send for InflateState {}

impl InflateState {
    pub(super) fn new(wrapper: Wrapper) -> Option<InflateState> {
        let mut stream = blank();
        // SAFETY: as in `DeflateState::new`.
        let code = unsafe {
            inflateInit2_(
                &mut *stream,
                window_bits(wrapper),
                zlibVersion(),
                size_of::<z_stream>() as c_int,
            )
        };
        (code == Z_OK).then_some(InflateState(stream))
    }

    /// Decompresses one stream from the start of `input`.
    pub(super) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Progress {
        // SAFETY: the stream was initialised for decompression.
        unsafe { inflateReset(&mut *self.0) };
        self.go_on(input, output)
    }

    /// Goes on where the last call stopped.
    pub(super) fn go_on(&mut self, input: &[u8], output: &mut [u8]) -> Progress {
        run(&mut self.0, input, output, inflate)
    }
}

impl Drop for InflateState {
    fn drop(&mut self) {
        // SAFETY: the stream was initialised for decompression and is ended once, here.
        unsafe { inflateEnd(&mut *self.0) };
    }
}
