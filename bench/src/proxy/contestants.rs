//! The processes of the bench: Redis, twemproxy and the sidecar, each on its own port. They are
//! made anew for every load, so that none finds what another one left behind.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::link::Link;
use crate::failure::Outcome;
use crate::process::{Server, cpu_s, free_port, resident_mb};

pub(super) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// What stands between clients and the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Direct,
    Twemproxy,
    /// The sidecar with a connection to the server for each client.
    Own,
    /// The sidecar whose clients share one for each event loop.
    Shared,
}

impl Way {
    pub(super) fn name(self) -> &'static str {
        match self {
            Way::Direct => "direct",
            Way::Twemproxy => "twemproxy",
            Way::Own => "cinch",
            Way::Shared => "cinch, shared",
        }
    }
}

/// A process that runs, and where it listens.
pub(super) struct Running {
    server: Server,
    pub(super) address: SocketAddr,
    _folder: TempDir,
}

impl Running {
    fn start(
        folder: TempDir,
        address: SocketAddr,
        command: Command,
        name: &str,
    ) -> Outcome<Running> {
        let server = Server::start(command, folder.path(), address)
            .map_err(|error| format!("{name}: {error}"))?;
        Ok(Running { server, address, _folder: folder })
    }

    /// Processor seconds that it has used.
    pub(super) fn cpu_s(&self) -> Outcome<f64> {
        cpu_s(self.server.0.id())
    }

    /// The most memory that it has had.
    pub(super) fn resident_mb(&self) -> Outcome<f64> {
        resident_mb(self.server.0.id())
    }
}

/// A Redis that keeps nothing on disk.
pub(super) fn redis(at: IpAddr) -> Outcome<Running> {
    let folder = tempfile::tempdir()?;
    let address = SocketAddr::new(at, free_port()?);
    let mut command = Command::new("redis-server");
    command.args(["--bind", &at.to_string(), "--port", &address.port().to_string()]);
    // Nobody but the other end of a link can reach an address that is not loopback's.
    command.args(["--save", "", "--appendonly", "no", "--protected-mode", "no"]);
    command.current_dir(folder.path());
    Running::start(folder, address, command, "redis-server")
}

/// A way to this server; nothing for the direct one.
pub(super) fn way(way: Way, upstream: SocketAddr, settings: &str) -> Outcome<Option<Running>> {
    match way {
        Way::Direct => Ok(None),
        Way::Twemproxy => twemproxy(upstream).map(Some),
        Way::Own => sidecar(upstream, settings, "own", None).map(Some),
        Way::Shared => sidecar(upstream, settings, "shared", None).map(Some),
    }
}

fn twemproxy(upstream: SocketAddr) -> Outcome<Running> {
    let folder = tempfile::tempdir()?;
    let address = SocketAddr::new(LOOPBACK, free_port()?);
    let config = folder.path().join("nutcracker.yml");
    fs::write(
        &config,
        format!(
            "pool:\n  listen: {address}\n  hash: fnv1a_64\n  distribution: ketama\n  \
             redis: true\n  auto_eject_hosts: false\n  servers:\n   - {upstream}:1\n"
        ),
    )?;
    let mut command = Command::new("nutcracker");
    command.arg("-c").arg(&config).args(["-s", &free_port()?.to_string(), "-a", "127.0.0.1"]);
    Running::start(folder, address, command, "nutcracker (Debian's package of that name)")
}

/// A sidecar of this program's build, at this end of a link or on loopback.
pub(super) fn sidecar(
    upstream: SocketAddr,
    settings: &str,
    connections: &str,
    link: Option<&Link>,
) -> Outcome<Running> {
    let folder = tempfile::tempdir()?;
    let address = SocketAddr::new(link.map_or(LOOPBACK, Link::there), free_port()?);
    let config = folder.path().join("cinch.toml");
    fs::write(
        &config,
        format!(
            "{settings}\n[proxy.redis]\nlisten = [\"{address}\"]\nupstream = \"{upstream}\"\n\
             upstream_connections = \"{connections}\"\n"
        ),
    )?;
    // Another build of the sidecar takes the same arguments.
    let mut command = match std::env::var_os("CINCH_SIDECAR").map(PathBuf::from) {
        Some(program) => program_at(&program, "proxy-serve", link),
        None => own_program("proxy-serve", link)?,
    };
    command.arg(&config);
    Running::start(folder, address, command, "the sidecar")
}

/// A hidden command of this program, perhaps at the far end of a link.
pub(super) fn own_program(name: &str, link: Option<&Link>) -> Outcome<Command> {
    Ok(program_at(&std::env::current_exe()?, name, link))
}

fn program_at(program: &Path, name: &str, link: Option<&Link>) -> Command {
    let mut command = match link {
        Some(link) => link.command(program),
        None => Command::new(program),
    };
    command.arg(name);
    command
}

/// Runs a program of Redis' own to its end: what it says.
pub(super) fn said(program: &str, arguments: &[&str]) -> Outcome<String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{program}: {error}; it is in Debian's redis-tools"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// A file beside others of a step.
pub(super) fn written(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> Outcome<String> {
    let path = folder.join(name);
    fs::write(&path, text)?;
    Ok(path.display().to_string())
}
