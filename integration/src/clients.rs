//! Clients of Redis in other languages: each runs a broad script of `integration/clients` against
//! a port and prints one line for each answer. Their libraries come from npm, Go's proxy and Maven,
//! by the versions that are pinned there, and are kept beside cargo's output.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use crate::binary::target_folder;
use crate::repository;
use crate::servers::output;

/// A client and its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientOf {
    /// ioredis.
    Node,
    /// go-redis.
    Go,
    /// Jedis.
    Java,
}

impl ClientOf {
    /// What its script prints that talks to a server on this port.
    #[track_caller]
    pub fn session(self, port: u16) -> String {
        let port = port.to_string();
        match self {
            ClientOf::Node => {
                let mut node = Command::new("node");
                node.arg("session.mjs").arg(port).current_dir(node_folder());
                output(&mut node, Vec::new(), "nodejs npm")
            }
            ClientOf::Go => output(Command::new(go_program()).arg(port), Vec::new(), "golang-go"),
            ClientOf::Java => {
                let folder = copy("java", &["pom.xml", "src/main/java/Session.java"]);
                let mut maven = Command::new("mvn");
                maven.args(["-q", "-B", "compile", "exec:java", &format!("-Dexec.args={port}")]);
                output(maven.current_dir(folder), Vec::new(), "maven default-jdk-headless")
            }
        }
    }
}

/// Copies the files of a client to a folder beside cargo's output.
fn copy(language: &str, files: &[&str]) -> PathBuf {
    let folder = target_folder().join("clients").join(language);
    for file in files {
        let to = folder.join(file);
        fs::create_dir_all(to.parent().expect("a file is in a folder")).expect("a folder");
        let from = repository().join("integration/clients").join(language).join(file);
        fs::copy(from, to).expect("the client's files are there");
    }
    folder
}

fn node_folder() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let folder = copy("node", &["package.json", "package-lock.json", "session.mjs"]);
        let stamp = folder.join("installed");
        let lock = fs::read(folder.join("package-lock.json")).expect("it was copied");
        // npm takes everything away before it installs, so that it is asked once only.
        if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
            return folder;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--silent"]).current_dir(&folder);
        output(&mut npm, Vec::new(), "nodejs npm");
        fs::write(stamp, lock).expect("the folder takes a file");
        folder
    };
    FOLDER.get_or_init(make).clone()
}

fn go_program() -> PathBuf {
    let file = target_folder().join("clients-go");
    let mut go = Command::new("go");
    go.args(["build", "-trimpath", "-o"]).arg(&file).arg(".");
    go.current_dir(repository().join("integration/clients/go"));
    output(&mut go, Vec::new(), "golang-go");
    file
}
