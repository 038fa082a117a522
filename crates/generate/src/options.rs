//! What a caller chooses about a corpus.
//! It is one plain value, so that the command line and the evaluation can both fill it in.

/// How many payloads to generate, from which seed, and how large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many payloads the iterator yields. A smaller count is a prefix of a larger one.
    pub count: usize,
    /// Picks the corpus: the same seed gives the same bytes on every platform.
    pub seed: u64,
    /// Scales the payloads to about this median size; `None` is the calibrated natural size.
    ///
    /// A kind has a smallest document, and a lower target yields about that document. The longest
    /// payload is held to eight times this size, so that a large target stays in memory.
    pub median_bytes: Option<u32>,
}
