//! What an encoder has met: paths, keys and key lists, of its model and of earlier payloads.
//!
//! Payloads of one kind look alike, with a dictionary or without, so that a payload mostly meets
//! keys that the tree has already and nothing is allocated for it. Earlier payloads only make the
//! walk faster: what stands in an encoded form is numbered anew for each payload, by what is in the
//! model and what the payload itself brings.

use super::model::{Model, SlotId, Variant};
use super::scan::{is_same, load_16, mask};
use super::table::{Seed, Table};

/// No slot, state, number or token.
pub(super) const NONE: u32 = u32::MAX;

/// Payloads may bring so many slots, and so many states, until all of them are forgotten.
const KEPT_SLOTS: usize = 16 << 10;
const KEPT_STATES: usize = 64 << 10;

/// Labels of keys that payloads bring are kept up to so many bytes.
const KEPT_LABEL_BYTES: usize = 1 << 20;

/// A slot: the root, the value of a key, or an element.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// The slot right above.
    pub(super) above: SlotId,
    /// The number of its key in the model.
    pub(super) number: u32,
    /// The number of its key among those that a payload adds to, and for which payload.
    pub(super) new_number: u32,
    pub(super) round: u32,
    /// The slot of the elements of its arrays.
    pub(super) element: SlotId,
    /// The state of an object without keys.
    pub(super) empty: u32,
    /// Where its label stands, and how long it is: `"key":`.
    label_at: u32,
    label_bytes: u32,
    /// The slots of the elements of its tuples.
    pub(super) positions: Vec<SlotId>,
}

/// A list of keys, as the last key and the list before it: what the objects of a slot have so far.
#[derive(Debug, Clone)]
pub(super) struct State {
    /// The first bytes of the last key's label, where they stand in a text, and how many there are
    /// in all.
    label: u128,
    mask: u128,
    label_bytes: u32,
    /// The slot of the last key, which is the slot itself where there is none.
    pub(super) slot: SlotId,
    /// The list with one more key that came last.
    pub(super) next: u32,
    /// The list without the last key.
    pub(super) before: u32,
    /// How many keys these are.
    pub(super) keys: u32,
    /// Its number among the variants of the slot in the model.
    pub(super) number: u32,
    /// Its number among the variants that a payload adds, and for which payload.
    pub(super) new_number: u32,
    pub(super) round: u32,
}

/// The tree.
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) states: Vec<State>,
    labels: Vec<u8>,
    keys: Table,
    lists: Table,
    seed: Seed,
    /// Those of the model.
    base: (usize, usize, usize),
}

impl Tree {
    /// The tree of a model. A key list that names a key whose text an earlier key has is left out:
    /// nobody needs it.
    pub(super) fn new(model: &Model) -> Tree {
        let mut tree = Tree {
            nodes: Vec::with_capacity(model.slots.len()),
            states: Vec::new(),
            labels: Vec::new(),
            keys: Table::default(),
            lists: Table::default(),
            seed: Seed::new(),
            base: (0, 0, 0),
        };
        for slot in &model.slots {
            tree.nodes.push(Node {
                above: NONE,
                number: NONE,
                new_number: 0,
                round: 0,
                element: slot.element.unwrap_or(NONE),
                empty: NONE,
                label_at: 0,
                label_bytes: 0,
                positions: slot.positions.clone(),
            });
        }
        for (slot, content) in (0..).zip(&model.slots) {
            for (number, child) in (0..).zip(&content.children) {
                let key = child.key();
                let hash = tree.seed.of_bytes(slot, key, 0, key.len());
                if tree.find_key(hash, slot, key).is_none() {
                    tree.add_label(hash, slot, child.slot, key);
                    tree.nodes[child.slot as usize].number = number;
                }
            }
            for (number, variant) in (0..).zip(&content.variants) {
                let Variant::Object(keys) = variant else { continue };
                let below = |key: &u32| content.children[*key as usize].slot;
                if keys.iter().all(|key| tree.nodes[below(key) as usize].number != NONE) {
                    let mut state = tree.empty(slot);
                    for key in keys {
                        state = tree.list_with(state, below(key));
                    }
                    let state = &mut tree.states[state as usize];
                    state.number = state.number.min(number);
                }
            }
        }
        tree.base = (tree.nodes.len(), tree.states.len(), tree.labels.len());
        tree
    }

    /// Whether payloads have brought more than is kept.
    pub(super) fn is_overfull(&self) -> bool {
        let (nodes, states, labels) = self.base;
        self.nodes.len() - nodes > KEPT_SLOTS
            || self.states.len() - states > KEPT_STATES
            || self.labels.len() - labels > KEPT_LABEL_BYTES
    }

    /// The key of a slot, between the quotes.
    pub(super) fn key(&self, slot: SlotId) -> &[u8] {
        let node = &self.nodes[slot as usize];
        let label = &self.labels[node.label_at as usize..][..node.label_bytes as usize];
        label.get(1..label.len().saturating_sub(2)).unwrap_or_default()
    }

    /// Whether a slot is the value of a key.
    pub(super) fn is_key(&self, slot: SlotId) -> bool {
        self.nodes[slot as usize].label_bytes > 0
    }

    /// Adds a slot.
    pub(super) fn add_slot(&mut self, above: SlotId) -> SlotId {
        self.nodes.push(Node {
            above,
            number: NONE,
            new_number: 0,
            round: 0,
            element: NONE,
            empty: NONE,
            label_at: 0,
            label_bytes: 0,
            positions: Vec::new(),
        });
        (self.nodes.len() - 1) as SlotId
    }

    /// The slot of the elements of the arrays of a slot.
    pub(super) fn element(&mut self, slot: SlotId) -> SlotId {
        let known = self.nodes[slot as usize].element;
        if known != NONE {
            return known;
        }
        let element = self.add_slot(slot);
        self.nodes[slot as usize].element = element;
        element
    }

    /// Makes the slots of the elements of tuples of so many elements, and returns the first.
    pub(super) fn positions(&mut self, slot: SlotId, length: u32) -> SlotId {
        while self.nodes[slot as usize].positions.len() < length as usize {
            let position = self.add_slot(slot);
            self.nodes[slot as usize].positions.push(position);
        }
        self.nodes[slot as usize].positions[0]
    }

    /// The state of an object of a slot that has no keys yet.
    pub(super) fn empty(&mut self, slot: SlotId) -> u32 {
        let known = self.nodes[slot as usize].empty;
        if known != NONE {
            return known;
        }
        let state = self.add_state(State {
            label: 0,
            mask: 0,
            label_bytes: 0,
            slot,
            next: NONE,
            before: NONE,
            keys: 0,
            number: NONE,
            new_number: 0,
            round: 0,
        });
        self.nodes[slot as usize].empty = state;
        state
    }

    fn add_state(&mut self, state: State) -> u32 {
        self.states.push(state);
        (self.states.len() - 1) as u32
    }

    /// The key that is expected after those of a state, if it stands at a place of the text: the
    /// state with it, its slot, and the bytes of its label.
    #[inline(always)]
    pub(super) fn expected(
        &self,
        state: u32,
        text: &[u8],
        at: usize,
    ) -> Option<(u32, SlotId, usize)> {
        let next = self.states.get(state as usize)?.next;
        let expected = self.states.get(next as usize)?;
        if load_16(text, at) & expected.mask != expected.label {
            return None;
        }
        let bytes = expected.label_bytes as usize;
        if bytes > 16 {
            let label_at = self.nodes[expected.slot as usize].label_at as usize;
            if !is_same(&self.labels, label_at, text, at, bytes) {
                return None;
            }
        }
        Some((next, expected.slot, bytes))
    }

    /// The state with another key, which has to be found or added: so many bytes of a text.
    pub(super) fn with_key(
        &mut self,
        slot: SlotId,
        state: u32,
        text: &[u8],
        (at, end): (usize, usize),
    ) -> (u32, SlotId) {
        let hash = self.seed.of_bytes(slot, text, at, end - at);
        let below = match self.find_key(hash, slot, &text[at..end]) {
            Some(below) => below,
            None => {
                let below = self.add_slot(slot);
                self.add_label(hash, slot, below, &text[at..end]);
                below
            }
        };
        let next = self.list_with(state, below);
        self.states[state as usize].next = next;
        (next, below)
    }

    fn find_key(&self, hash: u64, slot: SlotId, key: &[u8]) -> Option<SlotId> {
        self.keys
            .find(hash, |known| self.nodes[known as usize].above == slot && self.key(known) == key)
    }

    fn add_label(&mut self, hash: u64, slot: SlotId, below: SlotId, key: &[u8]) {
        let label_at = self.labels.len() as u32;
        self.labels.push(b'"');
        self.labels.extend_from_slice(key);
        self.labels.extend_from_slice(b"\":");
        let node = &mut self.nodes[below as usize];
        (node.above, node.label_at, node.label_bytes) = (slot, label_at, key.len() as u32 + 3);
        let (seed, nodes, labels) = (self.seed, &self.nodes, &self.labels);
        let hash_of = |known: u32| {
            let node = &nodes[known as usize];
            let key_bytes = node.label_bytes as usize - 3;
            seed.of_bytes(node.above, labels, node.label_at as usize + 1, key_bytes)
        };
        self.keys.insert(hash, below, hash_of);
    }

    fn list_with(&mut self, before: u32, below: SlotId) -> u32 {
        let hash = self.seed.of_pair(before, below);
        let is_it = |known: u32| {
            let known = &self.states[known as usize];
            known.before == before && known.slot == below
        };
        if let Some(known) = self.lists.find(hash, is_it) {
            return known;
        }
        let node = &self.nodes[below as usize];
        let mask = mask(node.label_bytes as usize);
        let state = self.add_state(State {
            label: load_16(&self.labels, node.label_at as usize) & mask,
            mask,
            label_bytes: node.label_bytes,
            slot: below,
            next: NONE,
            before,
            keys: self.states[before as usize].keys + 1,
            number: NONE,
            new_number: 0,
            round: 0,
        });
        let (seed, states) = (self.seed, &self.states);
        let hash_of = |known: u32| {
            let known = &states[known as usize];
            seed.of_pair(known.before, known.slot)
        };
        self.lists.insert(hash, state, hash_of);
        let before = &mut self.states[before as usize];
        if before.next == NONE {
            before.next = state;
        }
        state
    }

    /// Appends the slots of the keys of a state, in their order.
    pub(super) fn slots_of(&self, state: u32, out: &mut Vec<SlotId>) {
        let start = out.len();
        let mut state = &self.states[state as usize];
        while state.keys > 0 {
            out.push(state.slot);
            state = &self.states[state.before as usize];
        }
        out[start..].reverse();
    }
}
