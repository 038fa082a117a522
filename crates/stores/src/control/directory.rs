//! Who announces: one document a process, and one list of their names.
//!
//! The list is written before a process's first announcement and read before every look at the
//! fleet, so that no store has to be scanned for keys. An announcement that can't be read counts as
//! a process that is missing: nobody knows what it does.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use cinch_rollout::fleet::{ANNOUNCEMENT_BYTES_MAX, Announcement, Fleet};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::{CLOCK_SKEW_MS, Control, ControlError, TRIES_MAX, process_key};
use crate::error::StoreError;
use crate::store::{Condition, PutOutcome, Version};

/// The key of the list of processes.
pub const PROCESSES_KEY: &str = "cinch:processes";

/// The most processes that are listed. Each process reads every other one's announcement at every
/// poll, which is what a store must bear.
pub const PROCESSES_MAX: usize = 1_024;

/// The largest list of processes, in bytes.
const PROCESSES_BYTES_MAX: usize = PROCESSES_MAX * (super::NAME_BYTES_MAX + 8) + 64;

/// The version of both documents. A reader that meets a newer announcement counts its process as
/// missing.
const DIRECTORY_VERSION: u32 = 1;

/// How long an announcement that was not renewed is kept, in milliseconds, after which its process
/// leaves the list: an operator may want to see who was there.
const FORGET_AFTER_MS: u64 = 24 * 3600 * 1000;

/// How many announcements are fetched at a time.
const FETCHES_MAX: usize = 16;

/// Tells two runs under one name apart: a host that was restarted, or a name that was given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incarnation(u64);

impl Incarnation {
    /// A new one.
    pub fn new() -> Incarnation {
        // The keys of a new state come from the system's source of randomness.
        Incarnation(RandomState::new().build_hasher().finish())
    }
}

impl Default for Incarnation {
    fn default() -> Incarnation {
        Incarnation::new()
    }
}

/// What became of an announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publication {
    /// It was written.
    Published,
    /// Another run holds the name now.
    Taken,
}

/// Everybody who was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Directory {
    /// Every announcement that could be read, live or not.
    pub announcements: Vec<Announcement>,
    /// Which run each of them is of.
    pub incarnations: BTreeMap<String, Incarnation>,
    /// Processes whose announcement can't be read, and why.
    pub unreadable: Vec<(String, String)>,
    /// The names on the list.
    pub registered: BTreeSet<String>,
}

impl Directory {
    /// Who is live of them at a moment of this host's clock, against the declared fleet.
    pub fn fleet(&self, now_ms: u64, expected: &[String]) -> Fleet {
        let now_ms = now_ms.saturating_sub(CLOCK_SKEW_MS);
        let mut fleet = Fleet::at(now_ms, self.announcements.clone(), expected);
        for (name, _) in &self.unreadable {
            if !fleet.missing.contains(name) {
                fleet.missing.push(name.clone());
            }
        }
        fleet
    }
}

#[derive(Serialize, Deserialize)]
struct Listed {
    version: u32,
    names: BTreeSet<String>,
}

#[derive(Serialize, Deserialize)]
struct Announced {
    version: u32,
    incarnation: Incarnation,
    announcement: Announcement,
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Control {
    /// Puts a process on the list. It comes before the first announcement.
    ///
    /// # Errors
    /// [`ControlError::Full`] where the list is full.
    pub async fn register(&self, process: &str) -> Result<(), ControlError> {
        process_key(process)?;
        self.change_list(|names| {
            if !names.contains(process) && names.len() >= PROCESSES_MAX {
                let store = self.store().name().to_owned();
                return Err(ControlError::Full { store, limit: PROCESSES_MAX });
            }
            Ok(names.insert(process.to_owned()))
        })
        .await
    }

    /// Announces. The first announcement of a run takes the name over from an earlier run, which
    /// notices at its next renewal; a renewal does not.
    ///
    /// # Errors
    /// [`ControlError`]; nothing may be taken for granted then.
    pub async fn publish(
        &self,
        announcement: &Announcement,
        incarnation: Incarnation,
        takes_over: bool,
    ) -> Result<Publication, ControlError> {
        let key = process_key(&announcement.process)?;
        for _ in 0..TRIES_MAX {
            let held = self.read(&key, ANNOUNCEMENT_BYTES_MAX).await?;
            if let Some((bytes, _)) = &held
                && !takes_over
                && !is_of(bytes, incarnation)
            {
                return Ok(Publication::Taken);
            }
            let document = Announced {
                version: DIRECTORY_VERSION,
                incarnation,
                announcement: announcement.clone(),
            };
            let bytes = to_bytes(&document);
            let version = held.map(|(_, version)| version);
            let outcome = self.write(&key, bytes, ANNOUNCEMENT_BYTES_MAX, version).await?;
            if outcome == PutOutcome::Written {
                return Ok(Publication::Published);
            }
        }
        Err(ControlError::Contended { store: self.store().name().to_owned(), key })
    }

    /// Takes an announcement back, where it is still this run's, and its process from the list.
    ///
    /// # Errors
    /// [`ControlError`]; the lease then runs out by itself.
    pub async fn withdraw(
        &self,
        process: &str,
        incarnation: Incarnation,
    ) -> Result<(), ControlError> {
        let key = process_key(process)?;
        let Some((bytes, version)) = self.read(&key, ANNOUNCEMENT_BYTES_MAX).await? else {
            return Ok(());
        };
        if is_of(&bytes, incarnation) {
            self.remove(process, &key, version).await?;
        }
        Ok(())
    }

    /// Everybody on the list, and everybody who is expected.
    ///
    /// # Errors
    /// [`ControlError`] from the store, or where the list itself is damaged.
    pub async fn directory(&self, expected: &[String]) -> Result<Directory, ControlError> {
        let registered = self.list().await?.0;
        let mut directory = Directory { registered, ..Directory::default() };
        let names: BTreeSet<String> =
            directory.registered.iter().chain(expected).cloned().collect();
        let names: Vec<String> = names.into_iter().collect();
        for names in names.chunks(FETCHES_MAX) {
            let mut fetches = JoinSet::new();
            for name in names {
                let (store, name) = (Arc::clone(self.store()), name.clone());
                let key = process_key(&name)?;
                fetches.spawn(async move { (name, store.get(key.as_bytes()).await) });
            }
            for (name, found) in fetches.join_all().await {
                let Some(found) = found? else { continue };
                match announcement_of(&name, found.record.raw.as_deref()) {
                    Ok(Announced { incarnation, announcement, .. }) => {
                        directory.incarnations.insert(name, incarnation);
                        directory.announcements.push(announcement);
                    }
                    Err(why) => directory.unreadable.push((name, why)),
                }
            }
        }
        directory.announcements.sort_by(|a, b| a.process.cmp(&b.process));
        directory.unreadable.sort();
        Ok(directory)
    }

    /// Takes those from the list whose last announcement is a day old.
    ///
    /// # Errors
    /// [`ControlError`]; the list is then longer than it need be.
    pub async fn forget(&self, directory: &Directory, now_ms: u64) -> Result<(), ControlError> {
        for gone in &directory.announcements {
            if gone.is_live(now_ms.saturating_sub(FORGET_AFTER_MS)) {
                continue;
            }
            let key = process_key(&gone.process)?;
            let Some((bytes, version)) = self.read(&key, ANNOUNCEMENT_BYTES_MAX).await? else {
                continue;
            };
            // It may have come back since it was listed.
            let found = announcement_of(&gone.process, Some(&bytes));
            if found.is_ok_and(|found| found.announcement == *gone) {
                self.remove(&gone.process, &key, version).await?;
            }
        }
        Ok(())
    }

    /// Takes a process from the list and then its announcement away; if that was renewed meanwhile,
    /// the process goes back on the list.
    async fn remove(&self, process: &str, key: &str, version: Version) -> Result<(), ControlError> {
        self.change_list(|names| Ok(names.remove(process))).await?;
        let condition = Condition::Is(version);
        match self.store().delete(key.as_bytes(), &condition).await? {
            PutOutcome::Written => Ok(()),
            PutOutcome::ConditionFailed => self.register(process).await,
        }
    }

    async fn list(&self) -> Result<(BTreeSet<String>, Option<Version>), ControlError> {
        let Some((bytes, version)) = self.read(PROCESSES_KEY, PROCESSES_BYTES_MAX).await? else {
            return Ok((BTreeSet::new(), None));
        };
        let listed: Result<Listed, String> = from_bytes(&bytes);
        let listed = listed.map_err(|message| self.damaged(PROCESSES_KEY, message))?;
        Ok((listed.names, Some(version)))
    }

    /// Changes the list; `change` says whether it did.
    async fn change_list(
        &self,
        mut change: impl FnMut(&mut BTreeSet<String>) -> Result<bool, ControlError>,
    ) -> Result<(), ControlError> {
        for _ in 0..TRIES_MAX {
            let (mut names, version) = self.list().await?;
            if !change(&mut names)? {
                return Ok(());
            }
            let bytes = to_bytes(&Listed { version: DIRECTORY_VERSION, names });
            let outcome = self.write(PROCESSES_KEY, bytes, PROCESSES_BYTES_MAX, version).await?;
            if outcome == PutOutcome::Written {
                return Ok(());
            }
        }
        let store = self.store().name().to_owned();
        Err(ControlError::Contended { store, key: PROCESSES_KEY.to_owned() })
    }
}

pub(super) fn to_bytes(document: &impl Serialize) -> Vec<u8> {
    // Numbers, texts and lists have a JSON form, so there is no error that a caller could see.
    serde_json::to_vec(document).expect("a document is JSON")
}

pub(super) fn from_bytes<D: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<D, String> {
    let Versioned { version } = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if version > DIRECTORY_VERSION {
        return Err(format!(
            "it has version {version}, this release knows up to {DIRECTORY_VERSION}: update it"
        ));
    }
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

fn is_of(bytes: &[u8], incarnation: Incarnation) -> bool {
    from_bytes::<Announced>(bytes).is_ok_and(|found| found.incarnation == incarnation)
}

fn announcement_of(process: &str, bytes: Option<&[u8]>) -> Result<Announced, String> {
    let bytes = bytes.ok_or_else(|| "its value is null".to_owned())?;
    if bytes.len() > ANNOUNCEMENT_BYTES_MAX {
        let (limit, got) = (ANNOUNCEMENT_BYTES_MAX, bytes.len());
        return Err(StoreError::TooLarge { what: "an announcement", limit, got }.to_string());
    }
    let found: Announced = from_bytes(bytes)?;
    match found.announcement.process == process {
        true => Ok(found),
        false => Err(format!("it names the process {:?}", found.announcement.process)),
    }
}
