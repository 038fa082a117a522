//! The body for RESP: any bytes mean the same however they are cut, in both directions, and what
//! is held while waiting is bounded.

use super::{Ending, Feed, same_in_pieces};
use crate::resp::{Event, Resp, RespError, RespLimits, inline_arguments};

/// The limits of the target: small, so that few bytes pass them.
pub(crate) const LIMITS: RespLimits = RespLimits {
    line_bytes_max: 64,
    bulk_bytes_max: 100,
    whole_bytes_max: 10,
    elements_max: 16,
    depth_max: 4,
};

/// Any bytes are the same requests and replies however they are cut. The first byte is the cut.
pub fn resp_any(bytes: &[u8]) {
    let Some((&cut, bytes)) = bytes.split_first() else { return };
    for machine in [Resp::requests(LIMITS), Resp::replies(LIMITS)] {
        let (said, _) = same_in_pieces(bytes, usize::from(cut), |lengths| {
            resp(machine.clone(), bytes, lengths)
        });
        // Even the shortest value takes two bytes and says two things.
        assert!(said.len() <= bytes.len());
    }
}

/// What a connection says, as texts: parts of one bulk are one text.
pub(crate) fn resp(
    mut machine: Resp,
    bytes: &[u8],
    lengths: &mut dyn Iterator<Item = usize>,
) -> (Vec<String>, Ending) {
    let (mut said, mut bulk) = (Vec::new(), Vec::new());
    let ending = Feed::new(bytes, LIMITS.line_bytes_max + 3).in_pieces(lengths, |buffer| {
        let mut events = Vec::new();
        let scan = machine.scan(buffer, &mut events);
        for event in events {
            match event {
                Event::BulkPart(part) => {
                    assert!(!part.is_empty());
                    bulk.extend_from_slice(part.of(buffer));
                }
                Event::BulkEnds => {
                    said.push(format!("ends {}", bulk.escape_ascii()));
                    bulk.clear();
                }
                Event::Inline(text) => {
                    said.push(format!("inline {:?}", inline_arguments(text.of(buffer))));
                }
                Event::Line(kind, text) => {
                    said.push(format!("{kind:?} {}", text.of(buffer).escape_ascii()));
                }
                Event::Bulk(kind, Some(body)) => {
                    said.push(format!("{kind:?} {}", body.of(buffer).escape_ascii()));
                }
                other => said.push(format!("{other:?}")),
            }
        }
        scan
    });
    if let Ok(rest) = &ending {
        let is_whole = rest.is_empty() && !machine.is_inside_value();
        assert_eq!(machine.finish(rest), if is_whole { Ok(()) } else { Err(RespError::CutOff) });
    }
    (said, ending)
}
