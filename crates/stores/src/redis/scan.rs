//! Scans with a cursor that outlives this process.
//!
//! SCAN's own number means something only to the process of the server that gave it: a server that
//! was started anew hashes keys otherwise, and a slot that moves takes its keys from a node that
//! was not scanned to one that was. So a cursor names the run of the server and the map of slots,
//! and where either has changed, the scan of that node or of all begins again. A key may be seen
//! twice then, and none is missed.

use redis::{Cmd, Value, cmd};
use serde_json::{Value as Json, json};

use super::connection::Link;
use super::failure::explain;
use crate::error::StoreError;
use crate::store::Page;

/// The most that a server is asked to look at in one step, for which it answers nobody else.
const COUNT_MAX: usize = 10_000;

/// Where a scan is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cursor {
    /// The masters and their slots; empty for one server, and before the first page of a cluster.
    masters: String,
    /// The id of the master that is scanned.
    node: String,
    /// The run of its process.
    run: String,
    /// SCAN's number; 0 is the start.
    at: u64,
}

impl Cursor {
    fn start() -> Cursor {
        let nothing = String::new();
        Cursor { masters: nothing.clone(), node: nothing.clone(), run: nothing, at: 0 }
    }

    fn to_bytes(&self) -> Vec<u8> {
        json!({"masters": self.masters, "node": self.node, "run": self.run, "at": self.at})
            .to_string()
            .into_bytes()
    }

    fn parse(bytes: &[u8]) -> Option<Cursor> {
        let json: Json = serde_json::from_slice(bytes).ok()?;
        let text = |name: &str| Some(json.get(name)?.as_str()?.to_owned());
        let at = json.get("at")?.as_u64()?;
        Some(Cursor { masters: text("masters")?, node: text("node")?, run: text("run")?, at })
    }
}

/// A master of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Master {
    id: String,
    first_slot: u16,
    slots: String,
    is_myself: bool,
    is_moving: bool,
}

/// One page of keys.
pub(super) async fn page(
    link: &Link,
    store: &str,
    pattern: Option<&str>,
    from: Option<&[u8]>,
    limit: usize,
) -> Result<Page, StoreError> {
    let scan = Scan { link, store, pattern, count: limit.clamp(1, COUNT_MAX) };
    let cursor = match from {
        None => Cursor::start(),
        Some(bytes) => Cursor::parse(bytes).ok_or_else(|| {
            StoreError::Address(format!("{store}: this cursor is of another store"))
        })?,
    };
    if link.is_cluster() { scan.cluster_page(cursor).await } else { scan.one_page(cursor).await }
}

struct Scan<'a> {
    link: &'a Link,
    store: &'a str,
    pattern: Option<&'a str>,
    count: usize,
}

impl Scan<'_> {
    fn command(&self, at: u64) -> Cmd {
        let mut command = cmd("SCAN");
        command.arg(at).arg("COUNT").arg(self.count);
        if let Some(pattern) = self.pattern {
            command.arg("MATCH").arg(pattern);
        }
        // Other types are no payloads of ours.
        command.arg("TYPE").arg("string");
        command
    }

    async fn ask(&self, slot: u16, commands: &[Cmd]) -> Result<Vec<Value>, StoreError> {
        let answers = self.link.ask_master(slot, commands).await;
        answers.map_err(|error| explain(self.store, b"", &error))
    }

    async fn one_page(&self, cursor: Cursor) -> Result<Page, StoreError> {
        let mut info = cmd("INFO");
        info.arg("server");
        let answers = self.ask(0, &[info, self.command(cursor.at)]).await?;
        let [info, scanned] = answers.as_slice() else { return Err(self.odd()) };
        let run = run_of(&text_of(info));
        if cursor.at != 0 && cursor.run != run {
            return Ok(next_page(Vec::new(), &Cursor { run, at: 0, ..cursor }));
        }
        let (at, keys) = scanned_of(scanned).ok_or_else(|| self.odd())?;
        let next = Cursor { run, at, ..cursor };
        Ok(Page { keys, next: (at != 0).then(|| next.to_bytes()) })
    }

    async fn cluster_page(&self, cursor: Cursor) -> Result<Page, StoreError> {
        if cursor.masters.is_empty() {
            let masters = self.settled_masters().await?;
            let first = masters.first().ok_or_else(|| self.odd())?;
            let start =
                Cursor { masters: map_of(&masters), node: first.id.clone(), ..Cursor::start() };
            return Ok(next_page(Vec::new(), &start));
        }
        // Any slot of the node leads to it, as long as the map is still the one of the cursor.
        let slot = slot_of(&cursor.masters, &cursor.node).ok_or_else(|| {
            StoreError::Address(format!("{}: this cursor is of another store", self.store))
        })?;
        let mut info = cmd("INFO");
        info.arg("server");
        let answers = self.ask(slot, &[info, nodes_command(), self.command(cursor.at)]).await?;
        let [info, nodes, scanned] = answers.as_slice() else { return Err(self.odd()) };
        let masters = masters_of(&text_of(nodes));
        let is_right = masters.iter().any(|master| master.is_myself && master.id == cursor.node);
        if !is_right || map_of(&masters) != cursor.masters {
            return Ok(next_page(Vec::new(), &Cursor::start()));
        }
        let run = run_of(&text_of(info));
        if cursor.at != 0 && cursor.run != run {
            return Ok(next_page(Vec::new(), &Cursor { run, at: 0, ..cursor }));
        }
        let (at, keys) = scanned_of(scanned).ok_or_else(|| self.odd())?;
        if at != 0 {
            return Ok(next_page(keys, &Cursor { run, at, ..cursor }));
        }
        let position = masters.iter().position(|master| master.id == cursor.node);
        if let Some(following) = position.and_then(|position| masters.get(position + 1)) {
            let node = following.id.clone();
            return Ok(next_page(keys, &Cursor { node, run: String::new(), at: 0, ..cursor }));
        }
        let now = self.settled_masters().await?;
        if map_of(&now) == cursor.masters {
            return Ok(Page { keys, next: None });
        }
        Ok(next_page(keys, &Cursor::start()))
    }

    /// The masters, where no slot is being moved: one that is moving tells only the two nodes
    /// between which it does.
    async fn settled_masters(&self) -> Result<Vec<Master>, StoreError> {
        let nodes = self.ask_any().await?;
        let masters = masters_of(&nodes);
        for master in &masters {
            let answers = self.ask(master.first_slot, &[nodes_command()]).await?;
            let of_it = masters_of(&answers.first().map(text_of).unwrap_or_default());
            if of_it.iter().any(|master| master.is_moving) {
                return Err(StoreError::Unreachable {
                    store: self.store.to_owned(),
                    message: "slots are being moved, which hides keys from a scan; go on with it \
                              when that is over"
                        .to_owned(),
                });
            }
        }
        Ok(masters)
    }

    async fn ask_any(&self) -> Result<String, StoreError> {
        let answer = self.link.ask(&nodes_command()).await;
        Ok(text_of(&answer.map_err(|error| explain(self.store, b"", &error))?))
    }

    fn odd(&self) -> StoreError {
        StoreError::Refused {
            store: self.store.to_owned(),
            message: "the answer to a scan has another shape; is this a proxy?".to_owned(),
        }
    }
}

fn nodes_command() -> Cmd {
    let mut command = cmd("CLUSTER");
    command.arg("NODES");
    command
}

fn next_page(keys: Vec<Vec<u8>>, next: &Cursor) -> Page {
    Page { keys, next: Some(next.to_bytes()) }
}

/// The text of an answer: a bulk string, or RESP3's verbatim one.
fn text_of(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::VerbatimString { text, .. } | Value::SimpleString(text) => text.clone(),
        _ => String::new(),
    }
}

/// The line of INFO that changes when a server is started.
fn run_of(info: &str) -> String {
    let line = info.lines().find_map(|line| line.strip_prefix("run_id:"));
    line.unwrap_or_default().trim().to_owned()
}

fn scanned_of(value: &Value) -> Option<(u64, Vec<Vec<u8>>)> {
    let Value::Array(parts) = value else { return None };
    let [at, Value::Array(keys)] = parts.as_slice() else { return None };
    let keys = keys.iter().filter_map(|key| match key {
        Value::BulkString(key) => Some(key.clone()),
        _ => None,
    });
    Some((text_of(at).parse().ok()?, keys.collect()))
}

/// The masters with slots of CLUSTER NODES, by their first slot.
fn masters_of(nodes: &str) -> Vec<Master> {
    let mut masters: Vec<Master> = nodes.lines().filter_map(master_of).collect();
    masters.sort_by_key(|master| master.first_slot);
    masters
}

/// A line such as `ID HOST:PORT@BUS myself,master - 0 0 1 connected 0-5460 [7-<-ID]`.
fn master_of(line: &str) -> Option<Master> {
    let mut words = line.split_ascii_whitespace();
    let (id, _host, flags) = (words.next()?, words.next()?, words.next()?);
    let mut flags = flags.split(',');
    let is_myself = flags.clone().any(|flag| flag == "myself");
    if !flags.any(|flag| flag == "master") {
        return None;
    }
    let (moving, slots): (Vec<&str>, Vec<&str>) =
        words.skip(5).partition(|word| word.starts_with('['));
    let first_slot = slots.first()?.split('-').next()?.parse().ok()?;
    let (id, slots) = (id.to_owned(), slots.join(","));
    Some(Master { id, first_slot, slots, is_myself, is_moving: !moving.is_empty() })
}

/// The map of slots as a text that says which node has which.
fn map_of(masters: &[Master]) -> String {
    let parts = masters.iter().map(|master| format!("{}:{}", master.id, master.slots));
    parts.collect::<Vec<_>>().join(" ")
}

/// A slot of a node in such a text.
fn slot_of(map: &str, node: &str) -> Option<u16> {
    let mut parts = map.split(' ').filter_map(|part| part.split_once(':'));
    let (_, slots) = parts.find(|(id, _)| *id == node)?;
    slots.split(['-', ',']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masters_are_found_in_what_a_node_says() {
        let nodes = "b 127.0.0.1:2@12 master - 0 17 2 connected 5461-10922 16000\n\
            c 127.0.0.1:3@13 slave b 0 17 2 connected\n\
            a 127.0.0.1:1@11,host myself,master - 0 0 1 connected 0-5460 [5-<-b]\n\
            d 127.0.0.1:4@14 master - 0 0 1 connected\n";
        let masters = masters_of(nodes);
        let map = map_of(&masters);
        assert_eq!(map, "a:0-5460 b:5461-10922,16000");
        assert_eq!((masters[0].is_moving, masters[1].is_moving), (true, false));
        assert_eq!((slot_of(&map, "a"), slot_of(&map, "b")), (Some(0), Some(5461)));
        assert_eq!(slot_of(&map, "d"), None);
        assert!(masters_of("").is_empty() && masters_of("junk\n\n x").is_empty());
    }

    #[test]
    fn a_cursor_comes_back_and_others_are_refused() {
        let cursor = Cursor { run: "r".to_owned(), at: u64::MAX, ..Cursor::start() };
        assert_eq!(Cursor::parse(&cursor.to_bytes()), Some(cursor));
        for junk in [&b"17"[..], b"{}", b"", br#"{"masters":"","node":"","run":"","at":-1}"#] {
            assert_eq!(Cursor::parse(junk), None);
        }
    }
}
