//! The axes of the scatter: grid lines, ticks with units, and titles that say which way is better.
//!
//! Where nothing is drawn there are no ticks either, because an axis without figures has no scale.

use std::fmt::Write;

use super::escaped;
use super::scatter::{Plot, draw, figures};
use crate::report::human;

impl Plot<'_> {
    /// Draws everything that lies below the points.
    pub(super) fn axes(&self, out: &mut String) {
        let (area, size) = (&self.area, self.layout.font_size);
        let small = size - 1.0;
        if self.layout.titled {
            let name = escaped(&human::shortened(&self.evaluation.corpus.name, 60));
            let payloads = human::counted(self.evaluation.corpus.payloads, "payload");
            draw!(
                out,
                "<text class=\"caption\" x=\"16\" y=\"28\" font-size=\"17\" \
                 font-weight=\"700\">{name}: {payloads}</text>"
            );
        }
        let (up, across) = if figures(self.evaluation).0.is_empty() {
            (Vec::new(), Vec::new())
        } else {
            (self.y.ticks(self.layout.ticks.1), self.x.ticks(self.layout.ticks.0))
        };
        for tick in up {
            let (y, label) = (self.y.place(tick), short_percent(tick));
            draw!(
                out,
                "<path class=\"grid\" d=\"M{:.1} {y:.1}H{:.1}\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"{small}\" \
                 text-anchor=\"end\">{label}</text>",
                area.left,
                area.right,
                area.left - 8.0,
                y + small * 0.35
            );
        }
        for tick in across {
            let (x, label) = (self.x.place(tick), short_time(tick));
            draw!(
                out,
                "<path class=\"grid\" d=\"M{x:.1} {:.1}V{:.1}\"/>\
                 <text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" font-size=\"{small}\" \
                 text-anchor=\"middle\">{label}</text>",
                area.top,
                area.bottom,
                area.bottom + small + 7.0
            );
        }
        let factors = if self.y.is_logarithmic() { ", log scale" } else { "" };
        let (up, across) = match self.layout.narrow {
            true => ("↓ smaller: stored size, % of original", "← faster: mean pack + unpack"),
            false => (
                "↓ smaller is better: stored size in % of the original",
                "← faster: mean time to pack and unpack one payload, log scale",
            ),
        };
        draw!(
            out,
            "<path class=\"axis\" fill=\"none\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>\
             <text class=\"caption\" x=\"{caption}\" y=\"{:.1}\" font-size=\"{size}\">{up}{factors}\
             </text><text class=\"caption\" x=\"{left:.1}\" y=\"{:.1}\" font-size=\"{size}\">\
             {across}</text>",
            area.top - 14.0,
            area.bottom + size * 2.0 + 17.0,
            left = area.left,
            top = area.top,
            right = area.right,
            bottom = area.bottom,
            caption = if self.layout.titled { 16.0 } else { 4.0 },
        );
    }
}

/// A tick of time: round figures carry no decimals that say nothing.
fn short_time(nanoseconds: f64) -> String {
    without_zeros(&human::time(nanoseconds))
}

fn short_percent(share: f64) -> String {
    without_zeros(&human::percent(share))
}

pub(super) fn without_zeros(text: &str) -> String {
    let (figure, unit) = text.rsplit_once(' ').unwrap_or((text, ""));
    let figure = match figure.contains('.') {
        true => figure.trim_end_matches('0').trim_end_matches('.'),
        false => figure,
    };
    format!("{figure} {unit}").trim_end().to_owned()
}
