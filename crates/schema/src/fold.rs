//! Recursive shapes: an object under a key that one of its ancestors has too, and that is like that
//! ancestor, is of the ancestor's type. So replies to replies need one type, not one for each
//! level.
//!
//! What is folded is merged with the ancestor, so that the type takes both. A wrong guess costs
//! each such object a byte for every field of the ancestor that it does not have, and what is
//! merged makes the ancestor like ever more. So both must be like each other.

use std::collections::BTreeMap;

use crate::observe::{Object, Seen};

/// An ancestor, and what tells whether an object is like it.
struct Ancestor {
    /// Its keys, and the share of its objects that has each.
    keys: BTreeMap<String, f64>,
    /// How many keys one of its objects has, on average.
    usual_keys: f64,
    is_record: bool,
}

impl Ancestor {
    fn of(object: &Object) -> Ancestor {
        let share = |count: u64| count as f64 / object.count.max(1) as f64;
        let members = object.members.iter();
        let keys: BTreeMap<String, f64> =
            members.map(|member| (member.key.clone(), share(member.count))).collect();
        Ancestor { usual_keys: keys.values().sum(), keys, is_record: object.map.is_none() }
    }
}

/// An object that was found to be like the ancestor of this level.
struct Found {
    level: usize,
    object: Box<Object>,
}

/// The share of an object's keys that an ancestor must have, and the share of the ancestor's usual
/// keys that the object must have.
const LIKE: f64 = 0.5;

/// Folds recursive shapes into their outermost level.
pub(crate) fn fold(root: &mut Seen) {
    let mut ancestors = Vec::new();
    walk(root, None, &mut ancestors);
}

/// Folds below a value that stands under a key; answers what belongs to ancestors.
fn walk(seen: &mut Seen, key: Option<&str>, ancestors: &mut Vec<Ancestor>) -> Vec<Found> {
    let mut found = Vec::new();
    if let Some(list) = &mut seen.list {
        found.extend(walk(&mut list.element, key, ancestors));
    }
    if let Some(object) = &mut seen.object {
        let level = seen.like.or_else(|| like(object, key?, ancestors));
        match level {
            Some(level) => {
                seen.like = Some(level);
                found.extend(seen.object.take().map(|object| Found { level, object }));
            }
            None => found.extend(walk_object(object, key, ancestors)),
        }
    }
    found
}

fn walk_object(
    object: &mut Object,
    key: Option<&str>,
    ancestors: &mut Vec<Ancestor>,
) -> Vec<Found> {
    let level = ancestors.len();
    let mut above = Vec::new();
    loop {
        ancestors.push(Ancestor::of(object));
        let mut found = Vec::new();
        for member in &mut object.members {
            found.extend(walk(&mut member.value, Some(&member.key), ancestors));
        }
        if let Some(map) = &mut object.map {
            found.extend(walk(map, key, ancestors));
        }
        ancestors.pop();
        let (own, others): (Vec<Found>, Vec<Found>) =
            found.into_iter().partition(|found| found.level == level);
        above.extend(others);
        if own.is_empty() {
            return above;
        }
        // What is merged may hold further objects of the same shape.
        for found in own {
            object.merge(*found.object);
        }
    }
}

/// The level of the nearest ancestor that an object under a key is like.
fn like(object: &Object, key: &str, ancestors: &[Ancestor]) -> Option<usize> {
    if object.map.is_some() || object.members.is_empty() {
        return None;
    }
    let is_like = |ancestor: &Ancestor| {
        let members = object.members.iter();
        let shared: Vec<f64> =
            members.filter_map(|member| ancestor.keys.get(&member.key).copied()).collect();
        ancestor.is_record
            && ancestor.keys.contains_key(key)
            && shared.len() as f64 >= LIKE * object.members.len() as f64
            && shared.iter().sum::<f64>() >= LIKE * ancestor.usual_keys
    };
    (0..ancestors.len()).rev().find(|&level| is_like(&ancestors[level]))
}
