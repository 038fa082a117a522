//! The shared-key handshake of the forward protocol: the server says HELO with a nonce, the sender
//! proves with PING that it knows the key, and the server proves the same with PONG. The digests
//! are SHA-512 in hexadecimal digits, as the protocol fixes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha512};

use crate::msgpack::{MsgpackError, Reader, Token, push_binary, push_text};

/// What a server knows and its senders must too.
#[derive(Clone, PartialEq)]
pub struct Secrets {
    /// The key that all of them share.
    pub shared_key: Arc<str>,
    /// The server's name, which it tells in its answer.
    pub server_hostname: Arc<str>,
    /// Names and passwords, of which a sender must know one. Empty: the key is enough.
    pub users: Arc<BTreeMap<String, String>>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets")
            .field("server_hostname", &self.server_hostname)
            .finish_non_exhaustive()
    }
}

/// Why a sender is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// It sent something else than a PING.
    #[error("the sender did not answer the handshake")]
    NoPing,
    /// Its digest is not that of the shared key.
    #[error("the sender does not know the shared key")]
    SharedKey,
    /// User and password are not known.
    #[error("the user or the password is wrong")]
    User,
}

/// A handshake that waits for its PING.
#[derive(Debug, Clone)]
pub(super) struct Handshake {
    secrets: Secrets,
    nonce: [u8; 16],
}

/// The fields of a PING behind its name.
struct Ping<'a> {
    client_hostname: &'a [u8],
    salt: &'a [u8],
    digest: &'a [u8],
    user: &'a [u8],
    password_digest: &'a [u8],
}

impl Handshake {
    pub(super) fn begin(secrets: Secrets, nonce: [u8; 16], answer: &mut Vec<u8>) -> Handshake {
        let handshake = Handshake { secrets, nonce };
        answer.push(0x92);
        push_text(b"HELO", answer);
        answer.push(0x83);
        push_text(b"nonce", answer);
        push_binary(&nonce, answer);
        push_text(b"auth", answer);
        push_binary(handshake.password_salt().as_deref().unwrap_or_default(), answer);
        push_text(b"keepalive", answer);
        answer.push(0xC3);
        handshake
    }

    /// Checks the PING and appends the PONG.
    pub(super) fn check(&self, value: &[u8], answer: &mut Vec<u8>) -> Result<(), HandshakeError> {
        let ping = Ping::read(value).map_err(|_| HandshakeError::NoPing)?;
        let verdict = self.verdict(&ping);
        let hostname = self.secrets.server_hostname.as_bytes();
        answer.push(0x95);
        push_text(b"PONG", answer);
        answer.push(if verdict.is_ok() { 0xC3 } else { 0xC2 });
        push_text(
            verdict.err().map_or(String::new(), |error| error.to_string()).as_bytes(),
            answer,
        );
        // Who is not let in learns nothing that is made of the key.
        if verdict.is_ok() {
            push_text(hostname, answer);
            push_text(&self.key_digest(ping.salt, hostname), answer);
        } else {
            push_text(b"", answer);
            push_text(b"", answer);
        }
        verdict
    }

    fn verdict(&self, ping: &Ping<'_>) -> Result<(), HandshakeError> {
        if !is_same(&self.key_digest(ping.salt, ping.client_hostname), ping.digest) {
            return Err(HandshakeError::SharedKey);
        }
        let Some(salt) = self.password_salt() else { return Ok(()) };
        let user = str::from_utf8(ping.user).ok();
        let password = user.and_then(|user| self.secrets.users.get(user));
        // A user that is unknown takes as long as one that is known.
        let expected = digest(&[
            &salt[..],
            ping.user,
            password.map_or(&[][..], |password| password.as_bytes()),
        ]);
        let is_right = is_same(&expected, ping.password_digest) && password.is_some();
        if is_right { Ok(()) } else { Err(HandshakeError::User) }
    }

    fn key_digest(&self, salt: &[u8], hostname: &[u8]) -> Vec<u8> {
        digest(&[salt, hostname, &self.nonce, self.secrets.shared_key.as_bytes()])
    }

    /// The salt of password digests: made of the nonce, so that the caller supplies one random
    /// value; `None` where no user is asked for.
    fn password_salt(&self) -> Option<Vec<u8>> {
        let has_users = !self.secrets.users.is_empty();
        has_users.then(|| Sha512::digest(self.nonce)[..16].to_vec())
    }
}

impl<'a> Ping<'a> {
    fn read(value: &'a [u8]) -> Result<Ping<'a>, MsgpackError> {
        let unexpected = MsgpackError::Unexpected("it is no PING");
        let mut reader = Reader::new(value);
        let mut texts = [&[][..]; 6];
        if reader.token()? != Token::Array(6) {
            return Err(unexpected);
        }
        for text in &mut texts {
            *text = match reader.token()? {
                Token::Text(bytes) | Token::Binary(bytes) => bytes,
                _ => return Err(unexpected),
            };
        }
        let [name, client_hostname, salt, digest, user, password_digest] = texts;
        if name != b"PING" {
            return Err(unexpected);
        }
        Ok(Ping { client_hostname, salt, digest, user, password_digest })
    }
}

/// SHA-512 over the parts in a row, in hexadecimal digits.
fn digest(parts: &[&[u8]]) -> Vec<u8> {
    let mut hash = Sha512::new();
    parts.iter().for_each(|part| hash.update(part));
    let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
    hash.finalize().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Compares in a time that does not depend on where the difference is.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let differences = left.iter().zip(right).fold(0, |all, (left, right)| all | (left ^ right));
    left.len() == right.len() && std::hint::black_box(differences) == 0
}
