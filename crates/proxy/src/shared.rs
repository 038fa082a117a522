//! What every connection of a process needs, and the way to the server. Clients and the lanes that
//! they share go there alike.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cinch_rollout::live::Live;
use rustls::pki_types::ServerName;
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use crate::address::Address;
use crate::counters::Counters;
use crate::link::{Link, Socket};
use crate::session::Limits;

/// What every connection needs.
pub(crate) struct Shared {
    pub(crate) live: Arc<Live>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) upstream: Address,
    pub(crate) tls: Option<(TlsConnector, ServerName<'static>)>,
    pub(crate) acceptor: Option<TlsAcceptor>,
    /// Permits to pack values off the event loops.
    pub(crate) packing: Arc<Semaphore>,
    pub(crate) connections_max: u64,
    pub(crate) connect_max: Duration,
    pub(crate) drain_max: Duration,
    pub(crate) is_stopping: Arc<AtomicBool>,
    /// Whether clients share connections to the server.
    pub(crate) shares: bool,
}

/// A connection to the server, within the time that it may take.
pub(crate) async fn upstream(shared: Arc<Shared>) -> io::Result<Link> {
    timeout(shared.connect_max, connect(&shared)).await?
}

async fn connect(shared: &Shared) -> io::Result<Link> {
    let socket = match &shared.upstream {
        Address::Tcp(address) => {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Socket::Tcp(stream)
        }
        Address::Unix(path) => Socket::Unix(UnixStream::connect(path).await?),
    };
    match &shared.tls {
        None => Ok(Link::Plain(socket)),
        Some((connector, name)) => {
            let stream = connector.connect(name.clone(), socket).await?;
            Ok(Link::Tls(Box::new(TlsStream::Client(stream))))
        }
    }
}
