//! The table of the kinds of address. Help texts, errors and the choice of the adapter follow from
//! it; adding a kind is one file and one row.

use crate::address::Address;
use crate::error::SampleError;
use crate::options::SampleOptions;
use crate::taker::Taker;

/// What reads a store: offers what it finds to the taker until that has enough or says stop.
pub type Read = fn(&Address, &SampleOptions, &mut Taker<'_>) -> Result<(), SampleError>;

/// A kind of address.
#[derive(Debug)]
pub struct Source {
    /// What its addresses begin with, without `://`.
    pub schemes: &'static [&'static str],
    /// The cargo feature that its client needs.
    pub feature: &'static str,
    /// One line for help texts.
    pub summary: &'static str,
    /// An address as a user would write it.
    pub example: &'static str,
    /// Its adapter, or what says that this build has none.
    pub read: Read,
}

/// Every kind of address that is known, whether this build has its client or not.
pub static SOURCES: &[Source] = &[
    Source {
        schemes: &["redis", "rediss", "valkey", "valkeys", "redis+unix", "unix"],
        feature: "redis",
        summary: "values of keys; members of hashes, lists, sets, sorted sets and streams",
        example: "redis://cache.example:6379/0",
        #[cfg(feature = "redis")]
        read: crate::redis::read,
        #[cfg(not(feature = "redis"))]
        read: disabled,
    },
    Source {
        schemes: &["mongodb", "mongodb+srv"],
        feature: "mongodb",
        summary: "documents of collections, as JSON",
        example: "mongodb://db.example/shop",
        #[cfg(feature = "mongodb")]
        read: crate::mongodb::read,
        #[cfg(not(feature = "mongodb"))]
        read: disabled,
    },
    Source {
        schemes: &["postgres", "postgresql"],
        feature: "postgres",
        summary: "the json, text and bytea values of tables",
        example: "postgres://reader@db.example/shop",
        #[cfg(feature = "postgres")]
        read: crate::postgres::read,
        #[cfg(not(feature = "postgres"))]
        read: disabled,
    },
    Source {
        schemes: &["mysql", "mariadb"],
        feature: "mysql",
        summary: "the json, text and blob values of tables",
        example: "mysql://reader@db.example/shop",
        #[cfg(feature = "mysql")]
        read: crate::mysql::read,
        #[cfg(not(feature = "mysql"))]
        read: disabled,
    },
    Source {
        schemes: &["sqlite"],
        feature: "sqlite",
        summary: "the text and blob values of tables",
        example: "sqlite:shop.db",
        #[cfg(feature = "sqlite")]
        read: crate::sqlite::read,
        #[cfg(not(feature = "sqlite"))]
        read: disabled,
    },
    Source {
        schemes: &["kafka"],
        feature: "kafka",
        summary: "the payloads of topics",
        example: "kafka://broker.example:9092/orders",
        #[cfg(feature = "kafka")]
        read: crate::kafka::read,
        #[cfg(not(feature = "kafka"))]
        read: disabled,
    },
];

/// The row of an address.
pub(crate) fn source_of(address: &Address) -> Result<&'static Source, SampleError> {
    SOURCES
        .iter()
        .find(|source| source.schemes.contains(&address.scheme()))
        .ok_or_else(|| unknown_scheme(address))
}

fn unknown_scheme(address: &Address) -> SampleError {
    let known: Vec<&str> = SOURCES.iter().flat_map(|source| source.schemes).copied().collect();
    SampleError::BadAddress {
        address: address.to_string(),
        reason: format!("nothing reads {}: there are {}", address.scheme(), known.join(", ")),
    }
}

/// The adapter of a row whose client is not in this build.
#[cfg(not(all(
    feature = "redis",
    feature = "kafka",
    feature = "mongodb",
    feature = "postgres",
    feature = "mysql",
    feature = "sqlite"
)))]
fn disabled(address: &Address, _: &SampleOptions, _: &mut Taker<'_>) -> Result<(), SampleError> {
    let source = source_of(address)?;
    Err(SampleError::Disabled { address: address.to_string(), feature: source.feature })
}
