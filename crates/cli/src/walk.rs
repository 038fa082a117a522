//! What `backfill` and `verify` share: the configuration, the store of an address, a runtime for
//! its client, and how problems are told.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use cinch_core::schema::Schema;
use cinch_evaluate::report::human;
use cinch_rollout::live::{Live, Snapshot};
use cinch_rollout::settings::{Modes, Namespace, Sources};
use cinch_stores::control::{Announcer, AnnouncerOptions, Control};
use cinch_stores::problems::Problem;
use cinch_stores::walk::WalkOptions;
use cinch_stores::{Store, open};
use tokio::runtime::{Builder, Runtime};

use crate::arguments::WalkArguments;
use crate::failure::Failure;
use crate::profile::read_schema;

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
    /// Reads the configuration and opens the store. A walk that joins the fleet does so under a
    /// name of its own: the file may name the process that it is for.
    pub fn open(
        arguments: &WalkArguments,
        variables: Vec<(String, String)>,
        is_joining: bool,
    ) -> Result<Walk, Failure> {
        let sources = Sources::read(&arguments.config, variables, PROCESS.to_owned())?;
        let mut configuration = sources.with_schemas(schema_in_words).configuration()?;
        if is_joining {
            configuration.process = format!("{PROCESS}-{}", std::process::id());
        }
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

    /// Joins the fleet as one process more, so that the policy is that of the step that holds, and
    /// everybody else reckons with this one.
    pub fn join(&self, address: &str) -> Result<Announcer, Failure> {
        let live = Arc::clone(&self.live);
        self.runtime.block_on(async {
            let control = Control::open(address, false).await?;
            Ok(Announcer::start(control, live, AnnouncerOptions::default()).await?)
        })
    }

    /// Refuses namespaces whose modes this process does not know, because they stand in the durable
    /// state: their policy would be to write plain.
    pub fn refuse_managed(&self) -> Result<(), Failure> {
        let snapshot = self.live.snapshot();
        match self.meant(&snapshot).find(|n| matches!(n.modes, Modes::Managed(_))) {
            None => Ok(()),
            Some(namespace) => Err(Failure::Argument(format!(
                "namespace {} is managed, and where its rollout stands is not in the \
                 configuration: name its control store with --control, or go back with --to plain",
                namespace.name
            ))),
        }
    }

    /// Says what is taken for granted where no control store is asked.
    pub fn tell_assumptions(&self) {
        for namespace in self.meant(&self.live.snapshot()) {
            let modes = match namespace.modes {
                Modes::Managed(_) => continue,
                Modes::Two { write, read } => format!("{}/{}", write.name(), read.name()),
                Modes::One { write } => write.name().to_owned(),
            };
            eprintln!(
                "cinch: {}: without --control it is assumed that every process does {modes} and \
                 reads what this configuration writes",
                namespace.name
            );
        }
    }

    /// The namespaces that the walk is about.
    fn meant<'s>(&self, snapshot: &'s Snapshot) -> impl Iterator<Item = &'s Arc<Namespace>> {
        let only = self.options.namespace.clone();
        let all = snapshot.namespaces().iter().map(|ready| ready.namespace());
        all.filter(move |namespace| only.as_ref().is_none_or(|name| *name == namespace.name))
    }
}

/// Reads a schema for a configuration.
pub fn schema_in_words(path: &Path) -> Result<Arc<Schema>, String> {
    read_schema(path).map_err(|failure| failure.to_string())
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
