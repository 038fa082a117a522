//! `cinch proxy`: stands between clients and a server until it is told to stop. The sidecar itself
//! is the library's; here are its configuration, its signals and its lines.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use cinch_proxy::settings::Settings;
use cinch_proxy::{Sidecar, SidecarError};
use cinch_rollout::live::Live;
use cinch_rollout::reload::{PERIOD_MS_DEFAULT, Reloaded, Reloader};
use cinch_rollout::settings::{Configuration, Slots, Sources};

use crate::Done;
use crate::arguments::{ProxyArguments, ProxyCommand, RedisArguments};
use crate::failure::Failure;
use crate::ingest::signals::Signals;
use crate::walk::schema_in_words;

/// How often it is looked whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// The name of this process where neither the file nor a variable says one.
const PROCESS: &str = "proxy";

/// Stands between clients and a server.
pub fn run(arguments: &ProxyArguments, variables: Vec<(String, String)>) -> Result<Done, Failure> {
    match &arguments.command {
        ProxyCommand::Redis(arguments) => redis(arguments, variables),
    }
}

fn redis(arguments: &RedisArguments, variables: Vec<(String, String)>) -> Result<Done, Failure> {
    let sources = Sources::read(&arguments.config, variables, PROCESS.to_owned())?;
    let sources = sources.with_schemas(schema_in_words);
    let configuration = sources.configuration()?;
    let folder = arguments.config.parent().unwrap_or(Path::new(""));
    let mut settings: Settings = sources.redis_proxy::<Settings>()?.beside(folder);
    if !arguments.listen.is_empty() {
        settings.listen.clone_from(&arguments.listen);
    }
    settings.upstream = arguments.upstream.clone().or(settings.upstream);
    settings.status = arguments.status.clone().or(settings.status);
    let wrong = |error: SidecarError| match error {
        SidecarError::Setting(error) => {
            sources.wrong(&["proxy", "redis", error.setting], error.message).into()
        }
        error => Failure::Sidecar(error),
    };
    check(&settings).map_err(wrong)?;
    tell_warnings(&configuration);
    if arguments.check {
        return Ok(Done::Whole);
    }
    let signals = Signals::handled();
    let live = Arc::new(Live::new(configuration));
    let sidecar = Sidecar::start(&settings, Arc::clone(&live)).map_err(wrong)?;
    for address in sidecar.addresses() {
        eprintln!("cinch: listening on {address}");
    }
    if let Some(address) = sidecar.status_address() {
        eprintln!("cinch: status on http://{address}/metrics");
    }
    let reloader =
        Reloader::start(live, sources, PERIOD_MS_DEFAULT, |reloaded: Reloaded| match reloaded {
            Ok(generation) => eprintln!("cinch: configuration {generation} holds"),
            Err(error) => eprintln!("cinch: the configuration stays as it was: {error}"),
        });
    while !signals.stop() {
        thread::sleep(TICK);
    }
    drop(reloader);
    let totals = sidecar.stop();
    let (commands, connections) = (totals.commands, totals.connections);
    eprintln!(
        "cinch: {commands} commands on {connections} connections, {} refused, {} connections cut",
        totals.refused, totals.cut
    );
    Ok(if totals.cut == 0 { Done::Whole } else { Done::Partly })
}

/// What can be found wrong without a socket.
fn check(settings: &Settings) -> Result<(), SidecarError> {
    settings.listen()?;
    settings.upstream()?;
    settings.limits()?;
    Ok(())
}

fn tell_warnings(configuration: &Configuration) {
    for warning in &configuration.warnings {
        eprintln!("cinch: warning: {warning}");
    }
    let two = configuration.namespaces.values().filter(|found| found.slots() == Slots::Two);
    for namespace in two {
        let name = &namespace.name;
        eprintln!("cinch: namespace {name} has two slots, so that its keys pass untouched here");
    }
    if configuration.namespaces.values().all(|found| found.slots() == Slots::Two) {
        eprintln!("cinch: warning: no namespace has one slot, so that nothing is packed");
    }
}
