//! The products of the shop that a corpus of carts describes.
//! They are built once per corpus with the unchanging part of their line already written, because
//! the same product appears in many carts.

use super::words::{COLOURS, DESIGNS, OBJECTS};
use crate::json;
use crate::quantiles::Quantiles;
use crate::random::Random;

const PRODUCTS: u32 = 3400;

/// Popularity, every 1/16 of the draws: together with the neighbours, which are drawn evenly, the
/// hundred best sellers make the measured fifth of the lines.
const POPULARITY: Quantiles = Quantiles(&[
    0, 15, 36, 63, 100, 153, 226, 315, 425, 560, 725, 883, 1074, 1310, 1619, 2072, PRODUCTS,
]);

/// Spreads the popularity ranks over the product numbers; it has no divisor in common with the
/// number of products, so every product has exactly one rank.
const RANK_STRIDE: u32 = 1301;

/// Descriptions are cut to the width that till systems print.
const DESCRIPTION_CHARACTERS: usize = 35;

/// Frequent trade prices in cents, the most frequent first.
const PRICES_CENTS: [u32; 36] = [
    125, 165, 85, 295, 42, 375, 495, 210, 195, 255, 145, 39, 65, 425, 55, 595, 795, 415, 850, 995,
    29, 175, 345, 122, 275, 450, 69, 115, 79, 1275, 225, 110, 1095, 390, 1495, 99,
];

/// One product and the start of every line that sells it.
pub(super) struct Product {
    /// The line up to the quantity.
    pub(super) head: String,
    pub(super) trade_cents: u32,
    pub(super) household_cents: u32,
    pub(super) discount_cents: u32,
}

pub(super) struct Catalogue {
    products: Vec<Product>,
}

impl Catalogue {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut products = Vec::with_capacity(PRODUCTS as usize);
        let mut code = 20_650;
        while products.len() < PRODUCTS as usize {
            code += random.between(1, 9);
            let family = Family::new(random);
            // A letter after the code tells the variants of a product apart; other families give
            // each variant a code of its own.
            let lettered = random.chance(150);
            for variant in 0..random.between(2, 8) {
                let letter = lettered.then(|| char::from(b'A' + variant as u8));
                if !lettered {
                    code += 1;
                }
                products.push(family.product(code, letter, random));
            }
        }
        products.truncate(PRODUCTS as usize);
        Self { products }
    }

    pub(super) fn product(&self, number: usize) -> &Product {
        &self.products[number]
    }

    /// Draws a product by its popularity.
    pub(super) fn popular(&self, random: &mut Random) -> usize {
        (POPULARITY.draw(random) * RANK_STRIDE % PRODUCTS) as usize
    }

    /// Draws a product beside another one: people buy several variants of what they like.
    pub(super) fn neighbour(&self, product: usize, random: &mut Random) -> usize {
        (product + 1 + random.below(3) as usize) % self.products.len()
    }
}

/// What the variants of a product share.
struct Family {
    design: &'static str,
    object: &'static str,
    varies_by_object: bool,
    colour_first: bool,
    set_of: u32,
    price: usize,
}

impl Family {
    fn new(random: &mut Random) -> Self {
        Self {
            design: random.pick(&DESIGNS),
            object: random.pick(&OBJECTS),
            varies_by_object: random.chance(500),
            colour_first: random.chance(450),
            set_of: if random.chance(130) { random.pick(&[2, 3, 4, 6, 10, 12]) } else { 0 },
            price: random.skewed(PRICES_CENTS.len() as u32) as usize,
        }
    }

    fn product(&self, code: u32, letter: Option<char>, random: &mut Random) -> Product {
        let mut head = String::from("{\"StockCode\":\"");
        json::integer(&mut head, u64::from(code));
        head.extend(letter);
        head.push_str("\",\"Description\":\"");
        head.push_str(&self.description(random));
        head.push_str("\",\"Quantity\":");
        let other_price = random.below(PRICES_CENTS.len() as u32) as usize;
        let price = if random.chance(700) { self.price } else { other_price };
        let trade_cents = PRICES_CENTS[price];
        Product {
            head,
            trade_cents,
            household_cents: trade_cents * 196 / 100 + 1,
            discount_cents: PRICES_CENTS[(price + 1) % PRICES_CENTS.len()].min(trade_cents),
        }
    }

    fn description(&self, random: &mut Random) -> String {
        let colour = random.pick(&COLOURS);
        let object = if self.varies_by_object { random.pick(&OBJECTS) } else { self.object };
        let mut description = match self.set_of {
            0 => String::new(),
            pieces => format!("SET OF {pieces} "),
        };
        let parts = if self.colour_first {
            [colour, self.design, object]
        } else {
            [self.design, object, colour]
        };
        description.push_str(&parts.join(" "));
        while description.len() > DESCRIPTION_CHARACTERS {
            let end = description.rfind(' ').unwrap_or(DESCRIPTION_CHARACTERS);
            description.truncate(end);
        }
        description
    }
}

#[cfg(test)]
mod tests {
    use super::{Catalogue, PRODUCTS};
    use crate::random::{Key, Random};
    use std::collections::BTreeSet;

    fn catalogue() -> Catalogue {
        Catalogue::new(&mut Random::for_catalogue(&Key::new("carts", 1)))
    }

    #[test]
    fn every_product_has_a_code_of_its_own() {
        let catalogue = catalogue();
        let codes: BTreeSet<&str> = catalogue
            .products
            .iter()
            .map(|product| product.head.split('"').nth(3).expect("code"))
            .collect();
        assert_eq!(codes.len(), PRODUCTS as usize);
    }

    #[test]
    fn descriptions_are_as_long_as_the_measured_ones() {
        let catalogue = catalogue();
        let lengths = catalogue
            .products
            .iter()
            .map(|product| product.head.split('"').nth(7).expect("description").len());
        let total: usize = lengths.clone().sum();
        assert!(lengths.max() <= Some(35));
        assert!((24..29).contains(&(total / PRODUCTS as usize)));
    }

    #[test]
    fn a_hundred_best_sellers_make_a_quarter_of_the_popular_draws() {
        let catalogue = catalogue();
        let mut random = Random::new(&Key::new("carts", 1), 0);
        let mut sold = vec![0; PRODUCTS as usize];
        for _ in 0..20_000 {
            sold[catalogue.popular(&mut random)] += 1;
        }
        sold.sort_unstable_by(|left, right| right.cmp(left));
        let best: u32 = sold[..100].iter().sum();
        assert!((4600..5500).contains(&best), "{best} of 20000");
    }
}
