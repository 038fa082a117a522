//! Shopping carts over HTTP, as the published service has them: a document store in front of a
//! database, a version stamp on both, and cinch between the service and either of them.
//!
//! It shows what a service has to do to be rolled out with cinch, and is what the demonstrations
//! drive. Nothing in it knows how a cart is stored: that is the configuration's business. It is a
//! library as well, so that the example which brings its own servers starts the same service.

mod routes;

use std::error::Error;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cinch_rollout::live::Live;
use cinch_rollout::reload::{PERIOD_MS_DEFAULT, Reloader};
use cinch_rollout::settings::Sources;
use cinch_stores::address::open;
use cinch_stores::control::{Announcer, AnnouncerOptions, Control};
use cinch_stores::tiered::{Tiered, TieredOptions};
use cinch_stores::{Client, Store};
use tokio::signal::unix::{SignalKind, signal};

/// How long requests that have begun may take after the service was asked to end.
const DRAIN_MAX: Duration = Duration::from_secs(10);

/// What the service is started with.
#[derive(Debug, clap::Args)]
pub struct Settings {
    /// The configuration, whose namespaces hold for both stores; followed while it runs.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Where carts are cached, such as mongodb://127.0.0.1/shop.carts?stamp=version
    #[arg(long, value_name = "ADDRESS")]
    pub cache: String,
    /// Where carts are kept, such as postgres://127.0.0.1/shop?table=carts&stamp=version
    #[arg(long, value_name = "ADDRESS")]
    pub persistent: String,
    /// Where the fleet announces itself and `cinch rollout` keeps its state.
    #[arg(long, value_name = "ADDRESS")]
    pub control: Option<String>,
    /// Where it listens. Port 0 takes a free one, which is printed.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// The name of this process in the fleet.
    #[arg(long, value_name = "NAME", default_value = "cart-1")]
    pub process: String,
}

/// Serves until the process is asked to end by SIGINT or SIGTERM. `variables` are the environment,
/// of which `CINCH_*` overrides the configuration's file.
///
/// # Errors
/// What keeps it from starting, in one line: the configuration, a store, the address.
pub async fn serve(
    settings: Settings,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<(), Box<dyn Error>> {
    // Before anything is opened, so that whoever asks it to end early is heard.
    let asked_to_end = asked_to_end()?;
    let sources = Sources::read(&settings.config, variables, settings.process)?;
    let configuration = sources.configuration()?;
    for warning in &configuration.warnings {
        eprintln!("cart-service: {warning}");
    }
    let live = Arc::new(Live::new(configuration));
    let client = |store: Box<dyn Store>| Client::new(Arc::from(store), Arc::clone(&live));
    let cache = client(open(&settings.cache).await?);
    let persistent = client(open(&settings.persistent).await?);
    let tiered = Tiered::new(cache, persistent, TieredOptions::default())?;

    // A process that can't say what it does must not do it: without an announcement it ends here.
    let announcer = match &settings.control {
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

    let listen = settings.listen;
    let listener = tokio::net::TcpListener::bind(listen)
        .await
        .map_err(|error| format!("{listen}: {error}; name another address with --listen"))?;
    println!("listening on http://{}", listener.local_addr()?);
    let service = routes::Service { tiered, live, announcer: announcer.clone() };
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    let mut draining = stopped.clone();
    let serving =
        axum::serve(listener, routes::router(service)).with_graceful_shutdown(async move {
            // An error says that the sender is gone, which asks for the same.
            let _ = stopped.wait_for(|stop| *stop).await;
        });
    let out_of_patience = async move {
        let _ = draining.wait_for(|stop| *stop).await;
        tokio::time::sleep(DRAIN_MAX).await;
    };
    tokio::spawn(async move {
        asked_to_end.await;
        // Whoever listened may have ended by itself.
        let _ = stop.send(true);
    });
    tokio::select! {
        served = serving => served?,
        () = out_of_patience => {
            eprintln!("cart-service: requests were cut off that took longer than {DRAIN_MAX:?}");
        }
    }
    if let Some(announcer) = announcer.and_then(Arc::into_inner) {
        announcer.stop().await;
    }
    Ok(())
}

/// Resolves at the first SIGINT or SIGTERM.
fn asked_to_end() -> Result<impl Future<Output = ()>, std::io::Error> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
