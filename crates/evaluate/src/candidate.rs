//! Candidates: which (encoding, codec, level, dictionary) are tried, by default, by name, or all.
//!
//! The default list is about 80 long, so that a run takes about a minute: every usual codec with
//! the payload's own text, with MessagePack and with columns, and every other encoding with three
//! codecs that tell whether it is worth a closer look. What stage 1 finds best there is then looked
//! at more closely: its other levels, and the other encodings with it.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use cinch_core::codec::{CODECS, ChoiceError, Codec, CodecChoice, STORED};
use cinch_core::dictionary::Dictionary;
use cinch_core::encoding::{ENCODINGS, Encoding, Engine, encoding_named};
use cinch_core::schema::Schema;

use crate::goal::Goal;

/// The codecs that are tried when none are named.
const CODECS_DEFAULT: &str = "stored,snappy,lz4:1,lz4:9,gzip:6,zlib:6,zlib-libdeflate:6,\
                              zstd:-5,zstd:1,zstd:3,zstd:6,zstd:12,brotli:4,brotli:6,\
                              lzma2:3,lzma2:6,bzip2:9";

/// What a goal for size adds, slow as it is.
const CODECS_SLOW: &str = "zstd:19,brotli:11,lzma2:9";

/// The codecs that every encoding is tried with.
const CODECS_BRIEF: &str = "stored,snappy,zlib:6,zstd:3";

/// The encodings that are tried with every codec.
const ENCODINGS_MAIN: &[&str] = &["verbatim", "msgpack", "columnar"];

/// A dictionary that was trained for this run, and what it took.
#[derive(Debug)]
pub struct Learned {
    /// What tells it from the others in a trial's name, such as `110K`.
    pub label: String,
    /// The dictionary.
    pub dictionary: Arc<Dictionary>,
    /// Time to train it, in seconds.
    pub build_seconds: f64,
    /// How many payloads trained it.
    pub sample_payloads: u64,
    /// Their bytes.
    pub sample_bytes: u64,
}

/// One combination to try.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The encoding.
    pub encoding: &'static Encoding,
    /// The codec and level.
    pub codec: CodecChoice,
    /// The dictionary, if there is one.
    pub learned: Option<Arc<Learned>>,
    /// The schema, for an encoding that needs one.
    pub schema: Option<Arc<Schema>>,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Candidate) -> bool {
        let id = |candidate: &Candidate| candidate.dictionary().map(|dictionary| dictionary.id());
        self.encoding == other.encoding && self.codec == other.codec && id(self) == id(other)
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.encoding.name, self.codec)?;
        match &self.learned {
            Some(learned) => write!(f, "+dict-{}", learned.label),
            None => Ok(()),
        }
    }
}

/// Why a list of candidates is none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CandidateError {
    /// No encoding has this name.
    #[error("no encoding is called {name:?}; there are {}", encoding_names())]
    UnknownEncoding {
        /// The name.
        name: String,
    },
    /// The codec part is wrong.
    #[error(transparent)]
    Codec(#[from] ChoiceError),
    /// A pair is not written as encoding+codec.
    #[error("{text:?} is no pair such as json+zlib:6")]
    NoPair {
        /// The text.
        text: String,
    },
}

fn encoding_names() -> String {
    ENCODINGS.iter().map(|encoding| encoding.name).collect::<Vec<_>>().join(", ")
}

impl Candidate {
    /// Parses a pair such as `json+zlib:6`.
    pub fn parse(text: &str) -> Result<Candidate, CandidateError> {
        let (encoding, codec) =
            text.split_once('+').ok_or_else(|| CandidateError::NoPair { text: text.to_owned() })?;
        Ok(Candidate::plain(find_encoding(encoding)?, CodecChoice::parse(codec)?))
    }

    /// A candidate without a dictionary.
    pub fn plain(encoding: &'static Encoding, codec: CodecChoice) -> Candidate {
        Candidate { encoding, codec, learned: None, schema: None }
    }

    /// The dictionary, if there is one.
    pub fn dictionary(&self) -> Option<&Arc<Dictionary>> {
        self.learned.as_ref().map(|learned| &learned.dictionary)
    }

    /// Whether it leaves payloads as they are.
    pub fn is_nothing(&self) -> bool {
        matches!(self.encoding.engine, Engine::Verbatim) && self.codec.codec.info().id == STORED
    }

    /// Whether the level is one that is left out unless it is asked for.
    pub fn is_slow(&self) -> bool {
        self.codec.level >= self.codec.codec.info().levels.slow_from
    }

    /// Whether the codec takes the dictionary on this level.
    pub fn is_possible(&self) -> bool {
        let CodecChoice { codec, level } = self.codec;
        self.learned.is_none() || codec.compressor(level, self.dictionary()).is_ok()
    }

    /// The same candidate without its dictionary.
    pub fn without_dictionary(&self) -> Candidate {
        Candidate { learned: None, ..self.clone() }
    }
}

fn find_encoding(name: &str) -> Result<&'static Encoding, CandidateError> {
    encoding_named(name).ok_or_else(|| CandidateError::UnknownEncoding { name: name.to_owned() })
}

/// Parses a list of encodings, `all` being every one.
pub fn parse_encodings(text: &str) -> Result<Vec<&'static Encoding>, CandidateError> {
    if text.trim() == "all" {
        return Ok(ENCODINGS.iter().collect());
    }
    text.split(',').map(|name| find_encoding(name.trim())).collect()
}

/// What the user asked for.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// These encodings only.
    pub encodings: Option<Vec<&'static Encoding>>,
    /// These codecs only.
    pub codecs: Option<Vec<CodecChoice>>,
    /// Every pair and level that was not narrowed above.
    pub all: bool,
    /// Only encodings that several languages read.
    pub portable: bool,
    /// Only encodings that need no schema.
    pub no_schema: bool,
    /// No dictionaries.
    pub no_dictionary: bool,
}

impl Wanted {
    /// Whether a candidate is one of those that were named, where any were.
    pub fn includes(&self, candidate: &Candidate) -> bool {
        let encodings = self.encodings.as_ref();
        let codecs = self.codecs.as_ref();
        encodings.is_none_or(|named| named.contains(&candidate.encoding))
            && codecs.is_none_or(|named| named.contains(&candidate.codec))
    }
}

/// The candidates of a run, without duplicates, in the order of the registries. The baseline and
/// the controls are always among them.
pub fn candidates(
    wanted: &Wanted,
    goal: &Goal,
    baseline: &Candidate,
) -> Result<Vec<Candidate>, CandidateError> {
    let brief = CodecChoice::parse_list(CODECS_BRIEF)?;
    let mut usual = CodecChoice::parse_list(CODECS_DEFAULT)?;
    if goal.wants_slow {
        usual.extend(CodecChoice::parse_list(CODECS_SLOW)?);
    }
    let mut found: Vec<Candidate> = Vec::new();
    let mut add = |encoding: &'static Encoding, codec: &CodecChoice| {
        let candidate = Candidate::plain(encoding, *codec);
        if !found.contains(&candidate) {
            found.push(candidate);
        }
    };
    for encoding in ENCODINGS {
        let is_named = wanted.encodings.is_some();
        if wanted
            .encodings
            .as_ref()
            .is_some_and(|named| !named.iter().any(|named| named.name == encoding.name))
        {
            continue;
        }
        let is_main = ENCODINGS_MAIN.contains(&encoding.name);
        let codecs = match &wanted.codecs {
            Some(named) => named.clone(),
            None if wanted.all => every_codec(goal.wants_slow),
            None if is_named || is_main => usual.clone(),
            None => brief.clone(),
        };
        for codec in &codecs {
            add(encoding, codec);
        }
    }
    add(baseline.encoding, &baseline.codec);
    for control in controls()? {
        add(control.encoding, &control.codec);
    }
    Ok(found)
}

/// Doing nothing, and the two that everybody compares with.
pub fn controls() -> Result<[Candidate; 3], CandidateError> {
    Ok([
        Candidate::parse("verbatim+stored")?,
        Candidate::parse("verbatim+gzip:6")?,
        Candidate::parse("verbatim+zstd:3")?,
    ])
}

/// Every level of every codec, the slow ones only if wanted.
fn every_codec(with_slow: bool) -> Vec<CodecChoice> {
    let choices = |&codec: &&'static dyn Codec| {
        let levels = levels(codec, with_slow).filter(move |&level| !is_alias(codec, level));
        levels.map(move |level| CodecChoice { codec, level })
    };
    CODECS.iter().flat_map(choices).collect()
}

/// Where levels go below 0, level 0 stands for another one.
fn is_alias(codec: &'static dyn Codec, level: i32) -> bool {
    level == 0 && codec.info().levels.min < 0
}

/// The levels of a codec that are tried, the slow ones only if wanted.
fn levels(codec: &'static dyn Codec, with_slow: bool) -> RangeInclusive<i32> {
    let levels = codec.info().levels;
    let max = if with_slow { levels.max } else { levels.max.min(levels.slow_from - 1) };
    // Accelerations below -8 differ from their neighbours by less than noise.
    levels.min.max(-8)..=max
}

/// Every level of a candidate's codec up to its own, and to the default one at least, with its
/// dictionary and without.
pub fn fast_end(candidate: &Candidate) -> Vec<Candidate> {
    let CodecChoice { codec, level } = candidate.codec;
    let all = levels(codec, false);
    (*all.start()..=level.max(codec.info().levels.default).min(*all.end()))
        .filter(|&level| !is_alias(codec, level))
        .map(|level| Candidate { codec: CodecChoice { codec, level }, ..candidate.clone() })
        .filter(Candidate::is_possible)
        .flat_map(|candidate| [candidate.without_dictionary(), candidate])
        .collect()
}

/// Steps in which levels around the best one are looked at.
const LEVEL_STEPS: &[i32] = &[-8, -4, -2, -1, 1, 2, 4, 8];

/// Other levels around a candidate's, and, where `with_encodings`, the other encodings with it:
/// what stage 1 looks at once it knows who is good.
pub fn around(candidate: &Candidate, with_slow: bool, with_encodings: bool) -> Vec<Candidate> {
    let range = levels(candidate.codec.codec, with_slow);
    let level = candidate.codec.level;
    let mut found: Vec<Candidate> = LEVEL_STEPS
        .iter()
        .map(|step| (level + step).clamp(*range.start(), *range.end()))
        .filter(|&level| !is_alias(candidate.codec.codec, level))
        .map(|level| {
            let codec = CodecChoice { codec: candidate.codec.codec, level };
            Candidate { codec, ..candidate.clone() }
        })
        .filter(Candidate::is_possible)
        .collect();
    // What a dictionary gains can be told only beside the same trial without one.
    if candidate.learned.is_some() {
        let without: Vec<Candidate> = found.iter().map(Candidate::without_dictionary).collect();
        found.extend(without);
    }
    if with_encodings && candidate.learned.is_none() {
        found.extend(ENCODINGS.iter().map(|encoding| Candidate::plain(encoding, candidate.codec)));
    }
    found
}
