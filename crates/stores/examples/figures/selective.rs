//! The article's second option: to write only the fields that changed. What an update takes on the
//! wire that way, and as a whole document, raw and packed.
//!
//! The server is FerretDB, which has no oplog and keeps a document as one value whatever changes in
//! it. So the bytes of commands are all that is told.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use bson::{Bson, Document, doc};
use cinch_integration::{Folder, MongoDb};
use cinch_rollout::live::Live;
use cinch_rollout::settings::Sources;
use cinch_stores::{Client, Condition, Expiry};
use mongodb::Collection;
use serde_json::Value;

use crate::edits::{Changes, Edit, changes};
use crate::modes::{Method, configuration, methods};
use crate::mongodb::host;
use crate::tables::{Column, Table};
use crate::traffic::{Replay, lines};
use crate::wire::Counted;

/// How many documents are edited unless somebody says otherwise: each is written ten times for each
/// kind of edit, and the server syncs every write to its disk.
pub const COUNT: usize = 120;

/// The field that holds the document, as it was published.
const CART: &str = "cart";

const RAW: &str = "write_mode = \"NO_COMPRESS\"\n";
const PACKED: &str = "write_mode = \"COMPRESS_ONLY\"\nread_mode = \"COMPRESS_ONLY\"\n";

/// A table for each kind of edit.
///
/// # Errors
/// The first call that failed.
pub fn tables(replay: &Replay, folder: &Folder) -> Result<Vec<Table>, Box<dyn Error>> {
    let server = MongoDb::shared();
    let counted = Counted::before(&host(&server.address(""))?)?;
    let methods = methods(&replay.profile);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut tables = Vec::new();
    for edit in Edit::ALL {
        eprintln!("figures: {}", edit.name());
        let measuring = Measuring { counted: &counted, methods: &methods, folder, edit };
        tables.push(runtime.block_on(measuring.table(&replay.path))?);
    }
    Ok(tables)
}

struct Measuring<'a> {
    counted: &'a Counted,
    methods: &'a [Method],
    folder: &'a Folder,
    edit: Edit,
}

/// A way to write an edited document.
enum Way {
    /// The whole text, raw or packed.
    Text(Client),
    /// The whole document as an embedded one.
    Embedded(Collection<Document>),
    /// The fields that changed.
    Selective(Collection<Document>),
}

impl Measuring<'_> {
    async fn table(&self, payloads: &Path) -> Result<Table, Box<dyn Error>> {
        let mut ways = vec![("whole text, NO_COMPRESS".to_owned(), self.text(None, RAW).await?)];
        ways.push(("whole document, embedded".to_owned(), Way::Embedded(self.collection().await?)));
        ways.push(("$set of what changed".to_owned(), Way::Selective(self.collection().await?)));
        for method in self.methods {
            let name = format!("whole text, COMPRESS_ONLY, {}", method.name);
            ways.push((name, self.text(Some(method), PACKED).await?));
        }
        let (mut all, mut edited, mut fields) = (0_u64, 0_u64, 0);
        let mut sent = vec![0; ways.len()];
        for (index, payload) in lines(payloads)?.enumerate() {
            let payload = payload?;
            all += 1;
            let Ok(before) = serde_json::from_slice::<Value>(&payload) else { continue };
            let Some(after) = self.edit.made(&before) else { continue };
            let changed = changes(CART, &before, &after);
            edited += 1;
            fields += changed.set.len() + changed.unset.len();
            for ((_, way), sent) in ways.iter().zip(&mut sent) {
                *sent += self.written(way, index, &before, &after, &changed).await?;
            }
        }
        let columns =
            vec![Column::new("command_bytes_per_update", "command B/update", 0).with_factor()];
        let mean = |sent: &u64| Some(*sent as f64 / edited.max(1) as f64);
        let names = ways.into_iter().map(|(name, _)| name);
        let rows = names.zip(&sent).map(|(name, sent)| (name, vec![mean(sent)])).collect();
        let notes = vec![
            format!(
                "{edited} of {all} documents have a list to edit; {:.1} fields change on average.",
                fields as f64 / edited.max(1) as f64
            ),
            "What goes into the oplog is not measured on mongod, and FerretDB has none.".to_owned(),
        ];
        let title = format!("Updates where {}, by MongoDB's protocol", self.edit.name());
        Ok(Table { title, columns, rows, notes })
    }

    /// The bytes that are sent for the update of one document, which is there before.
    async fn written(
        &self,
        way: &Way,
        index: usize,
        before: &Value,
        after: &Value,
        changed: &Changes,
    ) -> Result<u64, Box<dyn Error>> {
        let key = format!("cart:{index}");
        let found = doc! { "_id": &key };
        let sent = match way {
            Way::Text(client) => {
                let (old, new) = (before.to_string(), after.to_string());
                let (always, keep) = (&Condition::Always, Expiry::Keep);
                client.put(key.as_bytes(), old, None, always, keep).await?;
                let sent = self.counted.bytes();
                client.put(key.as_bytes(), new, None, always, keep).await?;
                sent
            }
            Way::Embedded(collection) | Way::Selective(collection) => {
                let mut old = found.clone();
                old.insert(CART, bson(before)?);
                collection.insert_one(old).await?;
                let update = match way {
                    Way::Selective(_) => update(changed)?,
                    _ => doc! { "$set": { CART: bson(after)? } },
                };
                let sent = self.counted.bytes();
                let done = collection.update_one(found.clone(), update).await?;
                if done.matched_count != 1 {
                    return Err(format!("{key} was not there to be updated").into());
                }
                sent
            }
        };
        Ok(self.counted.bytes() - sent)
    }

    /// A client of the published shape in a collection of its own.
    async fn text(&self, method: Option<&Method>, modes: &str) -> Result<Way, Box<dyn Error>> {
        let address = format!("mongodb://{}/figures.{}", self.counted.address(), self.unused());
        let store = Arc::from(cinch_stores::open(&address).await?);
        let path = self.folder.at("selective.toml").into();
        let sources = Sources { path, text: configuration(method, modes), ..Sources::default() };
        Ok(Way::Text(Client::new(store, Arc::new(Live::new(sources.configuration()?)))))
    }

    async fn collection(&self) -> Result<Collection<Document>, Box<dyn Error>> {
        let address = format!("mongodb://{}", self.counted.address());
        let client = mongodb::Client::with_uri_str(address).await?;
        Ok(client.database("figures").collection(&self.unused()))
    }

    /// The name of a collection that nobody has used.
    fn unused(&self) -> String {
        let number = fastrand::u64(..);
        format!("carts_{number:016x}")
    }
}

/// The update that makes these changes.
fn update(changes: &Changes) -> Result<Document, Box<dyn Error>> {
    let mut update = Document::new();
    let mut set = Document::new();
    for (path, value) in &changes.set {
        set.insert(path, bson(value)?);
    }
    if !set.is_empty() {
        update.insert("$set", set);
    }
    if !changes.unset.is_empty() {
        let unset: Document =
            changes.unset.iter().map(|path| (path.clone(), Bson::from(""))).collect();
        update.insert("$unset", unset);
    }
    Ok(update)
}

fn bson(value: &Value) -> Result<Bson, Box<dyn Error>> {
    Ok(bson::serialize_to_bson(value)?)
}
