//! Log records in the bodies of HTTP requests, as the clients of other log stores send them:
//! Elasticsearch's `_bulk` ([`elastic`]) and Loki's push ([`loki`]), with the bodies of the
//! answers that these clients read. HTTP itself, paths and headers are the caller's.

pub mod elastic;
pub mod loki;

#[cfg(test)]
mod tests;
