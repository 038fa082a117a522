//! Size classes: codecs behave differently on small and large payloads, so a sample must hold
//! enough of each size, and in the proportion in which they are stored.

/// A range of payload lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class {
    /// As people write it.
    pub name: &'static str,
    /// The longest payload of the class, in bytes.
    pub bytes_max: usize,
}

/// Every class, from small to large.
pub const CLASSES: [Class; 5] = [
    Class { name: "up to 1 KiB", bytes_max: 1 << 10 },
    Class { name: "1 to 4 KiB", bytes_max: 4 << 10 },
    Class { name: "4 to 16 KiB", bytes_max: 16 << 10 },
    Class { name: "16 to 128 KiB", bytes_max: 128 << 10 },
    Class { name: "above 128 KiB", bytes_max: usize::MAX },
];

/// Each class that was seen keeps at least this many payloads, as far as the count allows: fewer
/// say nothing about a class.
const CLASS_COUNT_MIN: usize = 8;

/// How many payloads of a class were seen and kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassCount {
    /// The class.
    pub class: Class,
    /// How many were seen.
    pub seen: u64,
    /// How many of them are in the sample.
    pub kept: u64,
}

/// The index of the class of a payload.
pub(crate) fn class_of(bytes: usize) -> usize {
    CLASSES.iter().position(|class| bytes <= class.bytes_max).unwrap_or(CLASSES.len() - 1)
}

/// How many of `count` places each class gets: in proportion to `seen`, at least
/// [`CLASS_COUNT_MIN`] for each class that was seen, and never more than it has in `held`.
pub(crate) fn allot(
    count: usize,
    seen: [u64; CLASSES.len()],
    held: [usize; CLASSES.len()],
) -> [usize; CLASSES.len()] {
    let total: u64 = seen.iter().sum();
    let mut given = [0; CLASSES.len()];
    if total == 0 {
        return given;
    }
    // Without room for the least of each class, the classes share what there is alike.
    let classes = seen.iter().filter(|&&seen| seen > 0).count();
    let least = CLASS_COUNT_MIN.min(count / classes);
    for (given, held) in given.iter_mut().zip(held) {
        *given = held.min(least);
    }
    // Each place goes to the class that is furthest below its share.
    for _ in given.iter().sum::<usize>()..count {
        let share = |class: usize| (given[class] as f64 + 0.5) / seen[class] as f64;
        let open = (0..CLASSES.len()).filter(|&class| given[class] < held[class]);
        let Some(next) = open.min_by(|&a, &b| share(a).total_cmp(&share(b))) else { break };
        given[next] += 1;
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_what_was_seen() {
        let seen = [6_000, 3_000, 1_000, 0, 0];
        assert_eq!(allot(100, seen, [100, 100, 100, 0, 0]), [60, 30, 10, 0, 0]);
        assert_eq!(allot(0, seen, [100; 5]), [0; 5]);
        assert_eq!(allot(5, [0; 5], [0; 5]), [0; 5]);
    }

    #[test]
    fn a_rare_class_is_not_lost_and_a_short_one_gives_its_places_away() {
        let given = allot(100, [1_000_000, 0, 0, 0, 20], [100, 0, 0, 0, 20]);
        assert_eq!(given, [92, 0, 0, 0, 8]);
        assert_eq!(allot(100, [1_000, 0, 0, 0, 3], [100, 0, 0, 0, 3]), [97, 0, 0, 0, 3]);
        // Memory was short: the large class could not hold its share.
        assert_eq!(allot(100, [500, 0, 0, 0, 500], [500, 0, 0, 0, 10]), [90, 0, 0, 0, 10]);
        assert_eq!(allot(3, [9, 9, 9, 9, 9], [9; 5]).iter().sum::<usize>(), 3);
    }

    #[test]
    fn every_length_has_a_class() {
        let classes = [0, 1024, 1025, 4096, 16 << 10, (16 << 10) + 1, 128 << 10, usize::MAX];
        assert_eq!(classes.map(class_of), [0, 0, 1, 1, 2, 3, 3, 4]);
    }
}
