//! What can go wrong with a store, told apart by what a caller does next: try again, ask another
//! copy, or tell somebody.

/// Why a store did not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// It can't be reached, closed the connection, or did not answer in time. A write may or may
    /// not have happened.
    #[error("{store} can't be reached: {message}")]
    Unreachable {
        /// The store's name, without secrets.
        store: String,
        /// The client's words.
        message: String,
    },
    /// It answered that it will not: rights, a full disk, a read-only replica, a wrong type.
    #[error("{store} refused: {message}")]
    Refused {
        /// The store's name, without secrets.
        store: String,
        /// The server's words.
        message: String,
    },
    /// What is stored under the key has not the shape that the configuration says.
    #[error("what {store} holds under {key:?} has another shape: {message}")]
    Shape {
        /// The store's name, without secrets.
        store: String,
        /// The key, with replacement characters where it is no text.
        key: String,
        /// What was found and what was expected.
        message: String,
    },
    /// The store can't do it at all: a time to live in a table without such a column, a key that
    /// is no text, a packed copy in a store with one slot.
    #[error("{store} can't {what}")]
    Unsupported {
        /// The store's name, without secrets.
        store: String,
        /// What was asked of it, as an infinitive.
        what: String,
    },
    /// A value or key is longer than the store or the limit takes.
    #[error("{what} of {got} bytes is over the limit of {limit} bytes")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
        /// Its length in bytes.
        got: usize,
    },
    /// The address or the configuration of the store is wrong.
    #[error("{0}")]
    Address(String),
}

impl StoreError {
    /// A store that can't do something, said as an infinitive.
    pub(crate) fn unsupported(store: &str, what: impl Into<String>) -> StoreError {
        StoreError::Unsupported { store: store.to_owned(), what: what.into() }
    }

    /// Something stored that has another shape than was configured.
    #[cfg(any(feature = "mongodb", feature = "redis", feature = "sql"))]
    pub(crate) fn shape(store: &str, key: &[u8], message: impl Into<String>) -> StoreError {
        let key = String::from_utf8_lossy(key).into_owned();
        StoreError::Shape { store: store.to_owned(), key, message: message.into() }
    }

    /// Whether the same call may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        matches!(self, StoreError::Unreachable { .. })
    }
}

/// What a client's error says, with what caused it, in one line.
#[cfg(any(feature = "kafka", feature = "mongodb", feature = "redis", feature = "sql"))]
pub(crate) fn in_one_line(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
