//! Following a configuration file while the process runs.
//!
//! A thread looks at the file again and again instead of asking the kernel to tell it: what
//! Kubernetes mounts is a chain of links that are exchanged, editors replace files, and network
//! file systems tell nobody. Reading a few kilobytes a second costs nothing that could be measured.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::live::Live;
use crate::settings::{ConfigurationError, Sources};

/// How often the file is looked at unless somebody says otherwise, in milliseconds.
pub const PERIOD_MS_DEFAULT: u64 = 1_000;

/// What became of a change.
pub type Reloaded = Result<u64, ConfigurationError>;

/// Follows a file until it is dropped.
pub struct Reloader {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Reloader {
    /// Follows the file that `sources` were read from, every `period_ms`. Each change is taken by
    /// `live`, whole or not at all, and told to `tell` with the new generation or with what is
    /// wrong; the same mistake is told once.
    pub fn start(
        live: Arc<Live>,
        sources: Sources,
        period_ms: u64,
        mut tell: impl FnMut(Reloaded) + Send + 'static,
    ) -> Reloader {
        let (stop, stopped) = sync_channel(1);
        let period = Duration::from_millis(period_ms.max(1));
        let thread = std::thread::spawn(move || {
            let mut seen = Seen { text: Ok(sources.text.clone()) };
            while stopped.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
                if let Some(result) = seen.look(&live, &sources) {
                    tell(result);
                }
            }
        });
        Reloader { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Reloader {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in `tell` has been printed by its thread.
            let _ = thread.join();
        }
    }
}

/// What the last look found.
struct Seen {
    /// The text, or the path that could not be read.
    text: Result<String, PathBuf>,
}

impl Seen {
    fn look(&mut self, live: &Live, sources: &Sources) -> Option<Reloaded> {
        let variables = sources.variables.iter().cloned();
        match Sources::read(&sources.path, variables, sources.process.clone()) {
            Ok(now) if self.text.as_ref() == Ok(&now.text) => None,
            Ok(now) => {
                let result = live.reload(&now);
                self.text = Ok(now.text);
                Some(result)
            }
            Err(_) if self.text.is_err() => None,
            Err(error) => {
                self.text = Err(sources.path.clone());
                Some(Err(error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::policy::Plan;

    fn write_mode(live: &Live) -> &'static str {
        match live.snapshot().namespace_of(b"cart:1").unwrap().plan_for(b"cart:1") {
            Plan::Two(plan) => plan.write.name(),
            Plan::One(plan) => plan.write.name(),
        }
    }

    #[test]
    fn a_change_is_taken_a_mistake_is_told_and_the_last_good_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cinch.toml");
        let write = |mode: &str| {
            let text = format!("[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite_mode = {mode:?}\n");
            fs::write(&path, text).unwrap();
        };
        write("NO_COMPRESS");
        let sources = Sources::read(&path, [], "a".to_owned()).unwrap();
        let live = Arc::new(Live::new(sources.configuration().unwrap()));
        let (told, results) = sync_channel(1_024);
        let reloader = Reloader::start(Arc::clone(&live), sources, 1, move |result| {
            told.send(result.map_err(|error| error.to_string())).unwrap();
        });
        write("DUAL");
        // Between truncating and writing the file may be seen empty, which is a configuration too.
        while write_mode_if_any(&live) != Some("DUAL") {
            results.recv().unwrap().unwrap();
        }
        write("DOUBLE");
        let mistake = loop {
            if let Err(mistake) = results.recv().unwrap() {
                break mistake;
            }
        };
        assert!(mistake.contains("DOUBLE"), "{mistake}");
        fs::remove_file(&path).unwrap();
        let gone = results.recv().unwrap().unwrap_err();
        assert!(gone.contains("No such file"), "{gone}");
        drop(reloader);
    }

    fn write_mode_if_any(live: &Live) -> Option<&'static str> {
        live.snapshot().namespace_of(b"cart:1").is_some().then(|| write_mode(live))
    }
}
