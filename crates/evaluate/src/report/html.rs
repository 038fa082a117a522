//! `index.html`: the report that people open in a browser, one file that needs no network, no
//! script and no other file. This file is the front door: it puts the template, the style, the
//! script and the figures together.
//!
//! The template escapes everything by its name's extension; only our own style, script and
//! pictures are inserted as they are. A script adds comfort (tooltips, sorting, copying) and
//! never content, and the page's policy forbids loading anything.

mod facts;
mod recommendation;
mod tables;
#[cfg(test)]
mod tests;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};

use super::svg::{self, Layout};
use super::tables::spread;
use super::{human, sections};
use crate::model::Evaluation;

/// Makes the whole page.
pub fn render(evaluation: &Evaluation) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .expect("the delimiters are the usual ones");
    environment.set_syntax(syntax);
    let sections = sections::all(evaluation).into_iter().map(|section| {
        let picture = picture(evaluation, section.id);
        tables::section(section, picture)
    });
    let page = context! {
        style => safe(format!("{}{}", svg::page_style(), include_str!("html/style.css"))),
        script => safe(include_str!("html/script.js").to_owned()),
        corpus => facts::corpus(evaluation),
        goal => facts::goal(evaluation),
        run => facts::run(evaluation),
        recommended => recommendation::headline(evaluation),
        sections => sections.collect::<Vec<_>>(),
        filters => tables::filters(evaluation),
    };
    environment
        .render_named_str("index.html", include_str!("html/index.html"), page)
        .expect("the template and what it is given are both in this module, and tested")
}

/// Text that is HTML already.
fn safe(text: String) -> Value {
    Value::from_safe_string(text)
}

/// Text from a user, as the template may print it.
fn text(text: &str) -> String {
    human::printable(text)
}

/// The picture of the section of this id, where it has one.
fn picture(evaluation: &Evaluation, id: &str) -> Option<String> {
    match id {
        "scatter" => {
            let wide = scatter(evaluation, &Layout::wide(), "wide");
            let narrow = scatter(evaluation, &Layout::narrow(), "narrow");
            let tip = "<div id=\"tip\" role=\"status\" hidden></div>";
            Some(format!("<figure id=\"scatter\">\n{wide}\n{narrow}\n{tip}</figure>"))
        }
        "distributions" => {
            let charts = svg::distributions(evaluation);
            let legend = legend(evaluation);
            (!charts.is_empty())
                .then(|| format!("{legend}<div class=\"charts\">{}</div>", charts.join("\n")))
        }
        "codecs" => {
            svg::speed(evaluation).map(|chart| format!("<div class=\"charts one\">{chart}</div>"))
        }
        _ => None,
    }
}

fn scatter(evaluation: &Evaluation, layout: &Layout, class: &str) -> String {
    let (picture, height) = svg::drawing(evaluation, layout);
    let width = layout.width;
    format!(
        "<svg class=\"scatter {class}\" viewBox=\"0 0 {width} {height}\" role=\"group\" \
         aria-label=\"Scatter of stored size against time\">\n{picture}</svg>"
    )
}

/// Which line of the distributions is which trial's.
fn legend(evaluation: &Evaluation) -> String {
    let series = spread::series(evaluation).into_iter().enumerate();
    let trials = series.map(|(index, (trial, _))| (format!("q{index}"), trial.name.as_str()));
    let original = (svg::ORIGINAL_CLASS.to_owned(), "payloads as they are");
    let entry = |(class, name): (String, &str)| {
        let name = svg::escaped(name);
        format!(
            "<li><svg class=\"chart swatch\" viewBox=\"0 0 28 10\" aria-hidden=\"true\">\
             <path class=\"line {class}\" d=\"M1 5L27 5\"/></svg>{name}</li>"
        )
    };
    let entries: Vec<String> = trials.chain([original]).map(entry).collect();
    format!("<ul class=\"legend\">{}</ul>\n", entries.join(""))
}
