//! `cinch schema`: infers a schema from payloads, tries it on those that are held out, and writes
//! it.
//!
//! What it found is told on standard error, because the schema may go to standard output.

use std::sync::atomic::Ordering;

use cinch_core::document::Document;
use cinch_core::encoding::Parser;
use cinch_core::json;
use cinch_core::schema::Language;
use cinch_evaluate::corpus::Corpus;
use cinch_evaluate::measure::Progress;
use cinch_evaluate::report::human::{counted, percent};
use cinch_schema::{Model, Observations, Written, try_on};

use crate::Done;
use crate::arguments::{SchemaArguments, SchemaFormat, SourceArguments};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{Output, Place};
use crate::profile::read_schema;
use crate::progress::Bar;
use crate::sources;

/// One payload in so many is held out.
const HELD_OUT_EVERY: usize = 5;

/// Payloads of at most this many bytes are held: with what is seen of them, well below a gigabyte.
const SAMPLE_BYTES_MAX: u64 = 512 << 20;

/// How many payloads are looked at between two steps of progress.
const STEP: usize = 1000;

/// Infers.
pub fn run(arguments: &SchemaArguments) -> Result<Done, Failure> {
    let format = format(arguments)?;
    let previous = arguments.previous.as_deref().map(read_schema).transpose()?;
    if let Some(previous) = &previous
        && language_of(format) != Some(previous.language())
    {
        let why = format!("--previous is in {}; so is --format to be", previous.language().name());
        return Err(Failure::Argument(why));
    }
    let place = arguments.output.clone().map_or(Place::Stdout, Place::File);
    let mut output = Output::open(&place, arguments.force)?;
    let interrupt = Interrupt::handled();
    let mut bar = Bar::new(arguments.reading.progress);
    let source = source(arguments);
    let (corpus, _) = sources::read_within(&source, SAMPLE_BYTES_MAX, &bar, &interrupt)?;
    let observations = observe(&corpus, &mut bar, &interrupt)?;
    bar.finish();
    let was_skipped = sources::tell_problems(&corpus);
    if observations.payloads() == 0 {
        let why = "there is no JSON to infer a schema from".to_owned();
        return Err(Failure::Argument(why));
    }
    let model = Model::of(&observations);
    if corpus.seen > corpus.payloads.len() as u64 {
        eprintln!(
            "of {} a fair sample was taken, {} MiB at most",
            counted(corpus.seen, "payload"),
            SAMPLE_BYTES_MAX >> 20,
        );
    }
    eprintln!(
        "{} of {} taught {} with {}",
        observations.payloads(),
        counted(corpus.payloads.len() as u64, "payload"),
        counted(model.records.len() as u64, "type"),
        counted(model.records.iter().map(|record| record.fields.len() as u64).sum(), "field"),
    );
    let Some(language) = language_of(format) else {
        output.write(cinch_schema::write_json_schema(&model).as_bytes())?;
        output.finish()?;
        return Ok(if was_skipped { Done::Partly } else { Done::Whole });
    };
    let Written { text, changes } =
        cinch_schema::write(language, &model, previous.as_deref(), arguments.may_break)?;
    if previous.is_some() {
        changes.iter().for_each(|change| eprintln!("changed: {change}"));
        eprintln!("{} since the previous schema", counted(changes.len() as u64, "change"));
    }
    tell_held_out(language, &text, &corpus)?;
    output.write(text.as_bytes())?;
    output.finish()?;
    Ok(if was_skipped { Done::Partly } else { Done::Whole })
}

fn is_held_out(index: usize, corpus: &Corpus) -> bool {
    corpus.payloads.len() >= HELD_OUT_EVERY && index % HELD_OUT_EVERY == HELD_OUT_EVERY - 1
}

fn observe(corpus: &Corpus, bar: &mut Bar, interrupt: &Interrupt) -> Result<Observations, Failure> {
    let mut observations = Observations::new();
    let mut document = Document::new();
    bar.begin("inferring", corpus.payloads.len().div_ceil(STEP) as u64);
    for (index, payload) in corpus.payloads.iter().enumerate() {
        if index % STEP == 0 {
            bar.advance(1);
            if interrupt.stop.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted);
            }
        }
        if !is_held_out(index, corpus)
            && json::parse(Parser::Simd, &payload.bytes, &mut document).is_ok()
        {
            observations.observe(&document);
        }
    }
    Ok(observations)
}

/// Says what the schema makes of the payloads that did not teach it.
fn tell_held_out(language: Language, text: &str, corpus: &Corpus) -> Result<(), Failure> {
    let schema = cinch_schema::read(language, text.as_bytes())
        .map_err(|error| Failure::Schema { path: "the schema".to_owned(), error })?;
    let held = || {
        let payloads = corpus.payloads.iter().enumerate();
        payloads.filter(|(index, _)| is_held_out(*index, corpus)).map(|(_, held)| &*held.bytes)
    };
    for held in try_on(&schema, held) {
        if held.payloads == 0 {
            eprintln!("no payloads are left to try {} on", held.encoding);
            continue;
        }
        let share = |count: u64| percent(count as f64 / held.payloads as f64);
        eprintln!(
            "{}: {} payloads held out, {} refused ({}), {} with members outside the schema ({}), \
             {} bytes of JSON in {}",
            held.encoding,
            held.payloads,
            held.refused,
            share(held.refused),
            held.outside,
            share(held.outside),
            held.bytes_in,
            held.bytes_out,
        );
        if let Some(refusal) = &held.first_refusal {
            eprintln!("  the first refusal: {refusal}");
        }
        if let Some(failure) = &held.failure {
            eprintln!("  this is a bug, please report it: {failure}");
        }
    }
    Ok(())
}

fn format(arguments: &SchemaArguments) -> Result<SchemaFormat, Failure> {
    let of_ending = |ending: &str| match ending {
        "proto" => Some(SchemaFormat::Proto),
        "thrift" => Some(SchemaFormat::Thrift),
        "avsc" => Some(SchemaFormat::Avro),
        "json" => Some(SchemaFormat::Jsonschema),
        _ => None,
    };
    if let Some(format) = arguments.format {
        return Ok(format);
    }
    let Some(path) = &arguments.output else { return Ok(SchemaFormat::Proto) };
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    of_ending(&ending).ok_or_else(|| {
        let why = "--out ends with .proto, .thrift, .avsc or .json, or --format says the language";
        Failure::Argument(why.to_owned())
    })
}

fn language_of(format: SchemaFormat) -> Option<Language> {
    match format {
        SchemaFormat::Proto => Some(Language::Protobuf),
        SchemaFormat::Thrift => Some(Language::Thrift),
        SchemaFormat::Avro => Some(Language::Avro),
        SchemaFormat::Jsonschema => None,
    }
}

fn source(arguments: &SchemaArguments) -> SourceArguments {
    SourceArguments {
        sources: arguments.sources.clone(),
        format: arguments.input_format,
        reading: arguments.reading.clone(),
    }
}
