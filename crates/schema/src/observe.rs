//! What is seen of payloads, one after the other, in bounded memory: which kinds of values stand
//! where, and how often.
//!
//! It never keeps a payload or a value. Keys are kept, up to limits; an object with more keys than
//! those is a map.

use std::collections::HashMap;

use cinch_core::document::{Document, Node, float_is_exact};

/// What one inference may hold.
pub struct Limits {
    /// The most different keys of an object that is not yet taken for a map.
    pub keys: usize,
    /// The most places, which are paths with list indices dropped, that are told apart.
    pub places: usize,
    /// The most bytes of all keys.
    pub key_bytes: usize,
    /// How deep values are looked at: an Avro schema nests four times as deep, and readers of JSON
    /// often stop at 128 levels.
    pub depth: usize,
}

/// The limits: some 200 MB at worst.
pub const LIMITS: Limits = Limits { keys: 1024, places: 250_000, key_bytes: 32 << 20, depth: 28 };

/// Integers in this range are taken for 32-bit ones: larger ones may follow.
const NARROW: i64 = 1 << 29;

/// What stood in one place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) nulls: u64,
    pub(crate) bools: u64,
    pub(crate) integers: Option<Range>,
    /// Numbers with a fraction or an exponent that a double holds.
    pub(crate) doubles: u64,
    /// Numbers that no double holds.
    pub(crate) long_numbers: u64,
    pub(crate) texts: u64,
    pub(crate) list: Option<Box<List>>,
    pub(crate) object: Option<Box<Object>>,
    /// The object is also one of the shape of an ancestor, counted from the root.
    pub(crate) like: Option<usize>,
}

/// The range of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) low: i64,
    pub(crate) high: u64,
    /// Whether any is outside what doubles hold exactly.
    pub(crate) is_long: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    pub(crate) count: u64,
    pub(crate) element: Seen,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Object {
    /// How many objects were seen.
    pub(crate) count: u64,
    /// The keys, in an order in which they stand in objects.
    pub(crate) members: Vec<Member>,
    pub(crate) places: HashMap<String, usize>,
    /// The values under any key, once the object is taken for a map.
    pub(crate) map: Option<Box<Seen>>,
    /// A previous schema says that it is a record, or that all of its keys may be absent.
    pub(crate) is_record: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Member {
    pub(crate) key: String,
    /// In how many objects it stood.
    pub(crate) count: u64,
    /// The number of the object that had it first.
    pub(crate) first: u64,
    pub(crate) value: Seen,
}

/// What was seen of all payloads.
#[derive(Debug, Default)]
pub struct Observations {
    pub(crate) root: Seen,
    pub(crate) payloads: u64,
    budget: Budget,
}

#[derive(Debug, Default)]
struct Budget {
    places: usize,
    key_bytes: usize,
}

impl Observations {
    /// Nothing seen yet.
    pub fn new() -> Observations {
        Observations::default()
    }

    /// How many payloads were seen.
    pub fn payloads(&self) -> u64 {
        self.payloads
    }

    /// Looks at a payload.
    pub fn observe(&mut self, document: &Document) {
        if document.nodes().is_empty() {
            return;
        }
        self.payloads += 1;
        self.root.observe(document, 0, 0, &mut self.budget);
    }
}

impl Seen {
    fn observe(&mut self, document: &Document, index: usize, depth: usize, budget: &mut Budget) {
        if depth >= LIMITS.depth {
            return;
        }
        match document.nodes()[index] {
            Node::Null => self.nulls += 1,
            Node::Bool(_) => self.bools += 1,
            Node::Int(value) => self.integer(value, value.max(0) as u64),
            Node::Uint(value) => self.integer(i64::MAX, value),
            Node::Float(_) => self.doubles += 1,
            Node::Decimal(span) => {
                match document.str(span).is_some_and(|text| float_is_exact(text).is_some()) {
                    true => self.doubles += 1,
                    false => self.long_numbers += 1,
                }
            }
            Node::String(_) => self.texts += 1,
            Node::Array { .. } => {
                let list = self.list.get_or_insert_default();
                list.count += 1;
                let end = document.end_of(index);
                let mut element = index + 1;
                while element < end {
                    list.element.observe(document, element, depth + 1, budget);
                    element = document.end_of(element);
                }
            }
            Node::Object { .. } => {
                let object = self.object.get_or_insert_default();
                object.observe(document, index, depth, budget);
            }
        }
    }

    fn integer(&mut self, low: i64, high: u64) {
        let is_long = low < -(1 << 53) || high > 1 << 53;
        let range = self.integers.get_or_insert(Range { low, high, is_long });
        range.low = range.low.min(low);
        range.high = range.high.max(high);
        range.is_long |= is_long;
    }

    pub(crate) fn is_number(&self) -> bool {
        self.integers.is_some() || self.doubles + self.long_numbers > 0
    }

    /// Takes in what stood in another place.
    pub(crate) fn merge(&mut self, other: Seen) {
        self.nulls += other.nulls;
        self.bools += other.bools;
        if let Some(range) = other.integers {
            self.integer(range.low, range.high);
        }
        self.doubles += other.doubles;
        self.long_numbers += other.long_numbers;
        self.texts += other.texts;
        self.like = self.like.or(other.like);
        if let Some(list) = other.list {
            let own = self.list.get_or_insert_default();
            own.count += list.count;
            own.element.merge(list.element);
        }
        if let Some(object) = other.object {
            match &mut self.object {
                None => self.object = Some(object),
                Some(own) => own.merge(*object),
            }
        }
    }
}

impl Range {
    /// Whether all are in the range that is taken for 32-bit integers.
    pub(crate) fn is_narrow(self) -> bool {
        self.low >= -NARROW && self.high <= NARROW as u64
    }

    /// Whether some are above what 64 bits with a sign hold.
    pub(crate) fn is_unsigned(self) -> bool {
        self.high > i64::MAX as u64
    }
}

impl Object {
    fn observe(&mut self, document: &Document, index: usize, depth: usize, budget: &mut Budget) {
        self.count += 1;
        let end = document.end_of(index);
        let (mut key, mut next_place) = (index + 1, 0);
        while key < end {
            let value = key + 1;
            let Node::String(span) = document.nodes()[key] else { return };
            key = document.end_of(value);
            // A key with a lone surrogate is one that no schema can name.
            let Some(name) = document.str(span) else { continue };
            if let Some(map) = &mut self.map {
                map.observe(document, value, depth + 1, budget);
                continue;
            }
            let Some(place) = self.place_of(name, next_place, budget) else {
                self.become_map();
                if let Some(map) = &mut self.map {
                    map.observe(document, value, depth + 1, budget);
                }
                continue;
            };
            next_place = place + 1;
            let number = self.count;
            let member = &mut self.members[place];
            member.count += 1;
            member.first = member.first.min(number);
            member.value.observe(document, value, depth + 1, budget);
        }
    }

    /// Where a key's member stands; a new key comes behind the one before it in its object. Nothing
    /// where there are too many.
    fn place_of(&mut self, name: &str, next_place: usize, budget: &mut Budget) -> Option<usize> {
        if self.members.get(next_place).is_some_and(|member| member.key == name) {
            return Some(next_place);
        }
        if let Some(&place) = self.places.get(name) {
            return Some(place);
        }
        budget.places += 1;
        budget.key_bytes += name.len();
        if self.members.len() >= LIMITS.keys
            || budget.places > LIMITS.places
            || budget.key_bytes > LIMITS.key_bytes
        {
            return None;
        }
        self.insert(next_place, name);
        self.members[next_place].first = self.count;
        Some(next_place)
    }

    /// Puts a new member into a place.
    pub(crate) fn insert(&mut self, place: usize, key: &str) {
        self.members.insert(place, Member { key: key.to_owned(), ..Member::default() });
        for (index, member) in self.members.iter().enumerate().skip(place) {
            match self.places.get_mut(&member.key) {
                Some(found) => *found = index,
                None => drop(self.places.insert(member.key.clone(), index)),
            }
        }
    }

    /// Takes all keys together, from now on too.
    pub(crate) fn become_map(&mut self) {
        let mut values = Seen::default();
        for member in std::mem::take(&mut self.members) {
            values.merge(member.value);
        }
        self.places.clear();
        match &mut self.map {
            Some(map) => map.merge(values),
            None => self.map = Some(Box::new(values)),
        }
    }

    /// Takes in what objects of another place were.
    pub(crate) fn merge(&mut self, other: Object) {
        if self.map.is_some() || other.map.is_some() {
            let mut other = other;
            self.become_map();
            other.become_map();
            if let (Some(map), Some(values)) = (&mut self.map, other.map) {
                map.merge(*values);
            }
            self.count += other.count;
            return;
        }
        let mut next_place = 0;
        for member in other.members {
            let place = match self.places.get(&member.key) {
                Some(&place) => place,
                None => {
                    self.insert(next_place, &member.key);
                    self.members[next_place].first = self.count + member.first;
                    next_place
                }
            };
            next_place = place + 1;
            let own = &mut self.members[place];
            own.count += member.count;
            own.value.merge(member.value);
        }
        self.count += other.count;
        self.is_record |= other.is_record;
    }
}
