//! MySQL and MariaDB: the json, text and blob values of tables, or whatever a query returns.
//!
//! Neither has a way to sample a table, so rows are found by random ranges of an integer primary
//! key; without one, a small table is read in random order and a large one by chance, row by row.
//! The session is read-only and its statements have a time limit.

mod session;

use std::ops::ControlFlow;

use mysql::Value;

use crate::address::Address;
use crate::columns::{Column, choose};
use crate::error::SampleError;
use crate::options::{SampleOptions, VALUE_BYTES_MAX};
use crate::shares::{offered_max, shares};
use crate::stripes::Stripes;
use crate::taker::Taker;
use crate::unwrap::Refusal;

use session::{Session, quoted, text};

/// Types in which payloads are kept.
const PAYLOAD_TYPES: [&str; 9] = [
    "json",
    "tinytext",
    "text",
    "mediumtext",
    "longtext",
    "tinyblob",
    "blob",
    "mediumblob",
    "longblob",
];

/// Types that are taken too where their column is named.
const NAMED_TYPES: [&str; 4] = ["varchar", "char", "varbinary", "binary"];

/// Integer types, of which a primary key is cut into ranges.
const KEY_TYPES: [&str; 5] = ["tinyint", "smallint", "mediumint", "int", "bigint"];

/// `ORDER BY RAND()` sorts a whole table; one with more rows than this is never sorted.
const SORTED_ROWS_MAX: u64 = 20_000;

/// How many rows a statement for a range of keys returns at most; the range may hold more.
const BATCH_ROWS_MAX: u64 = 64;

/// Offers what is stored to the taker.
pub(crate) fn read(
    address: &Address,
    options: &SampleOptions,
    taker: &mut Taker<'_>,
) -> Result<(), SampleError> {
    let mut session = Session::open(address, options)?;
    if let Some(query) = &options.query {
        return read_query(&mut session, query, options, taker);
    }
    let columns = choose(address, options, columns(&mut session)?)?;
    let tables: Vec<Table> =
        columns.iter().map(|column| table(&mut session, column)).collect::<Result<_, _>>()?;
    let rows: Vec<u64> = tables.iter().map(|table| table.rows).collect();
    taker.stored(rows.iter().sum());
    let shares = shares(offered_max(options), &rows);
    for ((column, table), wanted) in columns.iter().zip(&tables).zip(shares) {
        if read_column(&mut session, column, table, wanted, options, taker)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Takes the first column of each row as the payload, and the second as its key.
fn read_query(
    session: &mut Session<'_>,
    query: &str,
    options: &SampleOptions,
    taker: &mut Taker<'_>,
) -> Result<(), SampleError> {
    if options.matching.is_some() {
        return Err(session.refused("--match and --query exclude each other; give one of them"));
    }
    let query = query.trim().trim_end_matches(';');
    session.check(query)?;
    session.allow_slow_reading(options)?;
    let returned = session.each(query, |row| {
        let key = row.get(1).map(text).unwrap_or_default();
        match row.first().and_then(bytes) {
            Some(bytes) => taker.offer(format!("row {key}").trim_end(), bytes),
            None => taker.refuse("NULL"),
        }
    })?;
    match returned {
        Some(_) => Ok(()),
        None => Err(session.refused("the query returns no rows; write one that selects payloads")),
    }
}

/// Every column that this user may read and that could hold payloads.
fn columns(session: &mut Session<'_>) -> Result<Vec<Column>, SampleError> {
    let listed = |names: &[&str]| {
        names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
    };
    let (payload, named) = (listed(&PAYLOAD_TYPES), listed(&NAMED_TYPES));
    let rows = session.rows(&format!(
        "select c.table_schema, c.table_name, c.column_name, lower(c.data_type), t.table_type
         from information_schema.columns c
           join information_schema.tables t
             on t.table_schema = c.table_schema and t.table_name = c.table_name
         where lower(c.data_type) in ({payload}, {named})
           and c.table_schema not in ('information_schema', 'performance_schema', 'mysql', 'sys')
           and c.table_schema = coalesce(database(), c.table_schema)
           and find_in_set('select', c.privileges) > 0
         order by c.table_schema, c.table_name, c.ordinal_position"
    ))?;
    let column = |row: Vec<Value>| {
        let mut fields = row.iter().map(text);
        let mut next = || fields.next().unwrap_or_default();
        let (schema, table, name, kind) = (next(), next(), next(), next());
        let is_payload = PAYLOAD_TYPES.contains(&kind.as_str());
        Column { schema, table, name, kind, is_payload, is_stored: next() == "BASE TABLE" }
    };
    Ok(rows.into_iter().map(column).collect())
}

/// What the server knows of a table.
struct Table {
    rows: u64,
    /// The name of the primary key, where it is one integer, with its first and last value.
    key: Option<(String, i128, i128)>,
}

fn table(session: &mut Session<'_>, column: &Column) -> Result<Table, SampleError> {
    let name = quoted_table(column);
    let condition = format!(
        "table_schema = {} and table_name = {}",
        literal(&column.schema),
        literal(&column.table)
    );
    let number = |rows: Vec<Vec<Value>>| -> u64 {
        rows.first().and_then(|row| text(row.first()?).parse().ok()).unwrap_or(0)
    };
    let limit = SORTED_ROWS_MAX + 1;
    let limited = format!("select count(*) from (select 1 from {name} limit {limit}) as counted");
    let counted = number(session.rows(&limited)?);
    let rows = if counted < limit {
        counted
    } else {
        // The server's number is an estimate and may be far off, also for a large table.
        let estimate =
            format!("select table_rows from information_schema.tables where {condition}");
        number(session.rows(&estimate)?).max(counted)
    };
    let key = session.rows(&format!(
        "select column_name, lower(data_type), (select count(*)
           from information_schema.columns where {condition} and column_key = 'PRI')
         from information_schema.columns where {condition} and column_key = 'PRI'"
    ))?;
    let key = match key.as_slice() {
        [row] if KEY_TYPES.contains(&text(&row[1]).as_str()) => text(&row[0]),
        _ => return Ok(Table { rows, key: None }),
    };
    let id = quoted(&key);
    let range = session.rows(&format!("select min({id}), max({id}) from {name}"))?;
    let bound = |index: usize| text(range.first()?.get(index)?).parse().ok();
    let key = bound(0).zip(bound(1)).map(|(first, last)| (key, first, last));
    Ok(Table { rows, key })
}

fn read_column(
    session: &mut Session<'_>,
    column: &Column,
    table: &Table,
    wanted: u64,
    options: &SampleOptions,
    taker: &mut Taker<'_>,
) -> Result<ControlFlow<()>, SampleError> {
    let (name, value) = (quoted_table(column), quoted(&column.name));
    let label = column.shown();
    let id = table.key.as_ref().map_or_else(|| "''".to_owned(), |(key, ..)| quoted(key));
    let start = format!(
        "select {id}, octet_length({value}),
           case when octet_length({value}) <= {VALUE_BYTES_MAX} then {value} end
         from {name} where {value} is not null"
    );
    let Some((_, first, last)) = &table.key else {
        let order = if table.rows <= SORTED_ROWS_MAX {
            "order by rand()".to_owned()
        } else {
            drawn(wanted, table.rows)
        };
        session.allow_slow_reading(options)?;
        let found = offer(session, &format!("{start} {order} limit {wanted}"), &label, taker)?;
        return Ok(found.flow);
    };
    let is_whole = table.rows <= wanted;
    let mut stripes = if is_whole {
        Stripes::whole(*first, *last)
    } else {
        Stripes::new(*first, *last, table.rows, wanted)
    };
    let mut offered = 0;
    while is_whole || offered < wanted {
        let Some((mut from, to)) = stripes.draw(taker.random()) else { break };
        loop {
            let range = format!("and {id} between {from} and {to} order by {id}");
            let batch = format!("{start} {range} limit {BATCH_ROWS_MAX}");
            let found = offer(session, &batch, &label, taker)?;
            offered += found.rows;
            if found.flow.is_break() {
                return Ok(found.flow);
            }
            // A range that was cut goes on behind its last key.
            match found.last_key.parse::<i128>() {
                Ok(last) if found.rows == BATCH_ROWS_MAX && last < to => from = last + 1,
                _ => break,
            }
        }
    }
    if !is_whole && offered < wanted / 2 {
        // The keys are too uneven for ranges to find rows.
        let left = wanted - offered;
        session.allow_slow_reading(options)?;
        let rest = format!("{start} {} limit {left}", drawn(left, table.rows));
        return offer(session, &rest, &label, taker).map(|found| found.flow);
    }
    Ok(ControlFlow::Continue(()))
}

/// The condition that draws so many of so many rows.
fn drawn(wanted: u64, rows: u64) -> String {
    format!("and rand() < {:e}", wanted as f64 / rows.max(1) as f64)
}

/// What came of a statement.
struct Found {
    flow: ControlFlow<()>,
    rows: u64,
    last_key: String,
}

/// Offers the rows of a statement, which are a key, a length and a value.
fn offer(
    session: &mut Session<'_>,
    statement: &str,
    label: &str,
    taker: &mut Taker<'_>,
) -> Result<Found, SampleError> {
    let (mut rows, mut last_key) = (0, String::new());
    let flow = session.each(statement, |row| {
        rows += 1;
        last_key = row.first().map(text).unwrap_or_default();
        match row.get(2).and_then(bytes) {
            Some(bytes) => taker.offer(format!("{label} {last_key}").trim_end(), bytes),
            None => taker.refuse(&Refusal::TooLarge.to_string()),
        }
    })?;
    Ok(Found { flow: flow.unwrap_or(ControlFlow::Continue(())), rows, last_key })
}

/// The bytes of a value that has any. The text protocol sends everything as bytes but NULL.
fn bytes(value: &Value) -> Option<&[u8]> {
    match value {
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

fn quoted_table(column: &Column) -> String {
    format!("{}.{}", quoted(&column.schema), quoted(&column.table))
}

/// A text, whatever its characters and whatever the server takes a backslash for.
fn literal(text: &str) -> String {
    let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("convert(x'{digits}' using utf8mb4)")
}
