//! What a trip cost and how it was paid: the metered fare, the charges that the city adds to
//! almost every trip, and the tip, which only card payments record.

use super::Ride;
use crate::json;
use crate::random::Random;

/// What was agreed and paid, in cents.
pub(super) struct Fare {
    pub(super) payment_type: u32,
    pub(super) rate_code: u32,
    pub(super) fare: i64,
    pub(super) extra: i64,
    pub(super) tax: i64,
    pub(super) tip: i64,
    pub(super) tolls: i64,
    pub(super) surcharge: i64,
    /// The city brought this charge in later, so half of the records say nothing about it.
    pub(super) congestion: Option<i64>,
}

impl Fare {
    pub(super) fn draw(ride: &Ride, random: &mut Random) -> Self {
        let payment_type = match random.below(1000) {
            0..690 => 1,
            690..968 => 2,
            968..995 => 3,
            _ => 4,
        };
        let rate_code = match random.below(1000) {
            0..952 => 1,
            952..980 => 2,
            980..990 => 3,
            _ => 5,
        };
        let metered = 250
            + i64::from(ride.distance_hundredths) * 25 / 10
            + ride.duration_seconds as i64 * 25 / 60;
        let fare = if rate_code == 2 { 5200 } else { metered / 50 * 50 };
        let hour = ride.pickup_seconds / 3600 % 24;
        let extra = match hour {
            20..24 | 0..6 => 50,
            16..20 if random.chance(700) => 100,
            _ => 0,
        };
        let tolls = match random.below(1000) {
            0..45 => 576,
            45..50 => 1250,
            _ => 0,
        };
        let tax = if random.chance(995) { 50 } else { 0 };
        let congestion = match random.below(1000) {
            0..500 => None,
            500..960 => Some(250),
            _ => Some(0),
        };
        let before_tip = fare + extra + tolls + tax + 30;
        let tip = match random.below(1000) {
            _ if payment_type != 1 => 0,
            0..610 => before_tip / 5,
            610..760 => 100 * i64::from(random.between(1, 3)),
            760..880 => i64::from(random.between(20, 120)) * 5,
            _ => 0,
        };
        Self { payment_type, rate_code, fare, extra, tax, tip, tolls, surcharge: 30, congestion }
    }

    fn total(&self) -> i64 {
        self.fare
            + self.extra
            + self.tax
            + self.tip
            + self.tolls
            + self.surcharge
            + self.congestion.unwrap_or(0)
    }

    pub(super) fn write(&self, output: &mut String) {
        output.push_str(",\"payment_type\":");
        json::integer(output, u64::from(self.payment_type));
        let amounts = [
            (",\"fare_amount\":", self.fare),
            (",\"extra\":", self.extra),
            (",\"mta_tax\":", self.tax),
            (",\"tip_amount\":", self.tip),
            (",\"tolls_amount\":", self.tolls),
            (",\"improvement_surcharge\":", self.surcharge),
            (",\"total_amount\":", self.total()),
        ];
        for (key, amount) in amounts {
            output.push_str(key);
            json::cents(output, amount);
        }
        output.push_str(",\"congestion_surcharge\":");
        match self.congestion {
            Some(amount) => json::cents(output, amount),
            None => output.push_str("null"),
        }
    }
}
