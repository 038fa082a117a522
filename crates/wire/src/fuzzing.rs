//! The bodies of the fuzz targets: one function for each property, from any bytes, which panics
//! when the property does not hold and returns when the bytes are merely refused. The ordinary
//! tests run them too, on bytes made up by proptest.
//!
//! The property that all machines share is in [`Feed`]: however the bytes are cut, the records are
//! the same, and what is left over is bounded.

use crate::scan::Scan;

mod chunked;
mod compressed;
mod forward;
mod native;
mod requests;
mod resp;
mod streams;

pub use chunked::chunked_any;
#[cfg(test)]
pub(crate) use compressed::decompressed;
pub use compressed::stream_any;
#[cfg(test)]
pub(crate) use forward::{Read, events, forward};
pub use forward::{forward_any, msgpack_any};
#[cfg(test)]
pub(crate) use native::{Served, native_client, native_server};
pub use native::{native_any, native_roundtrip};
pub use requests::{elastic_any, loki_any, otlp_any};
pub use resp::resp_any;
#[cfg(test)]
pub(crate) use resp::{LIMITS as RESP_LIMITS, resp};
#[cfg(test)]
pub(crate) use streams::{cal, lines, syslog};
pub use streams::{cal_any, lines_any, syslog_any};

/// A fuzz target: its name, which is that of its file, and its body.
pub type Target = (&'static str, fn(&[u8]));

/// Every fuzz target.
pub static TARGETS: &[Target] = &[
    ("cal_any", cal_any),
    ("forward_any", forward_any),
    ("elastic_any", elastic_any),
    ("lines_any", lines_any),
    ("loki_any", loki_any),
    ("msgpack_any", msgpack_any),
    ("native_any", native_any),
    ("native_roundtrip", native_roundtrip),
    ("otlp_any", otlp_any),
    ("resp_any", resp_any),
    ("stream_any", stream_any),
    ("syslog_any", syslog_any),
    ("chunked_any", chunked_any),
];

/// How a connection ended: with bytes left over, or by an error in words.
pub type Ending = Result<Vec<u8>, String>;

/// A caller as every one must be: it keeps what a scan leaves over and reads behind it.
#[derive(Debug)]
pub struct Feed<'a> {
    bytes: &'a [u8],
    needed_max: usize,
}

impl<'a> Feed<'a> {
    /// A connection that sends `bytes` to a machine that never needs more than `needed_max` of
    /// them at a time.
    pub fn new(bytes: &'a [u8], needed_max: usize) -> Feed<'a> {
        Feed { bytes, needed_max }
    }

    /// Shows the bytes to `scan` in pieces of these lengths, and what remains in one piece.
    ///
    /// # Panics
    /// If a scan consumes what is not there, needs no more than there is, or more than it may.
    pub fn in_pieces<E: ToString>(
        &self,
        lengths: impl IntoIterator<Item = usize>,
        mut scan: impl FnMut(&[u8]) -> Result<Scan, E>,
    ) -> Ending {
        let mut buffer = Vec::new();
        let mut rest = self.bytes;
        let lengths = lengths.into_iter().chain([usize::MAX]);
        for length in lengths {
            let (piece, later) = rest.split_at(length.min(rest.len()));
            rest = later;
            buffer.extend_from_slice(piece);
            let found = scan(&buffer).map_err(|error| error.to_string())?;
            assert!(found.consumed <= buffer.len(), "{found:?} of {} bytes", buffer.len());
            buffer.drain(..found.consumed);
            assert!(found.needed > buffer.len(), "{found:?} with {} bytes left", buffer.len());
            assert!(found.needed <= self.needed_max, "{found:?}, at most {}", self.needed_max);
        }
        Ok(buffer)
    }
}

/// Checks that `run`, which feeds a fresh machine with pieces of the lengths it is given, comes to
/// the same end as with all bytes at once: byte by byte, and cut in two at `cut`.
fn same_in_pieces<T: PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    cut: usize,
    run: impl Fn(&mut dyn Iterator<Item = usize>) -> T,
) -> T {
    let whole = run(&mut std::iter::empty());
    assert_eq!(run(&mut std::iter::repeat_n(1, bytes.len())), whole, "byte by byte");
    assert_eq!(run(&mut std::iter::once(cut)), whole, "cut at {cut}");
    whole
}

/// Checks the same for every cut, as the unit tests do with short inputs.
///
/// # Panics
/// If two ways to cut the bytes come to different ends.
pub fn same_at_every_cut<T: PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    run: impl Fn(&mut dyn Iterator<Item = usize>) -> T,
) -> T {
    let whole = same_in_pieces(bytes, 0, &run);
    for cut in 1..bytes.len() {
        assert_eq!(run(&mut std::iter::once(cut)), whole, "cut at {cut}");
    }
    whole
}
