//! The price texts of menus. A canteen prices by the plate or by weight, for three groups of
//! guests, from a short list that it rarely changes, so the texts are written once and picked.

use crate::json;
use crate::random::Random;

/// How many price levels there are; a dish keeps the level it was given.
pub(super) const LEVELS: u32 = 20;

/// What a level costs by the plate, in cents; the frequent levels come first.
const BASES: [Base; LEVELS as usize] = [
    Base::Weighed,
    Base::Weighed,
    Base::Unpriced,
    Base::Plate(100),
    Base::Weighed,
    Base::OnRequest,
    Base::Plate(150),
    Base::Weighed,
    Base::Unpriced,
    Base::Plate(250),
    Base::Plate(190),
    Base::Weighed,
    Base::Plate(330),
    Base::Plate(120),
    Base::Weighed,
    Base::Plate(420),
    Base::OnRequest,
    Base::Plate(90),
    Base::Plate(510),
    Base::Plate(60),
];

/// Prices per 100 g in cents of the three groups; most places use the first.
const UNITS_CENTS: [[i64; 3]; 9] = [
    [80, 100, 135],
    [75, 90, 105],
    [80, 100, 135],
    [80, 100, 135],
    [33, 65, 135],
    [80, 100, 135],
    [80, 100, 135],
    [90, 115, 160],
    [80, 100, 135],
];

/// From this base price on, nothing is added by weight.
const PLATE_ONLY_CENTS: i64 = 190;

/// How a dish is priced.
#[derive(Clone, Copy)]
enum Base {
    Weighed,
    Plate(i64),
    Unpriced,
    OnRequest,
}

const GROUPS: [&str; 3] = ["students", "staff", "guests"];

const UNPRICED: &str = "{\"students\":null,\"staff\":null,\"guests\":null}";

/// All price texts of a corpus.
pub(super) struct Prices {
    by_group: Vec<Vec<String>>,
    single: Vec<String>,
}

impl Prices {
    pub(super) fn new(random: &mut Random) -> Self {
        let priced = |units| BASES.iter().map(|base| by_group(*base, units)).collect();
        Self {
            by_group: UNITS_CENTS.iter().map(priced).collect(),
            single: (0..LEVELS).map(|_| single(random)).collect(),
        }
    }

    /// The prices for the three groups of guests at a place.
    pub(super) fn by_group(&self, level: usize, place: u64) -> &str {
        &self.by_group[place as usize % UNITS_CENTS.len()][level]
    }

    /// The one price of the plain form.
    pub(super) fn single(&self, level: usize, random: &mut Random) -> &str {
        if random.chance(180) { "\"N/A\"" } else { &self.single[level] }
    }
}

fn single(random: &mut Random) -> String {
    if random.chance(250) {
        return format!("\"0.{} € / 100g\"", random.between(55, 95));
    }
    let mut text = String::new();
    json::cents(&mut text, i64::from(random.between(8, 70)) * 10);
    text
}

fn grouped(write: impl Fn(usize, &mut String)) -> String {
    let mut text = String::new();
    for (position, group) in GROUPS.into_iter().enumerate() {
        text.push(if position == 0 { '{' } else { ',' });
        json::quoted(&mut text, group);
        text.push_str(":{\"base_price\":");
        write(position, &mut text);
        text.push('}');
    }
    text.push('}');
    text
}

/// Writes the prices of a dish. Dishes without a plate price have a whole zero there, which is how
/// the measured canteens write it.
fn by_group(base: Base, units_cents: &[i64; 3]) -> String {
    let weighed = |position: usize, text: &mut String| {
        text.push_str(",\"price_per_unit\":");
        json::cents(text, units_cents[position]);
        text.push_str(",\"unit\":\"100g\"");
    };
    let whole = |text: &mut String| text.push_str(",\"price_per_unit\":null,\"unit\":null");
    match base {
        Base::Unpriced => String::from(UNPRICED),
        Base::OnRequest => grouped(|_, text| {
            text.push_str("\"N/A\"");
            whole(text);
        }),
        Base::Weighed => grouped(|position, text| {
            text.push('0');
            weighed(position, text);
        }),
        Base::Plate(cents) => grouped(|position, text| {
            json::cents(text, cents);
            if cents < PLATE_ONLY_CENTS {
                weighed(position, text);
            } else {
                whole(text);
            }
        }),
    }
}
