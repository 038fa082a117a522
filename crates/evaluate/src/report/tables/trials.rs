//! The tables of trials: the front, every timed trial with every figure, and those that were only
//! sized.
//!
//! A column is one line of a table below: its title, what explains it, and its figure.

use super::{Cell, Column, Row, Table};
use crate::model::{Evaluation, Trial};
use crate::report::human;
use crate::report::view;

/// A column over trials.
struct Of {
    title: &'static str,
    about: &'static str,
    cell: fn(&Trial) -> Cell,
}

const STORED: Of = Of {
    title: "Stored",
    about: "Bytes as cinch stores them, envelopes included, in % of the original",
    cell: |trial| Cell::figure(view::stored_share(trial), human::percent),
};

const HELD_OUT: Of = Of {
    title: "Held out",
    about: "Stored, on payloads that neither trained nor chose; the 95 % interval below",
    cell: |trial| match &trial.held_out {
        Some(held) => {
            let interval = &held.packed_share_interval;
            let text = human::percent_interval(interval.low, interval.high);
            Cell::figure(held.packed_share, human::percent).noted(text)
        }
        None => Cell::nothing(),
    },
};

const RATIOS: [Of; 2] = [
    Of {
        title: "Ratio",
        about: "Original bytes over compressed bytes, of all payloads together",
        cell: |trial| Cell::figure(trial.ratio, human::ratio),
    },
    Of {
        title: "Median ratio",
        about: "The median over payloads of each one's own ratio",
        cell: |trial| Cell::figure(trial.median_ratio, human::ratio),
    },
];

const TOGETHER: Of = Of {
    title: "Pack + unpack",
    about: "The mean time of both together, for one payload",
    cell: |trial| Cell::figure(view::pack_unpack_ns(trial), human::time),
};

const WHOLE_TIMES: [Of; 2] = [
    Of {
        title: "Pack",
        about: "All between the application and the stored bytes; p50, and p99 below",
        cell: |trial| Cell::times(&trial.pack_ns, trial.p99_is_max),
    },
    Of {
        title: "Unpack",
        about: "All the way back; p50, and p99 below",
        cell: |trial| Cell::times(&trial.unpack_ns, trial.p99_is_max),
    },
];

const PART_TIMES: [Of; 7] = [
    Of {
        title: "Parse",
        about: "JSON text to the value; p50, and p99 below",
        cell: |trial| Cell::times(&trial.parse_ns, trial.p99_is_max),
    },
    Of {
        title: "Encode",
        about: "Value to encoded bytes; p50, and p99 below",
        cell: |trial| Cell::times(&trial.encode_ns, trial.p99_is_max),
    },
    Of {
        title: "Compress",
        about: "Encoded bytes to compressed bytes; p50, and p99 below",
        cell: |trial| Cell::times(&trial.compress_ns, trial.p99_is_max),
    },
    Of {
        title: "Decompress",
        about: "Compressed bytes to encoded bytes; p50, and p99 below",
        cell: |trial| Cell::times(&trial.decompress_ns, trial.p99_is_max),
    },
    Of {
        title: "Decode",
        about: "Encoded bytes to the value; p50, and p99 below",
        cell: |trial| Cell::times(&trial.decode_ns, trial.p99_is_max),
    },
    Of {
        title: "Write",
        about: "Value to JSON text; p50, and p99 below",
        cell: |trial| Cell::times(&trial.write_ns, trial.p99_is_max),
    },
    Of {
        title: "Checksum",
        about: "The envelope's checksum, once while packing and once while unpacking; p50, p99",
        cell: |trial| Cell::times(&trial.checksum_ns, trial.p99_is_max),
    },
];

const FACTORS: [Of; 2] = [
    Of {
        title: "Size factor",
        about: "Bytes compared with the baseline's",
        cell: |trial| Cell::figure(trial.size_factor, human::factor),
    },
    Of {
        title: "Speed factor",
        about: "Time to pack and unpack compared with the baseline's; less is faster",
        cell: |trial| Cell::figure(trial.speed_factor, human::factor),
    },
];

const MEMORY: Of = Of {
    title: "Memory",
    about: "What the contexts hold between calls; compressor and decompressor below",
    cell: |trial| {
        let cell = Cell::figure(trial.memory_bytes as f64, human::size);
        let parts = (trial.compressor_memory_bytes, trial.decompressor_memory_bytes);
        match parts {
            (0, 0) => cell,
            (packs, unpacks) => cell.noted(format!(
                "{} + {}",
                human::size(packs as f64),
                human::size(unpacks as f64)
            )),
        }
    },
};

const AGAINST_BEST: Of = Of {
    title: "Against the recommended",
    about: "Time over the recommended trial's, payload by payload; the 95 % interval below",
    cell: |trial| match &trial.paired {
        Some(paired) => {
            let interval = &paired.time_interval;
            let text = human::percent_interval(interval.low, interval.high);
            Cell::figure(paired.time_ratio, human::factor).noted(text)
        }
        None => Cell::nothing(),
    },
};

const REST: [Of; 2] = [
    Of {
        title: "First call",
        about: "A new context and its first call",
        cell: |trial| match trial.first_call_ns {
            0.0 => Cell::nothing(),
            first => Cell::figure(first, human::time),
        },
    },
    Of {
        title: "Rounds apart",
        about: "The largest spread between rounds, as a share of the median",
        cell: |trial| Cell::figure(trial.round_spread, human::percent),
    },
];

const FIDELITY: Of = Of {
    title: "Fidelity",
    about: "What a round trip keeps",
    cell: |trial| Cell::text(&trial.fidelity),
};

/// The trials of the front, in its order.
pub(in crate::report) fn front(evaluation: &Evaluation) -> Table {
    let trials: Vec<&Trial> =
        evaluation.front.iter().filter_map(|point| view::find(evaluation, &point.name)).collect();
    let mut columns = vec![&STORED, &HELD_OUT];
    columns.extend(&RATIOS);
    columns.push(&TOGETHER);
    columns.extend(&WHOLE_TIMES);
    columns.push(&MEMORY);
    columns.extend(&FACTORS);
    let caption = "Nothing beats these trials in both size and time.";
    table(evaluation, ("front", "The Pareto front", caption), &trials, &columns)
}

/// Every timed trial with every figure.
pub(in crate::report) fn timed(evaluation: &Evaluation) -> Table {
    let trials: Vec<&Trial> = view::timed(evaluation).collect();
    let mut columns = vec![&STORED, &HELD_OUT];
    columns.extend(&RATIOS);
    columns.extend(&WHOLE_TIMES);
    columns.extend(&PART_TIMES);
    columns.push(&REST[0]);
    columns.push(&MEMORY);
    columns.extend(&FACTORS);
    columns.push(&AGAINST_BEST);
    columns.push(&REST[1]);
    columns.push(&FIDELITY);
    let caption = "Times are of one payload: p50 over payloads, and p99 in small below it.";
    table(evaluation, ("timed", "Timed trials", caption), &trials, &columns)
}

/// The trials that only have sizes.
pub(in crate::report) fn untimed(evaluation: &Evaluation) -> Table {
    let trials: Vec<&Trial> =
        evaluation.trials.iter().filter(|trial| !view::is_timed(trial)).collect();
    let mut columns = vec![&STORED];
    columns.extend(&RATIOS);
    columns.push(&FACTORS[0]);
    columns.push(&FIDELITY);
    let title = format!("{} that were only sized", human::counted(trials.len() as u64, "trial"));
    table(evaluation, ("untimed", &title, ""), &trials, &columns)
}

fn table(
    evaluation: &Evaluation,
    (id, title, caption): (&str, &str, &str),
    trials: &[&Trial],
    figures: &[&Of],
) -> Table {
    let mut columns = vec![Column::words("Trial", "Encoding, codec, level, dictionary")];
    columns.push(Column::words("Verdict", "What it is, and the rule that took it out"));
    columns.extend(figures.iter().map(|of| Column {
        is_figure: of.title != FIDELITY.title,
        ..Column::figure(of.title, of.about)
    }));
    let rows = trials.iter().map(|trial| {
        let mut cells = vec![name(trial), verdict(evaluation, trial)];
        cells.extend(figures.iter().map(|of| (of.cell)(trial)));
        let kind = (human::printable(&trial.encoding), human::printable(&trial.codec));
        Row { kind: Some(kind), ..Row::of(evaluation, &trial.name, cells) }
    });
    Table {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        columns,
        rows: rows.collect(),
    }
}

fn name(trial: &Trial) -> Cell {
    let cell = Cell::text(&trial.name);
    match &trial.dictionary {
        Some(id) => cell.noted(format!("dictionary {}", human::printable(id))),
        None => cell,
    }
}

/// What a trial is, what took it out, and what its figures do not say: what it could not carry,
/// and what did not come back.
fn verdict(evaluation: &Evaluation, trial: &Trial) -> Cell {
    let remark = |count: u64, what: &str, first: &Option<String>| {
        let first = first.as_deref().map(human::printable);
        let first = first.map(|first| format!(": {first}")).unwrap_or_default();
        (count > 0).then(|| format!("{} {what}{first}", human::counted(count, "payload")))
    };
    let failed = remark(trial.failures, "did not come back", &trial.failure);
    let what = format!("refused ({})", human::percent(trial.refused_share));
    let refused = remark(trial.refused, &what, &trial.refusal);
    Cell {
        words: view::standing(evaluation, trial).words(),
        remarks: failed.into_iter().chain(refused).collect(),
        ..Cell::text(trial.eliminated_by.as_deref().unwrap_or_default())
    }
}
