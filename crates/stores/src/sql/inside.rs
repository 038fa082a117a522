//! What reads inside the raw column, by the catalogs of the database.
//!
//! PostgreSQL knows which objects depend on a column. The others keep definitions as text, in which
//! the column's name is looked for as a word; what only may be meant is said to be looked at.

use std::sync::Arc;

use super::SqlOptions;
use super::backend::{Argument, Backend, Kind};
use super::columns::MapText;
use super::dialect::Dialect;
use super::failure::explain;
use super::open::connect;
use crate::address::Address;
use crate::error::{StoreError, in_one_line};
use crate::preflight::{Effect, Found, OBJECTS_MAX, Report, WITH_TWO_SLOTS, mentions, short};

mod catalogs;

use catalogs::{Catalog, MARIADB, MYSQL, POSTGRES, SQLITE};

/// Looks at the table and the raw column that an address names.
///
/// # Errors
/// [`StoreError`].
pub(crate) async fn look_inside(mut address: Address) -> Result<Report, StoreError> {
    let (options, dialect) = SqlOptions::of(&mut address)?;
    let store = format!("{}?table={}", address.shown(), options.table);
    let failed = |error: &sqlx::Error| explain(&store, b"", error);
    let backend = connect(&mut address, dialect, &options).await.map_err(|error| failed(&error))?;
    let look = Look { backend: backend.as_ref(), dialect, options: &options };
    let catalogs: &[Catalog] = match dialect {
        Dialect::Postgres => POSTGRES,
        Dialect::Sqlite => SQLITE,
        Dialect::MySql => {
            let version = look.ask("SELECT CAST(version() AS BINARY)", 0, 1).await;
            let version = version.map_err(|error| failed(&error))?;
            let is_mariadb = version.iter().any(|row| row[0].contains("MariaDB"));
            if is_mariadb { MARIADB } else { MYSQL }
        }
    };
    let mut found = Vec::new();
    let mut unseen = Vec::new();
    let mut is_there = false;
    for catalog in catalogs {
        match look.ask(catalog.query, catalog.arguments, 3).await {
            Ok(rows) => {
                if catalog.kind == "column" {
                    is_there |= !rows.is_empty();
                }
                found.extend(rows.into_iter().filter_map(|row| judge(catalog, row, &options)));
            }
            Err(error @ sqlx::Error::Database(_)) => {
                unseen.push(format!("{}s: {}", catalog.kind, in_one_line(&error)));
            }
            Err(error) => return Err(failed(&error)),
        }
    }
    if !is_there {
        let SqlOptions { table, raw, .. } = &options;
        return Err(StoreError::Address(format!("{store}: there is no column {raw} in {table}")));
    }
    unseen.push("queries in applications, reports, exports and other databases' links".to_owned());
    let place = format!("column {} of {}", options.raw, options.table);
    Ok(Report { store, place, when: WITH_TWO_SLOTS, found, unseen })
}

struct Look<'a> {
    backend: &'a dyn Backend,
    dialect: Dialect,
    options: &'a SqlOptions,
}

impl Look<'_> {
    /// Asks a catalog. Its arguments are, in order: the table, its schema, the raw column.
    async fn ask(
        &self,
        query: &'static str,
        arguments: usize,
        cells: usize,
    ) -> Result<Vec<[String; 3]>, sqlx::Error> {
        let (schema, table) = match self.options.table.rsplit_once('.') {
            Some((schema, table)) => (Some(schema), table),
            None => (None, self.options.table.as_str()),
        };
        let all = match self.dialect {
            Dialect::Sqlite => [Some(table), Some(self.options.raw.as_str()), None],
            _ => [Some(table), schema, Some(self.options.raw.as_str())],
        };
        let arguments: Vec<Argument<'_>> =
            all[..arguments].iter().map(|text| Argument::Text(*text)).collect();
        let kinds = [Kind::Bytes; 3];
        let text = Arc::from(query);
        let rows = self.backend.fetch(&text, &arguments, &kinds[..cells]).await?;
        Ok(rows.into_iter().take(OBJECTS_MAX).map(MapText::map_text).collect())
    }
}

/// What a row of a catalog means. Its cells: the name, a fact about it, and its definition.
fn judge(catalog: &Catalog, row: [String; 3], options: &SqlOptions) -> Option<Found> {
    let [name, fact, definition] = row;
    let raw = options.raw.as_str();
    let table = options.table.rsplit('.').next().unwrap_or(&options.table);
    let found = |effect, why: String| {
        let kind = catalog.kind.to_owned();
        Some(Found { kind, name: name.clone(), effect, why })
    };
    let shown = || short(&definition);
    match catalog.kind {
        "column" => match fact.as_str() {
            "not null" => {
                found(Effect::Breaks, "it is NOT NULL: the raw field becomes null".to_owned())
            }
            _ => None,
        },
        "publication" => {
            found(Effect::Look, "subscribers get rows whose raw column is null".to_owned())
        }
        "table" => {
            let parts = expressions(&definition);
            let part = parts.into_iter().find(|part| mentions(part, raw))?;
            let why = format!("its check or generated column reads {raw}: {}", short(&part));
            found(Effect::Breaks, why)
        }
        // A function or event that names both may be about this column.
        "function" | "event" if mentions(&definition, raw) && mentions(&definition, table) => {
            found(Effect::Look, format!("its body names {table} and {raw}"))
        }
        "function" | "event" => None,
        "trigger" => match mentions(&definition, raw) {
            true => found(Effect::Breaks, format!("it reads {raw}: {}", shown())),
            false => found(Effect::Look, format!("it runs on writes of the table: {}", shown())),
        },
        // The database says itself that it depends on the column.
        _ if fact == "depends" => found(Effect::Breaks, format!("it reads {raw}: {}", shown())),
        "view" if !mentions(&definition, table) => None,
        _ => match mentions(&definition, raw) {
            true => found(Effect::Breaks, format!("it reads {raw}: {}", shown())),
            false => None,
        },
    }
}

/// The expressions in a CREATE TABLE: what stands in brackets behind CHECK and AS.
fn expressions(definition: &str) -> Vec<String> {
    let upper = definition.to_ascii_uppercase();
    let mut parts = Vec::new();
    for keyword in ["CHECK", "AS"] {
        for (start, _) in upper.match_indices(keyword) {
            let is_word = !upper[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let rest = definition[start + keyword.len()..].trim_start();
            if !is_word || !rest.starts_with('(') {
                continue;
            }
            let mut depth = 0_usize;
            let end = rest.char_indices().find_map(|(at, c)| {
                match c {
                    '(' => depth += 1,
                    ')' => depth -= 1,
                    _ => {}
                }
                (depth == 0).then_some(at)
            });
            parts.push(rest[..end.unwrap_or(rest.len())].to_owned());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_cut_out_of_a_create_table() {
        let text = "CREATE TABLE t (id INT, cart TEXT CHECK (json_valid(cart)), \
                    total REAL GENERATED ALWAYS AS (cart ->> 'total') STORED, alias TEXT)";
        assert_eq!(expressions(text), ["(json_valid(cart)", "(cart ->> 'total'"]);
        assert!(expressions("CREATE TABLE t (cart TEXT CHECK").is_empty());
        assert_eq!(expressions("CHECK ((cart"), ["((cart"]);
    }
}
