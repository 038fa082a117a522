//! The questions to the catalogs, each answered with a name, a fact and a definition. The texts
//! are constants: what varies is an argument.

/// One question.
pub(super) struct Catalog {
    /// What it finds.
    pub(super) kind: &'static str,
    /// The query.
    pub(super) query: &'static str,
    /// How many arguments it takes, of those in their order.
    pub(super) arguments: usize,
}

/// A question of PostgreSQL, whose columns are texts in the server's encoding; `$1` is the table,
/// `$2` its schema, `$3` the column. Inside, `t` is the table's oid with the column's number.
macro_rules! postgres {
    ($kind:literal, $select:literal) => {
        Catalog {
            kind: $kind,
            query: concat!(
                "WITH t AS (SELECT c.oid, a.attnum, a.attnotnull FROM pg_class c ",
                "JOIN pg_attribute a ON a.attrelid = c.oid WHERE NOT a.attisdropped ",
                "AND a.attname = $3 AND c.oid = to_regclass(coalesce(quote_ident($2) || '.', '') ",
                "|| quote_ident($1))), d AS (SELECT d.* FROM pg_depend d, t ",
                "WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid ",
                "AND d.refobjsubid = t.attnum) ",
                "SELECT convert_to(name, 'UTF8'), convert_to(fact, 'UTF8'), ",
                "convert_to(coalesce(definition, ''), 'UTF8') FROM (",
                $select,
                ") AS found (name, fact, definition)"
            ),
            arguments: 3,
        }
    };
}

pub(super) const POSTGRES: &[Catalog] = &[
    postgres!(
        "column",
        "SELECT $3::text, CASE WHEN attnotnull THEN 'not null' ELSE '' END, '' FROM t"
    ),
    postgres!(
        "index",
        "SELECT DISTINCT i.indexrelid::regclass::text, 'depends', pg_get_indexdef(i.indexrelid) \
         FROM pg_index i, t WHERE i.indrelid = t.oid AND (t.attnum = ANY (i.indkey) OR EXISTS \
         (SELECT 1 FROM d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid))"
    ),
    postgres!(
        "generated column",
        "SELECT DISTINCT a.attname::text, 'depends', pg_get_expr(e.adbin, e.adrelid) \
         FROM pg_attrdef e JOIN pg_attribute a ON a.attrelid = e.adrelid AND a.attnum = e.adnum, \
         t, d WHERE e.adrelid = t.oid AND e.adnum <> t.attnum \
         AND (d.classid = 'pg_attrdef'::regclass AND d.objid = e.oid \
         OR d.classid = 'pg_class'::regclass AND d.objid = t.oid AND d.objsubid = e.adnum)"
    ),
    postgres!(
        "constraint",
        "SELECT c.conname::text, 'depends', pg_get_constraintdef(c.oid) FROM pg_constraint c, t \
         WHERE c.conrelid = t.oid AND c.contype <> 'n' AND t.attnum = ANY (c.conkey)"
    ),
    postgres!(
        "view",
        "SELECT DISTINCT c.oid::regclass::text, 'depends', pg_get_viewdef(c.oid) FROM d \
         JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid \
         JOIN pg_class c ON c.oid = r.ev_class, t WHERE c.oid <> t.oid"
    ),
    postgres!(
        "policy",
        "SELECT p.polname::text, 'depends', pg_get_expr(p.polqual, p.polrelid) FROM d \
         JOIN pg_policy p ON d.classid = 'pg_policy'::regclass AND p.oid = d.objid"
    ),
    postgres!(
        "trigger",
        "SELECT g.tgname::text, '', pg_get_triggerdef(g.oid) || ' ' || p.prosrc \
         FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid, t \
         WHERE g.tgrelid = t.oid AND NOT g.tgisinternal"
    ),
    postgres!(
        "function",
        "SELECT p.oid::regprocedure::text, '', \
         p.prosrc || coalesce(pg_get_function_sqlbody(p.oid), '') \
         FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace \
         WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') \
         AND p.prorettype <> 'trigger'::regtype"
    ),
    postgres!(
        "publication",
        "SELECT DISTINCT p.pubname::text, '', '' FROM pg_publication_tables p JOIN pg_class c \
         ON c.relname = p.tablename JOIN pg_namespace n ON n.oid = c.relnamespace \
         AND n.nspname = p.schemaname, t WHERE c.oid = t.oid"
    ),
];

/// A question of MariaDB and MySQL; the arguments are the table, its schema and the column.
macro_rules! mysql {
    ($kind:literal, $arguments:literal, $query:literal) => {
        Catalog { kind: $kind, query: $query, arguments: $arguments }
    };
}

const MYSQL_COLUMN: Catalog = mysql!(
    "column",
    3,
    "SELECT CAST(column_name AS BINARY), CAST(IF(is_nullable = 'NO', 'not null', '') AS BINARY), \
     CAST('' AS BINARY) FROM information_schema.columns WHERE table_name = ? \
     AND table_schema = COALESCE(?, DATABASE()) AND column_name = ?"
);
const MYSQL_INDEX: Catalog = mysql!(
    "index",
    3,
    "SELECT DISTINCT CAST(index_name AS BINARY), CAST('depends' AS BINARY), \
     CAST(CONCAT(index_type, ' on ', column_name) AS BINARY) FROM information_schema.statistics \
     WHERE table_name = ? AND table_schema = COALESCE(?, DATABASE()) AND column_name = ?"
);
const MYSQL_GENERATED: Catalog = mysql!(
    "generated column",
    2,
    "SELECT CAST(column_name AS BINARY), CAST('' AS BINARY), \
     CAST(COALESCE(generation_expression, '') AS BINARY) FROM information_schema.columns \
     WHERE table_name = ? AND table_schema = COALESCE(?, DATABASE())"
);
const MYSQL_VIEW: Catalog = mysql!(
    "view",
    0,
    "SELECT CAST(CONCAT(table_schema, '.', table_name) AS BINARY), CAST('' AS BINARY), \
     CAST(view_definition AS BINARY) FROM information_schema.views WHERE table_schema NOT IN \
     ('mysql', 'sys', 'information_schema', 'performance_schema')"
);
const MYSQL_TRIGGER: Catalog = mysql!(
    "trigger",
    2,
    "SELECT CAST(trigger_name AS BINARY), CAST('' AS BINARY), CAST(action_statement AS BINARY) \
     FROM information_schema.triggers WHERE event_object_table = ? \
     AND event_object_schema = COALESCE(?, DATABASE())"
);
const MYSQL_FUNCTION: Catalog = mysql!(
    "function",
    0,
    "SELECT CAST(CONCAT(routine_schema, '.', routine_name) AS BINARY), CAST('' AS BINARY), \
     CAST(COALESCE(routine_definition, '') AS BINARY) FROM information_schema.routines \
     WHERE routine_schema NOT IN ('mysql', 'sys')"
);
const MYSQL_EVENT: Catalog = mysql!(
    "event",
    0,
    "SELECT CAST(CONCAT(event_schema, '.', event_name) AS BINARY), CAST('' AS BINARY), \
     CAST(event_definition AS BINARY) FROM information_schema.events"
);

pub(super) const MARIADB: &[Catalog] = &[
    MYSQL_COLUMN,
    MYSQL_INDEX,
    MYSQL_GENERATED,
    MYSQL_VIEW,
    MYSQL_TRIGGER,
    MYSQL_FUNCTION,
    MYSQL_EVENT,
    mysql!(
        "constraint",
        2,
        "SELECT CAST(constraint_name AS BINARY), CAST('' AS BINARY), CAST(check_clause AS BINARY) \
         FROM information_schema.check_constraints WHERE table_name = ? \
         AND constraint_schema = COALESCE(?, DATABASE())"
    ),
];

pub(super) const MYSQL: &[Catalog] = &[
    MYSQL_COLUMN,
    MYSQL_INDEX,
    MYSQL_GENERATED,
    MYSQL_VIEW,
    MYSQL_TRIGGER,
    MYSQL_FUNCTION,
    MYSQL_EVENT,
    mysql!(
        "constraint",
        2,
        "SELECT CAST(c.constraint_name AS BINARY), CAST('' AS BINARY), \
         CAST(c.check_clause AS BINARY) FROM information_schema.check_constraints c \
         JOIN information_schema.table_constraints t USING (constraint_schema, constraint_name) \
         WHERE t.table_name = ? AND t.table_schema = COALESCE(?, DATABASE())"
    ),
    mysql!(
        "index",
        2,
        "SELECT CAST(index_name AS BINARY), CAST('' AS BINARY), CAST(expression AS BINARY) \
         FROM information_schema.statistics WHERE expression IS NOT NULL AND table_name = ? \
         AND table_schema = COALESCE(?, DATABASE())"
    ),
];

/// Questions of SQLite; the arguments are the table and the column.
pub(super) const SQLITE: &[Catalog] = &[
    Catalog {
        kind: "column",
        query: "SELECT CAST(name AS BLOB), CAST(iif(\"notnull\", 'not null', '') AS BLOB), x'' \
                FROM pragma_table_xinfo(?1) WHERE name = ?2 COLLATE NOCASE",
        arguments: 2,
    },
    Catalog {
        kind: "index",
        query: "SELECT CAST(name AS BLOB), x'', CAST(substr(sql, instr(sql, '(')) AS BLOB) \
                FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL \
                AND tbl_name = ?1 COLLATE NOCASE",
        arguments: 1,
    },
    Catalog {
        kind: "table",
        query: "SELECT CAST(name AS BLOB), x'', CAST(sql AS BLOB) FROM sqlite_schema \
                WHERE type = 'table' AND name = ?1 COLLATE NOCASE",
        arguments: 1,
    },
    Catalog {
        kind: "view",
        query: "SELECT CAST(name AS BLOB), x'', CAST(sql AS BLOB) FROM sqlite_schema \
                WHERE type = 'view'",
        arguments: 0,
    },
    Catalog {
        kind: "trigger",
        query: "SELECT CAST(name AS BLOB), x'', CAST(sql AS BLOB) FROM sqlite_schema \
                WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE",
        arguments: 1,
    },
];
