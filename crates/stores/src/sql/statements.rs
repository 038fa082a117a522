//! The texts of all statements, made once when a store is opened.
//!
//! A conditional write is one UPDATE or DELETE whose WHERE names the old state, or an INSERT that a
//! unique key stops. Nothing is read first and written later. An UPDATE comes before the INSERT,
//! and not one INSERT with ON CONFLICT, because a row may have columns of others that must not be
//! null: PostgreSQL would refuse to insert them before it saw that the row is there.

use std::sync::Arc;

use super::backend::Kind;
use super::columns::{Column, Columns};
use super::dialect::{ColumnType, Dialect};

/// What a write's condition looks like to the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guard {
    /// The row is there.
    Exists,
    /// It has expired, and so counts as absent.
    Expired,
    /// It has exactly the old values.
    Same,
    /// Its stamp is smaller or missing, or it has expired.
    Older,
}

/// What becomes of the expiry column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Keep,
    Never,
    InMs,
}

const GUARDS: [Guard; 4] = [Guard::Exists, Guard::Expired, Guard::Same, Guard::Older];
const LIVES: [Life; 3] = [Life::Keep, Life::Never, Life::InMs];

/// All texts of a store.
pub(super) struct Statements {
    pub(super) select: Arc<str>,
    pub(super) select_kinds: Vec<Kind>,
    pub(super) exists: Arc<str>,
    updates: Vec<Arc<str>>,
    inserts: Vec<Arc<str>>,
    deletes: Vec<Arc<str>>,
    pub(super) first_page: Arc<str>,
    pub(super) next_page: Arc<str>,
}

impl Statements {
    pub(super) fn update(&self, guard: Guard, life: Life) -> &Arc<str> {
        &self.updates[guard as usize * LIVES.len() + life as usize]
    }

    pub(super) fn insert(&self, life: Life) -> &Arc<str> {
        &self.inserts[life as usize]
    }

    pub(super) fn delete(&self, guard: Guard) -> &Arc<str> {
        &self.deletes[guard as usize]
    }
}

/// Makes the texts.
pub(super) fn statements(dialect: Dialect, table: &str, columns: &Columns) -> Statements {
    let maker = Maker { dialect, table: dialect.quote_table(table), columns };
    Statements {
        select: maker.select().into(),
        select_kinds: maker.select_kinds(),
        exists: maker.exists().into(),
        updates: GUARDS
            .iter()
            .flat_map(|guard| LIVES.map(|life| maker.update(*guard, life).into()))
            .collect(),
        inserts: LIVES.map(|life| maker.insert(life).into()).to_vec(),
        deletes: GUARDS.map(|guard| maker.delete(guard).into()).to_vec(),
        first_page: maker.page(false).into(),
        next_page: maker.page(true).into(),
    }
}

struct Maker<'a> {
    dialect: Dialect,
    table: String,
    columns: &'a Columns,
}

/// Hands out placeholders in order.
struct Places {
    dialect: Dialect,
    used: usize,
}

impl Places {
    fn next(&mut self) -> String {
        self.used += 1;
        self.dialect.placeholder(self.used)
    }
}

impl Maker<'_> {
    fn places(&self) -> Places {
        Places { dialect: self.dialect, used: 0 }
    }

    fn read(&self, column: &Column) -> String {
        self.dialect.read(&column.name, column.kind)
    }

    fn write(&self, column: &Column, places: &mut Places) -> String {
        self.dialect.write(&places.next(), column.kind)
    }

    /// The columns of a record that a write sets and a version holds, in the order of arguments.
    fn record(&self) -> Vec<&Column> {
        let columns = self.columns;
        let packed = columns.packed.iter().flat_map(|(packed, metadata)| [packed, metadata]);
        [&columns.raw].into_iter().chain(packed).chain(&columns.stamp).collect()
    }

    /// Finds the row of a key. Texts are compared as bytes too where the collation may be loose;
    /// the first comparison is the one that has an index.
    fn is_key(&self, places: &mut Places) -> String {
        let key = &self.columns.key;
        let by_index = format!("{} = {}", key.name, self.write(key, places));
        let is_loose = key.kind == ColumnType::Text && self.dialect != Dialect::Postgres;
        if !is_loose {
            return by_index;
        }
        format!("{by_index} AND {} = {}", self.read(key), places.next())
    }

    fn is_alive(&self) -> Option<String> {
        let expires = &self.columns.expires.as_ref()?.name;
        Some(format!("({expires} IS NULL OR {expires} > {})", self.dialect.now_ms()))
    }

    fn is_expired(&self) -> Option<String> {
        let expires = &self.columns.expires.as_ref()?.name;
        Some(format!("{expires} <= {}", self.dialect.now_ms()))
    }

    fn and_alive(&self) -> String {
        self.is_alive().map_or_else(String::new, |alive| format!(" AND {alive}"))
    }

    fn guard(&self, guard: Guard, places: &mut Places) -> String {
        match guard {
            Guard::Exists => String::new(),
            // Without such a column nothing ever expires.
            Guard::Expired => format!(" AND {}", self.is_expired().unwrap_or("1 = 0".to_owned())),
            Guard::Same => {
                let same = self.dialect.same();
                let mut text = self.and_alive();
                for column in self.record() {
                    text.push_str(&format!(" AND {} {same} {}", self.read(column), places.next()));
                }
                text
            }
            Guard::Older => {
                let Some(stamp) = &self.columns.stamp else { return " AND 1 = 0".to_owned() };
                let mut either = vec![
                    format!("{} IS NULL", stamp.name),
                    format!("{} < {}", stamp.name, places.next()),
                ];
                either.extend(self.is_expired());
                format!(" AND ({})", either.join(" OR "))
            }
        }
    }

    fn select(&self) -> String {
        let mut parts: Vec<String> =
            self.record().into_iter().map(|column| self.read(column)).collect();
        if let Some(expires) = &self.columns.expires {
            let remaining = format!("({} - {})", expires.name, self.dialect.now_ms());
            parts.push(self.dialect.read(&remaining, ColumnType::Integer));
        }
        let (parts, table) = (parts.join(", "), &self.table);
        let key = self.is_key(&mut self.places());
        format!("SELECT {parts} FROM {table} WHERE {key}{}", self.and_alive())
    }

    fn select_kinds(&self) -> Vec<Kind> {
        let of = |column: &Column| match column.kind {
            ColumnType::Integer => Kind::Integer,
            _ => Kind::Bytes,
        };
        self.record().into_iter().chain(&self.columns.expires).map(of).collect()
    }

    fn exists(&self) -> String {
        let key = self.is_key(&mut self.places());
        let one = self.dialect.read("1", ColumnType::Integer);
        format!("SELECT {one} FROM {} WHERE {key}{}", self.table, self.and_alive())
    }

    fn update(&self, guard: Guard, life: Life) -> String {
        let places = &mut self.places();
        let mut sets: Vec<String> = self
            .record()
            .into_iter()
            .map(|column| format!("{} = {}", column.name, self.write(column, places)))
            .collect();
        if let Some(expires) = &self.columns.expires {
            let (name, now) = (&expires.name, self.dialect.now_ms());
            sets.push(match life {
                // A row that has expired is absent, and a new record does not expire.
                Life::Keep => {
                    format!("{name} = CASE WHEN {name} > {now} THEN {name} ELSE NULL END")
                }
                Life::Never => format!("{name} = NULL"),
                Life::InMs => format!("{name} = {now} + {}", places.next()),
            });
        }
        let key = self.is_key(places);
        let guard = self.guard(guard, places);
        format!("UPDATE {} SET {} WHERE {key}{guard}", self.table, sets.join(", "))
    }

    fn insert(&self, life: Life) -> String {
        let places = &mut self.places();
        let mut names = Vec::new();
        let mut values = Vec::new();
        for column in self.record() {
            names.push(column.name.clone());
            values.push(self.write(column, places));
        }
        if let (Some(expires), Life::InMs) = (&self.columns.expires, life) {
            names.push(expires.name.clone());
            values.push(format!("{} + {}", self.dialect.now_ms(), places.next()));
        }
        names.push(self.columns.key.name.clone());
        values.push(self.write(&self.columns.key, places));
        let (names, values) = (names.join(", "), values.join(", "));
        let (table, key) = (&self.table, &self.columns.key.name);
        match self.dialect {
            // IGNORE would hide other faults too, such as a value that is cut off.
            Dialect::MySql => format!("INSERT INTO {table} ({names}) VALUES ({values})"),
            _ => format!(
                "INSERT INTO {table} ({names}) VALUES ({values}) ON CONFLICT ({key}) DO NOTHING"
            ),
        }
    }

    fn delete(&self, guard: Guard) -> String {
        let places = &mut self.places();
        let key = self.is_key(places);
        let guard = self.guard(guard, places);
        format!("DELETE FROM {} WHERE {key}{guard}", self.table)
    }

    /// Keys in the order of the index. They are unique in it, so that the last one of a page says
    /// where the next one begins, whatever comes and goes.
    fn page(&self, is_next: bool) -> String {
        let places = &mut self.places();
        let (key, table) = (&self.columns.key, &self.table);
        let read = match key.kind {
            // An integer goes through text, so that a page has one type.
            ColumnType::Integer => match self.dialect {
                Dialect::MySql => format!("CAST({} AS CHAR)", key.name),
                dialect => dialect.read(&key.name, ColumnType::Text),
            },
            _ => self.read(key),
        };
        let name = &key.name;
        let mut filter = match is_next {
            true => format!("{name} > {}", self.write(key, places)),
            false => format!("{name} IS NOT NULL"),
        };
        // SQLite keeps values of any type in any column, and sorts by type first.
        if self.dialect == Dialect::Sqlite {
            let stored = match key.kind {
                ColumnType::Integer => "integer",
                ColumnType::Bytes => "blob",
                _ => "text",
            };
            filter.push_str(&format!(" AND typeof({name}) = '{stored}'"));
        }
        let (alive, limit) = (self.and_alive(), places.next());
        format!("SELECT {read} FROM {table} WHERE {filter}{alive} ORDER BY {name} LIMIT {limit}")
    }
}
