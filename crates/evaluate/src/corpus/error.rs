//! What goes wrong while a corpus is read: problems, which are counted and skipped, and errors,
//! which end the reading.
//!
//! Every text here is read by somebody with a broken file in hand, so each names the file and says
//! what to do. The count of problems is exact; only the list of examples is cut.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// How many problems are kept with their reason; the rest is only counted.
const PROBLEMS_KEPT_MAX: usize = 20;

/// How many problems an error message prints.
const PROBLEMS_PRINTED_MAX: usize = 3;

/// Something in a source that is not a payload and was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The name of the file; `-` is the standard input.
    pub file: String,
    /// The line on which the damaged value starts, from 1; 0 where the file as a whole is meant.
    pub line: u64,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(out, "{}: {}", self.file, self.reason),
            line => write!(out, "{}:{line}: {}", self.file, self.reason),
        }
    }
}

/// All problems of a corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    /// How many there are.
    pub count: u64,
    /// The first of them, at most 20.
    pub first: Vec<Problem>,
}

impl Problems {
    /// Counts one more.
    pub(super) fn add(&mut self, file: &str, line: u64, reason: String) {
        self.count += 1;
        if self.first.len() < PROBLEMS_KEPT_MAX {
            self.first.push(Problem { file: file.to_owned(), line, reason });
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printed = self.first.len().min(PROBLEMS_PRINTED_MAX);
        for problem in &self.first[..printed] {
            write!(out, "\n  {problem}")?;
        }
        match self.count - printed as u64 {
            0 => Ok(()),
            more => write!(out, "\n  and {more} more"),
        }
    }
}

/// Why there is no corpus.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// Nothing was named.
    #[error("no source was named; name a file or a folder, or - for the standard input")]
    NoSources,
    /// A named file or folder does not exist.
    #[error("{} does not exist; check the spelling and the working directory", path.display())]
    NotFound {
        /// What was named.
        path: PathBuf,
    },
    /// A file or folder can't be opened.
    #[error("{} can't be read; check its permissions", path.display())]
    Unreadable {
        /// What was to be opened.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder holds no file at all.
    #[error(
        "the folder {} holds no files (hidden ones are not read); name one that does",
        path.display()
    )]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// `-` stands twice among the sources.
    #[error("the standard input (-) can be read once only; name it once")]
    StandardInputTwice,
    /// Everything was read and none of it is a payload.
    #[error(
        "no payload was found in {sources}; {}{problems}",
        match problems.count {
            0 => "it is empty",
            _ => "name the format if it was guessed wrong (json, lines or binary):",
        }
    )]
    NoPayloads {
        /// The sources as they were named.
        sources: String,
        /// What was found instead.
        problems: Problems,
    },
}

impl CorpusError {
    /// The error for a path that can't be opened.
    pub(super) fn open(path: &Path, source: io::Error) -> CorpusError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => CorpusError::NotFound { path },
            _ => CorpusError::Unreadable { path, source },
        }
    }
}
