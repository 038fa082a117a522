//! What a connection is carried by: a socket of the network, one of the file system, or TLS over
//! the former. None of them ever waits, and all of them give what they have in one read.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use rustls::ServerConnection;
use socket2::SockRef;

use super::ports::Stream;
use crate::config::Listener;
use crate::limits::READ_BYTES_MAX;

/// The most encrypted bytes that are taken at once. What they hold fits a read's room together with
/// the end of a TLS record that came before.
const ENCRYPTED_BYTES: usize = READ_BYTES_MAX / 2;

/// What carries a connection.
pub(super) enum Transport {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<Tls>),
}

/// What a read gave.
pub(super) enum Got {
    /// So many bytes, none perhaps. `is_dry` says that the socket is empty, and that an event tells
    /// when it is not any more.
    Bytes { count: usize, is_dry: bool },
    /// The other side has ended the connection.
    End,
}

/// TLS over a socket of the network.
pub(super) struct Tls {
    stream: TcpStream,
    session: ServerConnection,
}

impl Transport {
    /// What carries connections of this listener.
    pub(super) fn new(stream: Stream, listener: &Listener) -> Result<Transport, rustls::Error> {
        Ok(match (stream, &listener.tls) {
            (Stream::Unix(stream), _) => Transport::Unix(stream),
            (Stream::Tcp(stream), None) => Transport::Tcp(stream),
            (Stream::Tcp(stream), Some(config)) => {
                let session = ServerConnection::new(Arc::clone(config))?;
                Transport::Tls(Box::new(Tls { stream, session }))
            }
        })
    }

    /// The room that a read needs, if a particular one.
    pub(super) fn room_least(&self) -> Option<usize> {
        matches!(self, Transport::Tls(_)).then_some(READ_BYTES_MAX)
    }

    pub(super) fn source(&mut self) -> &mut dyn Source {
        match self {
            Transport::Tcp(stream) => stream,
            Transport::Unix(stream) => stream,
            Transport::Tls(tls) => &mut tls.stream,
        }
    }

    /// Reads as much as there is room for.
    pub(super) fn read(&mut self, room: &mut [u8], scratch: &mut [u8]) -> io::Result<Got> {
        let count = match self {
            Transport::Tcp(stream) => stream.read(room)?,
            Transport::Unix(stream) => stream.read(room)?,
            Transport::Tls(tls) => return tls.read(room, &mut scratch[..ENCRYPTED_BYTES]),
        };
        let is_dry = count < room.len();
        Ok(if count == 0 { Got::End } else { Got::Bytes { count, is_dry } })
    }

    /// Reads bytes as they come over the network.
    pub(super) fn read_raw(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Transport::Tcp(stream) => stream.read(room),
            Transport::Unix(stream) => stream.read(room),
            Transport::Tls(tls) => tls.stream.read(room),
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Transport::Tcp(stream) => stream.write(bytes),
            Transport::Unix(stream) => stream.write(bytes),
            Transport::Tls(tls) => {
                let count = tls.session.writer().write(bytes)?;
                tls.flush()?;
                if count == 0 { Err(ErrorKind::WouldBlock.into()) } else { Ok(count) }
            }
        }
    }

    /// Sends what is encrypted and was not sent yet, as far as the socket takes it.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Transport::Tcp(_) | Transport::Unix(_) => Ok(()),
            Transport::Tls(tls) => tls.flush(),
        }
    }

    /// Says that nothing more is sent.
    pub(super) fn end(&mut self) {
        // Whoever does not hear it any more has gone.
        let _ended = match self {
            Transport::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Transport::Unix(stream) => stream.shutdown(Shutdown::Write),
            Transport::Tls(tls) => {
                tls.session.send_close_notify();
                tls.flush().and_then(|()| tls.stream.shutdown(Shutdown::Write))
            }
        };
    }

    /// Whether the TLS handshake is not over.
    pub(super) fn is_shaking_hands(&self) -> bool {
        matches!(self, Transport::Tls(tls) if tls.session.is_handshaking())
    }

    pub(super) fn quick_acknowledgements(&self) {
        match self {
            Transport::Tcp(stream) => quick_acknowledgements(stream),
            Transport::Tls(tls) => quick_acknowledgements(&tls.stream),
            Transport::Unix(_) => {}
        }
    }
}

impl Tls {
    fn read(&mut self, room: &mut [u8], scratch: &mut [u8]) -> io::Result<Got> {
        let arrived = self.stream.read(scratch)?;
        if arrived == 0 {
            return Ok(Got::End);
        }
        let (mut encrypted, mut count) = (&scratch[..arrived], 0);
        while !encrypted.is_empty() {
            if self.session.read_tls(&mut encrypted)? == 0 {
                break;
            }
            if let Err(error) = self.session.process_new_packets() {
                // The other side is told what was wrong, if it still listens.
                let _told = self.flush();
                return Err(io::Error::new(ErrorKind::InvalidData, error));
            }
            count += self.decrypted(&mut room[count..])?;
        }
        self.flush()?;
        Ok(Got::Bytes { count, is_dry: arrived < scratch.len() })
    }

    /// Takes what was decrypted.
    fn decrypted(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        while count < room.len() {
            match self.session.reader().read(&mut room[count..]) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut self.stream) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Asks the system to acknowledge what comes next at once.
pub(super) fn quick_acknowledgements(stream: &TcpStream) {
    // Where it fails, acknowledgements are a little later.
    #[cfg(target_os = "linux")]
    let _set = SockRef::from(stream).set_tcp_quickack(true);
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
}
