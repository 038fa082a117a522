//! How the fares of one list move from day to day: a few price levels and a few ways to fly, of
//! which a day mostly keeps the ones of the day before.

use super::network::{Network, Offer, Route};
use crate::calendar;
use crate::json;
use crate::random::Random;

/// The fare of the current day and what it may change to.
pub(super) struct Fares {
    offers: Vec<Offer>,
    prices: Vec<u32>,
    offer: usize,
    price: usize,
}

impl Fares {
    pub(super) fn new(route: &Route, random: &mut Random) -> Self {
        let count = 3 + random.skewed(9);
        let offers = (0..count).map(|_| route.offer(random)).collect();
        let mut price = route.cheapest_price * random.between(80, 130) / 100;
        let levels = random.between(12, 44);
        let prices = (0..levels)
            .map(|_| {
                price += random.between(1, 2 + price / 12);
                price
            })
            .collect();
        Self { offers, prices, offer: 0, price: (levels / 3) as usize }
    }

    /// Moves on by a day: the fare stays on half of the days, and moves to a near level otherwise.
    pub(super) fn advance(&mut self, random: &mut Random) {
        if random.chance(270) {
            self.offer = random.steep(self.offers.len() as u32) as usize;
        }
        if random.chance(565) {
            let levels = self.prices.len();
            let moved = (self.price + random.below(9) as usize).saturating_sub(4);
            self.price = if random.chance(150) {
                random.below(levels as u32) as usize
            } else {
                moved.min(levels - 1)
            };
        }
    }

    pub(super) fn write(
        &self,
        snapshot_day: u64,
        travel_day: u32,
        network: &Network,
        output: &mut String,
    ) {
        let offer = &self.offers[self.offer];
        output.push_str("{\"date\":\"");
        calendar::date(output, snapshot_day + u64::from(travel_day));
        output.push_str("\",\"snapshot\":\"");
        calendar::date(output, snapshot_day);
        output.push_str("\",\"price\":");
        json::integer(output, u64::from(self.prices[self.price]));
        output.push_str(",\"airline\":\"");
        output.push_str(network.airline(offer.airline));
        output.push_str("\",\"nonstop\":");
        json::boolean(output, offer.stops == 0);
        output.push_str(",\"stops\":");
        json::integer(output, u64::from(offer.stops));
        output.push_str(",\"duration\":\"");
        json::integer(output, u64::from(offer.duration_minutes / 60));
        output.push_str(" hr");
        if !offer.duration_minutes.is_multiple_of(60) {
            output.push(' ');
            json::integer(output, u64::from(offer.duration_minutes % 60));
            output.push_str(" min");
        }
        output.push_str("\"}");
    }
}
