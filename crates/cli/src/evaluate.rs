//! `cinch evaluate`: reads the payloads, has them measured, and writes what was found.
//!
//! Arguments are resolved before anything is read, so that a typo costs no minute.

use std::fs;
use std::io::{stdin, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anstream::{AutoStream, ColorChoice};
use cinch_core::codec::CodecChoice;
use cinch_core::schema::Schema;
use cinch_evaluate::against;
use cinch_evaluate::behind::{Behind, behind_named};
use cinch_evaluate::budget::{Budget, parse_seconds};
use cinch_evaluate::candidate::{Candidate, Wanted, parse_encodings};
use cinch_evaluate::capacity::Capacity;
use cinch_evaluate::evaluation::{Request, evaluate};
use cinch_evaluate::goal::{GOALS, Goal, goal_named};
use cinch_evaluate::link::Link;
use cinch_evaluate::measure::{self, Launch, TimedFrom, Watch};
use cinch_evaluate::memory::Memory;
use cinch_evaluate::model::{DictionaryFile, Evaluation, SchemaFile};
use cinch_evaluate::report::terminal::{self, TerminalOptions};
use cinch_evaluate::report::{REPORT_FORMATS, json};
use cinch_evaluate::split::SplitBy;

use crate::Done;
use crate::arguments::{EvaluateArguments, FromChoice, SplitChoice};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{Place, write_whole};
use crate::profile::{read_at_most, read_schema};
use crate::progress::Bar;
use crate::{published, sources};

/// Where the report goes unless another folder is named.
const REPORT_FOLDER: &str = "report";

/// The recommended profile's file name in the report folder.
const PROFILE_FILE: &str = "profile.toml";

/// The subcommand that tries candidates in a process of its own.
const WORKER_COMMAND: &str = "measure-worker";

/// Tries candidates for the evaluation that started this process.
pub fn serve() -> Result<Done, Failure> {
    measure::serve(stdin().lock(), stdout().lock())
        .map_err(|error| Failure::file("the evaluation's pipe", error))?;
    Ok(Done::Whole)
}

/// The largest file of an older run that is read, in bytes: hundreds of trials are below a
/// hundredth of it.
const AGAINST_BYTES_MAX: u64 = 64 << 20;

/// Evaluates. Candidates are tried in processes of `program`, if its path is known, and what is
/// recommended is remembered in the folder `memory`, if there is one.
pub fn run(
    arguments: &EvaluateArguments,
    program: Option<PathBuf>,
    memory: Option<PathBuf>,
) -> Result<Done, Failure> {
    let arguments = &published::fill_in(arguments)?;
    let goal = arguments.goal.as_deref().map_or(Ok(&GOALS[0]), goal)?;
    let budgets =
        arguments.budgets.iter().map(|text| Budget::parse(text)).collect::<Result<_, _>>()?;
    let baseline = arguments.baseline.as_deref().map(Candidate::parse).transpose()?;
    let wanted = Wanted {
        encodings: arguments.encodings.as_deref().map(parse_encodings).transpose()?,
        codecs: arguments.codecs.as_deref().map(CodecChoice::parse_list).transpose()?,
        all: arguments.all,
        portable: arguments.portable,
        no_schema: arguments.no_schema,
        no_dictionary: arguments.no_dictionary,
    };
    let time_seconds = parse_seconds(&arguments.time).ok_or_else(|| {
        Failure::Argument(format!("{:?} is no time; write 60s or 2m", arguments.time))
    })?;
    let link = arguments.link.as_deref().map(Link::parse).transpose()?;
    let capacity = capacity(arguments)?;
    let behind = behind(&arguments.behind)?;
    let against = arguments.against.as_deref().map(older).transpose()?;
    let seed = arguments.source.reading.seed;
    let mut schemas = schemas(&arguments.schema)?;
    if let (Some(name), Some(encodings), false) =
        (&arguments.published, &arguments.encodings, arguments.no_schema)
    {
        schemas = published::schemas(name, seed, encodings, &schemas)?;
    }
    let interrupt = Interrupt::handled();
    let mut bar = Bar::new(arguments.source.reading.progress);
    let (corpus, name) = match &arguments.published {
        Some(name) => published::corpus(name, seed)?,
        None => sources::read(&arguments.source, &bar, &interrupt)?,
    };
    let request = Request {
        name: &name,
        goal,
        budgets,
        baseline,
        wanted,
        from: match arguments.from {
            None | Some(FromChoice::Text) => TimedFrom::Text,
            Some(FromChoice::Value) => TimedFrom::Value,
        },
        beat_baseline: arguments.beat_baseline,
        split_by: match arguments.split_by {
            None | Some(SplitChoice::Group) => Some(SplitBy::Group),
            Some(SplitChoice::Order) => Some(SplitBy::Order),
            Some(SplitChoice::None) => None,
        },
        time_seconds,
        seed,
        launch: program
            .map(|program| Launch { program, arguments: vec![WORKER_COMMAND.to_owned()] }),
        link,
        capacity,
        behind,
        schemas,
        against,
        memory: memory.map(|folder| Memory { folder, forgets: arguments.forget }),
    };
    let mut watch = Watch { progress: &mut bar, stop: &interrupt.stop };
    let evaluation = evaluate(&corpus, &request, &mut watch)?;
    bar.finish();
    let was_skipped = sources::tell_problems(&corpus);
    let has_failed = evaluation.trials.iter().any(|trial| trial.failures > 0);
    write(arguments, &evaluation)?;
    let is_partly = was_skipped || has_failed || evaluation.run.interrupted;
    Ok(if is_partly { Done::Partly } else { Done::Whole })
}

fn goal(name: &str) -> Result<&'static Goal, Failure> {
    goal_named(name).ok_or_else(|| {
        let goals: Vec<_> =
            GOALS.iter().map(|goal| format!("{} ({})", goal.name, goal.summary)).collect();
        Failure::Argument(format!("no goal is called {name:?}; there are {}", goals.join(", ")))
    })
}

/// What the capacity model is asked, where a rate and a disk are given; clap sees to both.
fn capacity(arguments: &EvaluateArguments) -> Result<Option<Capacity>, Failure> {
    let (Some(rate), Some(disk)) = (&arguments.rate, &arguments.disk) else { return Ok(None) };
    let mut capacity = Capacity::parse(rate, disk)?;
    if let Some(overhead) = &arguments.overhead {
        capacity = capacity.with_overhead(overhead)?;
    }
    if let Some(growth) = &arguments.growth {
        capacity = capacity.with_growth(growth)?;
    }
    if let Some(price) = &arguments.price {
        capacity = capacity.with_price(price)?;
    }
    Ok(Some(capacity))
}

/// The schemas of these files, at most one of each language.
fn schemas(files: &[PathBuf]) -> Result<Vec<Arc<Schema>>, Failure> {
    let mut schemas: Vec<Arc<Schema>> = Vec::new();
    for file in files {
        let schema = read_schema(file)?;
        if schemas.iter().any(|other| other.language() == schema.language()) {
            let why = format!("--schema: two files in {}; name one", schema.language().name());
            return Err(Failure::Argument(why));
        }
        schemas.push(schema);
    }
    Ok(schemas)
}

/// The stores of these names, each once.
fn behind(names: &[String]) -> Result<Vec<&'static Behind>, Failure> {
    let mut stores = Vec::new();
    for name in names {
        let store = behind_named(name)?;
        if !stores.contains(&store) {
            stores.push(store);
        }
    }
    Ok(stores)
}

/// The older run of this file.
fn older(path: &Path) -> Result<Evaluation, Failure> {
    let bytes = read_at_most(path, AGAINST_BYTES_MAX)?;
    let name = || path.display().to_string();
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::Argument(format!("{}: an older run is UTF-8 text", name())))?;
    against::read(&text).map_err(|error| Failure::Against { path: name(), error })
}

/// Writes what was asked for: files first, so that what the terminal says of them is true.
fn write(arguments: &EvaluateArguments, evaluation: &Evaluation) -> Result<(), Failure> {
    let folder: Option<PathBuf> = match (&arguments.report, &arguments.json) {
        (Some(folder), _) => Some(folder.clone()),
        (None, None) => Some(PathBuf::from(REPORT_FOLDER)),
        (None, Some(_)) => None,
    };
    let recommended = &evaluation.recommended;
    let mut dictionaries: Vec<&DictionaryFile> = recommended.dictionaries.iter().collect();
    let profile = match &recommended.profile_by_class {
        Some(profile) if arguments.by_class => {
            dictionaries.extend(&recommended.dictionaries_by_class);
            profile.as_bytes()
        }
        _ => recommended.profile.as_bytes(),
    };
    if let Some(folder) = &folder {
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
        for format in REPORT_FORMATS {
            let place = Place::File(folder.join(format.file_name));
            write_whole(&place, (format.render)(evaluation).as_bytes())?;
        }
        write_profile(&dictionaries, &evaluation.schemas, profile, &folder.join(PROFILE_FILE))?;
    }
    if let Some(path) = &arguments.profile {
        let named = |file: &&SchemaFile| {
            let name = format!("schema = \"{}\"", file.file_name);
            profile.windows(name.len()).any(|window| window == name.as_bytes())
        };
        let schemas: Vec<SchemaFile> = evaluation.schemas.iter().filter(named).cloned().collect();
        write_profile(&dictionaries, &schemas, profile, path)?;
    }
    let json_place = arguments.json.as_deref().map(Place::of);
    if let Some(place) = &json_place {
        write_whole(place, json::render(evaluation).as_bytes())?;
    }
    if json_place == Some(Place::Stdout) {
        return Ok(());
    }
    let written = arguments.profile.clone().or(folder.as_ref().map(|f| f.join(PROFILE_FILE)));
    let options = TerminalOptions {
        width: terminal_size::terminal_size().map_or(100, |(width, _)| width.0.into()).min(120),
        color: AutoStream::choice(&stdout()) != ColorChoice::Never,
        next_steps: next_steps(arguments, folder.as_deref(), written.as_deref()),
    };
    write_whole(&Place::Stdout, terminal::render(evaluation, &options).as_bytes())
}

/// Writes a profile, after the dictionaries and schemas that it names, which lie beside it.
fn write_profile(
    dictionaries: &[&DictionaryFile],
    schemas: &[SchemaFile],
    profile: &[u8],
    path: &Path,
) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new(""));
    for dictionary in dictionaries {
        write_whole(&Place::File(folder.join(&dictionary.file_name)), &dictionary.bytes)?;
    }
    for schema in schemas {
        write_whole(&Place::File(folder.join(&schema.file_name)), &schema.bytes)?;
    }
    write_whole(&Place::File(path.to_owned()), profile)
}

/// What the user can do with the result.
fn next_steps(
    arguments: &EvaluateArguments,
    folder: Option<&Path>,
    profile: Option<&Path>,
) -> Vec<String> {
    let mut steps = Vec::new();
    if let Some(folder) = folder {
        steps.push(format!("open {}", folder.join("index.html").display()));
    }
    if let Some(profile) = profile {
        let profile = profile.display();
        if !arguments.source.sources.is_empty() {
            let sources = sources::shown(&arguments.source.sources);
            steps.push(format!("cinch estimate {sources} --profile {profile}"));
        }
        steps.push(format!("cinch pack --profile {profile} FILE"));
    }
    steps
}
