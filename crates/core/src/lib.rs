//! The pure heart of cinch: codecs, encodings, the envelope, dictionaries and profiles.
//!
//! Nothing here reads a clock, a socket, a file or the environment, and nothing waits, so that the
//! same code serves a command line, a proxy and a library in somebody else's process. Input of any
//! kind is hostile until decoded: every limit is in [`limits`], every error has a type, and a panic
//! on input is a bug.
//!
//! The principal types, from the outside in: a [`Profile`](profile::Profile) says how to pack, a
//! [`Packer`](pack::Packer) packs payloads into [envelopes](envelope), an
//! [`Unpacker`](pack::Unpacker) reads every envelope this version knows; below them the registries
//! [`CODECS`](codec::CODECS) and [`ENCODINGS`](encoding::ENCODINGS).

pub mod codec;
pub mod dictionary;
pub mod document;
pub mod encoding;
pub mod envelope;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod json;
pub mod limits;
pub mod pack;
pub mod profile;
pub mod schema;
