//! What the host says about noise, and the clocks of the thread that measures.
//!
//! A time means little without the machine that it was measured on: a quota that throttles, a
//! neighbour that steals or a processor that changes its frequency moves a p99 more than most
//! codecs differ. What the system does not tell is `None`, never a guess, and nothing here fails:
//! on systems other than Linux most of it is not told.

mod cgroup;

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The state of the host at one moment. [`Host::noise_since`] tells two moments apart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// The processor as the system names it, or its architecture.
    pub processor: String,
    /// How many logical processors this process may use; 0 where it is not known.
    pub processors: u64,
    /// What chooses the frequency of the first processor, such as `performance` or `powersave`.
    pub governor: Option<String>,
    /// Whether the processor may go above its nominal frequency.
    pub turbo: Option<bool>,
    /// Whether two logical processors share a core.
    pub smt: Option<bool>,
    /// The processor time that the cgroups of this process allow, in CPUs. `None`: no limit.
    pub cpu_quota: Option<f64>,
    /// In how many periods such a limit stopped this process so far.
    pub throttled: Option<u64>,
    /// How many threads ran or waited to run, averaged over the last minute.
    pub load: Option<f64>,
    /// What the processors did since the system started.
    pub busy: Option<Busy>,
}

/// Processor time since the system started, in clock ticks of all logical processors together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Busy {
    /// All time, idle or not.
    pub total: u64,
    /// Time in which nothing ran.
    pub idle: u64,
    /// Time that the hypervisor gave to other machines.
    pub steal: u64,
    /// Time that this process and its ended children used.
    pub own: u64,
}

/// What disturbed a run, between two readings of the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// In how many periods a limit on processor time stopped this process.
    pub throttled: Option<u64>,
    /// The share of all processor time that other processes and the kernel used, from 0 to 1.
    pub others_share: Option<f64>,
    /// The share of all processor time that the hypervisor gave to other machines, from 0 to 1.
    pub steal_share: Option<f64>,
}

impl Host {
    /// The host as it is now.
    pub fn read() -> Host {
        Host {
            processors: std::thread::available_parallelism().map_or(0, |count| count.get() as u64),
            ..Host::read_under(Path::new("/"))
        }
    }

    /// What the files of a system say, under this root.
    fn read_under(root: &Path) -> Host {
        let text = |path: &str| fs::read_to_string(root.join(path)).ok();
        let flag = |path: &str| text(path).as_deref().and_then(parse_flag);
        let limits = cgroup::limits(root, &text("proc/self/cgroup").unwrap_or_default());
        let no_turbo = flag("sys/devices/system/cpu/intel_pstate/no_turbo");
        let information = text("proc/cpuinfo").unwrap_or_default();
        Host {
            processor: parse_processor(&information)
                .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            processors: 0,
            governor: text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
                .map(|governor| governor.trim().to_owned())
                .filter(|governor| !governor.is_empty()),
            turbo: no_turbo
                .map(|no_turbo| !no_turbo)
                .or_else(|| flag("sys/devices/system/cpu/cpufreq/boost")),
            smt: flag("sys/devices/system/cpu/smt/active"),
            cpu_quota: limits.quota,
            throttled: limits.throttled,
            load: text("proc/loadavg").as_deref().and_then(parse_load),
            busy: parse_busy(
                &text("proc/stat").unwrap_or_default(),
                &text("proc/self/stat").unwrap_or_default(),
            ),
        }
    }

    /// What disturbed the run that began with `start` and ended with this reading.
    pub fn noise_since(&self, start: &Host) -> Noise {
        let mut noise = Noise {
            throttled: self.throttled.zip(start.throttled).map(|(end, start)| {
                // A count that fell is one of another cgroup, which this process moved to.
                end.saturating_sub(start)
            }),
            ..Noise::default()
        };
        if let (Some(end), Some(start)) = (self.busy, start.busy) {
            let total = end.total.saturating_sub(start.total);
            let steal = end.steal.saturating_sub(start.steal);
            let used = total.saturating_sub(end.idle.saturating_sub(start.idle) + steal);
            let others = used.saturating_sub(end.own.saturating_sub(start.own));
            if total > 0 {
                let share = |ticks: u64| (ticks as f64 / total as f64).min(1.0);
                noise.others_share = Some(share(others));
                noise.steal_share = Some(share(steal));
            }
        }
        noise
    }
}

/// The processor time that the calling thread used so far, in nanoseconds; 0 where the system does
/// not tell. Reading it costs far more than reading the wall clock: some 400 ns.
pub fn thread_cpu_ns() -> u64 {
    #[cfg(target_os = "linux")]
    {
        use nix::time::{ClockId, clock_gettime};
        clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
            .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
    }
    #[cfg(not(target_os = "linux"))]
    0
}

/// How often the calling thread was made to leave a processor so far, in favour of another or at
/// the end of its time slice; 0 where the system does not tell.
pub fn preemptions() -> u64 {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::resource::{UsageWho, getrusage};
        getrusage(UsageWho::RUSAGE_THREAD)
            .map_or(0, |usage| usage.involuntary_context_switches() as u64)
    }
    #[cfg(not(target_os = "linux"))]
    0
}

fn parse_flag(text: &str) -> Option<bool> {
    match text.trim() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// The model in `/proc/cpuinfo`, which not every architecture tells.
fn parse_processor(information: &str) -> Option<String> {
    let name = information.lines().find_map(|line| line.strip_prefix("model name"))?;
    let name = name.trim_start_matches([' ', '\t', ':']).trim_end();
    (!name.is_empty()).then(|| name.to_owned())
}

/// The first of the three averages in `/proc/loadavg`.
fn parse_load(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok().filter(|load: &f64| load.is_finite())
}

/// The first line of `/proc/stat` and the times of `/proc/self/stat`, both in clock ticks.
fn parse_busy(stat: &str, own: &str) -> Option<Busy> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
    // user, nice, system, idle, iowait, irq, softirq, steal; guests are part of user and nice.
    let at = |column: usize| ticks.get(column).copied().unwrap_or(0);
    let total = (0..8).map(at).try_fold(0u64, u64::checked_add)?;
    // The second field is the name of the program in brackets, which may hold spaces and brackets.
    let (_, fields) = own.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // The 14th to 17th fields of the line: time in the program and in the kernel for it, and the
    // same of the processes that it started and that have ended: they are no disturbance either.
    let own_at = |column: usize| fields.get(column)?.parse::<u64>().ok();
    let own = (11..15).try_fold(0u64, |sum, column| sum.checked_add(own_at(column)?))?;
    Some(Busy { total, idle: at(3).saturating_add(at(4)), steal: at(7), own })
}

#[cfg(test)]
mod tests;
