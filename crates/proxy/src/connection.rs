//! One client's connection and the server's beside it: bytes between two sockets and a session.
//!
//! What is read at once is answered with one write. Neither side is read from while what came of it
//! can't be sent on, but commands of a client are taken while its replies wait: clients that write
//! a long pipeline before they read would else stand still for ever.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::counters::Counters;
use crate::session::Session;
use crate::values::Done;

/// A connection, with or without TLS.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// How much is read at once, in bytes.
const READ_BYTES: usize = 16 << 10;

/// How much may wait to be sent before the other side is not read from any more, in bytes.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// How much room an empty buffer keeps, in bytes: an idle connection costs no more.
const KEPT_BYTES: usize = 64 << 10;

/// What waits to be sent.
#[derive(Default)]
struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    needs_flush: bool,
}

impl Outgoing {
    fn take(&mut self, from: &mut Vec<u8>) {
        if from.is_empty() {
            return;
        }
        if self.bytes.is_empty() {
            std::mem::swap(&mut self.bytes, from);
        } else {
            self.bytes.append(from);
        }
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn is_sent(&self) -> bool {
        self.bytes.is_empty() && !self.needs_flush
    }

    /// Sends some of it: how many bytes, or none where all was flushed.
    async fn push(&self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<usize> {
        if self.bytes.is_empty() {
            return to.flush().await.map(|()| 0);
        }
        match to.write(&self.bytes[self.sent..]).await? {
            0 => Err(io::ErrorKind::WriteZero.into()),
            count => Ok(count),
        }
    }

    fn has_sent(&mut self, count: usize) {
        self.sent += count;
        self.needs_flush = count > 0;
        if self.sent == self.bytes.len() {
            self.sent = 0;
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_BYTES);
        }
    }
}

/// Serves a client until one side ends, or until nothing is under way after `stop` says so.
pub(crate) async fn serve(
    client: Box<dyn Stream>,
    server: Box<dyn Stream>,
    mut session: Session,
    counters: &Counters,
    packing: &Arc<Semaphore>,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let (mut client_read, mut client_write) = split(client);
    let (mut server_read, mut server_write) = split(server);
    let (mut from_client, mut from_server) = (vec![0; READ_BYTES], vec![0; READ_BYTES]);
    let (mut to_client, mut to_server) = (Outgoing::default(), Outgoing::default());
    let (mut has_client, mut has_server, mut is_shut) = (true, true, false);
    let mut job: Option<JoinHandle<Done>> = None;
    loop {
        if let Some(work) = session.take_work() {
            match Arc::clone(packing).try_acquire_owned() {
                Ok(permit) => {
                    counters.packed_elsewhere.add();
                    job = Some(spawn_blocking(move || {
                        let done = work.run();
                        drop(permit);
                        done
                    }));
                }
                Err(_) => {
                    counters.shed.add();
                    session.packed(work.shed());
                    continue;
                }
            }
        }
        to_client.take(session.to_client());
        to_server.take(session.to_server());
        let is_stopping = *stop.borrow();
        let is_sent = to_client.is_sent();
        if is_sent && (!has_server || session.is_done()) {
            break;
        }
        if is_stopping && is_sent && to_server.is_empty() && session.is_idle() {
            break;
        }
        if !has_client && !is_shut && !session.has_commands() && to_server.is_empty() {
            // The server answers what it was sent, and ends its side in turn.
            server_write.shutdown().await?;
            is_shut = true;
        }
        let reads_client =
            has_client && session.wants_client() && to_server.bytes.len() < WAITING_BYTES_MAX;
        let reads_server = has_server && to_client.bytes.len() < WAITING_BYTES_MAX;
        tokio::select! {
            biased;
            sent = to_client.push(&mut client_write), if !to_client.is_sent() => {
                to_client.has_sent(sent?);
            }
            sent = to_server.push(&mut server_write), if has_server && !to_server.is_sent() => {
                match sent {
                    Ok(sent) => to_server.has_sent(sent),
                    // The end is found by reading, behind what the server said before.
                    Err(_) => to_server = Outgoing::default(),
                }
            }
            read = server_read.read(&mut from_server), if reads_server => {
                let is_understood = match read {
                    Ok(count) if count > 0 => match session.server_sent(&from_server[..count]) {
                        Ok(()) => true,
                        Err(_) => {
                            counters.protocol_errors.add();
                            false
                        }
                    },
                    Ok(_) | Err(_) => false,
                };
                if !is_understood {
                    session.server_ended();
                    has_server = false;
                    to_server = Outgoing::default();
                }
            }
            read = client_read.read(&mut from_client), if reads_client => {
                match read? {
                    0 => has_client = false,
                    count => session.client_sent(&from_client[..count]),
                }
            }
            done = finished(&mut job), if job.is_some() => {
                job = None;
                session.packed(done?);
            }
            changed = stop.changed(), if !is_stopping => {
                // Whoever could say so is gone: that is a stop too.
                changed.map_err(io::Error::other)?;
            }
        }
    }
    // The client reads the end of the connection whatever becomes of this.
    let _ended = client_write.shutdown().await;
    Ok(())
}

async fn finished(job: &mut Option<JoinHandle<Done>>) -> io::Result<Done> {
    match job {
        Some(job) => job.await.map_err(io::Error::other),
        None => std::future::pending().await,
    }
}
