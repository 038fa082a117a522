//! Shopping carts: a header of four keys and a list of lines with four keys each.
//! Modelled on the measured baskets of a gift shop that sells to the trade and to households.

mod catalogue;
pub(crate) mod words;

use crate::calendar::{self, DAY_SECONDS, FIRST_DAY};
use crate::json;
use crate::options::Options;
use crate::quantiles::Quantiles;
use crate::random::{Key, Random};
use crate::recipe::Recipe;
use crate::scale::{Scale, Shape};
use crate::sizes::Sizes;
use catalogue::Catalogue;

/// Measured lines per basket, every 5 %: a fifth of the baskets has one line.
const LINES: Quantiles =
    Quantiles(&[1, 1, 1, 1, 1, 2, 3, 4, 6, 8, 11, 13, 16, 18, 21, 25, 29, 36, 48, 67, 149]);

/// From this share of 2^32 on, one basket in forty, the table would cut the long tail off.
const LONG_BASKET_SHARE: u32 = u32::MAX / 40 * 39;
const LONG_BASKET_LINES: (u32, u32) = (108, 721);

/// Quantities of trade customers, the frequent ones listed more often.
const TRADE_QUANTITIES: [u16; 40] = [
    1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 12, 12, 12, 12, 12, 6, 6, 6, 6, 3, 3, 3, 4, 4,
    4, 24, 24, 10, 10, 8, 8, 5, 25, 48,
];

/// Quantities of households, who mostly take one piece.
const HOUSEHOLD_QUANTITIES: [u16; 12] = [1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4, 5];

/// The countries other than the home country, the frequent ones first.
const COUNTRIES_ABROAD: [&str; 12] = [
    "Germany",
    "France",
    "Ireland",
    "Spain",
    "Netherlands",
    "Australia",
    "Portugal",
    "Belgium",
    "Switzerland",
    "Norway",
    "Italy",
    "Finland",
];

const SHAPE: Shape = Shape { header_bytes: 117, entry_bytes: 96, median_entries: 10 };

/// The seconds between two carts, and the seconds after which the calendar starts again, so that
/// dates stay within four years however many carts are asked for.
const PACE_SECONDS: u64 = 540;
const SPAN_SECONDS: u64 = 4 * 365 * DAY_SECONDS;

struct Carts {
    catalogue: Catalogue,
    scale: Scale,
    sizes: Sizes,
}

/// Who buys, which decides the prices and the quantities of the whole cart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Buyer {
    Trade,
    Household,
    Return,
}

/// Prepares the recipe of the carts.
pub(crate) fn open(key: &Key, options: &Options) -> Box<dyn Recipe> {
    let mut random = Random::for_catalogue(key);
    Box::new(Carts {
        catalogue: Catalogue::new(&mut random),
        sizes: Sizes::new(&mut random),
        scale: Scale::new(options.median_bytes, &SHAPE),
    })
}

impl Recipe for Carts {
    fn write(&self, index: u64, random: &mut Random, output: &mut String) {
        let drawn = drawn_lines(self.sizes.share(index), random);
        let buyer = match random.below(1000) {
            0..350 if drawn <= 3 => Buyer::Return,
            350..520 => Buyer::Household,
            _ => Buyer::Trade,
        };
        write_header(index, buyer, random, output);
        let lines = self.scale.entries(drawn);
        let mut product = self.catalogue.popular(random);
        for line in 0..lines {
            if line > 0 {
                output.push(',');
                product = if random.chance(300) {
                    self.catalogue.neighbour(product, random)
                } else {
                    self.catalogue.popular(random)
                };
            }
            self.write_line(product, buyer, random, output);
        }
        output.push_str("]}");
    }
}

impl Carts {
    fn write_line(&self, product: usize, buyer: Buyer, random: &mut Random, output: &mut String) {
        let product = self.catalogue.product(product);
        output.push_str(&product.head);
        let quantity = match buyer {
            Buyer::Household => random.pick(&HOUSEHOLD_QUANTITIES),
            Buyer::Trade | Buyer::Return if random.chance(12) => random.between(1, 400) as u16,
            Buyer::Trade | Buyer::Return => random.pick(&TRADE_QUANTITIES),
        };
        if buyer == Buyer::Return {
            output.push('-');
        }
        json::integer(output, u64::from(quantity));
        output.push_str(",\"UnitPrice\":");
        let price_cents = match buyer {
            Buyer::Household => product.household_cents,
            Buyer::Trade | Buyer::Return if random.chance(200) => product.discount_cents,
            Buyer::Trade | Buyer::Return => product.trade_cents,
        };
        json::cents(output, i64::from(price_cents));
        output.push('}');
    }
}

fn drawn_lines(share: u32, random: &mut Random) -> u32 {
    let (shortest, longest) = LONG_BASKET_LINES;
    if share < LONG_BASKET_SHARE {
        LINES.at(share)
    } else {
        shortest + random.steep(longest - shortest + 1)
    }
}

fn write_header(index: u64, buyer: Buyer, random: &mut Random, output: &mut String) {
    output.push_str("{\"InvoiceNo\":\"");
    if buyer == Buyer::Return {
        output.push('C');
    }
    json::integer(output, 540_000 + index * 9 + u64::from(random.below(9)));
    output.push_str("\",\"InvoiceDate\":\"");
    // Minutes only: shops note when a cart was closed, and the seconds of the model are all zero.
    let seconds = (index * PACE_SECONDS + u64::from(random.below(600))) % SPAN_SECONDS;
    calendar::time(output, FIRST_DAY * DAY_SECONDS + seconds / 60 * 60, ' ');
    output.push_str("\",\"CustomerID\":");
    if random.chance(140) {
        output.push_str("null");
    } else {
        json::integer(output, 12_346 + u64::from(random.skewed(4000)));
    }
    output.push_str(",\"Country\":\"");
    output.push_str(if random.chance(910) {
        "United Kingdom"
    } else {
        COUNTRIES_ABROAD[random.skewed(COUNTRIES_ABROAD.len() as u32) as usize]
    });
    output.push_str("\",\"Items\":[");
}

#[cfg(test)]
mod tests {
    use crate::calibration::{self, Band};

    #[test]
    fn carts_compress_like_the_measured_baskets() {
        calibration::check(
            "carts",
            1500,
            &Band { median_bytes: 900..1250, key_percent: 43..52, ratio_percent: 210..285 },
        );
    }

    #[test]
    fn carts_grow_and_shrink_to_a_target() {
        calibration::check_scaled("carts", 5000, 300);
        calibration::check_scaled("carts", 300_000, 60);
        calibration::check_scaled("carts", 400, 300);
    }

    #[test]
    fn returns_are_marked_and_have_negative_quantities() {
        let mut returns = 0;
        for cart in calibration::documents("carts", 400) {
            let quantities = cart["Items"].as_array().expect("items").iter();
            let negative = quantities.filter(|item| item["Quantity"].as_i64() < Some(0)).count();
            let marked = cart["InvoiceNo"].as_str().expect("number").starts_with('C');
            assert_eq!(negative > 0, marked);
            returns += usize::from(marked);
        }
        assert!((20..100).contains(&returns), "{returns} returns");
    }
}
