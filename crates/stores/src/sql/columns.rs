//! What the database says of the table when a store is opened: that the columns are there and can
//! keep any payload byte for byte, and that no two rows can have one key.
//!
//! It is better to refuse a table here than to find a payload changed: `jsonb` sorts the keys of
//! what is written, `char(n)` pads it, and a table without a unique key grows a second row.

use std::collections::HashMap;
use std::sync::Arc;

use super::SqlOptions;
use super::backend::{Argument, Backend, Kind};
use super::dialect::{ColumnType, Dialect};
use super::failure::explain;
use crate::error::StoreError;

/// The columns of a store, each with its quoted name and its type.
pub(super) struct Columns {
    pub(super) key: Column,
    pub(super) raw: Column,
    /// The compressed column and that of its metadata, where there are two slots.
    pub(super) packed: Option<(Column, Column)>,
    pub(super) stamp: Option<Column>,
    pub(super) expires: Option<Column>,
}

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: ColumnType,
}

impl Columns {
    /// Asks the database.
    pub(super) async fn find(
        backend: &dyn Backend,
        dialect: Dialect,
        options: &SqlOptions,
        store: &str,
    ) -> Result<Columns, StoreError> {
        let (schema, table) = match options.table.rsplit_once('.') {
            Some((schema, table)) => (Some(schema), table),
            None => (None, options.table.as_str()),
        };
        let ask = async |text: &'static str, more: Option<&str>| {
            let mut arguments = vec![Argument::Text(Some(table))];
            if dialect != Dialect::Sqlite {
                arguments.push(Argument::Text(schema));
            }
            arguments.extend(more.map(|more| Argument::Text(Some(more))));
            let kinds = [Kind::Bytes, Kind::Bytes, Kind::Bytes];
            let rows = backend.fetch(&Arc::from(text), &arguments, &kinds).await;
            rows.map_err(|error| explain(store, b"", &error))
        };
        if dialect == Dialect::Sqlite && schema.is_some() {
            return Err(refuse(store, "sqlite takes the name of a table without a dot".to_owned()));
        }
        let mut types = HashMap::new();
        for row in ask(columns_query(dialect), None).await? {
            let [name, declared, charset] = row.map_text();
            types.insert(name, (declared, charset));
        }
        if types.is_empty() {
            return Err(refuse(store, format!("there is no table called {}", options.table)));
        }
        let find = |role: &str, name: &str, allowed: &[ColumnType]| {
            let (declared, charset) = types.get(name).ok_or_else(|| {
                let mut names: Vec<&str> = types.keys().map(String::as_str).collect();
                names.sort_unstable();
                let there = names.join(", ");
                refuse(store, format!("the table has no column {name} ({role}); it has {there}"))
            })?;
            match column_type(dialect, declared, charset) {
                Ok(kind) if allowed.contains(&kind) => {
                    Ok(Column { name: dialect.quote(name), kind })
                }
                found => {
                    let why = found.err().unwrap_or("it is of the wrong kind for that");
                    let what = format!("column {name} of type {declared} can't be the {role}");
                    Err(refuse(store, format!("{what}: {why}")))
                }
            }
        };
        use ColumnType::{Bytes, Integer, Json, Jsonb, Text};
        let key = find("key", &options.key, &[Bytes, Text, Integer])?;
        if ask(unique_query(dialect), Some(&options.key)).await?.is_empty() {
            let what = format!("column {} is no primary key and not unique alone", options.key);
            return Err(refuse(store, format!("{what}; two rows could have one key")));
        }
        let packed = match (&options.packed, &options.metadata) {
            (None, None) => None,
            (Some(packed), Some(metadata)) => Some((
                find("compressed copy", packed, &[Bytes])?,
                find("metadata", metadata, &[Bytes, Text, Json, Jsonb])?,
            )),
            _ => {
                let what = "the compressed column and that of its metadata come together";
                return Err(refuse(store, format!("{what}; name both, or neither")));
            }
        };
        let optional = |role: &str, name: &Option<String>| {
            name.as_deref().map(|name| find(role, name, &[Integer])).transpose()
        };
        Ok(Columns {
            raw: find("raw copy", &options.raw, &[Bytes, Text, Json])?,
            packed,
            stamp: optional("version stamp", &options.stamp)?,
            expires: optional("expiry in milliseconds since 1970", &options.expires)?,
            key,
        })
    }
}

/// Reads a row of three texts.
trait MapText {
    fn map_text(self) -> [String; 3];
}

impl MapText for Vec<super::backend::Cell> {
    fn map_text(self) -> [String; 3] {
        let mut cells = self.into_iter().map(super::backend::Cell::text);
        std::array::from_fn(|_| cells.next().unwrap_or_default())
    }
}

fn refuse(store: &str, message: String) -> StoreError {
    StoreError::Address(format!("{store}: {message}"))
}

/// Name, type and character set of each column.
fn columns_query(dialect: Dialect) -> &'static str {
    match dialect {
        // The encoding of the server is converted from, so that it does not matter.
        Dialect::Postgres => {
            "SELECT convert_to(a.attname::text, 'UTF8'), \
                convert_to(format_type(a.atttypid, NULL), 'UTF8'), ''::bytea \
             FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
             WHERE a.attnum > 0 AND NOT a.attisdropped AND c.oid = to_regclass(\
                coalesce(quote_ident($2) || '.', '') \
                || quote_ident($1))"
        }
        Dialect::MySql => {
            "SELECT CAST(column_name AS BINARY), CAST(data_type AS BINARY), \
                CAST(coalesce(character_set_name, '') AS BINARY) \
             FROM information_schema.columns \
             WHERE table_name = ? \
                AND table_schema = coalesce(?, database())"
        }
        // The encoding of the file stands for a character set.
        Dialect::Sqlite => {
            "SELECT CAST(name AS BLOB), CAST(type AS BLOB), \
                (SELECT CAST(encoding AS BLOB) FROM pragma_encoding) \
             FROM pragma_table_info(?)"
        }
    }
}

/// Has a row where one unique index is of this column alone.
fn unique_query(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => {
            "SELECT ''::bytea, ''::bytea, ''::bytea FROM pg_index i \
             JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] \
             WHERE i.indisunique AND i.indisvalid AND i.indnkeyatts = 1 AND i.indpred IS NULL \
                AND i.indrelid = to_regclass(\
                    coalesce(quote_ident($2) || '.', '') \
                    || quote_ident($1)) \
                AND a.attname = $3"
        }
        Dialect::MySql => {
            "SELECT CAST(index_name AS BINARY), '', '' FROM information_schema.statistics \
             WHERE table_name = ? \
                AND table_schema = coalesce(?, database()) \
             GROUP BY index_name \
             HAVING count(*) = 1 AND max(non_unique) = 0 AND max(sub_part) IS NULL \
                AND lower(max(column_name)) = lower(?)"
        }
        Dialect::Sqlite => {
            "SELECT x'', x'', x'' FROM pragma_table_info(?1) t \
             WHERE t.name = ?2 AND (\
                (t.pk = 1 AND 1 = (SELECT count(*) FROM pragma_table_info(?1) \
                    WHERE pk > 0)) \
                OR EXISTS (SELECT 1 FROM pragma_index_list(?1) l \
                    WHERE l.\"unique\" AND NOT l.partial \
                    AND 1 = (SELECT count(*) FROM pragma_index_info(l.name)) \
                    AND t.name = (SELECT name FROM pragma_index_info(l.name))))"
        }
    }
}

/// What a declared type is to us, or why it is nothing.
fn column_type(
    dialect: Dialect,
    declared: &str,
    charset: &str,
) -> Result<ColumnType, &'static str> {
    let declared = declared.to_ascii_lowercase();
    let unknown = "use a type of bytes, of text without padding, or of whole numbers";
    match dialect {
        Dialect::Postgres => match declared.as_str() {
            "bytea" => Ok(ColumnType::Bytes),
            "text" | "character varying" => Ok(ColumnType::Text),
            "json" => Ok(ColumnType::Json),
            "jsonb" => Ok(ColumnType::Jsonb),
            "bigint" | "integer" | "smallint" => Ok(ColumnType::Integer),
            _ => Err(unknown),
        },
        Dialect::MySql => match declared.as_str() {
            "tinyblob" | "blob" | "mediumblob" | "longblob" | "varbinary" => Ok(ColumnType::Bytes),
            "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => match charset {
                "utf8mb4" => Ok(ColumnType::Text),
                _ => Err("its character set is not utf8mb4, so that it can't keep every text"),
            },
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => Ok(ColumnType::Integer),
            _ => Err(unknown),
        },
        // The rules by which SQLite finds the affinity of a declared type.
        Dialect::Sqlite if declared.contains("int") => Ok(ColumnType::Integer),
        Dialect::Sqlite if ["char", "clob", "text"].iter().any(|word| declared.contains(word)) => {
            match charset {
                "UTF-8" => Ok(ColumnType::Text),
                _ => Err("texts of this file are UTF-16; use a type of bytes"),
            }
        }
        Dialect::Sqlite if declared.contains("blob") || declared.is_empty() => {
            Ok(ColumnType::Bytes)
        }
        Dialect::Sqlite => Err("its affinity turns texts into numbers; declare BLOB or TEXT"),
    }
}
