//! Canteen menus: one document per place and week, with days, dishes, nested prices and labels.
//! A large target gets the dishes of a delivery service's menu, which come with a description and
//! with the choices that a guest can make.

mod courses;
mod dishes;
mod prices;
mod words;

use crate::calendar::{self, FIRST_DAY};
use crate::json;
use crate::options::Options;
use crate::quantiles::Quantiles;
use crate::random::{Key, Random};
use crate::recipe::Recipe;
use crate::scale::{Scale, Shape};
use crate::sizes::Sizes;
use dishes::{Dish, Dishes};
use prices::Prices;

/// Measured dishes per document, every 5 %.
const COUNTS: Quantiles =
    Quantiles(&[1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 15, 17, 20, 22, 26, 30, 36, 47, 61, 74, 104]);

const SHAPE: Shape = Shape { header_bytes: 240, entry_bytes: 190, median_entries: 15 };
const DETAILED_SHAPE: Shape = Shape { header_bytes: 240, entry_bytes: 560, median_entries: 15 };

/// From this target on the dishes are described in detail instead of becoming ever more.
const DETAILED_BYTES: u32 = 16_384;

/// The places whose menus a corpus holds; every fourth writes the plain form.
const PLACES: u64 = 12;

/// The weeks after which the calendar starts again.
const SPAN_WEEKS: u64 = 208;

/// How many documents in a row belong to a season.
const SEASON_DOCUMENTS: u64 = 16;

/// How often a dish comes from an earlier day of the same week.
const REPEATED_PERMILLE: u32 = 100;

/// Monday 29 December 2025, the first day of the first week of 2026.
const FIRST_MONDAY: u64 = FIRST_DAY - 3;

struct Menus {
    dishes: Dishes,
    prices: Prices,
    scale: Scale,
    sizes: Sizes,
    detailed: bool,
}

/// Prepares the recipe of the menus.
pub(crate) fn open(key: &Key, options: &Options) -> Box<dyn Recipe> {
    let detailed = options.median_bytes.is_some_and(|bytes| bytes >= DETAILED_BYTES);
    let shape = if detailed { &DETAILED_SHAPE } else { &SHAPE };
    let mut random = Random::for_catalogue(key);
    Box::new(Menus {
        dishes: Dishes::new(&mut random),
        prices: Prices::new(&mut random),
        sizes: Sizes::new(&mut random),
        scale: Scale::new(options.median_bytes, shape),
        detailed,
    })
}

impl Recipe for Menus {
    fn write(&self, index: u64, random: &mut Random, output: &mut String) {
        let place = index % PLACES;
        // Weeks follow each other at every place, and small places publish single days.
        let monday = FIRST_MONDAY + 7 * (index / PLACES % SPAN_WEEKS);
        let count = self.scale.entries(COUNTS.at(self.sizes.share(index)));
        let days = count.min(if count < 5 { 1 } else { random.pick(&[1, 4, 5, 5, 5, 5]) });
        let full = place % 4 != 3 || self.detailed;
        let mut served = Vec::with_capacity(count as usize);
        let first_day = if days == 1 { u64::from(random.below(5)) } else { 0 };
        let (year, week) = calendar::week(monday);
        output.push_str("{\"number\":");
        json::integer(output, week);
        output.push_str(",\"year\":");
        json::integer(output, year);
        output.push_str(",\"days\":[");
        for day in 0..days {
            if day > 0 {
                output.push(',');
            }
            output.push_str("{\"date\":\"");
            calendar::date(output, monday + first_day + u64::from(day));
            output.push_str("\",\"dishes\":[");
            let dishes = count * (day + 1) / days - count * day / days;
            for position in 0..dishes {
                if position > 0 {
                    output.push(',');
                }
                let number = if !served.is_empty() && random.chance(REPEATED_PERMILLE) {
                    random.pick(&served)
                } else {
                    self.dishes.served(place, index / SEASON_DOCUMENTS, random)
                };
                served.push(number);
                let dish = self.dishes.dish(number);
                if full {
                    self.write_full(dish, place, random, output);
                } else {
                    self.write_plain(dish, random, output);
                }
            }
            output.push_str("]}");
        }
        output.push_str(if full { "],\"version\":\"2.1\"}" } else { "]}" });
    }
}

impl Menus {
    fn write_full(&self, dish: &Dish, place: u64, random: &mut Random, output: &mut String) {
        output.push_str(&dish.head);
        output.push_str(",\"prices\":");
        output.push_str(self.prices.by_group(dish.price, place));
        output.push_str(",\"labels\":");
        output.push_str(&dish.labels);
        output.push_str(",\"dish_type\":");
        output.push_str(&dish.course);
        if self.detailed {
            courses::write_detail(dish, random, output);
        }
        output.push('}');
    }

    fn write_plain(&self, dish: &Dish, random: &mut Random, output: &mut String) {
        output.push_str(&dish.head);
        output.push_str(",\"price\":");
        output.push_str(self.prices.single(dish.price, random));
        output.push_str(",\"ingredients\":");
        output.push_str(&dish.codes);
        output.push('}');
    }
}

#[cfg(test)]
mod tests {
    use crate::Options;
    use crate::calibration::{self, Band};

    #[test]
    fn menus_compress_like_the_measured_weeks() {
        calibration::check(
            "menus",
            1000,
            &Band { median_bytes: 2600..3500, key_percent: 41..51, ratio_percent: 345..465 },
        );
    }

    #[test]
    fn menus_grow_and_shrink_to_a_target() {
        calibration::check_scaled("menus", 1000, 300);
        calibration::check_scaled("menus", 10_000, 300);
        calibration::check_scaled("menus", 64_000, 150);
    }

    #[test]
    fn a_delivery_menu_describes_its_dishes() {
        let options = Options { count: 5, seed: 2, median_bytes: Some(64_000) };
        for menu in calibration::parsed("menus", options) {
            let dish = &menu["days"][0]["dishes"][0];
            assert!(dish["description"].as_str().expect("description").len() > 20);
            assert!(dish["options"].is_array());
        }
    }

    #[test]
    fn some_names_are_not_ascii_and_some_need_escapes() {
        let options = Options { count: 300, seed: 1, median_bytes: None };
        let texts: String = crate::find("menus").expect("kind").payloads(options).collect();
        assert!(!texts.is_ascii());
        assert!(texts.contains("\\\""));
    }
}
