//! The link model: how long a payload takes until the other side can use it, over a connection of
//! a given bandwidth and round trip.
//!
//! Bandwidth alone does not decide that. A new connection may send only a few segments before it
//! has to wait for the other side, and doubles what it may send with each round trip, so that a
//! payload that fits into fewer of these bursts arrives whole round trips earlier. The formula and
//! what it leaves out stand in spec/evaluation.md, "Models".

use std::fmt;

use crate::budget::quantity;
use crate::goal::TIE;
use crate::model::{LinkModel, LinkTrial, Nanoseconds};
use crate::report::human;
use crate::statistics::mean;

mod flips;

/// What a segment carries on a path of the usual 1,500 bytes, in bytes (RFC 6928).
const SEGMENT_BYTES: f64 = 1460.0;

/// What a new connection may send before the first acknowledgement: ten segments (RFC 6928).
const INITIAL_WINDOW_BYTES: f64 = 10.0 * SEGMENT_BYTES;

/// What a connection that has sent much before may send at once, in bytes.
const WARM_WINDOW_BYTES: f64 = 1e6;

/// Round trips before the first byte of data where a new connection is made for it: one for TCP's
/// handshake, one for that of TLS 1.3.
const HANDSHAKE_ROUND_TRIPS: f64 = 2.0;

/// The most bytes of data in a record of TLS (RFC 8446, section 5.1).
const TLS_RECORD_BYTES: u64 = 16_384;

/// What a record adds: header, content type and authentication tag.
const TLS_RECORD_OVERHEAD_BYTES: u64 = 5 + 1 + 16;

/// The longest round trip that is accepted, in nanoseconds: a minute, beyond any network.
const ROUND_TRIP_NS_MAX: f64 = 60e9;

/// The bandwidths that are accepted, in bits per second: a slow modem's to a whole ocean cable's.
const BITS_PER_SECOND: std::ops::RangeInclusive<f64> = 1e2..=1e15;

const BIT_UNITS: &[(&str, f64)] = &[
    ("bps", 1.0),
    ("bit", 1.0),
    ("bit/s", 1.0),
    ("kbps", 1e3),
    ("kbit", 1e3),
    ("kbit/s", 1e3),
    ("mbps", 1e6),
    ("mbit", 1e6),
    ("mbit/s", 1e6),
    ("gbps", 1e9),
    ("gbit", 1e9),
    ("gbit/s", 1e9),
];

const TIME_UNITS: &[(&str, f64)] = &[("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

/// A connection between two machines.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    text: String,
    bits_per_second: f64,
    round_trip_ns: f64,
    is_warm: bool,
    has_tls: bool,
}

/// A text that is no link.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no link, because of {part:?}: write bandwidth and round trip, such as \
     1Gbps,150ms or 100Mbit,20ms,warm,tls"
)]
pub struct LinkError {
    text: String,
    part: String,
}

/// The payloads of one trial: packed bytes, time to pack and time to unpack in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinkInput {
    /// The trial's name.
    pub name: String,
    /// One entry a payload, the same payloads in the same order for every trial.
    pub payloads: Vec<(u64, f64, f64)>,
}

impl Link {
    /// Parses a bandwidth (bps, kbps, Mbps, Gbps, or bit, kbit, Mbit, Gbit, in any case), a round
    /// trip (us, ms, s), and in any order `warm` (the connection has sent much before) and `tls`.
    ///
    /// # Errors
    /// Where a part is none of these, or one is missing, twice there or beyond any network.
    pub fn parse(text: &str) -> Result<Link, LinkError> {
        let error = |part: &str| LinkError { text: text.to_owned(), part: part.to_owned() };
        let (mut bits_per_second, mut round_trip_ns) = (None, None);
        let (mut is_warm, mut has_tls) = (false, false);
        for part in text.split(',').map(str::trim) {
            let is_new = if part == "warm" {
                !std::mem::replace(&mut is_warm, true)
            } else if part == "tls" {
                !std::mem::replace(&mut has_tls, true)
            } else if let Some(time) = quantity(part, TIME_UNITS) {
                time <= ROUND_TRIP_NS_MAX && round_trip_ns.replace(time).is_none()
            } else if let Some(bits) = quantity(&part.to_ascii_lowercase(), BIT_UNITS) {
                BITS_PER_SECOND.contains(&bits) && bits_per_second.replace(bits).is_none()
            } else {
                false
            };
            if !is_new {
                return Err(error(part));
            }
        }
        Ok(Link {
            text: text.to_owned(),
            bits_per_second: bits_per_second.ok_or_else(|| error("no bandwidth"))?,
            round_trip_ns: round_trip_ns.ok_or_else(|| error("no round trip"))?,
            is_warm,
            has_tls,
        })
    }

    /// How many bursts a payload of this many bytes is sent in, each but the last of which waits
    /// for an acknowledgement. At least 1.
    pub fn flights(&self, bytes: u64) -> u32 {
        let on_wire = self.bytes_on_wire(bytes) as f64;
        // Where the window holds all that is under way, acknowledgements come back before it is
        // used up: from there on the sender never waits.
        let full_pipe_bytes = self.bits_per_second / 8.0 * self.round_trip_ns / 1e9;
        let mut window = if self.is_warm { WARM_WINDOW_BYTES } else { INITIAL_WINDOW_BYTES };
        let mut sent = window;
        let mut flights = 1;
        while sent < on_wire && window < full_pipe_bytes {
            window *= 2.0;
            sent += window;
            flights += 1;
        }
        flights
    }

    /// The time from the first byte sent to the last byte received, in nanoseconds; with `tls` on
    /// a new connection, from the first packet of the handshake.
    pub fn wire_ns(&self, bytes: u64) -> f64 {
        let waiting = f64::from(self.flights(bytes) - 1) * self.round_trip_ns;
        let handshake = match self.has_tls && !self.is_warm {
            true => HANDSHAKE_ROUND_TRIPS * self.round_trip_ns,
            false => 0.0,
        };
        let sending = self.bytes_on_wire(bytes) as f64 * 8.0 / self.bits_per_second * 1e9;
        handshake + waiting + self.round_trip_ns / 2.0 + sending
    }

    fn bytes_on_wire(&self, bytes: u64) -> u64 {
        match self.has_tls {
            true => bytes + bytes.div_ceil(TLS_RECORD_BYTES) * TLS_RECORD_OVERHEAD_BYTES,
            false => bytes,
        }
    }

    /// The mean time to pack, send and unpack a payload, in nanoseconds.
    fn mean_total_ns(&self, trial: &LinkInput) -> f64 {
        mean(&self.totals(trial))
    }

    fn totals(&self, trial: &LinkInput) -> Vec<f64> {
        let total = |&(bytes, pack_ns, unpack_ns): &(u64, f64, f64)| {
            pack_ns + self.wire_ns(bytes) + unpack_ns
        };
        trial.payloads.iter().map(total).collect()
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What the link makes of the trials, the fastest first. Trials without payloads are left out.
pub fn model(link: &Link, trials: &[LinkInput]) -> LinkModel {
    let trials: Vec<&LinkInput> =
        trials.iter().filter(|trial| !trial.payloads.is_empty()).collect();
    let mut rows: Vec<LinkTrial> = trials.iter().map(|trial| row(link, trial)).collect();
    rows.sort_by(|a, b| a.total_ns.mean.total_cmp(&b.total_ns.mean));
    LinkModel {
        text: link.text.clone(),
        bits_per_second: link.bits_per_second,
        round_trip_ns: link.round_trip_ns,
        is_warm: link.is_warm,
        has_tls: link.has_tls,
        trials: rows,
        flips: flips::flips(link, &trials),
    }
}

fn row(link: &Link, trial: &LinkInput) -> LinkTrial {
    let of = |figure: &dyn Fn(u64) -> f64| -> Vec<f64> {
        trial.payloads.iter().map(|&(bytes, ..)| figure(bytes)).collect()
    };
    LinkTrial {
        name: trial.name.clone(),
        packed_bytes: mean(&of(&|bytes| bytes as f64)),
        flights: mean(&of(&|bytes| f64::from(link.flights(bytes)))),
        wire_ns: Nanoseconds::of(of(&|bytes| link.wire_ns(bytes))),
        total_ns: Nanoseconds::of(link.totals(trial)),
    }
}

#[cfg(test)]
mod tests;
