//! Writing results: whole or not at all.
//!
//! A file is written beside its place under another name and moved there when it is complete, so
//! that a full disk, a crash or Ctrl-C never leaves half a file under the name of a whole one. What
//! is no file (a device, a pipe with a name) is written to and never replaced.

use std::fs::{self, File};
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
    /// A device or pipe with a name.
    Device {
        /// The device.
        writer: BufWriter<File>,
        /// Its name.
        path: PathBuf,
    },
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
                let mut path = path.clone();
                if let Ok(found) = fs::metadata(&path) {
                    if found.is_dir() {
                        return Err(fail(io::Error::other("is a folder")));
                    }
                    if !found.is_file() {
                        let device = File::options().write(true).open(&path).map_err(fail)?;
                        return Ok(Output::Device { writer: BufWriter::new(device), path });
                    }
                    if !replace {
                        return Err(exists(&path));
                    }
                    // The file that a link leads to is replaced, and not the link.
                    path = fs::canonicalize(&path).map_err(fail)?;
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
                Ok(Output::File { writer, path, replace })
            }
        }
    }

    /// Writes some bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Output::Stdout(writer) => {
                writer.write_all(bytes).map_err(|error| Failure::file("standard output", error))
            }
            Output::Device { writer, path } => {
                writer.write_all(bytes).map_err(|error| Failure::file(path, error))
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
            Output::Device { mut writer, path } => {
                writer.flush().map_err(|error| Failure::file(path, error))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finished_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::File(folder.path().join("out"));
        let mut output = Output::open(&place, false).unwrap();
        output.write(b"half").unwrap();
        drop(output);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        write_whole(&place, b"whole").unwrap();
        assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"whole");
        assert!(Output::open(&place, false).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_and_a_device_is_written_to() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&Place::File(link.clone()), b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        let null = PathBuf::from("/dev/null");
        write_whole(&Place::File(null.clone()), b"gone").unwrap();
        assert!(fs::metadata(&null).unwrap().file_type().is_char_device());
    }
}
