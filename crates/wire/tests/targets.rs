//! Every body of a fuzz target has a target in `fuzz/` and every target a body, so that a property
//! that is written is also fuzzed.

use std::collections::BTreeSet;
use std::path::Path;

use cinch_wire::fuzzing::TARGETS;

#[test]
fn every_body_has_a_target_and_every_target_a_body() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let files: BTreeSet<String> = std::fs::read_dir(fuzz.join("fuzz_targets"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        // Other crates have targets of their own.
        .filter(|path| std::fs::read_to_string(path).unwrap().contains("cinch_wire::"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let names: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(files, names);
    let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for name in names {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "fuzz/Cargo.toml lacks {name}");
    }
}
