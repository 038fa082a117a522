//! Metrics from records: what the article calls VID and heartbeat metrics. A rule of the
//! configuration says which records count, what they are counted by, and what is added up; a
//! window's sums leave as one line for each key.
//!
//! A record that no rule wants costs a look at its first byte, or for lines nothing of its own:
//! rules on lines look for their text over whole reads.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use memchr::memmem::Finder;
use regex::bytes::Regex;
use serde::Deserialize;

mod record;
mod rules;
mod sums;
#[cfg(test)]
mod tests;
mod window;

pub use record::Source;
pub use rules::Rules;
pub use sums::Sums;
pub use window::{Window, Windows};

/// The most different keys of a rule in one window and worker, unless the rule says otherwise.
const KEYS_MAX: usize = 10_000;

/// The most that a rule may ask for.
const KEYS_MAX_MAX: usize = 1_000_000;

/// The most keys of a rule that wants quantiles.
const SKETCHES_MAX: usize = 10_000;

/// The seconds of a window, unless the rule says otherwise.
const WINDOW_S: u64 = 10;

/// What the rest of the keys is counted under.
pub const OTHER_KEYS: &str = "(other)";

/// Why a rule can't be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MetricError {
    /// A class is no letter of CAL.
    #[error("there is no class {0:?}; there are t, T, A, E and H")]
    Class(char),
    /// The expression can't be read.
    #[error("matches: {0}")]
    Expression(String),
    /// A part of the key, or the value, is nothing that a record has.
    #[error(
        "a record has no {0:?}; it has pool, host, type, name, status, duration_ms, data.NAME, \
         json.NAME, and a number for what a bracket of matches found"
    )]
    Part(String),
    /// Numbers out of range.
    #[error("{0}")]
    Range(&'static str),
}

/// A rule as the configuration has it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricSection {
    name: String,
    class: Option<String>,
    #[serde(rename = "type")]
    type_name: Option<String>,
    named: Option<String>,
    contains: Option<String>,
    matches: Option<String>,
    #[serde(default)]
    key: Vec<String>,
    value: Option<String>,
    window_s: Option<u64>,
    keys_max: Option<usize>,
    top: Option<usize>,
    #[serde(default)]
    quantiles: Vec<f64>,
    sink: Option<String>,
}

/// Something that a record has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The pool of its connection.
    Pool,
    /// The host that the client named.
    Host,
    /// The type of a CAL record.
    Type,
    /// Its name.
    Name,
    /// Its status, `0` or `severity.module.system.code`.
    Status,
    /// Its duration.
    Duration,
    /// A value of its data.
    Data(String),
    /// A field of a record that is a JSON object.
    Json(String),
    /// What a bracket of the rule's expression found.
    Capture(usize),
}

/// A rule that was validated.
#[derive(Debug, Clone)]
pub struct MetricRule {
    /// The name of what it counts.
    pub name: String,
    /// The classes of CAL that it takes; `None` takes all, and records that are no CAL.
    pub classes: Option<Vec<u8>>,
    /// The type that it takes.
    pub type_name: Option<Vec<u8>>,
    /// The name that it takes.
    pub named: Option<Vec<u8>>,
    /// A text that the record holds.
    pub contains: Option<Finder<'static>>,
    /// An expression that it matches.
    pub matches: Option<Regex>,
    /// What it is counted by.
    pub key: Vec<(String, Part)>,
    /// What is added up.
    pub value: Option<Part>,
    /// The seconds of a window.
    pub window_s: u64,
    /// The most different keys.
    pub keys_max: usize,
    /// How many keys leave, those that were counted most, beside one for the rest; `None` for all.
    pub top: Option<usize>,
    /// The quantiles of values that are wanted, each from 0 to 1.
    pub quantiles: Vec<f64>,
    /// The sink of its windows; `None` for lines on standard output.
    pub sink: Option<String>,
    /// What the configuration says, by which a rule is known again after a reload.
    pub(crate) section: MetricSection,
}

impl MetricSection {
    /// The name of the sink that it wants.
    pub fn sink(&self) -> Option<&String> {
        self.sink.as_ref()
    }

    /// Validates the rule.
    pub fn validate(self) -> Result<MetricRule, MetricError> {
        let section = self.clone();
        let wrong = |letter: &char| !"tTAEH".contains(*letter);
        if let Some(letter) = self.class.iter().flat_map(|class| class.chars()).find(wrong) {
            return Err(MetricError::Class(letter));
        }
        let expression = |text: &String| {
            let message = |error: regex::Error| {
                let text = error.to_string();
                MetricError::Expression(text.lines().last().unwrap_or_default().trim().to_owned())
            };
            Regex::new(text).map_err(message)
        };
        let matches = self.matches.as_ref().map(expression).transpose()?;
        let brackets = matches.as_ref().map_or(0, Regex::captures_len);
        let part = |text: &String| Part::parse(text, brackets);
        let named_part = |text: &String| Ok((text.clone(), part(text)?));
        let key: Result<Vec<(String, Part)>, MetricError> =
            self.key.iter().map(named_part).collect();
        let value = self.value.as_ref().map(part).transpose()?;
        let window_s = self.window_s.unwrap_or(WINDOW_S);
        if !(1..=86_400).contains(&window_s) {
            return Err(MetricError::Range("window_s is 1 to 86400"));
        }
        let keys_max = self.keys_max.unwrap_or(KEYS_MAX);
        if !(1..=KEYS_MAX_MAX).contains(&keys_max) {
            return Err(MetricError::Range("keys_max is 1 to 1000000"));
        }
        if keys_max > SKETCHES_MAX && !self.quantiles.is_empty() {
            let message = "keys_max is at most 10000 with quantiles, which take 4 KiB a key";
            return Err(MetricError::Range(message));
        }
        if !self.quantiles.iter().all(|share| (0.0..=1.0).contains(share)) {
            return Err(MetricError::Range("quantiles are from 0 to 1"));
        }
        Ok(MetricRule {
            name: self.name,
            classes: self.class.map(String::into_bytes),
            type_name: self.type_name.map(String::into_bytes),
            named: self.named.map(String::into_bytes),
            contains: self.contains.map(|text| Finder::new(text.as_bytes()).into_owned()),
            matches,
            key: key?,
            value,
            window_s,
            keys_max,
            top: self.top,
            quantiles: self.quantiles,
            sink: self.sink,
            section,
        })
    }
}

impl Part {
    fn parse(text: &str, brackets: usize) -> Result<Part, MetricError> {
        let unknown = || MetricError::Part(text.to_owned());
        Ok(match text {
            "pool" => Part::Pool,
            "host" => Part::Host,
            "type" => Part::Type,
            "name" => Part::Name,
            "status" => Part::Status,
            "duration_ms" => Part::Duration,
            _ => match text.split_once('.') {
                Some(("data", name)) => Part::Data(name.to_owned()),
                Some(("json", name)) => Part::Json(name.to_owned()),
                _ => {
                    let number: usize = text.parse().map_err(|_| unknown())?;
                    if number >= brackets {
                        return Err(unknown());
                    }
                    Part::Capture(number)
                }
            },
        })
    }
}

/// Keys are their parts one after the other with this between them, which no text log holds.
const BETWEEN_PARTS: u8 = 0x1F;

type ByKey = HashMap<Box<[u8]>, Sums>;
type ByWindow = BTreeMap<u64, ByKey>;

/// The rules of a configuration.
pub type RuleSet = Arc<[Arc<MetricRule>]>;
