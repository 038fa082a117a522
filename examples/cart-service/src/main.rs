//! The service on stores that are there already: `cart-service --config FILE --cache ADDRESS
//! --persistent ADDRESS`. `examples/with_servers.rs` brings its own.

use std::process::ExitCode;

use cart_service::{Settings, serve};
use clap::Parser;

/// Shopping carts over HTTP: GET and PUT /carts/USER, /metrics, /samples and /healthz.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(flatten)]
    settings: Settings,
}

#[tokio::main]
async fn main() -> ExitCode {
    match serve(Arguments::parse().settings, std::env::vars()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cart-service: {error}");
            ExitCode::FAILURE
        }
    }
}
