//! The process: one thread and one event loop for each core, each with sockets of its own on the
//! same addresses, so that a connection stays on the core that accepted it.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener as StdUnixListener, UnixStream as StdUnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cinch_rollout::live::Live;
use socket2::{Domain, Protocol, Type};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsStream;

use crate::address::Address;
use crate::connection::serve;
use crate::counters::Counters;
use crate::lane::Lane;
use crate::link::{Link, Socket};
use crate::session::Session;
use crate::settings::{SettingError, Settings, Upstreams};
use crate::shared::Shared;
use crate::status::Status;
use crate::tls::{self, TlsError};

/// The connections that may wait to be accepted.
const BACKLOG: i32 = 4_096;

/// How long a client's TLS handshake may take.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// How long it waits before it accepts again when the system has no more descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Why a sidecar could not start.
#[derive(Debug, thiserror::Error)]
pub enum SidecarError {
    /// A setting can't be used.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// An address can't be listened on.
    #[error("{address}: {error}")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        error: io::Error,
    },
    /// The status page can't be served.
    #[error("status {address}: {error}")]
    Status {
        /// The address.
        address: String,
        /// Why.
        error: String,
    },
    /// Certificates can't be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A thread or its event loop could not be made.
    #[error("an event loop could not be made: {0}")]
    Loop(io::Error),
}

/// A sidecar that runs. It stops when it is dropped, or after [`Sidecar::stop`] in order.
pub struct Sidecar {
    addresses: Vec<Address>,
    status: Option<Status>,
    stop: watch::Sender<bool>,
    is_stopping: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    counters: Arc<Counters>,
    /// Sockets in the file system, removed at the end.
    files: Vec<PathBuf>,
}

/// What came of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Connections that were accepted.
    pub connections: u64,
    /// Commands that clients sent.
    pub commands: u64,
    /// Those that were refused.
    pub refused: u64,
    /// Connections that were cut because they did not end in time.
    pub cut: u64,
}

enum Listener {
    Tcp(std::net::TcpListener),
    Unix(StdUnixListener),
}

impl Sidecar {
    /// Listens, and serves whoever connects. The server need not be there yet.
    ///
    /// # Errors
    /// [`SidecarError`]; nothing runs then.
    pub fn start(settings: &Settings, live: Arc<Live>) -> Result<Sidecar, SidecarError> {
        let upstream = settings.upstream()?;
        let counters = Arc::new(Counters::default());
        let is_stopping = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(Shared {
            live: Arc::clone(&live),
            limits: Arc::new(settings.limits()?),
            counters: Arc::clone(&counters),
            tls: match &settings.upstream_tls {
                Some(tls) => Some(tls::connector(tls, &upstream)?),
                None => None,
            },
            upstream,
            acceptor: settings.tls.as_ref().map(tls::acceptor).transpose()?,
            packing: Arc::new(Semaphore::new(settings.packing_max)),
            connections_max: settings.connections_max as u64,
            connect_max: Duration::from_millis(settings.connect_ms),
            drain_max: Duration::from_millis(settings.drain_ms),
            is_stopping: Arc::clone(&is_stopping),
            shares: settings.upstream_connections == Upstreams::Shared,
        });
        let mut sidecar = Sidecar {
            addresses: Vec::new(),
            status: None,
            stop: watch::channel(false).0,
            is_stopping,
            threads: Vec::new(),
            counters: Arc::clone(&counters),
            files: Vec::new(),
        };
        let mut loops: Vec<Vec<Listener>> = Vec::new();
        loops.resize_with(settings.workers(), Vec::new);
        for address in settings.listen()? {
            let failed = |error| SidecarError::Listen { address: address.to_string(), error };
            let bound = listen(&address, &mut loops).map_err(failed)?;
            sidecar.files.extend(match &bound {
                Address::Unix(path) => Some(path.clone()),
                Address::Tcp(_) => None,
            });
            sidecar.addresses.push(bound);
        }
        if let Some(address) = &settings.status {
            let is_stopping = Arc::clone(&sidecar.is_stopping);
            let status = Status::start(address, live, counters, is_stopping);
            let failed = |error| SidecarError::Status { address: address.clone(), error };
            sidecar.status = Some(status.map_err(failed)?);
        }
        for (number, listeners) in loops.into_iter().enumerate() {
            let runtime = Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(SidecarError::Loop)?;
            let (shared, stop) = (Arc::clone(&shared), sidecar.stop.subscribe());
            let run = move || {
                runtime.block_on(event_loop(listeners, &shared, stop));
                runtime.shutdown_background();
            };
            let thread = thread::Builder::new().name(format!("loop-{number}")).spawn(run);
            sidecar.threads.push(thread.map_err(SidecarError::Loop)?);
        }
        Ok(sidecar)
    }

    /// Where it listens, with the ports that the system chose.
    pub fn addresses(&self) -> Vec<String> {
        self.addresses.iter().map(Address::to_string).collect()
    }

    /// Where `/metrics` and `/healthz` are.
    pub fn status_address(&self) -> Option<SocketAddr> {
        self.status.as_ref().map(|status| status.address)
    }

    /// Accepts nobody any more, ends connections as they become idle, and cuts those that do not
    /// within `drain_ms`.
    pub fn stop(mut self) -> Totals {
        self.end();
        Totals {
            connections: self.counters.connections.count(),
            commands: self.counters.commands.count(),
            refused: self.counters.refused.count(),
            cut: self.counters.connections_open.count(),
        }
    }

    fn end(&mut self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.stop.send_replace(true);
        for thread in self.threads.drain(..) {
            // A panic of an event loop has been printed by its thread.
            let _ended = thread.join();
        }
        for file in self.files.drain(..) {
            // Where it can't be removed, the next start does it.
            let _removed = std::fs::remove_file(file);
        }
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        self.end();
    }
}

/// A socket for each loop, on the same address.
fn listen(address: &Address, loops: &mut [Vec<Listener>]) -> io::Result<Address> {
    match address {
        Address::Tcp(text) => {
            let mut found = std::net::ToSocketAddrs::to_socket_addrs(text)?;
            let mut bound = found.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
            for listeners in loops {
                let socket = tcp(bound)?;
                // The first one chooses the port where none is given.
                bound = socket.local_addr()?;
                listeners.push(Listener::Tcp(socket));
            }
            Ok(Address::Tcp(bound.to_string()))
        }
        Address::Unix(path) => {
            remove_stale(path)?;
            let socket = StdUnixListener::bind(path)?;
            socket.set_nonblocking(true)?;
            for listeners in loops {
                listeners.push(Listener::Unix(socket.try_clone()?));
            }
            Ok(address.clone())
        }
    }
}

fn tcp(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket =
        socket2::Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Removes a socket that nobody listens on any more: a process that was killed leaves it behind.
fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !metadata.file_type().is_socket() || StdUnixStream::connect(path).is_ok() {
        return Err(io::ErrorKind::AddrInUse.into());
    }
    std::fs::remove_file(path)
}

async fn event_loop(
    listeners: Vec<Listener>,
    shared: &Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    let mut accepting = JoinSet::new();
    let (send, mut accepted) = tokio::sync::mpsc::channel::<Socket>(1);
    for listener in listeners {
        accepting.spawn(accept(listener, send.clone()));
    }
    drop(send);
    let lane = shared.shares.then(Arc::<Lane>::default);
    if let Some(lane) = &lane {
        let (lane, shared) = (Arc::clone(lane), Arc::clone(shared));
        accepting.spawn(async move { lane.run(shared).await });
    }
    loop {
        tokio::select! {
            socket = accepted.recv() => {
                let Some(socket) = socket else { break };
                let counters = &shared.counters;
                counters.connections.add();
                counters.connections_open.add();
                let (shared, lane) = (Arc::clone(shared), lane.clone());
                connections.spawn(connection(socket, lane, shared, stop.clone()));
            }
            Some(_) = connections.join_next() => {}
            // Whoever could say so is gone: that is a stop too.
            _ = stop.changed() => break,
        }
    }
    drop(accepted);
    let ended = async { while connections.join_next().await.is_some() {} };
    // Who has not ended by then is cut, and counted.
    let _ended = timeout(shared.drain_max, ended).await;
}

async fn accept(listener: Listener, to: tokio::sync::mpsc::Sender<Socket>) {
    let listener = match listener {
        Listener::Tcp(listener) => TcpListener::from_std(listener).map(Accepting::Tcp),
        Listener::Unix(listener) => UnixListener::from_std(listener).map(Accepting::Unix),
    };
    let Ok(listener) = listener else { return };
    loop {
        tokio::select! {
            () = to.closed() => return,
            socket = listener.accept() => match socket {
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
                Ok(socket) => {
                    if to.send(socket).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

enum Accepting {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Accepting {
    async fn accept(&self) -> io::Result<Socket> {
        match self {
            Accepting::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                // A socket that takes it not still works, only a little later.
                let _set = stream.set_nodelay(true);
                Ok(Socket::Tcp(stream))
            }
            Accepting::Unix(listener) => Ok(Socket::Unix(listener.accept().await?.0)),
        }
    }
}

async fn connection(
    socket: Socket,
    lane: Option<Arc<Lane>>,
    shared: Arc<Shared>,
    stop: watch::Receiver<bool>,
) {
    // An error of a socket ends this connection alone, and there is nobody to tell.
    let _ended = connection_of(socket, lane, Arc::clone(&shared), stop).await;
    shared.counters.connections_open.take();
}

async fn connection_of(
    socket: Socket,
    lane: Option<Arc<Lane>>,
    shared: Arc<Shared>,
    stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let client = match &shared.acceptor {
        None => Link::Plain(socket),
        Some(acceptor) => {
            let stream = timeout(HANDSHAKE_MAX, acceptor.accept(socket)).await??;
            Link::Tls(Box::new(TlsStream::Server(stream)))
        }
    };
    let (live, limits) = (Arc::clone(&shared.live), Arc::clone(&shared.limits));
    let mut session = Session::new(live, limits, Arc::clone(&shared.counters));
    if shared.counters.connections_open.count() > shared.connections_max {
        shared.counters.connections_refused.add();
        session.turn_away();
    } else if lane.is_some() {
        session.shares();
    }
    serve(client, lane, session, shared, stop).await
}
