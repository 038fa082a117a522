//! What reads inside the raw field of a store, found in its catalogs before packing is switched on.
//!
//! An index on a member, a view, a trigger, a validator or a script goes on silently when the raw
//! field becomes null or an envelope: it just finds nothing. What a catalog can't show (queries in
//! applications, reports, exports) is named too, so that nobody takes an empty list for a proof.

use serde::Serialize;

use crate::address::{Address, without_client};
use crate::error::StoreError;

/// The most objects of one kind that are looked at: a catalog may have any number.
#[cfg(any(feature = "mongodb", feature = "redis", feature = "sql"))]
pub(crate) const OBJECTS_MAX: usize = 10_000;

/// The longest definition that is shown, in bytes.
#[cfg(any(feature = "mongodb", feature = "sql"))]
const SHOWN_BYTES_MAX: usize = 160;

/// How sure it is that something breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It reads inside the raw field, or does not let it become null.
    Breaks,
    /// Somebody who knows it has to look.
    Look,
}

/// Something that may read inside the raw field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// What it is: `index`, `view`, `trigger`, …
    pub kind: String,
    /// Its name in the store.
    pub name: String,
    /// How sure it is.
    pub effect: Effect,
    /// What would happen, and the definition where there is one.
    pub why: String,
}

/// What was found in one store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The store's name, without secrets.
    pub store: String,
    /// What is read inside of: a column, a field, or values of keys.
    pub place: String,
    /// When it would break.
    pub when: &'static str,
    /// What was found, the surest first.
    pub found: Vec<Found>,
    /// What could not be looked at, and why.
    pub unseen: Vec<String>,
}

/// When something breaks in a store that keeps both copies.
#[cfg(any(feature = "mongodb", feature = "sql"))]
pub(crate) const WITH_TWO_SLOTS: &str =
    "with write_mode = COMPRESS_ONLY (step packed-only): DUAL keeps the raw field";

/// When something breaks in a store with one slot.
#[cfg(feature = "redis")]
pub(crate) const WITH_ONE_SLOT: &str = "with write = packed (step first-read)";

/// Looks at the store of an address. It only reads catalogs.
///
/// # Errors
/// [`StoreError`], also for a store that has no such catalogs.
pub async fn preflight(text: &str) -> Result<Report, StoreError> {
    let address = Address::parse(text)?;
    let looked: Result<Report, StoreError> = match address.scheme() {
        #[cfg(feature = "sql")]
        "postgres" | "postgresql" | "mysql" | "mariadb" | "sqlite" => {
            crate::sql::look_inside(address.clone()).await
        }
        #[cfg(feature = "redis")]
        "redis" | "rediss" | "valkey" | "valkeys" | "redis+unix" | "unix" => {
            crate::redis::look_inside(address.clone()).await
        }
        #[cfg(feature = "mongodb")]
        "mongodb" | "mongodb+srv" => crate::mongodb::look_inside(address.clone()).await,
        "memory" | "kafka" => Err(address.bad("nothing in it reads inside of values")),
        scheme => Err(address.bad(&without_client(scheme))),
    };
    let mut report = looked.map_err(|error| address.scrub(error))?;
    report.found.sort_by(|a, b| (a.effect, &a.kind, &a.name).cmp(&(b.effect, &b.kind, &b.name)));
    Ok(report)
}

/// Whether a text has a name as a word of its own, in any case.
#[cfg(any(feature = "mongodb", feature = "sql"))]
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(&name).any(|(start, _)| {
            let before = text[..start].chars().next_back();
            let after = text[start + name.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

/// A definition in one line that is not longer than a line should be.
#[cfg(any(feature = "mongodb", feature = "sql"))]
pub(crate) fn short(definition: &str) -> String {
    let line = definition.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_BYTES_MAX) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

#[cfg(all(test, feature = "sql"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_its_own() {
        assert!(mentions("CREATE INDEX i ON t ((\"Cart\" ->> 'user'))", "cart"));
        assert!(mentions("cart", "cart"));
        assert!(!mentions("SELECT cart_id, mycart FROM shopping_cart", "cart"));
        assert!(mentions("cart_id + cart", "cart"));
    }
}
