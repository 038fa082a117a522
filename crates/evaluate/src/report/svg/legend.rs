//! The legend of the scatter: colours of codecs, shapes of encodings, and the front and its rings.
//!
//! It names only what is in the picture, so that a reader never looks for a colour that is not.

use std::fmt::Write;

use super::escaped;
use super::labels::text_width;
use super::marks::Shapes;
use super::palette::Palette;
use super::scatter::{Plot, draw, ring};
use crate::model::Trial;
use crate::report::{human, view};

impl Plot<'_> {
    /// Draws the legend below the axes in as many rows as it needs; returns the picture's height.
    pub(super) fn legend(
        &self,
        out: &mut String,
        palette: &mut Palette,
        shapes: &mut Shapes,
    ) -> f64 {
        let (size, radius) = (self.layout.font_size - 0.5, self.layout.radius);
        let mut entries: Vec<(String, String)> = Vec::new();
        let mut groups: Vec<usize> = Vec::new();
        let unique = |of: fn(&Trial) -> &str| {
            let mut names: Vec<&str> = view::drawn(self.evaluation).map(of).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        for codec in unique(|trial| &trial.codec) {
            let (class, path) = (palette.class(codec), Shapes::default().path("json", radius));
            entries.push((format!("<path class=\"mark k{class}\" d=\"{path}\"/>"), shown(codec)));
        }
        groups.push(entries.len());
        for encoding in unique(|trial| &trial.encoding) {
            let path = shapes.path(encoding, radius);
            entries.push((format!("<path class=\"legend-shape\" d=\"{path}\"/>"), shown(encoding)));
        }
        groups.push(entries.len());
        let line = format!("<path class=\"front\" d=\"M-{radius} 4L{radius} -4\"/>");
        entries.push((line, "Pareto front".to_owned()));
        entries.push((
            ring(true, "legend-recommended ring-recommended", radius),
            "recommended".to_owned(),
        ));
        entries.push((ring(true, "legend-baseline ring-baseline", radius), "baseline".to_owned()));
        if view::drawn(self.evaluation).any(|trial| !view::is_timed(trial)) {
            let path = Shapes::default().path("json", radius);
            let symbol = format!("<path class=\"legend-shape\" d=\"{path}\" opacity=\".6\"/>");
            entries.push((symbol, "only sized".to_owned()));
        }
        let mut at = (self.legend_left(), self.area.bottom + size * 2.0 + 44.0);
        for (index, (symbol, text)) in entries.iter().enumerate() {
            let width = text_width(text, size) + radius * 2.0 + 16.0;
            let is_first = at.0 <= self.legend_left();
            if !is_first && (groups.contains(&index) || at.0 + width > self.area.right + 8.0) {
                at = (self.legend_left(), at.1 + size * 1.75);
            }
            let (x, y) = (at.0 + radius, at.1);
            draw!(
                out,
                "<g transform=\"translate({x:.1} {y:.1})\">{symbol}<text class=\"tick\" \
                 x=\"{:.1}\" y=\"{:.1}\" font-size=\"{size}\">{}</text></g>",
                radius + 6.0,
                size * 0.36,
                escaped(text)
            );
            at.0 += width;
        }
        at.1 + size * 1.4
    }

    fn legend_left(&self) -> f64 {
        if self.layout.narrow { 8.0 } else { self.area.left }
    }
}

fn shown(name: &str) -> String {
    human::shortened(name, 24)
}
