//! `cargo xtask gen`: files that are printed by our own code and committed, so that readers on the
//! web see them. `--check` fails on a stale one, which is how a table in a document stays true.
//!
//! The printers live in the crates whose data they print; xtask must build fast and link none.

use std::fs;
use std::path::Path;

use crate::failure::{Failure, Outcome};
use crate::process;

/// One generated file and the cargo command that prints it.
struct Generator {
    file: &'static str,
    cargo: &'static [&'static str],
}

const GENERATORS: &[Generator] = &[Generator {
    file: "spec/registries.md",
    cargo: &["run", "--quiet", "--package", "cinch-core", "--example", "registries"],
}];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [] => write(&process::root()?),
        [flag] if flag == "--check" => check(&process::root()?),
        _ => Err(Failure::new("gen takes only --check")),
    }
}

fn write(root: &Path) -> Outcome {
    for generator in GENERATORS {
        let text = print(root, generator)?;
        let path = root.join(generator.file);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            println!("{} is up to date", generator.file);
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| unwritable(generator.file, &error))?;
        }
        fs::write(&path, text).map_err(|error| unwritable(generator.file, &error))?;
        println!("{} written", generator.file);
    }
    Ok(())
}

/// Fails on the first generated file that differs from what would be written now.
pub(crate) fn check(root: &Path) -> Outcome {
    for generator in GENERATORS {
        let fresh = print(root, generator)?;
        let committed = fs::read_to_string(root.join(generator.file)).unwrap_or_default();
        if let Some(line) = first_difference(&committed, &fresh) {
            let what = format!("{} is stale from line {line} on", generator.file);
            return Err(Failure::new(what).remedy("run `cargo xtask gen` and commit the file"));
        }
        println!("{} is up to date", generator.file);
    }
    Ok(())
}

fn print(root: &Path, generator: &Generator) -> Outcome<String> {
    let text = process::capture(&mut process::cargo(root, generator.cargo))?;
    // An empty file would be written and then found fresh for ever after.
    if text.trim().is_empty() {
        return Err(Failure::new(format!("the printer of {} printed nothing", generator.file)));
    }
    Ok(text)
}

fn unwritable(file: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("{file} can't be written: {error}"))
}

/// The number of the first line in which two texts differ.
fn first_difference(old: &str, new: &str) -> Option<usize> {
    if old == new {
        return None;
    }
    let same = old.lines().zip(new.lines()).take_while(|(old, new)| old == new).count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_a_line_number() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("", "a\n"), Some(1));
        assert_eq!(first_difference("a\n", "a"), Some(2));
    }
}
