//! Tables of PostgreSQL, MySQL and MariaDB, and SQLite: a row holds the raw copy, the compressed
//! one with its metadata as JSON, and the version stamp; or one column holds a single value.
//!
//! The table belongs to the application: it is neither made nor changed here, and columns that are
//! not named stay as they are.

mod backend;
mod columns;
mod create;
mod dialect;
mod failure;
mod inside;
mod open;
mod statements;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cinch_rollout::{PackedField, Record, Stamp};

use crate::error::StoreError;
use crate::metadata;
use crate::store::{Condition, Expiry, Found, Page, PutOutcome, Shape, Slots, Store, Version};
use crate::version::{values_of, version_of};
use backend::{Argument, Backend, Cell, Kind};
use columns::Columns;
use dialect::{ColumnType, Dialect};
use failure::{explain, is_duplicate, was_undone};
use statements::{Guard, Life, Statements};

pub(crate) use create::OWN_TABLE;
pub(crate) use inside::look_inside;

/// How often a write is tried again that the database undid, or that met a row which came or went
/// between an UPDATE and an INSERT. Each round needs another writer at just that moment.
const TRIES_MAX: usize = 32;

/// What cursors begin with, so that one of another store is told from one of ours.
const CURSOR_MARK: &[u8] = b"sql-key:";

/// The most keys that a page may have.
const PAGE_KEYS_MAX: usize = 100_000;

/// The table and the columns of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlOptions {
    /// The table, with `schema.` before it where it is not found without.
    pub table: String,
    /// The key column: text, bytes or a whole number; it must be unique alone.
    pub key: String,
    /// The column of the raw copy, or of the single value: text or bytes.
    pub raw: String,
    /// The column of the compressed copy, of bytes; without it the store has one slot.
    pub packed: Option<String>,
    /// The column of the compressed copy's metadata, for JSON text.
    pub metadata: Option<String>,
    /// The column of the version stamp, a whole number of 64 bits.
    pub stamp: Option<String>,
    /// The column of the time after which a row counts as absent, in milliseconds since 1970 by
    /// the clock of the database. Rows that have expired are not deleted.
    pub expires: Option<String>,
    /// The most connections that are open at once.
    pub connections: u32,
    /// How long a call waits for a connection, in milliseconds.
    pub timeout_ms: u64,
}

impl Default for SqlOptions {
    /// A table `carts` of one slot: `id` and `cart`, eight connections, ten seconds.
    fn default() -> SqlOptions {
        SqlOptions {
            table: "carts".to_owned(),
            key: "id".to_owned(),
            raw: "cart".to_owned(),
            packed: None,
            metadata: None,
            stamp: None,
            expires: None,
            connections: 8,
            timeout_ms: 10_000,
        }
    }
}

/// A table.
pub struct SqlStore {
    name: String,
    dialect: Dialect,
    backend: Box<dyn Backend>,
    columns: Columns,
    statements: Statements,
}

impl SqlStore {
    fn fail(&self, key: &[u8], error: &sqlx::Error) -> StoreError {
        explain(&self.name, key, error)
    }

    async fn execute(
        &self,
        key: &[u8],
        text: &Arc<str>,
        arguments: &[Argument<'_>],
    ) -> Result<Executed, StoreError> {
        for _ in 1..TRIES_MAX {
            match self.backend.execute(text, arguments).await {
                Ok(rows) => return Ok(Executed::Rows(rows)),
                Err(error) if is_duplicate(&error) => return Ok(Executed::Duplicate),
                Err(error) if was_undone(&error) => {}
                Err(error) => return Err(self.fail(key, &error)),
            }
        }
        match self.backend.execute(text, arguments).await {
            Ok(rows) => Ok(Executed::Rows(rows)),
            Err(error) => Err(self.fail(key, &error)),
        }
    }

    async fn fetch(
        &self,
        key: &[u8],
        text: &Arc<str>,
        arguments: &[Argument<'_>],
        kinds: &[Kind],
    ) -> Result<Vec<Vec<Cell>>, StoreError> {
        let rows = self.backend.fetch(text, arguments, kinds).await;
        rows.map_err(|error| self.fail(key, &error))
    }

    /// The arguments that find the row of a key.
    fn key_arguments<'a>(&self, key: &'a [u8]) -> Result<Vec<Argument<'a>>, StoreError> {
        let refuse = |what: &str| Err(StoreError::unsupported(&self.name, what));
        match self.columns.key.kind {
            ColumnType::Integer => match whole_number(key) {
                Some(number) => Ok(vec![Argument::Integer(Some(number))]),
                None => refuse("keep a key that is no whole number in its key column"),
            },
            ColumnType::Bytes => Ok(vec![Argument::Bytes(Some(key))]),
            _ if std::str::from_utf8(key).is_err() => {
                refuse("keep a key that is no text in its key column of text")
            }
            _ if self.dialect == Dialect::Postgres && key.contains(&0) => {
                refuse("keep a key with a zero byte in its key column of text")
            }
            kind if self.dialect == Dialect::Postgres => Ok(vec![written(kind, Some(key))]),
            kind => Ok(vec![written(kind, Some(key)), Argument::Bytes(Some(key))]),
        }
    }

    fn stamp(&self, stamp: Stamp) -> Result<i64, StoreError> {
        i64::try_from(stamp.0)
            .map_err(|_| StoreError::unsupported(&self.name, "keep a stamp of 2^63 or more"))
    }

    /// The life of a write and its argument.
    fn life(&self, expiry: Expiry) -> Result<(Life, Option<Argument<'static>>), StoreError> {
        match expiry {
            Expiry::Keep => Ok((Life::Keep, None)),
            Expiry::Never => Ok((Life::Never, None)),
            Expiry::InMs(_) if self.columns.expires.is_none() => Err(StoreError::unsupported(
                &self.name,
                "let a row expire without a column for that (expires=COLUMN)",
            )),
            Expiry::InMs(milliseconds) => {
                // More than that is never, to everybody who lives now.
                let milliseconds = i64::try_from(milliseconds).unwrap_or(i64::MAX / 4);
                let milliseconds = milliseconds.clamp(1, i64::MAX / 4);
                Ok((Life::InMs, Some(Argument::Integer(Some(milliseconds)))))
            }
        }
    }

    /// A condition as a guard and its arguments, which borrow from it.
    fn guard<'a>(
        &self,
        condition: &'a Condition,
    ) -> Result<(Guard, Vec<Argument<'a>>), StoreError> {
        match condition {
            Condition::Always => Ok((Guard::Exists, Vec::new())),
            Condition::Absent => Ok((Guard::Expired, Vec::new())),
            Condition::OlderThan(stamp) => {
                if self.columns.stamp.is_none() {
                    let what = "compare version stamps without a column for them (stamp=COLUMN)";
                    return Err(StoreError::unsupported(&self.name, what));
                }
                Ok((Guard::Older, vec![Argument::Integer(Some(self.stamp(*stamp)?))]))
            }
            Condition::Is(version) => {
                let slots = if self.columns.packed.is_some() { 3 } else { 1 };
                let has_stamp = self.columns.stamp.is_some();
                let values = values_of(version, slots + usize::from(has_stamp), &self.name)?;
                let (texts, stamp) = values.split_at(slots);
                let mut arguments: Vec<Argument<'a>> =
                    texts.iter().map(|value| Argument::Bytes(*value)).collect();
                for value in stamp {
                    let number = value.and_then(|bytes| bytes.try_into().ok());
                    arguments.push(Argument::Integer(number.map(i64::from_le_bytes)));
                }
                Ok((Guard::Same, arguments))
            }
        }
    }

    /// The row under a key.
    async fn row(&self, key: &[u8]) -> Result<Option<Vec<Cell>>, StoreError> {
        let (arguments, statements) = (self.key_arguments(key)?, &self.statements);
        let rows =
            self.fetch(key, &statements.select, &arguments, &statements.select_kinds).await?;
        Ok(rows.into_iter().next())
    }

    fn found(&self, key: &[u8], row: Vec<Cell>) -> Result<Found, StoreError> {
        let version = self.version(&row);
        let expires_in_ms = self.columns.expires.as_ref().and_then(|_| row.last()?.integer());
        let expires_in_ms = expires_in_ms.and_then(|left| u64::try_from(left).ok());
        Ok(Found { record: self.record_of(key, row)?, version, expires_in_ms })
    }

    /// The state of a row: what the columns of ours hold.
    fn version(&self, row: &[Cell]) -> Version {
        let mut cells = row.iter();
        let mut next = || cells.next().unwrap_or(&Cell::Null);
        let slots = if self.columns.packed.is_some() { 3 } else { 1 };
        let mut values: Vec<Option<&[u8]>> = (0..slots).map(|_| next().as_bytes()).collect();
        let stamp_bytes = next().integer().map(i64::to_le_bytes);
        if self.columns.stamp.is_some() {
            values.push(stamp_bytes.as_ref().map(<[u8; 8]>::as_slice));
        }
        version_of(&values)
    }

    fn record_of(&self, key: &[u8], row: Vec<Cell>) -> Result<Record, StoreError> {
        let shape = |message: String| StoreError::shape(&self.name, key, message);
        let mut cells = row.into_iter();
        let mut next = || cells.next().unwrap_or(Cell::Null);
        let raw = next().bytes();
        let (bytes, described) = match self.columns.packed {
            Some(_) => (next().bytes(), next().bytes()),
            None => (None, None),
        };
        let stamp = self.columns.stamp.as_ref().and_then(|_| next().integer());
        let packed = match (bytes, described) {
            (None, _) => None,
            (Some(_), None) => {
                return Err(shape("a compressed copy without its metadata".to_owned()));
            }
            (Some(bytes), Some(described)) => {
                let metadata = metadata::from_json(&described).map_err(shape)?;
                Some(PackedField { bytes: bytes.into(), metadata })
            }
        };
        let stamp = match stamp {
            None => None,
            Some(number) => Some(Stamp(
                u64::try_from(number).map_err(|_| shape(format!("a stamp below 0: {number}")))?,
            )),
        };
        Ok(Record { raw: raw.map(Bytes::from), packed, stamp })
    }

    /// What a record has that the table has no place for.
    fn check(&self, record: &Record) -> Result<(), StoreError> {
        let refuse = |what: &str| Err(StoreError::unsupported(&self.name, what));
        if record.stamp.is_some() && self.columns.stamp.is_none() {
            return refuse("keep a version stamp without a column for it (stamp=COLUMN)");
        }
        if self.columns.packed.is_none() {
            if record.packed.is_some() {
                return refuse("keep a packed copy beside the raw one in one column");
            }
            if record.raw.is_none() {
                return refuse("keep a record without a value in one column");
            }
        }
        if self.columns.raw.kind != ColumnType::Bytes
            && record.raw.as_ref().is_some_and(|raw| std::str::from_utf8(raw).is_err())
        {
            return refuse("keep a raw copy that is no text in its column of text");
        }
        Ok(())
    }

    async fn exists(&self, key: &[u8]) -> Result<bool, StoreError> {
        let arguments = self.key_arguments(key)?;
        let rows = self.fetch(key, &self.statements.exists, &arguments, &[Kind::Integer]).await?;
        Ok(!rows.is_empty())
    }
}

/// What a statement that writes did.
enum Executed {
    Rows(u64),
    /// A unique value is there already.
    Duplicate,
}

impl Executed {
    fn wrote(&self) -> bool {
        matches!(self, Executed::Rows(rows) if *rows > 0)
    }
}

/// A value for a column. What is no text was refused before it comes to a column of text.
fn written(kind: ColumnType, value: Option<&[u8]>) -> Argument<'_> {
    match kind {
        ColumnType::Bytes | ColumnType::Integer => Argument::Bytes(value),
        _ => Argument::Text(value.and_then(|value| std::str::from_utf8(value).ok())),
    }
}

/// A key of digits, in the one way in which a number is written.
fn whole_number(key: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(key).ok()?;
    text.parse().ok().filter(|number: &i64| number.to_string() == text)
}

#[async_trait]
impl Store for SqlStore {
    fn shape(&self) -> Shape {
        Shape {
            kind: self.dialect.name(),
            slots: if self.columns.packed.is_some() { Slots::Two } else { Slots::One },
            has_expiry: self.columns.expires.is_some(),
            has_stamp: self.columns.stamp.is_some(),
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Found>, StoreError> {
        self.row(key).await?.map(|row| self.found(key, row)).transpose()
    }

    async fn record(&self, key: &[u8]) -> Result<Option<Record>, StoreError> {
        self.row(key).await?.map(|row| self.record_of(key, row)).transpose()
    }

    async fn put(
        &self,
        key: &[u8],
        record: &Record,
        condition: &Condition,
        expiry: Expiry,
    ) -> Result<PutOutcome, StoreError> {
        self.check(record)?;
        let described = record.packed.as_ref().map(|packed| metadata::to_json(&packed.metadata));
        let mut values = vec![written(self.columns.raw.kind, record.raw.as_deref())];
        if let Some((_, metadata)) = &self.columns.packed {
            let bytes = record.packed.as_ref().map(|packed| &packed.bytes[..]);
            values.push(Argument::Bytes(bytes));
            values.push(written(metadata.kind, described.as_deref().map(str::as_bytes)));
        }
        if self.columns.stamp.is_some() {
            let stamp = record.stamp.map(|stamp| self.stamp(stamp)).transpose()?;
            values.push(Argument::Integer(stamp));
        }
        let (life, life_argument) = self.life(expiry)?;
        values.extend(life_argument);
        let key_arguments = self.key_arguments(key)?;
        let (guard, guard_arguments) = self.guard(condition)?;
        let update = [values.as_slice(), &key_arguments, &guard_arguments].concat();
        let insert = [values.as_slice(), &key_arguments[..1]].concat();
        let statements = &self.statements;
        for attempt in 0..TRIES_MAX {
            // Absent means no row, or one that has expired, which only a column can say.
            let may_update = guard != Guard::Expired || self.columns.expires.is_some();
            if may_update {
                let updated = self.execute(key, statements.update(guard, life), &update).await?;
                if updated.wrote() {
                    return Ok(PutOutcome::Written);
                }
                if guard == Guard::Same {
                    return Ok(PutOutcome::ConditionFailed);
                }
            }
            if self.execute(key, statements.insert(life), &insert).await?.wrote() {
                return Ok(PutOutcome::Written);
            }
            // A row came between the two, or was there and is not as the condition wants it.
            match guard {
                Guard::Exists | Guard::Same => {}
                Guard::Expired if self.exists(key).await? => {
                    return Ok(PutOutcome::ConditionFailed);
                }
                Guard::Older if attempt > 0 && self.exists(key).await? => {
                    return Ok(PutOutcome::ConditionFailed);
                }
                Guard::Expired | Guard::Older => {}
            }
        }
        Err(StoreError::Refused {
            store: self.name.clone(),
            message: "another row has a value that must be unique, such as this key in other \
                      letters"
                .to_owned(),
        })
    }

    async fn delete(&self, key: &[u8], condition: &Condition) -> Result<PutOutcome, StoreError> {
        let key_arguments = self.key_arguments(key)?;
        let (guard, guard_arguments) = self.guard(condition)?;
        let arguments = [key_arguments, guard_arguments].concat();
        let deleted = self.execute(key, self.statements.delete(guard), &arguments).await?.wrote();
        let is_done = match condition {
            Condition::Always => true,
            Condition::Is(_) => deleted,
            Condition::Absent | Condition::OlderThan(_) => deleted || !self.exists(key).await?,
        };
        Ok(if is_done { PutOutcome::Written } else { PutOutcome::ConditionFailed })
    }

    async fn scan(&self, from: Option<&[u8]>, limit: usize) -> Result<Page, StoreError> {
        let limit = limit.clamp(1, PAGE_KEYS_MAX);
        let mut arguments = Vec::new();
        let text = match from {
            None => &self.statements.first_page,
            Some(cursor) => {
                let foreign = || {
                    StoreError::Address(format!("{}: this cursor is of another store", self.name))
                };
                let key = cursor.strip_prefix(CURSOR_MARK).ok_or_else(foreign)?;
                arguments.extend(self.key_arguments(key).map_err(|_| foreign())?.first());
                &self.statements.next_page
            }
        };
        arguments.push(Argument::Integer(i64::try_from(limit).ok()));
        let rows = self.fetch(b"", text, &arguments, &[Kind::Bytes]).await?;
        let keys: Vec<Vec<u8>> =
            rows.into_iter().flat_map(|row| row.into_iter().filter_map(Cell::bytes)).collect();
        let last = keys.last().filter(|_| keys.len() == limit);
        let next = last.map(|key| [CURSOR_MARK, key].concat());
        Ok(Page { keys, next })
    }
}

impl std::fmt::Debug for SqlStore {
    /// Without the connection, whose options hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SqlStore({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_digits_has_one_spelling() {
        assert_eq!(whole_number(b"-12"), Some(-12));
        for other in [&b"012"[..], b"+1", b"", b"1 ", b"9223372036854775808", b"\xff"] {
            assert_eq!(whole_number(other), None);
        }
    }

    #[test]
    fn a_name_can_not_leave_its_quotes() {
        assert_eq!(Dialect::MySql.quote("a`b"), "`a``b`");
        assert_eq!(Dialect::Postgres.quote("a\"b"), "\"a\"\"b\"");
        assert_eq!(Dialect::Sqlite.quote_table("s.t"), "\"s\".\"t\"");
    }
}
