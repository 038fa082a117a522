//! What the three databases spell differently: quotes, placeholders, the clock, and the way from a
//! column's type to bytes and back.
//!
//! Every comparison is of bytes. A text column compares by its collation, under which `a` may equal
//! `A`, and a write that is conditional on such a comparison would lose an update.

/// A database's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Postgres,
    MySql,
    Sqlite,
}

/// The type of a column, as far as statements depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnType {
    Bytes,
    Text,
    /// PostgreSQL's `json` keeps the text that was written.
    Json,
    /// PostgreSQL's `jsonb` does not, which is good enough for metadata.
    Jsonb,
    Integer,
}

impl Dialect {
    pub(super) fn name(self) -> &'static str {
        match self {
            Dialect::Postgres => "postgres",
            Dialect::MySql => "mysql",
            Dialect::Sqlite => "sqlite",
        }
    }

    /// A name of a table or column as the database takes any name.
    pub(super) fn quote(self, name: &str) -> String {
        match self {
            Dialect::MySql => format!("`{}`", name.replace('`', "``")),
            Dialect::Postgres | Dialect::Sqlite => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// A table's name, of which a dot parts the schema.
    pub(super) fn quote_table(self, name: &str) -> String {
        name.split('.').map(|part| self.quote(part)).collect::<Vec<_>>().join(".")
    }

    /// The placeholder of the argument at this place, counted from 1.
    pub(super) fn placeholder(self, place: usize) -> String {
        match self {
            Dialect::Postgres => format!("${place}"),
            Dialect::MySql | Dialect::Sqlite => "?".to_owned(),
        }
    }

    /// Milliseconds since 1970 by the clock of the database, which all its clients share.
    pub(super) fn now_ms(self) -> &'static str {
        match self {
            Dialect::Postgres => "(extract(epoch from clock_timestamp()) * 1000)::bigint",
            // The client sets the session's time zone to UTC.
            Dialect::MySql => "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
            Dialect::Sqlite => "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)",
        }
    }

    /// Equal, also where both are null.
    pub(super) fn same(self) -> &'static str {
        match self {
            Dialect::Postgres => "IS NOT DISTINCT FROM",
            Dialect::MySql => "<=>",
            Dialect::Sqlite => "IS",
        }
    }

    /// A quoted column as bytes, or as an integer of 64 bits.
    pub(super) fn read(self, column: &str, kind: ColumnType) -> String {
        match (self, kind) {
            (Dialect::Postgres | Dialect::MySql, ColumnType::Bytes) => column.to_owned(),
            (Dialect::Postgres, ColumnType::Integer) => format!("{column}::bigint"),
            (Dialect::Postgres, _) => format!("convert_to({column}::text, 'UTF8')"),
            (Dialect::MySql, ColumnType::Integer) => format!("CAST({column} AS SIGNED)"),
            (Dialect::MySql, _) => format!("CAST({column} AS BINARY)"),
            (Dialect::Sqlite, ColumnType::Integer) => format!("CAST({column} AS INTEGER)"),
            (Dialect::Sqlite, _) => format!("CAST({column} AS BLOB)"),
        }
    }

    /// A placeholder as a value of the column.
    pub(super) fn write(self, placeholder: &str, kind: ColumnType) -> String {
        match kind {
            ColumnType::Json => format!("{placeholder}::json"),
            ColumnType::Jsonb => format!("{placeholder}::jsonb"),
            _ => placeholder.to_owned(),
        }
    }
}
