//! Which objects are maps: their keys are data (a date, an id, a currency) and new ones keep
//! coming, where those of a record have all been seen after a while.
//!
//! A wrong guess is not an error: a map as a record has keys outside it, a record as a map writes
//! its keys out. Both are only larger.

use crate::observe::{Object, Seen};

/// An object with fewer different keys is a record.
const KEYS_MIN: usize = 8;

/// An object with names that are no names in any language needs fewer.
const ODD_KEYS_MIN: usize = 3;

/// In a map a key stands in less than this share of the objects.
const SHARE_MAX: f64 = 0.3;

/// In a map more than this share of the keys come up in the second half of the objects only.
const LATE_MIN: f64 = 0.1;

/// Turns objects with dynamic keys into maps, from the leaves up.
pub(crate) fn find_maps(seen: &mut Seen) {
    if let Some(list) = &mut seen.list {
        find_maps(&mut list.element);
    }
    if let Some(object) = &mut seen.object {
        for member in &mut object.members {
            find_maps(&mut member.value);
        }
        if object.map.is_none() && is_map(object) {
            object.become_map();
        }
        if let Some(map) = &mut object.map {
            find_maps(map);
        }
    }
}

fn is_map(object: &Object) -> bool {
    let keys = object.members.len();
    if object.is_record || keys < ODD_KEYS_MIN || !is_uniform(object) {
        return false;
    }
    let odd = object.members.iter().filter(|member| is_odd(&member.key)).count();
    if odd * 2 > keys {
        return true;
    }
    let pairs: u64 = object.members.iter().map(|member| member.count).sum();
    let share = pairs as f64 / (object.count as f64 * keys as f64);
    let half = object.count / 2;
    let late = object.members.iter().filter(|member| member.first > half).count();
    keys >= KEYS_MIN && share < SHARE_MAX && late as f64 > LATE_MIN * keys as f64
}

/// Whether a key is data by its looks: it starts with a digit, or has characters of no name.
fn is_odd(key: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@' | '.');
    key.is_empty() || key.starts_with(|c: char| c.is_ascii_digit()) || !key.chars().all(is_part)
}

/// Whether the values under all keys are of one kind, and where they are objects, alike.
fn is_uniform(object: &Object) -> bool {
    let mut kinds = [false; 5];
    for Seen { bools, texts, list, object, .. } in object.members.iter().map(|m| &m.value) {
        kinds[0] |= *bools > 0;
        kinds[1] |= *texts > 0;
        kinds[2] |= list.is_some();
        kinds[3] |= object.is_some();
    }
    kinds[4] = object.members.iter().any(|member| member.value.is_number());
    if kinds.iter().filter(|kind| **kind).count() > 1 {
        return false;
    }
    let objects: Vec<&Object> =
        object.members.iter().filter_map(|member| member.value.object.as_deref()).collect();
    let mut all = std::collections::BTreeSet::new();
    let mut mean = 0.0;
    for object in &objects {
        if object.map.is_some() {
            continue;
        }
        all.extend(object.members.iter().map(|member| member.key.as_str()));
        mean += object.members.len() as f64 / objects.len() as f64;
    }
    all.is_empty() || mean >= 0.5 * all.len() as f64
}
