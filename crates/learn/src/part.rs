//! The codec's part of a dictionary: chosen content, finished by zstd's builder.
//!
//! Where two segments meet, a text can stand that no segment holds and a few entities have. Such
//! meetings are looked for, and a byte is put between, so that any text of [`CHECKED_BYTES`] or
//! more that stands both in the content and in a sample is had by enough entities.

use std::sync::Arc;
use std::time::Instant;

use cinch_core::dictionary::{Dictionary, DictionaryError};
use xxhash_rust::xxh3::xxh3_64;

use crate::content::{self, Counts, Parameters};
use crate::library::{self, CONTENT_BYTES_MIN};
use crate::samples::{Sample, Samples};
use crate::shared::Shared;

/// Shorter texts are not looked at where segments meet: they occur by chance.
pub const CHECKED_BYTES: usize = 6;

/// What is put between two segments, the first that makes nothing of few entities; without one the
/// later segment is left out.
const GLUES: &[&[u8]] = &[b"", b"\n", b"\xFF", b"\0"];

/// Fewer samples can't be told apart from what they have in common.
pub const SAMPLES_MIN: usize = 12;

/// Samples have at least this many times the bytes of the dictionary, below which zstd's command
/// line warns: a dictionary that holds most of its samples has learned them by heart.
pub const SAMPLE_BYTES_FACTOR: usize = 8;

/// The entities of a segment are counted up to this number.
const ENTITIES_COUNTED_MAX: usize = 10_000;

/// The builder compresses samples to make entropy tables, of about so many bytes: up to this level
/// a megabyte takes 10 ms, above up to 0.8 s.
const FAST_LEVEL_MAX: i32 = 5;
const TABLE_BYTES_FAST: usize = 10_000_000;
const TABLE_BYTES_SLOW: usize = 1_000_000;

/// Ids below are reserved by RFC 8878, and those from 2^31.
const ID_MIN: u64 = 32_768;
const ID_END: u64 = 1 << 31;

/// A stretch of a dictionary's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Its length in bytes.
    pub bytes: usize,
    /// How many entities had it, up to 10,000; 0 for what only stands between two others.
    pub entities: usize,
}

/// What codecs refer back to.
#[derive(Debug, Clone)]
pub struct CodecPart {
    /// In zstd's format, header and tables included.
    pub dictionary: Arc<Dictionary>,
    /// What its content is made of, in order; together they are the end of the dictionary.
    pub segments: Vec<Segment>,
    /// How long it took, by the wall clock, in seconds.
    pub build_seconds: f64,
    /// How many samples it was made of.
    pub sample_payloads: usize,
    /// Their bytes, as far as they were used.
    pub sample_bytes: usize,
}

impl CodecPart {
    /// The content alone, without the header and tables that only zstd reads.
    pub fn content(&self) -> &[u8] {
        let bytes: usize = self.segments.iter().map(|segment| segment.bytes).sum();
        let all = self.dictionary.codec_bytes();
        &all[all.len() - bytes..]
    }

    /// The content as a dictionary of its own, for codecs other than zstd.
    ///
    /// # Errors
    /// None: the content is long enough.
    pub fn raw(&self) -> Result<Arc<Dictionary>, DictionaryError> {
        Dictionary::new(self.content().to_vec())
    }
}

/// Why there is no dictionary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LearnError {
    /// There are fewer than [`SAMPLES_MIN`] samples of at least 8 bytes.
    #[error("a dictionary needs at least {needed} payloads of 8 bytes or more, there are {got}")]
    TooFewSamples {
        /// How many there are.
        got: usize,
        /// How many are needed.
        needed: usize,
    },
    /// The samples are less than [`SAMPLE_BYTES_FACTOR`] times the dictionary.
    #[error(
        "a dictionary of {dictionary_bytes} bytes needs at least {needed} bytes of payloads to \
         learn from, there are {got}"
    )]
    TooFewBytes {
        /// The length that was asked for, in bytes.
        dictionary_bytes: usize,
        /// The bytes that there are.
        got: usize,
        /// The bytes that are needed.
        needed: usize,
    },
    /// There are fewer entities than have to share something.
    #[error(
        "a dictionary holds only what {entities_min} different entities had, and the payloads are \
         of fewer"
    )]
    NothingShared {
        /// How many entities would have to share it.
        entities_min: u32,
    },
    /// zstd's builder made no dictionary of the content.
    #[error("zstd makes no dictionary of what the payloads share: {reason}")]
    Refused {
        /// What the library says.
        reason: String,
    },
    /// What was made is not a dictionary of ours.
    #[error(transparent)]
    Dictionary(#[from] DictionaryError),
}

/// What a dictionary can be made of: samples, and what they share.
pub(crate) struct Ground {
    samples: Samples,
    shared: Shared,
    counts: Vec<Counts>,
    entities_min: u32,
    start: Instant,
}

impl Ground {
    /// Looks for what at least `entities_min` entities share.
    ///
    /// # Errors
    /// [`LearnError::TooFewSamples`], and [`LearnError::NothingShared`] where there are fewer
    /// entities.
    pub(crate) fn of(samples: &[Sample<'_>], entities_min: u32) -> Result<Ground, LearnError> {
        let start = Instant::now();
        let samples = Samples::gather(samples);
        if samples.count() < SAMPLES_MIN {
            return Err(LearnError::TooFewSamples { got: samples.count(), needed: SAMPLES_MIN });
        }
        let nothing = LearnError::NothingShared { entities_min };
        if samples.entities_count < entities_min as usize {
            return Err(nothing);
        }
        let shared = Shared::of(&samples, entities_min).ok_or(nothing)?;
        Ok(Ground { samples, shared, counts: Vec::new(), entities_min, start })
    }

    /// The most bytes that a dictionary of these samples may have.
    pub(crate) fn bytes_max(&self) -> usize {
        self.samples.bytes() / SAMPLE_BYTES_FACTOR
    }

    /// Makes a dictionary with content of at most `bytes` bytes for a level of zstd. The same
    /// samples give the same bytes.
    ///
    /// # Errors
    /// [`LearnError`] where the samples are too few or have too little in common.
    pub(crate) fn part(
        &mut self,
        parameters: Parameters,
        bytes: usize,
        level: i32,
    ) -> Result<CodecPart, LearnError> {
        let got = self.samples.bytes();
        let needed = bytes.saturating_mul(SAMPLE_BYTES_FACTOR);
        if got < needed {
            return Err(LearnError::TooFewBytes { dictionary_bytes: bytes, got, needed });
        }
        let at = match self.counts.iter().position(|c| c.part_bytes == parameters.part_bytes) {
            Some(at) => at,
            None => {
                self.counts.push(Counts::of(&self.samples, parameters.part_bytes));
                self.counts.len() - 1
            }
        };
        let counts = &self.counts[at];
        let ranges = content::choose(&self.samples, &self.shared, counts, parameters, bytes);
        let (content, segments) = self.join(&ranges, bytes);
        // What is made of the same content for two levels differs in its tables.
        let id = dictionary_id(&[&content[..], &level.to_le_bytes()].concat());
        let (flat, lengths) = self.for_tables(level);
        let finished = library::finish(&content, &flat, &lengths, level, id)
            .map_err(|reason| LearnError::Refused { reason })?;
        Ok(CodecPart {
            dictionary: Dictionary::new(finished)?,
            segments,
            build_seconds: self.start.elapsed().as_secs_f64(),
            sample_payloads: self.samples.count(),
            sample_bytes: got,
        })
    }

    /// Evenly spread samples, one after the other, and their lengths, for the entropy tables.
    fn for_tables(&self, level: i32) -> (Vec<u8>, Vec<usize>) {
        let limit = if level > FAST_LEVEL_MAX { TABLE_BYTES_SLOW } else { TABLE_BYTES_FAST };
        let stride = self.samples.bytes() / limit + 1;
        let taken = || (0..self.samples.count()).step_by(stride).map(|at| self.samples.sample(at));
        (taken().flatten().copied().collect(), taken().map(<[u8]>::len).collect())
    }

    /// Puts segments one after the other, the first last, with a byte between those that would make
    /// what few entities have.
    fn join(&self, ranges: &[(usize, usize)], bytes: usize) -> (Vec<u8>, Vec<Segment>) {
        let mut content: Vec<u8> = Vec::new();
        let mut segments: Vec<Segment> = Vec::new();
        // Little content is repeated until the library takes it.
        let total: usize = ranges.iter().map(|(start, end)| end - start).sum();
        let times = if total == 0 { 0 } else { CONTENT_BYTES_MIN.div_ceil(total) };
        let in_order = || ranges.iter().rev();
        for &(start, end) in (0..times).flat_map(|_| in_order()) {
            let text = &self.samples.flat[start..end];
            let border = content.len();
            let glue = GLUES.iter().find(|glue| {
                content.truncate(border);
                content.extend_from_slice(glue);
                content.extend_from_slice(text);
                self.is_clean(&content, border)
                    && (glue.is_empty() || self.is_clean(&content, border + glue.len()))
            });
            let Some(glue) = glue else {
                content.truncate(border);
                continue;
            };
            if !glue.is_empty() {
                segments.push(Segment { bytes: glue.len(), entities: 0 });
            }
            let entities = self.shared.entities_of(&self.samples, text, ENTITIES_COUNTED_MAX);
            segments.push(Segment { bytes: text.len(), entities });
        }
        if content.len() < CONTENT_BYTES_MIN {
            let missing = CONTENT_BYTES_MIN - content.len();
            content.splice(..0, std::iter::repeat_n(0, missing));
            segments.insert(0, Segment { bytes: missing, entities: 0 });
        }
        // What was put between takes the place of the least.
        let surplus = content.len().saturating_sub(bytes.max(CONTENT_BYTES_MIN));
        content.drain(..surplus);
        cut(&mut segments, surplus);
        (content, segments)
    }

    /// Whether every text across the border that a sample holds is had by enough entities.
    fn is_clean(&self, content: &[u8], border: usize) -> bool {
        let needed = self.entities_min as usize;
        for start in (0..border).rev() {
            let text = &content[start..];
            let matched = self.shared.longest_match(&self.samples, text);
            if start + matched <= border {
                // No text that begins earlier crosses the border: its end would have matched here.
                return true;
            }
            let is_checked = matched >= CHECKED_BYTES;
            if is_checked
                && self.shared.entities_of(&self.samples, &text[..matched], needed) < needed
            {
                return false;
            }
        }
        true
    }
}

/// Takes so many bytes from the beginning of segments.
fn cut(segments: &mut Vec<Segment>, mut bytes: usize) {
    while bytes > 0 && !segments.is_empty() {
        let taken = bytes.min(segments[0].bytes);
        segments[0].bytes -= taken;
        bytes -= taken;
        if segments[0].bytes == 0 {
            segments.remove(0);
        }
    }
}

/// An id that is made of content, outside what RFC 8878 reserves.
pub(crate) fn dictionary_id(content: &[u8]) -> u32 {
    (ID_MIN + xxh3_64(content) % (ID_END - ID_MIN)) as u32
}

#[cfg(test)]
mod tests;
