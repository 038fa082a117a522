//! The payloads that every codec is tested with, made from fixed seeds: each is the same in every
//! run, and none is stored.

/// A small generator of random numbers (xorshift64*): the tests need repeatable, not good, ones.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// A JSON document of about this many bytes, with the repetition that payloads have.
pub(super) fn json(bytes: usize, seed: u64) -> Vec<u8> {
    const ITEMS: [&str; 8] =
        ["coffee", "tea", "cake", "sandwich", "apple juice", "pear", "water", "soup of the day"];
    let mut random = Random::new(seed);
    let mut text = format!("{{\"cart\":{},\"lines\":[", random.next() % 1_000_000);
    while text.len() < bytes.saturating_sub(80) {
        let item = ITEMS[random.below(ITEMS.len())];
        text += &format!(
            "{{\"sku\":\"{:08x}\",\"name\":\"{item}\",\"price\":{}.{:02},\"quantity\":{}}},",
            random.next() as u32,
            random.below(30),
            random.below(100),
            1 + random.below(4),
        );
    }
    text += "null],\"currency\":\"EUR\"}";
    text.into_bytes()
}

/// Bytes that no codec shrinks.
pub(super) fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..bytes).map(|_| random.next() as u8).collect()
}

/// The payload that the tests of damage use.
pub(super) fn small() -> Vec<u8> {
    json(300, 3)
}

/// Every payload, with a name for messages.
pub(super) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let phrase = json(2_000, 5);
    vec![
        ("empty", Vec::new()),
        ("one byte", vec![0x7B]),
        ("small", small()),
        ("medium", json(20_000, 4)),
        ("repetitive", phrase.iter().copied().cycle().take(500_000).collect()),
        ("noise", noise(100_000, 6)),
        ("zeros", vec![0; 1 << 20]),
    ]
}
