//! What a crash left: partial files whose last batch may be torn. Each is cut to its last whole
//! batch and closed as it would have been. What is locked belongs to a process that runs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{PARTIAL, SinkError, failed, finish_file};
use crate::config::Fsync;
use crate::format::Index;
use crate::read::Batches;

/// How deep the filer's own folders nest: pool, day, hour.
const DEPTH: usize = 3;

/// Puts all partial files of a folder in order; a line for each that was.
pub(super) fn all(folder: &Path) -> Result<Vec<String>, SinkError> {
    let mut partial = Vec::new();
    find(folder, DEPTH, &mut partial).map_err(|error| failed(folder, error))?;
    partial.sort();
    let mut lines = Vec::new();
    for path in partial {
        let line = one(&path).map_err(|error| failed(&path, error))?;
        lines.extend(line);
    }
    Ok(lines)
}

fn find(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && depth > 0 {
            find(&path, depth - 1, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|ending| ending == PARTIAL) {
            found.push(path);
        }
    }
    Ok(())
}

fn one(path: &Path) -> io::Result<Option<String>> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    if matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) {
        return Ok(None);
    }
    let length = file.metadata()?.len();
    let (index, whole) = batches(&mut file)?;
    if index.entries.is_empty() {
        fs::remove_file(path)?;
        return Ok(Some(format!("{}: removed, no whole batch in it", path.display())));
    }
    file.set_len(whole)?;
    file.seek(SeekFrom::Start(whole))?;
    file.write_all(&index.write())?;
    finish_file(&file, path, Fsync::Close)?;
    let (name, count, cut) = (path.display(), index.entries.len(), length - whole);
    Ok(Some(format!("{name}: recovered {count} batches, cut {cut} bytes of a torn one")))
}

/// The whole batches of a file, and where they end.
fn batches(file: &mut File) -> io::Result<(Index, u64)> {
    let mut index = Index::default();
    let mut whole = 0;
    let mut batches = Batches::new(io::BufReader::new(Read::by_ref(file)));
    while let Some(batch) = batches.next_whole()? {
        index.add(whole, &batch.head);
        whole += batch.head.batch_bytes();
    }
    Ok((index, whole))
}
