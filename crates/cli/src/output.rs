//! Writing results: whole or not at all.
//!
//! A file is written beside its place under another name and moved there when it is complete, so
//! that a full disk, a crash or Ctrl-C never leaves half a file under the name of a whole one.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// Where a result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Standard output.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl Place {
    /// `-` is standard output.
    pub fn of(name: &str) -> Place {
        if name == "-" { Place::Stdout } else { Place::File(PathBuf::from(name)) }
    }
}

/// A result that is being written.
pub enum Output {
    /// Standard output, buffered.
    Stdout(BufWriter<io::StdoutLock<'static>>),
    /// A file that does not have its name yet.
    File {
        /// The file so far.
        writer: BufWriter<NamedTempFile>,
        /// The name it gets.
        path: PathBuf,
        /// Whether a file of that name may be replaced.
        replace: bool,
    },
}

impl Output {
    /// Opens a place for writing. An existing file is an error unless `replace` is set.
    pub fn open(place: &Place, replace: bool) -> Result<Output, Failure> {
        match place {
            Place::Stdout => Ok(Output::Stdout(BufWriter::new(io::stdout().lock()))),
            Place::File(path) => {
                let fail = |error| Failure::file(path, error);
                if path.is_dir() {
                    return Err(fail(io::Error::other("is a folder")));
                }
                if !replace && path.exists() {
                    return Err(exists(path));
                }
                let folder = match path.parent() {
                    Some(parent) if !parent.as_os_str().is_empty() => parent,
                    _ => Path::new("."),
                };
                let temporary = tempfile::Builder::new()
                    .prefix(".cinch-")
                    .permissions(permissions())
                    .tempfile_in(folder)
                    .map_err(fail)?;
                let writer = BufWriter::new(temporary);
                Ok(Output::File { writer, path: path.clone(), replace })
            }
        }
    }

    /// Writes some bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Output::Stdout(writer) => {
                writer.write_all(bytes).map_err(|error| Failure::file("standard output", error))
            }
            Output::File { writer, path, .. } => {
                writer.write_all(bytes).map_err(|error| Failure::file(path, error))
            }
        }
    }

    /// Completes the result and gives a file its name.
    pub fn finish(self) -> Result<(), Failure> {
        match self {
            Output::Stdout(mut writer) => {
                writer.flush().map_err(|error| Failure::file("standard output", error))
            }
            Output::File { writer, path, replace } => {
                let temporary = writer
                    .into_inner()
                    .map_err(|error| Failure::file(&path, error.into_error()))?;
                let moved = if replace {
                    temporary.persist(&path)
                } else {
                    temporary.persist_noclobber(&path)
                };
                match moved {
                    Ok(_) => Ok(()),
                    Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                        Err(exists(&path))
                    }
                    Err(error) => Err(Failure::file(&path, error.error)),
                }
            }
        }
    }
}

fn exists(path: &Path) -> Failure {
    Failure::file(path, io::Error::other("exists already (--force replaces it)"))
}

/// What a new file may have before the user's mask: a temporary file's own mode is stricter.
#[cfg(unix)]
fn permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}

/// Writes a whole result, replacing what is there.
pub fn write_whole(place: &Place, bytes: &[u8]) -> Result<(), Failure> {
    let mut output = Output::open(place, true)?;
    output.write(bytes)?;
    output.finish()
}
