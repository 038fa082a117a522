//! The published figures, through real servers that this program starts itself: what a write costs
//! the replication stream and the store before, during and after a rollout; what selective writes
//! cost; and what menus cost in Redis, also over a link of a real network's speed.
//!
//! `cargo run --release -p cinch-stores --features all --example figures -- --help`. Sizes and
//! bytes are exact; times are of one machine and are printed beside each other for their ratio
//! only. Each row of a table is measured by a process of its own, whose CPU time and memory are the
//! client's and nobody else's.

mod caller;
mod edits;
mod launch;
mod link;
mod menus;
mod modes;
mod mongodb;
mod postgres;
mod redis;
mod selective;
mod tables;
mod traffic;
mod wire;

use std::error::Error;
use std::process::ExitCode;
use std::thread;

use cinch_integration::Folder;
use clap::{Parser, Subcommand};

use launch::Launcher;
use tables::Report;
use traffic::Traffic;

/// The published figures of carts and menus, measured.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Bytes of the replication stream and average object size, by mode: Redis, PostgreSQL, and
    /// documents behind MongoDB's protocol
    Replication {
        #[command(flatten)]
        traffic: Traffic,
        /// How many keys the payloads are spread over; each is written again and again
        #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
        keys: u64,
    },
    /// Selective writes: the bytes of `$set` of what changed, against whole documents
    Selective {
        #[command(flatten)]
        traffic: Traffic,
    },
    /// SET and GET of menus against Redis: none, Snappy, LZ4 and a profile
    Menus {
        #[command(flatten)]
        traffic: Traffic,
        /// Measure over a link of this rate as well, such as 1gbit; needs root
        #[arg(long, value_name = "RATE")]
        link: Option<String>,
    },
    /// What a row is measured by
    #[command(hide = true)]
    Call(caller::Calls),
}

impl What {
    fn prints_json(&self) -> bool {
        match self {
            What::Replication { traffic, .. }
            | What::Selective { traffic }
            | What::Menus { traffic, .. } => traffic.json,
            What::Call(_) => false,
        }
    }
}

fn main() -> ExitCode {
    let what = Arguments::parse().what;
    let result = match what {
        What::Call(calls) => caller::run(&calls),
        what => {
            // Whoever interrupts it ends the process that measures, which ends in an error here, so
            // that servers and links are taken down on the way out.
            if let Err(error) = ctrlc::set_handler(|| eprintln!("figures: interrupted")) {
                eprintln!("figures: Ctrl-C leaves servers behind: {error}");
            }
            measured(what)
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("figures: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures on a thread, because the servers are those of the tests: one that is missing panics
/// with the line that says what to install, and that line is all that is to be seen of it.
fn measured(what: What) -> Result<(), Box<dyn Error>> {
    std::panic::set_hook(Box::new(|_| {}));
    if std::env::var_os("CINCH_BINARY").is_none() {
        eprintln!("figures: cargo builds cinch first; CINCH_BINARY=FILE names one that is there");
    }
    let prints_json = what.prints_json();
    let report = thread::spawn(move || report(what).map_err(|error| error.to_string())).join();
    let report = report.map_err(|panic| match panic.downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => panic.downcast_ref::<&str>().copied().unwrap_or("it went wrong").to_owned(),
    })??;
    match prints_json {
        true => println!("{}", serde_json::to_string_pretty(&report.json())?),
        false => print!("{}", report.text()),
    }
    Ok(())
}

fn report(what: What) -> Result<Report, Box<dyn Error>> {
    let folder = Folder::new();
    let launcher = Launcher::new(std::env::current_exe()?, folder.path().to_owned());
    match what {
        What::Replication { traffic, keys } => {
            let replay = traffic.prepared(&traffic::CARTS, &folder)?;
            let methods = modes::methods(&replay.profile);
            let mut report = Report::new(replay.facts(Some(keys)));
            report.tables.push(redis::table(&launcher, &replay, keys, &methods)?);
            report.tables.extend(postgres::tables(&launcher, &replay, keys, &methods)?);
            report.tables.push(mongodb::table(&launcher, &replay, keys, &methods)?);
            Ok(report)
        }
        What::Selective { traffic } => {
            let traffic = traffic.with_count(selective::COUNT);
            let replay = traffic.prepared(&traffic::CARTS, &folder)?;
            let mut report = Report::new(replay.facts(None));
            report.tables.extend(selective::tables(&replay, &folder)?);
            Ok(report)
        }
        What::Menus { traffic, link } => {
            // Before anything that takes long: without root there is no link.
            let link = link.as_deref().map(link::Link::start).transpose()?;
            let replay = traffic.prepared(&traffic::MENUS, &folder)?;
            let mut report = Report::new(replay.facts(None));
            report.tables.push(menus::table(&launcher, &replay, None)?);
            if let Some(link) = &link {
                report.tables.push(menus::table(&launcher, &replay, Some(link))?);
            }
            Ok(report)
        }
        // It was handled before, since it measures and doesn't start anything.
        What::Call(calls) => {
            caller::run(&calls)?;
            Ok(Report::default())
        }
    }
}
