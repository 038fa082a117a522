//! Windows: what the workers counted, brought together. A window leaves a little after its end, so
//! that every worker has had the time to hand over what it counted in it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

use super::{BETWEEN_PARTS, ByKey, ByWindow, MetricRule, OTHER_KEYS, RuleSet, Sums};

/// How long after its end a window leaves, in seconds.
const GRACE_S: u64 = 2;

/// The most keys of a rule that a scrape shows: a Prometheus keeps a series for each.
const SHOWN_KEYS_MAX: usize = 1_000;

/// The windows of all rules.
#[derive(Debug)]
pub struct Windows {
    rules: ArcSwap<RuleSet>,
    slots: Mutex<Vec<Slot>>,
}

/// The windows of one rule.
#[derive(Debug)]
struct Slot {
    rule: Arc<MetricRule>,
    waiting: ByWindow,
    /// The keys of the window that was over last.
    last: Vec<Window>,
}

/// One line of a window that is over.
#[derive(Debug, Clone)]
pub struct Window {
    /// Its rule.
    pub rule: Arc<MetricRule>,
    /// When the window started, in Unix seconds.
    pub start_s: u64,
    /// The parts of the key.
    pub key: Vec<String>,
    /// What was added up.
    pub sums: Sums,
}

impl Slot {
    fn new(rule: &Arc<MetricRule>) -> Slot {
        Slot { rule: Arc::clone(rule), waiting: ByWindow::new(), last: Vec::new() }
    }
}

impl Windows {
    /// No windows yet.
    pub fn new(rules: RuleSet) -> Windows {
        let slots = Mutex::new(rules.iter().map(Slot::new).collect());
        Windows { rules: ArcSwap::from_pointee(rules), slots }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rules that hold now.
    pub fn rules(&self) -> RuleSet {
        RuleSet::clone(&self.rules.load())
    }

    /// Whether these are the rules that hold now.
    pub fn has(&self, rules: &RuleSet) -> bool {
        let current: &RuleSet = &self.rules.load();
        Arc::ptr_eq(current, rules)
    }

    /// Exchanges the rules. Windows of one that is not among them any more leave at their time.
    pub fn reload(&self, rules: RuleSet) {
        let mut slots = self.lock();
        for rule in rules.iter() {
            if !slots.iter().any(|slot| Arc::ptr_eq(&slot.rule, rule)) {
                slots.push(Slot::new(rule));
            }
        }
        self.rules.store(Arc::new(rules));
    }

    /// Adds what a worker counted in a window.
    pub fn add(&self, rule: &Arc<MetricRule>, start_s: u64, keys: ByKey) {
        let mut slots = self.lock();
        let place = slots.iter().position(|slot| Arc::ptr_eq(&slot.rule, rule));
        let place = place.unwrap_or_else(|| {
            // Its rule is gone, and so were its windows until this one came.
            slots.push(Slot::new(rule));
            slots.len() - 1
        });
        let window = slots[place].waiting.entry(start_s).or_default();
        for (key, sums) in keys {
            let others = usize::from(window.contains_key(OTHER_KEYS.as_bytes()));
            let is_kept = &key[..] == OTHER_KEYS.as_bytes()
                || window.len() - others < rule.keys_max
                || window.contains_key(&key);
            let key = if is_kept { key } else { OTHER_KEYS.as_bytes().into() };
            window.entry(key).or_default().merge(&sums);
        }
    }

    /// Of each rule, the keys of the window that was over last: what a scrape shows.
    pub fn last(&self) -> Vec<Window> {
        let slots = self.lock();
        slots.iter().flat_map(|slot| slot.last.iter().take(SHOWN_KEYS_MAX).cloned()).collect()
    }

    /// Takes the windows that ended long enough before this time; `u64::MAX` takes all. The keys
    /// of a window are in the order of their counts, largest first; what `top` leaves out is one
    /// line behind them.
    pub fn take(&self, now_s: u64) -> Vec<Window> {
        let mut lines = Vec::new();
        let mut slots = self.lock();
        for slot in slots.iter_mut() {
            while let Some(entry) = slot.waiting.first_entry() {
                let start_s = *entry.key();
                if start_s + slot.rule.window_s + GRACE_S > now_s {
                    break;
                }
                let window = window(&slot.rule, start_s, entry.remove());
                slot.last.clone_from(&window);
                lines.extend(window);
            }
        }
        let rules = self.rules();
        let is_current = |slot: &Slot| rules.iter().any(|rule| Arc::ptr_eq(rule, &slot.rule));
        slots.retain(|slot| !slot.waiting.is_empty() || is_current(slot));
        lines
    }
}

/// The lines of a window.
fn window(rule: &Arc<MetricRule>, start_s: u64, keys: ByKey) -> Vec<Window> {
    let mut keys: Vec<(Box<[u8]>, Sums)> = keys.into_iter().collect();
    keys.sort_by(|(a, sums_a), (b, sums_b)| sums_b.count.cmp(&sums_a.count).then_with(|| a.cmp(b)));
    if let Some(top) = rule.top.filter(|&top| top < keys.len()) {
        let mut rest = Sums::default();
        keys.drain(top..).for_each(|(_, sums)| rest.merge(&sums));
        keys.push((OTHER_KEYS.as_bytes().into(), rest));
    }
    let line = |(key, sums): (Box<[u8]>, Sums)| {
        let parts = key.split(|&byte| byte == BETWEEN_PARTS);
        let text = |part| String::from_utf8_lossy(part).into_owned();
        Window { rule: Arc::clone(rule), start_s, key: parts.map(text).collect(), sums }
    };
    keys.into_iter().map(line).collect()
}

impl Window {
    /// The names and values of the key.
    pub fn parts(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.rule.key.iter().map(|(name, _)| name.as_str());
        names.zip(self.key.iter().map(String::as_str))
    }

    /// The bytes of memory that it takes, about.
    pub fn memory_bytes(&self) -> usize {
        let parts = self.key.iter().map(|part| part.len() + size_of::<String>());
        size_of::<Window>() + parts.sum::<usize>()
    }

    /// The line as JSON.
    pub fn json(&self) -> serde_json::Value {
        let key: serde_json::Map<String, serde_json::Value> =
            self.parts().map(|(name, part)| (name.to_owned(), part.into())).collect();
        let mut line = serde_json::json!({
            "metric": self.rule.name,
            "window_start": self.start_s,
            "window_s": self.rule.window_s,
            "key": key,
            "count": self.sums.count,
        });
        if self.sums.values > 0 {
            line["values"] = self.sums.values.into();
            line["sum"] = self.sums.sum.into();
            line["min"] = self.sums.min.into();
            line["max"] = self.sums.max.into();
        }
        let quantiles = self
            .rule
            .quantiles
            .iter()
            .filter_map(|&share| Some((share.to_string(), self.sums.quantile(share)?.into())));
        let quantiles: serde_json::Map<String, serde_json::Value> = quantiles.collect();
        if !quantiles.is_empty() {
            line["quantiles"] = quantiles.into();
        }
        line
    }
}
