//! The nested part of a ride service's trip: who rode, what the fare was made of, and the route as
//! a list of positions, which is what makes such a document twenty kilobytes long.

use super::Ride;
use super::fare::Fare;
use crate::identifiers;
use crate::json;
use crate::quantiles::Quantiles;
use crate::random::Random;
use crate::scale::{Scale, Shape};

/// Targets below this stay flat: the flat record is at most some twenty bytes longer.
const FLAT_BYTES: u32 = 450;

/// From this target on a trip has its people, vehicle and fare parts; below it only the route.
const FULL_BYTES: u32 = 1600;

/// Points per route relative to a median of 100: long trips leave longer traces.
const POINTS: Quantiles = Quantiles(&[25, 50, 65, 75, 88, 100, 115, 135, 165, 220, 400]);

const ROUTE_SHAPE: Shape = Shape { header_bytes: 414, entry_bytes: 85, median_entries: 100 };
const FULL_SHAPE: Shape = Shape { header_bytes: 1280, entry_bytes: 85, median_entries: 100 };

const STREETS: [&str; 16] = [
    "Alder", "Birch", "Canal", "Dover", "Elm", "Foundry", "Grove", "Harbour", "Island", "Juniper",
    "King", "Linden", "Market", "North", "Orchard", "Pine",
];

const MODELS: [&str; 8] = [
    "Corvina S",
    "Marlin Hybrid",
    "Tern 4",
    "Aurora EV",
    "Vesper XL",
    "Halcyon",
    "Lumen E",
    "Rook 2",
];

/// The nested detail of trips of one target size.
pub(super) struct Detail {
    scale: Scale,
    full: bool,
}

impl Detail {
    /// Returns the detail that brings a trip to the target, or none when the record is enough.
    pub(super) fn for_target(median_bytes: Option<u32>) -> Option<Self> {
        let target = median_bytes.filter(|bytes| *bytes >= FLAT_BYTES)?;
        let full = target >= FULL_BYTES;
        let shape = if full { &FULL_SHAPE } else { &ROUTE_SHAPE };
        Some(Self { scale: Scale::new(Some(target), shape), full })
    }

    /// Appends the nested keys to an open trip object.
    pub(super) fn write(
        &self,
        size_share: u32,
        ride: &Ride,
        fare: &Fare,
        random: &mut Random,
        output: &mut String,
    ) {
        if self.full {
            write_people(random, output);
            write_breakdown(fare, output);
        }
        output.push_str(",\"route\":[");
        let points = self.scale.entries(POINTS.at(size_share));
        write_route(ride, points, random, output);
        output.push(']');
    }
}

fn write_people(random: &mut Random, output: &mut String) {
    output.push_str(",\"trip_uuid\":\"");
    identifiers::uuid(random, output);
    for role in ["rider", "driver"] {
        output.push_str("\",\"");
        output.push_str(role);
        output.push_str("\":{\"uuid\":\"");
        identifiers::uuid(random, output);
        output.push_str("\",\"rating\":");
        json::cents(output, 500 - i64::from(random.skewed(90)));
        output.push_str(",\"trips_completed\":");
        json::integer(output, u64::from(random.skewed(6000)));
        output.push_str(",\"language\":\"en\",\"city_id\":5},\"");
        output.push_str(role);
        output.push_str("_address\":\"");
        json::integer(output, u64::from(random.between(1, 980)));
        output.push(' ');
        output.push_str(random.pick(&STREETS));
        output.push_str(" Street");
    }
    output.push_str("\",\"vehicle\":{\"uuid\":\"");
    identifiers::uuid(random, output);
    output.push_str("\",\"model\":\"");
    output.push_str(random.pick(&MODELS));
    output.push_str("\",\"year\":");
    json::integer(output, u64::from(random.between(2014, 2026)));
    output.push_str(",\"capacity\":");
    json::integer(output, random.pick(&[4, 4, 4, 6]));
    output.push_str(",\"accessible\":");
    json::boolean(output, random.chance(60));
    output.push_str(",\"product_type\":\"standard\"}");
}

fn write_breakdown(fare: &Fare, output: &mut String) {
    output.push_str(",\"fare_breakdown\":[");
    let parts = [
        ("base_fare", "Base fare", 250),
        ("distance_and_time", "Distance and time", fare.fare - 250),
        ("extra", "Rush hour and night", fare.extra),
        ("tax", "Local tax", fare.tax),
        ("tip", "Tip", fare.tip),
        ("tolls", "Tolls", fare.tolls),
        ("surcharge", "Improvement surcharge", fare.surcharge),
        ("congestion", "Congestion surcharge", fare.congestion.unwrap_or(0)),
    ];
    for (position, (name, label, amount)) in parts.into_iter().enumerate() {
        if position > 0 {
            output.push(',');
        }
        output.push_str("{\"type\":\"");
        output.push_str(name);
        output.push_str("\",\"label\":\"");
        output.push_str(label);
        output.push_str("\",\"amount\":");
        json::cents(output, amount);
        output.push_str(",\"currency\":\"USD\"}");
    }
    output.push(']');
}

/// Appends positions that move on from the one before, as a phone reports them.
fn write_route(ride: &Ride, points: u32, random: &mut Random, output: &mut String) {
    let mut latitude = 407_000_000 + i64::from(random.below(1_200_000));
    let mut longitude = -740_100_000 + i64::from(random.below(1_200_000));
    let mut course = random.below(360);
    for point in 0..points {
        if point > 0 {
            output.push(',');
        }
        latitude += i64::from(random.below(12_000)) - 5000;
        longitude += i64::from(random.below(12_000)) - 6000;
        if random.chance(400) {
            course = (course + random.below(60)) % 360;
        }
        output.push_str("{\"lat\":");
        json::signed_decimal(output, latitude, 7);
        output.push_str(",\"lng\":");
        json::signed_decimal(output, longitude, 7);
        output.push_str(",\"epoch_ms\":");
        let elapsed = ride.duration_seconds * 1000 * u64::from(point) / u64::from(points);
        let jitter = u64::from(random.below(900));
        json::integer(output, ride.pickup_seconds * 1000 + elapsed + jitter);
        output.push_str(",\"speed\":");
        json::cents(output, i64::from(random.below(1800)));
        output.push_str(",\"course\":");
        json::integer(output, u64::from(course));
        output.push('}');
    }
}
