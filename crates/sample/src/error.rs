//! Why a store could not be sampled: one clear line each, with what to do next.
//!
//! No line may hold a password: addresses come in as text that hides it.

/// Why a store could not be sampled.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// The address can't be read.
    #[error("{address}: {reason}")]
    BadAddress {
        /// The address, without its password.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// This build has no client for the address.
    #[error(
        "{address}: this cinch was built without {feature}; build it with \
         `cargo build --release --package cinch-cli --features {feature}`"
    )]
    Disabled {
        /// The address, without its password.
        address: String,
        /// The cargo feature that brings the client.
        feature: &'static str,
    },
    /// There is no connection, or it broke.
    #[error("{address}: can't be reached: {reason}; {hint}")]
    Unreachable {
        /// The address, without its password.
        address: String,
        /// What the system or the client said.
        reason: String,
        /// What to do next.
        hint: String,
    },
    /// The server wants another name or password, or gives this user no right to read.
    #[error("{address}: {reason}; {hint}")]
    Authentication {
        /// The address, without its password.
        address: String,
        /// What the server said.
        reason: String,
        /// What to do next.
        hint: String,
    },
    /// The server does not take the query, or can't answer it.
    #[error("{address}: {reason}")]
    Query {
        /// The address, without its password.
        address: String,
        /// What the server said.
        reason: String,
    },
    /// There is nothing to take.
    #[error("{address}: nothing was found: {hint}")]
    NothingFound {
        /// The address, without its password.
        address: String,
        /// What to do next.
        hint: String,
    },
    /// There are values, and none of them is a payload.
    #[error("{address}: none of the {seen} values found can be taken ({reasons})")]
    NothingTaken {
        /// The address, without its password.
        address: String,
        /// How many values were read.
        seen: u64,
        /// Why they were refused, and how many for each reason.
        reasons: String,
    },
}

/// What a client's error says, with what caused it, in one line.
#[cfg(any(feature = "postgres", feature = "mysql", feature = "mongodb", feature = "sqlite"))]
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
    text.replace(['\r', '\n'], " ")
}
