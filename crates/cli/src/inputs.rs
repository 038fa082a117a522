//! What `pack`, `unpack` and `inspect` read: files or standard input, whole or as a stream, and the
//! name of the file that comes out.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::output::Place;

/// The ending of packed files.
const ENDING: &str = "cinch";

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Input {
    /// The inputs that the arguments name; standard input where there are none.
    pub fn all(names: &[String]) -> Vec<Input> {
        if names.is_empty() {
            return vec![Input::Stdin];
        }
        let input = |name: &String| match name.as_str() {
            "-" => Input::Stdin,
            path => Input::File(PathBuf::from(path)),
        };
        names.iter().map(input).collect()
    }

    /// The name for errors.
    pub fn name(&self) -> String {
        match self {
            Input::Stdin => "standard input".to_owned(),
            Input::File(path) => path.display().to_string(),
        }
    }

    /// Opens it as a stream.
    pub fn open(&self) -> Result<Box<dyn BufRead>, Failure> {
        match self {
            Input::Stdin => Ok(Box::new(io::stdin().lock())),
            Input::File(path) => {
                let file = File::open(path).map_err(|error| Failure::file(path, error))?;
                Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
            }
        }
    }

    /// Reads all of it, at most `limit_bytes`; `advice` says what to do with more.
    pub fn read_whole(&self, limit_bytes: usize, advice: &str) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        self.open()?
            .take(limit_bytes as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::file(self.name(), error))?;
        if bytes.len() > limit_bytes {
            let error = io::Error::other(format!("has more than {limit_bytes} bytes{advice}"));
            return Err(Failure::file(self.name(), error));
        }
        Ok(bytes)
    }

    /// Where the packed form goes: beside the file, or to standard output.
    pub fn packed_place(&self) -> Place {
        match self {
            Input::Stdin => Place::Stdout,
            Input::File(path) => {
                let mut name = path.clone().into_os_string();
                name.push(format!(".{ENDING}"));
                Place::File(PathBuf::from(name))
            }
        }
    }

    /// Where the unpacked form goes.
    pub fn unpacked_place(&self) -> Result<Place, Failure> {
        match self {
            Input::Stdin => Ok(Place::Stdout),
            Input::File(path) if path.extension().is_some_and(|found| found == ENDING) => {
                Ok(Place::File(path.with_extension("")))
            }
            Input::File(path) => Err(Failure::Argument(format!(
                "{} does not end in .{ENDING}; say with -o where its payload goes",
                Path::new(path).display()
            ))),
        }
    }
}

/// The places for these inputs: the one that was asked for, or each its own.
pub fn places(
    inputs: &[Input],
    output: Option<&str>,
    place_of: impl Fn(&Input) -> Result<Place, Failure>,
) -> Result<Vec<Place>, Failure> {
    match output {
        Some(_) if inputs.len() > 1 => Err(Failure::Argument(
            "-o takes one input; without it each file gets a new one beside it".to_owned(),
        )),
        Some(name) => Ok(vec![Place::of(name)]),
        None => inputs.iter().map(place_of).collect(),
    }
}
