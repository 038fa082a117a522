//! Whether a dictionary is worth handing around.
//! It costs its bytes, memory in every process, and care for as long as anything refers to it.

use cinch_core::encoding::Encoding;
use serde::Serialize;

use super::contest::Contender;

/// A dictionary has to make payloads smaller by at least this share: it has to be distributed,
/// loaded and kept for as long as anything refers to it.
pub const SMALLER_BY_MIN: f64 = 0.05;

/// Up to this share more time is noise.
pub const TIME_TOLERANCE: f64 = 0.05;

/// What the payloads that report decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// Whether the dictionary is worth it.
    pub is_worth_it: bool,
    /// Why, in a sentence.
    pub reason: String,
}

pub(super) fn nothing_in_common() -> Decision {
    Decision {
        is_worth_it: false,
        reason: "The payloads have too little in common: no dictionary is the answer.".to_owned(),
    }
}

fn refused(reason: String) -> Decision {
    Decision { is_worth_it: false, reason }
}

/// Decides on what the contenders made of the payloads that report, the new dictionary last.
pub(super) fn decide(
    contenders: &[Contender],
    encoding: &Encoding,
    was_held_out: bool,
) -> Decision {
    let Some((new, others)) = contenders.split_last() else { return nothing_in_common() };
    if !was_held_out {
        return refused(
            "There are too few payloads to hold some out, so nothing can be said of later ones."
                .to_owned(),
        );
    }
    let smaller_by = |other: &Contender| 1.0 - new.bytes as f64 / other.bytes.max(1) as f64;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let Some(least) = others.iter().min_by_key(|other| other.bytes) else {
        return nothing_in_common();
    };
    let gain = smaller_by(least);
    if gain < SMALLER_BY_MIN {
        let than = match least.name {
            "current" => "the current dictionary".to_owned(),
            _ => format!("{} without a dictionary", least.encoding),
        };
        let by = if gain < 0.0 {
            format!("{} larger than with", percent(-gain))
        } else {
            format!("only {} smaller than with", percent(gain))
        };
        let answer = match least.name {
            "current" => "keep the current one",
            _ => "no dictionary is the answer",
        };
        return refused(format!(
            "Payloads that did not train it are {by} {than}, and {} is what a dictionary has to \
             gain: {answer}.",
            percent(SMALLER_BY_MIN)
        ));
    }
    // What leaves payloads plain takes no time to unpack them, and saves nothing. Neither does a
    // dictionary that makes them larger than they are without one: nobody would keep it.
    let bare_bytes = others.iter().find(|other| other.name != "current").map(|other| other.bytes);
    let is_comparable = |other: &&Contender| {
        other.encoding == encoding.name
            && 2 * other.packed >= new.packed
            && bare_bytes.is_none_or(|bytes| other.bytes <= bytes)
    };
    for other in others.iter().filter(is_comparable) {
        for (what, new_ns, other_ns) in
            [("packing", new.pack_ns, other.pack_ns), ("unpacking", new.unpack_ns, other.unpack_ns)]
        {
            if new_ns > other_ns * (1.0 + TIME_TOLERANCE) {
                return refused(format!(
                    "Payloads are {} smaller, but {what} them takes {} longer than with {}.",
                    percent(gain),
                    percent(new_ns / other_ns - 1.0),
                    other.name
                ));
            }
        }
    }
    Decision {
        is_worth_it: true,
        reason: format!(
            "Payloads that did not train it are {} smaller than with the best of the others, and \
             no slower where those are packed.",
            percent(gain)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinch_core::encoding::encoding_named;

    fn contender(name: &'static str, bytes: u64, pack_ns: f64) -> Contender {
        let (packed, unpack_ns) = (100, 100.0);
        Contender { name, encoding: "columnar", bytes, packed, ratio: 1.0, pack_ns, unpack_ns }
    }

    fn decided(contenders: &[Contender]) -> Decision {
        decide(contenders, encoding_named("columnar").unwrap(), true)
    }

    #[test]
    fn a_dictionary_has_to_gain_five_percent_on_everything_and_lose_no_time() {
        let none = contender("no dictionary", 1_000, 100.0);
        let worth = |new| decided(&[none.clone(), new]).is_worth_it;
        assert!(worth(contender("new", 950, 100.0)));
        assert!(!worth(contender("new", 951, 100.0)));
        assert!(worth(contender("new", 500, 104.0)));
        assert!(!worth(contender("new", 500, 106.0)));
        // Payloads that stay plain cost no time, and that is no reason to keep them so.
        let plain = Contender { packed: 3, ..none.clone() };
        assert!(decided(&[plain, contender("new", 500, 900.0)]).is_worth_it);
        // A current dictionary of other payloads is quick where it finds nothing.
        let useless = Contender { unpack_ns: 10.0, ..contender("current", 1_200, 10.0) };
        assert!(decided(&[none.clone(), useless, contender("new", 500, 100.0)]).is_worth_it);
        let useful = Contender { unpack_ns: 10.0, ..contender("current", 900, 10.0) };
        assert!(!decided(&[none.clone(), useful, contender("new", 500, 100.0)]).is_worth_it);
        let current = contender("current", 520, 100.0);
        let new = contender("new", 500, 100.0);
        let decision = decided(&[none.clone(), current, new.clone()]);
        assert!(!decision.is_worth_it && decision.reason.contains("keep the current one"));
        assert!(!decide(&[none, new], encoding_named("columnar").unwrap(), false).is_worth_it);
    }

    #[test]
    fn the_reason_says_when_no_dictionary_is_the_answer() {
        let none = contender("no dictionary", 1_000, 100.0);
        let larger = decided(&[none.clone(), contender("new", 1_100, 100.0)]);
        assert!(larger.reason.contains("10.0 % larger than with columnar without a dictionary"));
        assert!(larger.reason.ends_with("no dictionary is the answer."));
        let slow = decided(&[none, contender("new", 400, 200.0)]);
        assert!(slow.reason.contains("packing them takes 100.0 % longer"), "{}", slow.reason);
    }
}
