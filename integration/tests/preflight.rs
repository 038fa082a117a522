//! `cinch rollout preflight` on real stores: what reads inside the raw field is found, what does
//! not is left alone, and nothing is changed.

use cinch_integration::{Folder, MariaDb, MongoDb, Postgres, Ran, Redis, cinch, python};
use serde_json::Value;

/// The kinds and names of what would break (`!`) and of what is to be looked at (`?`).
fn found(ran: &Ran) -> Vec<String> {
    let report = ran.json()[0].clone();
    let found = report["found"].as_array().expect("a report has what was found");
    let line = |found: &Value| {
        let mark = if found["effect"] == "breaks" { "!" } else { "?" };
        let text = |key: &str| found[key].as_str().unwrap().to_owned();
        format!("{mark} {} {}", text("kind"), text("name"))
    };
    found.iter().map(line).collect()
}

fn preflight(address: &str) -> Preflight {
    Preflight(cinch(["rollout", "preflight", "--json", address]).run())
}

/// A run with its findings.
struct Preflight(Ran);

impl Preflight {
    #[track_caller]
    fn finds(self, code: i32, expected: &[&str]) {
        let ran = self.0.code(code);
        assert_eq!(found(&ran), expected, "{}", ran.text());
    }
}

#[test]
fn sqlite_tells_indexes_views_triggers_and_checks() {
    let folder = Folder::new();
    let file = folder.at("shop.db");
    let statements = [
        "create table carts (id text primary key not null, cart text not null \
         check (json_valid(cart)), cart_id int, site int)",
        "create index by_user on carts (json_extract(cart, '$.user'))",
        "create index by_site on carts (site, cart_id)",
        "create view totals as select id, json_extract(cart, '$.total') from carts",
        "create view sites as select id, site from carts",
        "create trigger audit after update on carts begin select new.cart; end",
        "create table plain (id text primary key not null, cart text)",
    ];
    let script: String = statements.iter().map(|text| format!("{text}\t[]\n")).collect();
    python("sqlite.py").and(&[&file]).run(script);
    let before = folder.read("shop.db");
    preflight(&format!("sqlite:{file}?table=carts&raw=cart")).finds(
        3,
        &["! column cart", "! index by_user", "! table carts", "! trigger audit", "! view totals"],
    );
    preflight(&format!("sqlite:{file}?table=plain&raw=cart")).finds(0, &[]);
    assert!(folder.read("shop.db") == before, "the file was changed");
    let shown = cinch(["rollout", "preflight", &format!("sqlite:{file}?table=carts&raw=cart")]);
    let shown = shown.run().code(3);
    for words in ["5 would break", "COMPRESS_ONLY", "json_extract(cart, '$.user')", "not looked at"]
    {
        assert!(shown.text().contains(words), "{words} in {}", shown.text());
    }
    let missing = format!("sqlite:{file}?table=carts&raw=basket");
    cinch(["rollout", "preflight", &missing]).run().refused(2, &["no column basket in carts"]);
}

#[test]
fn postgres_tells_everything_that_depends_on_the_column() {
    let server = Postgres::shared();
    server.run(
        "create table carts (id text primary key, cart json not null, site int,
            total numeric generated always as ((cart ->> 'total')::numeric) stored,
            constraint has_user check (cart ->> 'user' is not null));
         create index by_user on carts ((cart ->> 'user'));
         create index by_site on carts (site);
         create index partial on carts (site) where cart ->> 'state' = 'open';
         create view totals as select id, cart ->> 'total' as total from carts;
         create view sites as select id, site from carts;
         create function cart_total(text) returns text language sql as
            $$ select cart ->> 'total' from carts where id = $1 $$;
         create function note() returns trigger language plpgsql as
            $$ begin perform new.cart; return new; end $$;
         create trigger audit after insert on carts for each row execute function note();
         create table plain_carts (id text primary key, cart json);",
    );
    let address = format!("{}?table=carts&raw=cart", server.address());
    preflight(&address).finds(
        3,
        &[
            "! column cart",
            "! constraint has_user",
            "! generated column total",
            "! index by_user",
            "! index partial",
            "! trigger audit",
            "! view totals",
            "? function cart_total(text)",
        ],
    );
    let plain = format!("{}?table=plain_carts&raw=cart", server.address());
    preflight(&plain).finds(0, &[]);
}

#[test]
fn mariadb_tells_generated_columns_views_triggers_and_checks() {
    let server = MariaDb::shared();
    server.run(
        "create table carts (id varchar(40) primary key, cart longtext not null, site int,
            total int as (json_value(cart, '$.total')) persistent,
            constraint has_user check (json_exists(cart, '$.user')));
         create index by_site on carts (site);
         create view totals as select id, json_value(cart, '$.total') as t from carts;
         create view sites as select id, site from carts;
         create trigger audit before insert on carts for each row set @seen = new.cart;
         create table plain_carts (id varchar(40) primary key, cart longtext);",
    );
    let database = server.run("select database()");
    let address = format!("{}?table=carts&raw=cart", server.address());
    preflight(&address).finds(
        3,
        &[
            "! column cart",
            "! constraint has_user",
            "! generated column total",
            "! trigger audit",
            &format!("! view {database}.totals"),
        ],
    );
    let plain = format!("{}?table=plain_carts&raw=cart", server.address());
    preflight(&plain).finds(0, &[]);
}

#[test]
fn redis_tells_commands_scripts_functions_notifications_and_clients() {
    let server = Redis::start();
    server.run(&["SET", "cart:1", "{\"user\":7}"]);
    let clean = cinch(["rollout", "preflight", "--json", &server.address()]).run().code(0);
    assert!(!found(&clean).iter().any(|line| line.starts_with('!')), "{}", clean.text());
    server.run(&["GETRANGE", "cart:1", "0", "3"]);
    server.run(&["EVAL", "return redis.call('GET', KEYS[1])", "1", "cart:1"]);
    server.run(&["CONFIG", "SET", "notify-keyspace-events", "KEA"]);
    let library = "#!lua name=carts\nredis.register_function('total', function() return 1 end)";
    server.run(&["FUNCTION", "LOAD", library]);
    let ran = cinch(["rollout", "preflight", "--json", &server.address()]).run().code(3);
    let lines = found(&ran);
    assert!(lines.contains(&"! command getrange".to_owned()), "{lines:?}");
    assert!(lines.contains(&"? script eval".to_owned()), "{lines:?}");
    assert!(lines.contains(&"? function carts".to_owned()), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("? notification")), "{lines:?}");
    // What a user may not see is said, and is no error.
    server.run(&["ACL", "SETUSER", "reader", "on", ">secret", "~*", "+get", "+info"]);
    let limited = server.address_of("reader", "secret");
    let ran = cinch(["rollout", "preflight", "--json", &limited]).run().code(3);
    let unseen = ran.json()[0]["unseen"].to_string();
    for what in ["functions", "keyspace notifications", "modules", "clients"] {
        assert!(unseen.contains(what), "{what} in {unseen}");
    }
}

#[test]
fn mongodb_tells_indexes_on_members_of_the_raw_field() {
    let server = MongoDb::shared();
    let document = "{\"_id\": \"1\", \"cart\": {\"user\": 7}, \"cart_id\": 1}\n";
    server.run(&["put", "shop", "carts"], document);
    server.run(&["index", "shop", "carts"], "{\"cart_id\": 1}\n");
    let address = server.address("shop.carts?raw=cart");
    preflight(&address).finds(0, &[]);
    server.run(&["index", "shop", "carts"], "{\"cart.user\": 1, \"cart_id\": -1}\n");
    preflight(&address).finds(3, &["! index cart.user_1_cart_id_-1"]);
}
