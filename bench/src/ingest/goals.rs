//! What was measured, beside the goals: one line each, in the order of the table. A figure
//! that was not measured in this run has no line.

use super::RESIDENT_MAX_MB;
use super::blocks::Gzip;
use super::measure::Row;
use super::stall::Stalled;

/// MB in a second at 1,000 connections.
const RATE_MIN: f64 = 500.0;

/// The same by the best of rsyslog.
const RSYSLOG_TIMES_MIN: f64 = 4.0;

/// Processor seconds of the server for a GB.
const CPU_S_PER_GB_MAX: f64 = 3.0;

/// Between two reads of a connection: for nearly all, and for everyone.
const READ_P99_MS_MAX: f64 = 20.0;
const READ_MS_MAX: f64 = 640.0;

/// Size on disk by that of `gzip -1`.
const GZIP_SHARE_MAX: f64 = 0.75;

/// What was measured, as far as it was.
#[derive(Default)]
pub(super) struct Figures {
    /// The highest rate of each server that holds one, in MB/s.
    pub(super) highest: Vec<(String, u64)>,
    /// Every server at the fixed rate, perhaps several times.
    pub(super) fixed: Vec<Row>,
    /// Ours with many connections.
    pub(super) many: Option<Row>,
    pub(super) gzip: Option<Gzip>,
    pub(super) stalls: Vec<Stalled>,
}

impl Figures {
    /// The highest rate of this server.
    pub(super) fn highest_of(&self, name: &str) -> Option<u64> {
        self.highest.iter().find(|(of, _)| of == name).map(|(_, rate)| *rate)
    }

    /// Prints the goals with what was reached.
    pub(super) fn print(&self, ours: &str) {
        println!("{:<52} {:>14} {:>14}", "goal", "measured", "goal");
        if let Some(rate) = self.highest_of(ours) {
            let rate = rate as f64;
            line("highest rate with metrics", rate, "MB/s", Goal::Least(RATE_MIN));
            let of_rsyslog = self.highest.iter().filter(|(name, _)| name.starts_with("rsyslog"));
            if let Some(theirs) = of_rsyslog.map(|(_, rate)| *rate).max() {
                let times = rate / theirs as f64;
                line("that by rsyslog's best", times, "times", Goal::Least(RSYSLOG_TIMES_MIN));
            }
        }
        // Of several rounds the middle one counts: what others do to a machine is not one-sided.
        let middle = |of: fn(&Row) -> f64| {
            let own = self.fixed.iter().filter(|row| row.name == ours);
            let mut values: Vec<f64> = own.map(of).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied()
        };
        if let Some(cpu) = middle(Row::cpu_s_per_gb) {
            line("CPU at the fixed rate", cpu, "s/GB", Goal::Most(CPU_S_PER_GB_MAX));
        }
        if let Some(resident) = middle(|row| row.resident_mb) {
            line("memory there, at its peak", resident, "MB", Goal::Most(RESIDENT_MAX_MB));
        }
        if let Some(p99) = middle(|row| row.read_p99_ms.unwrap_or(f64::NAN)) {
            line("read interval there, p99", p99, "ms", Goal::Most(READ_P99_MS_MAX));
        }
        if let Some(max) = middle(|row| row.read_max_ms.unwrap_or(f64::NAN)) {
            line("read interval there, longest", max, "ms", Goal::Most(READ_MS_MAX));
        }
        if let Some(row) = &self.many {
            let name = format!("disconnects of {} connections", row.asked.connections);
            line(&name, row.result.disconnects as f64, "", Goal::Most(0.0));
        }
        if let Some((gzip, share)) =
            self.gzip.zip(middle(|row| row.disk_bytes as f64 / row.result.sent_bytes as f64))
        {
            let by_gzip = share / gzip.share;
            line("size on disk by gzip -1's", by_gzip, "times", Goal::Most(GZIP_SHARE_MAX));
            if let Some(cpu) = middle(Row::cpu_s_per_gb) {
                let most = Goal::Most(gzip.cpu_s_per_gb);
                line("CPU, receiving included, by gzip -1's alone", cpu, "s/GB", most);
            }
        }
        for stalled in &self.stalls {
            let name = |what: &str| format!("stall, {}: {what}", stalled.when_slow);
            let resident = stalled.resident_mb;
            line(&name("memory"), resident, "MB", Goal::Most(RESIDENT_MAX_MB));
            line(&name("not counted"), stalled.missing as f64, "", Goal::Most(0.0));
            let quiet = stalled.disconnects[1] as f64;
            line(&name("disconnects of who fits"), quiet, "", Goal::Most(0.0));
            if stalled.when_slow == "spill" {
                let lost = (stalled.dropped[0] + stalled.disconnects[0]) as f64;
                line(&name("dropped and disconnects"), lost, "", Goal::Most(0.0));
            }
        }
    }
}

enum Goal {
    Least(f64),
    Most(f64),
}

fn line(name: &str, value: f64, unit: &str, goal: Goal) {
    let (word, limit, is_met) = match goal {
        Goal::Least(least) => (">=", least, value >= least),
        Goal::Most(most) => ("<=", most, value <= most),
    };
    let digits = if limit < 10.0 && limit > 0.0 { 2 } else { 0 };
    let (measured, goal) = (format!("{value:.digits$} {unit}"), format!("{word} {limit:.digits$}"));
    let word = if is_met { "" } else { "  missed" };
    println!("{name:<52} {measured:>14} {goal:>14}{word}");
}
