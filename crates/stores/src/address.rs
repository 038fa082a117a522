//! Opens a store by its address: `scheme://user:password@host:port/path?name=value`.
//!
//! The parameters behind `?` are ours, such as the names of columns and fields, or those of the
//! client, of which each adapter lists the ones it hands on: a misspelt name is an error and not a
//! setting that silently does nothing. What is shown to people never has user, password or
//! parameters.

use percent_encoding::percent_decode_str;

use crate::error::StoreError;
use crate::memory::MemoryStore;
use crate::store::{Slots, Store};

/// A kind of address.
#[derive(Debug)]
pub struct Kind {
    /// What its addresses begin with, without `:`.
    pub schemes: &'static [&'static str],
    /// The cargo feature that its client needs; none for what is always there.
    pub feature: Option<&'static str>,
    /// One line for help texts.
    pub summary: &'static str,
    /// An address as a user would write it.
    pub example: &'static str,
}

/// Every kind of address that is known, whether this build has its client or not.
pub static KINDS: &[Kind] = &[
    Kind {
        schemes: &["memory"],
        feature: None,
        summary: "records in memory, gone with the process",
        example: "memory:?slots=two",
    },
    Kind {
        schemes: &["redis", "rediss", "valkey", "valkeys", "redis+unix", "unix"],
        feature: Some("redis"),
        summary: "string values of keys, on one server or a cluster",
        example: "redis://cache.example:6379/0",
    },
    Kind {
        schemes: &["mongodb", "mongodb+srv"],
        feature: Some("mongodb"),
        summary: "documents of a collection in the published shape",
        example: "mongodb://db.example/shop.carts?key=user&raw=cart",
    },
    Kind {
        schemes: &["postgres", "postgresql"],
        feature: Some("sql"),
        summary: "rows of a table",
        example: "postgres://app@db.example/shop?table=carts&key=id&raw=cart",
    },
    Kind {
        schemes: &["mysql", "mariadb"],
        feature: Some("sql"),
        summary: "rows of a table",
        example: "mysql://app@db.example/shop?table=carts&key=id&raw=cart",
    },
    Kind {
        schemes: &["sqlite"],
        feature: Some("sql"),
        summary: "rows of a table in a file",
        example: "sqlite:shop.db?table=carts&key=id&raw=cart",
    },
];

/// The address of a store, with what is secret in it.
#[derive(Clone)]
pub struct Address {
    scheme: String,
    /// Everything between the slashes and the path, as it was written.
    #[cfg(any(feature = "kafka", feature = "mongodb", feature = "redis", feature = "sql"))]
    authority: String,
    hosts: String,
    path: String,
    parameters: Vec<(String, String)>,
    secrets: Vec<String>,
}

/// Opens the store of an address.
///
/// # Errors
/// [`StoreError::Address`] where it is none, or this build has no client for it, or the table or
/// collection is not as the parameters say; [`StoreError::Unreachable`] and
/// [`StoreError::Refused`] from the server.
pub async fn open(text: &str) -> Result<Box<dyn Store>, StoreError> {
    let address = Address::parse(text)?;
    let opened = match address.scheme() {
        "memory" => open_memory(address.clone()),
        #[cfg(feature = "redis")]
        "redis" | "rediss" | "valkey" | "valkeys" | "redis+unix" | "unix" => {
            boxed(crate::redis::RedisStore::open(address.clone()).await)
        }
        #[cfg(feature = "mongodb")]
        "mongodb" | "mongodb+srv" => boxed(crate::mongodb::MongoStore::open(address.clone()).await),
        #[cfg(feature = "sql")]
        "postgres" | "postgresql" | "mysql" | "mariadb" | "sqlite" => {
            boxed(crate::sql::SqlStore::open(address.clone()).await)
        }
        "kafka" => Err(address.bad(
            "a topic is a log and no store of records under keys; see KafkaTopic for its records",
        )),
        scheme => Err(address.bad(&without_client(scheme))),
    };
    opened.map_err(|error| address.scrub(error))
}

#[cfg(any(feature = "redis", feature = "mongodb", feature = "sql"))]
fn boxed<S: Store + 'static>(opened: Result<S, StoreError>) -> Result<Box<dyn Store>, StoreError> {
    opened.map(|store| Box::new(store) as Box<dyn Store>)
}

fn open_memory(mut address: Address) -> Result<Box<dyn Store>, StoreError> {
    let slots = match address.take("slots").as_deref() {
        None | Some("two") => Slots::Two,
        Some("one") => Slots::One,
        Some(_) => return Err(address.bad("slots is one or two")),
    };
    address.only_known(&["slots"], &[])?;
    Ok(Box::new(MemoryStore::new(slots)))
}

pub(crate) fn without_client(scheme: &str) -> String {
    let kind = KINDS.iter().find(|kind| kind.schemes.contains(&scheme));
    match kind.and_then(|kind| kind.feature) {
        Some(feature) => {
            format!("this build has no client for it; build with --features {feature}")
        }
        None => {
            let known: Vec<&str> = KINDS.iter().flat_map(|kind| kind.schemes).copied().collect();
            format!("no store is called {scheme}:; there are {}", known.join(", "))
        }
    }
}

impl Address {
    /// Takes an address apart.
    ///
    /// # Errors
    /// [`StoreError::Address`] where it is none, or names a parameter twice.
    pub fn parse(text: &str) -> Result<Address, StoreError> {
        let none = "this is no address of a store: write scheme://host:port/name";
        let (scheme, rest) =
            text.split_once(':').ok_or_else(|| StoreError::Address(none.to_owned()))?;
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        if !is_scheme {
            return Err(StoreError::Address(none.to_owned()));
        }
        let scheme = scheme.to_ascii_lowercase();
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
        let is_file = scheme == "sqlite" || scheme == "memory";
        let (authority, path) = match before.find('/') {
            // A path to a file has no host before it.
            _ if is_file => ("", before),
            Some(position) => before.split_at(position),
            None => (before, ""),
        };
        let (credentials, hosts) = match authority.rsplit_once('@') {
            Some((credentials, hosts)) => (credentials, hosts),
            None => ("", authority),
        };
        let mut secrets = Vec::new();
        if let Some((_, password)) = credentials.split_once(':') {
            secrets.extend([password.to_owned(), decode(password)]);
        }
        let mut parameters: Vec<(String, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name), decode(value));
            if name.to_ascii_lowercase().contains("pass") || name == "sslkey" {
                secrets.push(value.clone());
            }
            if parameters.iter().any(|(other, _)| *other == name) {
                return Err(StoreError::Address(format!("{scheme}: {name} is given twice")));
            }
            parameters.push((name, value));
        }
        secrets.retain(|secret| !secret.is_empty());
        Ok(Address {
            #[cfg(any(
                feature = "kafka",
                feature = "mongodb",
                feature = "redis",
                feature = "sql"
            ))]
            authority: authority.to_owned(),
            hosts: hosts.to_owned(),
            path: decode(path),
            parameters,
            secrets,
            scheme,
        })
    }

    /// What it begins with, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Everything that may be shown: the scheme, the hosts and the path.
    pub fn shown(&self) -> String {
        // A password with a slash in it makes a path of its end, up to the sign before the host.
        let path = self.path.rsplit('@').next().unwrap_or_default();
        match self.scheme.as_str() {
            "sqlite" | "memory" => format!("{}:{}", self.scheme, self.path),
            scheme if path == self.path => format!("{scheme}://{}{path}", self.hosts),
            scheme => format!("{scheme}://{path}"),
        }
    }

    /// An error about this address.
    pub(crate) fn bad(&self, message: &str) -> StoreError {
        StoreError::Address(format!("{}: {message}", self.shown()))
    }

    /// Takes the value of one of our parameters.
    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        let position = self.parameters.iter().position(|(found, _)| found == name)?;
        Some(self.parameters.swap_remove(position).1)
    }

    /// Refuses parameters that are left over and that the client does not know either.
    pub(crate) fn only_known(&self, ours: &[&str], clients: &[&str]) -> Result<(), StoreError> {
        let unknown = self.parameters.iter().find(|(name, _)| !clients.contains(&name.as_str()));
        match unknown {
            None => Ok(()),
            Some((name, _)) => {
                let known: Vec<&str> = ours.iter().chain(clients).copied().collect();
                let known = known.join(", ");
                Err(self.bad(&format!("there is no parameter {name}; there are {known}")))
            }
        }
    }

    /// An error without what is secret in the address: clients quote what they were given.
    pub(crate) fn scrub(&self, error: StoreError) -> StoreError {
        let hide = |mut text: String| {
            for secret in &self.secrets {
                text = text.replace(secret, "***");
            }
            text
        };
        match error {
            StoreError::Unreachable { store, message } => {
                StoreError::Unreachable { store, message: hide(message) }
            }
            StoreError::Refused { store, message } => {
                StoreError::Refused { store, message: hide(message) }
            }
            StoreError::Address(message) => StoreError::Address(hide(message)),
            other => other,
        }
    }
}

#[cfg(any(feature = "kafka", feature = "mongodb", feature = "redis", feature = "sql"))]
impl Address {
    /// The path without the slash that it starts with; for files as it is.
    pub(crate) fn path(&self) -> &str {
        match self.scheme.as_str() {
            "sqlite" => &self.path,
            _ => self.path.strip_prefix('/').unwrap_or(&self.path),
        }
    }

    /// Takes a whole number.
    pub(crate) fn take_number(&mut self, name: &str, default: u64) -> Result<u64, StoreError> {
        match self.take(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| self.bad(&format!("{name} is a whole number"))),
        }
    }

    /// The user and the password, where both are given.
    #[cfg(feature = "kafka")]
    pub(crate) fn login(&self) -> Option<(String, String)> {
        let (credentials, _) = self.authority.rsplit_once('@')?;
        let (user, password) = credentials.split_once(':')?;
        Some((decode(user), decode(password)))
    }

    /// The address for a client: one host or all, a path, and what parameters are left.
    #[cfg(any(feature = "mongodb", feature = "redis", feature = "sql"))]
    pub(crate) fn for_client(&self, scheme: &str, hosts: Option<&str>, path: &str) -> String {
        let authority = match (hosts, self.authority.rsplit_once('@')) {
            (None, _) => self.authority.clone(),
            (Some(hosts), None) => hosts.to_owned(),
            (Some(hosts), Some((credentials, _))) => format!("{credentials}@{hosts}"),
        };
        let path: Vec<String> = path.split('/').map(encode).collect();
        let mut url = format!("{scheme}://{authority}/{}", path.join("/"));
        for (number, (name, value)) in self.parameters.iter().enumerate() {
            url.push(if number == 0 { '?' } else { '&' });
            url.push_str(&format!("{}={}", encode(name), encode(value)));
        }
        url
    }

    /// The hosts, separated by commas.
    pub(crate) fn hosts(&self) -> &str {
        &self.hosts
    }
}

#[cfg(any(feature = "mongodb", feature = "redis", feature = "sql"))]
fn encode(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// Without what is secret: what is debugged ends in logs.
impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Address({})", self.shown())
    }
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn failure(text: &str) -> String {
        match open(text).await {
            Ok(store) => panic!("{} was opened", store.name()),
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test]
    async fn memory_opens_and_misspelt_parameters_do_not() {
        assert_eq!(open("memory:?slots=one").await.unwrap().shape().slots, Slots::One);
        assert_eq!(open("memory:").await.unwrap().shape().slots, Slots::Two);
        assert!(failure("memory:?slot=one").await.contains("no parameter slot; there are slots"));
        assert!(failure("memory:?slots=three").await.contains("one or two"));
        assert!(failure("memory:?slots=one&slots=two").await.contains("twice"));
        assert!(failure("s3://bucket").await.contains("no store is called s3:"));
        assert!(failure("carts.db").await.contains("no address"));
        assert!(failure("kafka://broker/orders").await.contains("a topic is a log"));
    }

    #[tokio::test]
    async fn no_error_holds_a_secret() {
        for text in [
            "redis://:secret@host.invalid:port/0",
            "postgres://user:se:secret@host.invalid:1/db?tabel=x",
            "mysql://user:p@secret@host.invalid:1/db?tabel=x",
            "mongodb://user:secret@host.invalid",
            "mongodb://user:se/secret@host.invalid/db.c?x=1",
            "postgres://host.invalid:port/db?password=secret",
            "nothing://user:secret@host.invalid",
            "user:secret@host.invalid",
        ] {
            let said = failure(text).await;
            assert!(!said.contains("secret"), "{text}: {said}");
        }
    }

    #[test]
    fn every_example_is_an_address() {
        for kind in KINDS {
            let address = Address::parse(kind.example).unwrap();
            assert!(kind.schemes.contains(&address.scheme()), "{}", kind.example);
        }
    }
}
