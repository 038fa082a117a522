//! OTLP logs over gRPC. HTTP/2 is a library's, on a thread of its own; what it takes from a
//! connection goes, as requests of HTTP/1.1, through a socket pair to a reader. So everything that
//! holds for the other listeners holds here: the bounded queue, the pool's choice when it is full,
//! its `ack_when`, its memory. A call holds no more than its flow-control window.

use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use h2::server;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::config::Address;
use crate::connection::{Adopted, Peer};
use crate::ingress::Shared;
use crate::limits::{GRPC_CALLS_MAX, GRPC_HEADERS_BYTES_MAX, GRPC_WINDOW_BYTES, HANDSHAKE_S};

mod call;
mod pipe;

use call::Call;
use pipe::Pipe;

/// How long calls may take to end after the ingress was told to stop.
const STOP_TIME: Duration = Duration::from_secs(2);

/// How long accepting rests when the system has no more connections to give.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// A listener of gRPC.
pub(crate) struct Grpc {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

/// What the connections of a listener share.
struct Listening {
    shared: Arc<Shared>,
    listener: usize,
    tls: Option<Arc<ServerConfig>>,
    slots: Arc<Semaphore>,
    accepted: AtomicU64,
    stop: watch::Receiver<bool>,
}

impl Grpc {
    /// Listens, on a thread of its own.
    pub(crate) fn start(shared: &Arc<Shared>, listener: usize) -> io::Result<Grpc> {
        let settings = &shared.config.listeners[listener];
        let Address::Tcp(address) = settings.address else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let socket = std::net::TcpListener::bind(address)?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        let (stop, stopped) = watch::channel(false);
        let listening = Arc::new(Listening {
            shared: Arc::clone(shared),
            listener,
            tls: settings.tls.clone(),
            slots: Arc::new(Semaphore::new(settings.connections_max.min(Semaphore::MAX_PERMITS))),
            accepted: AtomicU64::new(0),
            stop: stopped,
        });
        let runtime = runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let run = move || runtime.block_on(accept(socket, listening));
        let thread = thread::Builder::new().name("grpc".to_owned()).spawn(run)?;
        Ok(Grpc { address, stop, thread })
    }

    /// Takes no more calls and waits a little for those that are under way.
    pub(crate) fn stop(self) {
        // Nobody listens any more where the thread has ended.
        let _told = self.stop.send(true);
        let _ended = self.thread.join();
    }
}

async fn accept(socket: std::net::TcpListener, listening: Arc<Listening>) {
    let socket = match TcpListener::from_std(socket) {
        Ok(socket) => socket,
        Err(error) => return listening.shared.tell(format_args!("gRPC can't listen: {error}")),
    };
    let (mut stop, mut connections) = (listening.stop.clone(), JoinSet::new());
    loop {
        let accepted = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            Some(_) = connections.join_next() => continue,
            accepted = socket.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                connections.spawn(connection(Arc::clone(&listening), stream, peer));
            }
            Err(error) => {
                listening.shared.tell(format_args!("gRPC connections wait: {error}"));
                tokio::time::sleep(ACCEPT_REST).await;
            }
        }
    }
    drop(socket);
    // What is left then is cut off; its clients were not answered and send again.
    let _all_ended =
        timeout(STOP_TIME, async { while connections.join_next().await.is_some() {} }).await;
}

/// One connection, from its first byte to its last.
async fn connection(listening: Arc<Listening>, stream: TcpStream, peer: SocketAddr) {
    let metrics = &listening.shared.metrics.listeners[listening.listener];
    let Ok(_slot) = Arc::clone(&listening.slots).try_acquire_owned() else {
        metrics.turned_away.fetch_add(1, Ordering::Relaxed);
        return;
    };
    // A socket that takes it not still works, only a little later.
    let _set = stream.set_nodelay(true);
    let patience = Duration::from_secs(HANDSHAKE_S);
    let served = match &listening.tls {
        None => serve(&listening, stream, peer).await,
        Some(config) => {
            let accepting = TlsAcceptor::from(Arc::clone(config)).accept(stream);
            match timeout(patience, accepting).await {
                Ok(Ok(stream)) => serve(&listening, stream, peer).await,
                Ok(Err(error)) => {
                    metrics.handshakes_failed.fetch_add(1, Ordering::Relaxed);
                    listening.shared.tell(format_args!("{peer} was closed: {error}"));
                    return;
                }
                Err(_) => {
                    metrics.handshakes_failed.fetch_add(1, Ordering::Relaxed);
                    return;
                }
            }
        }
    };
    if let Err(error) = served {
        metrics.refused.fetch_add(1, Ordering::Relaxed);
        listening.shared.tell(format_args!("{peer} was closed: {error}"));
    }
}

async fn serve(
    listening: &Listening,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    peer: SocketAddr,
) -> Result<(), h2::Error> {
    let greeting = server::Builder::new()
        .max_concurrent_streams(GRPC_CALLS_MAX)
        .max_header_list_size(GRPC_HEADERS_BYTES_MAX)
        .initial_connection_window_size(GRPC_WINDOW_BYTES * GRPC_CALLS_MAX)
        .initial_window_size(GRPC_WINDOW_BYTES)
        .handshake::<_, Bytes>(stream);
    let Ok(greeted) = timeout(Duration::from_secs(HANDSHAKE_S), greeting).await else {
        return Ok(());
    };
    let mut connection = greeted?;
    let Ok((ours, theirs)) = UnixStream::pair() else { return Ok(()) };
    let Ok((pipe, answers)) = Pipe::new(ours) else { return Ok(()) };
    if theirs.set_nonblocking(true).is_err() {
        return Ok(());
    }
    let number = listening.accepted.fetch_add(1, Ordering::Relaxed) as usize;
    let mailboxes = &listening.shared.mailboxes;
    let (listener, peer) = (listening.listener, Peer::Network(peer));
    mailboxes[number % mailboxes.len()].adopt(Adopted { stream: theirs, listener, peer });
    let (mut stop, mut calls) = (listening.stop.clone(), JoinSet::new());
    let mut answers = std::pin::pin!(pipe::deliver(Arc::clone(&pipe), answers));
    let (mut is_stopping, mut is_broken) = (false, false);
    loop {
        tokio::select! {
            _ = stop.wait_for(|stop| *stop), if !is_stopping => {
                is_stopping = true;
                connection.graceful_shutdown();
            }
            // The reader has closed its end: calls under way were told so.
            () = &mut answers, if !is_broken => {
                is_broken = true;
                connection.graceful_shutdown();
            }
            Some(_) = calls.join_next() => {}
            call = connection.accept() => match call {
                None => return Ok(()),
                Some(call) => {
                    let (request, respond) = call?;
                    calls.spawn(Call::new(Arc::clone(&pipe), respond).run(request));
                }
            },
        }
    }
}
