//! The limits that a container puts on processor time, in both versions of cgroups.
//!
//! Every group above that of the process limits it as well, so all of them are asked. Inside a
//! container the path of the process may be that of the host while only its own group is mounted;
//! then the groups in between are not there, and the mounted one is.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// Groups nest no deeper than this many levels, or the outer ones are not asked.
const LEVELS_MAX: usize = 64;

/// What the groups of a process allow it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Limits {
    /// The tightest limit, in CPUs.
    pub(super) quota: Option<f64>,
    /// In how many periods any of the limits was reached.
    pub(super) throttled: Option<u64>,
}

/// The limits of the groups that `/proc/self/cgroup` lists.
pub(super) fn limits(root: &Path, groups: &str) -> Limits {
    let mut limits = Limits::default();
    for line in groups.lines() {
        // The number of the hierarchy, its controllers, and the path of the group in it.
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let has_processors = controllers.split(',').any(|controller| controller == "cpu");
        if !controllers.is_empty() && !has_processors {
            continue;
        }
        for mounted in ["", "unified", "cpu", "cpu,cpuacct"] {
            // The second version has no controllers in its line, and stands under one of two names.
            if controllers.is_empty() == ["", "unified"].contains(&mounted) {
                add(&mut limits, &root.join("sys/fs/cgroup").join(mounted), path);
            }
        }
        // One name of the same mount may be a link to the other.
        if limits != Limits::default() {
            break;
        }
    }
    limits
}

/// Adds what the group at this path and those above it say.
fn add(limits: &mut Limits, mount: &Path, group: &str) {
    // A path may lead out of the mount with `..` where the process is outside of its namespace.
    let group: PathBuf = Path::new(group)
        .components()
        .filter(|component| matches!(component, Component::Normal(_)))
        .collect();
    for group in group.ancestors().take(LEVELS_MAX) {
        let text = |file: &str| fs::read_to_string(mount.join(group).join(file)).ok();
        let second = text("cpu.max").as_deref().and_then(parse_max);
        let first = || parse_quota(&text("cpu.cfs_quota_us")?, &text("cpu.cfs_period_us")?);
        if let Some(quota) = second.or_else(first) {
            limits.quota = Some(limits.quota.map_or(quota, |other| other.min(quota)));
        }
        if let Some(throttled) = text("cpu.stat").as_deref().and_then(parse_throttled) {
            limits.throttled = Some(limits.throttled.unwrap_or(0).saturating_add(throttled));
        }
    }
}

/// `cpu.max` of the second version: `max 100000`, or a quota and its period in microseconds.
fn parse_max(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    parse_quota(quota, period)
}

/// A quota and its period in microseconds; -1 and `max` are no quota.
fn parse_quota(quota: &str, period: &str) -> Option<f64> {
    let quota: u64 = quota.trim().parse().ok()?;
    let period: u64 = period.trim().parse().ok().filter(|&period| period > 0)?;
    Some(quota as f64 / period as f64)
}

/// The line `nr_throttled` of `cpu.stat`.
fn parse_throttled(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("nr_throttled "))?.trim().parse().ok()
}
