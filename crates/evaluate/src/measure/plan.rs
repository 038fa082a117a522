//! How much each stage may do: counts, never a clock, so that one seed gives one answer. Every
//! number that trades time for certainty stands here.

/// How much each stage may do.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Payloads of stage 1, at most.
    pub stage1_payloads: usize,
    /// Bytes of stage 1, at most.
    pub stage1_bytes: usize,
    /// Candidates of stage 2, at most.
    pub finalists: usize,
    /// Payloads of stage 2, at most.
    pub stage2_payloads: usize,
    /// Bytes of stage 2, at most.
    pub stage2_bytes: usize,
    /// Rounds of stage 2 on the payloads that choose.
    pub rounds: usize,
    /// Rounds of stage 2 that may be added while a tie is undecided.
    pub extra_rounds: usize,
    /// Rounds of stage 2 on the payloads that report.
    pub report_rounds: usize,
    /// Payloads on which the cache regimes are tried, at most.
    pub regime_payloads: usize,
    /// Bytes of those, at most.
    pub regime_bytes: usize,
    /// Fresh processes for the first call of each codec family.
    pub first_call_processes: usize,
    /// Bytes of stage 3, at most; the recommended candidate is checked on all.
    pub stage3_bytes: usize,
}

/// How many candidates are timed, unless the user wants all that are near the best.
const FINALISTS: usize = 16;

/// Fewer fresh processes say nothing of how a first call is spread.
const FIRST_CALL_PROCESSES: usize = 10;

impl Plan {
    /// The plan for about this many seconds on two cores. Only the counts follow from the time, so
    /// that the same request always means the same work.
    ///
    /// Slow levels are tried on fewer bytes, because they take a tenth of the speed or less.
    pub fn of_time(seconds: f64, is_about_size: bool, any_slow: bool) -> Plan {
        let slow = is_about_size || any_slow;
        let factor = (seconds / 60.0).clamp(0.05, 1_000.0);
        let fewer = |bytes: usize, slow_factor: usize| bytes / if slow { slow_factor } else { 1 };
        let scaled = |count: usize| ((count as f64 * factor) as usize).max(8);
        let is_short = factor < 0.5 || slow;
        Plan {
            stage1_payloads: scaled(128).max(32),
            stage1_bytes: scaled(fewer(4 << 20, 4)),
            finalists: FINALISTS,
            stage2_payloads: scaled(512).max(32),
            stage2_bytes: scaled(fewer(8 << 20, 16)),
            rounds: if is_short { 3 } else { 5 },
            extra_rounds: if is_short { 2 } else { 4 },
            report_rounds: if is_short { 2 } else { 3 },
            regime_payloads: scaled(32).clamp(8, 64),
            regime_bytes: scaled(fewer(1 << 20, 16)),
            first_call_processes: FIRST_CALL_PROCESSES,
            stage3_bytes: scaled(fewer(64 << 20, 16)),
        }
    }
}
