//! Flight search lists: one route, and the cheapest fare of every day of the next half year.
//! A large target appends the lists of later searches, as services that keep fare histories do.

mod fares;
mod network;

use crate::calendar::{self, FIRST_DAY};
use crate::options::Options;
use crate::quantiles::Quantiles;
use crate::random::{Key, Random};
use crate::recipe::Recipe;
use crate::scale::{Scale, Shape};
use crate::sizes::Sizes;
use fares::Fares;
use network::{Network, Route};

/// The days that one search looks ahead.
const SEARCH_DAYS: u32 = 180;

/// Measured fares per list, every 5 %: most searches find a fare for every day.
const FARES: Quantiles = Quantiles(&[
    23, 88, 123, 145, 160, 168, 173, 176, 177, 179, 179, 180, 180, 180, 180, 180, 180, 180, 180,
    180, 180,
]);

const SHAPE: Shape = Shape { header_bytes: 122, entry_bytes: 130, median_entries: 179 };

/// Lists of one day, and the days after which the calendar starts again.
const LISTS_PER_DAY: u64 = 13;
const SPAN_DAYS: u64 = 1000;

struct Flights {
    network: Network,
    scale: Scale,
    sizes: Sizes,
}

/// Prepares the recipe of the flight lists.
pub(crate) fn open(key: &Key, options: &Options) -> Box<dyn Recipe> {
    let mut random = Random::for_catalogue(key);
    Box::new(Flights {
        network: Network::new(&mut random),
        sizes: Sizes::new(&mut random),
        scale: Scale::new(options.median_bytes, &SHAPE),
    })
}

impl Recipe for Flights {
    fn write(&self, index: u64, random: &mut Random, output: &mut String) {
        let route = self.network.route(random);
        let mut snapshot_day = FIRST_DAY + index / LISTS_PER_DAY % SPAN_DAYS;
        self.write_header(route, snapshot_day, output);
        let mut left = self.scale.entries(FARES.at(self.sizes.share(index)));
        let mut fares = Fares::new(route, random);
        let mut first = true;
        while left > 0 {
            let days = left.min(SEARCH_DAYS);
            for travel_day in travel_days(days, random) {
                if !first {
                    output.push(',');
                }
                first = false;
                fares.advance(random);
                fares.write(snapshot_day, travel_day, &self.network, output);
            }
            left -= days;
            snapshot_day += 1;
        }
        output.push_str("]}");
    }
}

impl Flights {
    fn write_header(&self, route: &Route, snapshot_day: u64, output: &mut String) {
        let origin = self.network.airport(route.origin);
        let destination = self.network.airport(route.destination);
        output.push_str("{\"route\":\"");
        output.push_str(&origin.code);
        output.push('-');
        output.push_str(&destination.code);
        output.push_str("\",\"origin\":\"");
        output.push_str(&origin.code);
        output.push_str("\",\"dest\":\"");
        output.push_str(&destination.code);
        output.push_str("\",\"label\":\"");
        for (airport, after) in [(origin, ") → "), (destination, ")")] {
            output.push_str(&airport.city);
            output.push_str(" (");
            output.push_str(&airport.code);
            output.push_str(after);
        }
        output.push_str("\",\"snapshot\":\"");
        calendar::date(output, snapshot_day);
        output.push_str("\",\"prices\":[");
    }
}

/// The days after the search for which it found a fare, nearly in order: the answers of parallel
/// queries overtake each other, and a few days have no fare.
fn travel_days(count: u32, random: &mut Random) -> Vec<u32> {
    let mut days = Vec::with_capacity(count as usize);
    let mut day = 0;
    for position in 0..count {
        let spare = SEARCH_DAYS - day > count - position;
        day += if spare && random.chance(25) { 2 } else { 1 };
        days.push(day);
    }
    for position in 1..days.len() {
        if random.chance(180) {
            days.swap(position - 1, position);
        }
    }
    days
}

#[cfg(test)]
mod tests {
    use crate::calibration::{self, Band};
    use std::collections::BTreeSet;

    #[test]
    fn flight_lists_compress_like_the_measured_searches() {
        calibration::check(
            "flights",
            150,
            &Band { median_bytes: 20_500..24_500, key_percent: 40..48, ratio_percent: 1930..2550 },
        );
    }

    #[test]
    fn flight_lists_grow_and_shrink_to_a_target() {
        calibration::check_scaled("flights", 2000, 100);
        calibration::check_scaled("flights", 1_000_000, 8);
    }

    #[test]
    fn a_search_names_every_day_once() {
        for list in calibration::documents("flights", 40) {
            let fares = list["prices"].as_array().expect("prices");
            let days: BTreeSet<&str> =
                fares.iter().filter_map(|fare| fare["date"].as_str()).collect();
            assert_eq!(days.len(), fares.len());
            assert!(fares.iter().all(|fare| fare["snapshot"] == list["snapshot"]));
        }
    }
}
