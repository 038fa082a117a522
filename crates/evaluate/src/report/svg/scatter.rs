//! The scatter: every timed trial by time (across) and stored size (up), with the front as a
//! line, so that the lower left corner is what everybody wants.
//!
//! Every timed trial is drawn, also the eliminated ones (faded), and those that were only sized
//! (hollow) where one pass gave them a time: a picture that leaves trials out looks like a better
//! argument than it is. A thin line joins the levels of a codec.

use std::fmt::Write;

use super::labels::Area;
use super::marks::Shapes;
use super::palette::Palette;
use super::scale::Scale;
use crate::model::{Evaluation, Trial};
use crate::report::view;

/// The measures of a picture.
#[derive(Debug, Clone)]
pub(in crate::report) struct Layout {
    pub(in crate::report) width: u32,
    plot_height: f64,
    left: f64,
    pub(super) right: f64,
    top: f64,
    pub(super) font_size: f64,
    pub(super) radius: f64,
    /// The most ticks across and up.
    pub(super) ticks: (usize, usize),
    /// The most names beside points.
    pub(super) names: usize,
    /// The title above the axes, where the picture stands alone.
    pub(super) titled: bool,
    pub(super) narrow: bool,
}

impl Layout {
    /// For a wide page.
    pub(in crate::report) fn wide() -> Layout {
        Layout {
            width: 1040,
            plot_height: 470.0,
            left: 62.0,
            right: 20.0,
            top: 34.0,
            font_size: 13.0,
            radius: 6.0,
            ticks: (10, 9),
            names: 14,
            titled: false,
            narrow: false,
        }
    }

    /// For a phone, whose text would be too small in the wide picture.
    pub(in crate::report) fn narrow() -> Layout {
        Layout {
            width: 380,
            plot_height: 340.0,
            left: 48.0,
            right: 10.0,
            ticks: (4, 7),
            names: 4,
            narrow: true,
            ..Layout::wide()
        }
    }

    /// For a document of its own.
    pub(in crate::report) fn document() -> Layout {
        Layout { top: 70.0, titled: true, ..Layout::wide() }
    }
}

/// What stands where in the picture.
pub(super) struct Plot<'a> {
    pub(super) evaluation: &'a Evaluation,
    pub(super) layout: &'a Layout,
    pub(super) x: Scale,
    pub(super) y: Scale,
    pub(super) area: Area,
}

/// Makes the inside of the picture; returns it with the picture's height.
pub(in crate::report) fn drawing(evaluation: &Evaluation, layout: &Layout) -> (String, u32) {
    let area = Area {
        left: layout.left,
        top: layout.top,
        right: f64::from(layout.width) - layout.right,
        bottom: layout.top + layout.plot_height,
    };
    let (times, shares) = figures(evaluation);
    let plot = Plot {
        evaluation,
        layout,
        x: Scale::logarithmic(&times, (area.left, area.right)),
        y: Scale::fitting(&shares, (area.bottom, area.top)),
        area,
    };
    let (mut palette, mut shapes) = (Palette::default(), Shapes::default());
    let mut out = String::new();
    plot.axes(&mut out);
    plot.levels(&mut out, &mut palette);
    plot.rough(&mut out, &mut palette, &mut shapes);
    plot.front(&mut out);
    plot.points(&mut out, &mut palette, &mut shapes);
    plot.names(&mut out);
    let bottom = plot.legend(&mut out, &mut palette, &mut shapes);
    (out, bottom.ceil() as u32)
}

/// Times and shares of everything that is drawn.
pub(super) fn figures(evaluation: &Evaluation) -> (Vec<f64>, Vec<f64>) {
    let trials = view::drawn(evaluation)
        .map(|trial| (view::pack_unpack_ns(trial), view::stored_share(trial)));
    let front =
        evaluation.front.iter().map(|point| (point.pack_unpack_ns, 1.0 / point.packed_ratio));
    let drawn = trials.chain(front);
    drawn.filter(|(time, share)| is_drawable(*time) && is_drawable(*share)).unzip()
}

/// A logarithmic axis has no place for zero, and no axis has one for what is not a number.
pub(super) fn is_drawable(figure: f64) -> bool {
    figure.is_finite() && figure > 0.0
}

/// Appends a line of the picture.
macro_rules! draw {
    ($out:expr, $($text:tt)*) => {
        writeln!($out, $($text)*).expect("a String takes any text")
    };
}

pub(super) use draw;

impl Plot<'_> {
    fn front(&self, out: &mut String) {
        let places = self.front_places();
        if places.len() > 1 {
            let line: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            draw!(out, "<path class=\"front\" d=\"M{}\"/>", line.join("L"));
        }
    }

    /// The corners of the front's line.
    pub(super) fn front_places(&self) -> Vec<(f64, f64)> {
        let figures =
            self.evaluation.front.iter().map(|p| (p.pack_unpack_ns, 1.0 / p.packed_ratio));
        figures
            .filter(|(time, share)| is_drawable(*time) && is_drawable(*share))
            .map(|(time, share)| (self.x.place(time), self.y.place(share)))
            .collect()
    }

    /// Where a trial stands; one without usable figures stands in the lower left corner, so that
    /// its name stays in the picture and the mistake is seen.
    pub(super) fn point(&self, trial: &Trial) -> (f64, f64) {
        let (time, share) = (view::pack_unpack_ns(trial), view::stored_share(trial));
        let x = if is_drawable(time) { self.x.place(time) } else { self.area.left };
        let y = if is_drawable(share) { self.y.place(share) } else { self.area.bottom };
        (x, y)
    }
}

/// A ring around a point, or nothing.
pub(super) fn ring(holds: bool, class: &str, radius: f64) -> String {
    if holds { format!("<circle class=\"{class}\" r=\"{radius:.1}\"/>") } else { String::new() }
}
