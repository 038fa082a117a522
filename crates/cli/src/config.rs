//! What the environment says of where cinch keeps what it remembers: the only place that asks.
//!
//! The rules are those of the XDG base directories: state that is worth keeping between runs, and
//! that nobody misses who loses it.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// Where evaluations remember what they recommended, below the folder for state.
const EVALUATIONS: &str = "cinch/evaluations";

/// The folder in which evaluations remember what they recommended; nothing where the environment
/// names no folder, so that nothing is remembered.
pub fn evaluations_folder() -> Option<PathBuf> {
    let state = state_folder(env::var_os("XDG_STATE_HOME"), env::var_os("HOME"));
    state.map(|state| state.join(EVALUATIONS))
}

/// A folder that is not absolute counts as not named: it would be another one in every folder that
/// cinch is started in.
fn state_folder(state: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |value: OsString| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
    let in_home = |home: PathBuf| home.join(".local/state");
    state.and_then(absolute).or_else(|| home.and_then(absolute).map(in_home))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_folder_is_the_one_named_or_in_the_home_folder() {
        let of = |state: Option<&str>, home: Option<&str>| {
            state_folder(state.map(OsString::from), home.map(OsString::from))
        };
        assert_eq!(of(Some("/s"), Some("/home/a")), Some(PathBuf::from("/s")));
        let in_home = Some(PathBuf::from("/home/a/.local/state"));
        for unusable in [None, Some(""), Some("relative/folder")] {
            assert_eq!(of(unusable, Some("/home/a")), in_home);
        }
        assert_eq!(of(None, None), None);
        assert_eq!(of(None, Some("")), None);
    }
}
