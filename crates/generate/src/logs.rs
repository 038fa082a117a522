//! Structured log events: audit records of a cloud account, which repeat who called what from
//! where in every record, and among them the lines of services that run in it.

mod account;
mod audit;
mod operations;
mod service;

use crate::calendar::{DAY_SECONDS, FIRST_DAY};
use crate::options::Options;
use crate::quantiles::Quantiles;
use crate::random::{Key, Random};
use crate::recipe::Recipe;
use crate::scale::{Scale, Shape};
use crate::sizes::Sizes;
use account::Account;
use operations::Operations;

/// From this target on the corpus has audit records; below it only the shorter service lines.
const AUDIT_BYTES: u32 = 1000;

/// List entries relative to a median of 100, for targets that need lists.
const ENTRIES: Quantiles = Quantiles(&[40, 70, 80, 90, 96, 100, 106, 115, 130, 160, 300]);

const AUDIT_SHAPE: Shape = Shape { header_bytes: 1100, entry_bytes: 126, median_entries: 100 };
const LINE_SHAPE: Shape = Shape { header_bytes: 214, entry_bytes: 76, median_entries: 100 };

/// The milliseconds between two events, and those after which the calendar starts again.
const PACE_MILLISECONDS: u64 = 730;
const SPAN_MILLISECONDS: u64 = 4 * 365 * DAY_SECONDS * 1000;

/// When an event happened, in milliseconds since 1 January 1970.
#[derive(Clone, Copy)]
struct Moment(u64);

struct Logs {
    account: Account,
    operations: Operations,
    growth: Growth,
    sizes: Sizes,
}

/// How the events of a corpus are brought to its target size.
enum Growth {
    /// Nothing is added.
    Natural,
    /// Audit records list resources, and service lines the frames of a stack.
    Lists(Scale),
    /// Only short service lines, with as many breadcrumbs as fit.
    Lines(Scale),
}

/// Prepares the recipe of the log events.
pub(crate) fn open(key: &Key, options: &Options) -> Box<dyn Recipe> {
    let mut random = Random::for_catalogue(key);
    let growth = match options.median_bytes {
        None => Growth::Natural,
        Some(bytes) if bytes < AUDIT_BYTES => {
            Growth::Lines(Scale::new(options.median_bytes, &LINE_SHAPE))
        }
        Some(_) => Growth::Lists(Scale::new(options.median_bytes, &AUDIT_SHAPE)),
    };
    Box::new(Logs {
        account: Account::new(&mut random),
        operations: Operations::new(&mut random),
        growth,
        sizes: Sizes::new(&mut random),
    })
}

impl Recipe for Logs {
    fn write(&self, index: u64, random: &mut Random, output: &mut String) {
        let milliseconds = index * PACE_MILLISECONDS + u64::from(random.below(1500));
        let moment = Moment(FIRST_DAY * DAY_SECONDS * 1000 + milliseconds % SPAN_MILLISECONDS);
        let entries = match &self.growth {
            Growth::Natural => 0,
            Growth::Lists(scale) | Growth::Lines(scale) => {
                scale.entries(ENTRIES.at(self.sizes.share(index)))
            }
        };
        match self.growth {
            Growth::Lines(_) => service::write_line(moment, entries, random, output),
            _ if random.chance(150) => {
                service::write_event(&self.account, moment, entries, random, output);
            }
            _ => {
                let operation = self.operations.called(random);
                audit::write(&self.account, operation, moment, entries, random, output);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::calibration::{self, Band};

    #[test]
    fn log_events_compress_like_the_measured_audit_records() {
        calibration::check(
            "logs",
            1500,
            &Band { median_bytes: 1000..1350, key_percent: 30..40, ratio_percent: 138..184 },
        );
    }

    #[test]
    fn log_events_grow_and_shrink_to_a_target() {
        calibration::check_scaled("logs", 300, 300);
        calibration::check_scaled("logs", 700, 300);
        calibration::check_scaled("logs", 8000, 300);
    }

    #[test]
    fn a_corpus_mixes_audit_records_and_service_lines() {
        let events = calibration::documents("logs", 400);
        let services = events.iter().filter(|event| event.get("logger").is_some()).count();
        assert!((30..110).contains(&services), "{services} service lines");
    }
}
