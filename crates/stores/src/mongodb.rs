//! MongoDB and what speaks its protocol: documents in the published shape, a raw field beside
//! `compressedData`, and whatever other fields the application keeps there.
//!
//! A write is one update with `$set` and `$unset` of our fields, so that no reader sees a new raw
//! copy beside an old packed one, and its filter names the old values. Pipelines in updates are not
//! used: not every server has them. Fields of the application stay as they are.

mod document;
mod failure;
mod inside;
mod names;

use async_trait::async_trait;
use bson::{DateTime, Document, doc};
use cinch_rollout::{Record, Stamp};
use futures_util::TryStreamExt;
use mongodb::options::ClientOptions;
use mongodb::{Client, Collection};

use crate::address::Address;
use crate::error::StoreError;
use crate::store::{Condition, Expiry, Found, Page, PutOutcome, Shape, Slots, Store};
use document::{key_bytes, key_value, state_filter};
use failure::{explain, is_duplicate, is_missing};
pub(crate) use inside::look_inside;
pub use names::{KeyForm, MongoNames, RawForm};

/// What the server's administrator sees us as.
const APPLICATION: &str = "cinch";

/// How often a write is tried again that met a document which came or went meanwhile.
const TRIES_MAX: usize = 32;

/// What cursors begin with, so that one of another store is told from one of ours.
const CURSOR_MARK: &[u8] = b"mongodb-key:";

/// The most keys that a page may have.
const PAGE_KEYS_MAX: usize = 100_000;

/// How long a call waits for a server unless the address says so.
const TIMEOUT_MS: u64 = 10_000;

/// More milliseconds than that are never, to everybody who lives now; a date can hold them.
const EXPIRY_MS_MAX: u64 = 1 << 52;

/// A collection.
pub struct MongoStore {
    name: String,
    collection: Collection<Document>,
    names: MongoNames,
}

impl MongoStore {
    /// Opens the collection of an address: `mongodb://host/database.collection?key=user&raw=cart`.
    ///
    /// # Errors
    /// [`StoreError::Address`] where the address is wrong, or two documents could have one key;
    /// [`StoreError::Unreachable`] and [`StoreError::Refused`] from the server.
    pub async fn open(mut address: Address) -> Result<MongoStore, StoreError> {
        let timeout_ms = address.take_number("timeout_ms", TIMEOUT_MS)?;
        let names = MongoNames::take(&mut address)?;
        let path = address.path().trim_matches('/').to_owned();
        // No name of a database has a dot or a slash.
        let (database, collection) = path
            .split_once(['.', '/'])
            .filter(|(database, collection)| !database.is_empty() && !collection.is_empty())
            .ok_or_else(|| address.bad("write mongodb://HOST/DATABASE.COLLECTION"))?;
        let name = address.shown();
        let url = address.for_client(address.scheme(), None, database);
        let failed = |error| explain(&name, b"", &error);
        let mut options = ClientOptions::parse(&url).await.map_err(failed)?;
        let timeout = std::time::Duration::from_millis(timeout_ms);
        options.app_name.get_or_insert_with(|| APPLICATION.to_owned());
        options.server_selection_timeout.get_or_insert(timeout);
        options.connect_timeout.get_or_insert(timeout);
        let client = Client::with_options(options).map_err(failed)?;
        let collection = client.database(database).collection(collection);
        let store = MongoStore { name, collection, names };
        store.check_keys().await?;
        Ok(store)
    }

    /// Refuses a collection in which two documents could have one key, or whose keys are of another
    /// type than the names say.
    async fn check_keys(&self) -> Result<(), StoreError> {
        let key = &self.names.key;
        let only_key = doc! { key: 1 };
        let first = self.collection.find_one(doc! {}).projection(only_key).await;
        let first = first.map_err(|error| self.fail(b"", &error))?;
        if let Some(value) = first.as_ref().and_then(|document| document.get(key))
            && key_bytes(self.names.key_form, value).is_none()
        {
            return Err(StoreError::Address(format!(
                "{}: the keys in {key} are of type {:?}; write key_form=text, objectid or integer",
                self.name,
                value.element_type(),
            )));
        }
        if key == "_id" {
            return Ok(());
        }
        // A collection that is not there yet has no indexes.
        let indexes = match self.collection.list_indexes().await {
            Ok(found) => found.try_collect::<Vec<_>>().await,
            Err(error) => Err(error),
        };
        let indexes = match indexes {
            Err(error) if is_missing(&error) => Vec::new(),
            indexes => indexes.map_err(|error| self.fail(b"", &error))?,
        };
        let is_unique = indexes.iter().any(|index| {
            let options = index.options.as_ref();
            index.keys.keys().eq([key])
                && options.is_some_and(|options| {
                    options.unique == Some(true) && options.partial_filter_expression.is_none()
                })
        });
        if is_unique {
            return Ok(());
        }
        Err(StoreError::Address(format!(
            "{}: no unique index on {key} alone; two documents could have one key",
            self.name,
        )))
    }

    /// The fields that are read of the document under a key.
    async fn document(&self, key: &[u8], now: DateTime) -> Result<Option<Document>, StoreError> {
        let filter = self.alive_filter(key, now)?;
        let mut projection = Document::new();
        for name in self.names.written().into_iter().chain(self.names.expires.as_deref()) {
            projection.insert(name, 1);
        }
        let found = self.collection.find_one(filter).projection(projection).await;
        found.map_err(|error| self.fail(key, &error))
    }

    fn fail(&self, key: &[u8], error: &mongodb::error::Error) -> StoreError {
        explain(&self.name, key, error)
    }

    /// Finds the document of a key.
    fn key_filter(&self, key: &[u8]) -> Result<Document, StoreError> {
        let value = key_value(self.names.key_form, key).ok_or_else(|| {
            let what = format!("keep a key that is no {}", self.names.key_form.name());
            StoreError::unsupported(&self.name, what)
        })?;
        Ok(doc! { &self.names.key: value })
    }

    /// The same, where it has not expired. A server deletes what has expired once a minute, and
    /// until then it is absent to us by the clock of this process.
    fn alive_filter(&self, key: &[u8], now: DateTime) -> Result<Document, StoreError> {
        let mut filter = self.key_filter(key)?;
        if let Some(expires) = &self.names.expires {
            filter.insert("$or", vec![doc! { expires: null }, doc! { expires: { "$gt": now } }]);
        }
        Ok(filter)
    }

    /// The filter of a write that its condition allows over a document that is there.
    fn allowed_filter(
        &self,
        key: &[u8],
        condition: &Condition,
        now: DateTime,
    ) -> Result<Document, StoreError> {
        let mut filter = self.alive_filter(key, now)?;
        match condition {
            Condition::Always | Condition::Absent => {}
            Condition::Is(version) => {
                let old = state_filter(version, &self.names).ok_or_else(|| {
                    let what = "this version is of another store";
                    StoreError::Address(format!("{}: {what}", self.name))
                })?;
                filter.extend(old);
            }
            Condition::OlderThan(stamp) => {
                let Some(name) = &self.names.stamp else { return Err(self.no_stamp()) };
                let stamp = self.stamp(*stamp)?;
                let older = vec![doc! { name: null }, doc! { name: { "$lt": stamp } }];
                filter.insert("$and", vec![doc! { "$or": older }]);
            }
        }
        Ok(filter)
    }

    fn expired_filter(&self, key: &[u8], now: DateTime) -> Result<Option<Document>, StoreError> {
        let Some(expires) = &self.names.expires else { return Ok(None) };
        let mut filter = self.key_filter(key)?;
        filter.insert(expires, doc! { "$lte": now });
        Ok(Some(filter))
    }

    fn no_stamp(&self) -> StoreError {
        let what = "keep or compare a version stamp without a field for it (stamp=FIELD)";
        StoreError::unsupported(&self.name, what)
    }

    fn stamp(&self, stamp: Stamp) -> Result<i64, StoreError> {
        i64::try_from(stamp.0)
            .map_err(|_| StoreError::unsupported(&self.name, "keep a stamp of 2^63 or more"))
    }

    /// The time at which a write lets its document expire.
    fn expires_at(&self, expiry: Expiry, now: DateTime) -> Result<Option<DateTime>, StoreError> {
        match expiry {
            Expiry::Keep | Expiry::Never => Ok(None),
            Expiry::InMs(_) if self.names.expires.is_none() => Err(StoreError::unsupported(
                &self.name,
                "let a document expire without a field for that (expires=FIELD)",
            )),
            Expiry::InMs(milliseconds) => {
                let milliseconds = milliseconds.clamp(1, EXPIRY_MS_MAX);
                let at = now.timestamp_millis().saturating_add_unsigned(milliseconds);
                Ok(Some(DateTime::from_millis(at)))
            }
        }
    }

    /// One update of our fields; whether a document was found.
    async fn update(
        &self,
        key: &[u8],
        filter: Document,
        fields: &Document,
        expiry: Expiry,
        is_rewrite: bool,
    ) -> Result<bool, StoreError> {
        let mut unset = Document::new();
        for name in self.names.written() {
            if !fields.contains_key(name) {
                unset.insert(name, "");
            }
        }
        if let (Some(expires), Expiry::Never) = (&self.names.expires, expiry) {
            unset.insert(expires, "");
        }
        let mut update = doc! { "$set": fields.clone() };
        if !unset.is_empty() {
            update.insert("$unset", unset);
        }
        if let (Some(updated), false) = (&self.names.updated, is_rewrite) {
            update.insert("$currentDate", doc! { updated: true });
        }
        let done = self.collection.update_one(filter, update).await;
        Ok(done.map_err(|error| self.fail(key, &error))?.matched_count > 0)
    }

    async fn exists(&self, key: &[u8]) -> Result<bool, StoreError> {
        let filter = self.alive_filter(key, DateTime::now())?;
        let found = self.collection.find_one(filter).projection(doc! { "_id": 1 }).await;
        Ok(found.map_err(|error| self.fail(key, &error))?.is_some())
    }

    /// Deletes what a filter finds; whether there was anything.
    async fn remove(&self, key: &[u8], filter: Document) -> Result<bool, StoreError> {
        let done = self.collection.delete_one(filter).await;
        Ok(done.map_err(|error| self.fail(key, &error))?.deleted_count > 0)
    }
}

#[async_trait]
impl Store for MongoStore {
    fn shape(&self) -> Shape {
        Shape {
            kind: "mongodb",
            slots: Slots::Two,
            has_expiry: self.names.expires.is_some(),
            has_stamp: self.names.stamp.is_some(),
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Found>, StoreError> {
        let now = DateTime::now();
        let Some(document) = self.document(key, now).await? else { return Ok(None) };
        let found = document::found(document, &self.names, now);
        found.map(Some).map_err(|message| StoreError::shape(&self.name, key, message))
    }

    async fn record(&self, key: &[u8]) -> Result<Option<Record>, StoreError> {
        let Some(document) = self.document(key, DateTime::now()).await? else { return Ok(None) };
        let record = document::record(document, &self.names);
        record.map(Some).map_err(|message| StoreError::shape(&self.name, key, message))
    }

    async fn put(
        &self,
        key: &[u8],
        record: &Record,
        condition: &Condition,
        expiry: Expiry,
    ) -> Result<PutOutcome, StoreError> {
        if record.stamp.is_some() && self.names.stamp.is_none() {
            return Err(self.no_stamp());
        }
        let stamp = record.stamp.map(|stamp| self.stamp(stamp)).transpose()?;
        for attempt in 0..TRIES_MAX {
            let now = DateTime::now();
            let mut fields = document::fields(record, stamp, &self.names);
            if let (Some(name), Some(at)) = (&self.names.expires, self.expires_at(expiry, now)?) {
                fields.insert(name, at);
            }
            if *condition != Condition::Absent {
                // A rewrite of exactly what was read is no update of the application's.
                let is_rewrite = matches!(condition, Condition::Is(_));
                let filter = self.allowed_filter(key, condition, now)?;
                if self.update(key, filter, &fields, expiry, is_rewrite).await? {
                    return Ok(PutOutcome::Written);
                }
                if is_rewrite {
                    return Ok(PutOutcome::ConditionFailed);
                }
            }
            // What has expired is absent, and a new record does not expire unless it says so.
            if let Some(filter) = self.expired_filter(key, now)? {
                let life = if expiry == Expiry::Keep { Expiry::Never } else { expiry };
                if self.update(key, filter, &fields, life, false).await? {
                    return Ok(PutOutcome::Written);
                }
            }
            let mut document = self.key_filter(key)?;
            document.extend(fields);
            if let Some(updated) = &self.names.updated {
                document.insert(updated, now);
            }
            match self.collection.insert_one(document).await {
                Ok(_) => return Ok(PutOutcome::Written),
                Err(error) if is_duplicate(&error) => {}
                Err(error) => return Err(self.fail(key, &error)),
            }
            // A document came in between, or was there and is not as the condition wants it.
            let may_have_failed = match condition {
                Condition::Always | Condition::Is(_) => false,
                Condition::Absent => true,
                Condition::OlderThan(_) => attempt > 0,
            };
            if may_have_failed && self.exists(key).await? {
                return Ok(PutOutcome::ConditionFailed);
            }
        }
        Err(StoreError::Refused {
            store: self.name.clone(),
            message: "another document has a value that must be unique".to_owned(),
        })
    }

    async fn delete(&self, key: &[u8], condition: &Condition) -> Result<PutOutcome, StoreError> {
        let now = DateTime::now();
        let done = match condition {
            Condition::Always => {
                self.remove(key, self.key_filter(key)?).await?;
                true
            }
            Condition::Is(_) => self.remove(key, self.allowed_filter(key, condition, now)?).await?,
            Condition::Absent => !self.exists(key).await?,
            Condition::OlderThan(_) => {
                let filter = self.allowed_filter(key, condition, now)?;
                self.remove(key, filter).await? || !self.exists(key).await?
            }
        };
        Ok(if done { PutOutcome::Written } else { PutOutcome::ConditionFailed })
    }

    async fn scan(&self, from: Option<&[u8]>, limit: usize) -> Result<Page, StoreError> {
        let limit = limit.clamp(1, PAGE_KEYS_MAX);
        let foreign =
            || StoreError::Address(format!("{}: this cursor is of another store", self.name));
        let after = match from {
            None => None,
            Some(cursor) => Some(cursor.strip_prefix(CURSOR_MARK).ok_or_else(foreign)?),
        };
        let name = &self.names.key;
        // A comparison finds values of its own type alone, so that each type is a scan of its own.
        let start = document::scan_start(self.names.key_form, after).ok_or_else(foreign)?;
        let mut filter = doc! { name: start };
        if let Some(expires) = &self.names.expires {
            let now = DateTime::now();
            filter.insert("$or", vec![doc! { expires: null }, doc! { expires: { "$gt": now } }]);
        }
        let failed = |error| self.fail(b"", &error);
        let mut projection = doc! { name: 1 };
        if name != "_id" {
            projection.insert("_id", 0);
        }
        let found = self.collection.find(filter).sort(doc! { name: 1 });
        let found = found.limit(i64::try_from(limit).unwrap_or(i64::MAX)).projection(projection);
        let documents: Vec<Document> =
            found.await.map_err(failed)?.try_collect().await.map_err(failed)?;
        let is_full = documents.len() == limit;
        let mut keys = Vec::with_capacity(documents.len());
        for document in documents {
            let value = document.get(name);
            let key = value.and_then(|value| key_bytes(self.names.key_form, value));
            keys.push(key.ok_or_else(|| {
                let message = format!("{name} holds {value:?}, which no key of ours can name");
                StoreError::shape(&self.name, b"", message)
            })?);
        }
        let next = document::scan_next(self.names.key_form, after, &keys, is_full)
            .map(|next| [CURSOR_MARK, &next].concat());
        Ok(Page { keys, next })
    }
}

/// Without the connection, whose options hold a password.
impl std::fmt::Debug for MongoStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MongoStore({})", self.name)
    }
}
