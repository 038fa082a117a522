//! pglz: the compression that PostgreSQL has had in its tables since 1999, to the byte.
//!
//! No library has it, and what packing adds in front of PostgreSQL depends on when pglz gives up,
//! so its matching is followed exactly: the same hash, the same lists of at most 4,096 earlier
//! positions, the same growing contentment with short matches. Written for cinch after the
//! description and the behaviour of PostgreSQL's src/common/pg_lzcompress.c by Jan Wieck, which is
//! Copyright (c) 1999-2025, PostgreSQL Global Development Group, under the PostgreSQL Licence.
//!
//! The format: a control byte tells of the next eight items, lowest bit first, whether each is one
//! byte as it is (0) or a tag (1) of two or three bytes that copies 3 to 273 bytes from 1 to 4,095
//! bytes back.

/// Payloads below this many bytes are not tried.
const INPUT_BYTES_MIN: usize = 32;

/// Payloads above this many bytes can't be values of PostgreSQL.
const INPUT_BYTES_MAX: usize = (1 << 30) - 1;

/// What has to remain at most, in percent: below a gain of a quarter the value stays as it is.
const RESULT_PERCENT_MAX: usize = 75;

/// After this many bytes of output without any match it gives up.
const FIRST_MATCH_BYTES_MAX: usize = 1024;

/// The first match looked at is taken at once if it has this many bytes …
const GOOD_MATCH_BYTES: usize = 128;

/// … and with each further one that is looked at, this many percent fewer will do.
const GOOD_MATCH_DROP_PERCENT: usize = 10;

/// How many earlier positions are remembered.
const HISTORY_POSITIONS: usize = 4096;

/// Offsets stay below this, although a tag could hold it.
const OFFSET_MAX: usize = 0x0FFF;

const MATCH_BYTES_MIN: usize = 3;
const MATCH_BYTES_MAX: usize = 273;

/// The shortest match whose length does not fit beside the offset and takes a third byte.
const LONG_MATCH_BYTES_MIN: usize = 18;

/// No entry: entries are counted from 1.
const NONE: u16 = 0;

/// One earlier position, in the list of those with its hash, the latest first.
#[derive(Clone, Copy, Default)]
struct Entry {
    next: u16,
    previous: u16,
    hash: u16,
    position: u32,
}

/// The earlier positions, found by the hash of the four bytes there.
struct History {
    starts: Vec<u16>,
    entries: Vec<Entry>,
    /// The entry that the next position takes, whosever it was.
    next: u16,
    is_full: bool,
}

impl History {
    fn new(input_bytes: usize) -> History {
        let lists = match input_bytes {
            0..128 => 512,
            128..256 => 1024,
            256..512 => 2048,
            512..1024 => 4096,
            _ => 8192,
        };
        History {
            starts: vec![NONE; lists],
            entries: vec![Entry::default(); HISTORY_POSITIONS + 1],
            next: 1,
            is_full: false,
        }
    }

    /// The list of the four bytes at the start. Bytes are signed, as they are where PostgreSQL is
    /// compiled for x86-64; that decides which positions share a list.
    fn hash(&self, bytes: &[u8]) -> u16 {
        let byte = |index: usize| i32::from(bytes[index] as i8);
        let hash = if bytes.len() < 4 {
            byte(0)
        } else {
            (byte(0) << 6) ^ (byte(1) << 4) ^ (byte(2) << 2) ^ byte(3)
        };
        (hash & (self.starts.len() as i32 - 1)) as u16
    }

    fn add(&mut self, input: &[u8], position: usize) {
        let hash = self.hash(&input[position..]);
        let place = self.next;
        if self.is_full {
            let old = self.entries[usize::from(place)];
            if old.previous == NONE {
                self.starts[usize::from(old.hash)] = old.next;
            } else {
                self.entries[usize::from(old.previous)].next = old.next;
            }
            if old.next != NONE {
                self.entries[usize::from(old.next)].previous = old.previous;
            }
        }
        // Only now: unlinking may have changed the list that this position joins.
        let first = std::mem::replace(&mut self.starts[usize::from(hash)], place);
        self.entries[usize::from(place)] =
            Entry { next: first, previous: NONE, hash, position: position as u32 };
        if first != NONE {
            self.entries[usize::from(first)].previous = place;
        }
        self.next += 1;
        if usize::from(self.next) > HISTORY_POSITIONS {
            self.next = 1;
            self.is_full = true;
        }
    }

    /// The length and offset of the match to use at this position, if there is one.
    fn find(&self, input: &[u8], position: usize) -> Option<(usize, usize)> {
        let here = &input[position..];
        let (mut length, mut offset) = (0, 0);
        let mut good_match = GOOD_MATCH_BYTES;
        let mut place = self.starts[usize::from(self.hash(here))];
        while place != NONE {
            let entry = self.entries[usize::from(place)];
            let there = entry.position as usize;
            if position - there >= OFFSET_MAX {
                break;
            }
            let found = here
                .iter()
                .zip(&input[there..])
                .take(MATCH_BYTES_MAX)
                .take_while(|(a, b)| a == b)
                .count();
            if found > length {
                (length, offset) = (found, position - there);
            }
            place = entry.next;
            if place != NONE {
                if length >= good_match {
                    break;
                }
                good_match -= good_match * GOOD_MATCH_DROP_PERCENT / 100;
            }
        }
        (length >= MATCH_BYTES_MIN).then_some((length, offset))
    }
}

/// The items of the output, eight to a control byte.
#[derive(Default)]
struct Items {
    bytes: Vec<u8>,
    control: usize,
    /// The bit of the next item in the control byte; 0 where a new control byte is due.
    bit: u8,
}

impl Items {
    fn push(&mut self, is_tag: bool, bytes: &[u8]) {
        if self.bit == 0 {
            self.control = self.bytes.len();
            self.bytes.push(0);
            self.bit = 1;
        }
        if is_tag {
            self.bytes[self.control] |= self.bit;
        }
        self.bit <<= 1;
        self.bytes.extend_from_slice(bytes);
    }

    fn push_tag(&mut self, length: usize, offset: usize) {
        let high = ((offset & 0xF00) >> 4) as u8;
        let low = (offset & 0xFF) as u8;
        if length < LONG_MATCH_BYTES_MIN {
            self.push(true, &[high | (length - MATCH_BYTES_MIN) as u8, low]);
        } else {
            self.push(true, &[high | 0x0F, low, (length - LONG_MATCH_BYTES_MIN) as u8]);
        }
    }
}

/// The compressed bytes, or nothing where PostgreSQL keeps the value as it is: below 32 bytes, no
/// match soon enough, or a gain below a quarter.
pub fn compress(input: &[u8]) -> Option<Vec<u8>> {
    if !(INPUT_BYTES_MIN..=INPUT_BYTES_MAX).contains(&input.len()) {
        return None;
    }
    // Above INT_MAX / 100 bytes PostgreSQL divides first so as not to overflow.
    let result_max = if input.len() > i32::MAX as usize / 100 {
        input.len() / 100 * RESULT_PERCENT_MAX
    } else {
        input.len() * RESULT_PERCENT_MAX / 100
    };
    let mut history = History::new(input.len());
    let mut items = Items::default();
    let mut found_any = false;
    let mut position = 0;
    while position < input.len() {
        let written = items.bytes.len();
        if written >= result_max || (!found_any && written >= FIRST_MATCH_BYTES_MAX) {
            return None;
        }
        let length = match history.find(input, position) {
            Some((length, offset)) => {
                items.push_tag(length, offset);
                found_any = true;
                length
            }
            None => {
                items.push(false, &input[position..=position]);
                1
            }
        };
        for _ in 0..length {
            history.add(input, position);
            position += 1;
        }
    }
    (items.bytes.len() < result_max).then_some(items.bytes)
}

/// The `length` bytes that were compressed, or nothing where these bytes can't be of pglz or are of
/// another length. Never allocates more than `length`.
pub fn decompress(compressed: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut output = Vec::with_capacity(length.min(compressed.len() * MATCH_BYTES_MAX));
    let mut input = compressed.iter().copied();
    'controls: while output.len() < length {
        let control = input.next()?;
        for bit in 0..8 {
            if output.len() == length {
                break 'controls;
            }
            if control & (1 << bit) == 0 {
                output.push(input.next()?);
                continue;
            }
            let (first, second) = (input.next()?, input.next()?);
            let mut count = usize::from(first & 0x0F) + MATCH_BYTES_MIN;
            if count == LONG_MATCH_BYTES_MIN {
                count += usize::from(input.next()?);
            }
            let offset = usize::from(first & 0xF0) << 4 | usize::from(second);
            if offset == 0 || offset > output.len() || output.len() + count > length {
                return None;
            }
            for _ in 0..count {
                output.push(output[output.len() - offset]);
            }
        }
    }
    input.next().is_none().then_some(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// JSON as a service might store it.
    fn record(index: usize) -> String {
        format!(
            r#"{{"id":{index},"name":"customer {}","tags":["new","paid"],"café":"größer"}}"#,
            index * 7919 % 1000
        )
    }

    #[test]
    fn runs_become_one_literal_and_tags_of_at_most_273_bytes() {
        // A byte, then tags that copy from 1 back: 273 and 26 bytes are the other 299.
        assert_eq!(compress(&[b' '; 300]).unwrap(), [0b110, b' ', 0x0F, 1, 255, 0x0F, 1, 26 - 18],);
    }

    #[test]
    fn what_does_not_shrink_by_a_quarter_stays_as_it_is() {
        assert_eq!(compress(&[b' '; 31]), None);
        assert!(compress(&[b' '; 32]).is_some());
        // All 256 bytes once, then some of them again: never a quarter.
        let bytes: Vec<u8> = (0..=255).chain(0..64).collect();
        assert_eq!(compress(&bytes), None);
    }

    #[test]
    fn after_a_kilobyte_without_any_match_it_gives_up() {
        // 1,024 bytes in which no four repeat, then as many of one byte as would pay.
        let mut bytes: Vec<u8> = (0..512_u16).flat_map(|n| (n * 127).to_le_bytes()).collect();
        assert!(
            bytes
                .windows(4)
                .all(|four| { bytes.windows(4).filter(|other| other == &four).count() == 1 })
        );
        let short: Vec<u8> = bytes[..800].iter().copied().chain([b' '; 8_000]).collect();
        assert!(compress(&short).is_some());
        bytes.extend([b' '; 8_000]);
        assert_eq!(compress(&bytes), None);
    }

    #[test]
    fn json_comes_back_and_shrinks() {
        let text: String = (0..2_000).map(record).collect();
        let packed = compress(text.as_bytes()).unwrap();
        assert!(packed.len() < text.len() / 2, "{} of {}", packed.len(), text.len());
        assert_eq!(decompress(&packed, text.len()).unwrap(), text.as_bytes());
        assert_eq!(decompress(&packed, text.len() - 1), None);
        assert_eq!(decompress(&packed, text.len() + 1), None);
    }

    proptest! {
        #[test]
        fn everything_that_compresses_comes_back(
            parts in prop::collection::vec(
                (prop::collection::vec(any::<u8>(), 1..12), 1_usize..60), 0..120),
        ) {
            let repeated = parts.iter().map(|(part, times)| part.repeat(*times));
            let bytes: Vec<u8> = repeated.flatten().collect();
            if let Some(packed) = compress(&bytes) {
                prop_assert!(packed.len() * 4 < bytes.len() * 3);
                let back = decompress(&packed, bytes.len());
                prop_assert_eq!(back.as_deref(), Some(bytes.as_slice()));
            }
        }

        #[test]
        fn any_bytes_are_decompressed_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..300), length in 0_usize..5_000,
        ) {
            if let Some(output) = decompress(&bytes, length) {
                prop_assert_eq!(output.len(), length);
            }
        }
    }
}
