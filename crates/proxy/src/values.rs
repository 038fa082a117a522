//! Values through the policy: what to store for a payload, and the payload of what is stored.
//!
//! A key belongs to the sidecar if the namespace that has it has one slot. A namespace with two
//! slots is about another store, whatever its keys look like. Work on large values is cut out as
//! [`Work`], which any thread can do while the connection waits.

use std::sync::Arc;

use bytes::Bytes;
use cinch_core::envelope::looks_like_envelope;
use cinch_core::pack::looks_like_interop;
use cinch_rollout::Record;
use cinch_rollout::gate::{Read, ReadError, Source, WriteError};
use cinch_rollout::live::{Live, Ready, Snapshot};
use cinch_rollout::policy::Plan;
use cinch_rollout::settings::Slots;

/// The namespace of a key, if it is one of Redis.
pub fn namespace_of<'a>(snapshot: &'a Snapshot, key: &[u8]) -> Option<&'a Ready> {
    snapshot.namespace_of(key).filter(|ready| ready.namespace().slots() == Slots::One)
}

/// Whether a stored value may be something else than the payload itself. The first bytes are
/// enough: [`HEAD_BYTES`] of them, or all.
pub fn may_be_packed(ready: &Ready, head: &[u8]) -> bool {
    looks_like_envelope(head)
        || looks_like_interop(head)
        || !ready.namespace().foreign_formats.is_empty()
}

/// How many bytes say whether a value is packed, and how long its payload is: the longest header.
pub const HEAD_BYTES: usize = 64;

/// What to store for a payload.
///
/// # Errors
/// [`WriteError`]: the payload is too long, or can't be stored so that readers get it back.
pub fn pack(ready: &Ready, key: &[u8], payload: &Bytes) -> Result<Bytes, WriteError> {
    // One slot has no metadata that would name the time.
    let written = ready.gate.write(ready.plan_for(key), payload, None, 0)?;
    ready.metrics.wrote(&written);
    Ok(written.record.raw.unwrap_or_default())
}

/// The payload of what is stored; `None` if that is the payload itself.
///
/// # Errors
/// [`ReadError`]: it can't be unpacked. Its bytes are nobody's to see.
pub fn unpack(ready: &Ready, key: &[u8], value: &[u8]) -> Result<Option<Bytes>, ReadError> {
    if !may_be_packed(ready, value) {
        count_plain(ready);
        return Ok(None);
    }
    let record = Record { raw: Some(Bytes::copy_from_slice(value)), packed: None, stamp: None };
    match ready.gate.read(ready.plan_for(key), &record) {
        Ok(read) => {
            ready.metrics.read(&read);
            Ok(read.payload)
        }
        Err(error) => {
            ready.metrics.failed(&error.error);
            Err(error)
        }
    }
}

/// Counts a read of a value that is its own payload.
pub fn count_plain(ready: &Ready) {
    ready.metrics.read(&Read {
        payload: None,
        source: Source::Raw,
        stamp: None,
        packed_bytes: None,
        unpack_time: None,
        findings: Vec::new(),
    });
}

/// Whether the policy packs what is written under a key now; if not, packing costs nothing.
pub fn is_tried(ready: &Ready, key: &[u8]) -> bool {
    match ready.plan_for(key) {
        Plan::One(plan) => plan.write != cinch_rollout::modes::SingleWrite::Plain,
        Plan::Two(_) => false,
    }
}

/// A value to pack, and where it stands among the arguments of its command.
#[derive(Debug, Clone, PartialEq)]
pub struct Packing {
    /// The index of the argument.
    pub argument: usize,
    /// The index of its key.
    pub key: usize,
}

/// A command with values that are to be packed before it can go on.
pub struct Work {
    live: Arc<Live>,
    /// The command's arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Which of them are to be packed.
    pub packings: Vec<Packing>,
}

/// What became of it.
pub struct Done {
    /// The arguments as they are sent, or why they can't be.
    pub arguments: Result<Vec<Vec<u8>>, WriteError>,
}

impl Work {
    /// Values of a command to be packed.
    pub fn new(live: Arc<Live>, arguments: Vec<Vec<u8>>, packings: Vec<Packing>) -> Work {
        Work { live, arguments, packings }
    }

    /// Does it. It takes time in proportion to the values, and waits for nothing.
    pub fn run(self) -> Done {
        let Work { live, mut arguments, packings } = self;
        let snapshot = live.snapshot();
        for Packing { argument, key } in packings {
            let Some(ready) = namespace_of(&snapshot, &arguments[key]) else { continue };
            let payload = Bytes::from(std::mem::take(&mut arguments[argument]));
            match pack(ready, &arguments[key], &payload) {
                Ok(value) => {
                    // A value that stays plain is the payload itself, which is then not copied.
                    drop(payload);
                    arguments[argument] = Vec::from(value);
                }
                Err(error) => return Done { arguments: Err(error) },
            }
        }
        Done { arguments: Ok(arguments) }
    }

    /// Leaves the payloads plain, because there is no time to pack them. Those that a reader would
    /// take for packed are wrapped all the same; that costs next to nothing.
    pub fn shed(self) -> Done {
        let is_needed = |packing: &Packing| {
            let payload = &self.arguments[packing.argument];
            looks_like_envelope(payload) || looks_like_interop(payload)
        };
        let packings = self.packings.iter().filter(|row| is_needed(row)).cloned().collect();
        Work { packings, ..self }.run()
    }
}
