//! What the black-box tests share: starting the binary, folders for its files, and readers of what
//! it writes that were written from the specification and not from its code.
//!
//! Nothing here links a crate of ours but what applications link to talk to the binary. A test
//! knows what a user knows: arguments, files, pipes and exit statuses.

mod authority;
mod binary;
mod cinch;
mod clients;
mod envelope;
mod evaluation;
mod folder;
mod http;
mod ingress;
mod json_text;
mod payloads;
mod peer;
mod servers;
mod sidecar;
mod stored;
mod terminal;

pub use authority::Authority;
pub use binary::{binary, cart_services};
pub use cinch::{Cinch, Ran, Started, cinch};
pub use clients::ClientOf;
pub use envelope::{Envelope, records};
pub use evaluation::{evaluate, figure, trial, trial_names};
pub use folder::Folder;
pub use ingress::{FILER, Ingress, listener, logs, pool_listener, pool_text};
pub use json_text::{Token, same_text, same_value, tokens};
pub use payloads::{CODECS, ENCODINGS, assert_same_bytes, carts, generated, noise, small_carts};
pub use peer::{Peer, chromium, deployed, fluent_go, maven, python, repository, syslog_ng};
pub use servers::{
    BUCKET, Kafka, KafkaLater, MariaDb, MongoDb, Moto, Postgres, Prometheus, Redis, TOMBSTONE,
    closed_port,
};
pub use sidecar::{PATIENCE, RespClient, Sidecar, after, resp_command};
pub use stored::{BRIEFLY, Stored, gzip, hex, zstd};
pub use terminal::Terminal;
