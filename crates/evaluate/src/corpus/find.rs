//! Turns the sources that were named into the files to read, before any of them is read.
//!
//! The order is part of the result (a corpus is split by order), so folders are sorted by path.
//! What a folder holds beside payloads is listed and not read; links can't lead in circles.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::Format;
use super::error::CorpusError;
use super::unpack::Packing;

/// Extensions of the files that are read in a folder, without `.gz` or `.zst`.
const EXTENSIONS: [&str; 6] = ["json", "ndjson", "jsonl", "jsonlines", "log", "txt"];

/// Where bytes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// `-`
    StandardInput,
    /// A file.
    Path(PathBuf),
}

/// One thing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) format: Format,
}

impl Input {
    fn file(path: PathBuf, format: Format) -> Input {
        Input { name: path.to_string_lossy().into_owned(), place: Place::Path(path), format }
    }

    /// The extension that says what is inside, in lower case.
    pub(super) fn extension(&self) -> Option<String> {
        match &self.place {
            Place::StandardInput => None,
            Place::Path(path) => inner_extension(path),
        }
    }

    /// Whether a packing is to be undone. A payload that is a whole file may well be a packed one,
    /// so there the name has to say that the packing is not part of it.
    pub(super) fn is_unpacked(&self, packing: Packing) -> bool {
        let name = self.name.to_ascii_lowercase();
        match packing {
            _ if self.format != Format::Binary => true,
            Packing::None => false,
            Packing::Gzip => name.ends_with(".gz"),
            Packing::Zstd => name.ends_with(".zst"),
        }
    }
}

/// What the sources come to.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) inputs: Vec<Input>,
    pub(super) skipped: Vec<String>,
}

/// Finds the files of all sources, in the order of the sources.
pub(super) fn find(sources: &[String], format: Format) -> Result<Found, CorpusError> {
    if sources.is_empty() {
        return Err(CorpusError::NoSources);
    }
    if sources.iter().filter(|source| *source == "-").count() > 1 {
        return Err(CorpusError::StandardInputTwice);
    }
    let mut found = Found::default();
    for source in sources {
        if source == "-" {
            let place = Place::StandardInput;
            found.inputs.push(Input { name: source.clone(), place, format });
            continue;
        }
        let path = PathBuf::from(source);
        let metadata = fs::metadata(&path).map_err(|error| CorpusError::open(&path, error))?;
        if metadata.is_dir() {
            add_folder(&path, format, &mut found)?;
        } else {
            found.inputs.push(Input::file(path, format));
        }
    }
    Ok(found)
}

fn add_folder(folder: &Path, format: Format, found: &mut Found) -> Result<(), CorpusError> {
    let (files, mut others) = walk(folder)?;
    if files.is_empty() {
        return Err(CorpusError::EmptyFolder { path: folder.to_owned() });
    }
    let is_known =
        |path: &Path| inner_extension(path).is_some_and(|e| EXTENSIONS.contains(&e.as_str()));
    let has_known = files.iter().any(|path| is_known(path));
    // Without a file that is named like payloads, every file is a payload of its own.
    let format = match format {
        Format::Auto if !has_known => Format::Binary,
        other => other,
    };
    for path in files {
        if !has_known || format == Format::Binary || is_known(&path) {
            found.inputs.push(Input::file(path, format));
        } else {
            others.push(path);
        }
    }
    others.sort();
    found.skipped.extend(others.iter().map(|path| path.to_string_lossy().into_owned()));
    Ok(())
}

/// All regular files under a folder sorted by path, and what is neither file nor folder.
fn walk(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), CorpusError> {
    let (mut files, mut others) = (Vec::new(), Vec::new());
    let mut visited = HashSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let open = |error| CorpusError::open(&folder, error);
        // Links may lead back up: each real folder is walked once.
        if !visited.insert(fs::canonicalize(&folder).map_err(open)?) {
            continue;
        }
        for entry in fs::read_dir(&folder).map_err(open)? {
            let entry = entry.map_err(open)?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => folders.push(path),
                Ok(metadata) if metadata.is_file() => files.push(path),
                // A pipe would block, and a link may lead nowhere: neither is a file.
                _ => others.push(path),
            }
        }
    }
    files.sort();
    Ok((files, others))
}

/// The extension, after `.gz` or `.zst` was taken off, in lower case.
fn inner_extension(path: &Path) -> Option<String> {
    let lower = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    match lower(path)?.as_str() {
        "gz" | "zst" => lower(Path::new(path.file_stem()?)),
        other => Some(other.to_owned()),
    }
}
