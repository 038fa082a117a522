//! A folder of a test's own, which is gone when the test is over.
//!
//! Paths are handed out as text, because that is what arguments are.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A temporary folder.
pub struct Folder {
    folder: TempDir,
}

impl Folder {
    /// A new and empty folder.
    #[expect(clippy::new_without_default, reason = "making a folder is no default of anything")]
    pub fn new() -> Folder {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        Folder { folder }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a file in it, which need not exist.
    pub fn at(&self, name: &str) -> String {
        let path: PathBuf = self.folder.path().join(name);
        path.to_str().expect("temporary folders have names in UTF-8").to_owned()
    }

    /// Writes a file, with the folders it stands in, and returns its path.
    #[track_caller]
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.at(name);
        let parent = Path::new(&path).parent().expect("a file stands in a folder");
        fs::create_dir_all(parent).expect("a folder can be made");
        fs::write(&path, bytes).expect("a file can be written");
        path
    }

    /// Reads a file.
    #[track_caller]
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Reads a file of text.
    #[track_caller]
    pub fn read_text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap_or_else(|_| panic!("{name} is no UTF-8"))
    }

    /// The names of what is in it, hidden files included, sorted.
    pub fn names(&self) -> Vec<String> {
        self.names_in("")
    }

    /// The names of what is in a folder in it, likewise.
    #[track_caller]
    pub fn names_in(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(name)).expect("the folder can be read");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.filter_map(Result::ok).map(name).collect();
        names.sort();
        names
    }
}
