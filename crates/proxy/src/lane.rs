//! A connection to the server that the clients of one event loop share, as long as none of them
//! does what a connection remembers. Commands of many clients go to the server in one write, and
//! their replies come back in one read, each handed to the client whose turn it is.
//!
//! A client that wants a connection to itself (a transaction, a subscription, a command that
//! blocks) leaves when nothing of it is under way, and never comes back.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use cinch_wire::resp::{Event, Resp, RespError, RespLimits};

use crate::connection::poll_read_with;
use crate::link::Link;
use crate::outgoing::Outgoing;
use crate::shared::{Shared, upstream};

/// How much room the empty inbox of a client keeps, in bytes.
const KEPT_BYTES: usize = 4 << 10;

/// A connection that clients share.
#[derive(Default)]
pub(crate) struct Lane {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    outgoing: Vec<u8>,
    turns: VecDeque<Turn>,
    waker: Option<Waker>,
}

/// Replies that belong to one client.
struct Turn {
    seat: Arc<Seat>,
    left: usize,
}

/// A client's place, where its replies arrive.
#[derive(Default)]
pub(crate) struct Seat {
    inbox: Mutex<Inbox>,
}

#[derive(Default)]
struct Inbox {
    bytes: Vec<u8>,
    waker: Option<Waker>,
    is_lost: bool,
    has_left: bool,
}

/// What a client found in its inbox.
pub(crate) struct Found {
    /// There was something.
    pub(crate) has_more: bool,
    /// The connection is lost.
    pub(crate) is_lost: bool,
    /// It was no RESP.
    pub(crate) is_broken: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seat {
    fn deliver(&self, bytes: &[u8]) {
        let mut inbox = lock(&self.inbox);
        if inbox.has_left {
            return;
        }
        inbox.bytes.extend_from_slice(bytes);
        if let Some(waker) = inbox.waker.take() {
            waker.wake();
        }
    }

    fn lose(&self) {
        let mut inbox = lock(&self.inbox);
        inbox.is_lost = true;
        if let Some(waker) = inbox.waker.take() {
            waker.wake();
        }
    }

    /// Nobody reads replies here any more.
    pub(crate) fn leave(&self) {
        let mut inbox = lock(&self.inbox);
        inbox.has_left = true;
        inbox.bytes = Vec::new();
    }

    /// Hands on the replies that have come, and asks to be woken by the next ones.
    pub(crate) fn poll(
        &self,
        context: &Context<'_>,
        take: impl FnOnce(&[u8]) -> Result<(), RespError>,
    ) -> Found {
        let (mut bytes, is_lost) = {
            let mut inbox = lock(&self.inbox);
            if inbox.waker.is_none() {
                inbox.waker = Some(context.waker().clone());
            }
            (mem::take(&mut inbox.bytes), inbox.is_lost)
        };
        if bytes.is_empty() {
            return Found { has_more: false, is_lost, is_broken: false };
        }
        let is_broken = take(&bytes).is_err();
        bytes.clear();
        bytes.shrink_to(KEPT_BYTES);
        let mut inbox = lock(&self.inbox);
        if inbox.bytes.is_empty() {
            inbox.bytes = bytes;
        }
        Found { has_more: true, is_lost, is_broken }
    }
}

impl Lane {
    /// Sends commands that will have this many replies.
    pub(crate) fn send(&self, seat: &Arc<Seat>, bytes: &mut Vec<u8>, replies: usize) {
        let mut state = lock(&self.state);
        if state.outgoing.is_empty() {
            mem::swap(&mut state.outgoing, bytes);
        } else {
            state.outgoing.append(bytes);
        }
        match state.turns.back_mut().filter(|turn| Arc::ptr_eq(&turn.seat, seat)) {
            Some(turn) => turn.left += replies,
            None => state.turns.push_back(Turn { seat: Arc::clone(seat), left: replies }),
        }
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// Keeps the connection as long as the event loop runs: made when it is needed, and made again
    /// after it was lost.
    pub(crate) async fn run(&self, shared: Arc<Shared>) {
        loop {
            poll_fn(|context| {
                let mut state = lock(&self.state);
                if state.outgoing.is_empty() {
                    state.waker = Some(context.waker().clone());
                    return Poll::Pending;
                }
                Poll::Ready(())
            })
            .await;
            match upstream(Arc::clone(&shared)).await {
                Err(_) => shared.counters.upstream_failures.add(),
                Ok(link) => {
                    let limits =
                        RespLimits { elements_max: u64::MAX >> 8, ..RespLimits::default() };
                    let mut traffic = Traffic {
                        lane: self,
                        link,
                        outgoing: Outgoing::default(),
                        replies: Resp::replies(limits),
                        events: Vec::new(),
                        rest: Vec::new(),
                    };
                    let ended = poll_fn(|context| traffic.poll(context)).await;
                    if ended == Ended::Nonsense {
                        shared.counters.protocol_errors.add();
                    }
                }
            }
            self.lose();
        }
    }

    /// Tells everybody who waits that nothing will come.
    fn lose(&self) {
        let turns = {
            let mut state = lock(&self.state);
            state.outgoing.clear();
            mem::take(&mut state.turns)
        };
        turns.iter().for_each(|turn| turn.seat.lose());
    }
}

/// Why the connection ended.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    Lost,
    /// The server said what is no RESP, or something that nobody asked.
    Nonsense,
}

/// The connection while it stands.
struct Traffic<'a> {
    lane: &'a Lane,
    link: Link,
    outgoing: Outgoing,
    replies: Resp,
    events: Vec<Event>,
    /// What was read and is no whole element yet.
    rest: Vec<u8>,
}

impl Traffic<'_> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Ended> {
        loop {
            {
                let mut state = lock(&self.lane.state);
                self.outgoing.take(&mut state.outgoing);
                if state.waker.is_none() {
                    state.waker = Some(context.waker().clone());
                }
            }
            if !self.outgoing.is_sent()
                && let Poll::Ready(Err(_)) = self.outgoing.poll_send(context, &mut self.link)
            {
                return Poll::Ready(Ended::Lost);
            }
            let Traffic { lane, link, replies, events, rest, .. } = self;
            let read = poll_read_with(link, context, |bytes| match bytes.is_empty() {
                true => Err(Ended::Lost),
                false => hand_out(lane, replies, events, rest, bytes),
            });
            match read {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(Ok(()))) => {}
                Poll::Ready(Ok(Err(ended))) => return Poll::Ready(ended),
                Poll::Ready(Err(_)) => return Poll::Ready(Ended::Lost),
            }
        }
    }
}

/// Hands replies to the clients whose turns they are.
fn hand_out(
    lane: &Lane,
    replies: &mut Resp,
    events: &mut Vec<Event>,
    rest: &mut Vec<u8>,
    bytes: &[u8],
) -> Result<(), Ended> {
    let joined;
    let input = if rest.is_empty() {
        bytes
    } else {
        rest.extend_from_slice(bytes);
        joined = mem::take(rest);
        &joined
    };
    let (mut start, mut at) = (0, 0);
    let mut state = lock(&lane.state);
    loop {
        events.clear();
        let scan = replies.scan_one(&input[at..], events).map_err(|_| Ended::Nonsense)?;
        at += scan.consumed;
        let is_whole = events.last() == Some(&Event::Complete);
        if is_whole {
            let turn = state.turns.front_mut().ok_or(Ended::Nonsense)?;
            turn.left -= 1;
            if turn.left == 0 {
                turn.seat.deliver(&input[start..at]);
                start = at;
                state.turns.pop_front();
            }
        }
        if scan.consumed == 0 {
            break;
        }
    }
    if start < at {
        let turn = state.turns.front().ok_or(Ended::Nonsense)?;
        turn.seat.deliver(&input[start..at]);
    }
    rest.extend_from_slice(&input[at..]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replies() -> impl Strategy<Value = Vec<u8>> {
        prop::sample::select(vec![
            "+OK\r\n",
            "$5\r\nhello\r\n",
            "$-1\r\n",
            ":7\r\n",
            "-ERR no\r\n",
            "*2\r\n$1\r\na\r\n*1\r\n:1\r\n",
            "%1\r\n+a\r\n_\r\n",
        ])
        .prop_map(|text| text.as_bytes().to_vec())
    }

    /// A client, and what the server answers it.
    fn turn() -> impl Strategy<Value = (usize, Vec<Vec<u8>>)> {
        (0usize..4, prop::collection::vec(replies(), 1..4))
    }

    proptest! {
        /// However replies are cut, each client gets its own and no other's.
        #[test]
        fn every_reply_reaches_its_client(
            turns in prop::collection::vec(turn(), 1..20),
            piece in 1usize..40,
            leaver in 0usize..8,
        ) {
            let lane = Lane::default();
            let seats: [Arc<Seat>; 4] = Default::default();
            let (mut all, mut expected) = (Vec::new(), vec![Vec::new(); 4]);
            for (seat, replies) in &turns {
                lane.send(&seats[*seat], &mut b"command".to_vec(), replies.len());
                all.extend(replies.concat());
                expected[*seat].extend(replies.concat());
            }
            if let Some(seat) = seats.get(leaver) {
                seat.leave();
                expected[leaver].clear();
            }
            let mut scanner = Resp::replies(RespLimits::default());
            let (mut events, mut rest) = (Vec::new(), Vec::new());
            for part in all.chunks(piece) {
                let handed = hand_out(&lane, &mut scanner, &mut events, &mut rest, part);
                prop_assert!(handed.is_ok());
            }
            for (seat, expected) in seats.iter().zip(expected) {
                prop_assert_eq!(&lock(&seat.inbox).bytes, &expected);
            }
            // What nobody asked is nobody's.
            let more = hand_out(&lane, &mut scanner, &mut events, &mut rest, b"+OK\r\n");
            prop_assert!(more == Err(Ended::Nonsense));
        }
    }
}
