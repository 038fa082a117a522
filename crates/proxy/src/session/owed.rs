//! What clients are still owed, in the order in which they asked: the queue that keeps replies in
//! order, whoever makes them.

use crate::command::{Channels, Shape};

use super::inside::Question;

/// One reply that is owed, or one that the sidecar itself asked for.
#[derive(Debug)]
pub(super) struct Owed {
    pub(super) what: What,
    /// The client asked for no reply (`CLIENT REPLY`).
    pub(super) is_hidden: bool,
    /// It was sent inside a transaction, so that it may be queued, and answered by `EXEC`.
    pub(super) may_be_queued: bool,
}

#[derive(Debug)]
pub(super) enum What {
    /// The sidecar's own reply. The server was asked nothing.
    Own(Vec<u8>),
    /// The sidecar's own reply in place of the server's.
    Instead(Vec<u8>),
    /// The server's reply as it is.
    Pass,
    /// The server's reply with its values unpacked.
    Unpack(Transform),
    /// A reply to the sidecar alone. An error is kept for the next reply that is for the client.
    Step,
    Multi,
    Exec,
    Discard,
    Reset,
    Hello {
        is_version_3: bool,
    },
    Monitor,
    /// A reply for each channel; the first may be an error instead.
    Acknowledgements {
        channels: Channels,
        left: Left,
    },
    /// A damaged value was removed, or not.
    Removal,
    /// The value that is to be changed inside, for the sidecar.
    ChangeRead,
    /// Whether the changed value was stored, for the sidecar.
    ChangeWrite,
    /// The keys of a command that the table does not know, which waits for them.
    KeysOf(Vec<u8>),
}

/// How many acknowledgements are to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Count(usize),
    /// As many as there are subscriptions when the first one comes.
    AllThereAre,
}

/// What becomes of the values in a reply.
#[derive(Debug, Clone)]
pub(super) struct Transform {
    pub(super) shape: Shape,
    /// The key, or one for each element.
    pub(super) keys: Vec<Vec<u8>>,
    /// What is asked of the value in its place.
    pub(super) question: Option<Question>,
    /// The reply is an array of the value's first bytes and of its length.
    pub(super) is_head_and_length: bool,
}

impl Transform {
    pub(super) fn of(shape: Shape, key: &[u8]) -> Transform {
        let keys = vec![key.to_vec()];
        Transform { shape, keys, question: None, is_head_and_length: false }
    }

    /// Whether what stands at `path` is a value: the index in each aggregate around it, of which
    /// maps count keys and values. Answers with the index of its key.
    pub(super) fn key_at(&self, path: &[u64]) -> Option<&[u8]> {
        let of_first = self.keys.first().map(Vec::as_slice);
        match (self.shape, path) {
            (Shape::Value, []) | (Shape::Each, [_]) => of_first,
            (Shape::EachKey, [index]) => {
                self.keys.get(usize::try_from(*index).ok()?).map(Vec::as_slice)
            }
            (Shape::Second, [index] | [_, index]) if index % 2 == 1 => of_first,
            (Shape::Scan, [1, index]) if index % 2 == 1 => of_first,
            _ => None,
        }
    }
}
