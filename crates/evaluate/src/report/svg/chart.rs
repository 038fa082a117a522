//! Small charts of a few lines, many of which stand side by side: distributions over payloads, and
//! what each codec compresses in a second. Where a figure stands is the caller's; a chart only
//! draws shares of its width and height.

use std::fmt::Write;

use super::escaped;
use super::labels::{Area, Mark, Wanted, place};
use super::scatter::draw;

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 236.0;
const FONT_SIZE: f64 = 11.5;
const AREA: Area = Area { left: 50.0, top: 30.0, right: 350.0, bottom: 200.0 };

/// A chart.
pub(in crate::report) struct Chart {
    /// What goes up; it stands above the axis.
    pub(in crate::report) title: String,
    /// What goes across; it stands below the axis.
    pub(in crate::report) across: String,
    /// Places along the axis across, as shares of its length, with their labels.
    pub(in crate::report) across_ticks: Vec<(f64, String)>,
    /// The same up.
    pub(in crate::report) up_ticks: Vec<(f64, String)>,
    /// The lines; the first is the most important one and lies on top.
    pub(in crate::report) lines: Vec<Line>,
}

/// A line.
pub(in crate::report) struct Line {
    /// The class of its colour.
    pub(in crate::report) class: String,
    /// Where it goes, and what its points say.
    pub(in crate::report) points: Vec<Point>,
    /// A name beside its last point, where it has one.
    pub(in crate::report) name: Option<String>,
}

/// A point of a line.
pub(in crate::report) struct Point {
    /// Its place as shares of the width and of the height.
    pub(in crate::report) place: (f64, f64),
    /// What it says to who points at it.
    pub(in crate::report) facts: String,
}

/// Makes the picture.
pub(in crate::report) fn drawn(chart: &Chart) -> String {
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"group\" \
         aria-label=\"{}\">\n",
        escaped(&chart.title)
    );
    axes(chart, &mut out);
    for line in chart.lines.iter().rev() {
        let places: Vec<String> = line
            .points
            .iter()
            .map(|point| at(point.place))
            .map(|(x, y)| format!("{x:.1} {y:.1}"))
            .collect();
        if places.len() > 1 {
            draw!(out, "<path class=\"line {}\" d=\"M{}\"/>", line.class, places.join("L"));
        }
        for point in &line.points {
            let ((x, y), facts) = (at(point.place), escaped(&point.facts));
            draw!(
                out,
                "<circle class=\"dot {}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\"><title>{facts}\
                 </title></circle>",
                line.class
            );
        }
    }
    names(chart, &mut out);
    out.push_str("</svg>");
    out
}

fn at((across, up): (f64, f64)) -> (f64, f64) {
    let x = AREA.left + across.clamp(0.0, 1.0) * (AREA.right - AREA.left);
    let y = AREA.bottom - up.clamp(0.0, 1.0) * (AREA.bottom - AREA.top);
    (x, y)
}

fn axes(chart: &Chart, out: &mut String) {
    for (share, label) in &chart.up_ticks {
        let (_, y) = at((0.0, *share));
        draw!(
            out,
            "<path class=\"grid\" d=\"M{} {y:.1}H{}\"/><text class=\"tick\" x=\"{}\" \
             y=\"{:.1}\" font-size=\"{FONT_SIZE}\" text-anchor=\"end\">{}</text>",
            AREA.left,
            AREA.right,
            AREA.left - 6.0,
            y + FONT_SIZE * 0.35,
            escaped(label)
        );
    }
    for (share, label) in &chart.across_ticks {
        let (x, _) = at((*share, 0.0));
        // The outermost labels would otherwise hang over the edge.
        let anchor = if *share > 0.95 { "end" } else { "middle" };
        draw!(
            out,
            "<path class=\"grid\" d=\"M{x:.1} {}V{}\"/><text class=\"tick\" x=\"{x:.1}\" \
             y=\"{}\" font-size=\"{FONT_SIZE}\" text-anchor=\"{anchor}\">{}</text>",
            AREA.top,
            AREA.bottom,
            AREA.bottom + FONT_SIZE + 4.0,
            escaped(label)
        );
    }
    draw!(
        out,
        "<path class=\"axis\" fill=\"none\" d=\"M{left} {}V{bottom}H{}\"/>\
         <text class=\"caption\" x=\"2\" y=\"14\" font-size=\"12.5\" font-weight=\"600\">{}</text>\
         <text class=\"tick\" x=\"{left}\" y=\"{}\" font-size=\"{FONT_SIZE}\">{}</text>",
        AREA.top,
        AREA.right,
        escaped(&chart.title),
        AREA.bottom + FONT_SIZE * 2.0 + 9.0,
        escaped(&chart.across),
        left = AREA.left,
        bottom = AREA.bottom,
    );
}

fn names(chart: &Chart, out: &mut String) {
    let points = || chart.lines.iter().flat_map(|line| &line.points).map(|point| at(point.place));
    let marks: Vec<Mark> = points()
        .map(|point| Mark { area: Area::around(point, 4.0), cost: 30, point: Some(point) })
        .collect();
    let wanted: Vec<Wanted> = chart
        .lines
        .iter()
        .filter_map(|line| {
            let point = at(line.points.last()?.place);
            Some(Wanted { point, text: line.name.clone()?, is_bold: false, radius: 3.0 })
        })
        .collect();
    let bounds = Area { right: WIDTH, ..AREA };
    for name in place(&wanted, &marks, bounds, FONT_SIZE) {
        draw!(
            out,
            "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"{FONT_SIZE}\">{}</text>",
            name.start.0,
            name.start.1,
            escaped(&name.text)
        );
    }
}
