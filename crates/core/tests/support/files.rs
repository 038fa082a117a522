//! Reads the vector files for the tests. What is missing or has another shape than
//! `vectors/README.md` says is a failure that names the file, never an empty list.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// One vector and the name by which a failure tells it: its folder, file and name.
pub(crate) struct Vector {
    pub(crate) name: String,
    pub(crate) row: Value,
}

impl Vector {
    /// A member that every vector of its kind has.
    pub(crate) fn member(&self, name: &str) -> &str {
        self.text(name).unwrap_or_else(|| panic!("{}: no {name:?}", self.name))
    }

    /// A member that a vector may have.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.row[name].as_str()
    }

    /// A member of hexadecimal digits.
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        bytes(self.member(name))
    }

    /// The payload.
    #[allow(dead_code, reason = "not every test that includes this file needs it")]
    pub(crate) fn payload(&self) -> Vec<u8> {
        match self.text("payload_text") {
            Some(text) => text.as_bytes().to_vec(),
            None => self.bytes("payload_hex"),
        }
    }

    /// The payload that the reader has, if it has one.
    #[allow(dead_code, reason = "not every test that includes this file needs it")]
    pub(crate) fn base(&self) -> Option<Vec<u8>> {
        let text = self.text("base_text").map(|text| text.as_bytes().to_vec());
        text.or_else(|| self.text("base_hex").map(bytes))
    }

    /// Whether a flag is set.
    #[allow(dead_code, reason = "not every test that includes this file needs it")]
    pub(crate) fn has_flag(&self, flag: &str) -> bool {
        self.row["flags"].as_array().is_some_and(|flags| flags.iter().any(|known| known == flag))
    }
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every vector of a folder, in the order of files and of each file.
#[allow(dead_code, reason = "not every test that includes this file needs it")]
pub(crate) fn read_vectors(folder: &str) -> Vec<Vector> {
    let path = root().join("vectors").join(folder);
    let entries = std::fs::read_dir(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut vectors = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let whole: Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let Some(rows) = whole["vectors"].as_array() else {
            panic!("{}: no \"vectors\"", file.display())
        };
        assert!(whole["note"].is_string() && !rows.is_empty(), "{}", file.display());
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        vectors.extend(rows.iter().map(|row| {
            let name = row["name"].as_str().unwrap_or("without a name");
            Vector { name: format!("{folder}/{stem}: {name}"), row: row.clone() }
        }));
    }
    assert!(!vectors.is_empty(), "{} holds no vectors", path.display());
    vectors
}

/// The bytes of hexadecimal digits.
pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    let digit = |digit: u8| (digit as char).to_digit(16).unwrap() as u8;
    hex.as_bytes().as_chunks::<2>().0.iter().map(|[a, b]| digit(*a) << 4 | digit(*b)).collect()
}
