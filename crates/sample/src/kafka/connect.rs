//! Connections to brokers, the time that an answer may take, and what their errors mean.
//! The client retries without an end, so every call has a deadline here.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use rskafka::BackoffConfig;
use rskafka::client::error::{Error, ProtocolError};
use rskafka::client::{Client, ClientBuilder, Credentials, SaslConfig};
use tokio::runtime::{Builder, Runtime};

use crate::address::Address;
use crate::error::SampleError;
use crate::options::{SampleOptions, VALUE_BYTES_MAX};

/// The port of brokers unless the address names one.
const DEFAULT_PORT: u16 = 9092;

/// The longest answer of a broker: the longest value, and what stands around it.
const ANSWER_BYTES_MAX: usize = VALUE_BYTES_MAX + (1 << 20);

/// Waits for answers, as long as one may take.
pub(super) struct Answers<'a> {
    runtime: Runtime,
    address: &'a Address,
    timeout: Duration,
}

impl<'a> Answers<'a> {
    pub(super) fn new(address: &'a Address, timeout: Duration) -> Result<Answers<'a>, SampleError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| SampleError::Unreachable {
            address: address.to_string(),
            reason: error.to_string(),
            hint: "are there too many open files?".to_owned(),
        })?;
        Ok(Answers { runtime, address, timeout })
    }

    /// Waits for one answer.
    pub(super) fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, SampleError> {
        let timeout = self.timeout;
        let result = self.runtime.block_on(async { tokio::time::timeout(timeout, answer).await });
        match result {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(explain(self.address, &error)),
            Err(_) => Err(explain(self.address, &Error::Timeout)),
        }
    }
}

/// Connects to the cluster.
pub(super) fn connect(
    answers: &Answers<'_>,
    address: &Address,
    options: &SampleOptions,
) -> Result<Client, SampleError> {
    let hosts: Vec<(String, u16)> = address
        .hosts()
        .iter()
        .map(|host| (host.name.clone(), host.port.unwrap_or(DEFAULT_PORT)))
        .collect();
    reach(address, &hosts, options.timeout)?;
    let brackets = |name: &str| match name.contains(':') {
        true => format!("[{name}]"),
        false => name.to_owned(),
    };
    let brokers = hosts.iter().map(|(name, port)| format!("{}:{port}", brackets(name))).collect();
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(50),
        max_backoff: Duration::from_millis(500),
        base: 2.0,
        deadline: Some(options.timeout / 4),
    };
    let mut builder = ClientBuilder::new(brokers)
        .client_id("cinch")
        .max_message_size(ANSWER_BYTES_MAX)
        .backoff_config(backoff);
    if address.parameter("tls").is_some_and(|value| value != "false") {
        builder = builder.tls_config(crate::tls::trusting_this_machine(address)?);
    }
    if let (Some(user), Some(password)) = (address.user(), address.password()) {
        let credentials = Credentials::new(user.to_owned(), password.to_owned());
        builder = builder.sasl_config(match address.parameter("sasl") {
            None | Some("plain") => SaslConfig::Plain(credentials),
            Some("scram-sha-256") => SaslConfig::ScramSha256(credentials),
            Some("scram-sha-512") => SaslConfig::ScramSha512(credentials),
            Some(other) => {
                let known = "there are plain, scram-sha-256 and scram-sha-512";
                return Err(SampleError::BadAddress {
                    address: address.to_string(),
                    reason: format!("no sasl is called {other:?}; {known}"),
                });
            }
        });
    }
    answers.wait(builder.build())
}

/// Whether any broker can be reached at all: the client tries again and again, and when it gives up
/// it does not say what the system said.
fn reach(address: &Address, hosts: &[(String, u16)], timeout: Duration) -> Result<(), SampleError> {
    let mut failure = io::Error::other("the address names no host");
    for (name, port) in hosts {
        let reached = (name.as_str(), *port).to_socket_addrs().and_then(|found| {
            let mut last = io::Error::other("the name has no address");
            for socket in found {
                match TcpStream::connect_timeout(&socket, timeout) {
                    Ok(_) => return Ok(()),
                    Err(error) => last = error,
                }
            }
            Err(last)
        });
        match reached {
            Ok(()) => return Ok(()),
            Err(error) => failure = error,
        }
    }
    Err(SampleError::Unreachable {
        address: address.to_string(),
        reason: failure.to_string(),
        hint: "is a broker running there, and is the port right?".to_owned(),
    })
}

/// The error for the user.
fn explain(address: &Address, error: &Error) -> SampleError {
    let address = address.to_string();
    match error {
        Error::ServerError { protocol_error: protocol, .. } => match protocol {
            ProtocolError::TopicAuthorizationFailed
            | ProtocolError::ClusterAuthorizationFailed
            | ProtocolError::SaslAuthenticationFailed => SampleError::Authentication {
                address,
                reason: format!("the broker says {protocol}"),
                hint: "the user needs the right to Read and Describe the topic".to_owned(),
            },
            protocol => {
                SampleError::Query { address, reason: format!("the broker says {protocol}") }
            }
        },
        Error::Timeout => SampleError::Unreachable {
            address,
            reason: "no answer in time".to_owned(),
            hint: "does the broker want TLS (?tls=true), and can the names that it advertises be \
                   reached from here?"
                .to_owned(),
        },
        error => {
            let text = error.to_string();
            let reason: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if text.to_ascii_lowercase().contains("sasl") {
                return SampleError::Authentication {
                    address,
                    reason,
                    hint: "write the user in the address: kafka://user:password@host:9092/topic, \
                           with ?sasl=scram-sha-512 where the broker wants it"
                        .to_owned(),
                };
            }
            SampleError::Unreachable {
                address,
                reason,
                hint: "does the broker want TLS (?tls=true) or a user, and can the names that it \
                       advertises be reached from here?"
                    .to_owned(),
            }
        }
    }
}
