//! What makes two runs the same job: the store, the configuration that decides what records become,
//! and the options that do. How fast a job goes is no part of it.

use cinch_core::envelope::base_id;
use cinch_rollout::live::Live;

use super::{BackfillOptions, Target};
use crate::store::Store;

/// A job, as its checkpoint names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    /// A hash of all that decides what records become.
    pub hash: String,
    /// The same for people.
    pub shown: String,
}

/// The job of a store, a configuration and options.
pub(super) fn of(store: &dyn Store, live: &Live, options: &BackfillOptions) -> Job {
    let snapshot = live.snapshot();
    let only = options.walk.namespace.as_deref();
    let target = match options.target {
        Target::Policy => "policy",
        Target::Plain => "plain",
    };
    let shown = format!("{} of {} to {target}", only.unwrap_or("*"), store.name());
    let mut text = format!(
        "{shown} {:?} exact={} expiring={} enabled={}",
        store.shape(),
        options.is_exact,
        options.skip_expiring_below_ms,
        snapshot.configuration.compression_enabled,
    );
    for ready in snapshot.namespaces() {
        let namespace = ready.namespace();
        let hex = |sha256: &[u8; 32]| -> String {
            sha256.iter().map(|byte| format!("{byte:02x}")).collect()
        };
        let plans = ready.plans();
        text.push_str(&format!(
            "\n{} {:?} {plans:?} {} {:?} {:?} {} {:?} {}\n{}",
            namespace.name,
            namespace.keys,
            namespace.percent,
            namespace.published,
            namespace.input_envelopes,
            namespace.takes_value_fidelity,
            namespace.foreign_formats,
            namespace.payload_bytes_max,
            namespace
                .profile
                .to_toml(|dictionary| hex(dictionary.sha256()), |schema| hex(schema.sha256())),
        ));
    }
    Job { hash: format!("{:016x}", base_id(text.as_bytes())), shown }
}
