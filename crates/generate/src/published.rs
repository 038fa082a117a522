//! Corpora of the sizes that four published comparisons of codecs used.
//!
//! Their payloads were never published, only their sizes and what became of them. These have the
//! same sizes and shrink about as much, so that the published tables can be made again. What the
//! tests hold them to, and how near they come, stands in `published/tests.rs`.

mod carts;
mod flights;
mod menus;
mod prose;

use crate::kind;
use crate::options::Options;
use crate::quantiles::Quantiles;
use crate::random::{Key, Random};
use carts::Carts;
use flights::Requests;
use menus::Menus;

/// One published corpus.
#[derive(Debug)]
pub struct Published {
    /// The name by which users ask for it.
    pub name: &'static str,
    /// One line that says what its payloads are.
    pub summary: &'static str,
    /// The article that published the sizes.
    pub source: &'static str,
    /// How many payloads it has unless the caller asks for more or fewer.
    pub count: usize,
    /// The most payloads that it can have.
    pub count_max: usize,
    open: fn(u64, usize) -> Box<dyn Iterator<Item = String>>,
}

/// Every published corpus, in the order in which they are listed to users.
pub static PUBLISHED: &[Published] = &[
    Published {
        name: "uber",
        // The article's own total, 132,852,837 bytes of JSON, would be 59.9 kB a trip. It counts
        // what Python wrote; the text says that a trip takes 20 kB, which is what is kept here.
        summary: "2,219 trips of 20 kB on average",
        source: "How Uber Engineering Evaluated JSON Encoding and Compression Algorithms to Put \
                 the Squeeze on Trip Data",
        count: 2_219,
        count_max: 2_219,
        open: trips,
    },
    Published {
        name: "ebay",
        summary: "10 shopping carts of exactly 687 to 4,498,990 bytes, then 32 kB on average",
        source: "How eBay's Shopping Cart used compression techniques to solve network I/O \
                 bottlenecks",
        count: CART_BYTES.len(),
        count_max: CART_BYTES.len() + 10_000,
        open: carts,
    },
    Published {
        name: "doordash",
        summary: "menus of exactly 64,220 and 350,333 bytes, then 1,000 from 9.5 kB to 709 kB",
        source: "DoorDash's engineers on compressing the menus that they cache in Redis",
        count: MENU_BYTES.len() + 1_000,
        // The published 10,000, and as many others to train with.
        count_max: MENU_BYTES.len() + 20_000,
        open: menus,
    },
    Published {
        name: "expedia",
        summary: "20 requests of 1,000 flights each, about 329 kB",
        source: "An engineer of Expedia's on reducing the requests of its flight selection service",
        count: 20,
        count_max: 1_000,
        open: requests,
    },
];

/// Finds a published corpus by its exact name.
pub fn published(name: &str) -> Option<&'static Published> {
    PUBLISHED.iter().find(|published| published.name == name)
}

impl Published {
    /// The payloads, made one by one as they are asked for: compact JSON texts without line ends,
    /// the same for the same seed on every platform.
    pub fn payloads(&self, seed: u64) -> Box<dyn Iterator<Item = String>> {
        self.first(seed, self.count)
    }

    /// The first `count` payloads, or [`Published::count_max`] if that is less.
    pub fn first(&self, seed: u64, count: usize) -> Box<dyn Iterator<Item = String>> {
        (self.open)(seed, count.min(self.count_max))
    }
}

/// What a trip's target has to be for the mean to be the published one.
const TRIP_MEDIAN_BYTES: u32 = 16_000;

fn trips(seed: u64, count: usize) -> Box<dyn Iterator<Item = String>> {
    let options = Options { count, seed, median_bytes: Some(TRIP_MEDIAN_BYTES) };
    match kind::find("trips") {
        Some(trips) => Box::new(trips.payloads(options)),
        None => Box::new(std::iter::empty()),
    }
}

/// eBay's table, in bytes.
const CART_BYTES: [usize; 10] =
    [687, 786, 848, 15_022, 17_845, 45_419, 55_415, 125_835, 1_429_259, 4_498_990];

/// The article's stored carts had 32 kB on average, and nearly all were below the largest but two
/// of its table. Between these steps, an eighth of the carts each, the mean is 31,970 bytes.
const STORED_CART_BYTES_STEPS: [u32; 9] =
    [687, 2_500, 6_000, 12_000, 21_000, 33_000, 48_000, 70_000, 125_835];

fn carts(seed: u64, count: usize) -> Box<dyn Iterator<Item = String>> {
    let key = Key::new("ebay", seed);
    let carts = Carts::new(&mut Random::for_catalogue(&key));
    let steps = Quantiles(&STORED_CART_BYTES_STEPS);
    Box::new((0..count).map(move |index| {
        let mut random = Random::new(&key, index as u64);
        match CART_BYTES.get(index) {
            Some(&bytes) => carts.cart(bytes, &mut random),
            // Nobody knows how often two buyers had one listing. With listings of its own a cart
            // shares nothing with others but its form, which flatters no dictionary.
            None => {
                let bytes = steps.draw(&mut random) as usize;
                Carts::for_one(&mut random).cart(bytes, &mut random)
            }
        }
    }))
}

/// DoorDash's two examples (Chick-fil-A and Cheesecake Factory), in bytes.
const MENU_BYTES: [usize; 2] = [64_220, 350_333];

/// DoorDash's random menus are "a good mix" from the first to the last of these, in bytes. The
/// steps are even on a logarithmic scale: each is the one before times the eighth root of their
/// ratio.
const MENU_BYTES_STEPS: [u32; 9] =
    [9_500, 16_285, 27_915, 47_852, 82_029, 140_614, 241_040, 413_191, 709_000];

fn menus(seed: u64, count: usize) -> Box<dyn Iterator<Item = String>> {
    let key = Key::new("doordash", seed);
    let steps = Quantiles(&MENU_BYTES_STEPS);
    let menus = Menus::new(&mut Random::for_catalogue(&key));
    Box::new((0..count).map(move |index| {
        let mut random = Random::new(&key, index as u64);
        let drawn = steps.draw(&mut random) as usize;
        match MENU_BYTES.get(index) {
            Some(&bytes) => menus.menu(bytes, true, &mut random),
            None => menus.menu(drawn, false, &mut random),
        }
    }))
}

fn requests(seed: u64, count: usize) -> Box<dyn Iterator<Item = String>> {
    let key = Key::new("expedia", seed);
    let requests = Requests::new(&mut Random::for_catalogue(&key));
    Box::new(
        (0..count).map(move |index| {
            requests.request(flights::FLIGHTS, &mut Random::new(&key, index as u64))
        }),
    )
}

#[cfg(test)]
mod tests;
