//! Carts of an exact size, like those that eBay kept in MongoDB: a head with the buyer, and lines
//! that repeat the whole listing with its prices, shipping options and policies.
//!
//! That is why large carts shrank to a sixtieth. Whoever has a thousand lines in a cart has the
//! same few listings again and again, mostly one after the other.

use std::fmt::Write;

use super::prose;
use crate::calendar::{self, DAY_SECONDS, FIRST_DAY};
use crate::carts::words::{COLOURS, DESIGNS, OBJECTS};
use crate::json;
use crate::random::Random;

/// The listings that all carts of a corpus are filled from.
const LISTINGS: u32 = 400;

/// The listings that a cart is filled from which shares none with others.
const LISTINGS_OF_ONE: u32 = 60;

/// A line is a new listing in `NEW_LISTING / (NEW_LISTING + lines before)` of the draws.
const NEW_LISTING: u32 = 12;

/// How often a line that is no new listing has that of the line before, in 1000.
const SAME_AS_BEFORE_PERMILLE: u32 = 978;

/// How often a line was added later than the one before, in 1000.
const NEW_VISIT_PERMILLE: u32 = 60;

/// The description that every line has at least, in bytes.
const DESCRIPTION_BYTES: usize = 240;

/// No line is longer than this with the shortest description, in bytes.
const LINE_BYTES_MAX: usize = 2_560;

const SERVICES: [(&str, &str, u32, u32); 6] = [
    ("StandardShipping", "Standard Shipping", 3, 6),
    ("ExpeditedShipping", "Expedited Shipping", 2, 3),
    ("OvernightShipping", "One-day Shipping", 1, 1),
    ("EconomyShipping", "Economy Shipping", 5, 10),
    ("InternationalStandard", "International Standard", 8, 16),
    ("LocalPickup", "Local Pickup", 0, 2),
];

const CONDITIONS: [&str; 4] = ["New", "New other", "Used", "Refurbished"];

const STREETS: [&str; 8] =
    ["Maple", "Cedar", "Hill", "Lake", "Station", "Church", "Orchard", "Mill"];

const CITIES: [&str; 8] =
    ["Fairview", "Riverton", "Ashland", "Milford", "Clayton", "Dover", "Salem", "Newport"];

const NAMES: [&str; 12] = [
    "Alex", "Robin", "Kim", "Sam", "Jordan", "Morgan", "Taylor", "Casey", "Jamie", "Avery",
    "Riley", "Quinn",
];

/// One listing: its part of a line, up to and after the description.
struct Listing {
    before: String,
    /// Longer than any line of a published cart uses.
    description: String,
    after: String,
}

pub(super) struct Carts {
    listings: Vec<Listing>,
}

impl Carts {
    pub(super) fn new(random: &mut Random) -> Self {
        Self { listings: (0..LISTINGS).map(|_| Listing::new(random)).collect() }
    }

    /// Listings for one cart alone.
    pub(super) fn for_one(random: &mut Random) -> Self {
        Self { listings: (0..LISTINGS_OF_ONE).map(|_| Listing::new(random)).collect() }
    }

    /// A cart of exactly `bytes`, which must be enough for its head.
    pub(super) fn cart(&self, bytes: usize, random: &mut Random) -> String {
        let mut output = head(random);
        let tail = "],\"note\":\"\"}";
        let room = bytes.saturating_sub(output.len() + tail.len());
        let (lines, lines_bytes) = self.lines(room, random);
        // What is left goes into all descriptions evenly, and its rest into the buyer's note.
        let longer = (room - lines_bytes) / lines.len().max(1);
        let description_bytes = if lines.is_empty() { 0 } else { DESCRIPTION_BYTES + longer };
        for (position, (start, listing)) in lines.iter().enumerate() {
            if position > 0 {
                output.push(',');
            }
            output.push_str(start);
            output.push_str(&listing.before);
            let end = description_bytes.min(listing.description.len());
            output.push_str(&listing.description[..end]);
            output.push_str(&listing.after);
        }
        output.push_str("],\"note\":\"");
        let note = bytes.saturating_sub(output.len() + 2);
        prose::write(&mut output, note, random);
        output.push_str("\"}");
        output
    }

    /// As many lines as fit the room with the shortest description, each with its own start, and
    /// how many bytes they take.
    fn lines(&self, room: usize, random: &mut Random) -> (Vec<(String, &Listing)>, usize) {
        let mut lines: Vec<(String, &Listing)> = Vec::new();
        let mut chosen: Vec<usize> = Vec::new();
        let mut taken = 0;
        let mut line_id = 80_000_000_000 + u64::from(random.bits());
        let mut added = (FIRST_DAY + 40) * DAY_SECONDS + u64::from(random.below(80_000));
        while taken + LINE_BYTES_MAX <= room {
            let count = chosen.len() as u32;
            let number = if random.below(NEW_LISTING + count) < NEW_LISTING {
                random.below(self.listings.len() as u32) as usize
            } else if random.chance(SAME_AS_BEFORE_PERMILLE) {
                chosen[chosen.len() - 1]
            } else {
                random.pick(&chosen)
            };
            chosen.push(number);
            line_id += u64::from(random.between(1, 9));
            // Lines of one kind are added by one click.
            if random.chance(NEW_VISIT_PERMILLE) {
                added += u64::from(random.between(20, 4_000));
            }
            let start = start(line_id, added, random);
            let listing = &self.listings[number];
            let comma = usize::from(!lines.is_empty());
            taken += comma + start.len() + listing.before.len() + listing.after.len();
            taken += DESCRIPTION_BYTES;
            lines.push((start, listing));
        }
        (lines, taken)
    }
}

/// What differs between two lines of one listing.
fn start(line_id: u64, added: u64, random: &mut Random) -> String {
    let mut line = String::from("{\"lineItemId\":\"");
    json::integer(&mut line, line_id);
    line.push_str("\",\"added\":\"");
    calendar::time(&mut line, added, 'T');
    line.push_str("\",\"quantity\":");
    json::integer(&mut line, u64::from(1 + random.steep(4)));
    line
}

/// The cart up to its lines: nearly all of it is said once.
fn head(random: &mut Random) -> String {
    let mut head = String::from("{\"cartId\":\"");
    json::hexadecimal(&mut head, random.wide_bits(), 16);
    json::hexadecimal(&mut head, random.wide_bits(), 16);
    head.push_str("\",\"site\":\"US\",\"currency\":\"USD\",\"created\":\"");
    let created = (FIRST_DAY + 30) * DAY_SECONDS + u64::from(random.below(800_000));
    calendar::time(&mut head, created, 'T');
    head.push_str("\",\"modified\":\"");
    calendar::time(&mut head, created + u64::from(random.below(80_000)), 'T');
    let name = random.pick(&NAMES);
    let city = random.pick(&CITIES);
    head.push_str("\",\"buyer\":{\"id\":");
    json::integer(&mut head, 100_000_000 + u64::from(random.below(900_000_000)));
    text(&mut head, ",\"login\":\"", &name.to_lowercase());
    json::integer(&mut head, u64::from(random.below(10_000)));
    head.push_str("\",\"feedback\":");
    json::integer(&mut head, u64::from(random.steep(4_000)));
    head.push_str(",\"token\":\"");
    json::hexadecimal(&mut head, random.wide_bits(), 16);
    head.push_str("\"},\"shipTo\":{\"name\":\"");
    text(&mut head, name, " ");
    text(&mut head, random.pick(&STREETS), "er\",\"street\":\"");
    json::integer(&mut head, u64::from(random.between(1, 999)));
    text(&mut head, " ", random.pick(&STREETS));
    text(&mut head, " Street\",\"city\":\"", city);
    head.push_str("\",\"postalCode\":\"");
    json::padded(&mut head, u64::from(random.below(100_000)), 5);
    head.push_str("\",\"phone\":\"");
    json::integer(&mut head, 2_000_000_000 + u64::from(random.below(1_000_000_000)));
    head.push_str("\"},\"totals\":{\"items\":");
    let items = u64::from(random.between(10_000, 90_000));
    json::cents(&mut head, items as i64);
    head.push_str(",\"shipping\":");
    json::cents(&mut head, i64::from(random.below(5_000)));
    head.push_str(",\"tax\":");
    json::cents(&mut head, (items * 8 / 100) as i64);
    head.push_str("},\"lastSeen\":{\"device\":\"phone\",\"version\":\"5.");
    json::integer(&mut head, u64::from(random.below(40)));
    head.push_str("\",\"address\":\"10.");
    json::integer(&mut head, u64::from(random.below(256)));
    head.push('.');
    json::integer(&mut head, u64::from(random.below(256)));
    head.push_str(".7\"},\"lineItems\":[");
    head
}

fn text(output: &mut String, first: &str, second: &str) {
    output.push_str(first);
    output.push_str(second);
}

fn money(output: &mut String, key: &str, cents: u32) {
    text(output, ",\"", key);
    output.push_str("\":{\"value\":");
    json::cents(output, i64::from(cents));
    output.push_str(",\"currency\":\"USD\",\"convertedFrom\":null}");
}

impl Listing {
    fn new(random: &mut Random) -> Self {
        let title = [random.pick(&COLOURS), random.pick(&DESIGNS), random.pick(&OBJECTS)].join(" ");
        let item_id = 110_000_000_000 + (random.wide_bits() % 300_000_000_000);
        let price = random.between(199, 19_999);
        let mut before = String::from(",\"listing\":{\"itemId\":\"");
        json::integer(&mut before, item_id);
        text(&mut before, "\",\"title\":\"", &title);
        text(&mut before, "\",\"condition\":\"", random.pick(&CONDITIONS));
        before.push_str("\",\"categoryId\":");
        json::integer(&mut before, u64::from(random.between(1_000, 60_000)));
        text(&mut before, ",\"categoryPath\":\"Home & Garden > ", random.pick(&OBJECTS));
        before.push_str("\",\"format\":\"FixedPrice\",\"site\":\"US\",\"available\":");
        json::integer(&mut before, u64::from(random.between(1, 400)));
        before.push_str(",\"seller\":{\"id\":");
        json::integer(&mut before, 100_000_000 + u64::from(random.below(900_000_000)));
        text(&mut before, ",\"login\":\"", &random.pick(&DESIGNS).to_lowercase().replace(' ', "_"));
        before.push_str("_store\",\"feedbackScore\":");
        json::integer(&mut before, u64::from(random.steep(90_000)));
        before.push_str(",\"positivePercent\":99.");
        json::integer(&mut before, u64::from(random.below(10)));
        before.push_str(",\"topRated\":");
        json::boolean(&mut before, random.chance(400));
        before.push_str("},\"images\":[");
        for size in ["96", "225", "500"] {
            let comma = if size == "96" { "" } else { "," };
            // Writing to a string cannot fail.
            let _ =
                write!(before, "{comma}\"https://images.example/listing/{item_id}/s-l{size}.jpg\"");
        }
        before.push_str("],\"description\":\"");
        let mut description = String::new();
        prose::write(&mut description, 2 * LINE_BYTES_MAX, random);
        let mut after = String::from("\"}");
        money(&mut after, "unitPrice", price);
        money(&mut after, "originalPrice", price * 120 / 100);
        money(&mut after, "discount", price * 20 / 100);
        money(&mut after, "importCharges", 0);
        after.push_str(",\"shippingOptions\":[");
        for position in 0..4 {
            let (code, label, first, last) = SERVICES[position + random.below(3) as usize];
            if position > 0 {
                after.push(',');
            }
            text(&mut after, "{\"serviceCode\":\"", code);
            text(&mut after, "\",\"label\":\"", label);
            after.push_str("\",\"carrier\":\"USPS\",\"minimumDays\":");
            json::integer(&mut after, u64::from(first));
            after.push_str(",\"maximumDays\":");
            json::integer(&mut after, u64::from(last));
            money(&mut after, "cost", random.below(8) * 249);
            money(&mut after, "additionalCost", 0);
            after.push_str(",\"tracked\":true,\"insured\":false}");
        }
        after.push_str(
            "],\"payment\":[\"PayPal\",\"CreditCard\",\"GiftCard\"],\"returns\":{\"accepted\":true,\
             \"days\":30,\"paidBy\":\"Buyer\",\"refund\":\"MoneyBack\",\"restockingPercent\":0},\
             \"flags\":{\"selected\":true,\"saved\":false,\"expired\":false,\"restricted\":false,\
             \"bundle\":false,\"gift\":false,\"warranty\":false}}",
        );
        Self { before, description, after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Key;

    #[test]
    fn no_line_is_longer_than_the_room_that_is_asked_for() {
        for seed in 0..20 {
            let key = Key::new("ebay", seed);
            let carts = Carts::new(&mut Random::for_catalogue(&key));
            let longest = carts
                .listings
                .iter()
                .map(|listing| listing.before.len() + DESCRIPTION_BYTES + listing.after.len());
            let longest = longest.max().unwrap_or_default();
            let start =
                start(u64::from(u32::MAX) * 20, u64::from(u32::MAX), &mut Random::new(&key, 0));
            // A comma, and an eighth to spare at most: filling should not stand in for lines.
            let line = 1 + start.len() + longest;
            assert!((LINE_BYTES_MAX * 7 / 8..=LINE_BYTES_MAX).contains(&line), "{line}");
        }
    }
}
