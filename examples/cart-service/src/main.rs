//! Shopping carts over HTTP, as the published service has them: a document store in front of a
//! database, a version stamp on both, and cinch between the service and either of them.
//!
//! It shows what a service has to do to be rolled out with cinch, and is what the demonstrations
//! drive. Nothing in it knows how a cart is stored: that is the configuration's business.

mod routes;

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use cinch_rollout::live::Live;
use cinch_rollout::reload::{PERIOD_MS_DEFAULT, Reloader};
use cinch_rollout::settings::Sources;
use cinch_stores::address::open;
use cinch_stores::control::{Announcer, AnnouncerOptions, Control};
use cinch_stores::tiered::{Tiered, TieredOptions};
use cinch_stores::{Client, Store};
use clap::Parser;

/// Shopping carts over HTTP: GET and PUT /carts/USER, /metrics, /samples and /healthz.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The configuration of the namespaces `cache` and `persistent`; followed while it runs.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Where carts are cached, such as mongodb://127.0.0.1/shop.carts?stamp=version
    #[arg(long, value_name = "ADDRESS")]
    cache: String,
    /// Where carts are kept, such as postgres://127.0.0.1/shop?table=carts&stamp=version
    #[arg(long, value_name = "ADDRESS")]
    persistent: String,
    /// Where the fleet announces itself and `cinch rollout` keeps its state.
    #[arg(long, value_name = "ADDRESS")]
    control: Option<String>,
    /// Where it listens. Port 0 takes a free one, which is printed.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The name of this process in the fleet.
    #[arg(long, value_name = "NAME", default_value = "cart-1")]
    process: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    match serve(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cart-service: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let sources = Sources::read(&arguments.config, std::env::vars(), arguments.process)?;
    let configuration = sources.configuration()?;
    for warning in &configuration.warnings {
        eprintln!("cart-service: {warning}");
    }
    let live = Arc::new(Live::new(configuration));
    let client = |store: Box<dyn Store>| Client::new(Arc::from(store), Arc::clone(&live));
    let cache = client(open(&arguments.cache).await?);
    let persistent = client(open(&arguments.persistent).await?);
    let tiered = Tiered::new(cache, persistent, TieredOptions::default())?;

    // A process that can't say what it does must not do it: without an announcement it ends here.
    let announcer = match &arguments.control {
        None => None,
        Some(address) => {
            let control = Control::open(address, true).await?;
            let options = AnnouncerOptions::default();
            Some(Arc::new(Announcer::start(control, Arc::clone(&live), options).await?))
        }
    };
    let _reloader =
        Reloader::start(Arc::clone(&live), sources, PERIOD_MS_DEFAULT, |result| match result {
            Ok(generation) => eprintln!("cart-service: configuration {generation} is in force"),
            Err(error) => eprintln!("cart-service: the last good configuration stays: {error}"),
        });

    let listener = tokio::net::TcpListener::bind(arguments.listen).await?;
    println!("listening on {}", listener.local_addr()?);
    let service = routes::Service { tiered, live, announcer: announcer.clone() };
    axum::serve(listener, routes::router(service))
        .with_graceful_shutdown(async {
            // Without a handler there is nothing to wait for, and the process is killed instead.
            let _ = tokio::signal::ctrl_c().await;
        })
        .await?;
    if let Some(announcer) = announcer.and_then(Arc::into_inner) {
        announcer.stop().await;
    }
    Ok(())
}
