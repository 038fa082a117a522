//! What of a configuration can change while the ingress runs: settings of pools and rules of
//! metrics. Sockets, threads, memory and sinks are made once; a change of those is refused whole,
//! because half a configuration is one that nobody has written.

use std::sync::Arc;

use super::Config;

impl Config {
    /// What stands against taking another configuration while this one runs, as a line.
    pub fn obstacle(&self, next: &Config) -> Option<String> {
        let fixed = [
            ("memory", self.memory_bytes == next.memory_bytes),
            ("readers", self.readers == next.readers),
            ("workers", self.workers == next.workers),
            ("status", self.status == next.status),
            ("[spill]", self.spill == next.spill),
            ("[[listener]]", self.listeners == next.listeners),
            ("[sink]", self.sinks == next.sinks),
        ];
        if let Some((key, _)) = fixed.iter().find(|(_, is_same)| !is_same) {
            return Some(format!("{key} can't change while it runs; restart to take it"));
        }
        // A pool that is in neither table has the default pool's sink in both.
        let names = self.pools.keys().chain(next.pools.keys());
        let mut moved = names.filter(|name| self.pool(name).sink != next.pool(name).sink);
        if let Some(name) = moved.next() {
            return Some(format!("the sink of pool {name} can't change while it runs; restart"));
        }
        (self.default_pool.sink != next.default_pool.sink)
            .then(|| "the sink of [pool.default] can't change while it runs; restart".to_owned())
    }

    /// The same, with the rules that another one has too taken from there, so that their windows
    /// go on.
    pub(crate) fn with_rules_of(mut self, last: &Config) -> Config {
        for rule in &mut self.metrics {
            if let Some(known) = last.metrics.iter().find(|known| known.section == rule.section) {
                *rule = Arc::clone(known);
            }
        }
        self
    }
}

impl PartialEq for Config {
    fn eq(&self, other: &Config) -> bool {
        let rules = |config: &Config| -> Vec<_> {
            config.metrics.iter().map(|rule| rule.section.clone()).collect()
        };
        self.obstacle(other).is_none()
            && self.default_pool == other.default_pool
            && self.pools == other.pools
            && rules(self) == rules(other)
    }
}
