//! The article's two formulas, for whoever plans an ingress: how long a connection waits for its
//! next read, and how much memory data needs while it is processed.

use std::time::Duration;

/// What an ingress has to carry, and how quick its parts are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Connections.
    pub connections: u64,
    /// Bytes in a second, of all connections together.
    pub rate: f64,
    /// Threads that read.
    pub readers: u64,
    /// How long one read of one connection takes.
    pub period: Duration,
    /// The longest time for which nothing is read.
    pub pause: Duration,
    /// From a read to the sink.
    pub process: Duration,
    /// The send buffer of a client, in bytes.
    pub client_buffer: f64,
}

/// What follows from a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// interval = connections / threads × period + pause.
    pub interval: Duration,
    /// How long a client's buffer lasts: its bytes by the connection's rate; the article's 0.64 s.
    pub budget: Duration,
    /// memory = traffic × processing time, in bytes.
    pub memory_bytes: f64,
    /// The fewest readers with which the interval stays inside the budget; `None` if the pause
    /// alone is longer.
    pub readers_needed: Option<u64>,
}

impl Plan {
    /// Applies the formulas.
    pub fn size(&self) -> Size {
        let (connections, readers) = (self.connections.max(1) as f64, self.readers.max(1) as f64);
        let turn = connections * self.period.as_secs_f64();
        let interval = turn / readers + self.pause.as_secs_f64();
        let budget = self.client_buffer / (self.rate / connections);
        let left = budget - self.pause.as_secs_f64();
        let readers_needed = (left > 0.0).then(|| (turn / left).ceil().max(1.0) as u64);
        let seconds = |value: f64| Duration::try_from_secs_f64(value).unwrap_or(Duration::MAX);
        Size {
            interval: seconds(interval),
            budget: seconds(budget),
            memory_bytes: self.rate * self.process.as_secs_f64(),
            readers_needed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_the_article_come_out() {
        let plan = Plan {
            connections: 1_000,
            rate: 200e3 * 1_000.0,
            readers: 2,
            period: Duration::from_micros(20),
            pause: Duration::from_millis(100),
            process: Duration::from_millis(500),
            client_buffer: 128e3,
        };
        let size = plan.size();
        assert_eq!(size.budget, Duration::from_millis(640));
        assert_eq!(size.interval, Duration::from_millis(110));
        assert_eq!(size.memory_bytes, 100e6);
        assert_eq!(size.readers_needed, Some(1));
    }

    #[test]
    fn no_number_of_readers_makes_up_for_a_pause_that_is_longer_than_the_buffer_lasts() {
        let plan = Plan {
            connections: 10,
            rate: 1e9,
            readers: 1,
            period: Duration::from_micros(20),
            pause: Duration::from_millis(100),
            process: Duration::ZERO,
            client_buffer: 128e3,
        };
        assert_eq!(plan.size().readers_needed, None);
    }
}
