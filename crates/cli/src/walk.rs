//! What `backfill` and `verify` share: the configuration, the store of an address, a runtime for
//! its client, and how problems are told.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use cinch_evaluate::report::human;
use cinch_rollout::live::Live;
use cinch_rollout::settings::{Modes, Sources};
use cinch_stores::problems::Problem;
use cinch_stores::walk::WalkOptions;
use cinch_stores::{Store, open};
use tokio::runtime::{Builder, Runtime};

use crate::arguments::WalkArguments;
use crate::failure::Failure;

/// The name of this process where the configuration gives it none.
const PROCESS: &str = "cinch";

/// What a walk needs.
pub struct Walk {
    /// Runs the client of the store.
    pub runtime: Runtime,
    /// The store.
    pub store: Arc<dyn Store>,
    /// What the configuration says.
    pub live: Arc<Live>,
    /// How to walk.
    pub options: WalkOptions,
}

impl Walk {
    /// Reads the configuration and opens the store.
    pub fn open(
        arguments: &WalkArguments,
        variables: Vec<(String, String)>,
    ) -> Result<Walk, Failure> {
        let sources = Sources::read(&arguments.config, variables, PROCESS.to_owned())?;
        let configuration = sources.configuration()?;
        for warning in &configuration.warnings {
            eprintln!("cinch: warning: {warning}");
        }
        let runtime = Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::file("the runtime", error))?;
        let store = runtime.block_on(open(&arguments.address))?;
        let options = WalkOptions {
            namespace: arguments.namespace.clone(),
            concurrency: arguments.concurrency as usize,
            rate_max: arguments.max_rate,
            hides_keys: arguments.no_keys,
        };
        let live = Arc::new(Live::new(configuration));
        Ok(Walk { runtime, store: Arc::from(store), live, options })
    }

    /// Refuses namespaces whose modes this process does not know, because they stand in the durable
    /// state: their policy would be to write plain.
    pub fn refuse_managed(&self) -> Result<(), Failure> {
        let snapshot = self.live.snapshot();
        for ready in snapshot.namespaces() {
            let namespace = ready.namespace();
            let is_meant = self.options.namespace.as_ref().is_none_or(|n| *n == namespace.name);
            if is_meant && matches!(namespace.modes, Modes::Managed(_)) {
                let message = format!(
                    "namespace {} is managed, and where its rollout stands is not in the \
                     configuration: give it modes in a file of its own for this job, or go back \
                     with --to plain",
                    namespace.name
                );
                return Err(Failure::Argument(message));
            }
        }
        Ok(())
    }
}

/// Problems, for people: so many of each kind and some of them.
pub fn problems_text(problems: &BTreeMap<String, Problem>) -> String {
    let mut text = String::new();
    for (kind, problem) in problems {
        text.push_str(&format!("    {kind}: {}\n", human::count(problem.count)));
        for example in &problem.examples {
            // A key may hold anything, also what moves a cursor.
            let (key, message) =
                (human::printable(&example.key), human::printable(&example.message));
            text.push_str(&format!("      {key}: {message}\n"));
        }
        let untold = problem.count - problem.examples.len() as u64;
        if untold > 0 {
            text.push_str(&format!("      and {} more\n", human::count(untold)));
        }
    }
    text
}

/// A line of figures.
pub fn line(text: &mut String, name: &str, value: impl std::fmt::Display) {
    text.push_str(&format!("  {name:<20} {value}\n"));
}

/// Lines of what was counted; what never happened is not told.
pub fn count_lines(text: &mut String, rows: &[(&str, u64)]) {
    for (name, count) in rows.iter().filter(|(_, count)| *count > 0) {
        line(text, name, human::count(*count));
    }
}

/// JSON on standard output.
pub fn json<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, Failure> {
    let text = serde_json::to_string_pretty(value);
    let text = text.map_err(|error| Failure::file("standard output", io::Error::other(error)))?;
    Ok((text + "\n").into_bytes())
}
