//! The points of the scatter, what their tooltips say, and the names beside the ones that matter.
//!
//! A point's `title` is its tooltip without a script, and what the page's script shows in its own
//! tooltip; its first line is the trial's name and nothing else.

use std::fmt::Write;

use super::escaped;
use super::labels::{Area, Mark, Wanted, place};
use super::marks::Shapes;
use super::palette::Palette;
use super::scatter::{Plot, draw, is_drawable, ring};
use crate::model::Trial;
use crate::report::{human, view};

impl Plot<'_> {
    /// Draws a point for every timed trial.
    pub(super) fn points(&self, out: &mut String, palette: &mut Palette, shapes: &mut Shapes) {
        let mut trials: Vec<(view::Standing, &Trial)> = view::timed(self.evaluation)
            .map(|trial| (view::standing(self.evaluation, trial), trial))
            .collect();
        if trials.is_empty() {
            draw!(
                out,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"15\" \
                 text-anchor=\"middle\">No trial was timed.</text>",
                (self.area.left + self.area.right) / 2.0,
                (self.area.top + self.area.bottom) / 2.0
            );
        }
        // What is drawn later lies on top, so the trials that matter most come last.
        trials.sort_by_key(|(standing, trial)| {
            (standing.recommended, standing.front, trial.eliminated_by.is_none())
        });
        for (standing, trial) in trials {
            let ((x, y), radius) = (self.point(trial), self.layout.radius);
            // The baseline is what everything is compared with, so it never fades.
            let is_out = trial.eliminated_by.is_some() && !standing.baseline;
            let out_class = if is_out { " out" } else { "" };
            let (class, path) = (palette.class(&trial.codec), shapes.path(&trial.encoding, radius));
            let title = escaped_lines(&facts(trial, standing));
            draw!(
                out,
                "<g class=\"point{out_class}\" transform=\"translate({x:.1} {y:.1})\"><title>\
                 {title}</title><circle class=\"target\" r=\"{:.1}\"/>\
                 <path class=\"mark k{class}\" d=\"{path}\"/>{}{}</g>",
                radius * 2.0,
                ring(standing.baseline, "ring-baseline", radius + 6.5),
                ring(standing.recommended, "ring-recommended", radius + 5.0),
            );
        }
    }

    /// Joins the levels of each codec, encoding and dictionary with a line; the text as it is
    /// stands out, because the levels of a codec are best compared there. Trials that were only
    /// sized are of other payloads than the timed ones, so no line goes from one to the other.
    pub(super) fn levels(&self, out: &mut String, palette: &mut Palette) {
        let mut trials: Vec<&Trial> = view::drawn(self.evaluation)
            .filter(|trial| is_drawable(view::pack_unpack_ns(trial)))
            .collect();
        let line = |trial: &Trial| {
            let kind = (trial.dictionary.clone(), view::is_timed(trial));
            (trial.codec.clone(), trial.encoding.clone(), kind)
        };
        trials.sort_by_key(|trial| (line(trial), trial.level));
        for levels in trials.chunk_by(|left, right| line(left) == line(right)) {
            let place = |trial: &&Trial| {
                let (x, y) = self.point(trial);
                format!("{x:.1} {y:.1}")
            };
            let places: Vec<String> = levels.iter().map(place).collect();
            if places.len() > 1 {
                let text = if levels[0].encoding == "verbatim" { " levels-text" } else { "" };
                let class = palette.class(&levels[0].codec);
                let path = places.join("L");
                draw!(out, "<path class=\"levels{text} s{class}\" d=\"M{path}\"/>");
            }
        }
    }

    /// Draws a hollow point for every trial that was only sized but has the times of one pass.
    pub(super) fn rough(&self, out: &mut String, palette: &mut Palette, shapes: &mut Shapes) {
        let radius = self.layout.radius * 0.8;
        for trial in view::drawn(self.evaluation).filter(|trial| !view::is_timed(trial)) {
            let (x, y) = self.point(trial);
            let (class, path) = (palette.class(&trial.codec), shapes.path(&trial.encoding, radius));
            let title = escaped_lines(&rough_facts(trial));
            draw!(
                out,
                "<g class=\"point rough\" transform=\"translate({x:.1} {y:.1})\"><title>{title}\
                 </title><circle class=\"target\" r=\"{radius:.1}\"/>\
                 <path class=\"mark s{class}\" d=\"{path}\"/></g>",
            );
        }
    }

    /// Writes the names of the trials that matter beside their points.
    pub(super) fn names(&self, out: &mut String) {
        let (radius, size) = (self.layout.radius, self.layout.font_size - 0.5);
        let mut named: Vec<(view::Standing, &Trial)> = view::timed(self.evaluation)
            .map(|trial| (view::standing(self.evaluation, trial), trial))
            .filter(|(standing, _)| standing.recommended || standing.baseline || standing.front)
            .collect();
        let front = &self.evaluation.front;
        named.sort_by_key(|(standing, trial)| {
            let is_end = [front.first(), front.last()].into_iter().flatten();
            let is_end = is_end.into_iter().any(|point| point.name == trial.name);
            (!standing.recommended, !standing.baseline, !is_end)
        });
        let wanted: Vec<Wanted> = named
            .iter()
            .take(self.layout.names)
            .map(|(standing, trial)| Wanted {
                point: self.point(trial),
                text: label(&trial.name, *standing, self.layout.narrow),
                is_bold: standing.recommended,
                radius: radius + if standing.recommended || standing.baseline { 5.0 } else { 0.0 },
            })
            .collect();
        let mut marks: Vec<Mark> = view::timed(self.evaluation)
            .map(|trial| {
                let point = self.point(trial);
                Mark { area: Area::around(point, radius + 1.0), cost: 40, point: Some(point) }
            })
            .collect();
        let ringed = named.iter().filter(|(standing, _)| standing.recommended || standing.baseline);
        marks.extend(ringed.map(|(_, trial)| Mark {
            area: Area::around(self.point(trial), radius + 7.0),
            cost: 30,
            point: None,
        }));
        let rough = view::drawn(self.evaluation).filter(|trial| !view::is_timed(trial));
        marks.extend(rough.map(|trial| Mark {
            area: Area::around(self.point(trial), radius),
            cost: 6,
            point: None,
        }));
        marks.extend(along(&self.front_places()));
        let bounds = Area {
            left: self.area.left + 3.0,
            right: self.area.right + self.layout.right - 2.0,
            top: self.area.top + 2.0,
            bottom: self.area.bottom - 3.0,
        };
        for name in place(&wanted, &marks, bounds, size) {
            let class = if name.is_bold { " label-recommended" } else { "" };
            if let Some([from, to]) = name.leader {
                draw!(
                    out,
                    "<path class=\"leader\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
                    from.0,
                    from.1,
                    to.0,
                    to.1
                );
            }
            draw!(
                out,
                "<text class=\"label{class}\" x=\"{:.1}\" y=\"{:.1}\" \
                 font-size=\"{size}\">{}</text>",
                name.start.0,
                name.start.1,
                escaped(&name.text)
            );
        }
    }
}

fn label(name: &str, standing: view::Standing, narrow: bool) -> String {
    let name = human::shortened(name, if narrow { 26 } else { 36 });
    let is_only_baseline = standing.baseline && !standing.recommended;
    if is_only_baseline { format!("{name} (baseline)") } else { name }
}

/// Small marks along the front, so that names prefer not to lie on it.
fn along(places: &[(f64, f64)]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for pair in places.windows(2) {
        let [(x1, y1), (x2, y2)] = [pair[0], pair[1]];
        let steps = ((x2 - x1).hypot(y2 - y1) / 12.0).ceil().max(1.0);
        marks.extend((0..=steps as usize).map(|step| {
            let share = step as f64 / steps;
            let middle = (x1 + (x2 - x1) * share, y1 + (y2 - y1) * share);
            Mark { area: Area::around(middle, 1.0), cost: 10, point: None }
        }));
    }
    marks
}

/// What a tooltip says: the name alone on the first line, which the page shows larger.
fn facts(trial: &Trial, standing: view::Standing) -> String {
    let mark = if trial.p99_is_max { "max" } else { "p99" };
    let mut lines = vec![
        human::printable(&trial.name),
        format!(
            "stored {} (ratio {})",
            human::percent(view::stored_share(trial)),
            human::ratio(view::stored_ratio(trial))
        ),
        format!(
            "pack p50 {}, {mark} {}",
            human::time(trial.pack_ns.p50),
            human::time(trial.pack_ns.p99)
        ),
        format!(
            "unpack p50 {}, {mark} {}",
            human::time(trial.unpack_ns.p50),
            human::time(trial.unpack_ns.p99)
        ),
        format!("pack + unpack mean {}", human::time(view::pack_unpack_ns(trial))),
    ];
    let words = standing.words();
    if !words.is_empty() {
        lines.push(words.join(", "));
    }
    if let Some(held) = &trial.held_out {
        let interval = &held.packed_share_interval;
        let interval = human::percent_interval(interval.low, interval.high);
        lines.push(format!("held out {} ({interval})", human::percent(held.packed_share)));
    }
    if let Some(rule) = &trial.eliminated_by {
        lines.push(format!("eliminated: {}", human::printable(rule)));
    }
    lines.join("\n")
}

/// What the tooltip of a hollow point says.
fn rough_facts(trial: &Trial) -> String {
    format!(
        "{}\nstored {} (ratio {})\npack + unpack {} in one pass\nonly sized: {}",
        human::printable(&trial.name),
        human::percent(view::stored_share(trial)),
        human::ratio(view::stored_ratio(trial)),
        human::time(view::pack_unpack_ns(trial)),
        human::printable(trial.eliminated_by.as_deref().unwrap_or("not timed")),
    )
}

fn escaped_lines(text: &str) -> String {
    text.lines().map(escaped).collect::<Vec<_>>().join("\n")
}
