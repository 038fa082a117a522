//! Progress on standard error, on a terminal only, with the time left.
//!
//! Nothing is printed where nobody looks: a log gets results and errors only.

use std::io::{IsTerminal, stderr};
use std::time::Duration;

use cinch_evaluate::measure::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::arguments::ProgressChoice;

/// A progress bar, or nothing where nobody looks.
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar that is not shown until a stage begins.
    pub fn new(choice: ProgressChoice) -> Bar {
        let is_shown = choice == ProgressChoice::Auto && stderr().is_terminal();
        let target =
            if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style("{spinner} reading {msg}"));
        Bar { bar }
    }

    /// Shows how much was read, while nobody knows how much there is.
    pub fn reading(&self, payloads: u64, bytes: u64) {
        self.bar.set_message(format!("{payloads} payloads, {} MB", bytes / 1_000_000));
        self.bar.tick();
    }

    /// Shows how many values of a live store were seen, and how many of them are kept.
    pub fn sampling(&self, seen: u64, kept: u64) {
        self.bar.set_message(format!("{seen} values, {kept} kept"));
        self.bar.tick();
    }

    /// Shows how many records were looked at and how many of them were rewritten.
    pub fn rewriting(&self, records: u64, rewritten: u64, rate: f64) {
        self.walking(records, rewritten, "rewritten", rate);
    }

    /// Shows how many records were looked at and how many of them can't be read.
    pub fn verifying(&self, records: u64, unreadable: u64, rate: f64) {
        self.walking(records, unreadable, "unreadable", rate);
    }

    fn walking(&self, records: u64, some: u64, what: &str, rate: f64) {
        self.bar.set_style(style("{spinner} {msg}  {elapsed}"));
        let rate = rate.round();
        self.bar.set_message(format!("{records} records, {some} {what}, at most {rate} a second"));
        self.bar.tick();
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn begin(&mut self, stage: &str, total: u64) {
        self.bar.reset();
        self.bar.set_length(total);
        self.bar.set_style(style("{msg:<18} {wide_bar:.cyan} {percent:>3} %  {eta} left"));
        self.bar.set_message(stage.to_owned());
        self.bar.enable_steady_tick(Duration::from_millis(200));
    }

    fn advance(&mut self, units: u64) {
        self.bar.inc(units);
    }
}

/// The style of a template, or the library's own where the template is wrong.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
