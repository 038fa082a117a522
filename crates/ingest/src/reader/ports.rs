//! The sockets that a reader listens on: for connections, or for datagrams, in the network or in
//! the file system.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mio::net::{TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream};
use mio::{Interest, Poll, Token};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::transport::quick_acknowledgements;
use crate::config::Address;
use crate::connection::{Connection, Peer};
use crate::limits::DATAGRAM_BUFFER_BYTES;

/// The connections that may wait to be accepted.
const BACKLOG: i32 = 4_096;

/// A socket that listens, and what it is of the configuration.
pub(super) struct Port {
    pub(super) socket: PortSocket,
    pub(super) listener: usize,
    pub(super) may_have_more: bool,
    /// Those who send datagrams.
    pub(super) senders: HashMap<Option<SocketAddr>, Arc<Connection>>,
    /// What the system said last about datagrams that it dropped.
    pub(super) lost: u64,
}

pub(super) enum PortSocket {
    Tcp(TcpListener),
    Udp(UdpSocket),
    Unix(UnixListener, PathBuf),
    UnixDatagram(UnixDatagram, PathBuf),
}

/// A stream that was accepted.
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A connection that was accepted.
pub(super) struct Accepted {
    pub(super) stream: Stream,
    pub(super) peer: Peer,
}

impl Port {
    /// Listens. An address that several readers share has a socket of each.
    pub(super) fn open(address: &Address, listener: usize, is_shared: bool) -> io::Result<Port> {
        let socket = match address {
            Address::Tcp(address) => PortSocket::Tcp(tcp(*address, is_shared)?),
            Address::Udp(address) => PortSocket::Udp(udp(*address, is_shared)?),
            Address::Unix(path) => {
                remove_stale(path)?;
                PortSocket::Unix(UnixListener::bind(path)?, path.clone())
            }
            Address::UnixDatagram(path) => {
                remove_stale(path)?;
                let socket = UnixDatagram::bind(path)?;
                let _set = SockRef::from(&socket).set_recv_buffer_size(DATAGRAM_BUFFER_BYTES);
                PortSocket::UnixDatagram(socket, path.clone())
            }
        };
        Ok(Port { socket, listener, may_have_more: false, senders: HashMap::new(), lost: 0 })
    }

    pub(super) fn register(&mut self, poll: &Poll, token: Token) -> io::Result<()> {
        let registry = poll.registry();
        match &mut self.socket {
            PortSocket::Tcp(socket) => registry.register(socket, token, Interest::READABLE),
            PortSocket::Udp(socket) => registry.register(socket, token, Interest::READABLE),
            PortSocket::Unix(socket, _) => registry.register(socket, token, Interest::READABLE),
            PortSocket::UnixDatagram(socket, _) => {
                registry.register(socket, token, Interest::READABLE)
            }
        }
    }

    /// Where it listens; where the system does not say, nowhere that anybody reaches.
    pub(super) fn address(&self) -> Address {
        let nowhere = || SocketAddr::from(([0, 0, 0, 0], 0));
        match &self.socket {
            PortSocket::Tcp(socket) => {
                Address::Tcp(socket.local_addr().unwrap_or_else(|_| nowhere()))
            }
            PortSocket::Udp(socket) => {
                Address::Udp(socket.local_addr().unwrap_or_else(|_| nowhere()))
            }
            PortSocket::Unix(_, path) => Address::Unix(path.clone()),
            PortSocket::UnixDatagram(_, path) => Address::UnixDatagram(path.clone()),
        }
    }

    pub(super) fn is_of_datagrams(&self) -> bool {
        matches!(self.socket, PortSocket::Udp(_) | PortSocket::UnixDatagram(..))
    }

    pub(super) fn accept(&self) -> io::Result<Accepted> {
        match &self.socket {
            PortSocket::Tcp(socket) => {
                let (stream, peer) = socket.accept()?;
                // A socket that takes none of these still works, only a little later.
                let _set = SockRef::from(&stream).set_tcp_nodelay(true);
                quick_acknowledgements(&stream);
                Ok(Accepted { stream: Stream::Tcp(stream), peer: Peer::Network(peer) })
            }
            PortSocket::Unix(socket, path) => {
                let (stream, _) = socket.accept()?;
                let peer = Peer::Local(path.as_path().into());
                Ok(Accepted { stream: Stream::Unix(stream), peer })
            }
            PortSocket::Udp(_) | PortSocket::UnixDatagram(..) => Err(ErrorKind::WouldBlock.into()),
        }
    }

    /// Takes a datagram: its length, as far as there is room, and who sent it.
    pub(super) fn receive(&self, room: &mut [u8]) -> io::Result<(usize, Option<SocketAddr>)> {
        match &self.socket {
            PortSocket::Udp(socket) => {
                socket.recv_from(room).map(|(count, sender)| (count, Some(sender)))
            }
            PortSocket::UnixDatagram(socket, _) => socket.recv(room).map(|count| (count, None)),
            PortSocket::Tcp(_) | PortSocket::Unix(..) => Err(ErrorKind::WouldBlock.into()),
        }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        if let PortSocket::Unix(_, path) | PortSocket::UnixDatagram(_, path) = &self.socket {
            // Where it can't be removed, the next start does it.
            let _removed = std::fs::remove_file(path);
        }
    }
}

fn tcp(address: SocketAddr, is_shared: bool) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if is_shared {
        socket.set_reuse_port(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(TcpListener::from_std(socket.into()))
}

fn udp(address: SocketAddr, is_shared: bool) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if is_shared {
        socket.set_reuse_port(true)?;
    }
    // A system that grants less drops earlier, and counts it.
    let _set = socket.set_recv_buffer_size(DATAGRAM_BUFFER_BYTES);
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(UdpSocket::from_std(socket.into()))
}

/// Removes a socket that nobody listens on any more: a process that was killed leaves it behind.
fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return Ok(()) };
    let is_in_use = std::os::unix::net::UnixStream::connect(path).is_ok()
        || std::os::unix::net::UnixDatagram::unbound()
            .and_then(|socket| socket.connect(path))
            .is_ok();
    if metadata.file_type().is_socket() && !is_in_use {
        return std::fs::remove_file(path);
    }
    Err(ErrorKind::AddrInUse.into())
}
