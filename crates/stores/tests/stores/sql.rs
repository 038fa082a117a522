//! Tables of SQLite, PostgreSQL and MariaDB, in the two shapes and with keys and copies of text
//! and of bytes; and tables that would change or lose what is written, which are refused.

use std::path::Path;

use cinch_integration::{MariaDb, Postgres, closed_port};
use cinch_rollout::{Record, Stamp};
use cinch_stores::conformance::{Subject, check};
use cinch_stores::{Condition, Expiry, PutOutcome, StoreError};

use crate::{check_faults, failure, put, subject};

/// The parameters of a table with everything.
const FULL: &str = "key=id&raw=cart&compressed=packed&metadata=about&stamp=version&expires=until";

/// Checks a table of two slots with keys and raw copies of bytes, one of texts, and one of a single
/// value of bytes. `table` makes them.
async fn check_all(address: impl Fn(&str) -> String) {
    let full = subject(&address(&format!("table=carts&{FULL}"))).await;
    check(&full).await;
    check_faults(&full, true).await;
    let texts = subject(&address(&format!("table=texts&{FULL}"))).await;
    let texts = texts.with_text_keys().with_text_values();
    check(&texts).await;
    let single = subject(&address("table=single&key=id&raw=value")).await;
    check(&single).await;
    check_faults(&single, true).await;
}

/// What belongs to the application stays, also where a row could not be inserted without it.
async fn check_columns_of_others(subject: &Subject, run: impl Fn(&str) -> String) {
    run("INSERT INTO owned (id, cart, owner) VALUES ('k', 'old', 'ann')");
    put(subject.store.as_ref(), b"k", &Record::single(b"new".to_vec())).await;
    let found = subject.store.get(b"k").await.expect("it answers").expect("it is there");
    let next = Record::single(b"newer".to_vec());
    let condition = Condition::Is(found.version);
    let put = subject.store.put(b"k", &next, &condition, Expiry::Keep).await;
    assert_eq!(put.expect("it answers"), PutOutcome::Written);
    assert_eq!(run("SELECT cart FROM owned"), "newer");
    assert_eq!(run("SELECT owner FROM owned"), "ann");
    let created = subject.store.put(b"other", &next, &Condition::Always, Expiry::Keep).await;
    assert!(matches!(created, Err(StoreError::Refused { .. })), "{created:?}");
}

/// Whole numbers as keys, in the one spelling of each.
async fn check_numbers(address: &str) {
    let store = subject(address).await.store;
    let record = Record::single(b"{}".to_vec());
    for key in ["1", "-2", "9223372036854775807"] {
        put(store.as_ref(), key.as_bytes(), &record).await;
        assert!(store.get(key.as_bytes()).await.expect("it answers").is_some(), "{key}");
    }
    let got = store.get(b"01").await;
    assert!(matches!(got, Err(StoreError::Unsupported { .. })), "{got:?}");
    let first = store.scan(None, 2).await.expect("it answers");
    let next = first.next.as_deref().expect("there is more");
    let last = store.scan(Some(next), 2).await.expect("it answers");
    let keys = [first.keys, last.keys].concat();
    assert_eq!(keys, [b"-2".to_vec(), b"1".to_vec(), b"9223372036854775807".to_vec()]);
}

fn sqlite(file: &Path, statements: &str) -> String {
    let ran = std::process::Command::new("python3")
        .arg("-c")
        .arg(
            "import sqlite3, sys\n\
             db = sqlite3.connect(sys.argv[1], timeout=30)\n\
             out = ''\n\
             for statement in sys.argv[2].split(';'):\n    \
             rows = db.execute(statement).fetchall()\n    \
             out += '\\n'.join('|'.join(map(str, row)) for row in rows)\n\
             db.commit()\n\
             print(out)",
        )
        .arg(file)
        .arg(statements)
        .output()
        .expect("python3 is there");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).trim_end().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_conforms() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("shop.db");
    let run = |statements: &str| sqlite(&file, statements);
    run("PRAGMA journal_mode = WAL;
        CREATE TABLE carts (id BLOB PRIMARY KEY, cart BLOB, packed BLOB, about TEXT,
            version INTEGER, until INTEGER);
        CREATE TABLE texts (id TEXT PRIMARY KEY, cart TEXT COLLATE NOCASE, packed BLOB,
            about BLOB, version BIGINT, until BIGINT);
        CREATE TABLE single (id BLOB NOT NULL UNIQUE, value BLOB);
        CREATE TABLE owned (id TEXT PRIMARY KEY, cart TEXT, owner TEXT NOT NULL);
        CREATE TABLE numbers (id INTEGER PRIMARY KEY, cart TEXT);
        CREATE TABLE \"odd\"\" name\" (id TEXT PRIMARY KEY, \"a \"\"cart\" BLOB);
        CREATE TABLE pairs (id TEXT, part TEXT, cart TEXT, PRIMARY KEY (id, part));
        CREATE TABLE json (id TEXT PRIMARY KEY, cart JSON)");
    let address = |parameters: &str| format!("sqlite:{}?{parameters}", file.display());
    check_columns_of_others(&subject(&address("table=owned")).await, run).await;
    check_numbers(&address("table=numbers")).await;
    let odd = subject(&address("table=odd%22%20name&raw=a%20%22cart")).await;
    put(odd.store.as_ref(), b"k", &Record::single(b"v".to_vec())).await;
    assert!(failure(&address("table=pairs"), "").await.contains("two rows could have one key"));
    assert!(failure(&address("table=json"), "").await.contains("affinity"));
    assert!(failure(&address("table=none"), "").await.contains("no table called none"));
    assert!(failure(&address("table=carts&raw=kart"), "").await.contains("it has about, cart"));
    assert!(failure(&address("tabel=carts"), "").await.contains("no parameter tabel"));
    assert!(failure("sqlite:/no/such/file.db?table=x", "").await.contains("/no/such/file.db"));
    check_all(address).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_conforms() {
    let server = Postgres::shared();
    server.run(
        "CREATE TABLE carts (id bytea PRIMARY KEY, cart bytea, packed bytea, about jsonb,
            version bigint, until bigint);
        CREATE TABLE texts (id text PRIMARY KEY, cart text, packed bytea, about text,
            version bigint, until bigint);
        CREATE SCHEMA other;
        CREATE TABLE other.single (id bytea NOT NULL UNIQUE, value bytea NOT NULL);
        CREATE TABLE single (id bytea NOT NULL UNIQUE, value bytea NOT NULL);
        CREATE TABLE owned (id varchar(20) PRIMARY KEY, cart text, owner text NOT NULL);
        CREATE TABLE numbers (id bigint PRIMARY KEY, cart json);
        CREATE TABLE sorted (id text PRIMARY KEY, cart jsonb);
        CREATE TABLE padded (id char(8) PRIMARY KEY, cart text);
        CREATE TABLE partial (id text, cart text);
        CREATE UNIQUE INDEX ON partial (id) WHERE cart IS NOT NULL;
        CREATE ROLE reader LOGIN PASSWORD 'reader-password';
        GRANT SELECT ON carts TO reader;",
    );
    let address = |parameters: &str| format!("{}?{parameters}", server.address());
    let run = |statements: &str| server.run(statements);
    check_columns_of_others(&subject(&address("table=owned")).await, run).await;
    check_numbers(&address("table=numbers")).await;
    let other = subject(&address("table=other.single&raw=value")).await;
    put(other.store.as_ref(), b"k", &Record::single(b"v".to_vec())).await;
    assert_eq!(server.run("SELECT encode(value, 'escape') FROM other.single"), "v");
    assert!(failure(&address("table=sorted"), "").await.contains("jsonb"));
    assert!(failure(&address("table=padded"), "").await.contains("without padding"));
    assert!(failure(&address("table=partial"), "").await.contains("two rows could have one key"));
    let wrong = server.address_of("owner", "secret-password");
    assert!(failure(&wrong, "secret-password").await.contains("password"));
    let nobody = format!("postgres://owner:secret@127.0.0.1:{}/x?timeout_ms=2000", closed_port());
    assert!(failure(&nobody, "secret").await.contains("can't be reached"));
    let reader = server.address_of("reader", "reader-password");
    let reader = subject(&format!("{reader}?table=carts&{FULL}")).await.store;
    let refused = reader.put(b"k", &Record::default(), &Condition::Always, Expiry::Keep).await;
    let said = refused.expect_err("a reader may not write").to_string();
    assert!(said.contains("permission denied"), "{said}");
    assert!(!reader.name().contains("password"), "{}", reader.name());
    check_all(address).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mariadb_conforms() {
    let server = MariaDb::shared();
    // Two keys of a table of texts differ in case and in blanks at the end.
    server.run(
        "CREATE TABLE carts (id varbinary(255) PRIMARY KEY, cart longblob, packed longblob,
            about json, version bigint, until bigint);
        CREATE TABLE texts (
            id varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PRIMARY KEY,
            cart longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, packed longblob,
            about longtext CHARACTER SET utf8mb4, version bigint unsigned, until bigint);
        CREATE TABLE single (id varbinary(255) NOT NULL UNIQUE, value longblob);
        CREATE TABLE owned (id varchar(20) CHARACTER SET utf8mb4 PRIMARY KEY,
            cart text CHARACTER SET utf8mb4, owner text NOT NULL);
        CREATE TABLE numbers (id bigint PRIMARY KEY, cart blob);
        CREATE TABLE loose (
            id varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY,
            cart tinyblob);
        CREATE TABLE latin (id varchar(20) CHARACTER SET latin1 PRIMARY KEY, cart blob);
        CREATE TABLE prefixed (id text CHARACTER SET utf8mb4, cart blob, UNIQUE (id(5)));",
    );
    let address = |parameters: &str| format!("{}?{parameters}", server.address());
    let run = |statements: &str| server.run(statements);
    // Without the strict mode of our sessions this server would insert the row without its owner.
    server.run("SET GLOBAL sql_mode = ''");
    check_columns_of_others(&subject(&address("table=owned")).await, run).await;
    check_numbers(&address("table=numbers")).await;
    let loose = subject(&address("table=loose")).await.store;
    put(loose.as_ref(), b"KEY", &Record::single(b"1".to_vec())).await;
    assert_eq!(loose.get(b"key").await.expect("it answers"), None, "another key was read");
    let put_other =
        loose.put(b"key", &Record::single(b"2".to_vec()), &Condition::Always, Expiry::Keep).await;
    let said = put_other.expect_err("the table can't hold both").to_string();
    assert!(said.contains("other letters"), "{said}");
    assert_eq!(loose.get(b"KEY").await.unwrap().unwrap().record.raw, Some("1".into()));
    let long = Record::single(vec![b'x'; 300]);
    let cut = loose.put(b"KEY", &long, &Condition::Always, Expiry::Keep).await;
    assert!(matches!(cut, Err(StoreError::Refused { .. })), "a value was cut off: {cut:?}");
    assert!(failure(&address("table=latin"), "").await.contains("utf8mb4"));
    assert!(failure(&address("table=prefixed"), "").await.contains("two rows could have one key"));
    let wrong = server.address_of("owner", "secret-password");
    assert!(failure(&wrong, "secret-password").await.contains("denied"));
    check_all(address).await;
}

/// A stamp that the column can't hold is refused, and one below zero is no stamp.
#[tokio::test(flavor = "multi_thread")]
async fn stamps_out_of_range_are_errors() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("shop.db");
    sqlite(&file, "CREATE TABLE carts (id TEXT PRIMARY KEY, cart TEXT, v INTEGER)");
    let store = subject(&format!("sqlite:{}?stamp=v", file.display())).await.store;
    let large = Record { stamp: Some(Stamp(u64::MAX)), ..Record::single(b"{}".to_vec()) };
    let put = store.put(b"k", &large, &Condition::Always, Expiry::Keep).await;
    assert!(matches!(put, Err(StoreError::Unsupported { .. })), "{put:?}");
    sqlite(&file, "INSERT INTO carts VALUES ('n', '{}', -1)");
    let got = store.get(b"n").await;
    assert!(matches!(got, Err(StoreError::Shape { .. })), "{got:?}");
}
