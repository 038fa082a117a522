//! From JSON text to columns: every value is noted under its slot, as a range of the text.
//!
//! No document is built. The kernel of the SIMD parser lists what structures the text, and one walk
//! over that list follows the model: objects of a slot mostly have the keys of the object before,
//! so that a key is compared with the one that is expected and looked up only where it is another.

use std::collections::HashMap;

use super::Refused;
use super::model::{Model, SlotId, TUPLE_MAX, Variant};
use super::style::Style;
use crate::json::structure::{self, HAS_ESCAPE};
use crate::limits::COLUMNAR_DEPTH_MAX;

/// One value of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// A string, number or literal: its range in the text, quotes included.
    Scalar(u32, u32),
    /// An object of this variant.
    Object(u32),
    /// An array with so many elements.
    Array(u32),
    /// A tuple of this variant.
    Tuple(u32),
}

/// An array or object that is not closed yet.
struct Open {
    slot: SlotId,
    kind: Kind,
    /// Elements so far.
    length: u32,
    /// The variant whose keys are expected, and the place of the next of them.
    expected: u32,
    place: u32,
    /// Where its keys begin in the list of all open objects.
    keys_start: u32,
    /// Whether every key so far was the expected one.
    is_expected: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    /// The slot of the elements.
    Array(SlotId),
    /// The variant.
    Tuple(u32),
}

/// An array of so many scalars in an array is a tuple: a pair, or coordinates with heights.
const PAIR_MAX: u32 = 4;

/// An array of more scalars is no tuple.
const SCALARS_AHEAD_MAX: u32 = TUPLE_MAX as u32;

/// No variant.
const NO_VARIANT: u32 = u32::MAX;

/// What the walk found, and the memory that it reuses.
#[derive(Default)]
pub(super) struct Columns {
    index: Vec<u32>,
    /// The values of each slot, in the order of the text.
    pub(super) tokens: Vec<Vec<Token>>,
    /// The variant that the last object of each slot had.
    last_object: Vec<u32>,
    /// The slots that have values.
    pub(super) reached: Vec<SlotId>,
    /// The keys of the objects that are open.
    keys: Vec<u32>,
    stack: Vec<Open>,
    /// Keys by slot, and key lists by slot, of the whole model.
    children: HashMap<(SlotId, Box<[u8]>), u32, Hasher>,
    objects: HashMap<(SlotId, Box<[u32]>), u32, Hasher>,
    /// What was added to the two maps for this payload.
    new_children: Vec<(SlotId, Box<[u8]>)>,
    new_objects: Vec<(SlotId, Box<[u32]>)>,
}

/// Seeded at random in each process, so that nobody can send keys that collide.
type Hasher = foldhash::fast::RandomState;

impl Columns {
    /// Columns that know the keys of a model.
    pub(super) fn new(model: &Model) -> Columns {
        let mut columns = Columns::default();
        for (slot, content) in model.slots.iter().enumerate() {
            for (number, child) in content.children.iter().enumerate() {
                columns.children.insert((slot as SlotId, child.key().into()), number as u32);
            }
            for (number, variant) in content.variants.iter().enumerate() {
                if let Variant::Object(keys) = variant {
                    columns.objects.insert((slot as SlotId, keys.clone()), number as u32);
                }
            }
        }
        columns
    }

    /// Forgets the values of a payload.
    pub(super) fn forget_tokens(&mut self) {
        for slot in self.reached.drain(..) {
            self.tokens[slot as usize].clear();
            self.last_object[slot as usize] = NO_VARIANT;
        }
    }

    /// Keeps what the payload added to the model.
    pub(super) fn settle(&mut self) {
        self.new_children.clear();
        self.new_objects.clear();
    }

    /// Forgets the payload, and what it added to the model.
    pub(super) fn clear(&mut self) {
        self.forget_tokens();
        for key in self.new_children.drain(..) {
            self.children.remove(&key);
        }
        for key in self.new_objects.drain(..) {
            self.objects.remove(&key);
        }
    }

    fn note(&mut self, slot: SlotId, token: Token) {
        let at = slot as usize;
        if at >= self.tokens.len() {
            self.tokens.resize_with(at + 1, Vec::new);
            self.last_object.resize(at + 1, NO_VARIANT);
        }
        if self.tokens[at].is_empty() {
            self.reached.push(slot);
        }
        self.tokens[at].push(token);
    }

    /// Walks a text, and adds to the model what is new in it. Returns how it is laid out.
    pub(super) fn walk(&mut self, text: &[u8], model: &mut Model) -> Result<Style, Refused> {
        let mut index = std::mem::take(&mut self.index);
        index.clear();
        let found = structure::find(text, &mut index);
        let style = Style::guess(text, &index);
        let result = match found {
            Ok(()) => Walk { text, index: &index, at: 0, style, columns: self, model }.run(),
            Err(_) => Err(Refused::NotJson),
        };
        self.index = index;
        self.stack.clear();
        self.keys.clear();
        result.map(|()| style)
    }
}

struct Walk<'a> {
    text: &'a [u8],
    index: &'a [u32],
    /// The place in the index.
    at: usize,
    style: Style,
    columns: &'a mut Columns,
    model: &'a mut Model,
}

impl Walk<'_> {
    #[inline]
    fn offset(&self) -> usize {
        self.index.get(self.at).map_or(self.text.len(), |&entry| (entry & !HAS_ESCAPE) as usize)
    }

    #[inline]
    fn byte(&self) -> u8 {
        self.text.get(self.offset()).copied().unwrap_or(0)
    }

    /// The white space between an offset and the next entry of the index.
    #[inline]
    fn space(&self, from: usize) -> Result<&[u8], Refused> {
        self.text.get(from..self.offset()).ok_or(Refused::NotJson)
    }

    #[inline]
    fn no_space(&self, from: usize) -> Result<(), Refused> {
        if self.offset() == from { Ok(()) } else { Err(Refused::Style) }
    }

    fn line(&self, from: usize, depth: usize) -> Result<(), Refused> {
        let is_right = self.style.is_line(self.space(from)?, depth);
        if is_right { Ok(()) } else { Err(Refused::Style) }
    }

    fn run(mut self) -> Result<(), Refused> {
        self.no_space(0)?;
        let mut slot = 0;
        'value: loop {
            let start = self.offset();
            let mut end;
            match self.byte() {
                b'"' => {
                    self.at += 1;
                    end = self.offset() + 1;
                    self.at += 1;
                    self.columns.note(slot, Token::Scalar(start as u32, end as u32));
                }
                bracket @ (b'{' | b'[') => {
                    self.at += 1;
                    end = start + 1;
                    let close = if bracket == b'{' { b'}' } else { b']' };
                    if self.byte() == close {
                        self.no_space(end)?;
                        self.at += 1;
                        end += 1;
                        self.empty(slot, bracket == b'{')?;
                    } else {
                        let depth = self.columns.stack.len() + 1;
                        if depth > COLUMNAR_DEPTH_MAX {
                            return Err(Refused::Depth);
                        }
                        self.line(end, depth)?;
                        slot = self.open(slot, bracket == b'{')?;
                        continue 'value;
                    }
                }
                _ => {
                    self.at += 1;
                    end = self.scalar_end(start)?;
                    self.columns.note(slot, Token::Scalar(start as u32, end as u32));
                }
            }
            // A value is complete, and `end` is the byte after it.
            loop {
                let depth = self.columns.stack.len();
                let Some(open) = self.columns.stack.last_mut() else {
                    let rest = &self.text[end..];
                    let is_right = match self.style.final_newline {
                        true => rest == b"\n",
                        false => rest.is_empty(),
                    };
                    return if is_right { Ok(()) } else { Err(Refused::NotJson) };
                };
                open.length += 1;
                let Open { slot: of, kind, length, .. } = *open;
                match self.byte() {
                    b',' => {
                        self.no_space(end)?;
                        end += 1;
                        self.at += 1;
                        if !self.style.is_after_comma(self.space(end)?, depth) {
                            return Err(Refused::Style);
                        }
                        slot = match kind {
                            Kind::Object => self.key()?,
                            Kind::Array(element) => element,
                            Kind::Tuple(_) => {
                                let positions = &self.model.slots[of as usize].positions;
                                *positions.get(length as usize).ok_or(Refused::NotJson)?
                            }
                        };
                        continue 'value;
                    }
                    b'}' if kind == Kind::Object => {
                        self.line(end, depth - 1)?;
                        end = self.offset() + 1;
                        self.at += 1;
                        self.close_object()?;
                    }
                    b']' if kind != Kind::Object => {
                        self.line(end, depth - 1)?;
                        end = self.offset() + 1;
                        self.at += 1;
                        self.columns.stack.pop();
                        let token = match kind {
                            Kind::Tuple(variant) => Token::Tuple(variant),
                            _ => Token::Array(length),
                        };
                        self.columns.note(of, token);
                    }
                    _ => return Err(Refused::NotJson),
                }
            }
        }
    }

    /// The end of a number or literal, which has to be one.
    #[inline]
    fn scalar_end(&self, start: usize) -> Result<usize, Refused> {
        let next = self.offset();
        let text = &self.text[start..next];
        let kept = text.iter().rposition(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
        let end = start + kept.map_or(0, |last| last + 1);
        let is_scalar = match self.text[start..end] {
            [b't', b'r', b'u', b'e'] | [b'n', b'u', b'l', b'l'] => true,
            [b'f', b'a', b'l', b's', b'e'] => true,
            ref number => is_number(number),
        };
        if is_scalar { Ok(end) } else { Err(Refused::NotJson) }
    }

    fn variant(&mut self, slot: SlotId, variant: Variant) -> Result<u32, Refused> {
        self.model.add_variant(slot, variant).map_err(Refused::from)
    }

    /// An object or array without content.
    fn empty(&mut self, slot: SlotId, is_object: bool) -> Result<(), Refused> {
        if is_object {
            let variant = self.object(slot, &[])?;
            self.columns.note(slot, Token::Object(variant));
        } else {
            self.array(slot)?;
            self.columns.note(slot, Token::Array(0));
        }
        Ok(())
    }

    /// The slot of the elements of the arrays of a slot.
    fn array(&mut self, slot: SlotId) -> Result<SlotId, Refused> {
        if self.model.slots[slot as usize].element.is_none() {
            self.variant(slot, Variant::Array)?;
        }
        self.model.slots[slot as usize].element.ok_or(Refused::Keys)
    }

    /// Opens an object or array that has content, and returns the slot of the first value in it.
    fn open(&mut self, slot: SlotId, is_object: bool) -> Result<SlotId, Refused> {
        if !is_object {
            return self.open_array(slot);
        }
        let known = self.columns.last_object.get(slot as usize).copied();
        let expected = match known {
            Some(NO_VARIANT) | None => {
                let is_object = |variant: &Variant| matches!(variant, Variant::Object(_));
                let variants = &self.model.slots[slot as usize].variants;
                variants.iter().position(is_object).map_or(NO_VARIANT, |found| found as u32)
            }
            Some(last) => last,
        };
        let keys_start = self.columns.keys.len() as u32;
        self.columns.stack.push(Open {
            slot,
            kind: Kind::Object,
            length: 0,
            expected,
            place: 0,
            keys_start,
            is_expected: true,
        });
        self.key()
    }

    /// Opens an array that has content.
    fn open_array(&mut self, slot: SlotId) -> Result<SlotId, Refused> {
        let tuple = match self.scalars_ahead() {
            Some((length, is_mixed)) => self.tuple(slot, length, is_mixed)?,
            None => None,
        };
        let (kind, first) = match tuple {
            Some(variant) => (Kind::Tuple(variant), self.model.slots[slot as usize].positions[0]),
            None => {
                let element = self.array(slot)?;
                (Kind::Array(element), element)
            }
        };
        let (expected, place, keys_start, is_expected) = (NO_VARIANT, 0, 0, false);
        let open = Open { slot, kind, length: 0, expected, place, keys_start, is_expected };
        self.columns.stack.push(open);
        Ok(first)
    }

    /// The variant of a tuple, where an array of so many scalars had better be one.
    fn tuple(&mut self, slot: SlotId, length: u32, is_mixed: bool) -> Result<Option<u32>, Refused> {
        if let Some(known) = self.model.slots[slot as usize].tuple(length) {
            return Ok(Some(known));
        }
        let is_in_array =
            self.columns.stack.last().is_some_and(|open| matches!(open.kind, Kind::Array(_)));
        if is_mixed || is_in_array && length <= PAIR_MAX {
            return self.variant(slot, Variant::Tuple(length)).map(Some);
        }
        Ok(None)
    }

    /// How many elements the array has that opens here, and whether some are strings and some are
    /// not, if there are few and all are scalars.
    fn scalars_ahead(&self) -> Option<(u32, bool)> {
        let (mut strings, mut others) = (0, 0);
        let mut at = self.at;
        loop {
            let byte_at = |at: usize| {
                self.index.get(at).map(|&entry| self.text[(entry & !HAS_ESCAPE) as usize])
            };
            match byte_at(at)? {
                b'"' => {
                    strings += 1;
                    at += 2;
                }
                b'{' | b'[' | b'}' | b']' | b',' | b':' => return None,
                _ => {
                    others += 1;
                    at += 1;
                }
            }
            match byte_at(at)? {
                b',' if strings + others < SCALARS_AHEAD_MAX => at += 1,
                b']' if strings + others > 1 => {
                    return Some((strings + others, strings > 0 && others > 0));
                }
                _ => return None,
            }
        }
    }

    /// Reads a key and its colon, and returns the slot of the value.
    #[inline]
    fn key(&mut self) -> Result<SlotId, Refused> {
        if self.byte() != b'"' {
            return Err(Refused::NotJson);
        }
        let start = self.offset() + 1;
        self.at += 1;
        let end = self.offset();
        self.at += 1;
        if self.byte() != b':' {
            return Err(Refused::NotJson);
        }
        self.no_space(end + 1)?;
        self.at += 1;
        if !self.style.is_after_colon(self.space(end + 2)?) {
            return Err(Refused::Style);
        }
        let label = &self.text[start - 1..end + 2];
        let Some(open) = self.columns.stack.last_mut() else { return Err(Refused::NotJson) };
        let slot = open.slot;
        let content = &self.model.slots[slot as usize];
        if let Some(Variant::Object(keys)) = content.variants.get(open.expected as usize)
            && let Some(&number) = keys.get(open.place as usize)
            && let child = &content.children[number as usize]
            && *child.label == *label
        {
            open.place += 1;
            self.columns.keys.push(number);
            return Ok(child.slot);
        }
        self.other_key(slot, &self.text[start..end])
    }

    /// Looks up a key that was not the expected one, or adds it.
    fn other_key(&mut self, slot: SlotId, key: &[u8]) -> Result<SlotId, Refused> {
        let known = self.columns.children.get(&(slot, key.into())).copied();
        let number = match known {
            Some(number) => number,
            None => {
                let number = self.model.add_child(slot, key).map_err(Refused::from)?;
                self.columns.children.insert((slot, key.into()), number);
                self.columns.new_children.push((slot, key.into()));
                number
            }
        };
        let content = &self.model.slots[slot as usize];
        if let Some(open) = self.columns.stack.last_mut() {
            open.is_expected = false;
            // Often some keys are left out or put in, and the others follow as before.
            if let Some(Variant::Object(keys)) = content.variants.get(open.expected as usize)
                && let Some(place) = keys.iter().position(|&key| key == number)
            {
                open.place = place as u32 + 1;
            }
        }
        self.columns.keys.push(number);
        Ok(content.children[number as usize].slot)
    }

    fn close_object(&mut self) -> Result<(), Refused> {
        let Some(open) = self.columns.stack.pop() else { return Err(Refused::NotJson) };
        let keys_start = open.keys_start as usize;
        let expected = self.model.slots[open.slot as usize].variants.get(open.expected as usize);
        let is_expected = open.is_expected
            && matches!(expected, Some(Variant::Object(keys)) if keys.len() == open.place as usize);
        let variant = if is_expected {
            open.expected
        } else {
            let keys: Box<[u32]> = self.columns.keys[keys_start..].into();
            self.object(open.slot, &keys)?
        };
        self.columns.keys.truncate(keys_start);
        self.columns.note(open.slot, Token::Object(variant));
        self.columns.last_object[open.slot as usize] = variant;
        Ok(())
    }

    /// The variant of an object with these keys.
    fn object(&mut self, slot: SlotId, keys: &[u32]) -> Result<u32, Refused> {
        if let Some(&known) = self.columns.objects.get(&(slot, keys.into())) {
            return Ok(known);
        }
        let variant = self.variant(slot, Variant::Object(keys.into()))?;
        self.columns.objects.insert((slot, keys.into()), variant);
        self.columns.new_objects.push((slot, keys.into()));
        Ok(variant)
    }
}

/// Whether a text is a number by the grammar of JSON.
fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(text);
    if whole == 0 || whole > 1 && text[0] == b'0' {
        return false;
    }
    let mut rest = &text[whole..];
    if let [b'.', after @ ..] = rest {
        let count = digits(after);
        if count == 0 {
            return false;
        }
        rest = &after[count..];
    }
    if let [b'e' | b'E', after @ ..] = rest {
        let after = match after {
            [b'+' | b'-', after @ ..] => after,
            _ => after,
        };
        let count = digits(after);
        return count > 0 && count == after.len();
    }
    rest.is_empty()
}
