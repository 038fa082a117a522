//! `[proxy.redis]` of the configuration file: where to listen, whom to connect to, and the bounds.
//!
//! They hold from the start of the process to its end. What belongs to namespaces, above it in the
//! same file, is followed while the process runs.

use std::path::{Path, PathBuf};
use std::thread;

use serde::Deserialize;

use crate::address::Address;
use crate::session::Limits;

/// The settings of a sidecar.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Where clients connect: `HOST:PORT` or `unix:/PATH`.
    pub listen: Vec<String>,
    /// The server.
    pub upstream: Option<String>,
    /// Whether clients share connections to the server.
    pub upstream_connections: Upstreams,
    /// Where `/metrics` and `/healthz` are, `HOST:PORT`; nowhere if it is not set.
    pub status: Option<String>,
    /// How many event loops; 0 stands for one for each processor.
    pub workers: usize,
    /// The most connections of clients.
    pub connections_max: usize,
    /// The most replies that one client may be owed. Where it is reached, its commands wait.
    pub pipeline_max: usize,
    /// The longest command that is held to pack its values, in bytes.
    pub request_bytes_max: usize,
    /// The longest reply that is held to unpack its values, in bytes.
    pub reply_bytes_max: usize,
    /// Values of at least this many bytes are packed off the event loop.
    pub pack_elsewhere_bytes: usize,
    /// The most commands whose values are packed there; above, values stay plain.
    pub packing_max: usize,
    /// How long connections may take to end when the sidecar stops, in milliseconds.
    pub drain_ms: u64,
    /// How long a connection to the server may take, in milliseconds.
    pub connect_ms: u64,
    /// What becomes of commands that change a packed value inside.
    pub change_inside: ChangeInside,
    /// Scripts that may work on keys of namespaces, by SHA-1 or by function name.
    pub scripts: Vec<String>,
    /// TLS towards clients.
    pub tls: Option<ServerTls>,
    /// TLS towards the server.
    pub upstream_tls: Option<ClientTls>,
}

/// Whose a connection to the server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Upstreams {
    /// Each client has one.
    #[default]
    Own,
    /// The clients of an event loop share one, until they do what a connection remembers.
    Shared,
}

/// What becomes of `APPEND`, `SETRANGE`, `SETBIT` and `BITFIELD` on packed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeInside {
    /// They are refused.
    #[default]
    Refuse,
    /// They are done on the payload, which is stored if nobody has changed it meanwhile.
    Rewrite,
}

/// TLS towards clients. Paths are relative to the configuration file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerTls {
    /// The certificate chain, PEM.
    pub certificate: PathBuf,
    /// Its key, PEM.
    pub key: PathBuf,
    /// Where it is set, clients need a certificate that this authority has signed.
    pub client_ca: Option<PathBuf>,
}

/// TLS towards the server. Paths are relative to the configuration file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientTls {
    /// The authority of its certificate, PEM; those of the system if it is not set.
    pub ca: Option<PathBuf>,
    /// The certificate to show to it, PEM.
    pub certificate: Option<PathBuf>,
    /// Its key, PEM.
    pub key: Option<PathBuf>,
    /// The name in its certificate, where that is not the host's.
    pub server_name: Option<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        let limits = Limits::default();
        Settings {
            listen: Vec::new(),
            upstream: None,
            upstream_connections: Upstreams::Own,
            status: None,
            workers: 0,
            connections_max: 10_000,
            pipeline_max: limits.pipeline_max,
            request_bytes_max: limits.request_bytes_max,
            reply_bytes_max: limits.reply_bytes_max,
            pack_elsewhere_bytes: limits.pack_elsewhere_bytes,
            packing_max: 64,
            drain_ms: 10_000,
            connect_ms: 2_000,
            change_inside: ChangeInside::Refuse,
            scripts: Vec::new(),
            tls: None,
            upstream_tls: None,
        }
    }
}

/// A setting that can't be used: its path below `[proxy.redis]`, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SettingError {
    /// The setting.
    pub setting: &'static str,
    /// What is wrong.
    pub message: String,
}

impl Settings {
    /// Makes paths in it relative to the folder of the configuration file.
    #[must_use]
    pub fn beside(mut self, folder: &Path) -> Settings {
        let mut files: Vec<&mut PathBuf> = Vec::new();
        if let Some(tls) = &mut self.tls {
            files.extend([&mut tls.certificate, &mut tls.key]);
            files.extend(&mut tls.client_ca);
        }
        if let Some(tls) = &mut self.upstream_tls {
            files.extend(tls.ca.iter_mut().chain(&mut tls.certificate).chain(&mut tls.key));
        }
        for file in files {
            *file = folder.join(&*file);
        }
        self
    }

    /// Where to listen.
    ///
    /// # Errors
    /// [`SettingError`] if that is nowhere, or no address.
    pub fn listen(&self) -> Result<Vec<Address>, SettingError> {
        let wrong = |message| SettingError { setting: "listen", message };
        if self.listen.is_empty() {
            let message = "where is the sidecar to listen? --listen HOST:PORT or [proxy.redis] \
                           listen says it";
            return Err(wrong(message.to_owned()));
        }
        self.listen.iter().map(|text| text.parse().map_err(wrong)).collect()
    }

    /// The server.
    ///
    /// # Errors
    /// [`SettingError`] if there is none, or it is no address.
    pub fn upstream(&self) -> Result<Address, SettingError> {
        let wrong = |message| SettingError { setting: "upstream", message };
        let Some(text) = &self.upstream else {
            let message = "where is the server? --upstream HOST:PORT or [proxy.redis] upstream \
                           says it";
            return Err(wrong(message.to_owned()));
        };
        text.parse().map_err(wrong)
    }

    /// What holds for every session.
    ///
    /// # Errors
    /// [`SettingError`] if a bound is 0, so that nothing could ever pass.
    pub fn limits(&self) -> Result<Limits, SettingError> {
        let bounds = [
            ("connections_max", self.connections_max),
            ("pipeline_max", self.pipeline_max),
            ("request_bytes_max", self.request_bytes_max),
            ("reply_bytes_max", self.reply_bytes_max),
        ];
        if let Some((setting, _)) = bounds.iter().find(|(_, bound)| *bound == 0) {
            let message = format!("{setting} is 0, at least 1 is needed");
            return Err(SettingError { setting, message });
        }
        Ok(Limits {
            pipeline_max: self.pipeline_max,
            request_bytes_max: self.request_bytes_max,
            reply_bytes_max: self.reply_bytes_max,
            pack_elsewhere_bytes: self.pack_elsewhere_bytes,
            rewrites: self.change_inside == ChangeInside::Rewrite,
            scripts: self.scripts.iter().map(|name| name.to_lowercase()).collect(),
        })
    }

    /// How many event loops.
    pub fn workers(&self) -> usize {
        match self.workers {
            0 => thread::available_parallelism().map_or(1, usize::from),
            workers => workers,
        }
    }
}

#[cfg(test)]
mod tests {
    use cinch_rollout::settings::Sources;

    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        let sources = Sources { text: text.to_owned(), ..Sources::default() };
        sources.redis_proxy().map_err(|error| error.to_string())
    }

    #[test]
    fn the_file_in_deploy_names_every_setting_with_its_default() {
        let text = include_str!("../../../deploy/cinch.toml");
        let found = read(text).unwrap();
        let default = Settings::default();
        assert_eq!(
            format!("{found:?}"),
            format!(
                "{:?}",
                Settings {
                    listen: found.listen.clone(),
                    upstream: found.upstream.clone(),
                    status: found.status.clone(),
                    ..default
                }
            )
        );
        let refusal = read("[proxy.redis]\nnonsense = 1\n").unwrap_err();
        let names = refusal.split("expected one of").nth(1).unwrap();
        for name in names.split('`').skip(1).step_by(2) {
            let is_named = text.contains(&format!("\n{name} = "));
            assert!(is_named || text.contains(&format!("\n# {name} = ")), "{name}");
        }
    }

    #[test]
    fn a_variable_overrides_a_setting() {
        let variable = |value: &str| Sources {
            text: "[proxy.redis]\nworkers = 3\n".to_owned(),
            variables: vec![("CINCH_PROXY__REDIS__WORKERS".to_owned(), value.to_owned())],
            ..Sources::default()
        };
        assert_eq!(variable("5").redis_proxy::<Settings>().unwrap().workers, 5);
        let error = variable("many").redis_proxy::<Settings>().unwrap_err().to_string();
        assert!(error.starts_with("CINCH_PROXY__REDIS__WORKERS=many"), "{error}");
    }
}
