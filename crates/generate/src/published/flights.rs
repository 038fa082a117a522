//! Requests for the best of a thousand flights, like those that Expedia's service took: who asks,
//! and every pair of an outbound and an inbound flight that a search found.
//!
//! A search finds some dozens of flights each way, and the pairs repeat them in full. What is new
//! in a pair is its price, which is why such a request shrinks to a fifteenth.

use crate::calendar::{self, DAY_SECONDS, FIRST_DAY};
use crate::json;
use crate::random::Random;

/// The flights of the request that was published.
pub(super) const FLIGHTS: usize = 1_000;

/// How many flights a search finds each way, at least and at most.
const EACH_WAY: (u32, u32) = (50, 80);

/// The letters of the code under which a fare is sold.
const BASIS_CHARACTERS: usize = 3;

const AIRPORTS: [&str; 20] = [
    "PHX", "SEA", "LAS", "LAX", "SFO", "DEN", "ORD", "DFW", "JFK", "BOS", "MIA", "ATL", "MCO",
    "SAN", "PDX", "MSP", "DTW", "PHL", "IAH", "HNL",
];

const CARRIERS: [&str; 8] = ["AA", "DL", "UA", "WN", "AS", "B6", "NK", "F9"];

pub(super) struct Requests {
    /// What a mile costs in hundredths of a cent: prices of a corpus have one level.
    mile_price: u32,
}

/// One flight, as every pair repeats it, and its part of the price.
struct Leg {
    text: String,
    cents: u32,
}

impl Requests {
    pub(super) fn new(random: &mut Random) -> Self {
        Self { mile_price: random.between(900, 1_600) }
    }

    /// A request with `flights` pairs, the cheapest first.
    pub(super) fn request(&self, flights: usize, random: &mut Random) -> String {
        let origin = random.below(AIRPORTS.len() as u32) as usize;
        let further = 1 + random.below(AIRPORTS.len() as u32 - 1) as usize;
        let (from, to) = (AIRPORTS[origin], AIRPORTS[(origin + further) % AIRPORTS.len()]);
        let miles = random.between(280, 2_600);
        let day = FIRST_DAY + u64::from(random.below(300));
        let nights = u64::from(random.between(2, 12));
        let outbound = self.legs(from, to, miles, day, random);
        let inbound = self.legs(to, from, miles, day + nights, random);
        let mut pairs: Vec<(u32, usize, usize)> =
            Vec::with_capacity(outbound.len() * inbound.len());
        for (first, out) in outbound.iter().enumerate() {
            for (second, back) in inbound.iter().enumerate() {
                // Airlines price a return trip as a whole, so it is not the sum of its halves.
                let cents = out.cents + back.cents + random.below(6_000);
                pairs.push((cents, first, second));
            }
        }
        pairs.sort_unstable();
        pairs.truncate(flights);

        let mut output = head(from, to, day, nights, random);
        for (position, &(cents, first, second)) in pairs.iter().enumerate() {
            if position > 0 {
                output.push(',');
            }
            output.push_str("{\"id\":");
            json::integer(&mut output, position as u64);
            output.push_str(",\"price\":");
            json::cents(&mut output, i64::from(cents));
            output.push_str(",\"tax\":");
            json::cents(&mut output, i64::from(cents * 75 / 1_000 + 2_240));
            output.push_str(",\"seats\":");
            json::integer(&mut output, u64::from(9 - random.steep(9)));
            output.push_str(",\"basis\":\"");
            for _ in 0..BASIS_CHARACTERS {
                output.push(char::from(b'A' + random.below(26) as u8));
            }
            output.push_str("\",\"outbound\":");
            output.push_str(&outbound[first].text);
            output.push_str(",\"inbound\":");
            output.push_str(&inbound[second].text);
            output.push('}');
        }
        output.push_str("]}");
        output
    }

    fn legs(&self, from: &str, to: &str, miles: u32, day: u64, random: &mut Random) -> Vec<Leg> {
        let (least, most) = EACH_WAY;
        (0..random.between(least, most)).map(|_| self.leg(from, to, miles, day, random)).collect()
    }

    fn leg(&self, from: &str, to: &str, miles: u32, day: u64, random: &mut Random) -> Leg {
        let stops = random.steep(3);
        let minutes = 30 + miles / 8 + stops * random.between(50, 150);
        let departs = day * DAY_SECONDS + u64::from(random.between(60, 260)) * 300;
        let carrier = random.pick(&CARRIERS);
        let mut text = String::from("{\"from\":\"");
        text.push_str(from);
        text.push_str("\",\"to\":\"");
        text.push_str(to);
        text.push_str("\",\"departs\":\"");
        minute(&mut text, departs);
        text.push_str("\",\"arrives\":\"");
        minute(&mut text, departs + u64::from(minutes) * 60);
        text.push_str("\",\"carrier\":\"");
        text.push_str(carrier);
        text.push_str("\",\"flight\":");
        json::integer(&mut text, u64::from(random.between(100, 3_999)));
        text.push_str(",\"stops\":");
        json::integer(&mut text, u64::from(stops));
        text.push('}');
        let level = self.mile_price * random.between(60, 220) / 100;
        Leg { text, cents: (4_900 + miles * level / 100) / 100 * 100 }
    }
}

/// Appends a time without its seconds, which timetables do not have.
fn minute(output: &mut String, seconds: u64) {
    calendar::time(output, seconds, 'T');
    output.truncate(output.len() - ":00".len());
}

/// The request up to its flights.
fn head(from: &str, to: &str, day: u64, nights: u64, random: &mut Random) -> String {
    let mut head = String::from("{\"requestId\":\"");
    json::hexadecimal(&mut head, random.wide_bits(), 16);
    head.push_str("\",\"site\":\"US\",\"currency\":\"USD\",\"customer\":{\"id\":");
    json::integer(&mut head, u64::from(random.bits()));
    head.push_str(",\"tier\":\"");
    head.push_str(random.pick(&["blue", "silver", "gold"]));
    head.push_str("\",\"adults\":");
    json::integer(&mut head, u64::from(random.between(1, 4)));
    head.push_str(",\"children\":");
    json::integer(&mut head, u64::from(random.steep(4)));
    head.push_str("},\"search\":{\"from\":\"");
    head.push_str(from);
    head.push_str("\",\"to\":\"");
    head.push_str(to);
    head.push_str("\",\"departs\":\"");
    calendar::date(&mut head, day);
    head.push_str("\",\"returns\":\"");
    calendar::date(&mut head, day + nights);
    head.push_str("\"},\"flights\":[");
    head
}
