//! The sections of a long report in the order in which a reader with ten minutes needs them: the
//! page and the Markdown report print the same ones, each in its own way.
//!
//! The recommendation comes before them and is not one of them. Sections without anything to show
//! are left out.

use super::tables::{Table, against, behind, capacity, classes, dictionaries, ebay, expedia};
use super::tables::{link, regimes, spread, trials, uber};
use super::{human, sentences, view};
use crate::model::Evaluation;

/// A section.
#[derive(Debug, Clone, Default)]
pub(super) struct Section {
    /// Its anchor; the page knows by it which picture belongs there.
    pub(super) id: &'static str,
    /// Its title.
    pub(super) title: String,
    /// Sentences below the title.
    pub(super) lead: Vec<String>,
    /// What it shows, in order.
    pub(super) blocks: Vec<Block>,
}

/// A table, or a rule with what it took out, or both.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    /// What stands above it, where it can be folded away.
    pub(super) fold: Option<String>,
    /// Names with why.
    pub(super) names: Vec<(String, String)>,
    /// The table.
    pub(super) table: Option<Table>,
    /// Text as it is in a file.
    pub(super) file: Option<String>,
}

impl Block {
    fn open(table: Table) -> Block {
        Block { table: Some(table), ..Block::default() }
    }

    fn folded(summary: String, table: Table) -> Block {
        Block { fold: Some(summary), table: Some(table), ..Block::default() }
    }
}

/// A table of more rows than this is folded away where a sentence says the most of it.
const OPEN_ROWS: usize = 12;

fn unless_long(table: Table) -> Block {
    match table.rows.len() {
        rows if rows > OPEN_ROWS => Block::folded(format!("{}: {rows} trials", table.title), table),
        _ => Block::open(table),
    }
}

/// The sections of this evaluation.
pub(super) fn all(evaluation: &Evaluation) -> Vec<Section> {
    let made = [
        scatter(evaluation),
        timed(evaluation),
        by_class(evaluation),
        over_link(evaluation),
        on_disk(evaluation),
        net_gain(evaluation),
        with_dictionary(evaluation),
        distributions(evaluation),
        circumstances(evaluation),
        eliminations(evaluation),
        published_forms(evaluation),
        older(evaluation),
    ];
    made.into_iter().flatten().collect()
}

fn footnote(evaluation: &Evaluation) -> Option<String> {
    view::any_p99_is_max(evaluation)
        .then(|| "* is the maximum: a p99 needs 299 payloads.".to_owned())
}

fn scatter(evaluation: &Evaluation) -> Option<Section> {
    let front = trials::front(evaluation);
    let is_empty = front.rows.is_empty();
    let mut lead = vec![
        "Every timed trial, by what it stores and how long it takes. The lower left corner is \
         best; nothing beats a trial on the front in both. Faded trials were eliminated; a thin \
         line joins the levels of a codec."
            .to_owned(),
    ];
    let is_single_pass =
        |trial: &crate::model::Trial| !view::is_timed(trial) && view::pack_unpack_ns(trial) > 0.0;
    if evaluation.trials.iter().any(is_single_pass) {
        lead.push(
            "Hollow points were only sized, in one pass over fewer payloads: compare them with \
             each other and not with the rest."
                .to_owned(),
        );
    }
    if is_empty {
        lead.push("No trial is on the front, because none was timed.".to_owned());
    }
    lead.extend(footnote(evaluation));
    let blocks = if is_empty { Vec::new() } else { vec![Block::open(front)] };
    Some(Section { id: "scatter", title: "Size against time".to_owned(), lead, blocks })
}

fn timed(evaluation: &Evaluation) -> Option<Section> {
    let mut lead: Vec<String> = footnote(evaluation).into_iter().collect();
    let mut blocks = Vec::new();
    match trials::timed(evaluation) {
        table if table.rows.is_empty() => lead.push("No trial was timed.".to_owned()),
        table => blocks.push(Block::open(table)),
    }
    let untimed = trials::untimed(evaluation);
    if !untimed.rows.is_empty() {
        blocks.push(Block::folded(untimed.title.clone(), untimed));
    }
    Some(Section { id: "trials", title: "Trials".to_owned(), lead, blocks })
}

fn by_class(evaluation: &Evaluation) -> Option<Section> {
    let table = classes::winners(evaluation)?;
    let mut blocks = vec![Block::open(table)];
    if let Some(profile) = &evaluation.recommended.profile_by_class {
        blocks.push(Block {
            fold: Some("A profile with a rule for each class".to_owned()),
            file: Some(profile.clone()),
            ..Block::default()
        });
    }
    let mut lead = Vec::new();
    let others = sentences::other_winners(evaluation);
    if !others.is_empty() {
        lead.push(format!("Another trial wins clearly here: {}.", others.join("; ")));
    }
    Some(Section { id: "by-size", title: "Size classes".to_owned(), lead, blocks })
}

fn over_link(evaluation: &Evaluation) -> Option<Section> {
    let table = link::over(evaluation)?;
    let link = evaluation.link.as_ref()?;
    let first = link.trials.first()?;
    let fastest = format!(
        "First usable with {}: after {} in the mean.",
        human::printable(&first.name),
        human::time(first.total_ns.mean)
    );
    Some(Section {
        id: "over-link",
        title: "Over the link".to_owned(),
        lead: [fastest].into_iter().chain(printable(&link.flips)).collect(),
        blocks: vec![unless_long(table)],
    })
}

fn on_disk(evaluation: &Evaluation) -> Option<Section> {
    let blocks = vec![Block::open(capacity::on_disk(evaluation)?)];
    let title = "Capacity".to_owned();
    Some(Section { id: "on-disk", title, lead: Vec::new(), blocks })
}

fn net_gain(evaluation: &Evaluation) -> Option<Section> {
    let tables = behind::stores(evaluation);
    let verdicts = evaluation.behind.iter().map(|behind| {
        format!("{}: {}", human::printable(&behind.name), human::printable(&behind.verdict))
    });
    (!tables.is_empty()).then(|| Section {
        id: "net-gain",
        title: "Net gain".to_owned(),
        lead: verdicts.collect(),
        blocks: tables.into_iter().map(Block::open).collect(),
    })
}

fn with_dictionary(evaluation: &Evaluation) -> Option<Section> {
    let blocks = vec![Block::open(dictionaries::costs(evaluation)?)];
    let title = "Dictionaries".to_owned();
    Some(Section { id: "with-dictionary", title, lead: Vec::new(), blocks })
}

fn distributions(evaluation: &Evaluation) -> Option<Section> {
    let table = spread::quantiles(evaluation)?;
    Some(Section {
        id: "distributions",
        title: "Distributions".to_owned(),
        lead: vec![
            "Half of the payloads lie left of 50 %; the axis gives the largest ones more room \
             than their share."
                .to_owned(),
        ],
        blocks: vec![Block::folded("The same as figures".to_owned(), table)],
    })
}

fn circumstances(evaluation: &Evaluation) -> Option<Section> {
    let tables = [regimes::regimes(evaluation), regimes::calls(evaluation)];
    let folded = |table: Table| Block::folded(table.title.clone(), table);
    let blocks: Vec<Block> = tables.into_iter().flatten().map(folded).collect();
    (!blocks.is_empty()).then(|| Section {
        id: "circumstances",
        title: "Caches, contexts and first calls".to_owned(),
        lead: Vec::new(),
        blocks,
    })
}

fn eliminations(evaluation: &Evaluation) -> Option<Section> {
    let full = uber::full(evaluation);
    let mut blocks = vec![Block::folded(
        format!("Before any rule: {}", human::counted(full.rows.len() as u64, "trial")),
        full,
    )];
    for step in uber::steps(evaluation) {
        let meaning = match step.rule.meaning {
            "" => String::new(),
            meaning => format!(" ({meaning})"),
        };
        let name = human::shortened(&human::printable(step.rule.name), 160);
        let out = step.rule.trials.len() as u64;
        let why = |trial: &&crate::model::Trial| {
            let why = trial.eliminated_by.as_deref().unwrap_or_default();
            (human::printable(&trial.name), human::printable(why))
        };
        blocks.push(Block {
            fold: Some(format!(
                "{name}{meaning}: took out {}, left {}",
                human::count(out),
                human::count(step.left)
            )),
            names: step.rule.trials.iter().map(why).collect(),
            table: step.table,
            file: None,
        });
    }
    let shortlist = uber::shortlist(evaluation);
    if blocks.len() > 1 && !shortlist.rows.is_empty() {
        blocks.push(Block::open(shortlist));
    }
    Some(Section {
        id: "eliminated",
        title: "Eliminated, rule by rule".to_owned(),
        lead: Vec::new(),
        blocks,
    })
}

fn published_forms(evaluation: &Evaluation) -> Option<Section> {
    let tables = [expedia::by_codec(evaluation), ebay::by_class(evaluation)];
    let folded = |table: Table| Block::folded(table.title.clone(), table);
    let blocks: Vec<Block> = tables.into_iter().flatten().map(folded).collect();
    (!blocks.is_empty()).then(|| Section {
        id: "codecs",
        title: "Codec by codec".to_owned(),
        lead: Vec::new(),
        blocks,
    })
}

fn older(evaluation: &Evaluation) -> Option<Section> {
    let against = evaluation.against.as_ref()?;
    let mut lead = vec![
        human::printable(&against.verdict),
        format!(
            "Recommended then: {}; now: {}.",
            human::printable(&against.recommended_then),
            human::printable(&against.recommended_now)
        ),
    ];
    lead.extend(printable(&against.drift));
    lead.extend(against.versions.iter().map(|(name, then, now)| {
        let [name, then, now] = [name, then, now].map(|text| human::printable(text));
        format!("{name} was {then} and is {now}.")
    }));
    lead.extend(printable(&against.caveats));
    let title = format!("Against {}", human::printable(&against.name));
    let blocks = against_blocks(evaluation);
    Some(Section { id: "older-run", title, lead, blocks })
}

fn against_blocks(evaluation: &Evaluation) -> Vec<Block> {
    against::older(evaluation).map(Block::open).into_iter().collect()
}

fn printable(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| human::printable(text)).collect()
}
