//! The filer: files in a folder, by pool and hour of receipt. A file is a `.partial` until it is
//! closed, gets its index, and is renamed; one that a crash left behind is cut to its last whole
//! batch when the ingress starts again.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::{SinkError, Target};
use crate::config::{FilerSettings, Fsync};
use crate::format::Index;
use crate::limits::OPEN_FILES_MAX;
use crate::ring::Batch;

mod folder;
mod recover;
#[cfg(test)]
mod tests;

pub use folder::folder_name;

/// What a file is called until it is closed.
pub(crate) const PARTIAL: &str = "partial";

const HOUR_MS: u64 = 3_600_000;

/// A file that is being written.
struct Open {
    file: File,
    path: PathBuf,
    hour: u64,
    opened: Instant,
    written: Instant,
    bytes: u64,
    index: Index,
}

pub(super) struct Filer {
    settings: FilerSettings,
    instance: u64,
    /// By the number of the pool.
    open: HashMap<usize, Open>,
    files: u64,
    recovered: Vec<String>,
    /// Why a file that was full could not be closed; the next start closes it.
    unclosed: Option<SinkError>,
}

fn failed(path: &Path, error: io::Error) -> SinkError {
    SinkError::File { path: path.display().to_string(), error }
}

impl Filer {
    /// Opens the folder, and puts in order what a crash left in it.
    pub(super) fn open(settings: FilerSettings, instance: u64) -> Result<Filer, SinkError> {
        let folder = &settings.directory;
        fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        let recovered = recover::all(folder)?;
        let (open, files, unclosed) = (HashMap::new(), 0, None);
        Ok(Filer { settings, instance, open, files, recovered, unclosed })
    }

    /// What was found and done at the start, a line each.
    pub(super) fn recovered(&self) -> &[String] {
        &self.recovered
    }

    /// The file that this batch goes to.
    fn file_for(&mut self, batch: &Batch) -> Result<&mut Open, SinkError> {
        let (number, hour) = (batch.pool.number, batch.head.first_ms / HOUR_MS);
        if self.open.get(&number).is_some_and(|open| open.hour != hour) {
            self.close(number)?;
        }
        if !self.open.contains_key(&number) {
            if self.open.len() >= OPEN_FILES_MAX {
                let oldest = self.open.iter().min_by_key(|(_, open)| open.written);
                if let Some(oldest) = oldest.map(|(&number, _)| number) {
                    self.close(oldest)?;
                }
            }
            let open = self.create(batch, hour)?;
            self.open.insert(number, open);
        }
        // It was inserted above where it was missing.
        self.open.get_mut(&number).ok_or_else(|| SinkError::Batch("no file".to_owned()))
    }

    fn create(&mut self, batch: &Batch, hour: u64) -> Result<Open, SinkError> {
        let since = Duration::from_millis(batch.head.first_ms);
        let time = humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + since).to_string();
        let (day, clock) = time.split_once('T').unwrap_or((&time, "00"));
        let pool = folder_name(&batch.pool.name);
        let folder = self.settings.directory.join(pool).join(day).join(&clock[..2]);
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
        let digits: String = clock.chars().filter(char::is_ascii_digit).collect();
        let name = format!("{digits}-{:016x}-{:06}.zst.{PARTIAL}", self.instance, self.files);
        self.files += 1;
        let path = folder.join(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(|error| failed(&path, error))?;
        // The lock tells other processes that share the folder that this is no crash's. Where the
        // file system has no locks, such as some mounts, each process needs its own folder.
        let _locked = file.try_lock();
        let now = Instant::now();
        let index = Index::default();
        Ok(Open { file, path, hour, opened: now, written: now, bytes: 0, index })
    }

    /// Closes the file of this pool.
    fn close(&mut self, number: usize) -> Result<(), SinkError> {
        let Some(mut open) = self.open.remove(&number) else { return Ok(()) };
        let path = open.path.clone();
        let result = open.close(self.settings.fsync);
        // What could not be closed stays a partial file, which the next start puts in order.
        result.map_err(|error| failed(&path, error))
    }

    fn close_where(&mut self, is_due: impl Fn(&Open) -> bool) -> Result<(), SinkError> {
        let due: Vec<usize> =
            self.open.iter().filter(|(_, open)| is_due(open)).map(|(&number, _)| number).collect();
        let mut result = Ok(());
        for number in due {
            result = self.close(number).and(result);
        }
        result
    }
}

impl Target for Filer {
    fn write(&mut self, batch: &Batch, bytes: &[u8]) -> Result<(), SinkError> {
        let (rotate_bytes, fsync) = (self.settings.rotate_bytes, self.settings.fsync);
        let open = self.file_for(batch)?;
        let start = open.bytes;
        let mut result = open.file.write_all(bytes);
        if fsync == Fsync::Batch {
            result = result.and_then(|()| open.file.sync_data());
        }
        if let Err(error) = result {
            let path = open.path.clone();
            // Half a batch must not stay before the next one. A file that can't be cut is left to
            // the next start, and another one is begun.
            let cut =
                open.file.set_len(start).and_then(|()| open.file.seek(SeekFrom::Start(start)));
            if cut.is_err() {
                self.open.remove(&batch.pool.number);
            }
            return Err(failed(&path, error));
        }
        open.bytes += bytes.len() as u64;
        open.written = Instant::now();
        open.index.add(start, &batch.head);
        if open.bytes >= rotate_bytes
            && let Err(error) = self.close(batch.pool.number)
        {
            // The batch is written: closing its file is what failed, and is not tried again. The
            // next look after the files tells it.
            self.unclosed = Some(error);
        }
        Ok(())
    }

    fn tend(&mut self) -> Result<(), SinkError> {
        let most = Duration::from_secs(self.settings.rotate_s);
        let unclosed = self.unclosed.take().map_or(Ok(()), Err);
        self.close_where(|open| open.opened.elapsed() >= most).and(unclosed)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.close_where(|_| true)
    }
}

impl Open {
    fn close(&mut self, fsync: Fsync) -> io::Result<()> {
        self.file.write_all(&self.index.write())?;
        finish_file(&self.file, &self.path, fsync)
    }
}

/// Gives a file that has its index the name of a closed one.
fn finish_file(file: &File, path: &Path, fsync: Fsync) -> io::Result<()> {
    if fsync != Fsync::None {
        file.sync_all()?;
    }
    fs::rename(path, path.with_extension(""))?;
    if fsync != Fsync::None
        && let Some(folder) = path.parent()
    {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
