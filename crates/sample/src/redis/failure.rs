//! What the client's errors mean to the user, and what to do about them.
//! One table, so that the same trouble reads the same from every command.

use redis::{ErrorKind, RedisError};

use crate::address::Address;
use crate::error::SampleError;

/// The error for the user.
pub(super) fn explain(address: &Address, error: &RedisError) -> SampleError {
    let (address, scheme) = (address.to_string(), address.scheme());
    let reason = error.detail().map_or_else(|| error.to_string(), str::to_owned);
    let code = error.code().unwrap_or_default();
    if error.kind() == ErrorKind::InvalidClientConfig {
        return SampleError::BadAddress { address, reason: error.to_string() };
    }
    if error.kind() == ErrorKind::AuthenticationFailed || ["NOAUTH", "WRONGPASS"].contains(&code) {
        return SampleError::Authentication {
            address,
            reason: format!("the server refuses the name or password ({})", one_line(&reason)),
            hint: "write them in the address: redis://user:password@host".to_owned(),
        };
    }
    if code == "NOPERM" {
        return SampleError::Authentication {
            address,
            reason: format!("this user may not read ({})", one_line(&reason)),
            hint: "it needs the rights `+@read ~*`, as ACL SETUSER gives them".to_owned(),
        };
    }
    if error.is_io_error() || error.is_connection_dropped() || error.is_timeout() {
        let is_secure = scheme == "rediss" || scheme == "valkeys";
        let hint = if error.is_connection_refusal() {
            "is the server running, and is the port right?"
        } else if is_secure {
            "does the server speak TLS here, with a certificate that this machine trusts?"
        } else if error.is_timeout() {
            "is a firewall in between, or is the server busy?"
        } else {
            "is the name right, and does the server want TLS (rediss://)?"
        };
        let reason =
            if error.is_timeout() { "no answer in time".to_owned() } else { error.to_string() };
        return SampleError::Unreachable {
            address,
            reason: one_line(&reason),
            hint: hint.to_owned(),
        };
    }
    SampleError::Query { address, reason: format!("the server says: {}", one_line(&reason)) }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
