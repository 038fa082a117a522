//! The chunked coding of HTTP/1.1 bodies (RFC 9112, section 7.1): the body is copied out as it
//! comes, and nothing else is kept, however it was cut. Only the strict form is read: a proxy in
//! front that understands a lenient one otherwise would see other requests than we do.

use crate::limits::{CHUNKED_EXTRA_BYTES_MAX, CHUNKED_SIZE_DIGITS_MAX};

/// What ends a connection with a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChunkedError {
    /// A byte is not what has to stand there.
    #[error("byte 0x{0:02x} is out of place in a chunked body")]
    Unexpected(u8),
    /// The body is longer than is allowed.
    #[error("a chunked body has more than {limit_bytes} bytes")]
    TooLong {
        /// What is allowed.
        limit_bytes: usize,
    },
    /// A size has too many digits, or there is too much that is no body.
    #[error("a chunked body has too many digits, extensions or trailers")]
    Overhead,
}

/// What has to come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A digit of a size, of which so many have come.
    Size(usize),
    /// The rest of the line of a size.
    Extension,
    /// The newline of that line.
    SizeEnd,
    /// So many bytes of the body.
    Data(usize),
    /// The carriage return behind a chunk.
    DataReturn,
    /// The newline behind a chunk.
    DataEnd,
    /// The first byte of a trailer, or of the empty line that is the end.
    Trailer,
    /// The rest of a trailer.
    TrailerText,
    /// The newline of a trailer.
    TrailerEnd,
    /// The newline of the empty line.
    LastEnd,
    /// Nothing.
    Done,
}

/// A chunked body that is being read.
#[derive(Debug, Clone)]
pub struct Chunked {
    state: State,
    size: usize,
    read_bytes: usize,
    extra_bytes: usize,
    limit_bytes: usize,
}

impl Chunked {
    /// A body of at most `limit_bytes` bytes, of which nothing has come.
    pub fn new(limit_bytes: usize) -> Chunked {
        Chunked { state: State::Size(0), size: 0, read_bytes: 0, extra_bytes: 0, limit_bytes }
    }

    /// Whether the body is whole.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Appends what `input` holds of the body to `body` and returns how many bytes were used. When
    /// the body is whole, what stands behind it is not touched.
    ///
    /// # Errors
    /// Any [`ChunkedError`]: the connection can't be understood any more.
    pub fn decode(&mut self, input: &[u8], body: &mut Vec<u8>) -> Result<usize, ChunkedError> {
        let mut used = 0;
        while let Some(&byte) = input.get(used) {
            match self.state {
                State::Done => break,
                State::Data(left) => {
                    let taken = left.min(input.len() - used);
                    body.extend_from_slice(&input[used..used + taken]);
                    used += taken;
                    self.state = match left - taken {
                        0 => State::DataReturn,
                        left => State::Data(left),
                    };
                }
                _ => {
                    self.step(byte)?;
                    used += 1;
                }
            }
        }
        Ok(used)
    }

    fn step(&mut self, byte: u8) -> Result<(), ChunkedError> {
        use State::{
            Data, DataEnd, DataReturn, Done, Extension, LastEnd, Size, SizeEnd, Trailer,
            TrailerEnd, TrailerText,
        };
        self.state = match (self.state, byte) {
            (Size(digits), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                if digits == CHUNKED_SIZE_DIGITS_MAX {
                    return Err(ChunkedError::Overhead);
                }
                let digit = (byte as char).to_digit(16).unwrap_or_default() as usize;
                self.size = self.size * 16 + digit;
                Size(digits + 1)
            }
            (Size(1..), b'\r') => SizeEnd,
            (Size(1..), b';' | b' ' | b'\t') => Extension,
            (Extension, b'\r') => SizeEnd,
            (Extension, b'\n') | (TrailerText, b'\n') => {
                return Err(ChunkedError::Unexpected(byte));
            }
            (Extension, _) => self.extra(Extension)?,
            (SizeEnd, b'\n') => self.chunk()?,
            (DataReturn, b'\r') => DataEnd,
            (DataEnd, b'\n') => Size(0),
            (Trailer, b'\r') => LastEnd,
            (Trailer, b'\n') => return Err(ChunkedError::Unexpected(byte)),
            (TrailerText, b'\r') => TrailerEnd,
            (Trailer | TrailerText, _) => self.extra(TrailerText)?,
            (TrailerEnd, b'\n') => Trailer,
            (LastEnd, b'\n') => Done,
            (
                Size(_) | SizeEnd | DataReturn | DataEnd | TrailerEnd | LastEnd | Data(_) | Done,
                _,
            ) => {
                return Err(ChunkedError::Unexpected(byte));
            }
        };
        Ok(())
    }

    /// A byte that is no part of the body.
    fn extra(&mut self, next: State) -> Result<State, ChunkedError> {
        self.extra_bytes += 1;
        if self.extra_bytes > CHUNKED_EXTRA_BYTES_MAX {
            return Err(ChunkedError::Overhead);
        }
        Ok(next)
    }

    /// The line of a size is over.
    fn chunk(&mut self) -> Result<State, ChunkedError> {
        let size = std::mem::take(&mut self.size);
        if size == 0 {
            return Ok(State::Trailer);
        }
        let limit_bytes = self.limit_bytes;
        self.read_bytes = self.read_bytes.saturating_add(size);
        if self.read_bytes > limit_bytes {
            return Err(ChunkedError::TooLong { limit_bytes });
        }
        Ok(State::Data(size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"4\r\nWiki\r\n6;name=\"a;b\"\r\npedia \r\n1A\r\nin \r\n\r\nchunks.\
                          0123456789ab\r\n000\r\nTrailer: x\r\n\r\nGET /";

    fn decode(input: &[u8], piece: usize) -> Result<(Vec<u8>, usize, bool), ChunkedError> {
        let (mut chunked, mut body, mut used) = (Chunked::new(100), Vec::new(), 0);
        for piece in input.chunks(piece) {
            let taken = chunked.decode(piece, &mut body)?;
            used += taken;
            if taken < piece.len() {
                break;
            }
        }
        Ok((body, used, chunked.is_done()))
    }

    #[test]
    fn a_body_is_the_same_however_it_was_cut_and_what_is_behind_it_stays() {
        for piece in 1..=BODY.len() {
            let (body, used, is_done) = decode(BODY, piece).unwrap();
            assert_eq!(body, b"Wikipedia in \r\n\r\nchunks.0123456789ab", "pieces of {piece}");
            assert!(is_done);
            assert_eq!(&BODY[used..], b"GET /", "pieces of {piece}");
        }
        for length in 0..BODY.len() - b"GET /".len() {
            assert!(!decode(&BODY[..length], 7).unwrap().2, "whole after {length}");
        }
    }

    #[test]
    fn what_is_not_the_strict_form_is_refused() {
        let wrong: [&[u8]; 9] = [
            b"\r\n",
            b"g\r\n",
            b"-1\r\n",
            b"+1\r\n",
            b"1\n",
            b"1\r\nab",
            b"1;x\ny",
            b"0\r\n\n",
            b"0\r\nT: x\n",
        ];
        for input in wrong {
            for piece in 1..=input.len() {
                let result = decode(input, piece);
                assert!(matches!(result, Err(ChunkedError::Unexpected(_))), "{input:?} {result:?}");
            }
        }
    }

    #[test]
    fn what_is_too_much_is_refused_before_it_is_kept() {
        let too_long = Err(ChunkedError::TooLong { limit_bytes: 100 });
        assert_eq!(decode(b"65\r\n", 1), too_long);
        assert_eq!(decode(b"1\r\na\r\n64\r\n", 3), too_long);
        assert_eq!(decode(b"fffffffffffffff\r\n", 1), too_long);
        let digits = [b'0'; CHUNKED_SIZE_DIGITS_MAX + 1];
        assert_eq!(decode(&digits, 5), Err(ChunkedError::Overhead));
        let mut extension = b"1;".to_vec();
        extension.resize(CHUNKED_EXTRA_BYTES_MAX + 3, b'x');
        assert_eq!(decode(&extension, 99), Err(ChunkedError::Overhead));
        let mut trailers = b"0\r\n".to_vec();
        (0..CHUNKED_EXTRA_BYTES_MAX).for_each(|_| trailers.extend_from_slice(b"ab\r\n"));
        assert_eq!(decode(&trailers, 99), Err(ChunkedError::Overhead));
    }
}
