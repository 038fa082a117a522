//! Where a job goes on after it was interrupted: a small file, replaced as a whole after each page,
//! and removed when the job is done.
//!
//! It names the job by a hash of its options, so that no other job goes on from its cursor and
//! believes that the keys before it were its own.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::job::Job;
use super::report::Counts;
use crate::walk::WalkError;

/// The version of the file.
const VERSION: u32 = 1;

/// The longest file that is read, in bytes: cursors and examples are bounded, and this is far more.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The file as it is written.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    version: u32,
    job: String,
    what: String,
    /// The store's cursor, as hexadecimal digits: it is bytes.
    cursor: String,
    counts: Counts,
}

/// The checkpoint of a job that runs.
pub(super) struct Checkpoint {
    path: Option<PathBuf>,
    job: Job,
    found: Option<(Vec<u8>, Counts)>,
}

impl Checkpoint {
    /// Reads the checkpoint of a job, if there is one.
    pub(super) fn open(path: Option<&Path>, job: &Job) -> Result<Checkpoint, WalkError> {
        let found = match path {
            None => None,
            Some(path) => read(path, job)?,
        };
        Ok(Checkpoint { path: path.map(Path::to_owned), job: job.clone(), found })
    }

    pub(super) fn was_there(&self) -> bool {
        self.found.is_some()
    }

    pub(super) fn cursor(&self) -> Option<Vec<u8>> {
        self.found.as_ref().map(|(cursor, _)| cursor.clone())
    }

    pub(super) fn counts(&self) -> Counts {
        self.found.as_ref().map(|(_, counts)| counts.clone()).unwrap_or_default()
    }

    /// Notes that everything before a cursor is done; at the end of the scan nothing is left to go
    /// on with, and the file goes.
    pub(super) fn save(&mut self, next: Option<&[u8]>, counts: &Counts) -> Result<(), WalkError> {
        let Some(path) = &self.path else { return Ok(()) };
        let Some(cursor) = next else {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(path, &error)),
                _ => Ok(()),
            };
        };
        let content = Content {
            version: VERSION,
            job: self.job.hash.clone(),
            what: self.job.shown.clone(),
            cursor: hex(cursor),
            counts: counts.clone(),
        };
        let text = serde_json::to_vec_pretty(&content).map_err(|error| failed(path, &error))?;
        replace(path, &text).map_err(|error| failed(path, &error))
    }
}

/// Replaces a file as a whole, also for whoever pulls the plug: under its name there is the old
/// content or the new one.
fn replace(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // The name is as durable as the content only when the folder is; not every system lets a
    // folder be opened, and there its own order of writes is what we have.
    File::open(folder).and_then(|folder| folder.sync_all()).or(Ok(()))
}

fn read(path: &Path, job: &Job) -> Result<Option<(Vec<u8>, Counts)>, WalkError> {
    let bytes = match fs::metadata(path) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path, &error)),
    };
    if bytes > FILE_BYTES_MAX {
        return Err(failed(path, &"this is no checkpoint: it is too long"));
    }
    let text = fs::read(path).map_err(|error| failed(path, &error))?;
    let content: Content = serde_json::from_slice(&text)
        .map_err(|error| failed(path, &format!("this is no checkpoint: {error}")))?;
    if content.version != VERSION {
        return Err(failed(path, &"another release wrote this checkpoint"));
    }
    if content.job != job.hash {
        let path = path.display().to_string();
        let what = match content.what == job.shown {
            true => format!("{}, with other options or another configuration", content.what),
            false => content.what,
        };
        return Err(WalkError::OtherJob { path, what });
    }
    let cursor = bytes_of(&content.cursor)
        .ok_or_else(|| failed(path, &"this is no checkpoint: its cursor is damaged"))?;
    Ok(Some((cursor, content.counts)))
}

fn failed(path: &Path, message: &dyn std::fmt::Display) -> WalkError {
    WalkError::Checkpoint { path: path.display().to_string(), message: message.to_string() }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(hash: &str) -> Job {
        Job { hash: hash.to_owned(), shown: "carts of memory: to policy".to_owned() }
    }

    #[test]
    fn it_comes_back_for_its_job_alone_and_goes_when_the_job_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job");
        let mut checkpoint = Checkpoint::open(Some(&path), &job("a")).unwrap();
        assert!(!checkpoint.was_there());
        let counts = Counts { rewritten: 3, ..Counts::default() };
        checkpoint.save(Some(b"\x00cart:7\xff"), &counts).unwrap();
        let again = Checkpoint::open(Some(&path), &job("a")).unwrap();
        assert_eq!(again.cursor().unwrap(), b"\x00cart:7\xff");
        assert_eq!(again.counts(), counts);
        let other = Checkpoint::open(Some(&path), &job("b"));
        assert!(matches!(other, Err(WalkError::OtherJob { .. })));
        checkpoint.save(None, &counts).unwrap();
        checkpoint.save(None, &counts).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn what_is_no_checkpoint_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job");
        for text in ["", "{}", "{\"version\":1", "[]"] {
            fs::write(&path, text).unwrap();
            let error = Checkpoint::open(Some(&path), &job("a")).err().unwrap().to_string();
            assert!(error.contains("no checkpoint"), "{error}");
        }
        assert_eq!(bytes_of("0g"), None);
        assert_eq!(bytes_of("012"), None);
        assert_eq!(bytes_of("ü"), None);
    }
}
