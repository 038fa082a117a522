//! The whole of the published system by one command: PostgreSQL and a server that speaks MongoDB's
//! protocol on free ports, the table, a configuration to edit, and the service before them.
//!
//! The servers are those of the black-box tests, so that a demonstration and a test can't differ.
//! They keep their data in temporary folders and end with this process.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use cart_service::{Settings, serve};
use cinch_integration::{Folder, MongoDb, Postgres};
use clap::Parser;

/// Published modes in the order in which a rollout goes through them.
const CONFIGURATION: &str = r#"# How carts are stored. The service follows this file while it
# runs: save it, and a second later the next request acts by it.

[namespaces.carts]
keys = ["cart:*"]
compression_codec = "LZ4_HIGH"      # or SNAPPY, LZ4_FAST, GZIP, or: profile = "profile.toml"
write_mode = "NO_COMPRESS"          # then DUAL, in the end COMPRESS_ONLY
read_mode = "NO_COMPRESS"           # then VERIFY_COMPRESS, in the end COMPRESS_ONLY
"#;

/// The raw copy is text, as the published one was; the rest of the row is what two slots need.
const TABLE: &str = "CREATE TABLE carts (id text PRIMARY KEY, cart text, packed bytea, \
                     about jsonb, version bigint)";

/// The cart service with servers of its own, which end with it.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where it listens. Port 0 takes a free one, which is printed.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// A configuration of your own in place of the one that is made and printed.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cart-service: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    eprintln!("cart-service: starting PostgreSQL and FerretDB (Go builds it the first time)");
    let (mongodb, postgres) = servers()?;
    let folder = Folder::new();
    let config = match arguments.config {
        Some(config) => config,
        None => PathBuf::from(folder.write("carts.toml", CONFIGURATION)),
    };
    let cache = mongodb.address("shop.carts?stamp=version");
    let columns = "table=carts&key=id&raw=cart&compressed=packed&metadata=about&stamp=version";
    let persistent = format!("{}?{columns}", postgres.address());
    println!("configuration {}", config.display());
    println!("cache {cache}");
    println!("persistent {persistent}");
    let settings = Settings {
        config,
        cache,
        persistent,
        control: None,
        listen: arguments.listen,
        process: "cart-1".to_owned(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(settings, std::env::vars()))
}

/// The servers, or the line that says which one is missing and how to install it: a test would
/// fail with it, and so it comes as a panic of whoever starts them.
fn servers() -> Result<(Arc<MongoDb>, Arc<Postgres>), String> {
    std::panic::set_hook(Box::new(|_| {}));
    let started = std::thread::spawn(|| {
        let postgres = Postgres::shared();
        postgres.run(TABLE);
        (MongoDb::shared(), postgres)
    });
    let started = started.join().map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_else(|| "a server did not start".to_owned())
    });
    drop(std::panic::take_hook());
    started
}
