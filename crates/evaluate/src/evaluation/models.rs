//! What the evaluation gives to the models: the link, the disk, and the stores that compress
//! already.

use cinch_core::pack::Packer;
use cinch_core::profile::VerifyOnPack;

use super::{Measured, trials};
use crate::behind::{self, BehindInput};
use crate::link::{self, LinkInput};
use crate::measure::profile_of;
use crate::model::{BehindModel, CapacityModel, LinkModel};

/// The time over the link, of every trial that was timed and is not out.
pub(super) fn link(measured: &Measured<'_>) -> Option<LinkModel> {
    let asked = measured.request.link.as_ref()?;
    let input = |(&index, row): (&usize, &crate::sheet::Row)| LinkInput {
        name: measured.all[index].candidate.to_string(),
        payloads: row
            .packed_bytes
            .iter()
            .zip(row.pack_ns.iter().zip(&row.unpack_ns))
            .map(|(&bytes, (&pack_ns, &unpack_ns))| (bytes as u64, pack_ns, unpack_ns))
            .collect(),
    };
    let inputs: Vec<LinkInput> = measured.reported.rows.iter().map(input).collect();
    Some(link::model(asked, &inputs))
}

/// Days and money, of doing nothing, gzip -6, the baseline, the recommended trial and the next.
pub(super) fn capacity(measured: &Measured<'_>) -> Option<CapacityModel> {
    let asked = measured.request.capacity.as_ref()?;
    let mean_bytes =
        measured.corpus.total_bytes() as f64 / (measured.corpus.payloads.len() as f64).max(1.0);
    let rows = shown(measured)
        .into_iter()
        .map(|(index, role)| {
            let name = measured.all[index].candidate.to_string();
            asked.row(&name, role, mean_bytes * trials::share(measured, index))
        })
        .collect();
    Some(asked.model(rows))
}

/// The trials that every reader wants to see, and what each is to them; each once.
fn shown(measured: &Measured<'_>) -> Vec<(usize, &'static str)> {
    let mut shown: Vec<(usize, &'static str)> = Vec::new();
    let roles = measured
        .winner()
        .into_iter()
        .map(|index| (index, "recommended"))
        .chain(measured.runner_up().map(|index| (index, "runner-up")))
        .chain([(measured.baseline, "baseline")]);
    for (index, role) in roles {
        if !shown.iter().any(|&(known, _)| known == index) {
            shown.push((index, role));
        }
    }
    for &index in &measured.controls {
        let is_nothing = measured.all[index].candidate.is_nothing();
        if !shown.iter().any(|&(known, _)| known == index) {
            shown.push((index, if is_nothing { "now" } else { "control" }));
        }
    }
    shown.sort_by_key(|&(_, role)| role != "now");
    shown
}

/// The net gain behind each store that was named. A store whose codec fails has nothing to tell.
pub(super) fn behind(measured: &Measured<'_>) -> Vec<BehindModel> {
    if measured.request.behind.is_empty() {
        return Vec::new();
    }
    // What trained a dictionary must not be what tells its gain.
    let train = &measured.split.train;
    let payloads: Vec<&[u8]> = measured
        .corpus
        .payloads
        .iter()
        .enumerate()
        .filter(|(index, _)| measured.split.by.is_none() || train.binary_search(index).is_err())
        .map(|(_, payload)| &*payload.bytes)
        .collect();
    let payloads = behind::window(&payloads);
    let inputs: Vec<BehindInput> = shown(measured)
        .into_iter()
        .filter(|&(_, role)| role != "now")
        .filter_map(|(index, _)| packed(measured, index, payloads))
        .collect();
    let models = measured.request.behind.iter();
    models.filter_map(|store| behind::model(store, payloads, &inputs).ok()).collect()
}

/// The payloads as a trial stores them.
fn packed(measured: &Measured<'_>, index: usize, payloads: &[&[u8]]) -> Option<BehindInput> {
    let candidate = &measured.all[index].candidate;
    let mut profile = profile_of(candidate);
    profile.verify_on_pack = VerifyOnPack::Never;
    let mut packer = Packer::new(&profile).ok()?;
    let packed = payloads
        .iter()
        .map(|payload| {
            let mut out = Vec::new();
            match packer.pack(payload, &mut out) {
                Ok(_) => out,
                Err(_) => payload.to_vec(),
            }
        })
        .collect();
    Some(BehindInput { name: candidate.to_string(), packed })
}
