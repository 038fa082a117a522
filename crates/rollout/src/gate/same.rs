//! Whether a packed copy is the payload beside it. Encodings that keep the value give back another
//! text; where a namespace is content with that, texts of one value are one payload.

use cinch_core::document::{Document, Fidelity, first_difference};
use cinch_core::encoding::encoding_named;
use cinch_core::json;

use crate::settings::Namespace;

/// Whether two texts are one payload to the readers of a namespace.
pub(super) fn is_same(namespace: &Namespace, payload: &[u8], again: &[u8]) -> bool {
    payload == again || namespace.takes_value_fidelity && is_same_value(payload, again)
}

/// Whether two texts are one JSON value. What is no JSON is not.
pub fn is_same_value(payload: &[u8], again: &[u8]) -> bool {
    let Some(encoding) = encoding_named("json") else { return false };
    let (mut before, mut after) = (Document::new(), Document::new());
    json::parse(encoding.parser, payload, &mut before).is_ok()
        && json::parse(encoding.parser, again, &mut after).is_ok()
        && first_difference(&before, &after, Fidelity::Value).is_none()
}
