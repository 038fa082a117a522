//! A good and a bad example for every rule. A rule that never fires passes every other test, so
//! each row must break the rule it is named after in `bad`, and must not break it in `good`.
//!
//! Markers and blanks that would break a rule in this file itself are written as escapes.

use super::tree::Tree;
use super::{Finding, RULES, Rule};

type Files = &'static [(&'static str, &'static str)];

struct Example {
    rule: &'static str,
    good: Files,
    bad: Files,
    /// How many findings the bad files give.
    count: usize,
}

const fn example(rule: &'static str, count: usize, good: Files, bad: Files) -> Example {
    Example { rule, good, bad, count }
}

/// The metadata of a workspace with a core and a wire crate, as dependencies of `core` differ.
macro_rules! metadata {
    ($dependencies:literal) => {
        concat!(
            r#"{"packages":[{"manifest_path":"/top/crates/core/Cargo.toml","dependencies":["#,
            $dependencies,
            r#"],"targets":[{"src_path":"/top/crates/core/src/lib.rs"}]}]}"#
        )
    };
}

const LIB: &str = "crates/core/src/lib.rs";
const A: &str = "crates/core/src/a.rs";
const META: &str = "metadata.json";

#[rustfmt::skip]
const EXAMPLES: &[Example] = &[
    example("header", 3, &[("a.rs", "//! A.\n//! B.\n")],
        &[("a.rs", "//! A.\n"), ("b.rs", "use x;\n//! A.\n//! B.\n"), ("tests/c.rs", "")]),
    example("length", 1, &[("a.rs", "//! A.\n"), ("long.md", LONG)], &[("a.py", LONG)]),
    example("width", 1, &[("a.rs", "// https://a.example/\n"), ("b.md", WIDE)],
        &[("a.rs", WIDE)]),
    example("whitespace", 5, &[("a.rs", "a\n\nb\n"), ("empty.py", "")],
        &[("a.rs", "a\x20\nb\n"), ("b.md", "a"), ("c.py", "a\r\n"), ("d.sh", "\t\n"),
          ("e.toml", "a\n\n")]),
    example("unfinished", 4, &[("a.rs", "// TODOS are not XXXL.\n"), ("b.md", "# \x54ODO\n")],
        &[("a.rs", "// \x54ODO: a\n// \x46IXME\n"), ("b.py", "# \x58XX\n"),
          (".ci/run", "# \x48ACK\n")]),
    example("mod-rs", 1, &[(LIB, "")], &[("crates/core/src/a/mod.rs", "")]),
    example("reachable", 2,
        &[(META, metadata!("")), (LIB, "pub mod a;\n"),
          (A, "#[path = \"x.rs\"]\nmod b;\nmod c;\n"),
          ("crates/core/src/x.rs", ""), ("crates/core/src/a/c.rs", "")],
        &[(META, metadata!("")), (LIB, "// mod a;\n"), (A, "mod c;\n"),
          ("crates/core/src/a/c.rs", "")]),
    example("drawers", 3, &[("src/utility.rs", "mod commons;\n")],
        &[("src/utils.rs", ""), ("tests/common/a.rs", ""), ("src/a.rs", "mod helpers {\n}\n")]),
    example("getters", 1, &[("a.rs", "fn get() {}\nfn forget_a() {}\n")],
        &[("a.rs", "pub fn get_a() {}\n")]),
    example("allow", 2,
        &[("a.rs", "#[allow(\n    dead_code,\n    reason = \"b\"\n)]\nfn a() {}\n\
                    // #[allow(x)]\n")],
        &[("a.rs", "#![allow(warnings)]\n#[expect(dead_code)]\nfn a(reason: u8) {}\n")]),
    example("safety", 5,
        &[("a.rs", "// SAFETY: a,\n// b.\nlet x =\n    unsafe { f() };\n/// A.\n///\n\
                    /// # Safety\n/// B.\n#[inline]\npub unsafe fn f() {}\n\
                    type F = unsafe fn();\nlet y = unsafe { g() }; // SAFETY: c\n\
                    // This is unsafe.\n")],
        &[("a.rs", "let x = unsafe { f() };\nunsafe impl Send for A {}\n/// A.\n\
                    unsafe fn f() {}\nunsafe extern \"C\" {\n}\n"),
          ("b.rs", "// SAFETY: a.\n\n\n\n\nlet x = unsafe { f() };\n")]),
    example("arrows", 3,
        &[(META, metadata!(r#"{"name":"t","path":"/top/crates/testkit","kind":"dev"},
                              {"name":"u","kind":null}"#))],
        &[(META, metadata!(r#"{"name":"w","path":"/top/crates/wire","kind":null},
                              {"name":"v","path":"/top/crates/wire","kind":"dev"},
                              {"name":"t","path":"/top/crates/testkit","kind":null}"#))]),
    example("no-runtime", 1, &[(META, metadata!(r#"{"name":"tokio","kind":"dev"}"#))],
        &[(META, metadata!(r#"{"name":"tokio","kind":null}"#))]),
    example("pure", 4,
        &[(LIB, "// tokio\nuse std::time::Duration;\n\
                 #[cfg(test)]\nmod tests {\n    use std::fs;\n}\n"),
          ("crates/cli/src/a.rs", "use std::net;\n"),
          ("crates/core/src/json/tests.rs", "use std::fs;\n")],
        &[(LIB, "use std::{fs, io};\nuse std::time::Instant;\nasync fn a() {}\n\
                 use std::net::IpAddr;\n")]),
    example("environment", 2,
        &[("crates/cli/src/main.rs", "std::env::args();\n"), ("a.rs", "env!(\"A\");\n"),
          ("b.rs", "std::env::consts::ARCH;\n"),
          ("crates/cli/tests/a.rs", "use std::env;\n"), ("xtask/src/a.rs", "use std::env;\n")],
        &[("crates/cli/src/a.rs", "use std::env;\n"),
          ("crates/http/src/a.rs", "use std::{env, io};\n")]),
    example("kernels", 2,
        &[("src/a/kernel.rs", "fn a(b: &[u8]) {}\n"), ("src/a.rs", "Vec::new();\n")],
        &[("src/kernel.rs", "let a = Vec::new();\n"), ("src/b_kernel.rs", "use std::io::Read;\n")]),
    example("bounded-reads", 1, &[("crates/cli/src/a.rs", "a.read_to_end(&mut b);\n")],
        &[(LIB, "a.read_to_end(&mut b);\n")]),
    example("typed-errors", 1,
        &[(LIB, "enum Value {\n    Text(String),\n}\nenum AError {\n    A { a: String },\n}\n")],
        &[(LIB, "pub enum AError {\n    B,\n    Other(String),\n}\n")]),
    example("sleep", 2, &[("src/a.rs", "thread::sleep(a);\n")],
        &[("tests/a.rs", "std::thread::sleep(a);\n"),
          ("src/b.rs", "#[cfg(test)]\nmod t {\n thread::sleep(a);\n}\n")]),
    example("unbounded", 3,
        &[("a.rs", "mpsc::channel(64);\nmpsc::channel::<u8>(64);\nmpsc::sync_channel(1);\n")],
        &[("a.rs", "let a = mpsc::channel();\nmpsc::channel::<Vec<u8>>();\n\
                    mpsc::unbounded_channel();\n")]),
    example("links", 5,
        &[("a.md", "# A\n[b](d/b.md#two-words), [c](d), `[x](y)`, [h](https://h.example/)\n\
                    ```\n[x](y)\n```\n[s](#a)\n"),
          ("d/b.md", "# B\n## Two words\n[a](../a.md)\n<img src=\"p.png\">\n"), ("d/p.png", "")],
        &[("a.md", "# A\n[b](b.md)\n[c](d/b.md#c)\n[s](#b)\n[u](/d/b.md)\n"),
          ("d/b.md", "# B\n![p](p.png)\n")]),
    example("title", 2, &[("a.md", "# A\n## B\n```\n# c\n```\n")],
        &[("a.md", "## A\n"), ("b.md", "# A\n# B\n")]),
];

const WIDE: &str = "// 0123456789012345678901234567890123456789012345678901234567890123456789\
                    0123456789012345678901234567\n";
const LONG: &str = {
    const BYTES: [u8; 601] = [b'\n'; 601];
    match std::str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => unreachable!(),
    }
};

fn findings(rule: &Rule, files: Files) -> Vec<String> {
    let mut findings = Vec::new();
    (rule.check)(&Tree::of(files), &mut findings);
    let show = |Finding { path, line, message }: &Finding| format!("{path}:{line}: {message}");
    findings.iter().map(show).collect()
}

#[test]
fn every_rule_fires_on_its_bad_example_only() {
    for rule in RULES {
        let example = EXAMPLES.iter().find(|example| example.rule == rule.name);
        let example = example.unwrap_or_else(|| panic!("{} has no example", rule.name));
        let (good, bad) = (findings(rule, example.good), findings(rule, example.bad));
        assert!(good.is_empty(), "{} fires on its good example: {good:#?}", rule.name);
        assert_eq!(bad.len(), example.count, "{} on its bad example: {bad:#?}", rule.name);
    }
}

#[test]
fn every_example_is_of_a_rule_and_no_rule_stands_twice() {
    for example in EXAMPLES {
        let count = RULES.iter().filter(|rule| rule.name == example.rule).count();
        assert_eq!(count, 1, "{}", example.rule);
    }
}

#[test]
fn a_finding_names_the_line() {
    let rule = RULES.iter().find(|rule| rule.name == "getters").expect("the rule is in the table");
    let found = findings(rule, &[("a.rs", "\n\nfn get_b() {}\n")]);
    assert_eq!(found, ["a.rs:3: get_b can be called b"]);
}
