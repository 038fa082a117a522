//! The line that a record becomes, field by field: what both forms of a request share, so that
//! they come to the same text.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::json_text::{push_display, push_string};

/// An object that is being written.
pub(super) struct Object<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> Object<'a> {
    pub(super) fn begin(out: &'a mut Vec<u8>) -> Object<'a> {
        out.push(b'{');
        Object { out, is_empty: true }
    }

    /// Appends the key; the caller appends the value.
    pub(super) fn key(&mut self, key: &[u8]) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        push_string(key, self.out);
        self.out.push(b':');
        self.out
    }

    /// A number, unless it is zero, which protobuf can't tell from one that is not there.
    pub(super) fn number(&mut self, key: &str, value: u64) {
        if value != 0 {
            push_display(value, self.key(key.as_bytes()));
        }
    }

    /// A text, unless it is empty, for the same reason.
    pub(super) fn text(&mut self, key: &str, value: &[u8]) {
        if !value.is_empty() {
            push_string(value, self.key(key.as_bytes()));
        }
    }

    pub(super) fn end(self) {
        self.out.push(b'}');
    }
}

/// Appends bytes as a base64 string.
pub(super) fn push_base64(bytes: &[u8], out: &mut Vec<u8>) {
    push_string(BASE64_STANDARD.encode(bytes).as_bytes(), out);
}
