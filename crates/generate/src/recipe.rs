//! The seam between the iterator, which owns order and seeds, and the kinds, which only know how
//! one document of theirs looks.

use crate::options::Options;
use crate::random::{Key, Random};

/// Writes the documents of one kind.
pub(crate) trait Recipe: Send + Sync {
    /// Appends document number `index` as compact JSON.
    ///
    /// The result may depend on the recipe, the index and what `random` yields, and on nothing
    /// that an earlier document left behind: that is what makes every count a prefix of a larger.
    fn write(&self, index: u64, random: &mut Random, output: &mut String);
}

/// Prepares the recipe of a kind: catalogues are built here once, from the corpus key.
pub(crate) type OpenRecipe = fn(&Key, &Options) -> Box<dyn Recipe>;
