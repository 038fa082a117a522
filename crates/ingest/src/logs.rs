//! Reads the filer's folder back: by pool, time and text. Folders of hours that are too early are
//! not opened, batches that the index shows to be too early are not read, and batches without the
//! text that is looked for are not cut into records.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use regex::bytes::Regex;
use zstd_safe::DCtx;

use crate::format::Index;
use crate::read::{BatchError, Batches, Next, StoredBatch};
use crate::sink::{PARTIAL, folder_name};

mod needed;
mod output;
mod records;
#[cfg(test)]
mod tests;

pub use needed::Needed;
pub use output::Form;
pub use records::{StoredRecord, records};

/// How often a folder that is followed is looked at.
const FOLLOW_TICK: Duration = Duration::from_millis(200);

/// The largest index that is read, in bytes: a row for each of ten million batches.
const INDEX_BYTES_MAX: u64 = 320 << 20;

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Query {
    /// The filer's folder.
    pub directory: PathBuf,
    /// The pool; `None` for all.
    pub pool: Option<String>,
    /// Batches whose last record was received before this are left out, in Unix milliseconds.
    pub since_ms: u64,
    /// Batches whose first record was received after this are left out.
    pub until_ms: u64,
    /// Records that this does not match are left out.
    pub pattern: Option<Regex>,
    /// Records of other connections are left out.
    pub connection: Option<u64>,
    /// What is written of a record.
    pub form: Form,
}

/// Why logs can't be read.
#[derive(Debug, thiserror::Error)]
pub enum LogsError {
    /// A file or folder can't be read.
    #[error("{path}: {error}")]
    File {
        /// Which one.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// A batch is whole, but can't be read.
    #[error("{path}: a batch at byte {offset}: {error}")]
    Batch {
        /// The file.
        path: String,
        /// Where the batch starts.
        offset: u64,
        /// Why.
        error: BatchError,
    },
    /// There is no such pool in the folder.
    #[error("{folder} is not there; the pools in the folder are: {known}")]
    NoPool {
        /// Where it would be.
        folder: String,
        /// What is there.
        known: String,
    },
    /// What was found can't be written.
    #[error("{0}")]
    Output(io::Error),
}

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Found {
    /// Batches in files that were opened.
    pub batches: u64,
    /// Batches whose filter said that what is looked for is not there.
    pub skipped_batches: u64,
    /// Batches that were decompressed.
    pub read_batches: u64,
    /// Batches that were there a second time, and left out.
    pub repeated_batches: u64,
    /// Records that were written.
    pub records: u64,
    /// Files that end in something else than a whole batch or an index, and are not being written.
    pub damaged_files: u64,
}

/// A search that may be continued as files grow.
pub struct Search<'a, W> {
    query: &'a Query,
    needed: Needed,
    out: W,
    context: DCtx<'static>,
    text: Vec<u8>,
    /// How far each file that is being written was read, by its name when it is closed.
    read_to: HashMap<PathBuf, u64>,
    /// Files that were closed, and read to their end: nothing is added to them.
    read_whole: HashSet<PathBuf>,
    /// Instance and sequence of every batch, since one may have been written twice.
    seen: HashSet<(u64, u64)>,
    found: Found,
}

fn failed(path: &Path, error: io::Error) -> LogsError {
    LogsError::File { path: path.display().to_string(), error }
}

impl<'a, W: Write> Search<'a, W> {
    /// A search that writes what it finds there.
    pub fn new(query: &'a Query, out: W) -> Search<'a, W> {
        let (context, read_to, read_whole) = (DCtx::create(), HashMap::new(), HashSet::new());
        let (text, seen, found) = (Vec::new(), HashSet::new(), Found::default());
        let pattern = query.pattern.as_ref();
        let needed = pattern.map_or(Needed::Nothing, |pattern| Needed::of(pattern.as_str()));
        Search { query, needed, out, context, text, read_to, read_whole, seen, found }
    }

    /// Reads all that is there and was not read yet.
    ///
    /// # Errors
    /// Any [`LogsError`].
    pub fn pass(&mut self) -> Result<Found, LogsError> {
        for (pool, folder) in self.pools()? {
            let mut files = Vec::new();
            for day in children_if_there(&folder)? {
                for hour in children_if_there(&day)? {
                    files.extend(self.files(&day, &hour)?);
                }
            }
            files.sort();
            for file in files {
                self.file(&pool, &file)?;
            }
        }
        self.out.flush().map_err(LogsError::Output)?;
        Ok(self.found)
    }

    /// Reads for ever what is added, until `is_over` says so. A pool that is not there yet is
    /// waited for, and told once.
    ///
    /// # Errors
    /// Any [`LogsError`] but [`LogsError::NoPool`].
    pub fn follow(
        &mut self,
        is_over: impl Fn() -> bool,
        tell: impl Fn(&LogsError),
    ) -> Result<Found, LogsError> {
        let mut is_told = false;
        while !is_over() {
            match self.pass() {
                Err(error @ LogsError::NoPool { .. }) => {
                    if !std::mem::replace(&mut is_told, true) {
                        tell(&error);
                    }
                }
                result => drop(result?),
            }
            thread::sleep(FOLLOW_TICK);
        }
        Ok(self.found)
    }

    fn pools(&self) -> Result<Vec<(String, PathBuf)>, LogsError> {
        let directory = &self.query.directory;
        let Some(pool) = &self.query.pool else {
            let named = |path: PathBuf| {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                (name, path)
            };
            return Ok(children(directory)?.into_iter().map(named).collect());
        };
        let folder = directory.join(folder_name(pool));
        if folder.is_dir() {
            return Ok(vec![(pool.clone(), folder)]);
        }
        let known = children(directory)?;
        let names = known.iter().filter_map(|path| path.file_name());
        let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(LogsError::NoPool { folder: folder.display().to_string(), known })
    }

    /// The files of an hour, unless it is out of the question.
    fn files(&self, day: &Path, hour: &Path) -> Result<Vec<PathBuf>, LogsError> {
        let part =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let start = humantime::parse_rfc3339(&format!("{}T{}:00:00Z", part(day), part(hour)));
        if let Ok(start) = start {
            let start = start.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let start_ms = u64::try_from(start.as_millis()).unwrap_or(0);
            // A batch may be a linger longer than its hour.
            let end_ms = start_ms + 2 * 3_600_000;
            if end_ms < self.query.since_ms || start_ms > self.query.until_ms {
                return Ok(Vec::new());
            }
        }
        children_if_there(hour)
    }

    fn file(&mut self, pool: &str, path: &Path) -> Result<(), LogsError> {
        let ending = path.extension().unwrap_or_default();
        let is_partial = ending == PARTIAL;
        let key = if is_partial { path.with_extension("") } else { path.to_owned() };
        if !is_partial && ending != "zst" {
            return Ok(());
        }
        if self.read_whole.contains(&key) {
            return Ok(());
        }
        let from = self.read_to.get(&key).copied().unwrap_or(0);
        let mut file = match File::open(path) {
            // It was closed, and so renamed, since the folder was listed.
            Err(error) if is_partial && error.kind() == io::ErrorKind::NotFound => {
                match File::open(&key) {
                    Ok(file) => file,
                    Err(error) => return gone_or(&key, error),
                }
            }
            Err(error) => return gone_or(path, error),
            Ok(file) => file,
        };
        let length = file.metadata().map_err(|error| failed(path, error))?.len();
        if from >= length {
            return Ok(());
        }
        let index = index_of(&mut file, length).map_err(|error| failed(path, error))?;
        match index {
            Some(index) => {
                self.indexed(pool, path, &mut file, &index, from)?;
                self.read_to.remove(&key);
                self.read_whole.insert(key);
            }
            None => {
                let to = self.walked(pool, path, &mut file, from, length, is_partial)?;
                self.read_to.insert(key, to);
            }
        }
        Ok(())
    }

    fn indexed(
        &mut self,
        pool: &str,
        path: &Path,
        file: &mut File,
        index: &Index,
        from: u64,
    ) -> Result<(), LogsError> {
        let rest = index.entries.iter().filter(|entry| entry.offset >= from);
        for entry in rest {
            self.found.batches += 1;
            if entry.last_ms < self.query.since_ms || entry.first_ms > self.query.until_ms {
                continue;
            }
            let at = |error| failed(path, error);
            file.seek(SeekFrom::Start(entry.offset)).map_err(at)?;
            let mut batches = Batches::new(BufReader::new(&mut *file));
            match batches.next_if(|filter| self.needed.may_be_in(filter)).map_err(at)? {
                Next::Whole(batch) => self.batch(pool, path, entry.offset, &batch)?,
                Next::Skipped(_) => self.found.skipped_batches += 1,
                Next::End => self.found.damaged_files += 1,
            }
        }
        Ok(())
    }

    /// Reads a file without an index from batch to batch, and returns how far that went.
    fn walked(
        &mut self,
        pool: &str,
        path: &Path,
        file: &mut File,
        from: u64,
        length: u64,
        is_partial: bool,
    ) -> Result<u64, LogsError> {
        file.seek(SeekFrom::Start(from)).map_err(|error| failed(path, error))?;
        let mut batches = Batches::new(BufReader::new(file));
        let mut offset = from;
        loop {
            let next = batches.next_if(|filter| self.needed.may_be_in(filter));
            let head = match next.map_err(|error| failed(path, error))? {
                Next::Whole(batch) => {
                    self.batch(pool, path, offset, &batch)?;
                    batch.head
                }
                Next::Skipped(head) => {
                    self.found.skipped_batches += 1;
                    head
                }
                Next::End => break,
            };
            self.found.batches += 1;
            offset += head.batch_bytes();
        }
        if offset < length && !is_partial {
            self.found.damaged_files += 1;
            return Ok(length);
        }
        Ok(offset)
    }

    fn batch(
        &mut self,
        pool: &str,
        path: &Path,
        offset: u64,
        batch: &StoredBatch,
    ) -> Result<(), LogsError> {
        let query = self.query;
        if batch.head.last_ms < query.since_ms || batch.head.first_ms > query.until_ms {
            return Ok(());
        }
        if !self.seen.insert((batch.head.instance, batch.head.sequence)) {
            self.found.repeated_batches += 1;
            return Ok(());
        }
        self.found.read_batches += 1;
        let at = |error| LogsError::Batch { path: path.display().to_string(), offset, error };
        batch.text(&mut self.context, &mut self.text).map_err(at)?;
        if query.pattern.as_ref().is_some_and(|pattern| !pattern.is_match(&self.text)) {
            return Ok(());
        }
        if query.pattern.is_none() && query.connection.is_none() && query.form == Form::Text {
            self.found.records += u64::from(batch.head.records);
            return self.out.write_all(&self.text).map_err(LogsError::Output);
        }
        let runs = batch.runs(&mut self.context).map_err(at)?;
        let mut rest = &self.text[..];
        for run in &runs {
            // The sum of the runs' lengths is that of the text: it was looked at.
            let (text, after) = rest.split_at(run.text_bytes.min(rest.len()));
            rest = after;
            if query.connection.is_some_and(|wanted| wanted != run.connection) {
                continue;
            }
            for record in records(run, text) {
                let is_wanted =
                    query.pattern.as_ref().is_none_or(|pattern| pattern.is_match(record.text));
                if is_wanted {
                    self.found.records += 1;
                    output::write(query.form, pool, &batch.head, run, &record, &mut self.out)
                        .map_err(LogsError::Output)?;
                }
            }
        }
        Ok(())
    }
}

/// A file that is gone was empty, or somebody has cleaned up: there is nothing to read.
fn gone_or(path: &Path, error: io::Error) -> Result<(), LogsError> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(failed(path, error)) }
}

/// The same as `children`, and nothing where the folder was taken away since it was listed.
fn children_if_there(folder: &Path) -> Result<Vec<PathBuf>, LogsError> {
    match children(folder) {
        Err(LogsError::File { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            Ok(Vec::new())
        }
        result => result,
    }
}

/// What is in a folder, in the order of names.
fn children(folder: &Path) -> Result<Vec<PathBuf>, LogsError> {
    if folder.is_file() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).map_err(|error| failed(folder, error))?;
    let paths: Result<Vec<PathBuf>, io::Error> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.map_err(|error| failed(folder, error))?;
    paths.sort();
    Ok(paths)
}

/// The index at the end of a file, if it has one.
fn index_of(file: &mut File, length: u64) -> io::Result<Option<Index>> {
    let mut tail = [0; 8];
    if length < tail.len() as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(length - tail.len() as u64))?;
    file.read_exact(&mut tail)?;
    let Some(bytes) = Index::length_at_end(&tail) else { return Ok(None) };
    if bytes > length || bytes > INDEX_BYTES_MAX {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(length - bytes))?;
    let mut frame = vec![0; bytes as usize];
    file.read_exact(&mut frame)?;
    Ok(Index::read(&frame))
}
