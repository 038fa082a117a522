//! The rules of one worker at work: which of them want a record, and the sums of the windows that
//! are not over yet.

use std::sync::Arc;

use cinch_wire::cal::Record;

use super::record::{Source, number};
use super::window::Windows;
use super::{BETWEEN_PARTS, ByKey, MetricRule, OTHER_KEYS, RuleSet, Sums};
use crate::limits::METRIC_KEY_BYTES_MAX;

/// The letters of the classes, in the order in which rules are kept by them.
const CLASSES: [u8; 5] = *b"tTAEH";

/// The rules of one worker.
pub struct Rules {
    rules: RuleSet,
    /// For each class letter, which rules may want a record of it: looked up for every record.
    by_class: [Vec<usize>; CLASSES.len()],
    for_lines: Vec<usize>,
    windows: Arc<Windows>,
    open: Vec<(u64, ByKey)>,
    key: Vec<u8>,
    second: u64,
}

impl Rules {
    /// The rules that these windows have, with nothing counted yet.
    pub fn new(windows: Arc<Windows>) -> Rules {
        let rules = windows.rules();
        let wanting = |letter: u8| -> Vec<usize> {
            let wants = |rule: &MetricRule| {
                rule.classes.as_ref().is_none_or(|classes| classes.contains(&letter))
            };
            (0..rules.len()).filter(|&index| wants(&rules[index])).collect()
        };
        let by_class = CLASSES.map(wanting);
        let is_of_lines = |rule: &MetricRule| rule.classes.is_none() && rule.type_name.is_none();
        let for_lines = (0..rules.len()).filter(|&index| is_of_lines(&rules[index])).collect();
        let open = rules.iter().map(|_| (0, ByKey::new())).collect();
        Rules { rules, by_class, for_lines, windows, open, key: Vec::new(), second: 0 }
    }

    /// Whether any rule wants lines.
    pub fn want_lines(&self) -> bool {
        !self.for_lines.is_empty()
    }

    /// Sets the time of the records to come, and hands over the windows that are over. Rules that
    /// were changed hold from here on.
    pub fn at(&mut self, second: u64) {
        if !self.windows.has(&self.rules) {
            self.finish();
            *self = Rules::new(Arc::clone(&self.windows));
        }
        if second == self.second {
            return;
        }
        self.second = second;
        for index in 0..self.rules.len() {
            let start = second - second % self.rules[index].window_s;
            if self.open[index].0 != start {
                self.hand_over(index);
                self.open[index].0 = start;
            }
        }
    }

    /// Hands over everything.
    pub fn finish(&mut self) {
        (0..self.rules.len()).for_each(|index| self.hand_over(index));
    }

    fn hand_over(&mut self, index: usize) {
        let (start, keys) = &mut self.open[index];
        if !keys.is_empty() {
            self.windows.add(&self.rules[index], *start, std::mem::take(keys));
        }
    }

    /// Counts the body of a CAL message.
    pub fn cal(&mut self, pool: &str, host: &str, body: &[u8]) {
        let letter = match body {
            [b'\r', b'\n', letter, ..] | [letter, ..] => *letter,
            [] => return,
        };
        let class = CLASSES.iter().position(|&class| class == letter);
        let Some(wanting) = class.and_then(|class| self.by_class.get(class)) else { return };
        if wanting.is_empty() {
            return;
        }
        let Ok(record) = Record::parse(body) else { return };
        let source = Source { pool, host, text: record.text(), cal: Some(record) };
        for &index in wanting {
            let (window, key) = (&mut self.open[index].1, &mut self.key);
            count(&self.rules[index], &source, window, key);
        }
    }

    /// Counts lines: a whole block of them, each with its line end.
    pub fn lines(&mut self, pool: &str, host: &str, block: &[u8]) {
        for &index in &self.for_lines {
            let rule = &self.rules[index];
            let (window, key) = (&mut self.open[index].1, &mut self.key);
            let mut at = 0;
            while at < block.len() {
                // The text of the rule is looked for over the whole block, so that lines without
                // it are never seen.
                let found = match &rule.contains {
                    None => at,
                    Some(finder) => match finder.find(&block[at..]) {
                        None => break,
                        Some(found) => at + found,
                    },
                };
                let start = memchr::memrchr(b'\n', &block[at..found]).map_or(at, |n| at + n + 1);
                let end = memchr::memchr(b'\n', &block[found..]);
                let end = end.map_or(block.len(), |n| found + n);
                let text = block[start..end].strip_suffix(b"\r").unwrap_or(&block[start..end]);
                count(rule, &Source { pool, host, text, cal: None }, window, key);
                at = end + 1;
            }
        }
    }
}

fn count(rule: &MetricRule, source: &Source, window: &mut ByKey, key: &mut Vec<u8>) {
    if let Some(wanted) = &rule.type_name
        && source.cal.is_none_or(|record| record.type_name() != &wanted[..])
    {
        return;
    }
    if let Some(wanted) = &rule.named
        && source.cal.is_none_or(|record| record.name() != &wanted[..])
    {
        return;
    }
    if rule.contains.as_ref().is_some_and(|finder| finder.find(source.text).is_none()) {
        return;
    }
    let captures = match &rule.matches {
        None => None,
        Some(expression) => match expression.captures(source.text) {
            None => return,
            found => found,
        },
    };
    key.clear();
    for (index, (_, part)) in rule.key.iter().enumerate() {
        if index > 0 {
            key.push(BETWEEN_PARTS);
        }
        key.extend_from_slice(&source.part(part, captures.as_ref()).unwrap_or_default());
    }
    let value = rule.value.as_ref();
    let value = value.and_then(|part| number(&source.part(part, captures.as_ref())?));
    if let Some(sums) = window.get_mut(&key[..]) {
        sums.add(value);
        return;
    }
    let is_kept = window.len() < rule.keys_max && key.len() <= METRIC_KEY_BYTES_MAX;
    let key = if is_kept { &key[..] } else { OTHER_KEYS.as_bytes() };
    window.entry(key.into()).or_insert_with(|| Sums::of(rule)).add(value);
}
