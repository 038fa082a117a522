//! What the sidecar counts beside what the namespaces count: connections, commands, refusals,
//! failures. Each is one atomic addition.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of a process.
#[derive(Debug, Default)]
pub struct Counters {
    /// Connections of clients that were accepted.
    pub connections: Counter,
    /// Those of them that are open.
    pub connections_open: Counter,
    /// Those that were turned away because there were too many.
    pub connections_refused: Counter,
    /// Commands that clients sent.
    pub commands: Counter,
    /// Commands that were refused because they would change or read a packed value inside.
    pub refused: Counter,
    /// Commands that changed a value inside, done here.
    pub changed_inside: Counter,
    /// Commands that the table does not know and whose arguments name no namespace's key.
    pub unknown: Counter,
    /// Values that could not be unpacked, answered with an error.
    pub undecodable: Counter,
    /// Damaged values of caches that were to be removed.
    pub removed: Counter,
    /// Commands whose values were packed on another thread.
    pub packed_elsewhere: Counter,
    /// Commands whose values stayed plain because too many were being packed.
    pub shed: Counter,
    /// Connections to the server that could not be made, or were lost with replies outstanding.
    pub upstream_failures: Counter,
    /// Connections that were closed because one side did not keep to the protocol.
    pub protocol_errors: Counter,
}

/// A number that grows, or goes up and down.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn add(&self) {
        self.add_many(1);
    }

    /// Adds as many.
    pub fn add_many(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Takes one away.
    pub fn take(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// The number.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    /// The text that Prometheus scrapes.
    pub fn text(&self) -> String {
        let rows: [(&str, &str, &str, &Counter); 13] = [
            ("connections_total", "counter", "Connections accepted.", &self.connections),
            ("connections_open", "gauge", "Connections that are open.", &self.connections_open),
            (
                "connections_refused_total",
                "counter",
                "Connections turned away because there were too many.",
                &self.connections_refused,
            ),
            ("commands_total", "counter", "Commands of clients.", &self.commands),
            ("refused_total", "counter", "Commands refused on keys of a namespace.", &self.refused),
            (
                "changed_inside_total",
                "counter",
                "Commands that changed a packed value inside.",
                &self.changed_inside,
            ),
            ("unknown_total", "counter", "Commands unknown to the sidecar, passed.", &self.unknown),
            (
                "undecodable_total",
                "counter",
                "Replies replaced by an error because a value could not be unpacked.",
                &self.undecodable,
            ),
            (
                "removed_total",
                "counter",
                "Damaged values of caches, removed if they were still there.",
                &self.removed,
            ),
            (
                "packed_elsewhere_total",
                "counter",
                "Commands whose values were packed off the event loop.",
                &self.packed_elsewhere,
            ),
            (
                "shed_total",
                "counter",
                "Commands whose values stayed plain because too many were being packed.",
                &self.shed,
            ),
            (
                "upstream_failures_total",
                "counter",
                "Connections to the server that failed.",
                &self.upstream_failures,
            ),
            (
                "protocol_errors_total",
                "counter",
                "Connections closed because one side did not keep to the protocol.",
                &self.protocol_errors,
            ),
        ];
        let mut text = String::new();
        for (name, kind, help, counter) in rows {
            let name = format!("cinch_proxy_{name}");
            let count = counter.count();
            // Writing to a string does not fail.
            let _written =
                write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {count}\n");
        }
        text
    }
}
