//! Windows: what the workers counted, brought together. A window leaves a little after its end, so
//! that every worker has had the time to hand over what it counted in it.

use std::sync::{Arc, Mutex, PoisonError};

use super::{BETWEEN_PARTS, ByKey, ByWindow, MetricRule, Sums};

/// How long after its end a window leaves, in seconds.
const GRACE_S: u64 = 2;

/// The most keys of a rule that a scrape shows: a Prometheus keeps a series for each.
const SHOWN_KEYS_MAX: usize = 1_000;

/// The windows of all rules.
#[derive(Debug)]
pub struct Windows {
    rules: Arc<[MetricRule]>,
    waiting: Mutex<Vec<ByWindow>>,
    /// Of each rule, the keys of the window that was over last.
    last: Mutex<Vec<Vec<Window>>>,
}

/// One line of a window that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// The place of the rule in the configuration.
    pub rule: usize,
    /// When the window started, in Unix seconds.
    pub start_s: u64,
    /// The parts of the key.
    pub key: Vec<String>,
    /// What was added up.
    pub sums: Sums,
}

impl Windows {
    /// No windows yet.
    pub fn new(rules: Arc<[MetricRule]>) -> Windows {
        let waiting = rules.iter().map(|_| ByWindow::new()).collect();
        let last = Mutex::new(rules.iter().map(|_| Vec::new()).collect());
        Windows { rules, waiting: Mutex::new(waiting), last }
    }

    /// The rules.
    pub fn rules(&self) -> &[MetricRule] {
        &self.rules
    }

    /// Adds what a worker counted in a window.
    pub fn add(&self, rule: usize, start_s: u64, keys: ByKey) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let window = waiting[rule].entry(start_s).or_default();
        for (key, sums) in keys {
            window.entry(key).or_default().merge(&sums);
        }
    }

    /// Of each rule, the keys of the window that was over last: what a scrape shows.
    pub fn last(&self) -> Vec<Window> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.iter().flat_map(|keys| keys.iter().take(SHOWN_KEYS_MAX).cloned()).collect()
    }

    /// Takes the windows that ended long enough before this time; `u64::MAX` takes all. The keys
    /// of a window are in the order of their counts, largest first.
    pub fn take(&self, now_s: u64) -> Vec<Window> {
        let mut lines = Vec::new();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for (index, (rule, windows)) in self.rules.iter().zip(waiting.iter_mut()).enumerate() {
            while let Some(entry) = windows.first_entry() {
                let start_s = *entry.key();
                if start_s + rule.window_s + GRACE_S > now_s {
                    break;
                }
                let mut keys: Vec<(Box<[u8]>, Sums)> = entry.remove().into_iter().collect();
                keys.sort_by(|(a, sums_a), (b, sums_b)| {
                    sums_b.count.cmp(&sums_a.count).then_with(|| a.cmp(b))
                });
                keys.truncate(rule.top.unwrap_or(usize::MAX));
                let window = keys.into_iter().map(|(key, sums)| {
                    let parts = key.split(|&byte| byte == BETWEEN_PARTS);
                    let text = |part| String::from_utf8_lossy(part).into_owned();
                    Window { rule: index, start_s, key: parts.map(text).collect(), sums }
                });
                let window: Vec<Window> = window.collect();
                let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
                last[index].clone_from(&window);
                lines.extend(window);
            }
        }
        lines
    }
}

impl Window {
    /// The line as JSON.
    pub fn json(&self, rules: &[MetricRule]) -> String {
        let rule = &rules[self.rule];
        let names = rule.key.iter().map(|(name, _)| name.clone());
        let key: serde_json::Map<String, serde_json::Value> =
            names.zip(self.key.iter().map(|part| part.clone().into())).collect();
        let mut line = serde_json::json!({
            "metric": rule.name,
            "window_start": self.start_s,
            "window_s": rule.window_s,
            "key": key,
            "count": self.sums.count,
        });
        if self.sums.values > 0 {
            line["values"] = self.sums.values.into();
            line["sum"] = self.sums.sum.into();
            line["min"] = self.sums.min.into();
            line["max"] = self.sums.max.into();
        }
        line.to_string()
    }
}
