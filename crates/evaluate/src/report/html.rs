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
use super::{human, view};
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
    let page = context! {
        style => safe(format!("{}{}", svg::page_style(), include_str!("html/style.css"))),
        script => safe(include_str!("html/script.js").to_owned()),
        corpus => facts::corpus(evaluation),
        classes => facts::classes(evaluation),
        goal => facts::goal(evaluation),
        run => facts::run(evaluation),
        recommended => recommendation::headline(evaluation),
        wide => picture(evaluation, &Layout::wide(), "wide"),
        narrow => picture(evaluation, &Layout::narrow(), "narrow"),
        front => tables::front(evaluation),
        timed => tables::timed(evaluation),
        untimed => tables::untimed(evaluation),
        filters => tables::filters(evaluation),
        eliminated => tables::eliminated(evaluation),
        p99_is_max => view::any_p99_is_max(evaluation),
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

fn picture(evaluation: &Evaluation, layout: &Layout, class: &str) -> Value {
    let (picture, height) = svg::drawing(evaluation, layout);
    let width = layout.width;
    safe(format!(
        "<svg class=\"scatter {class}\" viewBox=\"0 0 {width} {height}\" role=\"group\" \
         aria-label=\"Scatter of stored size against time\">\n{picture}</svg>"
    ))
}
