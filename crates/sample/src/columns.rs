//! Which columns of a SQL store are sampled: those that are named, or else all whose types are ones
//! that payloads are kept in.

use glob::Pattern;

use crate::address::Address;
use crate::error::SampleError;
use crate::options::SampleOptions;

/// A column of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) schema: String,
    pub(crate) table: String,
    pub(crate) name: String,
    /// Its type in the store's words, in lower case.
    pub(crate) kind: String,
    /// Whether its type is one that payloads are kept in, so that it need not be named.
    pub(crate) is_payload: bool,
    /// Whether its table is one, and not a view or a table of another server.
    pub(crate) is_stored: bool,
}

impl Column {
    /// As people write it.
    pub(crate) fn shown(&self) -> String {
        format!("{}.{}", self.table, self.name)
    }

    fn matches(&self, pattern: &Pattern) -> bool {
        let Column { schema, table, name, .. } = self;
        let is_table = pattern.matches(table) || pattern.matches(&format!("{schema}.{table}"));
        if is_table {
            return self.is_payload;
        }
        let names = [format!("{table}.{name}"), format!("{schema}.{table}.{name}")];
        names.iter().any(|name| pattern.matches(name))
    }
}

/// The columns to sample: with a pattern (`TABLE`, `TABLE.COLUMN`, either with a schema before it)
/// those that it names, without one all that payloads are kept in.
pub(crate) fn choose(
    address: &Address,
    options: &SampleOptions,
    columns: Vec<Column>,
) -> Result<Vec<Column>, SampleError> {
    let nothing = |hint: String| SampleError::NothingFound { address: address.to_string(), hint };
    let Some(text) = &options.matching else {
        let stored = |column: &Column| column.is_payload && column.is_stored;
        let chosen: Vec<Column> = columns.into_iter().filter(stored).collect();
        return if chosen.is_empty() {
            let hint = "this user may read no column of JSON, text or bytes; name another \
                        database, or a column with --match TABLE.COLUMN";
            Err(nothing(hint.to_owned()))
        } else {
            Ok(chosen)
        };
    };
    let pattern = Pattern::new(text).map_err(|error| SampleError::Query {
        address: address.to_string(),
        reason: format!("--match {text:?}: {}; write it like TABLE.COLUMN or cart*", error.msg),
    })?;
    let mut tables: Vec<String> = columns.iter().map(|column| column.table.clone()).collect();
    tables.dedup();
    let chosen: Vec<Column> = columns.into_iter().filter(|c| c.matches(&pattern)).collect();
    if chosen.is_empty() {
        return Err(nothing(format!(
            "no column of JSON, text or bytes that this user may read matches {text:?}; {}",
            some_of(&tables)
        )));
    }
    Ok(chosen)
}

/// Enough names to find the right one, and not more than a line takes.
fn some_of(tables: &[String]) -> String {
    const NAMES_MAX: usize = 8;
    if tables.is_empty() {
        return "there is no table that it may read".to_owned();
    }
    let more = if tables.len() > NAMES_MAX { ", ..." } else { "" };
    let names = &tables[..tables.len().min(NAMES_MAX)];
    format!("there are {}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(table: &str, name: &str, is_payload: bool) -> Column {
        let (schema, kind) = ("shop".to_owned(), String::new());
        let (table, name) = (table.to_owned(), name.to_owned());
        Column { schema, table, name, kind, is_payload, is_stored: true }
    }

    fn chosen(pattern: Option<&str>) -> Vec<String> {
        let address = Address::parse("sqlite:shop.db").unwrap();
        let matching = pattern.map(str::to_owned);
        let options = SampleOptions { matching, ..SampleOptions::default() };
        let columns = vec![
            column("carts", "body", true),
            column("carts", "owner", false),
            column("orders", "body", true),
        ];
        match choose(&address, &options, columns) {
            Ok(chosen) => chosen.iter().map(Column::shown).collect(),
            Err(error) => vec![error.to_string()],
        }
    }

    #[test]
    fn a_column_that_is_named_is_taken_whatever_its_type() {
        assert_eq!(chosen(None), ["carts.body", "orders.body"]);
        assert_eq!(chosen(Some("carts")), ["carts.body"]);
        assert_eq!(chosen(Some("shop.carts")), ["carts.body"]);
        assert_eq!(chosen(Some("*.body")), ["carts.body", "orders.body"]);
        assert_eq!(chosen(Some("carts.own?r")), ["carts.owner"]);
        assert_eq!(chosen(Some("shop.[c]arts.*")), ["carts.body", "carts.owner"]);
    }

    #[test]
    fn what_is_there_is_said_where_nothing_matches() {
        assert!(chosen(Some("cart")).concat().contains("there are carts, orders"));
        assert!(chosen(Some("c[")).concat().contains("--match"));
    }
}
