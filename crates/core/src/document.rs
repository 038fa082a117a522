//! The in-memory value that every encoding writes from and reads into: one flat list of nodes over
//! one buffer of text.
//!
//! Why flat, and not a tree of boxes: a document is filled and cleared millions of times without an
//! allocation, and neither building, walking, comparing nor dropping it recurses, so that a payload
//! nested 100,000 levels deep costs memory and not the stack. Order of keys, duplicate keys, number
//! texts and lone surrogates are kept, because a payload that loses them is a different payload.

mod compare;
mod decimal;

pub use compare::{Difference, Fidelity, first_difference, number_text};
pub use decimal::{Decimal, float_is_exact};

use std::ops::Range;

use crate::limits::{NESTING_DEPTH_MAX, PAYLOAD_BYTES_MAX};

/// A range of a document's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Length in bytes.
    pub length: u32,
}

/// One value, or the start of one. Keys of objects are `String` nodes that stand before their
/// values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Node {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer whose JSON text is its plain decimal form (`-0` is a `Decimal`).
    Int(i64),
    /// An integer above `i64::MAX`; smaller ones are always `Int`.
    Uint(u64),
    /// A finite floating-point number read from a binary encoding.
    Float(f64),
    /// Any other number, as its JSON text: what a double can't hold is kept too.
    Decimal(Span),
    /// A string: unescaped UTF-8, except that a lone surrogate stands as its three-byte form
    /// (WTF-8), which only JSON can write.
    String(Span),
    /// An array of `length` values; the node after its last descendant has index `end`.
    Array {
        /// How many values it holds.
        length: u32,
        /// Index of the first node after it.
        end: u32,
    },
    /// An object of `length` pairs; the node after its last descendant has index `end`.
    Object {
        /// How many pairs it holds.
        length: u32,
        /// Index of the first node after it.
        end: u32,
    },
}

const _: () = assert!(size_of::<Node>() == 16);

/// One JSON value in memory. Reusable: [`Document::clear`] keeps its buffers.
#[derive(Debug, Clone)]
pub struct Document {
    nodes: Vec<Node>,
    nodes_max: usize,
    /// A node did not fit.
    is_overfull: bool,
    text: Vec<u8>,
    open: Vec<u32>,
    /// The SIMD parser's list of offsets, kept here so that it is allocated once.
    index: Vec<u32>,
}

impl Default for Document {
    fn default() -> Document {
        Document {
            nodes: Vec::new(),
            nodes_max: NODES_MAX,
            is_overfull: false,
            text: Vec::new(),
            open: Vec::new(),
            index: Vec::new(),
        }
    }
}

impl Document {
    /// An empty document, to be filled by a parser or decoder.
    pub fn new() -> Document {
        Document::default()
    }

    /// Takes at most this many nodes from now on: a few hostile bytes may decode to millions of
    /// values, and whoever knows how long their text may be knows how many there can be.
    pub fn limit_nodes(&mut self, nodes_max: usize) {
        self.nodes_max = nodes_max.min(NODES_MAX);
    }

    /// Whether there were more nodes than [`Document::limit_nodes`] allows; those are left out, so
    /// the document must not be used.
    pub fn is_overfull(&self) -> bool {
        self.is_overfull
    }

    /// Empties it, keeping its memory for the next payload.
    pub fn clear(&mut self) {
        self.is_overfull = false;
        self.nodes.clear();
        self.text.clear();
        self.open.clear();
    }

    /// The nodes in document order: an array or object, then its descendants.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The bytes of a span.
    pub fn bytes(&self, span: Span) -> &[u8] {
        let start = span.start as usize;
        &self.text[start..start + span.length as usize]
    }

    /// All the text that spans point into. Encoders copy short strings from here in blocks of one
    /// size, which may reach past the string itself.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The bytes of a `String` or `Decimal` node as a string, or `None` where a lone surrogate
    /// stands in it.
    pub fn str(&self, span: Span) -> Option<&str> {
        str::from_utf8(self.bytes(span)).ok()
    }

    /// Index of the first node after the value that starts with this node.
    #[inline]
    pub fn end_of(&self, node: usize) -> usize {
        match self.nodes[node] {
            Node::Array { end, .. } | Node::Object { end, .. } => end as usize,
            _ => node + 1,
        }
    }

    /// The memory that the document holds, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.text.capacity()
            + (self.open.capacity() + self.index.capacity()) * size_of::<u32>()
    }
}

/// Why a document can't grow. Each names the limit it ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Arrays and objects nest deeper than [`NESTING_DEPTH_MAX`].
    #[error("arrays and objects nest deeper than {limit} levels")]
    TooDeep {
        /// The limit in levels.
        limit: usize,
    },
    /// The texts of a document together are above twice [`PAYLOAD_BYTES_MAX`].
    #[error("the texts of the document take more than {limit} bytes")]
    TextTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// More values than a 32-bit index can tell apart.
    #[error("the document has more than {limit} values")]
    TooManyNodes {
        /// The limit in nodes.
        limit: usize,
    },
}

const TEXT_BYTES_MAX: usize = 2 * PAYLOAD_BYTES_MAX;
const NODES_MAX: usize = u32::MAX as usize - 1;
// Every node takes at least one byte of the input it is read from (Smile's shared strings and
// small integers), so no input that is accepted makes more nodes than an index can tell apart.
const _: () = assert!(8 * PAYLOAD_BYTES_MAX < NODES_MAX);

/// Building: used by the parsers and decoders of this crate and of encodings outside it.
impl Document {
    /// Appends a value or key that has no children.
    #[inline]
    pub fn push(&mut self, node: Node) {
        if self.nodes.len() < self.nodes_max {
            self.nodes.push(node);
        } else {
            self.is_overfull = true;
        }
    }

    /// Appends text and returns where it stands.
    #[inline]
    pub fn push_text(&mut self, bytes: &[u8]) -> Result<Span, DocumentError> {
        let start = self.text.len();
        if bytes.len() > TEXT_BYTES_MAX - start.min(TEXT_BYTES_MAX) {
            return Err(DocumentError::TextTooLarge { limit: TEXT_BYTES_MAX });
        }
        self.text.extend_from_slice(bytes);
        Ok(Span { start: start as u32, length: bytes.len() as u32 })
    }

    /// Appends a string or key.
    #[inline]
    pub fn push_string(&mut self, bytes: &[u8]) -> Result<(), DocumentError> {
        let span = self.push_text(bytes)?;
        self.push(Node::String(span));
        Ok(())
    }

    /// Opens an array or object; its children follow, then [`Document::close`].
    #[inline]
    pub fn open(&mut self, is_object: bool) -> Result<(), DocumentError> {
        if self.open.len() >= NESTING_DEPTH_MAX {
            return Err(DocumentError::TooDeep { limit: NESTING_DEPTH_MAX });
        }
        if self.nodes.len() >= self.nodes_max {
            return Err(DocumentError::TooManyNodes { limit: self.nodes_max });
        }
        self.open.push(self.nodes.len() as u32);
        let (length, end) = (0, 0);
        let node =
            if is_object { Node::Object { length, end } } else { Node::Array { length, end } };
        self.nodes.push(node);
        Ok(())
    }

    /// Closes the innermost open array or object, which got `length` values or pairs.
    #[inline]
    pub fn close(&mut self, length: u32) {
        let end = self.nodes.len() as u32;
        let Some(index) = self.open.pop() else { return };
        match &mut self.nodes[index as usize] {
            Node::Array { length: l, end: e } | Node::Object { length: l, end: e } => {
                *l = length;
                *e = end;
            }
            _ => unreachable!("only arrays and objects are opened"),
        }
    }

    /// Appends the whole value of another document as the next value of this one.
    pub(crate) fn append(&mut self, other: &Document) -> Result<(), DocumentError> {
        if other.nodes.len() > self.nodes_max - self.nodes.len().min(self.nodes_max) {
            return Err(DocumentError::TooManyNodes { limit: self.nodes_max });
        }
        let text = self.push_text(&other.text)?.start;
        let first = self.nodes.len() as u32;
        let moved = |span: Span| Span { start: span.start + text, ..span };
        self.nodes.extend(other.nodes.iter().map(|&node| match node {
            Node::String(span) => Node::String(moved(span)),
            Node::Decimal(span) => Node::Decimal(moved(span)),
            Node::Array { length, end } => Node::Array { length, end: end + first },
            Node::Object { length, end } => Node::Object { length, end: end + first },
            other => other,
        }));
        Ok(())
    }

    /// Puts what stands from the node `first` on into another order. The parts are ranges of nodes
    /// that together are all of it, each once, and each whole values.
    pub(crate) fn reorder(&mut self, first: usize, parts: &[Range<usize>]) {
        let old = self.nodes.split_off(first);
        for part in parts {
            let to = self.nodes.len();
            let moved = |end: u32| end + to as u32 - part.start as u32;
            let values = &old[part.start - first..part.end - first];
            self.nodes.extend(values.iter().map(|&node| match node {
                Node::Array { length, end } => Node::Array { length, end: moved(end) },
                Node::Object { length, end } => Node::Object { length, end: moved(end) },
                other => other,
            }));
        }
    }

    /// Lends the SIMD parser its list, empty.
    pub(crate) fn take_index(&mut self) -> Vec<u32> {
        let mut index = std::mem::take(&mut self.index);
        index.clear();
        index
    }

    /// Takes the SIMD parser's list back.
    pub(crate) fn give_index(&mut self, index: Vec<u32>) {
        self.index = index;
    }

    /// How many arrays and objects are open.
    #[inline]
    pub fn depth(&self) -> usize {
        self.open.len()
    }
}
