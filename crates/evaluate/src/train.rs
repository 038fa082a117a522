//! Dictionaries from a corpus, by zstd's own trainer.
//!
//! The trainer first looks for the length of segment that serves best, on samples it holds back.
//! Alone it would stop there, with a dictionary that never saw a quarter of the samples, the latest
//! ones at that; so it is called once more, with that length and all samples. The same samples and
//! level give the same bytes.

mod library;

use std::sync::Arc;
use std::time::Instant;

use cinch_core::dictionary::{Dictionary, DictionaryError};
use xxhash_rust::xxh3::xxh3_64;

/// The most bytes of samples that a dictionary is made of. Ten times as much makes a better
/// dictionary only where the corpus is one of many kinds, and takes ten times as long.
pub const TRAIN_BYTES_MAX: usize = 10_000_000;

/// A longer sample is cut, as zstd's command line does: what comes after is beyond the reach of a
/// dictionary, and one huge sample would crowd the others out.
pub const SAMPLE_BYTES_MAX: usize = 128 << 10;

/// The trainer counts segments of 8 bytes: shorter samples hold none.
const SAMPLE_BYTES_MIN: usize = 8;

/// Fewer samples can't be told apart from what they have in common.
pub const SAMPLES_MIN: usize = 12;

/// Samples have at least this many times the bytes of the dictionary, below which zstd's command
/// line warns: a dictionary that holds most of its samples has learned them by heart.
pub const SAMPLE_BYTES_FACTOR: usize = 8;

/// The sizes of dictionaries that are tried: one that stays in a processor's first-level cache, and
/// the usual one.
pub const DICTIONARY_BYTES: [usize; 2] = [16 << 10, 110 << 10];

/// The smallest dictionary that the trainer makes, in bytes.
pub const DICTIONARY_BYTES_MIN: usize = 256;

/// Ids below are reserved by RFC 8878, and those from 2^31.
const ID_MIN: u64 = 32_768;
const ID_END: u64 = 1 << 31;

/// Where the id stands in the header of a dictionary, after four bytes of magic.
const ID_OFFSET: usize = 4;

/// A dictionary and what it was made of.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The dictionary.
    pub dictionary: Arc<Dictionary>,
    /// Its length in bytes.
    pub bytes: usize,
    /// How long the training took, by the wall clock, in seconds.
    pub build_seconds: f64,
    /// How many samples it was made of.
    pub sample_payloads: usize,
    /// Their bytes, as far as they were used.
    pub sample_bytes: usize,
}

/// Why there is no dictionary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrainError {
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
    /// A dictionary below [`DICTIONARY_BYTES_MIN`] was asked for.
    #[error("a dictionary has at least {DICTIONARY_BYTES_MIN} bytes, not {got}")]
    TooSmall {
        /// The length that was asked for, in bytes.
        got: usize,
    },
    /// The trainer found nothing that is worth a dictionary, such as in random bytes.
    #[error("zstd found no dictionary in the payloads: {reason}")]
    Refused {
        /// What the library says.
        reason: String,
    },
    /// What was made is not a dictionary of ours.
    #[error(transparent)]
    Dictionary(#[from] DictionaryError),
}

/// Trains a dictionary of at most `dictionary_bytes` bytes for a level of zstd, where levels of 3
/// and above get the same one. Where the samples have more than [`TRAIN_BYTES_MAX`] bytes, evenly
/// spread ones are taken. Its id is made of its content.
///
/// # Errors
/// [`TrainError`] where the samples are too few or have nothing in common.
pub fn train(
    samples: &[&[u8]],
    dictionary_bytes: usize,
    level: i32,
) -> Result<Trained, TrainError> {
    let start = Instant::now();
    if dictionary_bytes < DICTIONARY_BYTES_MIN {
        return Err(TrainError::TooSmall { got: dictionary_bytes });
    }
    let (flat, lengths) = gather(samples);
    if lengths.len() < SAMPLES_MIN {
        return Err(TrainError::TooFewSamples { got: lengths.len(), needed: SAMPLES_MIN });
    }
    let needed = dictionary_bytes.saturating_mul(SAMPLE_BYTES_FACTOR);
    if flat.len() < needed {
        return Err(TrainError::TooFewBytes { dictionary_bytes, got: flat.len(), needed });
    }
    let mut bytes = library::train(&flat, &lengths, dictionary_bytes, level)
        .map_err(|reason| TrainError::Refused { reason })?;
    write_id(&mut bytes);
    Ok(Trained {
        bytes: bytes.len(),
        dictionary: Dictionary::new(bytes)?,
        build_seconds: start.elapsed().as_secs_f64(),
        sample_payloads: lengths.len(),
        sample_bytes: flat.len(),
    })
}

/// Trains a dictionary of raw content, without the header and the entropy tables that only zstd can
/// read: the form for LZ4, which uses its last 64 KiB.
///
/// # Errors
/// As [`train`].
pub fn train_raw(
    samples: &[&[u8]],
    dictionary_bytes: usize,
    level: i32,
) -> Result<Trained, TrainError> {
    train(samples, dictionary_bytes, level)?.raw()
}

impl Trained {
    /// The same dictionary as raw content, without training again.
    ///
    /// # Errors
    /// [`TrainError::Dictionary`] where no content is left.
    pub fn raw(&self) -> Result<Trained, TrainError> {
        let bytes = self.dictionary.bytes();
        let content = bytes[library::header_bytes(bytes)..].to_vec();
        Ok(Trained { bytes: content.len(), dictionary: Dictionary::new(content)?, ..self.clone() })
    }
}

/// The bytes of samples that the trainer learns from: none of those that are too short, and of long
/// ones the beginning.
pub fn usable_bytes(samples: &[&[u8]]) -> usize {
    usable(samples).map(<[u8]>::len).sum()
}

fn usable<'a>(samples: &'a [&'a [u8]]) -> impl Iterator<Item = &'a [u8]> {
    samples
        .iter()
        .filter(|sample| sample.len() >= SAMPLE_BYTES_MIN)
        .map(|sample| &sample[..sample.len().min(SAMPLE_BYTES_MAX)])
}

/// The samples one after the other, and their lengths: all of them, or evenly spread ones that
/// keep within [`TRAIN_BYTES_MAX`].
fn gather(samples: &[&[u8]]) -> (Vec<u8>, Vec<usize>) {
    let total = usable_bytes(samples);
    let mut flat = Vec::with_capacity(total.min(TRAIN_BYTES_MAX));
    let mut lengths = Vec::new();
    let mut seen = 0usize;
    for sample in usable(samples) {
        // What was taken keeps up with the same share of what was seen, up to the end.
        let due = (seen as u128 * TRAIN_BYTES_MAX as u128 / total as u128) as usize;
        seen += sample.len();
        if total <= TRAIN_BYTES_MAX
            || (flat.len() <= due && flat.len() + sample.len() <= TRAIN_BYTES_MAX)
        {
            flat.extend_from_slice(sample);
            lengths.push(sample.len());
        }
    }
    (flat, lengths)
}

/// Writes an id that is made of everything else: the library makes it of the content alone, so that
/// dictionaries for two levels, which differ in their entropy tables, would share an id.
fn write_id(bytes: &mut [u8]) {
    if let Some(id) = bytes.get_mut(ID_OFFSET..ID_OFFSET + 4) {
        id.fill(0);
        let id = dictionary_id(bytes);
        bytes[ID_OFFSET..ID_OFFSET + 4].copy_from_slice(&id.to_le_bytes());
    }
}

/// An id that is made of content, outside what RFC 8878 reserves.
pub(crate) fn dictionary_id(content: &[u8]) -> u32 {
    (ID_MIN + xxh3_64(content) % (ID_END - ID_MIN)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinch_core::codec;

    /// Payloads of one kind, each with values of its own.
    fn payloads(count: usize) -> Vec<Vec<u8>> {
        (0..count)
            .map(|number| {
                let hash = xxh3_64(&number.to_le_bytes());
                let (article, street) = (hash % 977, hash % 10_007);
                format!(r#"{{"order":{hash},"currency":"EUR","lines":[{{"article":"A{article}","#)
                    + r#""quantity":2,"unit":"piece"}],"shipping":{"method":"parcel","#
                    + &format!(r#""street":{street}}}}}"#)
            })
            .map(String::into_bytes)
            .collect()
    }

    fn slices(payloads: &[Vec<u8>]) -> Vec<&[u8]> {
        payloads.iter().map(Vec::as_slice).collect()
    }

    /// The bytes of payloads after a codec, each of which must come back.
    fn packed(
        name: &str,
        level: i32,
        dictionary: Option<&Arc<Dictionary>>,
        payloads: &[Vec<u8>],
    ) -> usize {
        let codec = codec::codec_named(name).unwrap();
        let mut compressor = codec.compressor(level, dictionary).unwrap();
        let mut decompressor = codec.decompressor(dictionary).unwrap();
        payloads
            .iter()
            .map(|payload| {
                let mut out = vec![0; codec.compress_bound(payload.len())];
                let length = compressor.compress(payload, &mut out).unwrap();
                let mut back = vec![0; payload.len()];
                assert_eq!(decompressor.decompress(&out[..length], &mut back).unwrap(), back.len());
                assert_eq!(&back, payload);
                length
            })
            .sum()
    }

    #[test]
    fn a_dictionary_halves_new_payloads_of_the_same_kind() {
        let all = payloads(3_000);
        let (train_on, new) = all.split_at(2_500);
        let trained = train(&slices(train_on), 4 << 10, 3).unwrap();
        assert!(trained.bytes <= 4 << 10 && trained.bytes == trained.dictionary.bytes().len());
        assert_eq!(trained.sample_payloads, 2_500);
        assert_eq!(trained.sample_bytes, train_on.iter().map(Vec::len).sum::<usize>());
        let with = packed("zstd", 3, Some(&trained.dictionary), new);
        assert!(2 * with < packed("zstd", 3, None, new));
        let raw = train_raw(&slices(train_on), 4 << 10, 3).unwrap();
        assert!(trained.dictionary.bytes().ends_with(raw.dictionary.bytes()));
        assert!(raw.bytes < trained.bytes);
        let with = packed("lz4", 9, Some(&raw.dictionary), new);
        assert!(2 * with < packed("lz4", 9, None, new));
    }

    #[test]
    fn the_same_samples_give_the_same_bytes_and_another_level_another_id() {
        let payloads = payloads(600);
        let bytes = |level| {
            let trained = train(&slices(&payloads), 4 << 10, level).unwrap();
            (trained.dictionary.id(), trained.dictionary.bytes().to_vec())
        };
        let (id, dictionary) = bytes(3);
        assert!((32_768..1 << 31).contains(&id));
        assert_eq!((id, dictionary), bytes(3));
        assert_ne!(id, bytes(-5).0);
    }

    #[test]
    fn too_few_samples_are_an_error_that_says_how_many_are_needed() {
        let error = |samples: &[&[u8]], bytes| train(samples, bytes, 3).map(drop).unwrap_err();
        assert_eq!(error(&[], 4_096), TrainError::TooFewSamples { got: 0, needed: 12 });
        let tiny = [b"[1,2,3]".as_slice(); 5_000];
        assert_eq!(error(&tiny, 4_096), TrainError::TooFewSamples { got: 0, needed: 12 });
        let few = payloads(20);
        let got = few.iter().map(Vec::len).sum();
        let expected = TrainError::TooFewBytes { dictionary_bytes: 4_096, got, needed: 32_768 };
        assert_eq!(error(&slices(&few), 4_096), expected);
        assert_eq!(error(&slices(&few), 100), TrainError::TooSmall { got: 100 });
        let huge = usize::MAX;
        assert!(matches!(error(&slices(&few), huge), TrainError::TooFewBytes { .. }));
    }

    #[test]
    fn samples_above_the_bound_are_cut_and_evenly_spread() {
        let long = vec![b'x'; 300_000];
        let short = vec![b'y'; 50_000];
        let samples: Vec<&[u8]> = (0..400)
            .map(|number| if number % 2 == 0 { long.as_slice() } else { short.as_slice() })
            .collect();
        let (flat, lengths) = gather(&samples);
        assert!(flat.len() <= TRAIN_BYTES_MAX && flat.len() > TRAIN_BYTES_MAX * 9 / 10);
        assert_eq!(lengths.iter().max(), Some(&SAMPLE_BYTES_MAX));
        let (first, second) = lengths.split_at(lengths.len() / 2);
        let [first, second] = [first, second].map(|half| half.iter().sum::<usize>());
        assert!(first.abs_diff(second) <= TRAIN_BYTES_MAX / 20);
        assert!(lengths.contains(&50_000));
    }
}
