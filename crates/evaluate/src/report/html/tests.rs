//! What a reader of the page would notice: that nothing is missing, that nothing runs or loads
//! that should not, and that one trial is the recommended one.
//!
//! The tests read the page as text on purpose: a parser that forgives would hide mistakes that
//! a browser does not.

use super::*;
use crate::report::{example, svg::escaped, view};

fn rows<'a>(page: &'a str, table: &str) -> Vec<&'a str> {
    let Some((_, rest)) = page.split_once(&format!("<table id=\"{table}\"")) else {
        return Vec::new();
    };
    let (table, _) = rest.split_once("</table>").unwrap();
    table.split("<tr").skip(2).collect()
}

#[test]
fn every_trial_is_in_its_table_and_in_the_page() {
    for evaluation in example::all() {
        let page = render(&evaluation);
        let timed = view::timed(&evaluation).count();
        assert_eq!(rows(&page, "timed").len(), timed);
        assert_eq!(rows(&page, "untimed").len(), evaluation.trials.len() - timed);
        assert_eq!(rows(&page, "front").len(), evaluation.front.len());
        for trial in &evaluation.trials {
            let name = page_text(&trial.name);
            assert!(page.contains(&name), "{name}");
        }
    }
}

/// The text as the template escapes it.
fn page_text(text: &str) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let text = super::text(text);
    environment.render_named_str("one.html", "{{ text }}", context! { text => text }).unwrap()
}

#[test]
fn names_can_not_become_markup() {
    let page = render(&example::hostile());
    assert_eq!(page.matches("<script>").count(), 1, "only our own script");
    assert_eq!(page.matches("</script>").count(), 1);
    assert!(!page.contains("<script>alert") && !page.contains("\"1\")"));
    assert!(!page.contains("</pre>'"));
    let profiles = page.matches("<pre ").count();
    assert_eq!((profiles, page.matches("</pre>").count()), (2, 2), "one, and one by class");
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    assert!(page.contains("{{ 7*7 }}") && !page.contains("`49`"));
    assert!(page.contains(&escaped("<script>alert(\"1\")</script>'&amp;")));
    // The only attribute that a name could have opened is the one that it carries.
    assert!(page.matches("onload=x").count() > 5);
    for (at, _) in page.match_indices("onload=x") {
        let before = &page[..at];
        assert!(before.rfind('>') > before.rfind('<') || is_quoted(before), "{at}");
    }
}

/// Whether the end of this text is inside a double-quoted attribute.
fn is_quoted(before: &str) -> bool {
    let tag = &before[before.rfind('<').unwrap()..];
    tag.matches('"').count() % 2 == 1
}

#[test]
fn it_loads_nothing() {
    for evaluation in example::all() {
        let page = render(&evaluation);
        for forbidden in ["http:", "https:", "src=", "@import", "url(", "fetch(", "XMLHttp"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn one_trial_is_recommended_in_every_table_and_picture() {
    for evaluation in example::all() {
        let page = render(&evaluation);
        let is_timed =
            view::find(&evaluation, &evaluation.recommended.name).is_some_and(view::is_timed);
        let marked =
            |table| rows(&page, table).iter().filter(|row| row.starts_with(" class=\"rec")).count();
        assert_eq!(marked("timed") + marked("untimed"), 1);
        let rings = page.matches("<circle class=\"ring-recommended\"").count();
        assert_eq!(rings, if is_timed { 2 } else { 0 }, "one in each of the two pictures");
        assert_eq!(page.matches("class=\"chosen-name\"").count(), 1);
    }
}

#[test]
fn reasons_profile_rules_and_notices_are_told() {
    let evaluation = example::typical();
    let page = render(&evaluation);
    let told = |text: &str| assert!(page.contains(&page_text(text)), "{text}");
    evaluation.recommended.reasons.iter().for_each(|reason| told(reason));
    evaluation.run.notices.iter().for_each(|notice| told(notice));
    evaluation.corpus.problems.first.iter().for_each(|problem| told(problem));
    view::eliminated(&evaluation).iter().for_each(|rule| told(rule.name));
    evaluation.recommended.profile.lines().for_each(told);
    evaluation.recommended.flips.iter().for_each(|one| told(one));
    evaluation.recommended.costs.iter().for_each(|one| told(one));
    told(&evaluation.recommended.dictionaries[0].sha256);
    told(&evaluation.against.as_ref().unwrap().verdict);
    told(&evaluation.behind[0].verdict);
    told(&evaluation.link.as_ref().unwrap().flips[0]);
    told(&evaluation.run.noise.signs[0]);
    told(&evaluation.run.processor);
    told("12,000");
    told("carts-2026-11");
}

#[test]
fn every_table_is_in_the_page_with_all_its_rows() {
    for evaluation in example::all() {
        let page = render(&evaluation);
        for block in sections::all(&evaluation).into_iter().flat_map(|section| section.blocks) {
            if let Some(table) = block.table {
                assert_eq!(rows(&page, &table.id).len(), table.rows.len(), "{}", table.title);
            }
        }
    }
}

#[test]
fn it_opens_fast_on_a_telephone() {
    let mut evaluation = example::typical();
    assert!(render(&evaluation).len() < 350_000);
    // The worst case of about 80 trials: every one of them was timed, and none is out.
    let whole = evaluation.trials[0].clone();
    for trial in &mut evaluation.trials {
        trial.stage.clone_from(&whole.stage);
        trial.eliminated_by = None;
        (trial.held_out, trial.paired, trial.calls) = (whole.held_out, whole.paired, whole.calls);
    }
    let page = render(&evaluation);
    assert!(page.len() < 500_000, "the page has {} bytes", page.len());
}

#[test]
fn ids_are_unique() {
    let page = render(&example::typical());
    let mut ids: Vec<&str> =
        page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn every_opened_element_is_closed() {
    for evaluation in example::all() {
        let page = render(&evaluation);
        for element in
            ["section", "div", "table", "tr", "td", "span", "details", "svg", "g", "ul", "li", "p"]
        {
            let opened = page.matches(&format!("<{element}>")).count()
                + page.matches(&format!("<{element} ")).count();
            let closed = page.matches(&format!("</{element}>")).count();
            assert_eq!(opened, closed, "{element}");
        }
    }
}
