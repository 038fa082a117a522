//! The work tree as the rules see it: the files that git knows or would add, read once, and the
//! packages. Ignored files are no part of it, so that a build folder never breaks a rule.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::lexer::{self, Line};
use super::packages::{self, Package};
use crate::failure::{Failure, Outcome};
use crate::process;

/// The endings of the files that are read; others are only known by name.
const TEXT: &[&str] = &["rs", "py", "java", "sh", "toml", "yml", "yaml", "md", "j2", "css", "js"];

pub(super) struct Tree {
    pub(super) files: Vec<File>,
    /// The paths of all files, read or not, relative to the top.
    pub(super) paths: BTreeSet<String>,
    pub(super) packages: Vec<Package>,
}

pub(super) struct File {
    /// The path relative to the top, with forward slashes.
    pub(super) path: String,
    pub(super) text: String,
    /// The lines as the lexer splits them; empty for anything but Rust.
    pub(super) lines: Vec<Line>,
}

impl Tree {
    /// Reads the work tree at `root`.
    pub(super) fn read(root: &Path) -> Outcome<Tree> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let listing = process::capture(git.current_dir(root))?;
        // A file that is deleted but not yet staged is listed and can't be read.
        let paths: BTreeSet<String> = listing
            .split('\0')
            .filter(|path| !path.is_empty() && root.join(path).is_file())
            .map(str::to_owned)
            .collect();
        let mut files = Vec::new();
        for path in paths.iter().filter(|path| is_text(path)) {
            let text = std::fs::read_to_string(root.join(path))
                .map_err(|error| Failure::new(format!("{path} can't be read: {error}")))?;
            files.push(File::new(path, text));
        }
        let packages = read_packages(root, &paths)?;
        Ok(Tree { files, paths, packages })
    }

    /// The Rust files.
    pub(super) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// The Markdown files.
    pub(super) fn markdown(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".md"))
    }

    /// A tree of the files given, for tests. One called `metadata.json` is what cargo would print,
    /// with `/top` as the top.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Tree {
        let metadata = files.iter().find(|(path, _)| *path == "metadata.json");
        let packages = metadata.map_or(Vec::new(), |(_, text)| {
            packages::parse(text, "/top").expect("the example's metadata is well formed")
        });
        let paths = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let texts = files.iter().filter(|(path, _)| is_text(path));
        let files = texts.map(|(path, text)| File::new(path, (*text).to_owned())).collect();
        Tree { files, paths, packages }
    }
}

impl File {
    fn new(path: &str, text: String) -> File {
        let lines = if path.ends_with(".rs") { lexer::lines(&text) } else { Vec::new() };
        File { path: path.to_owned(), text, lines }
    }

    /// The numbered lines of a Rust file.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines.iter().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Whether the whole file is there for tests, benchmarks or examples.
    pub(super) fn is_for_tests(&self) -> bool {
        let folders = ["tests/", "benches/", "examples/", "integration/", "fuzz/"];
        let is_in = |folder: &str| {
            self.path.starts_with(folder) || self.path.contains(&format!("/{folder}"))
        };
        let stem = packages::last_part(&self.path).trim_end_matches(".rs");
        folders.iter().any(|folder| is_in(folder))
            || self.path.starts_with("crates/testkit/")
            || stem == "tests"
            || stem.ends_with("_tests")
    }
}

/// Whether a file is read: by its ending, or for being a program without one (`.ci/run`).
fn is_text(path: &str) -> bool {
    let name = packages::last_part(path);
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => TEXT.contains(&ending),
        _ => path.starts_with(".ci/"),
    }
}

/// The packages of the workspace, and those of each manifest outside it (fuzz, bindings).
fn read_packages(root: &Path, paths: &BTreeSet<String>) -> Outcome<Vec<Package>> {
    let mut packages = metadata(root, "Cargo.toml")?;
    for manifest in paths.iter().filter(|path| path.ends_with("/Cargo.toml")) {
        let folder = manifest.trim_end_matches("/Cargo.toml");
        if packages.iter().all(|package| package.folder != folder) {
            packages.extend(metadata(root, manifest)?);
        }
    }
    Ok(packages)
}

fn metadata(root: &Path, manifest: &str) -> Outcome<Vec<Package>> {
    let arguments = ["metadata", "--no-deps", "--format-version=1", "--manifest-path", manifest];
    let text = process::capture(&mut process::cargo(root, &arguments))?;
    packages::parse(&text, &root.to_string_lossy())
}
