//! `cinch get`, `cinch scan` and `cinch explain`: what a store holds, through the policy. Whoever
//! looks after a store reads payloads again, and is told how each is stored. Nothing is changed,
//! not even a damaged value in a cache.

use std::path::Path;
use std::sync::Arc;

use cinch_core::envelope::looks_like_envelope;
use cinch_core::pack::looks_like_interop;
use cinch_rollout::glob::Glob;
use cinch_rollout::live::{Live, Ready};
use cinch_rollout::policy::Plan;
use cinch_rollout::settings::Sources;
use cinch_stores::{Client, ClientError, Found, Store, open};
use tokio::runtime::{Builder, Runtime};

use crate::Done;
use crate::arguments::{KeyArguments, ScanArguments, ValuesCommand};
use crate::failure::Failure;
use crate::inspect;
use crate::output::{Output, Place, write_whole};
use crate::walk::schema_in_words;

/// The name of this process where the configuration gives it none.
const PROCESS: &str = "cinch";

/// How many keys are asked for at once.
const PAGE_KEYS: usize = 500;

/// Shows values.
pub fn run(command: &ValuesCommand, variables: Vec<(String, String)>) -> Result<Done, Failure> {
    match command {
        ValuesCommand::Get(arguments) => get(arguments, variables),
        ValuesCommand::Scan(arguments) => scan(arguments, variables),
        ValuesCommand::Explain(arguments) => explain(arguments, variables),
    }
}

/// A store and the policy in front of it.
struct Opened {
    runtime: Runtime,
    client: Client,
}

impl Opened {
    fn open(
        address: &str,
        config: &Path,
        variables: Vec<(String, String)>,
    ) -> Result<Opened, Failure> {
        let sources = Sources::read(config, variables, PROCESS.to_owned())?;
        let configuration = sources.with_schemas(schema_in_words).configuration()?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::file("the runtime", error))?;
        let store: Arc<dyn Store> = Arc::from(runtime.block_on(open(address))?);
        let client = Client::new(store, Arc::new(Live::new(configuration)));
        Ok(Opened { runtime, client })
    }

    fn found(&self, key: &str) -> Result<Option<Found>, Failure> {
        Ok(self.runtime.block_on(self.client.store().get(key.as_bytes()))?)
    }
}

fn tell_nothing(key: &str) -> Done {
    eprintln!("cinch: nothing is stored under {key}");
    Done::Partly
}

/// Prints the payload under a key.
fn get(arguments: &KeyArguments, variables: Vec<(String, String)>) -> Result<Done, Failure> {
    let opened = Opened::open(&arguments.store, &arguments.config, variables)?;
    let key = &arguments.key;
    match opened.runtime.block_on(opened.client.versioned(key.as_bytes())) {
        Ok(None) => Ok(tell_nothing(key)),
        Ok(Some(got)) => match got.read.payload {
            Some(payload) => {
                write_whole(&Place::Stdout, &payload)?;
                Ok(Done::Whole)
            }
            None => Ok(tell_nothing(key)),
        },
        Err(ClientError::Store(error)) => Err(error.into()),
        Err(error) => {
            eprintln!("cinch: {error}");
            Ok(Done::Partly)
        }
    }
}

/// Tells how the value under a key is stored, and why.
fn explain(arguments: &KeyArguments, variables: Vec<(String, String)>) -> Result<Done, Failure> {
    let opened = Opened::open(&arguments.store, &arguments.config, variables)?;
    let key = &arguments.key;
    let live = Arc::clone(opened.client.live());
    let snapshot = live.snapshot();
    let mut text = format!("{key}\n");
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<12} {value}\n"));
    match snapshot.namespace_of(key.as_bytes()) {
        None => line("namespace", "none: the value is what the application wrote".to_owned()),
        Some(ready) => {
            line("namespace", ready.namespace().name.clone());
            line("policy", policy(ready, key.as_bytes()));
        }
    }
    let Some(found) = opened.found(key)? else {
        write_whole(&Place::Stdout, text.as_bytes())?;
        return Ok(tell_nothing(key));
    };
    let left = found.expires_in_ms.map_or("never".to_owned(), |left| format!("in {left} ms"));
    line("expires", left);
    let packed = found.record.packed.as_ref().map(|packed| &packed.bytes);
    for (name, bytes) in [("raw", found.record.raw.as_ref()), ("packed", packed)] {
        if let Some(bytes) = bytes {
            text.push_str(&inspect::told(&format!("{name} copy"), bytes));
        }
    }
    let mut done = Done::Whole;
    match opened.runtime.block_on(opened.client.versioned(key.as_bytes())) {
        Ok(Some(got)) => {
            let bytes = got.read.payload.as_ref().map_or(0, |payload| payload.len());
            let source = format!("{:?}", got.read.source).to_lowercase();
            text.push_str(&format!("payload: {bytes} bytes, of the {source} copy\n"));
            for finding in &got.read.findings {
                text.push_str(&format!("finding: {finding:?}\n"));
            }
        }
        Ok(None) => text.push_str("it is gone meanwhile\n"),
        Err(ClientError::Store(error)) => return Err(error.into()),
        Err(error) => {
            text.push_str(&format!("error: {error}\n"));
            done = Done::Partly;
        }
    }
    write_whole(&Place::Stdout, text.as_bytes())?;
    Ok(done)
}

/// What the configuration alone would do with a write under a key.
fn policy(ready: &Ready, key: &[u8]) -> String {
    match ready.plan_for(key) {
        Plan::One(plan) => format!("one slot, writes {}", plan.write.name()),
        Plan::Two(plan) => {
            format!("two slots, writes {}, reads {}", plan.write.name(), plan.read.name())
        }
    }
}

/// Lists keys with the sizes and forms of what is stored.
fn scan(arguments: &ScanArguments, variables: Vec<(String, String)>) -> Result<Done, Failure> {
    let opened = Opened::open(&arguments.store, &arguments.config, variables)?;
    let glob = arguments.keys.as_deref().map(Glob::parse).transpose();
    let glob = glob.map_err(|error| Failure::Argument(format!("--keys: {error}")))?;
    let live = Arc::clone(opened.client.live());
    let snapshot = live.snapshot();
    let store = opened.client.store();
    let mut output = Output::open(&Place::Stdout, true)?;
    let (mut from, mut shown) = (None, 0);
    loop {
        let page = opened.runtime.block_on(store.scan(from.as_deref(), PAGE_KEYS))?;
        for key in &page.keys {
            if glob.as_ref().is_some_and(|glob| !glob.matches(key)) {
                continue;
            }
            if shown == arguments.limit {
                output.finish()?;
                eprintln!("cinch: there are more keys; --limit shows more");
                return Ok(Done::Whole);
            }
            // It may be gone meanwhile, or be no value: a list, or a hash.
            let Ok(Some(found)) = opened.runtime.block_on(store.get(key)) else { continue };
            let namespace = snapshot.namespace_of(key);
            let name = namespace.map_or("-", |ready| ready.namespace().name.as_str());
            let (bytes, form) = (found.record.stored_bytes(), form(&found));
            let key = String::from_utf8_lossy(key);
            output.write(format!("{bytes:>10}  {form:<8}  {name:<16}  {key}\n").as_bytes())?;
            shown += 1;
        }
        from = page.next;
        if from.is_none() {
            output.finish()?;
            return Ok(Done::Whole);
        }
    }
}

fn form(found: &Found) -> &'static str {
    match (&found.record.raw, &found.record.packed) {
        (Some(_), Some(_)) => "both",
        (None, Some(_)) => "packed",
        (Some(raw), None) if looks_like_envelope(raw) || looks_like_interop(raw) => "packed",
        (Some(_), None) => "plain",
        (None, None) => "nothing",
    }
}
