//! Unpacks gzip and zstd on the way in, told by their first bytes and not by a name.
//!
//! Several members or frames after each other are one source, as gzip and zstd themselves have it.
//! What came out before a cut or damage is kept by the readers; this file words what happened.

use std::io::{self, BufRead, BufReader, Cursor, Read};

/// How a source is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// Not at all.
    None,
    /// RFC 1952, any number of members.
    Gzip,
    /// RFC 8878, any number of frames, skippable ones among them.
    Zstd,
}

const MAGIC_BYTES: usize = 4;

impl Packing {
    fn of(start: &[u8]) -> Packing {
        match *start {
            [0x1F, 0x8B, ..] => Packing::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Packing::Zstd,
            [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Packing::Zstd,
            _ => Packing::None,
        }
    }

    /// What a failed read means to whoever owns the file.
    pub(super) fn explain(self, error: &io::Error) -> String {
        let name = match self {
            Packing::None => return format!("can't be read further: {error}"),
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        };
        match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("the {name} stream is cut short"),
            _ => format!("the {name} stream can't be unpacked further: {error}"),
        }
    }
}

/// Opens a source for reading what it holds. `is_wanted` says whether a packing is to be undone.
pub(super) fn open<'a>(
    source: &'a mut dyn Read,
    is_wanted: impl Fn(Packing) -> bool,
) -> io::Result<(Packing, Box<dyn Read + 'a>)> {
    let mut start = Vec::with_capacity(MAGIC_BYTES);
    Read::take(&mut *source, MAGIC_BYTES as u64).read_to_end(&mut start)?;
    let packing = Packing::of(&start);
    let whole = Cursor::new(start).chain(source);
    Ok(match packing {
        packing if packing == Packing::None || !is_wanted(packing) => {
            (Packing::None, Box::new(whole))
        }
        Packing::Gzip => (packing, Box::new(flate2::bufread::MultiGzDecoder::new(buffered(whole)))),
        _ => (packing, Box::new(zstd::stream::read::Decoder::with_buffer(buffered(whole))?)),
    })
}

fn buffered<'a>(source: impl Read + 'a) -> impl BufRead + 'a {
    BufReader::with_capacity(128 << 10, source)
}
