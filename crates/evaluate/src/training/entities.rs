//! Who or what payloads are about: the value of a member that the user names, or the group of
//! near-duplicates that a payload belongs to.

use std::collections::HashMap;

use crate::corpus::{Corpus, FieldPath};
use crate::groups::Groups;

/// The entity of each payload.
pub(super) struct Entities {
    /// By the index of the payload.
    pub(super) of: Vec<u32>,
    pub(super) count: usize,
    /// What the user should know of them.
    pub(super) notice: Option<String>,
}

/// The entities of a corpus. Payloads without the member count as one, so that nothing that only
/// they have is learned.
pub(super) fn of(corpus: &Corpus, groups: &Groups, field: Option<&FieldPath>) -> Entities {
    let Some(field) = field else {
        return Entities { of: groups.of.clone(), count: groups.count, notice: None };
    };
    let mut numbers: HashMap<&[u8], u32> = HashMap::new();
    let mut missing = 0;
    let mut of = Vec::with_capacity(corpus.payloads.len());
    for payload in &corpus.payloads {
        let value = Some(payload).filter(|payload| payload.is_json);
        let value = value.and_then(|payload| field.pick(&payload.bytes));
        missing += usize::from(value.is_none());
        let next = numbers.len() as u32;
        of.push(*numbers.entry(value.unwrap_or_default()).or_insert(next));
    }
    let notice = (missing > 0)
        .then(|| format!("{missing} payloads have no {field}; they count as one entity together."));
    Entities { count: numbers.len(), of, notice }
}
