//! Rules about which crate may depend on which: the layout of DESIGN, as a table. Dev-dependencies
//! obey it too, except that any crate's tests may use the testkit, and the servers that the
//! black-box tests start.

use super::Finding;
use super::packages::{Package, last_part};
use super::tree::Tree;

/// A crate, by the last part of its folder, and those of ours that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("generate", &[]),
    ("wire", &["core"]),
    ("learn", &["core"]),
    ("schema", &["core", "generate"]),
    ("evaluate", &["core", "generate", "learn", "rollout", "schema"]),
    ("sample", &["core"]),
    ("rollout", &["core"]),
    ("stores", &["rollout", "core"]),
    ("proxy", &["rollout", "wire", "core"]),
    ("http", &["rollout", "core"]),
    ("ingest", &["rollout", "wire", "core"]),
    ("ingest-client", &["wire"]),
    (
        "cli",
        &[
            "core", "evaluate", "generate", "learn", "sample", "schema", "proxy", "http", "ingest",
            "rollout", "stores",
        ],
    ),
    ("testkit", &["core", "generate", "wire", "rollout", "stores"]),
    ("python", &["core", "evaluate", "learn"]),
    (
        "bench",
        &[
            "core", "schema", "generate", "evaluate", "learn", "wire", "rollout", "stores",
            "ingest", "proxy",
        ],
    ),
    ("cart-service", &["rollout", "stores"]),
    ("fuzz", &["core", "wire", "proxy"]),
    // What applications link is tested from outside too: against the server, as they use it.
    ("integration", &["ingest-client"]),
    ("xtask", &[]),
];

/// Crates that any other may use in its tests, and only there.
const FOR_TESTS: [&str; 2] = ["testkit", "integration"];

/// Crates that link no runtime and none of the libraries that open sockets.
const WITHOUT_RUNTIME: &[&str] = &["core", "wire", "generate"];
const RUNTIMES: &[&str] =
    &["tokio", "mio", "async-std", "smol", "socket2", "hyper", "reqwest", "rayon", "async-trait"];

pub(super) fn dependencies(tree: &Tree, findings: &mut Vec<Finding>) {
    for package in &tree.packages {
        let name = package.short_name();
        let Some((_, allowed)) = ARROWS.iter().find(|(row, _)| *row == name) else {
            let message = format!("{name} has no row in ARROWS, which says what it may depend on");
            findings.push(Finding { path: manifest(package), line: 1, message });
            continue;
        };
        for dependency in &package.dependencies {
            let Some(target) = dependency.folder.as_deref().map(last_part) else { continue };
            let is_allowed = match FOR_TESTS.contains(&target) {
                true => dependency.is_for_tests,
                false => allowed.contains(&target),
            };
            // A package that names itself does so to switch features on for its own tests.
            if is_allowed || target == name {
                continue;
            }
            let line = line_of(tree, package, &dependency.name);
            let message = match FOR_TESTS.contains(&target) {
                true => format!("{target} is for [dev-dependencies] only"),
                false => format!("{name} may not depend on {target}"),
            };
            findings.push(Finding { path: manifest(package), line, message });
        }
    }
}

pub(super) fn no_runtime(tree: &Tree, findings: &mut Vec<Finding>) {
    let is_pure = |package: &&Package| WITHOUT_RUNTIME.contains(&package.short_name());
    for package in tree.packages.iter().filter(is_pure) {
        for dependency in package.dependencies.iter().filter(|row| !row.is_for_tests) {
            if RUNTIMES.contains(&dependency.name.as_str()) {
                let message = format!("{} links {}", package.short_name(), dependency.name);
                let line = line_of(tree, package, &dependency.name);
                findings.push(Finding { path: manifest(package), line, message });
            }
        }
    }
}

fn manifest(package: &Package) -> String {
    format!("{}/Cargo.toml", package.folder)
}

/// The line of the manifest that names a dependency, or its first.
fn line_of(tree: &Tree, package: &Package, dependency: &str) -> usize {
    let path = manifest(package);
    let file = tree.files.iter().find(|file| file.path == path);
    let position = file.and_then(|file| {
        file.text.lines().position(|line| line.trim_start().starts_with(dependency))
    });
    position.map_or(1, |index| index + 1)
}
