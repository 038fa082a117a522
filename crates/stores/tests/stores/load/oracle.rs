//! What must be true of every read: the cart is one that somebody wrote, byte for byte, and not
//! older than what was confirmed before the read began.
//!
//! A cart's content follows from its key, version and writer, so that a read is checked without
//! keeping what was written. Versions grow by compare-and-set, which makes them the stamp.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::outside::Asker;

/// How many carts there are: few, so that writers meet.
pub const KEYS: u64 = 24;

/// What is known of one cart.
#[derive(Default)]
struct History {
    confirmed: u64,
    /// Version and writer of every write that was begun, whatever became of it.
    begun: HashSet<(u64, u32)>,
}

/// The judge of all reads.
pub struct Oracle {
    histories: Vec<Mutex<History>>,
    violations: Mutex<Vec<String>>,
    /// Who knows it all, in a process that is not the test's.
    asker: Option<Asker>,
}

/// The key of a cart.
pub fn key(number: u64) -> Vec<u8> {
    format!("cart:{number}").into_bytes()
}

/// The cart of a key, version and writer; some are too small to be packed.
pub fn cart(number: u64, version: u64, writer: u32) -> Vec<u8> {
    let head = format!("{{\"cart\":{number},\"version\":{version},\"writer\":{writer}");
    let items = match version % 9 {
        0 => return (head + "}").into_bytes(),
        few => few * few,
    };
    let items: Vec<String> = (0..items)
        .map(|item| {
            let sku = (number * 7919 + version * 104_729 + item * 31) % 100_003;
            format!("{{\"sku\":\"SKU-{sku}\",\"title\":\"A thing to buy\",\"price\":12.50}}")
        })
        .collect();
    format!("{head},\"items\":[{}]}}", items.join(",")).into_bytes()
}

/// The version and writer that a cart says of itself.
fn named(payload: &[u8]) -> Option<(u64, u32)> {
    let cart: serde_json::Value = serde_json::from_slice(payload).ok()?;
    let writer = u32::try_from(cart["writer"].as_u64()?).ok()?;
    Some((cart["version"].as_u64()?, writer))
}

impl Oracle {
    pub fn new() -> Oracle {
        let histories = (0..KEYS).map(|_| Mutex::default()).collect();
        Oracle { histories, violations: Mutex::default(), asker: None }
    }

    /// One that asks the oracle of another process.
    pub fn asking(asker: Asker) -> Oracle {
        Oracle { asker: Some(asker), ..Oracle::new() }
    }

    fn asked(&self, question: &Value) -> Option<Value> {
        Some(self.asker.as_ref()?.ask(question))
    }

    /// Tells whoever is asked what became of this process.
    pub fn tell(&self, what: &str, text: &str) -> Option<Value> {
        self.asked(&json!([what, text]))
    }

    fn history(&self, number: u64) -> MutexGuard<'_, History> {
        let number = usize::try_from(number).expect("there are few keys");
        self.histories[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version below which no read that begins now may be.
    pub fn floor(&self, number: u64) -> u64 {
        match self.asked(&json!(["floor", number])) {
            Some(answer) => answer.as_u64().expect("it is a number"),
            None => self.history(number).confirmed,
        }
    }

    /// Notes that a write begins.
    pub fn begins(&self, number: u64, version: u64, writer: u32) {
        if self.asked(&json!(["begins", number, version, writer])).is_none() {
            self.history(number).begun.insert((version, writer));
        }
    }

    /// Whether such a write was begun by anybody.
    pub fn was_begun(&self, number: u64, version: u64, writer: u32) -> bool {
        match self.asked(&json!(["was_begun", number, version, writer])) {
            Some(answer) => answer == true,
            None => self.history(number).begun.contains(&(version, writer)),
        }
    }

    /// Notes that a write was answered.
    pub fn is_confirmed(&self, number: u64, version: u64) {
        if self.asked(&json!(["is_confirmed", number, version])).is_some() {
            return;
        }
        let mut history = self.history(number);
        history.confirmed = history.confirmed.max(version);
    }

    /// Judges a read, and returns the version that it found; 0 where there is no cart yet.
    pub fn judge(
        &self,
        who: &str,
        number: u64,
        floor: u64,
        payload: Option<&[u8]>,
        stamp: Option<u64>,
    ) -> Option<u64> {
        let Some(payload) = payload else {
            if floor > 0 {
                self.is_violated(format!(
                    "{who}: cart {number} is gone, version {floor} was there"
                ));
            }
            return (floor == 0).then_some(0);
        };
        let shown = String::from_utf8_lossy(&payload[..payload.len().min(80)]).into_owned();
        let Some((version, writer)) = named(payload) else {
            self.is_violated(format!("{who}: cart {number} is no cart: {shown:?}"));
            return None;
        };
        let is_right =
            payload == cart(number, version, writer) && self.was_begun(number, version, writer);
        if !is_right {
            self.is_violated(format!("{who}: cart {number} was never written so: {shown:?}"));
        }
        if version < floor {
            self.is_violated(format!("{who}: cart {number} is of version {version}, not {floor}"));
        }
        if let Some(stamp) = stamp
            && stamp != version
        {
            self.is_violated(format!("{who}: cart {number}, version {version}, stamp {stamp}"));
        }
        is_right.then_some(version)
    }

    /// Notes that something happened that must never happen.
    pub fn is_violated(&self, what: String) {
        if self.asked(&json!(["is_violated", what])).is_some() {
            return;
        }
        self.violations.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    /// Everything that must never have happened.
    pub fn violations(&self) -> Vec<String> {
        self.violations.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
