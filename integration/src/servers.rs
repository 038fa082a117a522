//! Servers of others that the tests start themselves: on a free port of this machine, with their
//! data in a temporary folder, stopped and removed when the last test that uses them is over.
//!
//! A server that is missing fails the test with what to install; no test skips itself.

mod daemon;
mod kafka;
mod mariadb;
mod mongodb;
mod moto;
mod postgres;
mod prometheus;
mod redis;

pub use daemon::closed_port;
pub(crate) use daemon::output;
pub use kafka::{Kafka, KafkaLater, TOMBSTONE};
pub use mariadb::MariaDb;
pub use mongodb::MongoDb;
pub use moto::{BUCKET, Moto};
pub use postgres::Postgres;
pub use prometheus::Prometheus;
pub use redis::Redis;
