//! What is measured under the load of `ingest.rs`: our ingress, the baselines of the article's
//! figures, and rsyslog. Each is a process of its own, so that its processor time and memory are
//! its alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cinch_ingest::config::Protocol;

use super::coupled::Compressor;
use crate::failure::Outcome;

/// The lines of a CAL label, which our files have for each connection.
const LABEL_LINES: u64 = 5;

/// VID and heartbeat metrics, as the article has them.
const METRICS: &str = "
[[metric]]
name = \"vid\"
class = \"E\"
type = \"VID\"
key = [\"pool\", \"name\"]
value = \"data.n\"
[[metric]]
name = \"heartbeat\"
class = \"H\"
key = [\"pool\", \"host\", \"name\"]
value = \"data.load\"
";

/// What a contestant is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// The ingress of this binary of the bench, with these settings of the pool.
    Ours { binary: PathBuf, pool: &'static str },
    /// The same work in threads that do everything for a read before the next one.
    Coupled { compressor: Compressor, pool: &'static str },
    /// rsyslog, with what its output is compressed by.
    Rsyslog { driver: &'static str },
}

/// What is measured.
#[derive(Debug, Clone)]
pub(super) struct Contestant {
    pub(super) name: String,
    pub(super) protocol: Protocol,
    pub(super) kind: Kind,
}

/// Where a server is to listen, and where its files go.
pub(super) struct Place<'a> {
    pub(super) folder: &'a Path,
    pub(super) port: u16,
    pub(super) status: u16,
}

/// Every contestant; ours comes first. Behind it comes that of another binary, if there is one.
pub(super) fn all(beside: Option<&Path>) -> Outcome<Vec<Contestant>> {
    let own = std::env::current_exe()?;
    let ours = |name: &str, protocol, binary: &Path, pool| Contestant {
        name: name.to_owned(),
        protocol,
        kind: Kind::Ours { binary: binary.to_owned(), pool },
    };
    let coupled = |name: &str, compressor, pool| Contestant {
        name: name.to_owned(),
        protocol: Protocol::Cal,
        kind: Kind::Coupled { compressor, pool },
    };
    let rsyslog = |name: &str, driver| Contestant {
        name: name.to_owned(),
        protocol: Protocol::Lines,
        kind: Kind::Rsyslog { driver },
    };
    let mut all = vec![ours("cinch, CAL and metrics", Protocol::Cal, &own, "")];
    all.extend(beside.map(|binary| {
        let name = format!("cinch of {}, CAL and metrics", binary.display());
        ours(&name, Protocol::Cal, binary, "")
    }));
    all.extend([
        ours("cinch, CAL, a batch a read", Protocol::Cal, &own, "batch = 1"),
        ours("cinch, lines", Protocol::Lines, &own, ""),
        coupled("coupled, zstd 1", Compressor::Zstd(1), ""),
        coupled("coupled, zlib 1", Compressor::Zlib(1), ""),
        coupled("coupled, zlib 6", Compressor::Zlib(6), ""),
        coupled("coupled, zlib 6, a batch a read", Compressor::Zlib(6), "batch = 1"),
        rsyslog("rsyslog, gzip 1", "zlib"),
        rsyslog("rsyslog, zstd", "zstd"),
    ]);
    Ok(all)
}

impl Contestant {
    /// Whether it is of this project, and ends with its standard input.
    pub(super) fn is_ours(&self) -> bool {
        !matches!(self.kind, Kind::Rsyslog { .. })
    }

    /// The lines that its files have for each connection beside those that were sent.
    pub(super) fn lines_a_connection(&self) -> u64 {
        match (&self.kind, self.protocol) {
            (Kind::Ours { .. }, Protocol::Cal) => LABEL_LINES,
            _ => 0,
        }
    }

    /// How it is started.
    pub(super) fn command(&self, place: &Place) -> Outcome<Command> {
        match &self.kind {
            Kind::Ours { binary, pool } => {
                let mut command = Command::new(binary);
                command.arg("ingest-serve").arg(configuration(self.protocol, pool, place)?);
                Ok(command)
            }
            Kind::Coupled { compressor, pool } => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg("ingest-coupled").arg(configuration(self.protocol, pool, place)?);
                command.arg(compressor.to_string());
                Ok(command)
            }
            Kind::Rsyslog { driver } => rsyslog(driver, place),
        }
    }
}

/// Writes a configuration of ours whose default pool has these settings.
pub(super) fn configuration(protocol: Protocol, pool: &str, place: &Place) -> Outcome<PathBuf> {
    let (name, of_listener, metrics) = match protocol {
        Protocol::Cal => ("cal", "", METRICS),
        _ => ("lines", "pool = \"load\"", ""),
    };
    let (status, port) = (place.status, place.port);
    let text = format!(
        "status = \"127.0.0.1:{status}\"\n[spill]\ndirectory = {:?}\n\
         [sink.files]\nkind = \"filer\"\ndirectory = {:?}\n[pool.default]\n{pool}\n\
         [[listener]]\nprotocol = \"{name}\"\naddress = \"127.0.0.1:{port}\"\n{of_listener}\n\
         {metrics}",
        place.folder.join("spill"),
        place.folder.join("out")
    );
    let file = place.folder.join("ingest.toml");
    fs::write(&file, text)?;
    Ok(file)
}

/// Lines that start with a number are no lengths, and as many connections may wait to be accepted
/// as the load opens at once.
fn rsyslog(driver: &str, place: &Place) -> Outcome<Command> {
    let out = place.folder.join("out");
    fs::create_dir(&out)?;
    let ending = if driver == "zstd" { "zst" } else { "gz" };
    let (folder, port) = (place.folder, place.port);
    let queue = "queue.type=\"FixedArray\" queue.size=\"200000\" \
                 queue.dequeueBatchSize=\"4096\" queue.workerThreads=\"2\" \
                 queue.timeoutShutdown=\"60000\"";
    let text = format!(
        "module(load=\"imptcp\" threads=\"2\")\n\
         module(load=\"builtin:omfile\" compression.driver=\"{driver}\")\n\
         global(workDirectory={folder:?} net.enableDNS=\"off\")\n\
         input(type=\"imptcp\" port=\"{port}\" address=\"127.0.0.1\" ruleset=\"out\" \
         supportOctetCountedFraming=\"off\" socketBacklog=\"4096\")\n\
         template(name=\"raw\" type=\"string\" string=\"%rawmsg%\\n\")\n\
         ruleset(name=\"out\" {queue}) {{\n\
         action(type=\"omfile\" file={:?} template=\"raw\" zipLevel=\"1\" veryRobustZip=\"off\" \
         ioBufferSize=\"256k\" asyncWriting=\"on\" flushOnTXEnd=\"off\")\n}}\n",
        out.join(format!("log.{ending}"))
    );
    let config = place.folder.join("rsyslog.conf");
    fs::write(&config, text)?;
    let mut command = Command::new("rsyslogd");
    command.args(["-n", "-f"]).arg(config).arg("-i").arg(place.folder.join("pid"));
    Ok(command)
}
