//! A connection to somebody: of the network or of the file system, with or without TLS. One enum
//! instead of a trait object, so that the plain path costs no call through a table.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsStream;

/// A socket.
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A socket, or TLS over one.
pub(crate) enum Link {
    Plain(Socket),
    Tls(Box<TlsStream<Socket>>),
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            Socket::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Socket::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Unix(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

impl Link {
    /// Reads what is there into `buffer`: how many bytes; none at the end.
    pub(crate) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        let read = match self {
            Link::Plain(socket) => Pin::new(socket).poll_read(context, &mut buffer),
            Link::Tls(stream) => Pin::new(stream.as_mut()).poll_read(context, &mut buffer),
        };
        read.map_ok(|()| buffer.filled().len())
    }

    /// Writes some of these bytes: how many.
    pub(crate) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = match self {
            Link::Plain(socket) => Pin::new(socket).poll_write(context, bytes),
            Link::Tls(stream) => Pin::new(stream.as_mut()).poll_write(context, bytes),
        };
        match wrote {
            Poll::Ready(Ok(0)) => Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            other => other,
        }
    }

    /// Sends what TLS still holds.
    pub(crate) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Link::Plain(_) => Poll::Ready(Ok(())),
            Link::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(context),
        }
    }

    /// Says that nothing more is written.
    pub(crate) fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Link::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            Link::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(context),
        }
    }
}
