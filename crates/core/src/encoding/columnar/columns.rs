//! The columns of payloads for learning: what a walk finds, under the slots and variants of a model
//! that grows with every payload.
//!
//! The walk keeps a tree of its own. Its slots are made in the order in which the model gets them
//! here, so that a slot has the same number in both.

use super::Refused;
use super::model::{Model, SlotId, Variant};
use super::tree::{NONE, Tree};
use super::walk::{Kind, Walk};

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

/// What the walk found, and the memory that it reuses.
pub(super) struct Columns {
    walk: Walk,
    tree: Tree,
    /// Whether the tree has what was taken away from the model.
    is_stale: bool,
    /// The values of each slot, in the order of the text.
    pub(super) tokens: Vec<Vec<Token>>,
    /// The slots that have values.
    pub(super) reached: Vec<SlotId>,
}

impl Columns {
    /// Columns that know the keys of a model.
    pub(super) fn new(model: &Model) -> Columns {
        Columns {
            walk: Walk::default(),
            tree: Tree::new(model),
            is_stale: false,
            tokens: Vec::new(),
            reached: Vec::new(),
        }
    }

    /// Forgets the values of a payload.
    pub(super) fn forget_tokens(&mut self) {
        for slot in self.reached.drain(..) {
            self.tokens[slot as usize].clear();
        }
    }

    /// Keeps what the payload added to the model.
    pub(super) fn settle(&mut self) {
        self.is_stale = false;
    }

    /// Forgets the payload, and what it added to the model.
    pub(super) fn clear(&mut self) {
        self.forget_tokens();
        self.is_stale = true;
    }

    /// Walks a text, and adds to the model what is new in it.
    pub(super) fn walk(&mut self, text: &[u8], model: &mut Model) -> Result<(), Refused> {
        if self.is_stale || self.tree.nodes.len() != model.slots.len() {
            self.tree = Tree::new(model);
            self.is_stale = false;
        }
        self.walk.walk(text, model, &mut self.tree)?;
        self.add_slots(model)?;
        self.tokens.resize_with(model.slots.len(), Vec::new);
        for at in 0..self.walk.reached.len() {
            let slot = self.walk.reached[at];
            self.reached.push(slot);
            for place in 0..self.walk.values(slot).len() {
                let token = self.walk.values(slot)[place];
                let noted = match token.kind {
                    Kind::Object => Token::Object(self.object(slot, token.start, model)?),
                    Kind::Array => Token::Array(token.start),
                    Kind::Tuple => {
                        Token::Tuple(match model.slots[slot as usize].tuple(token.start) {
                            Some(known) => known,
                            None => model.add_variant(slot, Variant::Tuple(token.start))?,
                        })
                    }
                    _ => Token::Scalar(token.start, token.end),
                };
                self.tokens[slot as usize].push(noted);
            }
        }
        Ok(())
    }

    /// Adds to the model the slots that the walk added to the tree.
    fn add_slots(&mut self, model: &mut Model) -> Result<(), Refused> {
        while model.slots.len() < self.tree.nodes.len() {
            let slot = model.slots.len();
            let above = self.tree.nodes[slot].above;
            if self.tree.is_key(slot as SlotId) {
                let number = model.add_child(above, self.tree.key(slot as SlotId))?;
                self.tree.nodes[slot].number = number;
            } else if self.tree.nodes[above as usize].element as usize == slot {
                model.add_variant(above, Variant::Array)?;
            } else {
                // All that follow in a row belong to the longest of the tuples.
                let positions = &self.tree.nodes[above as usize].positions;
                let known = model.slots[above as usize].positions.len();
                let new = positions[known..].iter().zip(slot..);
                let new = new.take_while(|(position, at)| **position as usize == *at).count();
                model.add_variant(above, Variant::Tuple((known + new) as u32))?;
            }
        }
        Ok(())
    }

    /// The variant of an object whose keys are those of a state.
    fn object(&mut self, slot: SlotId, state: u32, model: &mut Model) -> Result<u32, Refused> {
        let known = self.tree.states[state as usize].number;
        if known != NONE {
            return Ok(known);
        }
        let mut keys = Vec::new();
        self.tree.slots_of(state, &mut keys);
        let numbers = keys.iter().map(|key| self.tree.nodes[*key as usize].number).collect();
        let number = model.add_variant(slot, Variant::Object(numbers))?;
        self.tree.states[state as usize].number = number;
        Ok(number)
    }
}
