//! The search for the parameters and size that serve best, at the level that will be used.
//!
//! It is judged by the bytes of payloads that the course was not made of, because whatever is
//! learned looks best on its own payloads.

use cinch_core::codec::{Codec, CodecChoice, CompressError, Compressor, DictionaryUse, SetupError};
use cinch_core::encoding::Encoding;

use crate::content::Parameters;
use crate::lessons::{Course, Lessons, Under};
use crate::part::{CodecPart, LearnError};

/// The most bytes of payloads that judge, evenly spread; a tenth of it from this level on, which is
/// slow.
const JUDGE_BYTES_MAX: usize = 4_000_000;
const SLOW_LEVEL: i32 = 13;

/// The sizes that are tried, in bytes, the usual one of zstd's command line last.
pub const SIZES: [usize; 6] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 110 << 10];

/// The smallest dictionary within this of the best is taken: its bytes are distributed, loaded, and
/// compete for a processor's cache.
pub const SIZE_TOLERANCE: f64 = 0.02;

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tried {
    /// How the content was chosen.
    pub parameters: Parameters,
    /// The most bytes that the content could have.
    pub bytes: usize,
    /// The bytes of the payloads that judge, packed with it.
    pub judged_bytes: u64,
}

/// What the search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The smallest within [`SIZE_TOLERANCE`] of the best.
    pub best: Tried,
    /// All that was tried.
    pub tried: Vec<Tried>,
    /// The bytes of the payloads that judge, packed without a dictionary.
    pub judged_bytes_without: u64,
}

/// Why there is nothing to judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// There is no dictionary.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The codec does not take it.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The codec failed.
    #[error(transparent)]
    Compress(#[from] CompressError),
}

impl Course {
    /// Tries parameters at the largest size and then sizes, with `advance` called after each.
    ///
    /// # Errors
    /// [`SearchError`] where there is no dictionary at all.
    pub fn search(
        &mut self,
        encoding: &'static Encoding,
        choice: &CodecChoice,
        judges: &Lessons<'_>,
        mut advance: impl FnMut(),
    ) -> Result<Found, SearchError> {
        let slow = choice.level >= SLOW_LEVEL;
        let limit = if slow { JUDGE_BYTES_MAX / 10 } else { JUDGE_BYTES_MAX };
        let judges = Judges {
            with: judges.encoded_within(encoding, self.under(), limit),
            without: judges.encoded_within(encoding, Under::default(), limit),
            choice,
        };
        let judged_bytes_without = judges.without()?;
        advance();
        let largest = SIZES[SIZES.len() - 1].min(self.bytes_max());
        let mut tried: Vec<Tried> = Vec::new();
        for parameters in Parameters::all() {
            let part = self.part(parameters, largest, choice.level)?;
            let judged_bytes = judges.with(&part)?;
            tried.push(Tried { parameters, bytes: largest, judged_bytes });
            advance();
        }
        let best = |tried: &[Tried]| tried.iter().map(|tried| tried.judged_bytes).min();
        let least = best(&tried).unwrap_or(u64::MAX);
        let parameters = tried
            .iter()
            .find(|t| t.judged_bytes == least)
            .map(|t| t.parameters)
            .unwrap_or_default();
        for bytes in SIZES.into_iter().filter(|&bytes| bytes < largest) {
            let part = self.part(parameters, bytes, choice.level)?;
            tried.push(Tried { parameters, bytes, judged_bytes: judges.with(&part)? });
            advance();
        }
        let limit = best(&tried).unwrap_or(u64::MAX) as f64 * (1.0 + SIZE_TOLERANCE);
        let near = |tried: &&Tried| tried.judged_bytes as f64 <= limit;
        let smallest = tried.iter().filter(near).min_by_key(|t| (t.bytes, t.judged_bytes));
        let best = smallest.copied().unwrap_or(tried[0]);
        Ok(Found { best, tried, judged_bytes_without })
    }
}

/// How many steps a search has at most.
pub fn steps() -> u64 {
    (1 + Parameters::all().count() + SIZES.len()) as u64
}

/// Payloads that judge, encoded.
struct Judges<'a> {
    with: Vec<Vec<u8>>,
    without: Vec<Vec<u8>>,
    choice: &'a CodecChoice,
}

impl Judges<'_> {
    fn with(&self, part: &CodecPart) -> Result<u64, SearchError> {
        let codec = self.choice.codec.bare_form().unwrap_or(self.choice.codec);
        let dictionary = match codec.info().dictionary_use {
            DictionaryUse::EveryLevel => part.dictionary.clone(),
            _ => part.raw().map_err(LearnError::from)?,
        };
        let compressor = codec.compressor(self.choice.level, Some(&dictionary))?;
        packed_bytes(codec, compressor, &self.with)
    }

    fn without(&self) -> Result<u64, SearchError> {
        let codec = self.choice.codec.bare_form().unwrap_or(self.choice.codec);
        let compressor = codec.compressor(self.choice.level, None)?;
        packed_bytes(codec, compressor, &self.without)
    }
}

/// The bytes of all payloads after a codec.
pub(crate) fn packed_bytes(
    codec: &dyn Codec,
    mut compressor: Box<dyn Compressor>,
    payloads: &[Vec<u8>],
) -> Result<u64, SearchError> {
    let longest = payloads.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = vec![0; codec.compress_bound(longest)];
    let mut total = 0;
    for payload in payloads {
        total += compressor.compress(payload, &mut out)? as u64;
    }
    Ok(total)
}
