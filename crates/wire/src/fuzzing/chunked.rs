//! The body for chunked bodies of HTTP: what comes out does not depend on how the input is cut, is
//! within its limit, and nothing behind the body is touched.

use super::same_in_pieces;
use crate::chunked::{Chunked, ChunkedError};

/// The longest body of the target, in bytes.
const BODY_BYTES_MAX: usize = 1 << 10;

/// Any bytes are the same body, or refused for the same reason, however they are cut. The first
/// byte says where.
pub fn chunked_any(bytes: &[u8]) {
    let Some((&cut, bytes)) = bytes.split_first() else { return };
    let (body, _, _) = same_in_pieces(bytes, usize::from(cut), |lengths| decoded(bytes, lengths));
    assert!(body.len() <= BODY_BYTES_MAX, "{} bytes", body.len());
}

/// The body, how many bytes of the input it took, and how it ended.
fn decoded(
    mut bytes: &[u8],
    lengths: &mut dyn Iterator<Item = usize>,
) -> (Vec<u8>, usize, Result<bool, ChunkedError>) {
    let (mut chunked, mut body, mut used) = (Chunked::new(BODY_BYTES_MAX), Vec::new(), 0);
    for length in lengths.chain([usize::MAX]) {
        let (piece, later) = bytes.split_at(length.min(bytes.len()));
        bytes = later;
        match chunked.decode(piece, &mut body) {
            Ok(taken) if taken == piece.len() => used += taken,
            Ok(taken) => {
                assert!(chunked.is_done(), "bytes are left over inside a body");
                return (body, used + taken, Ok(true));
            }
            // How far it came before depends on the cut, as with every machine.
            Err(error) => return (body, 0, Err(error)),
        }
    }
    (body, used, Ok(chunked.is_done()))
}
