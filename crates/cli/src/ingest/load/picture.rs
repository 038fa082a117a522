//! Throughput and pause against connections, as the article's figure 8 draws them: one SVG that any
//! browser shows, on light and on dark ground.

use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 560.0;

/// Where the drawings stand across, and how high each is.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 560.0;
const PANEL_HEIGHT: f64 = 180.0;

/// The top of each drawing.
const TOPS: [f64; 2] = [50.0, 310.0];

/// The colours of rates, in turn: they differ in brightness too, for whoever sees no colours.
const COLOURS: [(&str, &str); 4] = [
    ("#0b5cad", "#6db3f2"),
    ("#b3410b", "#f2a06d"),
    ("#2d7d32", "#8fd694"),
    ("#6a3d9a", "#c9a6ec"),
];

const STYLE: &str = "svg{background:#fff;color:#222;font:13px sans-serif}\
    text{fill:currentColor}.axis{stroke:currentColor;stroke-width:1}\
    .grid{stroke:currentColor;stroke-width:1;opacity:.15}.line{fill:none;stroke-width:2}\
    @media(prefers-color-scheme:dark){svg{background:#16181d;color:#e6e6e6}}";

/// One load.
pub(super) struct Point {
    /// Connections.
    pub(super) connections: f64,
    /// What was asked for, in MB/s.
    pub(super) asked: f64,
    /// What was sent, in MB/s.
    pub(super) reached: f64,
    /// The longest gap between two reads, or wait of a bunch, in milliseconds.
    pub(super) pause_ms: f64,
    /// Connections that were given up for a bunch that was not taken in time.
    pub(super) disconnects: u64,
}

/// What of a load is drawn.
type Value = fn(&Point) -> f64;

/// The picture of these loads. A load with disconnects has an empty dot. The pause is that between
/// reads if the ingress was asked for it.
pub(super) fn picture(points: &[Point], is_of_reads: bool) -> String {
    let mut rates: Vec<f64> = points.iter().map(|point| point.asked).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let colours: String = (0..rates.len())
        .map(|number| {
            let (light, dark) = COLOURS[number % COLOURS.len()];
            format!(
                ".c{number}{{color:{light}}}\
                 @media(prefers-color-scheme:dark){{.c{number}{{color:{dark}}}}}"
            )
        })
        .collect();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n\
         <style>{STYLE}{colours}</style>\n"
    );
    let pause = match is_of_reads {
        true => "longest gap between two reads of a connection, ms",
        false => "longest wait of a bunch, ms",
    };
    let panels: [(&str, Value); 2] =
        [("MB/s taken", |point| point.reached), (pause, |point| point.pause_ms)];
    for ((title, value), top) in panels.into_iter().zip(TOPS) {
        panel(points, &rates, title, value, top, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

/// A page that shows this picture.
pub(super) fn page(picture: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <title>Throughput and pause against connections</title>\n\
         <style>:root{{color-scheme:light dark}}body{{margin:1em auto;max-width:60em}}</style>\n\
         {picture}</html>\n"
    )
}

fn panel(points: &[Point], rates: &[f64], title: &str, value: Value, top: f64, out: &mut String) {
    let bottom = top + PANEL_HEIGHT;
    let step = step(points.iter().map(value).fold(0.0, f64::max));
    let most = step * 4.0;
    let up = |value: f64| bottom - value / most * PANEL_HEIGHT;
    let mut places: Vec<f64> = points.iter().map(|point| point.connections).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    // Numbers of connections differ by factors: each has its place, at equal distances.
    let width = (RIGHT - LEFT) / places.len() as f64;
    let across = |connections: f64| {
        let place = places.iter().position(|place| *place == connections).unwrap_or(0);
        LEFT + width * (place as f64 + 0.5)
    };
    let mut line = |text: std::fmt::Arguments| {
        // Writing to a string does not fail.
        let _written = writeln!(out, "{text}");
    };
    line(format_args!(
        "<text x=\"{LEFT}\" y=\"{}\" font-weight=\"bold\">{title}</text>",
        top - 14.0
    ));
    for tick in 0..=4 {
        let (y, number) = (up(step * f64::from(tick)), step * f64::from(tick));
        let class = if tick == 0 { "axis" } else { "grid" };
        line(format_args!("<path class=\"{class}\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>"));
        let (x, y) = (LEFT - 8.0, y + 4.0);
        line(format_args!("<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{number}</text>"));
    }
    for place in &places {
        let (x, y) = (across(*place), bottom + 18.0);
        line(format_args!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{place}</text>"));
    }
    let (x, y) = ((LEFT + RIGHT) / 2.0, bottom + 38.0);
    line(format_args!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">connections</text>"));
    for (number, rate) in rates.iter().enumerate() {
        let mut own: Vec<&Point> = points.iter().filter(|point| point.asked == *rate).collect();
        own.sort_by(|a, b| a.connections.total_cmp(&b.connections));
        let at = |point: &Point| (across(point.connections), up(value(point)));
        let path: Vec<String> =
            own.iter().map(|point| at(point)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        line(format_args!("<g class=\"c{number}\">"));
        let path = path.join(" ");
        line(format_args!("<polyline class=\"line\" stroke=\"currentColor\" points=\"{path}\"/>"));
        for point in &own {
            let (x, y) = at(point);
            let fill = if point.disconnects > 0 { "none" } else { "currentColor" };
            let (count, value) = (point.disconnects, value(point));
            line(format_args!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" stroke=\"currentColor\" \
                 stroke-width=\"2\" fill=\"{fill}\"><title>{rate} MB/s asked: {value:.1}, \
                 {count} disconnects</title></circle>"
            ));
        }
        // The names stand in a column of their own, where no line crosses them.
        let (x, y) = (RIGHT + 20.0, top + 20.0 * number as f64 + 8.0);
        line(format_args!("<circle cx=\"{x}\" cy=\"{}\" r=\"5\" fill=\"currentColor\"/>", y - 4.0));
        line(format_args!("</g><text x=\"{}\" y=\"{y}\">{rate} MB/s asked</text>", x + 12.0));
    }
    let y = top + 20.0 * rates.len() as f64 + 12.0;
    let x = RIGHT + 20.0;
    line(format_args!(
        "<circle cx=\"{x}\" cy=\"{}\" r=\"5\" fill=\"none\" stroke=\"currentColor\" \
         stroke-width=\"2\"/><text x=\"{}\" y=\"{y}\">disconnects</text>",
        y - 4.0,
        x + 12.0
    ));
}

/// A quarter of an axis that holds this value: 1, 2 or 5 and zeros.
fn step(most: f64) -> f64 {
    let least = (most / 4.0).max(1e-3);
    let power = 10_f64.powf(least.log10().floor());
    let found = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power);
    found.into_iter().find(|step| *step >= least).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_holds_the_highest_value_and_is_not_much_longer() {
        for most in [0.004, 0.9, 1.0, 3.99, 4.0, 4.01, 77.0, 640.0, 1e6] {
            let top = step(most) * 4.0;
            assert!(top >= most && top <= most * 2.5 + 0.01, "{most} on an axis to {top}");
        }
    }

    #[test]
    fn every_load_is_a_dot_and_one_with_disconnects_is_empty() {
        let point = |connections, asked, disconnects| Point {
            connections,
            asked,
            reached: asked,
            pause_ms: 5.0,
            disconnects,
        };
        let drawn = picture(&[point(10.0, 100.0, 0), point(1_000.0, 100.0, 3)], true);
        assert_eq!(drawn.matches("<title>").count(), 4);
        // Two of the loads, and the two that say what an empty dot means.
        assert_eq!(drawn.matches("fill=\"none\"").count(), 4);
    }
}
