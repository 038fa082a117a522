//! What a process hands to `cinch report`: its latest calls and minutes, as one JSON document.
//!
//! Several processes of a fleet are merged into one picture, since a scatter of one process among
//! forty says little about the worst.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::recent::{Minute, Sample};

/// The version of the document.
pub const EXPORT_VERSION: u32 = 1;

/// The latest calls and minutes of a process, by namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// [`EXPORT_VERSION`].
    pub version: u32,
    /// The processes that it is of.
    pub processes: Vec<String>,
    /// The namespaces by name.
    pub namespaces: BTreeMap<String, NamespaceExport>,
}

/// The latest calls and minutes of one namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceExport {
    /// Calls, oldest first.
    pub samples: Vec<Sample>,
    /// Minutes, oldest first.
    pub minutes: Vec<Minute>,
}

/// Why a text is no export.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// A newer release wrote it.
    #[error("it has version {got}, this release knows {EXPORT_VERSION}: update it")]
    Newer {
        /// Its version.
        got: u32,
    },
    /// It is something else.
    #[error("it is no export of samples: {0}")]
    Damaged(String),
}

impl Export {
    /// The export of a text.
    ///
    /// # Errors
    /// [`ExportError`].
    pub fn from_json(text: &[u8]) -> Result<Export, ExportError> {
        let export: Export = serde_json::from_slice(text)
            .map_err(|error| ExportError::Damaged(error.to_string()))?;
        if export.version > EXPORT_VERSION {
            return Err(ExportError::Newer { got: export.version });
        }
        Ok(export)
    }

    /// The text of the export.
    pub fn to_json(&self) -> String {
        // Numbers and texts have a JSON form, so there is no error that a caller could see.
        serde_json::to_string(self).expect("an export is JSON")
    }

    /// Adds another process's calls and minutes to this one's.
    pub fn merge(&mut self, other: Export) {
        self.processes.extend(other.processes);
        for (name, theirs) in other.namespaces {
            let ours = self.namespaces.entry(name).or_default();
            ours.samples.extend(theirs.samples);
            let mut minutes: BTreeMap<u64, Minute> =
                ours.minutes.iter().map(|minute| (minute.minute, *minute)).collect();
            for minute in theirs.minutes {
                let nothing = Minute { writes: 0, payload_bytes: 0, stored_bytes: 0, ..minute };
                let sum = minutes.entry(minute.minute).or_insert(nothing);
                sum.writes = sum.writes.saturating_add(minute.writes);
                sum.payload_bytes = sum.payload_bytes.saturating_add(minute.payload_bytes);
                sum.stored_bytes = sum.stored_bytes.saturating_add(minute.stored_bytes);
            }
            ours.minutes = minutes.into_values().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export(process: &str, minutes: &[(u64, u64)]) -> Export {
        let minute = |&(minute, writes)| Minute {
            minute,
            writes,
            payload_bytes: writes * 10,
            stored_bytes: writes * 2,
        };
        let minutes = minutes.iter().map(minute).collect();
        let carts = NamespaceExport { samples: Vec::new(), minutes };
        let namespaces = BTreeMap::from([("carts".to_owned(), carts)]);
        Export { version: EXPORT_VERSION, processes: vec![process.to_owned()], namespaces }
    }

    #[test]
    fn minutes_of_two_processes_are_summed() {
        let mut both = export("a", &[(1, 5), (2, 7)]);
        both.merge(export("b", &[(2, 3), (4, 1)]));
        let counts: Vec<(u64, u64)> =
            both.namespaces["carts"].minutes.iter().map(|m| (m.minute, m.writes)).collect();
        assert_eq!(counts, [(1, 5), (2, 10), (4, 1)]);
        assert_eq!(both.processes, ["a", "b"]);
    }

    #[test]
    fn a_text_comes_back_and_what_is_newer_or_no_export_is_told() {
        let one = export("a", &[(1, 5)]);
        assert_eq!(Export::from_json(one.to_json().as_bytes()), Ok(one.clone()));
        let newer = Export { version: EXPORT_VERSION + 1, ..one };
        let error = Export::from_json(newer.to_json().as_bytes());
        assert_eq!(error, Err(ExportError::Newer { got: EXPORT_VERSION + 1 }));
        assert!(matches!(Export::from_json(b"[]"), Err(ExportError::Damaged(_))));
    }
}
