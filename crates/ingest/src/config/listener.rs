//! Listeners: what is spoken where, and what one client may cost there. What does not go together,
//! as a datagram and a certificate, is refused with the line that asks for it.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;

use cinch_wire::forward::Secrets;
use rustls::ServerConfig;
use serde::Deserialize;
use toml::Spanned;

use super::choices::Transport;
use super::tls::TlsSection;
use super::{
    Bytes, Compression, ConfigError, DEFAULT_POOL, Lines, Protocol, pool_name, rate_limit,
};
use crate::limits::{BATCH_BYTES_MAX, CONNECTIONS_MAX, DATAGRAM_BYTES_MAX, RECORD_BYTES_MAX};

/// The shortest limit of records that may be asked for, in bytes.
const RECORD_BYTES_LEAST: usize = 16;

/// Where a listener listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// Connections over the network.
    Tcp(SocketAddr),
    /// Datagrams over the network.
    Udp(SocketAddr),
    /// Connections through a socket in the file system.
    Unix(PathBuf),
    /// Datagrams through a socket in the file system.
    UnixDatagram(PathBuf),
}

impl Address {
    /// Whether each datagram is one record.
    pub fn is_of_datagrams(&self) -> bool {
        matches!(self, Address::Udp(_) | Address::UnixDatagram(_))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Address::Tcp(address) | Address::Udp(address) => address.fmt(f),
            Address::Unix(path) | Address::UnixDatagram(path) => path.display().fmt(f),
        }
    }
}

/// A port that clients connect to, or send datagrams to.
#[derive(Debug, Clone)]
pub struct Listener {
    /// Its name in metrics.
    pub name: String,
    /// What is spoken on it.
    pub protocol: Protocol,
    /// Where it listens.
    pub address: Address,
    /// The pool of its records, for protocols that do not name one.
    pub pool: String,
    /// How clients compress the whole of what they send, if they do.
    pub compression: Option<Compression>,
    /// The longest record, in bytes. A connection that sends a longer one is closed and counted; a
    /// longer datagram is cut and counted.
    pub record_bytes_max: usize,
    /// The most connections; further ones are closed at once and counted.
    pub connections_max: usize,
    /// The most connections from one address of the network; further ones are closed at once and
    /// counted.
    pub client_connections_max: usize,
    /// The most bytes that are taken in a second from one address of the network, if they are
    /// limited.
    pub client_rate_limit: Option<NonZeroU64>,
    /// With what clients encrypt, if they do.
    pub tls: Option<Arc<ServerConfig>>,
    /// The files that `tls` was made of, by which two listeners are compared.
    tls_files: Option<TlsSection>,
    /// What senders of the forward protocol have to know, if anything.
    pub handshake: Option<Secrets>,
}

impl PartialEq for Listener {
    fn eq(&self, other: &Listener) -> bool {
        self.name == other.name
            && self.protocol == other.protocol
            && self.address == other.address
            && self.pool == other.pool
            && self.compression == other.compression
            && self.record_bytes_max == other.record_bytes_max
            && self.connections_max == other.connections_max
            && self.client_connections_max == other.client_connections_max
            && self.client_rate_limit == other.client_rate_limit
            && self.tls_files == other.tls_files
            && self.handshake == other.handshake
    }
}

impl Listener {
    /// Whether connections of this client are counted by its address.
    pub(crate) fn counts(&self, client: Option<IpAddr>) -> Option<IpAddr> {
        let is_limited =
            self.client_connections_max < self.connections_max || self.client_rate_limit.is_some();
        client.filter(|_| is_limited)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListenerSection {
    name: Option<String>,
    protocol: Spanned<Protocol>,
    address: Spanned<String>,
    transport: Option<Spanned<Transport>>,
    pool: Option<Spanned<String>>,
    compression: Option<Spanned<Compression>>,
    record_max: Option<Spanned<Bytes>>,
    connections_max: Option<usize>,
    client_connections_max: Option<usize>,
    client_rate_limit_bytes_per_second: Option<Spanned<Bytes>>,
    tls: Option<Spanned<TlsSection>>,
    handshake: Option<Spanned<HandshakeSection>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HandshakeSection {
    shared_key: String,
    hostname: Option<String>,
    #[serde(default)]
    users: BTreeMap<String, String>,
}

impl ListenerSection {
    pub(super) fn validate(self, lines: &Lines) -> Result<Listener, ConfigError> {
        let protocol = *self.protocol.as_ref();
        let transport = self.transport.as_ref().map_or(Transport::Tcp, |row| *row.as_ref());
        let address = self.address(transport, lines)?;
        self.check_together(&address, lines)?;
        let record_bytes_max = self.record_bytes_max(&address, lines)?;
        let pool = match (protocol.names_pool(), self.pool) {
            (true, Some(pool)) => {
                let message = "these clients name their pool themselves; remove this";
                return Err(lines.wrong(pool.span().start, message));
            }
            (true, None) => DEFAULT_POOL.to_owned(),
            (false, Some(pool)) => {
                pool_name(&pool, lines)?;
                pool.into_inner()
            }
            (false, None) => {
                let message = "lines name no pool; write pool = \"...\" for this listener";
                return Err(lines.wrong(self.protocol.span().start, message));
            }
        };
        let tls_files = self.tls.as_ref().map(|section| section.as_ref().clone());
        let tls = match self.tls {
            None => None,
            Some(section) => {
                let at = section.span().start;
                let config = section.into_inner().load(protocol);
                Some(config.map_err(|error| lines.wrong(at, error.to_string()))?)
            }
        };
        let handshake = match self.handshake {
            None => None,
            Some(section) => {
                let at = section.span().start;
                let section = section.into_inner();
                if section.shared_key.is_empty() {
                    return Err(lines.wrong(at, "shared_key is empty, which everybody knows"));
                }
                Some(section.secrets())
            }
        };
        let limit = self.client_rate_limit_bytes_per_second.as_ref();
        let client_rate_limit = limit.map(|limit| rate_limit(limit, lines)).transpose()?;
        let name = self.name.unwrap_or_else(|| address.to_string());
        let connections_max = self.connections_max.unwrap_or(CONNECTIONS_MAX);
        Ok(Listener {
            name,
            protocol,
            address,
            pool,
            compression: self.compression.map(Spanned::into_inner),
            record_bytes_max,
            connections_max,
            client_connections_max: self.client_connections_max.unwrap_or(connections_max),
            client_rate_limit,
            tls,
            tls_files,
            handshake,
        })
    }

    fn address(&self, transport: Transport, lines: &Lines) -> Result<Address, ConfigError> {
        let (text, at) = (self.address.as_ref(), self.address.span().start);
        let network = || {
            let message = "an address is written as 127.0.0.1:514 or [::]:514";
            text.parse::<SocketAddr>().map_err(|_| lines.wrong(at, message))
        };
        let path = || match text.contains('/') {
            true => Ok(PathBuf::from(text)),
            false => Err(lines.wrong(at, "of a unix socket this is the path of a file")),
        };
        Ok(match transport {
            Transport::Tcp => Address::Tcp(network()?),
            Transport::Udp => Address::Udp(network()?),
            Transport::Unix => Address::Unix(path()?),
            Transport::UnixDatagram => Address::UnixDatagram(path()?),
        })
    }

    /// What a transport or protocol has no place for.
    fn check_together(&self, address: &Address, lines: &Lines) -> Result<(), ConfigError> {
        let protocol = *self.protocol.as_ref();
        let at = self.protocol.span().start;
        if address.is_of_datagrams() && !protocol.fits_datagrams() {
            return Err(lines.wrong(at, "datagrams hold lines or syslog, nothing else"));
        }
        if let Some(compression) = &self.compression
            && (address.is_of_datagrams()
                || matches!(protocol, Protocol::Http | Protocol::OtlpGrpc))
        {
            let message = "this is for whole connections; remove it";
            return Err(lines.wrong(compression.span().start, message));
        }
        if let Some(limit) = &self.client_rate_limit_bytes_per_second
            && !matches!(address, Address::Tcp(_))
        {
            let message = "only clients with a connection and an address wait; limit the pool";
            return Err(lines.wrong(limit.span().start, message));
        }
        if let Some(tls) = &self.tls
            && !matches!(address, Address::Tcp(_))
        {
            return Err(lines.wrong(tls.span().start, "only transport = \"tcp\" has tls"));
        }
        if protocol == Protocol::OtlpGrpc && !matches!(address, Address::Tcp(_)) {
            return Err(lines.wrong(at, "gRPC is spoken over transport = \"tcp\" only"));
        }
        if let Some(handshake) = &self.handshake
            && protocol != Protocol::Forward
        {
            let message = "only protocol = \"forward\" has a handshake";
            return Err(lines.wrong(handshake.span().start, message));
        }
        Ok(())
    }

    fn record_bytes_max(&self, address: &Address, lines: &Lines) -> Result<usize, ConfigError> {
        let (default, most) = match address.is_of_datagrams() {
            true => (DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_MAX),
            false => (RECORD_BYTES_MAX, BATCH_BYTES_MAX),
        };
        let Some(asked) = &self.record_max else { return Ok(default) };
        match usize::try_from(asked.as_ref().0) {
            Ok(bytes) if (RECORD_BYTES_LEAST..=most).contains(&bytes) => Ok(bytes),
            _ => {
                let message = format!("a record has at most {RECORD_BYTES_LEAST} to {most} bytes");
                Err(lines.wrong(asked.span().start, message))
            }
        }
    }
}

impl HandshakeSection {
    fn secrets(self) -> Secrets {
        Secrets {
            shared_key: self.shared_key.into(),
            server_hostname: self.hostname.unwrap_or_else(|| "cinch".to_owned()).into(),
            users: Arc::new(self.users),
        }
    }
}
