//! What `cinch sample` says of its work: on standard error, because standard output may be the
//! sample.

use cinch_evaluate::report::human::count;
use cinch_sample::{Address, Sampled};

use super::layout::Written;

/// Tells what was read, kept, unwrapped and refused, and what to do with it.
pub(super) fn tell(address: &Address, sampled: &Sampled, written: &Written) {
    let kept = count(sampled.payloads.len() as u64);
    let stored =
        sampled.stored.map_or(String::new(), |stored| format!("{} stored, ", count(stored)));
    eprintln!("{address}: {stored}{} read, {kept} kept", count(sampled.seen));
    for class in sampled.classes.iter().filter(|class| class.seen > 0) {
        let (seen, kept) = (count(class.seen), count(class.kept));
        eprintln!("  {:<14} {seen:>9} read {kept:>9} kept", class.class.name);
    }
    let counted = |name: &str, times: u64| format!("{name}: {}", count(times));
    let unwrapped: Vec<String> =
        sampled.unwrapped.iter().map(|(name, times)| counted(name, *times)).collect();
    if !unwrapped.is_empty() {
        eprintln!("  unwrapped      {}", unwrapped.join(", "));
    }
    let refused: Vec<String> =
        sampled.refused.iter().map(|(name, times)| counted(name, *times)).collect();
    if !refused.is_empty() {
        eprintln!("  not taken      {}", refused.join(", "));
    }
    if sampled.has_reached_limit {
        eprintln!("  not all of it was looked at: --scan-limit was reached");
    }
    if sampled.is_cut_short {
        eprintln!("  it was cut short; this is what there was until then");
    }
    if let Some(remark) = &written.remark {
        eprintln!("  {remark}");
    }
    if let Some(source) = &written.source {
        eprintln!("next: cinch evaluate {source}");
    }
}
