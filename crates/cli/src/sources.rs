//! Reading what the user named: the part that `evaluate` and `estimate` share.
//!
//! What was skipped is told on standard error, and never in silence.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;

use cinch_evaluate::corpus::{self, Corpus, FieldPath, Format, Problem, Problems, ReadOptions};
use cinch_generate::Options;
use cinch_sample::{Address, SAMPLE_COUNT, SampleOptions, is_address};

use crate::arguments::{FormatChoice, SourceArguments};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Bar;
use crate::sample;

/// How many carts are generated where no source is named: as many payloads as Uber measured.
const GENERATED_PAYLOADS: usize = 2_219;

/// The name of the generated corpus.
const GENERATED_KIND: &str = "carts";

/// Reads the sources, or generates carts where none are named; returns the corpus and its name.
pub fn read(
    arguments: &SourceArguments,
    bar: &Bar,
    interrupt: &Interrupt,
) -> Result<(Corpus, String), Failure> {
    read_within(arguments, ReadOptions::default().sample_bytes_max, bar, interrupt)
}

/// The same, holding payloads of at most so many bytes: a fair sample, where there are more.
pub fn read_within(
    arguments: &SourceArguments,
    sample_bytes_max: u64,
    bar: &Bar,
    interrupt: &Interrupt,
) -> Result<(Corpus, String), Failure> {
    if arguments.sources.iter().any(|source| is_address(source)) {
        return live(arguments, bar, interrupt);
    }
    let live = &arguments.reading.live;
    if live.matching.is_some() || live.query.is_some() || live.replica {
        let why = "--match, --query and --replica are for live stores; name one, as in \
                   redis://localhost:6379";
        return Err(Failure::Argument(why.to_owned()));
    }
    if arguments.sources.is_empty() {
        return generated(arguments);
    }
    let options = ReadOptions {
        format: match arguments.format {
            FormatChoice::Auto => Format::Auto,
            FormatChoice::Json => Format::Json,
            FormatChoice::Lines => Format::Lines,
            FormatChoice::Binary => Format::Binary,
        },
        split: arguments.reading.split,
        field: arguments.reading.field.as_deref().map(FieldPath::parse).transpose()?,
        sample: arguments.reading.sample,
        seed: arguments.reading.seed,
        sample_bytes_max,
        ..ReadOptions::default()
    };
    let mut progress = |read: corpus::Progress| {
        bar.reading(read.payloads, read.bytes);
        if interrupt.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let corpus = interrupt.while_reading(|| {
        corpus::read(&arguments.sources, &mut io::stdin().lock(), &options, &mut progress)
    })?;
    Ok((corpus, name(&arguments.sources)))
}

/// Samples a live store. Its payloads are taken as they are stored.
fn live(
    arguments: &SourceArguments,
    bar: &Bar,
    interrupt: &Interrupt,
) -> Result<(Corpus, String), Failure> {
    let [source] = &arguments.sources[..] else {
        let why = "a live store is evaluated alone; write each to a file with `cinch sample` first";
        return Err(Failure::Argument(why.to_owned()));
    };
    if arguments.format != FormatChoice::Auto
        || arguments.reading.split
        || arguments.reading.field.is_some()
    {
        let why = "--format, --split and --field are for files; write one with `cinch sample` \
                   first";
        return Err(Failure::Argument(why.to_owned()));
    }
    let address = Address::parse(source)?;
    let options = SampleOptions {
        count: arguments.reading.sample.unwrap_or(SAMPLE_COUNT),
        seed: arguments.reading.seed,
        ..sample::options(&arguments.reading.live)
    };
    let sampled = sample::take(&address, &options, bar, interrupt)?;
    let name = address.to_string();
    let first: Vec<Problem> = sampled
        .refused
        .iter()
        .map(|(reason, count)| Problem {
            file: name.clone(),
            line: 0,
            reason: format!("{count} values were not taken: {reason}"),
        })
        .collect();
    let seen = sampled.classes.iter().map(|class| class.seen).sum();
    let payloads = sampled.payloads.into_iter().map(|taken| taken.bytes);
    let corpus = Corpus {
        seen,
        seen_bytes: sampled.seen_bytes,
        problems: Problems { count: first.len() as u64, first },
        ..Corpus::from_payloads(&name, payloads)
    };
    Ok((corpus, name))
}

/// The sources as they may be shown: an address without its password.
pub fn shown(sources: &[String]) -> String {
    let shown = |source: &String| match Address::parse(source) {
        Ok(address) => address.to_string(),
        Err(_) => source.clone(),
    };
    sources.iter().map(shown).collect::<Vec<_>>().join(" ")
}

fn generated(arguments: &SourceArguments) -> Result<(Corpus, String), Failure> {
    let kind = cinch_generate::find(GENERATED_KIND)
        .ok_or_else(|| Failure::Argument("there are no carts to generate".to_owned()))?;
    let count = arguments.reading.sample.unwrap_or(GENERATED_PAYLOADS);
    let payloads =
        kind.payloads(Options { count, seed: arguments.reading.seed, median_bytes: None });
    let name = format!("generated {GENERATED_KIND}");
    Ok((Corpus::from_payloads(&name, payloads.map(String::into_bytes)), name))
}

/// The corpus' name in titles: the first source's file name, and how many more there are.
fn name(sources: &[String]) -> String {
    let first = match sources.first().map(String::as_str) {
        None | Some("-") => "standard input".to_owned(),
        Some(path) => Path::new(path)
            .file_name()
            .map_or(path.to_owned(), |name| name.to_string_lossy().into_owned()),
    };
    match sources.len() {
        0 | 1 => first,
        count => format!("{first} and {} more", count - 1),
    }
}

/// Tells on standard error what of the sources was skipped, and whether anything was.
pub fn tell_problems(corpus: &Corpus) -> bool {
    let problems = &corpus.problems;
    for problem in &problems.first {
        eprintln!("cinch: skipped: {problem}");
    }
    let untold = problems.count - problems.first.len() as u64;
    if untold > 0 {
        eprintln!("cinch: skipped: {untold} more");
    }
    problems.count > 0
}
