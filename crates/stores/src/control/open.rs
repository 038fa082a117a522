//! Opens the control plane by the address of a store.
//!
//! A database gets a table for it, `cinch_control`, unless the address names one; the tables of
//! payloads are never touched.

use std::sync::Arc;

use super::{Control, ControlError};
use crate::address::{Address, open};
use crate::error::StoreError;

impl Control {
    /// Opens the control plane of an address. With `creates`, a database gets the table where it
    /// has none.
    ///
    /// # Errors
    /// [`ControlError::Store`]; also for `memory:`, which nobody else could see.
    pub async fn open(text: &str, creates: bool) -> Result<Control, ControlError> {
        let address = Address::parse(text)?;
        if address.scheme() == "memory" {
            let why = "memory: is no control store: no other process sees it";
            return Err(StoreError::Address(why.to_owned()).into());
        }
        let is_sql =
            ["postgres", "postgresql", "mysql", "mariadb", "sqlite"].contains(&address.scheme());
        let store = match is_sql && !names_table(text) {
            true => open_own(text, address, creates).await?,
            false => open(text).await?,
        };
        Ok(Control::new(Arc::from(store)))
    }
}

fn names_table(text: &str) -> bool {
    let query = text.split_once('?').map_or("", |(_, query)| query);
    query.split('&').any(|pair| pair.starts_with("table="))
}

#[cfg(feature = "sql")]
async fn open_own(
    text: &str,
    address: Address,
    creates: bool,
) -> Result<Box<dyn crate::Store>, StoreError> {
    let own = crate::sql::OWN_TABLE;
    let separator = if text.contains('?') { '&' } else { '?' };
    let full = format!("{text}{separator}{own}");
    match open(&full).await {
        Ok(store) => Ok(store),
        Err(_) if creates => {
            // Another process may be making it in this moment, which some databases refuse.
            let created = crate::sql::SqlStore::create_own_table(address).await;
            match (open(&full).await, created) {
                (Err(_), Err(error)) => Err(error),
                (opened, _) => opened,
            }
        }
        Err(StoreError::Unreachable { store, message }) => {
            Err(StoreError::Unreachable { store, message })
        }
        Err(error) => Err(StoreError::Address(format!(
            "{error} (the first `cinch rollout advance`, or any process of the fleet, makes it)"
        ))),
    }
}

#[cfg(not(feature = "sql"))]
async fn open_own(
    text: &str,
    _address: Address,
    _creates: bool,
) -> Result<Box<dyn crate::Store>, StoreError> {
    // It says which feature is missing.
    open(text).await
}
