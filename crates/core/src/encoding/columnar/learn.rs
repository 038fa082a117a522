//! Learning a model from payloads: which paths, keys and variants most of them share.
//!
//! Only what at least so many different entities had enters: keys, key lists, constants, beginnings
//! and ends of texts. An entity is who or what payloads are about; the caller says which payload
//! belongs to which.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::mem;

use super::Corrupt;
use super::choose::{self, common_form};
use super::columns::{Columns, Token};
use super::form::{Form, Number};
use super::model::{Affixes, Model, Slot, SlotId, TUPLE_MAX, Variant};
use crate::limits::COLUMNAR_VARIANTS_MAX;

/// Fewer different texts than this become constants of one slot.
const CONSTANTS_MAX: usize = 100;

/// A text that stands for less than this share of a slot's values is no constant.
const CONSTANT_SHARE_MIN: f64 = 0.004;

/// A key list that stands for less than this share of a slot's objects is none of the model.
const OBJECT_SHARE_MIN: f64 = 0.004;

/// A payload with more paths that no other had before uses keys as values, and teaches nothing.
const PAYLOAD_SLOTS_MAX: usize = 1 << 10;

/// Arrays of which this share have the same length are tuples.
const TUPLE_SHARE_MIN: f64 = 0.98;

/// So many values of a slot that are no constants show its forms.
const SAMPLE_VALUES: usize = 4 << 10;

/// What was learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnedModel {
    /// The model, as a dictionary file holds it.
    pub bytes: Vec<u8>,
    /// How many entities had each line of [`Model::contents`].
    pub entities: Vec<u32>,
}

/// Learns a model from payloads, each with the number of its entity; those of one entity stand
/// together. Returns nothing if nothing is shared by so many entities.
pub fn learn(payloads: &[(&[u8], u32)], entities_min: u32) -> Option<LearnedModel> {
    let mut learner = Learner::new(entities_min);
    for _ in 0..2 {
        learner.find_tuples();
        for &(payload, entity) in payloads {
            learner.add(payload, entity);
        }
    }
    learner.finish()
}

struct Learner {
    model: Model,
    columns: Columns,
    slots: Vec<Seen>,
    entities_min: u32,
}

/// What was seen of one slot.
#[derive(Default)]
struct Seen {
    entities: Entities,
    scalars: u64,
    texts: HashMap<Box<[u8]>, (u64, Entities)>,
    /// By the number of the variant.
    objects: HashMap<u32, (u64, Entities)>,
    arrays: Entities,
    /// Tuples by their length.
    tuples: HashMap<u32, (u64, Entities)>,
    /// Arrays by their length.
    lengths: HashMap<u32, u64>,
}

/// How many different entities, told in order.
#[derive(Debug, Clone, Copy, Default)]
struct Entities {
    count: u32,
    last: Option<u32>,
}

impl Entities {
    fn add(&mut self, entity: u32) {
        if self.last != Some(entity) {
            self.count += 1;
            self.last = Some(entity);
        }
    }
}

impl Learner {
    fn new(entities_min: u32) -> Learner {
        let model = Model::new();
        let columns = Columns::new(&model);
        Learner { columns, model, slots: Vec::new(), entities_min }
    }

    /// Makes tuples of arrays that nearly always have as many elements, and forgets all counts.
    fn find_tuples(&mut self) {
        for (slot, seen) in self.slots.iter().enumerate() {
            let arrays: u64 = seen.lengths.values().sum();
            let most = seen.lengths.iter().max_by_key(|&(length, count)| (count, length));
            let Some((&length, &count)) = most else { continue };
            let is_tuple = (2..=TUPLE_MAX as u32).contains(&length)
                && count >= u64::from(self.entities_min)
                && count as f64 >= TUPLE_SHARE_MIN * arrays as f64;
            let element = self.model.slots[slot].element.map(|slot| &self.slots[slot as usize]);
            if is_tuple && element.is_some_and(|e| e.objects.is_empty() && e.lengths.is_empty()) {
                // A model that is full stays as it is.
                let _ = self.model.add_variant(slot as SlotId, Variant::Tuple(length));
            }
        }
        self.model.settle();
        self.slots.clear();
    }

    /// Learns from a payload; payloads of one entity come one after the other. What the encoding
    /// does not carry teaches nothing.
    fn add(&mut self, payload: &[u8], entity: u32) {
        self.columns.forget_tokens();
        let known = (self.model.slots.len(), self.model.variants);
        let result = self.columns.walk(payload, &mut self.model);
        let (slots, variants) = (self.model.slots.len(), self.model.variants);
        if result.is_err() || slots - known.0 > PAYLOAD_SLOTS_MAX {
            // What one payload brings must not fill the model for all others.
            self.model.reset();
            self.columns.clear();
            return;
        }
        if (slots, variants) != known {
            self.model.settle();
            self.columns.settle();
        }
        if self.slots.len() < self.model.slots.len() {
            self.slots.resize_with(self.model.slots.len(), Seen::default);
        }
        for &slot in &self.columns.reached {
            let seen = &mut self.slots[slot as usize];
            seen.entities.add(entity);
            for token in &self.columns.tokens[slot as usize] {
                match *token {
                    Token::Scalar(start, end) => {
                        seen.scalars += 1;
                        let text = &payload[start as usize..end as usize];
                        let (count, entities) = match seen.texts.get_mut(text) {
                            Some(known) => known,
                            None => seen.texts.entry(text.into()).or_default(),
                        };
                        *count += 1;
                        entities.add(entity);
                    }
                    Token::Object(variant) => {
                        let (count, entities) = seen.objects.entry(variant).or_default();
                        *count += 1;
                        entities.add(entity);
                    }
                    Token::Array(length) => {
                        seen.arrays.add(entity);
                        *seen.lengths.entry(length).or_default() += 1;
                    }
                    Token::Tuple(variant) => {
                        let variants = &self.model.slots[slot as usize].variants;
                        if let Variant::Tuple(length) = variants[variant as usize] {
                            let (count, entities) = seen.tuples.entry(length).or_default();
                            *count += 1;
                            entities.add(entity);
                        }
                    }
                }
            }
        }
    }

    /// The model, or nothing if nothing is shared, or more than a model holds.
    fn finish(&self) -> Option<LearnedModel> {
        if self.slots.is_empty() {
            return None;
        }
        let mut learned = Model::new();
        // From the slots that were seen to those of the model.
        let mut stack: Vec<(SlotId, SlotId)> = vec![(0, 0)];
        let mut counts: Vec<Vec<u32>> = Vec::new();
        while let Some((seen, slot)) = stack.pop() {
            // What does not fit must not stay in part: keys stand in the lists that name them.
            let of_slot = self.learn_slot(seen, slot, &mut learned, &mut stack).ok()?;
            counts.resize(learned.slots.len(), Vec::new());
            counts[slot as usize] = of_slot;
        }
        if learned.slots.iter().any(|slot| slot.variants.is_empty()) {
            return None;
        }
        let mut bytes = Vec::new();
        learned.write(&mut bytes);
        let entities = learned.in_order().flat_map(|slot| mem::take(&mut counts[slot as usize]));
        Some(LearnedModel { bytes, entities: entities.collect() })
    }

    /// Learns a slot, and says how many entities had it and each of its variants.
    fn learn_slot(
        &self,
        from: SlotId,
        to: SlotId,
        learned: &mut Model,
        stack: &mut Vec<(SlotId, SlotId)>,
    ) -> Result<Vec<u32>, Corrupt> {
        let seen = &self.slots[from as usize];
        let content = &self.model.slots[from as usize];
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut variants: Vec<Variant> = Vec::new();
        let mut counts = vec![seen.entities.count];
        for (keys, entities) in self.key_lists(seen, content) {
            counts.push(entities);
            let mut list = Vec::new();
            for key in keys {
                if let Entry::Vacant(place) = numbers.entry(key) {
                    let child = &content.children[key as usize];
                    let number = *place.insert(learned.add_child(to, child.key())?);
                    let below = learned.slots[to as usize].children[number as usize].slot;
                    stack.push((child.slot, below));
                }
                list.push(numbers[&key]);
            }
            variants.push(Variant::Object(list.into()));
        }
        let mut tuples: Vec<(u32, u64, u32)> = seen
            .tuples
            .iter()
            .filter(|(_, (_, entities))| entities.count >= self.entities_min)
            .map(|(&length, &(count, entities))| (length, count, entities.count))
            .collect();
        tuples.sort_by_key(|&(length, count, _)| (std::cmp::Reverse(count), length));
        variants.extend(tuples.iter().map(|&(length, ..)| Variant::Tuple(length)));
        counts.extend(tuples.iter().map(|&(_, _, entities)| entities));
        for variant in variants {
            learned.add_variant(to, variant)?;
        }
        if seen.arrays.count >= self.entities_min
            && let Some(element) = content.element
        {
            learned.add_variant(to, Variant::Array)?;
            counts.push(seen.arrays.count);
            stack.extend(learned.slots[to as usize].element.map(|below| (element, below)));
        }
        let positions = learned.slots[to as usize].positions.clone();
        stack.extend(content.positions.iter().copied().zip(positions));
        // Half of the variants are kept for what objects and arrays need.
        let scalars = self.scalars(seen);
        if learned.variants + scalars.len() <= COLUMNAR_VARIANTS_MAX / 2 {
            for (variant, entities) in scalars {
                learned.add_variant(to, variant)?;
                counts.push(entities);
            }
        }
        if learned.slots[to as usize].variants.is_empty() {
            // Nothing is common here: any text may stand.
            learned.add_variant(to, Variant::Text(Affixes::quotes()))?;
            counts.push(seen.entities.count);
        }
        Ok(counts)
    }

    /// The key lists that enough entities had, without the keys that too few had, the most frequent
    /// first, each with how many entities had it.
    fn key_lists(&self, seen: &Seen, content: &Slot) -> Vec<(Vec<u32>, u32)> {
        let total: u64 = seen.objects.values().map(|(count, _)| count).sum();
        let is_common = |key: &u32| {
            let below = content.children[*key as usize].slot;
            self.slots[below as usize].entities.count >= self.entities_min
        };
        let mut lists: HashMap<Vec<u32>, (u64, u32)> = HashMap::new();
        for (&variant, (count, entities)) in &seen.objects {
            if let Variant::Object(keys) = &content.variants[variant as usize] {
                let common: Vec<u32> = keys.iter().copied().filter(is_common).collect();
                if !common.is_empty() || keys.is_empty() {
                    let known = lists.entry(common).or_default();
                    known.0 += count;
                    // The same entity may have had several of what became one list.
                    known.1 = known.1.max(entities.count);
                }
            }
        }
        let mut lists: Vec<(Vec<u32>, u64, u32)> = lists
            .into_iter()
            .map(|(keys, (count, entities))| (keys, count, entities))
            .filter(|&(_, count, entities)| {
                entities >= self.entities_min && count as f64 >= OBJECT_SHARE_MIN * total as f64
            })
            .collect();
        lists.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        lists.into_iter().map(|(keys, _, entities)| (keys, entities)).collect()
    }

    /// The variants that the scalars of a slot have, each with how many entities had it.
    fn scalars(&self, seen: &Seen) -> Vec<(Variant, u32)> {
        let total = seen.scalars as f64;
        let mut texts: Vec<(&[u8], u64, u32)> = seen
            .texts
            .iter()
            .map(|(text, &(count, entities))| (&**text, count, entities.count))
            .collect();
        texts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let is_common = |&&(_, count, entities): &&(&[u8], u64, u32)| {
            entities >= self.entities_min && count as f64 >= CONSTANT_SHARE_MIN * total
        };
        let mut constants: Vec<&(&[u8], u64, u32)> =
            texts.iter().filter(is_common).take(CONSTANTS_MAX).collect();
        let covered: u64 = constants.iter().map(|(_, count, _)| count).sum();
        let is_text = |text: &[u8]| text.first() == Some(&b'"');
        let strings: u64 =
            texts.iter().filter(|(text, ..)| is_text(text)).map(|(_, count, _)| count).sum();
        // Saying which constant it is costs every value of the slot a part of a byte.
        if (covered as f64) < 0.1 * total {
            constants.clear();
        }
        let is_numbers = strings == 0;
        if is_numbers && !constants.is_empty() && (covered as f64) < 0.999 * total {
            // Small numbers take a byte anyway.
            let bits_constants = |constants: &[&(&[u8], u64, u32)]| {
                let of = |count: f64| count * (total / count).log2();
                let rest = total - covered as f64;
                constants.iter().map(|(_, count, _)| of(*count as f64)).sum::<f64>()
                    + if rest > 0.0 { of(rest) + rest * 10.0 } else { 0.0 }
            };
            let bits_numbers: f64 = texts
                .iter()
                .map(|(text, count, _)| *count as f64 * (2.0 + 2.6 * text.len() as f64).min(40.0))
                .sum();
            if bits_constants(&constants) > bits_numbers {
                constants.clear();
            }
        }
        let texts_of_constants: HashSet<&[u8]> = constants.iter().map(|(text, ..)| *text).collect();
        let mut variants: Vec<(Variant, u32)> = constants
            .iter()
            .map(|&&(text, _, entities)| (Variant::Constant(text.into()), entities))
            .collect();
        let rest: Vec<&[u8]> = texts
            .iter()
            .map(|(text, ..)| *text)
            .filter(|text| !texts_of_constants.contains(text))
            .take(SAMPLE_VALUES)
            .collect();
        let last = |text: &[u8]| seen.texts.get(text).and_then(|(_, entities)| entities.last);
        variants.extend(self.forms(&rest, last));
        variants
    }

    /// The forms of values that are no constants. `last` is the last entity that had a value: at
    /// least as many entities as there are different ones stand behind a form.
    fn forms(&self, values: &[&[u8]], last: impl Fn(&[u8]) -> Option<u32>) -> Vec<(Variant, u32)> {
        let mut variants: Vec<(Variant, u32)> = Vec::new();
        if values.is_empty() {
            return variants;
        }
        let (strings, others): (Vec<&[u8]>, Vec<&[u8]>) =
            values.iter().partition(|text| text.first() == Some(&b'"'));
        let numbers: Vec<(usize, Number)> =
            others.iter().filter_map(|text| Some((0, Number::parse(text)?))).collect();
        if !numbers.is_empty() {
            let form = common_form(&numbers);
            let forms = match form {
                Some(form) => vec![form],
                None => vec![
                    Form::Integer,
                    Form::Trimmed(
                        numbers.iter().map(|(_, number)| number.scale).max().unwrap_or(1),
                    ),
                ],
            };
            for form in forms {
                let integers: Vec<i64> =
                    others.iter().filter_map(|text| form.parse(text)).collect();
                let behind: HashSet<u32> = others.iter().filter_map(|text| last(text)).collect();
                let behind = behind.len() as u32;
                let base = if behind >= self.entities_min { base(integers) } else { 0 };
                variants.push((Variant::Number(Affixes::bare(), form, base), behind));
            }
        }
        if strings.is_empty() {
            return variants;
        }
        let choice = choose::choose(&strings);
        let mut entities: Vec<HashSet<u32>> = vec![HashSet::new(); choice.variants.len()];
        for (&variant, text) in choice.of_values.iter().zip(&strings) {
            entities[variant as usize].extend(last(text));
        }
        let enough = |entities: &HashSet<u32>| entities.len() as u32 >= self.entities_min;
        let mut needs_text = false;
        for (variant, entities) in choice.variants.into_iter().zip(&entities) {
            match variant {
                Variant::Number(affixes, form, _) if enough(entities) => {
                    let parse = |text: &&&[u8]| form.parse(affixes.inner(text)?);
                    let base = base(strings.iter().filter_map(|text| parse(&text)).collect());
                    variants.push((Variant::Number(affixes, form, base), entities.len() as u32));
                }
                Variant::Bytes(..) | Variant::Text(_) if enough(entities) => {
                    variants.push((variant, entities.len() as u32));
                }
                _ => needs_text = true,
            }
        }
        let any = Variant::Text(Affixes::quotes());
        if needs_text && !variants.iter().any(|(variant, _)| *variant == any) {
            let behind: HashSet<u32> = strings.iter().filter_map(|text| last(text)).collect();
            variants.push((any, behind.len() as u32));
        }
        variants
    }
}

/// What the integers of a slot are told against: 0 for small ones, a round number near the middle
/// of those that lie far from 0 and near each other. It is no value of the slot, which might be
/// somebody's number: it tells the leading digits that all of them share.
fn base(mut integers: Vec<i64>) -> i64 {
    integers.sort_unstable();
    let (Some(&first), Some(&last)) = (integers.first(), integers.last()) else { return 0 };
    let middle = integers[integers.len() / 2];
    let spread = last.saturating_sub(first);
    if middle.saturating_abs() / 4 <= spread {
        return 0;
    }
    // A sixteenth of the spread costs hardly a bit of a value.
    let step = (spread / 16).max(1).saturating_add(1) as u64;
    let step = step.next_power_of_two().min(1 << 62) as i64;
    let round = middle - middle.rem_euclid(step);
    let is_value = |base: i64| integers.binary_search(&base).is_ok();
    (0..=integers.len() as i64)
        .map(|off| round.saturating_sub(off))
        .find(|&base| !is_value(base))
        .unwrap_or(0)
}
