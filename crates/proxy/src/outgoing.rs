//! What waits to be sent to one side of a connection. Whoever fills it looks at its length and
//! stops to read where nobody takes it.

use std::io;
use std::task::{Context, Poll};

use crate::link::Link;

/// How much room an empty buffer keeps, in bytes: an idle connection costs no more.
const KEPT_BYTES: usize = 4 << 10;

/// What waits to be sent.
#[derive(Default)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    needs_flush: bool,
}

impl Outgoing {
    /// Takes all of `from`, without copying where nothing waits.
    pub(crate) fn take(&mut self, from: &mut Vec<u8>) {
        if from.is_empty() {
            return;
        }
        if self.bytes.is_empty() {
            std::mem::swap(&mut self.bytes, from);
        } else {
            self.bytes.append(from);
        }
    }

    /// How many bytes wait.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    pub(crate) fn is_sent(&self) -> bool {
        self.bytes.is_empty() && !self.needs_flush
    }

    /// Sends as much as the other side takes. Ready where nothing waits any more.
    pub(crate) fn poll_send(
        &mut self,
        context: &mut Context<'_>,
        to: &mut Link,
    ) -> Poll<io::Result<()>> {
        while self.sent < self.bytes.len() {
            match to.poll_write(context, &self.bytes[self.sent..]) {
                Poll::Ready(Ok(count)) => self.sent += count,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
            self.needs_flush = true;
        }
        if !self.bytes.is_empty() {
            self.sent = 0;
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_BYTES);
        }
        if self.needs_flush {
            match to.poll_flush(context) {
                Poll::Ready(Ok(())) => self.needs_flush = false,
                other => return other,
            }
        }
        Poll::Ready(Ok(()))
    }
}
