//! Pictures in SVG: the scatter of stored size against time, as a file of its own and as a part
//! of the HTML page. This file is the front door; the parts of a picture are in `svg/`.
//!
//! A picture is complete without scripts and loads nothing: every shape and colour is in it, and
//! every name from a user goes through `escaped`.

mod axes;
mod chart;
mod distributions;
mod labels;
mod legend;
mod marks;
mod palette;
mod points;
mod scale;
mod scatter;
mod speed;

pub(super) use chart::{Chart, Line, Point, drawn};
pub(super) use distributions::{ORIGINAL_CLASS, distributions};
pub(super) use palette::page_style;
pub(super) use scale::Scale;
pub(super) use scatter::{Layout, drawing};
pub(super) use speed::speed;

use crate::model::Evaluation;
use crate::report::human::printable;

/// Makes the scatter as an SVG document in light colours, as a README shows it.
pub fn scatter(evaluation: &Evaluation) -> String {
    let layout = Layout::document();
    let (picture, height) = drawing(evaluation, &layout);
    let title = escaped(&evaluation.corpus.name);
    let width = layout.width;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" class=\"scatter\">\n\
         <title>{title}: stored size against time</title>\n<style>{style}</style>\n\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n{picture}</svg>\n",
        style = palette::document_style(),
    )
}

/// Text for the inside of an element or of a quoted attribute, in HTML and in XML.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use roxmltree::{Document, Node};

    use super::super::{example, view};
    use super::*;

    fn with_class<'a>(document: &'a Document, class: &str) -> Vec<Node<'a, 'a>> {
        let holds = |node: &Node| {
            node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class))
        };
        document.descendants().filter(holds).collect()
    }

    #[test]
    fn every_example_is_well_formed_and_shows_every_timed_trial() {
        for evaluation in example::all() {
            let text = scatter(&evaluation);
            let document = Document::parse(&text).unwrap();
            let points = with_class(&document, "point");
            assert_eq!(points.len(), view::drawn(&evaluation).count());
            let hollow = with_class(&document, "rough").len();
            assert_eq!(points.len() - hollow, view::timed(&evaluation).count());
            let titles: Vec<String> = points
                .iter()
                .filter_map(|point| point.first_element_child()?.text().map(str::to_owned))
                .collect();
            for trial in view::timed(&evaluation) {
                let name = printable(&trial.name);
                assert!(titles.iter().any(|title| title.lines().next() == Some(&name)), "{name}");
            }
        }
    }

    #[test]
    fn the_recommended_and_the_baseline_are_ringed_once() {
        let text = scatter(&example::typical());
        let document = Document::parse(&text).unwrap();
        for class in ["ring-recommended", "ring-baseline"] {
            let rings = with_class(&document, class);
            let on_points = rings
                .iter()
                .filter(|ring| ring.parent_element().unwrap().attribute("class").is_some());
            assert_eq!(on_points.count(), 1, "{class}");
        }
        let labels = with_class(&document, "label");
        let named = |name: &str| labels.iter().any(|label| label.text() == Some(name));
        assert!(named(&example::typical().recommended.name));
        assert!(named("json+zlib:6 (baseline)"));
    }

    #[test]
    fn it_loads_nothing_and_runs_nothing() {
        for evaluation in example::all() {
            let text = scatter(&evaluation).replace("http://www.w3.org/2000/svg", "");
            for forbidden in ["http:", "https:", "href", "<script", "url(", "@import", "<image"] {
                assert!(!text.contains(forbidden), "{forbidden}");
            }
        }
    }

    #[test]
    fn every_coordinate_is_a_number_inside_the_picture() {
        for evaluation in example::all() {
            let text = scatter(&evaluation);
            assert!(!text.contains("inf") && !text.contains("NaN"));
            let document = Document::parse(&text).unwrap();
            let root = document.root_element();
            let side = |name| root.attribute(name).unwrap().parse::<f64>().unwrap();
            for point in with_class(&document, "point") {
                let moved = point.attribute("transform").unwrap();
                let inner = moved.trim_start_matches("translate(").trim_end_matches(')');
                let (x, y) = inner.split_once(' ').unwrap();
                assert!((0.0..=side("width")).contains(&x.parse().unwrap()), "{moved}");
                assert!((0.0..=side("height")).contains(&y.parse().unwrap()), "{moved}");
            }
        }
    }

    #[test]
    fn the_levels_of_a_codec_are_joined_in_their_order() {
        let evaluation = example::typical();
        let text = scatter(&evaluation);
        let document = Document::parse(&text).unwrap();
        let corners = |node: &Node| node.attribute("d").unwrap().split('L').count();
        let on_text: Vec<usize> =
            with_class(&document, "levels-text").iter().map(corners).collect();
        // On the text as it is, two levels of lz4 and two of zstd were timed; a third one of zstd
        // was only sized, and no line goes there.
        assert_eq!(on_text, [2, 2]);
    }

    #[test]
    fn charts_are_well_formed_and_have_numbers() {
        for evaluation in example::all() {
            for chart in distributions(&evaluation).into_iter().chain(speed(&evaluation)) {
                assert!(Document::parse(&chart).is_ok(), "{chart}");
                assert!(!chart.contains("inf") && !chart.contains("NaN"), "{chart}");
            }
        }
        assert_eq!(distributions(&example::typical()).len(), 3);
        assert!(distributions(&example::nothing_timed()).is_empty());
        assert!(speed(&example::typical()).is_some_and(|chart| chart.contains(">zstd<")));
    }

    #[test]
    fn without_a_timed_trial_it_says_so() {
        assert!(scatter(&example::nothing_timed()).contains("No trial was timed"));
    }
}
