//! A plot of dots with logarithmic axes: one dot a call, as the publication drew an hour of them.
//!
//! Where there are more calls than dots every n-th is drawn, so that the shape stays and the page
//! loads.

use super::super::human;
use super::super::svg::{Scale, escaped};

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 270.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 350.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 226.0;
const FONT_SIZE: f64 = 11.5;

/// What to draw.
pub(super) struct Plot<'a> {
    /// What goes up.
    pub title: &'a str,
    /// What goes across.
    pub across: &'a str,
    /// Across and up; what is not positive has no place on such axes.
    pub points: &'a [(f64, f64)],
    /// Whether what goes up is nanoseconds and not bytes.
    pub is_time: bool,
}

/// Makes the picture.
pub(super) fn drawn(plot: &Plot<'_>, dots_max: usize) -> String {
    let drawable: Vec<(f64, f64)> =
        plot.points.iter().copied().filter(|(x, y)| *x > 0.0 && *y > 0.0).collect();
    let step = drawable.len().div_ceil(dots_max).max(1);
    let dots: Vec<(f64, f64)> = drawable.into_iter().step_by(step).collect();
    let (across, up): (Vec<f64>, Vec<f64>) = dots.iter().copied().unzip();
    let x = Scale::logarithmic(&across, (LEFT, RIGHT));
    let y = Scale::logarithmic(&up, (BOTTOM, TOP));
    let label = |value: f64| if plot.is_time { human::time(value) } else { human::size(value) };
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{} \
         against {}, {} calls\">\n",
        escaped(plot.title),
        escaped(plot.across),
        dots.len()
    );
    for tick in y.ticks(7) {
        let at = y.place(tick);
        out.push_str(&format!(
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/><text class=\"tick\" x=\"{:.1}\" \
             y=\"{:.1}\" font-size=\"{FONT_SIZE}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + FONT_SIZE * 0.35,
            label(tick)
        ));
    }
    for tick in x.ticks(5) {
        let at = x.place(tick);
        out.push_str(&format!(
            "<path class=\"grid\" d=\"M{at:.1} {TOP}V{BOTTOM}\"/><text class=\"tick\" \
             x=\"{at:.1}\" y=\"{:.1}\" font-size=\"{FONT_SIZE}\" text-anchor=\"middle\">{}</text>",
            BOTTOM + FONT_SIZE + 4.0,
            human::size(tick)
        ));
    }
    for (across, up) in &dots {
        out.push_str(&format!(
            "<circle class=\"dot f1\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.7\"/>",
            x.place(*across),
            y.place(*up)
        ));
    }
    out.push_str(&format!(
        "<path class=\"axis\" fill=\"none\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/>\
         <text class=\"caption\" x=\"2\" y=\"14\" font-size=\"12.5\" font-weight=\"600\">{}</text>\
         <text class=\"tick\" x=\"{LEFT}\" y=\"{}\" font-size=\"{FONT_SIZE}\">{}</text>{}</svg>\n",
        escaped(plot.title),
        BOTTOM + FONT_SIZE * 2.0 + 12.0,
        escaped(plot.across),
        if dots.is_empty() { nothing() } else { String::new() }
    ));
    out
}

fn nothing() -> String {
    let (x, y) = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0);
    format!(
        "<text class=\"tick\" x=\"{x}\" y=\"{y}\" font-size=\"{FONT_SIZE}\" \
         text-anchor=\"middle\">no calls yet</text>"
    )
}
