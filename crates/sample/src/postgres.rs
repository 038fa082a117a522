//! PostgreSQL: the json, text and bytea values of tables, or whatever a query returns.
//!
//! The session is read-only, and every statement has a time limit. Rows come through a cursor in
//! small batches: the time limit then holds for a batch, however slowly the pace takes them, and no
//! more than a batch is in memory.

mod rows;
mod session;
mod tls;

use tokio_postgres::types::Type;

use crate::address::Address;
use crate::columns::{Column, choose};
use crate::error::SampleError;
use crate::options::SampleOptions;
use crate::shares::{offered_max, shares};
use crate::taker::Taker;

use rows::{Source, offer_all};
use session::Session;

/// Types in which payloads are kept.
const PAYLOAD_TYPES: [&str; 4] = ["json", "jsonb", "text", "bytea"];

/// Types that are taken too where their column is named.
const NAMED_TYPES: [&str; 5] = ["varchar", "bpchar", "xml", "citext", "hstore"];

/// A table of which so much is on disk is read whole and its rows drawn one by one; of a larger one
/// only random pages are read.
const READ_WHOLE_BYTES_MAX: i64 = 64 << 20;

/// On random pages only every so manieth row is taken, so that a sample has more pages: rows of one
/// page were written together and are alike.
const ROWS_PER_PAGE_ROW: u32 = 8;

/// How often the part of the table that is read is corrected, where the statistics of the server
/// were wrong.
const CORRECTIONS_MAX: usize = 4;

/// Rows that the server has no statistics of are counted up to this number.
const COUNTED_ROWS_MAX: u64 = 100_000;

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
        let source = Source {
            label: column.shown(),
            statement: statement(&mut session, column, table, wanted)?,
        };
        if offer_all(&session, &source, options, taker)?.is_break() {
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
    let kinds = session.column_types(query)?;
    let Some(first) = kinds.first() else {
        return Err(session.refused("the query returns no rows; write one that selects payloads"));
    };
    let payload = if *first == Type::BYTEA { "c1" } else { "c1::text" };
    let key = if kinds.len() > 1 { "c2::text" } else { "''" };
    let names: Vec<String> = (1..=kinds.len()).map(|number| format!("c{number}")).collect();
    // The line break ends a comment that the query may end with.
    let inner = format!(
        "select {key} as key, {payload} as payload from ({query}\n) as query({}) offset 0",
        names.join(", ")
    );
    let source = Source { label: "row".to_owned(), statement: bounded(&inner) };
    offer_all(session, &source, options, taker).map(drop)
}

/// Every column that this user may read and that could hold payloads.
fn columns(session: &mut Session<'_>) -> Result<Vec<Column>, SampleError> {
    let listed = |names: &[&str]| {
        names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
    };
    let (payload, named) = (listed(&PAYLOAD_TYPES), listed(&NAMED_TYPES));
    let rows = session.rows(&format!(
        "select n.nspname::text, c.relname::text, a.attname::text, t.typname::text,
           (t.typname in ({payload}))::text, (c.relkind in ('r', 'p', 'm'))::text
         from pg_attribute a
           join pg_class c on c.oid = a.attrelid
           join pg_namespace n on n.oid = c.relnamespace
           join pg_type d on d.oid = a.atttypid
           join pg_type t on t.oid = coalesce(nullif(d.typbasetype, 0), d.oid)
         where a.attnum > 0 and not a.attisdropped and not c.relispartition
           and c.relkind in ('r', 'p', 'm', 'v', 'f') and t.typname in ({payload}, {named})
           and n.nspname not in ('pg_catalog', 'information_schema')
           and n.nspname !~ '^pg_(toast|temp)' and has_schema_privilege(n.oid, 'usage')
           and has_column_privilege(c.oid, a.attnum, 'select')
         order by 1, 2, a.attnum"
    ))?;
    let column = |row: Vec<String>| {
        let mut fields = row.into_iter();
        let mut next = || fields.next().unwrap_or_default();
        let (schema, table, name, kind) = (next(), next(), next(), next());
        let (is_payload, is_stored) = (next() == "true", next() == "true");
        Column { schema, table, name, kind, is_payload, is_stored }
    };
    Ok(rows.into_iter().map(column).collect())
}

/// What the server knows of a table.
struct Table {
    rows: u64,
    bytes: i64,
}

fn table(session: &mut Session<'_>, column: &Column) -> Result<Table, SampleError> {
    let (name, relation) = (quoted_table(column), literal(&quoted_table(column)));
    // The statistics of a partitioned table are those of its parts.
    let statistics = session.rows(&format!(
        "select coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint::text,
           coalesce(sum(pg_relation_size(c.oid)), 0)::bigint::text
         from pg_class c where c.oid = {relation}::regclass
           or c.oid in (select relid from pg_partition_tree({relation}::regclass))"
    ))?;
    let number = |index: usize| {
        statistics.first().and_then(|row| row.get(index)?.parse::<i64>().ok()).unwrap_or(0)
    };
    let (rows, bytes) = (number(0), number(1));
    if rows > 0 {
        return Ok(Table { rows: rows.unsigned_abs(), bytes });
    }
    let limited = format!("select 1 from {name} limit {COUNTED_ROWS_MAX}");
    let counted = session.count(&format!("({limited}) as counted"))?;
    if counted < COUNTED_ROWS_MAX || !column.is_stored {
        return Ok(Table { rows: counted, bytes });
    }
    let hundredth = session.count(&format!("{name} tablesample system (1)"))?;
    Ok(Table { rows: counted.max(hundredth.saturating_mul(100)), bytes })
}

/// The statement that returns about `wanted` random values of the column.
fn statement(
    session: &mut Session<'_>,
    column: &Column,
    table: &Table,
    wanted: u64,
) -> Result<String, SampleError> {
    let (name, value) = (quoted_table(column), quoted(&column.name));
    let payload = if column.kind == "bytea" { value.clone() } else { format!("{value}::text") };
    // Views and tables of other servers have no places of rows.
    let key = if column.is_stored { "ctid::text" } else { "''" };
    let start = format!("select {key} as key, {payload} as payload from {name}");
    if table.rows <= wanted {
        return Ok(bounded(&format!("{start} where {value} is not null offset 0")));
    }
    let part = wanted as f64 / table.rows as f64;
    if !column.is_stored {
        let condition = format!("where {value} is not null and random() < {part:e}");
        return Ok(bounded(&format!("{start} {condition} limit {wanted} offset 0")));
    }
    let seed = session.seed();
    let sampled = |part: f64| {
        let percent = (part * 100.0).min(100.0);
        if table.bytes <= READ_WHOLE_BYTES_MAX {
            return format!(
                "tablesample bernoulli ({percent:e}) repeatable ({seed}) where {value} is not null"
            );
        }
        let percent = (percent * f64::from(ROWS_PER_PAGE_ROW)).min(100.0);
        format!(
            "tablesample system ({percent:e}) repeatable ({seed})
             where {value} is not null and random() * {ROWS_PER_PAGE_ROW} < 1"
        )
    };
    let mut part = part;
    for _ in 0..CORRECTIONS_MAX {
        let found = session.count(&format!("{name} {}", sampled(part)))?;
        if (wanted / 2..=wanted * 2).contains(&found) || (found < wanted && part >= 1.0) {
            break;
        }
        part = (part * (wanted as f64 / found.max(1) as f64).min(16.0)).min(1.0);
    }
    Ok(bounded(&format!("{start} {} offset 0", sampled(part))))
}

/// A value that is too long to be taken is not sent: of it only the length comes.
fn bounded(inner: &str) -> String {
    let bytes_max = crate::options::VALUE_BYTES_MAX;
    format!(
        "select key, octet_length(payload)::bigint,
           case when octet_length(payload) <= {bytes_max} then payload end
         from ({inner}) as found"
    )
}

fn quoted_table(column: &Column) -> String {
    format!("{}.{}", quoted(&column.schema), quoted(&column.table))
}

/// A name, whatever its characters.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text, whatever its characters.
fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
