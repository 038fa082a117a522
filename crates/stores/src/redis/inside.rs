//! What reads inside the values of a server, by what it says of itself.
//!
//! Redis has no catalog of who reads what. It does count commands: those that read or change inside
//! of a value, and scripts, which may do anything, have been called or have not. Functions, modules
//! that index values, keyspace notifications and the clients of the moment stand beside that.

use redis::{RedisResult, Value, cmd};

use super::RedisStore;
use super::failure::explain;
use crate::address::Address;
use crate::error::{StoreError, in_one_line};
use crate::preflight::{Effect, Found, OBJECTS_MAX, Report, WITH_ONE_SLOT};

/// Commands that read or change a part of a string, by the length or bits of what is stored.
const INSIDE: [&str; 16] = [
    "append",
    "bitcount",
    "bitfield",
    "bitfield_ro",
    "bitop",
    "bitpos",
    "decrbyfloat",
    "digest",
    "getbit",
    "getrange",
    "incrbyfloat",
    "lcs",
    "setbit",
    "setrange",
    "strlen",
    "substr",
];

/// Commands that run what somebody else wrote.
const SCRIPTS: [&str; 6] = ["eval", "eval_ro", "evalsha", "evalsha_ro", "fcall", "fcall_ro"];

/// Modules that read JSON or index what is stored.
const MODULES: [&str; 5] = ["search", "searchlight", "ReJSON", "json", "timeseries"];

/// Looks at the server of an address.
///
/// # Errors
/// [`StoreError`].
pub(crate) async fn look_inside(address: Address) -> Result<Report, StoreError> {
    let store = RedisStore::open(address).await?;
    let mut look = Look { store: &store, found: Vec::new(), unseen: Vec::new() };
    look.commands().await?;
    look.notifications().await?;
    look.functions().await?;
    look.modules().await?;
    look.clients().await?;
    let Look { found, mut unseen, .. } = look;
    if store.link.is_cluster() {
        unseen.push("all nodes of the cluster but one: ask each by its own address".to_owned());
    }
    unseen.push("which keys were meant: the server counts commands and not keys".to_owned());
    let (place, when) = ("values of keys".to_owned(), WITH_ONE_SLOT);
    Ok(Report { store: store.name.clone(), place, when, found, unseen })
}

struct Look<'a> {
    store: &'a RedisStore,
    found: Vec<Found>,
    unseen: Vec<String>,
}

impl Look<'_> {
    fn find(&mut self, kind: &str, name: &str, effect: Effect, why: String) {
        if self.found.len() < OBJECTS_MAX {
            let (kind, name) = (kind.to_owned(), name.to_owned());
            self.found.push(Found { kind, name, effect, why });
        }
    }

    /// The server's answer to a command, or nothing where it does not know or allow it.
    async fn ask(&mut self, what: &str, words: &[&str]) -> Result<Option<Value>, StoreError> {
        let mut command = cmd(words[0]);
        command.arg(&words[1..]);
        let answer: RedisResult<Value> = self.store.link.ask(&command).await;
        match answer {
            Ok(Value::ServerError(error)) => {
                self.unseen.push(format!("{what}: {}", error.details().unwrap_or("refused")));
                Ok(None)
            }
            Ok(value) => Ok(Some(value)),
            Err(error) => match explain(&self.store.name, b"", &error) {
                StoreError::Refused { .. } => {
                    self.unseen.push(format!("{what}: {}", in_one_line(&error)));
                    Ok(None)
                }
                other => Err(other),
            },
        }
    }

    async fn commands(&mut self) -> Result<(), StoreError> {
        let Some(answer) = self.ask("commands", &["INFO", "commandstats"]).await? else {
            return Ok(());
        };
        for (name, calls) in counted(&text_of(&answer)) {
            if INSIDE.contains(&name.as_str()) {
                let why = format!(
                    "called {calls} times since the server started: it sees the envelope and not \
                     the payload"
                );
                self.find("command", &name, Effect::Breaks, why);
            } else if SCRIPTS.contains(&name.as_str()) {
                let why = format!(
                    "called {calls} times since the server started: does a script read inside of \
                     values (cjson, string functions)?"
                );
                self.find("script", &name, Effect::Look, why);
            }
        }
        Ok(())
    }

    async fn notifications(&mut self) -> Result<(), StoreError> {
        let words = ["CONFIG", "GET", "notify-keyspace-events"];
        let Some(answer) = self.ask("keyspace notifications", &words).await? else {
            return Ok(());
        };
        let flags = texts(&answer).into_iter().nth(1).unwrap_or_default();
        if !flags.is_empty() {
            let why = "listeners that then read the value get an envelope; a backfill notifies \
                       them of every key"
                .to_owned();
            let name = format!("notify-keyspace-events {flags}");
            self.find("notification", &name, Effect::Look, why);
        }
        Ok(())
    }

    async fn functions(&mut self) -> Result<(), StoreError> {
        let Some(answer) = self.ask("functions", &["FUNCTION", "LIST"]).await? else {
            return Ok(());
        };
        let words = texts(&answer);
        for pair in words.windows(2).filter(|pair| pair[0] == "library_name") {
            let why = "its functions may read inside of values".to_owned();
            self.find("function", &pair[1], Effect::Look, why);
        }
        Ok(())
    }

    async fn modules(&mut self) -> Result<(), StoreError> {
        let Some(answer) = self.ask("modules", &["MODULE", "LIST"]).await? else { return Ok(()) };
        let words = texts(&answer);
        for pair in words.windows(2).filter(|pair| pair[0] == "name") {
            if MODULES.iter().any(|name| name.eq_ignore_ascii_case(&pair[1])) {
                let why = "it reads JSON values or indexes fields; what is packed is no JSON";
                self.find("module", &pair[1], Effect::Look, why.to_owned());
            }
        }
        Ok(())
    }

    async fn clients(&mut self) -> Result<(), StoreError> {
        let Some(answer) = self.ask("clients", &["CLIENT", "LIST"]).await? else { return Ok(()) };
        let mine = match self.ask("clients", &["CLIENT", "ID"]).await? {
            Some(Value::Int(id)) => Some(id.to_string()),
            _ => None,
        };
        let list = text_of(&answer);
        let mut groups: Vec<(String, u64)> = Vec::new();
        for line in list.lines() {
            let field = |name: &str| {
                line.split(' ').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
            };
            if field("id").map(str::to_owned) == mine {
                continue;
            }
            let address = field("addr").unwrap_or_default();
            let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
            let label = [field("name").unwrap_or_default(), field("lib-name").unwrap_or_default()]
                .into_iter()
                .find(|text| !text.is_empty())
                .unwrap_or("no name");
            let label = format!("{label} from {host}, user {}", field("user").unwrap_or("default"));
            match groups.iter_mut().find(|(known, _)| *known == label) {
                Some((_, count)) => *count += 1,
                None => groups.push((label, 1)),
            }
        }
        for (label, count) in groups {
            let why = format!("{count} connections: is it a reader of envelopes?");
            self.find("client", &label, Effect::Look, why);
        }
        Ok(())
    }
}

/// The commands of `INFO commandstats` with their calls.
fn counted(info: &str) -> Vec<(String, u64)> {
    let one = |line: &str| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let calls = rest.split(',').next()?.trim().parse().ok()?;
        Some((name.to_lowercase(), calls))
    };
    info.lines().filter_map(one).filter(|(_, calls)| *calls > 0).collect()
}

/// An answer of one text.
fn text_of(value: &Value) -> String {
    texts(value).join("\n")
}

/// Every text of an answer, in order, however it is nested.
fn texts(value: &Value) -> Vec<String> {
    let mut open = vec![value];
    let mut found = Vec::new();
    while let Some(value) = open.pop() {
        match value {
            Value::BulkString(bytes) => found.push(String::from_utf8_lossy(bytes).into_owned()),
            Value::SimpleString(text) => found.push(text.clone()),
            Value::VerbatimString { text, .. } => found.push(text.clone()),
            Value::Array(values) | Value::Set(values) => open.extend(values.iter().rev()),
            Value::Map(pairs) => {
                open.extend(pairs.iter().rev().flat_map(|(key, value)| [value, key]));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_command() {
        let info = "# Commandstats\r\ncmdstat_getrange:calls=3,usec=9\r\ncmdstat_get:calls=0,\r\n";
        assert_eq!(counted(info), [("getrange".to_owned(), 3)]);
    }

    #[test]
    fn texts_keep_their_order_in_maps_and_lists() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let map = Value::Map(vec![(text("library_name"), text("carts"))]);
        assert_eq!(texts(&Value::Array(vec![map, text("end")])), ["library_name", "carts", "end"]);
    }
}
