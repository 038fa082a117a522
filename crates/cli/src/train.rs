//! `cinch train`: reads the payloads, has a dictionary learned and judged, and writes it if it is
//! worth it.

use std::time::SystemTime;

use cinch_core::codec::CodecChoice;
use cinch_evaluate::candidate::parse_encodings;
use cinch_evaluate::corpus::FieldPath;
use cinch_evaluate::measure::Watch;
use cinch_evaluate::split::SplitBy;
use cinch_evaluate::training::{TrainingRequest, TrainingResult, render, train};
use cinch_learn::deny::Deny;

use crate::Done;
use crate::arguments::{SplitChoice, TrainArguments};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{Output, Place, write_whole};
use crate::profile::read_dictionary;
use crate::progress::Bar;
use crate::sources;

/// Trains.
pub fn run(arguments: &TrainArguments) -> Result<Done, Failure> {
    if arguments.source.sources.is_empty() {
        let why = "name the payloads to learn from: files, folders, - or a live store";
        return Err(Failure::Argument(why.to_owned()));
    }
    let request = TrainingRequest {
        encodings: arguments.encoding.as_deref().map_or(Ok(Vec::new()), parse_encodings)?,
        codec: CodecChoice::parse(&arguments.codec)?,
        entities_min: arguments.entities_min,
        entity_field: arguments.entity.as_deref().map(FieldPath::parse).transpose()?,
        deny: Deny::new(&arguments.deny, !arguments.allow_personal)?,
        against: arguments.against.as_deref().map(read_dictionary).transpose()?,
        split_by: match arguments.split_by {
            None | Some(SplitChoice::Group) => SplitBy::Group,
            Some(SplitChoice::Order) => SplitBy::Order,
            Some(SplitChoice::None) => {
                let why = "a dictionary is judged on payloads that are held out: --split-by is \
                           group or order";
                return Err(Failure::Argument(why.to_owned()));
            }
        },
        seed: arguments.source.reading.seed,
        trained: Some(humantime::format_rfc3339_seconds(SystemTime::now()).to_string()),
    };
    let place = Place::File(arguments.output.clone());
    // A place that can't be written is told before the work, not after it.
    let mut output = Output::open(&place, arguments.force)?;
    let interrupt = Interrupt::handled();
    let mut bar = Bar::new(arguments.source.reading.progress);
    let (corpus, _) = sources::read(&arguments.source, &bar, &interrupt)?;
    let mut watch = Watch { progress: &mut bar, stop: &interrupt.stop };
    let result = train(&corpus, &request, &mut watch)?;
    bar.finish();
    let was_skipped = sources::tell_problems(&corpus);
    let written =
        result.dictionary.as_ref().filter(|_| result.decision.is_worth_it || arguments.force);
    if let Some(dictionary) = written {
        output.write(dictionary.bytes())?;
        output.finish()?;
    }
    tell(arguments, &result, written.is_some())?;
    let is_whole = written.is_some() && !was_skipped;
    Ok(if is_whole { Done::Whole } else { Done::Partly })
}

fn tell(
    arguments: &TrainArguments,
    result: &TrainingResult,
    is_written: bool,
) -> Result<(), Failure> {
    if arguments.json {
        let text = serde_json::to_string_pretty(result).unwrap_or_default() + "\n";
        return write_whole(&Place::Stdout, text.as_bytes());
    }
    let mut text = render(result);
    let file = arguments.output.display();
    match &result.facts {
        Some(facts) if is_written => text.push_str(&format!(
            "\nwrote {file}\n  cinch inspect --contents {file}\n  cinch pack --encoding {} \
             --codec {} --dictionary {file} FILE\n",
            facts.encoding, result.codec,
        )),
        Some(_) => text.push_str("Nothing was written; --force writes it all the same.\n"),
        None => text.push_str("Nothing was written.\n"),
    }
    write_whole(&Place::Stdout, text.as_bytes())
}
