//! How a sample is laid out, so that reading it back gives the same payloads, byte for byte.
//!
//! One a line where every payload is one line of text; one JSON value after the other where all are
//! JSON, in any layout; otherwise a folder with a file for each, which any bytes survive.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cinch_core::document::Document;
use cinch_core::encoding::Parser;
use cinch_core::json;
use cinch_sample::Taken;

use crate::failure::Failure;
use crate::output::{Output, Place, write_whole};

/// Extensions of files that `evaluate` reads as JSON values, and as lines, whatever is in them.
const JSON_EXTENSIONS: [&str; 4] = ["json", "ndjson", "jsonl", "jsonlines"];
const LINES_EXTENSIONS: [&str; 2] = ["log", "txt"];

/// How payloads stand in what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Each is a line of text.
    Lines,
    /// Each is a JSON value, over one line or more.
    Values,
    /// Each needs a file.
    Files,
}

/// Where the sample goes.
pub(super) enum Target {
    /// A file or standard output, opened already.
    Stream {
        /// What is written to.
        output: Output,
        /// The name that the user gave.
        name: String,
    },
    /// A folder that holds nothing yet.
    Folder(PathBuf),
}

/// What was written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// What to name as the source of an evaluation, with the options that it needs; nothing where
    /// the sample went to standard output.
    pub(super) source: Option<String>,
    /// What came out otherwise than it was asked for.
    pub(super) remark: Option<String>,
}

impl Target {
    /// Checks the place. A name that ends in `/` is a folder.
    pub(super) fn open(name: &str, replace: bool) -> Result<Target, Failure> {
        if !name.ends_with('/') {
            let output = Output::open(&Place::of(name), replace)?;
            return Ok(Target::Stream { output, name: name.to_owned() });
        }
        let folder = PathBuf::from(name);
        fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
        let mut entries = fs::read_dir(&folder).map_err(|error| Failure::file(&folder, error))?;
        if entries.next().is_some() {
            let error = io::Error::other("is not empty; name a new folder");
            return Err(Failure::file(&folder, error));
        }
        Ok(Target::Folder(folder))
    }

    /// Writes the payloads.
    pub(super) fn write(self, payloads: &[Taken]) -> Result<Written, Failure> {
        let found = Found::of(payloads);
        match self {
            Target::Folder(folder) => {
                write_files(&folder, payloads, &found)?;
                let source = Some(folder.display().to_string());
                Ok(Written { source, remark: None })
            }
            Target::Stream { name, .. } if found.layout() == Layout::Files && name == "-" => {
                let why = "some payloads are binary or have line breaks, which standard output \
                           can't keep apart: write a folder, as in -o sample/";
                Err(Failure::Argument(why.to_owned()))
            }
            Target::Stream { output, name } if found.layout() == Layout::Files => {
                // What was sampled is not thrown away for the sake of a name.
                drop(output);
                let folder = PathBuf::from(format!("{name}.d"));
                fs::create_dir(&folder).map_err(|error| Failure::file(&folder, error))?;
                write_files(&folder, payloads, &found)?;
                let shown = folder.display();
                let remark = format!(
                    "some payloads are binary or have line breaks, so {shown} has a file for each"
                );
                Ok(Written { source: Some(shown.to_string()), remark: Some(remark) })
            }
            Target::Stream { mut output, name } => {
                for taken in payloads {
                    output.write(&taken.bytes)?;
                    output.write(b"\n")?;
                }
                output.finish()?;
                let first = payloads.first().map_or(&[][..], |taken| &taken.bytes);
                let format = found.format_option(&name, first);
                let source = (name != "-").then(|| format!("{name}{format}"));
                Ok(Written { source, remark: None })
            }
        }
    }
}

/// What payloads have in common.
struct Found {
    /// Each is a JSON value without white space around it.
    are_json: bool,
    /// Each is a line of text.
    are_lines: bool,
}

impl Found {
    fn of(payloads: &[Taken]) -> Found {
        let mut document = Document::new();
        let mut is_json = |bytes: &[u8]| {
            bytes.trim_ascii().len() == bytes.len()
                && json::parse(Parser::Simd, bytes, &mut document).is_ok()
        };
        Found {
            are_json: payloads.iter().all(|taken| is_json(&taken.bytes)),
            are_lines: payloads.iter().all(|taken| is_line(&taken.bytes)),
        }
    }

    fn layout(&self) -> Layout {
        match (self.are_lines, self.are_json) {
            (true, _) => Layout::Lines,
            (false, true) => Layout::Values,
            (false, false) => Layout::Files,
        }
    }

    /// The option that a file of this name needs to be read back as it was written: some names say
    /// how they are read, and others are read as their first payload looks.
    fn format_option(&self, name: &str, first: &[u8]) -> &'static str {
        let extension = Path::new(name).extension().and_then(|found| found.to_str());
        let extension = extension.unwrap_or_default().to_ascii_lowercase();
        let is_read_as_json = if JSON_EXTENSIONS.contains(&extension.as_str()) {
            true
        } else if LINES_EXTENSIONS.contains(&extension.as_str()) {
            false
        } else {
            matches!(first.first(), Some(b'{' | b'['))
        };
        match (self.are_json, is_read_as_json, self.are_lines) {
            (true, true, _) | (_, false, true) => "",
            (true, false, false) => " --format json",
            _ => " --format lines",
        }
    }
}

/// Whether a payload is a line of text that is read back as it is.
fn is_line(bytes: &[u8]) -> bool {
    const UTF8_MARK: &[u8] = b"\xEF\xBB\xBF";
    !bytes.is_empty()
        && !bytes.iter().any(|byte| matches!(byte, b'\n' | 0))
        && !bytes.ends_with(b"\r")
        && !bytes.starts_with(UTF8_MARK)
        && str::from_utf8(bytes).is_ok()
}

/// A folder of JSON files is read as JSON; one whose names say nothing as a payload a file.
fn write_files(folder: &Path, payloads: &[Taken], found: &Found) -> Result<(), Failure> {
    let extension = if found.are_json { "json" } else { "bin" };
    let digits = payloads.len().to_string().len();
    for (number, taken) in payloads.iter().enumerate() {
        let path = folder.join(format!("{number:0digits$}.{extension}"));
        write_whole(&Place::File(path), &taken.bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(payloads: &[&[u8]]) -> Found {
        let taken = |bytes: &&[u8]| Taken { key: String::new(), bytes: bytes.to_vec() };
        Found::of(&payloads.iter().map(taken).collect::<Vec<_>>())
    }

    #[test]
    fn the_layout_keeps_every_payload() {
        for (payloads, layout) in [
            (&[&b"{}"[..], b"[1]"][..], Layout::Lines),
            (&[b"{}", b"text"], Layout::Lines),
            (&[b"{}", b"{\n}"], Layout::Values),
            (&[b" {}", b"{\n}"], Layout::Files),
            (&[b"{}", b"a\nb"], Layout::Files),
            (&[b"{}", b"\xff\x00"], Layout::Files),
            (&[b"{}", b"a\r"], Layout::Files),
            (&[b"\xEF\xBB\xBF{}"], Layout::Files),
        ] {
            assert_eq!(found(payloads).layout(), layout, "{payloads:?}");
        }
    }

    #[test]
    fn the_option_is_named_where_the_name_says_something_else() {
        let (json, mixed) = (found(&[b"{}"]), found(&[b"{}", b"text"]));
        let long = found(&[b"{}", b"{\n}"]);
        for name in ["a.ndjson", "a.JSON", "a.txt", "a"] {
            assert_eq!(json.format_option(name, b"{}"), "", "{name}");
        }
        assert_eq!(mixed.format_option("a.ndjson", b"{}"), " --format lines");
        assert_eq!(mixed.format_option("a", b"{}"), " --format lines");
        assert_eq!(mixed.format_option("a.txt", b"{}"), "");
        assert_eq!(mixed.format_option("a", b"text"), "");
        assert_eq!(long.format_option("a.txt", b"{}"), " --format json");
        assert_eq!(long.format_option("a.json", b"{}"), "");
    }
}
