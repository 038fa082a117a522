//! Addresses: of the network, or of a socket in the file system. A name is looked up when it is
//! connected to, because what it stands for may move while the sidecar runs.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where to listen, or whom to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// `HOST:PORT`.
    Tcp(String),
    /// `unix:/PATH`.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path.is_empty() {
                true => Err(format!("{text:?} names no path")),
                false => Ok(Address::Unix(path.into())),
            };
        }
        let port = text.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
        match port {
            Some(Ok(_)) => Ok(Address::Tcp(text.to_owned())),
            _ => Err(format!("{text:?} is no HOST:PORT and no unix:/PATH")),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(text) => out.write_str(text),
            Address::Unix(path) => write!(out, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_of_the_network_or_of_the_file_system() {
        for text in ["127.0.0.1:6379", "redis.example:6379", "[::1]:6379", "unix:/run/redis.sock"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        for text in ["", "redis", "redis:", "redis:70000", "unix:"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
