//! The arguments of `cinch proxy`: what the user typed, which overrides what `[proxy.redis]` of the
//! configuration file says.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `cinch proxy`
#[derive(Debug, Args)]
pub struct ProxyArguments {
    /// For which store.
    #[command(subcommand)]
    pub command: ProxyCommand,
}

/// The stores.
#[derive(Debug, Subcommand)]
pub enum ProxyCommand {
    /// Speak RESP to clients and to a Redis or Valkey server.
    #[command(after_help = "\
Examples:
  cinch proxy redis --listen 127.0.0.1:6380 --upstream 127.0.0.1:6379 --config cinch.toml
  cinch proxy redis --listen unix:/run/cinch/redis.sock --upstream redis.example:6379

Values under keys of namespaces with one slot are packed as their policy says; all others pass byte
for byte. SIGTERM ends connections as they become idle. The exit status is 3 if some were cut.")]
    Redis(RedisArguments),
}

/// `cinch proxy redis`
#[derive(Debug, Args)]
pub struct RedisArguments {
    /// Where clients connect: HOST:PORT or unix:/PATH; may be repeated.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Vec<String>,
    /// The server: HOST:PORT or unix:/PATH.
    #[arg(long, value_name = "ADDRESS")]
    pub upstream: Option<String>,
    /// Where /metrics and /healthz are.
    #[arg(long, value_name = "HOST:PORT")]
    pub status: Option<String>,
    /// The configuration: namespaces, and [proxy.redis].
    #[arg(short, long, value_name = "FILE", default_value = "cinch.toml")]
    pub config: PathBuf,
    /// Say whether the configuration can be used, and do nothing else.
    #[arg(long)]
    pub check: bool,
}
