//! Taxi trips: one flat object of eighteen keys, most of whose bytes are the keys themselves.
//! A large target adds the nested detail that a ride service keeps (the route points, the parts
//! of the fare), because such a service's trip is not a longer taxi record but a deeper one.

mod detail;
mod fare;

use crate::calendar::{self, DAY_SECONDS, FIRST_DAY};
use crate::json;
use crate::options::Options;
use crate::quantiles::Quantiles;
use crate::random::{Key, Random, mix};
use crate::recipe::Recipe;
use crate::sizes::Sizes;
use detail::Detail;
use fare::Fare;

/// Measured distance in hundredths of a mile, every 1/16.
const DISTANCES: Quantiles =
    Quantiles(&[0, 50, 70, 81, 98, 110, 130, 147, 168, 190, 220, 259, 312, 400, 564, 970, 2400]);

/// Measured hour of the day, every 1/12 of the trips.
const HOURS: Quantiles = Quantiles(&[0, 5, 8, 10, 11, 13, 14, 16, 17, 18, 20, 21, 24]);

/// Passengers, the frequent counts listed more often.
const PASSENGERS: [u8; 24] =
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 5, 6, 4];

/// The trips fall into one month, in no order, as they do in exports.
const MONTH_DAYS: u32 = 31;

/// Taxi zones of the city, and the popular ones among them.
const ZONES: u64 = 263;
const BUSY_ZONES: u32 = 96;

struct Trips {
    city: u64,
    sizes: Sizes,
    detail: Option<Detail>,
}

/// Where, when and how far a trip went.
struct Ride {
    pickup_seconds: u64,
    duration_seconds: u64,
    distance_hundredths: u32,
}

/// Prepares the recipe of the trips.
pub(crate) fn open(key: &Key, options: &Options) -> Box<dyn Recipe> {
    let mut random = Random::for_catalogue(key);
    Box::new(Trips {
        city: random.wide_bits(),
        sizes: Sizes::new(&mut random),
        detail: Detail::for_target(options.median_bytes),
    })
}

impl Recipe for Trips {
    fn write(&self, index: u64, random: &mut Random, output: &mut String) {
        let vendor = if random.chance(573) { 2 } else { 1 };
        let ride = Ride::draw(vendor, random);
        let fare = Fare::draw(&ride, random);
        output.push_str("{\"vendor_id\":");
        json::integer(output, vendor);
        output.push_str(",\"pickup_datetime\":\"");
        calendar::time(output, ride.pickup_seconds, ' ');
        output.push_str("\",\"dropoff_datetime\":\"");
        calendar::time(output, ride.pickup_seconds + ride.duration_seconds, ' ');
        output.push_str("\",\"passenger_count\":");
        json::integer(output, u64::from(random.pick(&PASSENGERS)));
        output.push_str(",\"trip_distance\":");
        json::cents(output, i64::from(ride.distance_hundredths));
        output.push_str(",\"rate_code_id\":");
        json::integer(output, u64::from(fare.rate_code));
        output.push_str(",\"store_and_fwd_flag\":\"");
        output.push_str(if random.chance(995) { "N" } else { "Y" });
        output.push_str("\",\"pickup_location_id\":");
        let pickup = random.skewed(BUSY_ZONES);
        json::integer(output, self.zone(pickup));
        output.push_str(",\"dropoff_location_id\":");
        // A third of the trips ends near where it began, which is what repeats pairs of zones.
        let dropoff = if random.chance(350) {
            (pickup + random.below(4)) % BUSY_ZONES
        } else {
            random.skewed(BUSY_ZONES + 44)
        };
        json::integer(output, self.zone(dropoff));
        fare.write(output);
        if let Some(detail) = &self.detail {
            detail.write(self.sizes.share(index), &ride, &fare, random, output);
        }
        output.push('}');
    }
}

impl Trips {
    /// The number that the city gave to its zone of a rank.
    fn zone(&self, rank: u32) -> u64 {
        1 + mix(self.city ^ u64::from(rank)) % ZONES
    }
}

impl Ride {
    fn draw(vendor: u64, random: &mut Random) -> Self {
        let day = u64::from(random.below(MONTH_DAYS));
        let hour = u64::from(HOURS.draw(random));
        let drawn = DISTANCES.draw(random);
        // One vendor's meters count tenths of a mile, the other's hundredths.
        let distance_hundredths = if vendor == 1 { drawn.div_ceil(10) * 10 } else { drawn };
        // About six minutes a mile and a little waiting, more or less by traffic.
        let usual_seconds = u64::from(distance_hundredths) * 7 / 2 + 90;
        Self {
            pickup_seconds: (FIRST_DAY + day) * DAY_SECONDS
                + hour * 3600
                + u64::from(random.below(3600)),
            duration_seconds: usual_seconds * u64::from(random.between(55, 170)) / 100,
            distance_hundredths,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::calibration::{self, Band};

    #[test]
    fn trips_compress_like_the_measured_records() {
        calibration::check(
            "trips",
            1500,
            &Band { median_bytes: 390..415, key_percent: 65..74, ratio_percent: 145..178 },
        );
    }

    #[test]
    fn a_large_target_is_met_with_nested_detail() {
        calibration::check_scaled("trips", 1200, 300);
        calibration::check_scaled("trips", 20_000, 300);
        let options = crate::Options { count: 50, seed: 3, median_bytes: Some(20_000) };
        for trip in calibration::parsed("trips", options) {
            assert!(trip["route"].as_array().expect("route").len() > 10);
            assert!(trip["fare_breakdown"].as_array().expect("breakdown").len() > 3);
        }
    }

    #[test]
    fn the_breakdown_of_a_fare_adds_up_to_its_total() {
        let options = crate::Options { count: 100, seed: 4, median_bytes: Some(5000) };
        for trip in calibration::parsed("trips", options) {
            let parts = trip["fare_breakdown"].as_array().expect("breakdown").iter();
            let sum: f64 = parts.filter_map(|part| part["amount"].as_f64()).sum();
            let total = trip["total_amount"].as_f64().expect("total");
            assert!((sum - total).abs() < 0.005, "{trip}");
        }
    }

    #[test]
    fn the_parts_of_a_fare_add_up_to_its_total() {
        for trip in calibration::documents("trips", 300) {
            let parts = [
                "fare_amount",
                "extra",
                "mta_tax",
                "tip_amount",
                "tolls_amount",
                "congestion_surcharge",
            ];
            let sum: f64 = parts.iter().filter_map(|part| trip[part].as_f64()).sum();
            let total = trip["total_amount"].as_f64().expect("total");
            assert!((sum + 0.3 - total).abs() < 0.005, "{trip}");
        }
    }
}
