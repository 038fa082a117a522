//! One row of a table: what a mode cost, and against the first row.
//!
//! CPU time is that of this process, which is the client: what packing costs is paid here.

use std::time::{Duration, Instant};

/// What was measured of one mode.
pub struct Row {
    /// Mode and method.
    pub name: String,
    /// Bytes that went to a replica for each write.
    pub stream_bytes: f64,
    /// Bytes stored for each object.
    pub object_bytes: f64,
    /// The client's CPU time for each write, in microseconds.
    pub cpu_us: f64,
    /// The median of a write, in microseconds.
    pub write_p50_us: f64,
    /// The median of a read, in microseconds.
    pub read_p50_us: f64,
}

/// Prints the rows, each with its factor against the first.
pub fn print(title: &str, rows: &[Row]) {
    println!("{title}");
    println!(
        "  {:<28} {:>14} {:>8} {:>14} {:>8} {:>12} {:>12} {:>12}",
        "",
        "stream B/write",
        "less",
        "object bytes",
        "less",
        "CPU us/write",
        "put p50 us",
        "get p50 us"
    );
    for row in rows {
        println!(
            "  {:<28} {:>14.0} {:>7.1}x {:>14.0} {:>7.1}x {:>12.1} {:>12.1} {:>12.1}",
            row.name,
            row.stream_bytes,
            rows[0].stream_bytes / row.stream_bytes,
            row.object_bytes,
            rows[0].object_bytes / row.object_bytes,
            row.cpu_us,
            row.write_p50_us,
            row.read_p50_us
        );
    }
    println!();
}

/// Times of calls.
#[derive(Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// Adds a call that began at `start`.
    pub fn add(&mut self, start: Instant) {
        self.0.push(start.elapsed());
    }

    /// The median in microseconds.
    pub fn p50_us(&mut self) -> f64 {
        let middle = self.0.len() / 2;
        if self.0.is_empty() {
            return 0.0;
        }
        self.0.select_nth_unstable(middle).1.as_secs_f64() * 1e6
    }

    /// All of them together, in seconds.
    pub fn sum_s(&self) -> f64 {
        self.0.iter().sum::<Duration>().as_secs_f64()
    }
}

/// The CPU time of this process so far, in microseconds, from the kernel's own account.
pub fn cpu_us() -> f64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/schedstat") else { return 0.0 };
    let nanoseconds = text.split_whitespace().next().and_then(|field| field.parse::<f64>().ok());
    nanoseconds.unwrap_or_default() / 1_000.0
}
