//! Turns a wanted median size into a number of list entries.
//! All kinds grow and shrink by their lists, because that is how real documents differ in size.

/// How many times the median size the longest scaled document may have.
const LONGEST_FACTOR: u64 = 8;

/// What a kind's documents are made of, measured on its own output.
pub(crate) struct Shape {
    /// The bytes of a document with an empty list.
    pub(crate) header_bytes: u64,
    /// The mean bytes of one list entry.
    pub(crate) entry_bytes: u64,
    /// The median number of entries of the documents that the kind draws by itself.
    pub(crate) median_entries: u64,
}

/// Maps the number of entries that a kind drew to the number that fits the wanted size.
pub(crate) struct Scale {
    numerator: u64,
    denominator: u64,
    entries_max: u64,
}

impl Scale {
    /// Makes the scale for a target; without one it leaves every number as it is.
    pub(crate) fn new(median_bytes: Option<u32>, shape: &Shape) -> Self {
        let Some(median_bytes) = median_bytes else {
            return Self { numerator: 1, denominator: 1, entries_max: u64::MAX };
        };
        let list_bytes = u64::from(median_bytes).saturating_sub(shape.header_bytes);
        Self {
            numerator: list_bytes,
            denominator: shape.median_entries * shape.entry_bytes,
            entries_max: (list_bytes * LONGEST_FACTOR / shape.entry_bytes).max(1),
        }
    }

    /// Scales a drawn number of entries; a list keeps at least one entry.
    pub(crate) fn entries(&self, drawn: u32) -> u32 {
        let scaled = (u64::from(drawn) * self.numerator + self.denominator / 2) / self.denominator;
        scaled.clamp(1, self.entries_max).min(u64::from(u32::MAX)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{Scale, Shape};

    const SHAPE: Shape = Shape { header_bytes: 100, entry_bytes: 50, median_entries: 10 };

    #[test]
    fn without_a_target_the_drawn_number_stays() {
        assert_eq!(Scale::new(None, &SHAPE).entries(721), 721);
    }

    #[test]
    fn the_median_document_gets_the_entries_that_fill_the_target() {
        assert_eq!(Scale::new(Some(10_100), &SHAPE).entries(10), 200);
        assert_eq!(Scale::new(Some(350), &SHAPE).entries(10), 5);
    }

    #[test]
    fn no_document_is_empty_or_longer_than_eight_medians() {
        assert_eq!(Scale::new(Some(1), &SHAPE).entries(10), 1);
        assert_eq!(Scale::new(Some(10_100), &SHAPE).entries(100_000), 1600);
    }
}
