//! `cargo xtask tidy`: the house rules that neither rustc nor clippy checks. A rule that is only
//! written down loses to growth, so every rule here is a row of `RULES` that fails the build.
//!
//! A rule is added by a row here, a check function in a file below, and a good and a bad example
//! in `tidy/examples.rs`, without which a test of that file fails.

mod arrows;
mod attributes;
mod documents;
#[cfg(test)]
mod examples;
mod files;
mod lexer;
mod modules;
mod names;
mod packages;
mod purity;
mod safety;
mod tree;
mod waiting;

use std::path::Path;

use crate::failure::{Failure, Outcome};
use crate::process;
use tree::Tree;

/// A house rule: its name, why it is one, and the check that reports each place that breaks it.
struct Rule {
    name: &'static str,
    reason: &'static str,
    check: fn(&Tree, &mut Vec<Finding>),
}

/// A place that breaks a rule. Lines count from 1.
struct Finding {
    path: String,
    line: usize,
    message: String,
}

#[rustfmt::skip]
const RULES: &[Rule] = &[
    Rule { name: "header", check: files::header,
        reason: "every .rs file opens with `//!` lines (two at least) that say why it exists" },
    Rule { name: "length", check: files::length,
        reason: "a file of one concept is short; a longer one needs a row and a reason in LONG" },
    Rule { name: "width", check: files::width,
        reason: "rustfmt leaves long strings and comments alone, so they are counted here" },
    Rule { name: "whitespace", check: files::whitespace,
        reason: "no blanks at line ends, one newline at the end: diffs then show changes only" },
    Rule { name: "unfinished", check: files::unfinished,
        reason: "a marker in the source is an issue that nobody sees; file the issue instead" },
    Rule { name: "mod-rs", check: modules::no_mod_rs,
        reason: "foo.rs beside foo/: a file's name says what it holds, and mod.rs says nothing" },
    Rule { name: "reachable", check: modules::reachable,
        reason: "a .rs file that no crate declares is never compiled and never tested" },
    Rule { name: "drawers", check: names::drawers,
        reason: "a module is named after what it holds; a drawer for the rest only ever grows" },
    Rule { name: "getters", check: names::getters,
        reason: "a getter is named after what it returns, without get_" },
    Rule { name: "allow", check: attributes::reasons,
        reason: "a silenced lint says why, in the attribute's own `reason = \"...\"`" },
    Rule { name: "safety", check: safety::comments,
        reason: "each unsafe block or impl states in a SAFETY comment why it is sound; \
                 each unsafe fn states in `# Safety` what its callers owe" },
    Rule { name: "arrows", check: arrows::dependencies,
        reason: "arrows between crates point down only (DESIGN, layout); one that doesn't is a \
                 design question and not a quick fix" },
    Rule { name: "no-runtime", check: arrows::no_runtime,
        reason: "the pure crates and the black-box tests are worth nothing once they link a \
                 runtime or our own code" },
    Rule { name: "pure", check: purity::pure,
        reason: "these crates see no clock, socket, file or environment: they run in other \
                 people's processes, and tests replay them exactly" },
    Rule { name: "environment", check: purity::environment,
        reason: "the environment is read once, in the binary: main.rs or config.rs" },
    Rule { name: "kernels", check: purity::kernels,
        reason: "a kernel is a loop over slices; what allocates or does I/O is its binding" },
    Rule { name: "bounded-reads", check: purity::bounded_reads,
        reason: "hostile input decides how much read_to_end allocates; take a maximum" },
    Rule { name: "typed-errors", check: purity::typed_errors,
        reason: "a caller can't branch on prose: a library's error variant says what, in types" },
    Rule { name: "sleep", check: waiting::no_sleep_in_tests,
        reason: "a test that sleeps is slow on good days and red on bad ones; wait for an event" },
    Rule { name: "unbounded", check: waiting::no_unbounded_channel,
        reason: "a queue without a bound turns a slow reader into an out-of-memory kill" },
    Rule { name: "links", check: documents::links,
        reason: "a relative link in a document leads to a file, and its anchor to a heading" },
    Rule { name: "title", check: documents::title,
        reason: "a document has one `# ` title" },
];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [] => check(&process::root()?),
        [flag] if flag == "--list" => {
            RULES.iter().for_each(|rule| println!("{:<14} {}", rule.name, rule.reason));
            Ok(())
        }
        _ => Err(Failure::new("tidy takes only --list")),
    }
}

/// Checks every rule over the work tree and prints each finding; fails if there is one.
pub(crate) fn check(root: &Path) -> Outcome {
    let tree = Tree::read(root)?;
    let mut count = 0;
    let mut reasons = Vec::new();
    for rule in RULES {
        let mut findings = Vec::new();
        (rule.check)(&tree, &mut findings);
        for Finding { path, line, message } in &findings {
            println!("{path}:{line}: {}: {message}", rule.name);
        }
        if !findings.is_empty() {
            reasons.push(rule);
            count += findings.len();
        }
    }
    if count == 0 {
        println!("tidy: {} rules hold in {} files", RULES.len(), tree.files.len());
        return Ok(());
    }
    println!();
    for rule in &reasons {
        println!("{}: {}", rule.name, rule.reason);
    }
    let what = format!("{count} places break {} of {} rules", reasons.len(), RULES.len());
    Err(Failure::new(what).remedy("mend the places above"))
}
