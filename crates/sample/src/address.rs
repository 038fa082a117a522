//! Addresses of live stores: `scheme://user:password@host:port,host:port/path?name=value`.
//!
//! Drivers of databases parse the text once more by their own rules; what is parsed here is what
//! our messages and adapters need. Shown to people, an address never has its password.

use std::fmt;

use percent_encoding::percent_decode_str;

use crate::error::SampleError;

/// Stands where the password stood.
const HIDDEN: &str = "***";

/// Names of parameters whose values are secrets too.
const SECRET_PARAMETERS: [&str; 4] = ["password", "pass", "sslpassword", "authtoken"];

/// A host of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The name or the IP address, an IPv6 address without its brackets.
    pub name: String,
    /// The port, where one is given.
    pub port: Option<u16>,
}

/// The address of a live store.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    text: String,
    shown: String,
    scheme: String,
    user: Option<String>,
    password: Option<String>,
    hosts: Vec<Host>,
    path: String,
    parameters: Vec<(String, String)>,
}

/// Whether a source is an address and not a file or folder.
pub fn is_address(source: &str) -> bool {
    let Some((scheme, rest)) = source.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme && (rest.starts_with("//") || is_known_without_slashes(scheme))
}

/// SQLite's addresses are paths and commonly written without slashes.
fn is_known_without_slashes(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("sqlite")
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// [`SampleError::BadAddress`] where it is none, names a scheme that nothing reads, or has a
    /// port that is no number.
    pub fn parse(text: &str) -> Result<Address, SampleError> {
        let bad = |reason: &str| SampleError::BadAddress {
            address: hide(text),
            reason: reason.to_owned(),
        };
        if !is_address(text) {
            return Err(bad("is no address: write scheme://host:port/name"));
        }
        let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let scheme = scheme.to_ascii_lowercase();
        let (authority, path) = match rest.find('/') {
            // A path to a file has no host before it.
            _ if is_known_without_slashes(&scheme) => ("", rest),
            Some(position) => rest.split_at(position),
            None => (rest, ""),
        };
        let (credentials, hosts) = match authority.rsplit_once('@') {
            Some((credentials, hosts)) => (Some(credentials), hosts),
            None => (None, authority),
        };
        let (user, password) = match credentials.map(|both| both.split_once(':').ok_or(both)) {
            None => (None, None),
            Some(Err(user)) => (Some(user), None),
            Some(Ok((user, password))) => (Some(user), Some(password)),
        };
        let hosts = hosts.split(',').filter(|host| !host.is_empty()).map(host);
        let hosts = hosts.collect::<Option<_>>().ok_or_else(|| bad("a port is no number"))?;
        let parameters = parameters.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        });
        let address = Address {
            text: text.to_owned(),
            shown: hide(text),
            user: user.filter(|user| !user.is_empty()).map(decode),
            password: password.map(decode),
            hosts,
            path: decode(path),
            parameters: parameters.collect(),
            scheme,
        };
        crate::sources::source_of(&address)?;
        Ok(address)
    }

    /// The address as it was given, with its password. Never for people.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it begins with, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The user.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The password.
    pub fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// The hosts, in the order given; none for a file.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The path, with the slash that it starts with; for `sqlite:` the path of the file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value of a parameter behind `?`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// The address without its password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Without the password too: what is debugged ends in logs.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.shown)
    }
}

fn host(text: &str) -> Option<Host> {
    let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, rest)) => (name, rest.strip_prefix(':')),
        None => match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        None | Some("") => None,
        Some(digits) => Some(digits.parse().ok()?),
    };
    Some(Host { name: decode(name), port })
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The text of an address without what is secret in it. It need not be a sound address.
fn hide(text: &str) -> String {
    let (before, parameters) = match text.split_once('?') {
        Some((before, parameters)) => (before, Some(parameters)),
        None => (text, None),
    };
    let mut shown = match before.rsplit_once('@') {
        Some((start, hosts)) => {
            let (scheme, credentials) = start.split_once("://").unwrap_or(("", start));
            let slashes = if start.contains("://") { "://" } else { "" };
            match credentials.split_once(':') {
                Some((user, _)) => format!("{scheme}{slashes}{user}:{HIDDEN}@{hosts}"),
                None => before.to_owned(),
            }
        }
        None => before.to_owned(),
    };
    for (number, pair) in parameters.into_iter().flat_map(|all| all.split('&')).enumerate() {
        shown.push(if number == 0 { '?' } else { '&' });
        let name = pair.split_once('=').map_or(pair, |(name, _)| name);
        if SECRET_PARAMETERS.contains(&name.to_ascii_lowercase().as_str()) {
            shown.push_str(&format!("{name}={HIDDEN}"));
        } else {
            shown.push_str(pair);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::SOURCES;

    #[test]
    fn addresses_are_told_from_files() {
        for source in SOURCES {
            assert!(is_address(source.example), "{}", source.example);
            assert!(Address::parse(source.example).is_ok(), "{}", source.example);
        }
        assert!(is_address("s3://bucket/key"));
        for file in ["-", "carts.ndjson", "carts/", "a:b", "./redis://x", "/a:/b", "", "://"] {
            assert!(!is_address(file), "{file}");
        }
    }

    #[test]
    fn the_parts_are_found() {
        let text = "kafka://me%40home:pa%3Ass@[::1]:9093,b,c:1/orders?tls=true&x";
        let address = Address::parse(text).unwrap();
        assert_eq!((address.user(), address.password()), (Some("me@home"), Some("pa:ss")));
        let hosts: Vec<_> = address.hosts().iter().map(|h| (h.name.as_str(), h.port)).collect();
        assert_eq!(hosts, [("::1", Some(9093)), ("b", None), ("c", Some(1))]);
        assert_eq!(address.path(), "/orders");
        assert_eq!((address.parameter("tls"), address.parameter("x")), (Some("true"), Some("")));
        assert_eq!(address.parameter("y"), None);
        assert_eq!(Address::parse("sqlite:/a/b.db").unwrap().path(), "/a/b.db");
        assert_eq!(Address::parse("sqlite://b.db").unwrap().path(), "b.db");
    }

    #[test]
    fn passwords_are_never_shown() {
        for text in [
            "redis://:secret@host/0",
            "redis://user:se:secret@host:1/0",
            "redis://user:p@secret@host",
            "postgres://host/db?user=x&password=secret&sslmode=require",
            "nothing://user:secret@host",
            "redis://user:secret@host:port",
        ] {
            match Address::parse(text) {
                Ok(address) => {
                    let shown = format!("{address} {address:?}");
                    assert!(!shown.contains("secret"), "{shown}");
                    assert!(shown.contains("host"), "{shown}");
                }
                Err(error) => assert!(!error.to_string().contains("secret"), "{error}"),
            }
        }
    }
}
