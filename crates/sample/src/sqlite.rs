//! SQLite: the text and blob values of tables in a file, or whatever a query returns.
//!
//! The file is opened for reading only and may be in use by others. Rows are found by random ranges
//! of their row ids, so a large file is not read whole.

use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, Row};

use crate::address::Address;
use crate::columns::{Column, choose};
use crate::error::{SampleError, in_one_line};
use crate::options::{SampleOptions, VALUE_BYTES_MAX};
use crate::shares::{offered_max, shares};
use crate::stripes::Stripes;
use crate::taker::Taker;
use crate::unwrap::Refusal;

/// Declared types in which payloads are kept. SQLite lets a column hold anything, so what the value
/// is counts too.
const PAYLOAD_TYPES: [&str; 6] = ["TEXT", "CLOB", "BLOB", "JSON", "JSONB", "ANY"];

/// Rows are counted up to this number; beyond it the range of row ids says how many there are.
const COUNTED_ROWS_MAX: u64 = 100_000;

/// Offers what is stored to the taker.
pub(crate) fn read(
    address: &Address,
    options: &SampleOptions,
    taker: &mut Taker<'_>,
) -> Result<(), SampleError> {
    let file = File { address, connection: open(address, options)? };
    if let Some(query) = &options.query {
        if options.matching.is_some() {
            return Err(file.refused("--match and --query exclude each other; give one of them"));
        }
        return file.read_query(query, taker);
    }
    let columns = choose(address, options, file.columns()?)?;
    let tables: Vec<Table> =
        columns.iter().map(|column| file.table(column)).collect::<Result<_, _>>()?;
    let rows: Vec<u64> = tables.iter().map(|table| table.rows).collect();
    taker.stored(rows.iter().sum());
    let shares = shares(offered_max(options), &rows);
    for ((column, table), wanted) in columns.iter().zip(&tables).zip(shares) {
        if file.read_column(column, table, wanted, taker)?.is_break() {
            break;
        }
    }
    Ok(())
}

fn open(address: &Address, options: &SampleOptions) -> Result<Connection, SampleError> {
    let path = Path::new(address.path());
    let unreachable = |reason: String| SampleError::Unreachable {
        address: address.to_string(),
        reason,
        hint: "check the path and who may read it".to_owned(),
    };
    // SQLite would say no more than that it is unable to open it.
    std::fs::File::open(path).map_err(|error| unreachable(error.to_string()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(options.timeout)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.query_row("select count(*) from sqlite_master", (), |_| Ok(()))?;
        Ok(connection)
    });
    opened.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => SampleError::Query {
            address: address.to_string(),
            reason: "this is no SQLite database; to sample a file of payloads, \
                     name it without sqlite:"
                .to_owned(),
        },
        _ => unreachable(in_one_line(&error)),
    })
}

/// What is known of a table.
struct Table {
    rows: u64,
    /// The first and last row id; views and some tables have none.
    ids: Option<(i64, i64)>,
}

struct File<'a> {
    address: &'a Address,
    connection: Connection,
}

impl File<'_> {
    fn refused(&self, reason: &str) -> SampleError {
        SampleError::Query { address: self.address.to_string(), reason: reason.to_owned() }
    }

    fn failed(&self, error: Error) -> SampleError {
        let next = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "; try again later",
            Some(ErrorCode::DatabaseCorrupt) => "; `PRAGMA integrity_check` says what is damaged",
            _ => "",
        };
        self.refused(&format!("{}{next}", in_one_line(&error)))
    }

    /// Takes the first column of each row as the payload, and the second as its key.
    fn read_query(&self, query: &str, taker: &mut Taker<'_>) -> Result<(), SampleError> {
        let mut statement = self.connection.prepare(query).map_err(|e| self.failed(e))?;
        if !statement.readonly() {
            return Err(self.refused("the query would write; cinch only reads"));
        }
        let columns = statement.column_count();
        if columns == 0 {
            return Err(self.refused("the query returns no rows; write one that selects payloads"));
        }
        let mut rows = statement.query(()).map_err(|e| self.failed(e))?;
        while let Some(row) = rows.next().map_err(|e| self.failed(e))? {
            let key = if columns > 1 { self.text(row, 1)? } else { String::new() };
            let flow = match row.get_ref(0).map_err(|e| self.failed(e))? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                    taker.offer(format!("row {key}").trim_end(), bytes)
                }
                ValueRef::Null => taker.refuse("NULL"),
                ValueRef::Integer(_) | ValueRef::Real(_) => {
                    taker.offer(format!("row {key}").trim_end(), self.text(row, 0)?.as_bytes())
                }
            };
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn columns(&self) -> Result<Vec<Column>, SampleError> {
        let listed = "select t.name, c.name, upper(c.type), t.type
             from pragma_table_list t, pragma_table_xinfo(t.name) c
             where t.schema = 'main' and t.type in ('table', 'view')
               and t.name not glob 'sqlite_*'
             order by t.name, c.cid";
        let column = |row: &Row<'_>| {
            let kind: String = row.get(2)?;
            // What stands in brackets is a length.
            let name = kind.split('(').next().unwrap_or_default().trim();
            Ok(Column {
                schema: "main".to_owned(),
                table: row.get(0)?,
                name: row.get(1)?,
                is_payload: name.is_empty() || PAYLOAD_TYPES.contains(&name),
                is_stored: row.get::<_, String>(3)? == "table",
                kind,
            })
        };
        let mut statement = self.connection.prepare(listed).map_err(|e| self.failed(e))?;
        let columns = statement.query_map((), column).map_err(|e| self.failed(e))?;
        columns.collect::<Result<_, Error>>().map_err(|error| self.failed(error))
    }

    fn table(&self, column: &Column) -> Result<Table, SampleError> {
        let name = quoted(&column.table);
        let limited =
            format!("select count(*) from (select 1 from {name} limit {COUNTED_ROWS_MAX})");
        let count = |row: &Row<'_>| row.get::<_, i64>(0);
        let counted = self.connection.query_row(&limited, (), count).map_err(|e| self.failed(e))?;
        let range = format!("select min(rowid), max(rowid) from {name}");
        let id = |row: &Row<'_>, index| row.get::<_, Option<i64>>(index);
        let ids = |row: &Row<'_>| Ok(id(row, 0)?.zip(id(row, 1)?));
        // Only views and tables made without row ids refuse this.
        let ids = self.connection.query_row(&range, (), ids).unwrap_or(None);
        let counted = counted.unsigned_abs();
        let rows = match ids {
            Some((first, last)) if counted == COUNTED_ROWS_MAX => {
                counted.max(last.abs_diff(first).saturating_add(1))
            }
            _ => counted,
        };
        Ok(Table { rows, ids })
    }

    fn read_column(
        &self,
        column: &Column,
        table: &Table,
        wanted: u64,
        taker: &mut Taker<'_>,
    ) -> Result<ControlFlow<()>, SampleError> {
        let (name, value) = (quoted(&column.table), quoted(&column.name));
        let start = |key: &str| {
            format!(
                "select {key}, length(cast({value} as blob)),
                   case when length(cast({value} as blob)) <= {VALUE_BYTES_MAX} then {value} end
                 from {name} where typeof({value}) in ('text', 'blob')"
            )
        };
        let label = column.shown();
        let Some((first, last)) = table.ids else {
            let part = if table.rows <= wanted { String::new() } else { drawn(wanted, table.rows) };
            let found = format!("{} {part} limit {wanted}", start("''"));
            return self.offer(&found, (), &label, taker).map(|(flow, _)| flow);
        };
        if table.rows <= wanted {
            return self.offer(&start("rowid"), (), &label, taker).map(|(flow, _)| flow);
        }
        let mut stripes = Stripes::new(first.into(), last.into(), table.rows, wanted);
        let statement = format!("{} and rowid between ? and ?", start("rowid"));
        let mut offered = 0;
        while offered < wanted {
            let Some((first, last)) = stripes.draw(taker.random()) else { break };
            let bounds = (first as i64, last as i64);
            let (flow, found) = self.offer(&statement, bounds, &label, taker)?;
            offered += found;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        if offered < wanted / 2 {
            // The row ids are too uneven, or the statistics too old, for ranges to find rows.
            let part = drawn(wanted - offered, table.rows.min(COUNTED_ROWS_MAX));
            let found = format!("{} {part} limit {}", start("rowid"), wanted - offered);
            return self.offer(&found, (), &label, taker).map(|(flow, _)| flow);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Offers the rows of a statement, which are a key, a length and a value; says how many.
    fn offer(
        &self,
        statement: &str,
        parameters: impl rusqlite::Params,
        label: &str,
        taker: &mut Taker<'_>,
    ) -> Result<(ControlFlow<()>, u64), SampleError> {
        let mut statement = self.connection.prepare(statement).map_err(|e| self.failed(e))?;
        let mut rows = statement.query(parameters).map_err(|e| self.failed(e))?;
        let mut offered = 0;
        while let Some(row) = rows.next().map_err(|e| self.failed(e))? {
            offered += 1;
            let key = format!("{label} {}", self.text(row, 0)?);
            let flow = match row.get_ref(2).map_err(|e| self.failed(e))? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => taker.offer(key.trim_end(), bytes),
                _ => taker.refuse(&Refusal::TooLarge.to_string()),
            };
            if flow.is_break() {
                return Ok((flow, offered));
            }
        }
        Ok((ControlFlow::Continue(()), offered))
    }

    /// A value as people read it.
    fn text(&self, row: &Row<'_>, index: usize) -> Result<String, SampleError> {
        Ok(match row.get_ref(index).map_err(|e| self.failed(e))? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                String::from_utf8_lossy(bytes).into_owned()
            }
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => number.to_string(),
            ValueRef::Null => String::new(),
        })
    }
}

/// The condition that draws so many of so many rows.
fn drawn(wanted: u64, rows: u64) -> String {
    let part = wanted as f64 / rows.max(1) as f64;
    format!("and abs(random() / 2) < {:e}", part * (i64::MAX / 2) as f64)
}

/// A name, whatever its characters.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
