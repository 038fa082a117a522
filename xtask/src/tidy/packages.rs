//! What cargo knows of a package, reduced to what the rules ask: where it is, what it depends on,
//! and which files its targets start at. From `cargo metadata --no-deps`, which needs no network.

use serde_json::Value;

use crate::failure::{Failure, Outcome};

pub(super) struct Package {
    /// The package's folder, relative to the top: `crates/core`; empty for the top itself.
    pub(super) folder: String,
    pub(super) dependencies: Vec<Dependency>,
    /// The files that its targets start at, relative to the top.
    pub(super) roots: Vec<String>,
}

pub(super) struct Dependency {
    pub(super) name: String,
    /// The folder of a dependency that is in this repository, relative to the top.
    pub(super) folder: Option<String>,
    pub(super) is_for_tests: bool,
}

impl Package {
    /// The name that the layout calls it by: the last part of its folder.
    pub(super) fn short_name(&self) -> &str {
        last_part(&self.folder)
    }
}

pub(super) fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Reads the output of `cargo metadata`, whose paths are absolute and start with `top`.
pub(super) fn parse(metadata: &str, top: &str) -> Outcome<Vec<Package>> {
    let metadata: Value = serde_json::from_str(metadata)
        .map_err(|error| Failure::new(format!("cargo metadata printed bad JSON: {error}")))?;
    let relative = |path: &Value| {
        let path = path.as_str()?.strip_prefix(top)?;
        Some(path.trim_start_matches('/').to_owned())
    };
    let mut packages = Vec::new();
    for package in array(&metadata["packages"]) {
        let Some(manifest) = relative(&package["manifest_path"]) else { continue };
        let folder = manifest.trim_end_matches("Cargo.toml").trim_end_matches('/').to_owned();
        let dependency = |row: &Value| Dependency {
            name: row["name"].as_str().unwrap_or_default().to_owned(),
            folder: relative(&row["path"]),
            is_for_tests: row["kind"] == "dev",
        };
        packages.push(Package {
            folder,
            dependencies: array(&package["dependencies"]).iter().map(dependency).collect(),
            roots: array(&package["targets"])
                .iter()
                .filter_map(|target| relative(&target["src_path"]))
                .collect(),
        });
    }
    Ok(packages)
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
