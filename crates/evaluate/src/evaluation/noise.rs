//! Whether the host was quiet: what the calls themselves showed, and what the system says. Times of
//! a noisy host are not thrown away, but nobody should mistake them for those of a quiet one.

use super::Measured;
use crate::host::Host;
use crate::measure::Tracked;
use crate::model::Noise;
use crate::statistics::mean;

/// Above this share of interrupted calls a host is noisy.
const PREEMPTED_SHARE_MAX: f64 = 0.005;

/// Below this share of CPU time in wall time a host is noisy.
const CPU_SHARE_MIN: f64 = 0.95;

/// A spread of the rounds above this is noise.
const ROUND_SPREAD_MAX: f64 = 0.25;

/// Calls that take longer by more than this share in one half of the rounds than in the other were
/// disturbed by something that the system does not tell of, such as the next virtual machine.
const UNSTEADINESS_MAX: f64 = 0.1;

/// Rounds shorter than this many nanoseconds lie far apart on any machine.
const ROUND_NS_MIN: f64 = 2e6;

/// Other processes that use more than this share of all processors disturb a run.
const OTHERS_MAX: f64 = 0.1;

/// A hypervisor that takes more than this share of the time disturbs a run.
const STEAL_MAX: f64 = 0.02;

pub(super) fn noise(measured: &Measured<'_>) -> Noise {
    let timed = || measured.timed.iter().map(|&index| &measured.all[index]);
    let sum = |figure: &dyn Fn(&Tracked) -> f64| timed().map(figure).sum::<f64>();
    let calls = sum(&|tracked| tracked.calls.pack_ns.len() as f64);
    let preempted = sum(&|tracked| tracked.calls.preempted as f64);
    let (wall, cpu) = (sum(&|tracked| tracked.calls.wall_ns), sum(&|tracked| tracked.calls.cpu_ns));
    let preempted_share = if calls > 0.0 { preempted / calls } else { 0.0 };
    let cpu_share = if wall > 0.0 && cpu > 0.0 { (cpu / wall).min(1.0) } else { 1.0 };
    let spreads: Vec<f64> = timed()
        .filter(|tracked| tracked.round_ns() > ROUND_NS_MIN)
        .map(Tracked::round_spread)
        .collect();
    let round_spread = mean(&spreads);
    let mut signs = Vec::new();
    if preempted_share > PREEMPTED_SHARE_MAX {
        signs.push(format!(
            "The system interrupted {:.1} % of the timed calls; they were made again.",
            100.0 * preempted_share
        ));
    }
    if cpu_share < CPU_SHARE_MIN {
        signs.push(format!(
            "The measuring thread had the processor for {:.0} % of the time.",
            100.0 * cpu_share
        ));
    }
    if round_spread > ROUND_SPREAD_MAX {
        signs.push(format!("Rounds lay {:.0} % apart on average.", 100.0 * round_spread));
    }
    let unsteadiness = measured.counts.unsteadiness;
    if unsteadiness > UNSTEADINESS_MAX {
        signs.push(format!(
            "The machine was {:.0} % slower in one half of the rounds; the other half counts.",
            100.0 * unsteadiness
        ));
    }
    let [before, after] = &measured.host;
    let told = after.noise_since(before);
    if let Some(others) = told.others_share
        && others > OTHERS_MAX
    {
        signs.push(format!("Other processes used {:.0} % of the processors.", 100.0 * others));
    }
    if let Some(steal) = told.steal_share
        && steal > STEAL_MAX
    {
        signs.push(format!("The hypervisor took {:.1} % of the time.", 100.0 * steal));
    }
    if let Some(times) = told.throttled
        && times > 0
    {
        signs.push(format!("The container's processor quota stopped the run {times} times."));
    }
    Noise { is_noisy: !signs.is_empty(), signs, preempted_share, cpu_share, round_spread }
}

/// What the system says of itself, as name and value.
pub(super) fn facts(host: &Host) -> Vec<(String, String)> {
    let switch = |on: bool| if on { "on" } else { "off" }.to_owned();
    let facts = [
        ("governor", host.governor.clone()),
        ("turbo", host.turbo.map(switch)),
        ("simultaneous threads", host.smt.map(switch)),
        ("processor quota", host.cpu_quota.map(|quota| format!("{quota:.2}"))),
        ("load at start", host.load.map(|load| format!("{load:.2}"))),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
