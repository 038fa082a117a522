//! The body of the fuzz target: whatever clients and servers say to a session and however it is
//! cut, it does not panic, and what comes out is the same. The ordinary tests run it too, on bytes
//! made up by proptest.

use std::sync::Arc;

use cinch_rollout::live::Live;
use cinch_rollout::settings::Sources;

use crate::session::{Limits, Session};

/// The byte that ends what one side says: the other one goes on. It stands in no command.
pub const TURN: u8 = 0xFF;

const SETTINGS: &str = "[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite = \"packed\"\n";

/// What one side says of itself and the other side hears.
#[derive(Debug, PartialEq, Eq, Default)]
struct Heard {
    by_server: Vec<u8>,
    by_client: Vec<u8>,
}

/// What is heard of both sides' words, cut into pieces of a length. They take turns; the client
/// begins.
fn heard(bytes: &[u8], piece: usize) -> Heard {
    let sources = Sources { text: SETTINGS.to_owned(), ..Sources::default() };
    let Ok(configuration) = sources.configuration() else { return Heard::default() };
    let limits = Limits {
        request_bytes_max: 512,
        reply_bytes_max: 512,
        pipeline_max: 20,
        pack_elsewhere_bytes: 100,
        rewrites: true,
        ..Limits::default()
    };
    let live = Arc::new(Live::new(configuration));
    let mut session = Session::new(live, Arc::new(limits), Arc::default());
    let (mut heard, mut is_client) = (Heard::default(), true);
    for said in bytes.split(|byte| *byte == TURN) {
        let before = (heard.by_server.len(), heard.by_client.len());
        for part in said.chunks(piece) {
            if is_client {
                session.client_sent(part);
            } else if session.server_sent(part).is_err() {
                // How much of a reply has passed that breaks the protocol depends on the cuts.
                session.server_ended();
                heard.by_server.truncate(before.0);
                heard.by_client.truncate(before.1);
                return heard;
            }
            while let Some(work) = session.take_work() {
                session.packed(work.run());
            }
            heard.by_server.append(session.to_server());
            heard.by_client.append(session.to_client());
        }
        is_client = !is_client;
    }
    session.server_ended();
    heard.by_client.append(session.to_client());
    heard
}

/// However both sides' words are cut, the same is heard, up to where a server breaks the protocol.
///
/// # Panics
/// If the property does not hold.
pub fn session_any(bytes: &[u8]) {
    let whole = heard(bytes, usize::MAX);
    for piece in [1, 3] {
        assert_eq!(heard(bytes, piece), whole, "in pieces of {piece}");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What clients and servers say, whole and in halves.
    fn words() -> impl Strategy<Value = Vec<u8>> {
        let known = prop::sample::select(vec![
            "*2\r\n$3\r\nGET\r\n$6\r\ncart:1\r\n",
            "*3\r\n$3\r\nSET\r\n$6\r\ncart:1\r\n$120\r\n{\"a\":\"aaaaaaaaaaaaaaaaaaaaaaaa\
             aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\
             aaaaaaaa\"}\r\n",
            "*2\r\n$6\r\nSTRLEN\r\n$6\r\ncart:1\r\n",
            "*3\r\n$6\r\nAPPEND\r\n$6\r\ncart:1\r\n$1\r\nx\r\n",
            "*1\r\n$5\r\nMULTI\r\n",
            "*1\r\n$4\r\nEXEC\r\n",
            "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n",
            "*1\r\n$11\r\nUNSUBSCRIBE\r\n",
            "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n",
            "*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$4\r\nSKIP\r\n",
            "*2\r\n$5\r\nNOSUC\r\n$6\r\ncart:1\r\n",
            "MGET cart:1 plain\r\n",
            "PING\r\n",
            "+OK\r\n",
            "+QUEUED\r\n",
            "$-1\r\n",
            "_\r\n",
            ":1\r\n",
            ":0\r\n",
            "$2\r\nhi\r\n",
            "*2\r\n$1\r\na\r\n$1\r\nb\r\n",
            "*0\r\n",
            "*-1\r\n",
            "%1\r\n+a\r\n:1\r\n",
            "|1\r\n+a\r\n:1\r\n",
            ">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n",
            "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n",
            "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n",
            "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nm\r\n",
            "-ERR no\r\n",
            "$?\r\n;2\r\nhi\r\n;0\r\n",
        ]);
        let whole = known.clone().prop_map(|text| text.as_bytes().to_vec());
        let half = known.prop_map(|text| text.as_bytes()[..text.len() / 2].to_vec());
        let turn = Just(vec![TURN]);
        let any = prop::collection::vec(any::<u8>(), 0..8);
        prop_oneof![12 => whole, 1 => half, 8 => turn, 1 => any]
    }

    /// The words with at most one of the server's in a turn. A server answers what it was asked,
    /// and a command that takes several steps asks anew after each answer: a reply that came with
    /// the one before would be to a question that the cuts decide.
    fn one_reply_a_turn(parts: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut is_client = true;
        for part in parts {
            bytes.extend_from_slice(part);
            is_client ^= part.iter().filter(|byte| **byte == TURN).count() % 2 == 1;
            if !is_client && *part != [TURN] {
                bytes.extend([TURN, TURN]);
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(parts in prop::collection::vec(words(), 0..24)) {
            session_any(&one_reply_a_turn(&parts));
        }
    }
}
