//! What earlier evaluations recommended, so that the next one of the same question does not change
//! its mind for nothing.
//!
//! Several trials are often tied, and which of them a run prefers can be a matter of noise. Whoever
//! follows recommendations wants to change a profile only for a gain. So each evaluation leaves one
//! small file behind, named after everything that bears on the decision. Where the next one asks
//! exactly the same, on the same kind of processor, it measures everything anew and prefers what
//! was recommended, if that is still in the tie. A file that can't be read or written costs nothing
//! but this.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::candidate::Candidate;
use crate::corpus::Corpus;

/// Raised when records are written otherwise, or when the rules of the decision change.
const FORMAT: u32 = 1;

/// A record has some hundred bytes; what is longer is none.
const RECORD_BYTES_MAX: u64 = 64 << 10;

/// How many records a folder keeps: those of the last so many questions.
const RECORDS_MAX: usize = 256;

/// How many bytes of a question's SHA-256 name its file.
const NAME_BYTES: usize = 16;

/// The ending of a record's file, and the beginning of one that is being written.
const ENDING: &str = ".json";
const UNFINISHED: &str = ".cinch-";

/// The longest label of a dictionary in the name of a trial, such as `110K`.
const LABEL_BYTES_MAX: usize = 16;

/// Where recommendations are remembered, and whether the last one counts.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The folder of the records. It is made where it does not exist.
    pub folder: PathBuf,
    /// Whether what was recommended last time is ignored, and replaced.
    pub forgets: bool,
}

/// Everything that bears on what is recommended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The SHA-256 of the payloads, as [`corpus_sha256`] makes it.
    pub corpus_sha256: String,
    /// The goal's name.
    pub goal: String,
    /// Where the application's time starts and ends.
    pub from: String,
    /// What decides every random choice.
    pub seed: u64,
    /// About how long the run may take, in milliseconds.
    pub time_ms: u64,
    /// How payloads are parted, if they are.
    pub split_by: Option<String>,
    /// The budgets, as they were given.
    pub budgets: Vec<String>,
    /// The baseline's name.
    pub baseline: String,
    /// Whether what is larger or slower than the baseline is out.
    pub beat_baseline: bool,
    /// The encodings that were named, if any were.
    pub encodings: Option<Vec<String>>,
    /// The codecs that were named, if any were.
    pub codecs: Option<Vec<String>>,
    /// Whether every pair and level is tried.
    pub all: bool,
    /// Whether only what several languages read is tried.
    pub portable: bool,
    /// Whether only what needs no schema is tried.
    pub no_schema: bool,
    /// Whether no dictionary is trained.
    pub no_dictionary: bool,
    /// cinch and every library that does the work, each with its version.
    pub versions: Vec<(String, String)>,
    /// The model of the processor.
    pub processor: String,
}

/// What was recommended, and when.
#[derive(Debug, Clone)]
pub struct Recalled {
    /// The trial's name.
    pub name: String,
    /// When it was recommended, in UTC.
    pub at: SystemTime,
    /// The trial without its dictionary.
    plain: Candidate,
    dictionary_sha256: Option<String>,
}

impl Recalled {
    /// The same trial, with its dictionary from among these candidates; nothing where none of them
    /// has a dictionary of these very bytes.
    pub fn candidate<'a>(
        &self,
        mut among: impl Iterator<Item = &'a Candidate>,
    ) -> Option<Candidate> {
        let Some(wanted) = &self.dictionary_sha256 else { return Some(self.plain.clone()) };
        let learned = among.find_map(|candidate| {
            let is_same = candidate.encoding == self.plain.encoding
                && dictionary_sha256(candidate).as_ref() == Some(wanted);
            candidate.learned.clone().filter(|_| is_same)
        })?;
        let found = Candidate { learned: Some(learned), ..self.plain.clone() };
        found.is_possible().then_some(found)
    }
}

/// Why a recommendation is not remembered.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// A file or folder can't be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is no record of this question.
    #[error("{} is no record of an evaluation", path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
    },
}

/// A file.
#[derive(Serialize, Deserialize)]
struct Record {
    format: u32,
    question: Question,
    recommended: String,
    dictionary_sha256: Option<String>,
    at: String,
}

impl Memory {
    /// What was recommended when this was asked last; nothing where it never was, or where that is
    /// to be forgotten.
    ///
    /// # Errors
    /// Where there is a record that can't be read.
    pub fn recall(&self, question: &Question) -> Result<Option<Recalled>, MemoryError> {
        let path = self.path(question);
        if self.forgets {
            return Ok(None);
        }
        let bytes = match read(&path) {
            Ok(bytes) => bytes,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(MemoryError::File { path, error }),
        };
        match recalled(&bytes, question) {
            Some(recalled) => Ok(Some(recalled)),
            None => Err(MemoryError::Damaged { path }),
        }
    }

    /// Remembers what is recommended, in place of what was recommended before, and forgets the
    /// oldest records where there are too many.
    ///
    /// # Errors
    /// Where the record can't be written.
    pub fn keep(&self, question: &Question, recommended: &Candidate) -> Result<(), MemoryError> {
        let record = Record {
            format: FORMAT,
            question: question.clone(),
            recommended: recommended.to_string(),
            dictionary_sha256: dictionary_sha256(recommended),
            at: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        };
        let path = self.path(question);
        write(&self.folder, &path, &record)
            .and_then(|()| forget_the_oldest(&self.folder, RECORDS_MAX))
            .map_err(|error| MemoryError::File { path, error })
    }

    /// Forgets what was recommended, because nothing is any more.
    ///
    /// # Errors
    /// Where there is a record that can't be removed.
    pub fn forget(&self, question: &Question) -> Result<(), MemoryError> {
        let path = self.path(question);
        match fs::remove_file(&path) {
            Err(error) if !is_missing(&error) => Err(MemoryError::File { path, error }),
            _ => Ok(()),
        }
    }

    fn path(&self, question: &Question) -> PathBuf {
        let text = serde_json::to_vec(question).unwrap_or_default();
        let name = hex(&Sha256::digest(text)[..NAME_BYTES]);
        self.folder.join(format!("{name}{ENDING}"))
    }
}

/// The SHA-256 over the payloads in their order, each with its length before it.
pub fn corpus_sha256(corpus: &Corpus) -> String {
    let mut digest = Sha256::new();
    for payload in &corpus.payloads {
        digest.update((payload.bytes.len() as u64).to_le_bytes());
        digest.update(&payload.bytes);
    }
    hex(&digest.finalize())
}

fn dictionary_sha256(candidate: &Candidate) -> Option<String> {
    candidate.dictionary().map(|dictionary| hex(dictionary.sha256()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether there is no such file, because its name or that of a folder on the way leads nowhere.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe of this name would never answer.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("is no file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(RECORD_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What a record says, if it is one and of this question. Nothing of it is printed that was not
/// understood.
fn recalled(bytes: &[u8], question: &Question) -> Option<Recalled> {
    let record: Record = serde_json::from_slice(bytes).ok()?;
    if record.format != FORMAT || record.question != *question {
        return None;
    }
    let (plain, label) = match record.recommended.split_once("+dict-") {
        Some((plain, label)) => (plain, Some(label)),
        None => (record.recommended.as_str(), None),
    };
    let is_label = |label: &str| {
        label.len() <= LABEL_BYTES_MAX && label.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if label.is_some() != record.dictionary_sha256.is_some() || !label.is_none_or(is_label) {
        return None;
    }
    let plain = Candidate::parse(plain).ok()?;
    let at = humantime::parse_rfc3339(&record.at).ok()?;
    let name = match label {
        Some(label) => format!("{plain}+dict-{label}"),
        None => plain.to_string(),
    };
    Some(Recalled { name, at, plain, dictionary_sha256: record.dictionary_sha256 })
}

/// Writes a record beside its place and moves it there, so that no other run reads half of one.
fn write(folder: &Path, path: &Path, record: &Record) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    serde_json::to_writer_pretty(&mut file, record)?;
    file.write_all(b"\n")?;
    file.persist(path)?;
    Ok(())
}

/// Removes the records that were written longest ago, and what runs that were cut short left
/// behind, down to this many. Whatever else is in the folder stays.
fn forget_the_oldest(folder: &Path, records_max: usize) -> io::Result<()> {
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = match entry.metadata() {
            Ok(metadata) => metadata,
            // Another run was quicker.
            Err(error) if is_missing(&error) => continue,
            Err(error) => return Err(error),
        };
        if metadata.is_file() && entry.file_name().to_str().is_some_and(is_ours) {
            found.push((metadata.modified()?, entry.path()));
        }
    }
    found.sort();
    let oldest = found.len().saturating_sub(records_max);
    for (_, path) in &found[..oldest] {
        match fs::remove_file(path) {
            Err(error) if !is_missing(&error) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn is_ours(name: &str) -> bool {
    let is_record = name.strip_suffix(ENDING).is_some_and(|name| {
        name.len() == 2 * NAME_BYTES && name.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    is_record || name.starts_with(UNFINISHED)
}

#[cfg(test)]
mod tests;
