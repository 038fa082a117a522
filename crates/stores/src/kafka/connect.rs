//! The connection to the brokers, and what their errors mean.

use std::sync::Arc;
use std::time::Duration;

use rskafka::BackoffConfig;
use rskafka::client::error::{Error, ProtocolError};
use rskafka::client::{Client, ClientBuilder, Credentials, SaslConfig};

use super::VALUE_BYTES_MAX;
use crate::address::Address;
use crate::error::{StoreError, in_one_line};

/// The port of brokers unless the address names one.
const DEFAULT_PORT: &str = "9092";

/// The longest message: the longest value, and what stands around it.
const MESSAGE_BYTES_MAX: usize = VALUE_BYTES_MAX + (1 << 20);

/// Connects to the cluster.
pub(super) async fn connect(
    address: &mut Address,
    timeout: Duration,
    ours: &[&str],
) -> Result<Client, StoreError> {
    let is_secure = match address.take("tls").as_deref() {
        None | Some("false") => false,
        Some("true" | "") => true,
        Some(_) => return Err(address.bad("tls is true or false")),
    };
    let sasl = address.take("sasl");
    address.only_known(ours, &[])?;
    let brokers = address.hosts().split(',').filter(|host| !host.is_empty()).map(|host| {
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']'));
        if has_port { host.to_owned() } else { format!("{host}:{DEFAULT_PORT}") }
    });
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(50),
        max_backoff: Duration::from_millis(500),
        base: 2.0,
        deadline: Some(timeout / 2),
    };
    let mut builder = ClientBuilder::new(brokers.collect())
        .client_id("cinch")
        .max_message_size(MESSAGE_BYTES_MAX)
        .backoff_config(backoff);
    if is_secure {
        builder = builder.tls_config(trusting_this_machine(address)?);
    }
    if let Some((user, password)) = address.login() {
        let credentials = Credentials::new(user, password);
        builder = builder.sasl_config(match sasl.as_deref() {
            None | Some("plain") => SaslConfig::Plain(credentials),
            Some("scram-sha-256") => SaslConfig::ScramSha256(credentials),
            Some("scram-sha-512") => SaslConfig::ScramSha512(credentials),
            Some(_) => {
                return Err(address.bad("sasl is plain, scram-sha-256 or scram-sha-512"));
            }
        });
    }
    let name = address.shown();
    super::flatten(&name, tokio::time::timeout(timeout, builder.build()).await)
}

/// TLS that trusts the certificates of this machine.
fn trusting_this_machine(address: &Address) -> Result<Arc<rustls::ClientConfig>, StoreError> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have been faster, with the same choice.
        drop(rustls::crypto::ring::default_provider().install_default());
    }
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        let hint = "install ca-certificates, or name a file with SSL_CERT_FILE";
        return Err(address.bad(&format!("no certificate is trusted; {hint}")));
    }
    let config = rustls::ClientConfig::builder().with_root_certificates(roots);
    Ok(Arc::new(config.with_no_client_auth()))
}

/// The error for a caller.
pub(super) fn explain(store: &str, error: &Error) -> StoreError {
    let store = store.to_owned();
    match error {
        Error::ServerError { protocol_error, .. } => {
            let hint = match protocol_error {
                ProtocolError::TopicAuthorizationFailed
                | ProtocolError::ClusterAuthorizationFailed
                | ProtocolError::SaslAuthenticationFailed => {
                    "; the user needs the rights to Read, Write and Describe the topic"
                }
                _ => "",
            };
            StoreError::Refused { store, message: format!("{protocol_error}{hint}") }
        }
        Error::Timeout => StoreError::Unreachable {
            store,
            message: "no answer in time; does the broker want TLS (?tls=true), and can the names \
                      that it advertises be reached from here?"
                .to_owned(),
        },
        error => {
            let message = in_one_line(error);
            if message.to_ascii_lowercase().contains("sasl") {
                return StoreError::Refused { store, message };
            }
            StoreError::Unreachable { store, message }
        }
    }
}
