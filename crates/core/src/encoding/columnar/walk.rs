//! From JSON text to columns: every value is noted under its slot, as a range of the text.
//!
//! One pass over the bytes, without a document and without an index. The objects of a slot mostly
//! have the keys of the object before, so that a whole key is compared with the one that is
//! expected, quotes and colon included, and looked up only where it is another.

use super::Refused;
use super::form::{self, Number};
use super::model::{Model, SlotId, TUPLE_MAX};
use super::scan;
use super::style::{Indent, Style};
use super::tree::{NONE, Tree};
use crate::limits::{COLUMNAR_DEPTH_MAX, COLUMNAR_KEYS_MAX, COLUMNAR_SLOTS_MAX};

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A string: its range in the text, quotes included.
    String,
    /// `true`, `false` or `null`.
    Literal,
    /// A number that an integer says exactly, with so many digits after the point.
    Number(u8),
    /// A number that can only be told as text.
    OtherNumber,
    /// An object; `start` is the state of its keys.
    Object,
    /// An array; `start` is how many elements it has.
    Array,
    /// The same, whose elements each have a slot of their own.
    Tuple,
}

/// One value of a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) start: u32,
    pub(super) end: u32,
    slot: SlotId,
    pub(super) kind: Kind,
    /// The digits of a number.
    pub(super) mantissa: i64,
}

impl Token {
    /// A string that stands in no slot.
    pub(super) fn string(start: u32, end: u32) -> Token {
        Token { start, end, slot: NONE, kind: Kind::String, mantissa: 0 }
    }

    /// The text of a scalar.
    #[inline(always)]
    pub(super) fn text(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..self.end as usize]
    }

    /// A number that an integer says exactly.
    #[inline(always)]
    pub(super) fn number(self) -> Option<Number> {
        match self.kind {
            Kind::Number(scale) => Some(Number { mantissa: self.mantissa, scale }),
            _ => None,
        }
    }
}

/// The values of a slot.
#[derive(Debug, Clone, Copy, Default)]
struct Head {
    /// For which payload this holds.
    round: u32,
    /// Where the first of them stands, how many they are, and how many are put in order.
    first: u32,
    count: u32,
    ordered: u32,
}

/// An array or object that is not closed yet.
#[derive(Debug, Clone, Copy)]
struct Open {
    slot: SlotId,
    container: Container,
    /// Elements that are complete.
    length: u32,
    /// Where the first element of an array stands, and whether it is a string.
    first: u32,
    is_string: bool,
    /// Whether an array was looked at for strings among other scalars.
    is_checked: bool,
}

impl Open {
    fn new(slot: SlotId, first: usize, is_string: bool) -> Open {
        let (container, first) = (Container::Array(NONE), first as u32);
        Open { slot, container, length: 0, first, is_string, is_checked: false }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    /// The state of the keys so far.
    Object(u32),
    /// The slot of the elements.
    Array(SlotId),
    /// How many elements it has.
    Tuple(u32),
}

/// An array of so many scalars in an array is a tuple: a pair, or coordinates with heights.
const PAIR_MAX: u32 = 4;

/// An array of more scalars is no tuple.
const SCALARS_AHEAD_MAX: u32 = TUPLE_MAX as u32;

/// What the walk found, and the memory that it reuses.
#[derive(Default)]
pub(super) struct Walk {
    /// All values: in the order of the text while it is walked, then slot by slot.
    tokens: Vec<Token>,
    ordered: Vec<Token>,
    heads: Vec<Head>,
    pub(super) round: u32,
    /// A payload may make the tree so large.
    states_max: usize,
    slots_max: usize,
    stack: Vec<Open>,
    /// The lengths of tuples that a payload added to each slot, a bit each, and which payload.
    tuples: Vec<(u32, u64)>,
    /// The slots that have values, in the order in which they got the first.
    pub(super) reached: Vec<SlotId>,
}

impl Walk {
    /// Whether a slot has values.
    #[inline(always)]
    pub(super) fn is_reached(&self, slot: SlotId) -> bool {
        self.heads.get(slot as usize).is_some_and(|head| head.round == self.round)
    }

    /// The values of a slot, in the order of the text.
    #[inline(always)]
    pub(super) fn values(&self, slot: SlotId) -> &[Token] {
        let head = self.heads.get(slot as usize).filter(|head| head.round == self.round);
        let range = head.map(|head| head.first as usize..(head.first + head.count) as usize);
        range.and_then(|range| self.tokens.get(range)).unwrap_or_default()
    }

    #[inline(always)]
    fn note(&mut self, slot: SlotId, kind: Kind, range: (usize, usize), mantissa: i64) {
        let first = self.tokens.len() as u32;
        let (start, end) = (range.0 as u32, range.1 as u32);
        self.tokens.push(Token { start, end, slot, kind, mantissa });
        let at = slot as usize;
        if at >= self.heads.len() {
            self.heads.resize(at + 1, Head::default());
        }
        let head = &mut self.heads[at];
        if head.round == self.round {
            head.count += 1;
        } else {
            *head = Head { round: self.round, first, count: 1, ordered: 0 };
            self.reached.push(slot);
        }
    }

    /// Puts the values of each slot behind each other.
    fn order(&mut self) {
        // Where no slot has a second value each stands alone as it is.
        if self.reached.len() == self.tokens.len() {
            return;
        }
        let mut first = 0;
        for &slot in &self.reached {
            let head = &mut self.heads[slot as usize];
            head.first = first;
            first += head.count;
        }
        // All of it is written over, whatever stands there from the payload before.
        self.ordered.resize(self.tokens.len(), Token::string(0, 0));
        for token in &self.tokens {
            let head = &mut self.heads[token.slot as usize];
            if let Some(place) = self.ordered.get_mut((head.first + head.ordered) as usize) {
                *place = *token;
            }
            head.ordered += 1;
        }
        std::mem::swap(&mut self.ordered, &mut self.tokens);
    }

    /// Walks a text, and adds to the tree what is new in it. Returns how it is laid out.
    pub(super) fn walk(
        &mut self,
        text: &[u8],
        model: &Model,
        tree: &mut Tree,
    ) -> Result<Style, Refused> {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.heads.clear();
            self.tuples.clear();
            self.round = 1;
        }
        self.tokens.clear();
        self.stack.clear();
        self.reached.clear();
        // What is new in the tree is new in the payload.
        self.states_max = tree.states.len() + COLUMNAR_KEYS_MAX;
        self.slots_max = tree.nodes.len() + COLUMNAR_SLOTS_MAX;
        let mut style = Style::of_ends(text);
        let is_indented = style.indent != Indent::OneLine;
        let (mut has_colon, mut has_comma) = (false, false);
        let mut open = Open::new(NONE, 0, false);
        let (mut slot, mut at): (SlotId, usize) = (0, 0);
        'value: loop {
            let start = at;
            let mut end;
            match text.get(at).copied().unwrap_or(0) {
                b'"' => {
                    end = scan::string_end(text, at + 1).ok_or(Refused::NotJson)? + 1;
                    self.note(slot, Kind::String, (start, end), 0);
                }
                b'-' | b'0'..=b'9' => {
                    let (kind, mantissa, after) = number(text, at).ok_or(Refused::NotJson)?;
                    end = after;
                    self.note(slot, kind, (start, end), mantissa);
                }
                bracket @ (b'{' | b'[') => {
                    let is_object = bracket == b'{';
                    let depth = self.stack.len() + 1;
                    let is_empty = text.get(at + 1) == Some(&(bracket + 2));
                    // There is nothing below an object without keys.
                    if depth > COLUMNAR_DEPTH_MAX && !(is_object && is_empty) {
                        return Err(Refused::Depth);
                    }
                    if !is_empty {
                        at = after_line(text, style, at + 1, depth)?;
                        self.stack.push(open);
                        open = Open::new(slot, at, text.get(at) == Some(&b'"'));
                        if is_object {
                            let state = tree.empty(slot);
                            open.container = Container::Object(state);
                            if !has_colon {
                                has_colon = true;
                                style.colon_space = is_space_after_key(text, at);
                            }
                            at = self.key(text, tree, &mut open, &mut slot, style, at)?;
                        } else if let Some(length) = self.tuple(text, at, model, slot) {
                            open.container = Container::Tuple(length);
                            slot = tree.positions(slot, length);
                        } else {
                            slot = tree.element(slot);
                            open.container = Container::Array(slot);
                        }
                        continue 'value;
                    }
                    end = at + 2;
                    if is_object {
                        let state = tree.empty(slot);
                        self.note(slot, Kind::Object, (state as usize, 0), 0);
                    } else {
                        tree.element(slot);
                        self.note(slot, Kind::Array, (0, 0), 0);
                    }
                }
                _ => {
                    end = literal(text, at).ok_or_else(|| refusal(text, at))?;
                    self.note(slot, Kind::Literal, (start, end), 0);
                }
            }
            // A value is complete, and `end` is the byte after it.
            loop {
                if self.stack.is_empty() {
                    let rest = &text[end..];
                    let is_right = match style.final_newline {
                        true => rest == b"\n",
                        false => rest.is_empty(),
                    };
                    self.order();
                    return if is_right { Ok(style) } else { Err(Refused::NotJson) };
                }
                open.length += 1;
                let byte = text.get(end).copied().unwrap_or(0);
                if byte == b',' {
                    at = end + 1;
                    if !has_comma {
                        has_comma = true;
                        style.comma_space = text.get(at) == Some(&b' ');
                    }
                    if is_indented {
                        at = after_line(text, style, at, self.stack.len())?;
                    } else if style.comma_space {
                        at = after_space(text, at)?;
                    }
                    match open.container {
                        Container::Object(_) => {
                            at = self.key(text, tree, &mut open, &mut slot, style, at)?;
                        }
                        Container::Array(element) => {
                            let is_string = text.get(at) == Some(&b'"');
                            if is_string != open.is_string
                                && !open.is_checked
                                && let Some(length) = self.mixed(text, &mut open, element)
                            {
                                at = open.first as usize;
                                slot = tree.positions(open.slot, length);
                                continue 'value;
                            }
                            slot = element;
                        }
                        Container::Tuple(_) => {
                            let positions = &tree.nodes[open.slot as usize].positions;
                            slot = *positions.get(open.length as usize).ok_or(Refused::NotJson)?;
                        }
                    }
                    continue 'value;
                }
                let close = match byte {
                    b'\n' if is_indented => after_line(text, style, end, self.stack.len() - 1)?,
                    _ => end,
                };
                let (kind, what) = match (text.get(close), open.container) {
                    (Some(b'}'), Container::Object(state)) => (Kind::Object, state),
                    (Some(b']'), Container::Array(_)) => (Kind::Array, open.length),
                    (Some(b']'), Container::Tuple(length)) if length == open.length => {
                        (Kind::Tuple, length)
                    }
                    _ => return Err(refusal(text, end)),
                };
                if is_indented && close == end {
                    return Err(Refused::Style);
                }
                self.note(open.slot, kind, (what as usize, 0), 0);
                end = close + 1;
                open = self.stack.pop().ok_or(Refused::NotJson)?;
            }
        }
    }

    /// Reads a key and its colon, and returns where the value begins.
    #[inline(always)]
    fn key(
        &mut self,
        text: &[u8],
        tree: &mut Tree,
        open: &mut Open,
        slot: &mut SlotId,
        style: Style,
        at: usize,
    ) -> Result<usize, Refused> {
        let Container::Object(state) = &mut open.container else { return Err(Refused::NotJson) };
        let after = match tree.expected(*state, text, at) {
            Some((next, below, label_bytes)) => {
                (*state, *slot) = (next, below);
                at + label_bytes
            }
            None => {
                let after = other_key(text, at)?;
                if tree.states.len() > self.states_max || tree.nodes.len() > self.slots_max {
                    return Err(Refused::Keys);
                }
                (*state, *slot) = tree.with_key(open.slot, *state, text, (at + 1, after - 2));
                after
            }
        };
        if style.colon_space { after_space(text, after) } else { Ok(after) }
    }

    /// The lengths of tuples that the payload added to a slot.
    #[inline(always)]
    fn tuples_of(&mut self, slot: SlotId) -> &mut u64 {
        let slot = slot as usize;
        if slot >= self.tuples.len() {
            self.tuples.resize(slot + 1, (0, 0));
        }
        let (round, lengths) = &mut self.tuples[slot];
        if *round != self.round {
            (*round, *lengths) = (self.round, 0);
        }
        lengths
    }

    /// How many elements the array has that opens here, where it is known at once that it had
    /// better be a tuple: its slot has tuples already, or it may be a pair.
    #[inline(always)]
    fn tuple(&mut self, text: &[u8], at: usize, model: &Model, slot: SlotId) -> Option<u32> {
        let known = model.slots.get(slot as usize);
        let lengths = *self.tuples_of(slot);
        let is_known = lengths != 0 || known.is_some_and(|known| !known.tuples.is_empty());
        // The root is in nothing; what it is in was pushed as an array without a slot.
        let is_in_array = self.stack.last().is_some_and(
            |above| matches!(above.container, Container::Array(element) if element != NONE),
        );
        let most = match (is_known, is_in_array) {
            (true, _) => SCALARS_AHEAD_MAX,
            (false, true) => PAIR_MAX,
            (false, false) => return None,
        };
        let (length, is_mixed) = scalars_ahead(text, at, most)?;
        let bit = 1u64 << (length - 1);
        let is_tuple = is_mixed
            || is_in_array && length <= PAIR_MAX
            || lengths & bit != 0
            || known.is_some_and(|known| known.tuple(length).is_some());
        if is_tuple {
            *self.tuples_of(slot) |= bit;
        }
        is_tuple.then_some(length)
    }

    /// How many elements the open array has, where it had better be a tuple, because some are
    /// strings and some other scalars. It is one then, and its first elements are forgotten.
    #[cold]
    fn mixed(&mut self, text: &[u8], open: &mut Open, element: SlotId) -> Option<u32> {
        open.is_checked = true;
        let (length, is_mixed) = scalars_ahead(text, open.first as usize, SCALARS_AHEAD_MAX)?;
        if !is_mixed {
            return None;
        }
        // All of them were noted last.
        self.tokens.truncate(self.tokens.len() - open.length as usize);
        let head = &mut self.heads[element as usize];
        head.count -= open.length;
        if head.count == 0 {
            head.round = 0;
            self.reached.pop();
        }
        *self.tuples_of(open.slot) |= 1u64 << (length - 1);
        (open.container, open.length) = (Container::Tuple(length), 0);
        Some(length)
    }
}

/// Why what stands here is refused.
#[cold]
fn refusal(text: &[u8], at: usize) -> Refused {
    match text.get(at) {
        Some(b' ' | b'\n' | b'\r' | b'\t') => Refused::Style,
        _ => Refused::NotJson,
    }
}

/// The offset after the space that the style has here.
#[inline(always)]
fn after_space(text: &[u8], at: usize) -> Result<usize, Refused> {
    if text.get(at) == Some(&b' ') { Ok(at + 1) } else { Err(Refused::Style) }
}

/// The offset after the white space before a member, an element or a closing bracket.
#[inline(always)]
fn after_line(text: &[u8], style: Style, at: usize, depth: usize) -> Result<usize, Refused> {
    if style.indent == Indent::OneLine {
        return Ok(at);
    }
    let end = at + style.line_bytes(depth);
    let is_right = text.get(at..end).is_some_and(|space| style.is_line(space, depth));
    if is_right { Ok(end) } else { Err(Refused::Style) }
}

/// The offset after the colon of a key.
#[inline(never)]
fn other_key(text: &[u8], at: usize) -> Result<usize, Refused> {
    if text.get(at) != Some(&b'"') {
        return Err(refusal(text, at));
    }
    let end = scan::string_end(text, at + 1).ok_or(Refused::NotJson)?;
    if text.get(end + 1) == Some(&b':') { Ok(end + 2) } else { Err(refusal(text, end + 1)) }
}

/// Whether a space follows the colon of the key that stands here.
fn is_space_after_key(text: &[u8], at: usize) -> bool {
    other_key(text, at).is_ok_and(|after| text.get(after) == Some(&b' '))
}

/// A number by the grammar of JSON: what kind it is, its digits, and the offset after it.
#[inline(always)]
fn number(text: &[u8], start: usize) -> Option<(Kind, i64, usize)> {
    let is_negative = text[start] == b'-';
    let first = start + usize::from(is_negative);
    let (mut mantissa, mut end) = scan::digits(text, first, 0);
    let whole = end - first;
    if whole == 0 || whole > 1 && text[first] == b'0' {
        return None;
    }
    let mut scale = 0;
    let mut next = text.get(end).copied().unwrap_or(0);
    if next == b'.' {
        let point = end;
        (mantissa, end) = scan::digits(text, point + 1, mantissa);
        scale = end - point - 1;
        if scale == 0 {
            return None;
        }
        next = text.get(end).copied().unwrap_or(0);
    }
    if next | 0x20 == b'e' {
        return Some((Kind::OtherNumber, 0, exponent_end(text, end)?));
    }
    let is_plain =
        whole + scale <= usize::from(form::DIGITS_MAX) && !(is_negative && mantissa == 0);
    if !is_plain {
        return Some((Kind::OtherNumber, 0, end));
    }
    let mantissa = if is_negative { (mantissa as i64).wrapping_neg() } else { mantissa as i64 };
    Some((Kind::Number(scale as u8), mantissa, end))
}

#[cold]
fn exponent_end(text: &[u8], at: usize) -> Option<usize> {
    let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
    let first = at + 1 + sign;
    let (_, end) = scan::digits(text, first, 0);
    (end > first).then_some(end)
}

/// The offset after a literal.
#[inline(always)]
fn literal(text: &[u8], at: usize) -> Option<usize> {
    let word = scan::load_8(text, at);
    let four = word as u32;
    if four == u32::from_le_bytes(*b"true") || four == u32::from_le_bytes(*b"null") {
        return Some(at + 4);
    }
    let is_false = four == u32::from_le_bytes(*b"fals") && (word >> 32) as u8 == b'e';
    is_false.then_some(at + 5)
}

/// How many elements the array has whose first stands here, and whether some are strings and some
/// are not, if there are at most so many and all are scalars.
fn scalars_ahead(text: &[u8], at: usize, most: u32) -> Option<(u32, bool)> {
    let (mut strings, mut others) = (0, 0);
    let mut at = at;
    loop {
        match text.get(at)? {
            b'"' => {
                strings += 1;
                at = scan::string_end(text, at + 1)? + 1;
            }
            b'{' | b'[' | b'}' | b']' | b',' | b':' => return None,
            _ => {
                others += 1;
                at = scan::scalar_end(text, at);
            }
        }
        at = after_any_space(text, at);
        match text.get(at)? {
            b',' if strings + others < most => at = after_any_space(text, at + 1),
            b']' if strings + others > 1 => {
                return Some((strings + others, strings > 0 && others > 0));
            }
            _ => return None,
        }
    }
}

#[inline(always)]
fn after_any_space(text: &[u8], at: usize) -> usize {
    let mut at = at;
    while matches!(text.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}
