//! The parts of the typical example that only some runs have: held-out figures, dictionaries,
//! regimes, the link, the capacity, the net gain and the comparison with an older run.
//!
//! They follow from the trials' own figures, so that the example stays of one piece when those
//! change.

use super::*;
use crate::report::view;

/// Name, size in bytes and how many times smaller the payloads get, for a dictionary.
type Gain = (&'static str, u64, f64);

/// The trial of this name with a dictionary.
pub(super) fn with_dictionary(trials: &[Trial], name: &str, (id, bytes, gain): Gain) -> Trial {
    let mut trial = trials.iter().find(|trial| trial.name == name).unwrap().clone();
    trial.name = format!("{name}+{id}");
    trial.is_control = false;
    trial.dictionary = Some(format!("{:08x}", bytes * 7_919));
    let ratio = trial.ratio * gain;
    set_ratio(&mut trial, ratio);
    (trial.stage, trial.rounds, trial.timed_payloads) = ("times".to_owned(), 5, 512);
    for times in [&mut trial.compress_ns, &mut trial.pack_ns] {
        *times = spread(times.mean * 0.8);
    }
    trial.first_call_ns = trial.pack_ns.mean * 21.0;
    let share = 1.0 - 1.0 / gain;
    trial.dictionary_cost = Some(DictionaryCost {
        id: trial.dictionary.clone().unwrap(),
        bytes,
        compress_memory_bytes: bytes * 3,
        decompress_memory_bytes: bytes + 28_000,
        build_seconds: bytes as f64 / 40_000.0,
        trained_on_payloads: 7_200,
        trained_on_bytes: 23_040_000,
        gain: share,
        gain_interval: Interval { low: share * 0.95, high: share * 1.04 },
    });
    trial
}

/// What is recommended, in the words of the real sentences.
pub(super) fn recommendation() -> Recommendation {
    let listed = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    Recommendation {
        name: "verbatim+zstd:3+dict-110K".to_owned(),
        encoding: "verbatim".to_owned(),
        codec: "zstd".to_owned(),
        level: 3,
        dictionary: Some(format!("{:08x}", 112_640 * 7_919)),
        fidelity: "bytes".to_owned(),
        runner_up: Some("msgpack+zstd:3+dict-64K".to_owned()),
        ties: listed(&["msgpack+zstd:3+dict-64K"]),
        flips: listed(&[
            "Round trip under 20 µs instead of 100 µs: verbatim+lz4:1.",
            "Without a dictionary: verbatim+zstd:3, 1.9 times as large.",
        ]),
        costs: Vec::new(),
        min_size_bytes: Some(96),
        reasons: listed(&[
            "It is the best for goal cache: memory times the time of one write and four reads.",
            "It stores a share of the bytes.",
            "It keeps the budget pack_p99=400us with room to spare.",
            "Every one of the 12,000 payloads came back byte for byte.",
        ]),
        remembered: None,
        profile: "name = \"carts-2026-11\"\nencoding = \"verbatim\"\ncodec = \"zstd\"\n\
                  level = 3\ndictionary = \"zstd-35284000.dict\"\nmin_size_bytes = 96\n\
                  min_gain = 0.05\n"
            .to_owned(),
        profile_by_class: Some(
            "name = \"carts-2026-11\"\n\n[[rule]]\nmax_bytes = 1024\ncodec = \"lz4\"\n".to_owned(),
        ),
        dictionaries: vec![DictionaryFile {
            file_name: "zstd-35284000.dict".to_owned(),
            id: format!("{:08x}", 112_640 * 7_919),
            sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
            bytes: vec![0; 16],
        }],
        dictionaries_by_class: Vec::new(),
    }
}

/// Fills in what only a longer run knows.
pub(super) fn filled(mut evaluation: Evaluation) -> Evaluation {
    let best = view::find(&evaluation, &evaluation.recommended.name).unwrap().clone();
    let around =
        |value: f64, room: f64| Interval { low: value * (1.0 - room), high: value * (1.0 + room) };
    for trial in &mut evaluation.trials {
        if !view::is_timed(trial) {
            continue;
        }
        let share = view::stored_share(trial);
        let held = share * 1.03;
        let bytes_in = 7_680_000;
        trial.held_out = Some(HeldOut {
            payloads: 2_400,
            bytes_in,
            bytes_out: (bytes_in as f64 / trial.ratio) as u64,
            packed_bytes: (bytes_in as f64 * held) as u64,
            packed_share: held,
            packed_share_interval: around(held, 0.02),
        });
        let size_ratio = share / view::stored_share(&best);
        let time_ratio = view::pack_unpack_ns(trial) / view::pack_unpack_ns(&best);
        trial.paired = Some(Paired {
            size_ratio,
            size_interval: around(size_ratio, 0.01),
            time_ratio,
            time_interval: around(time_ratio, 0.04),
            score_difference: size_ratio.ln(),
            score_interval: Interval { low: size_ratio.ln() - 0.01, high: size_ratio.ln() + 0.01 },
            is_tie: evaluation.recommended.ties.contains(&trial.name),
        });
        trial.spread = Some(spread_of(trial));
        trial.calls = Some(Calls {
            count: 2_560,
            preempted: 20,
            wall_ns: view::pack_unpack_ns(trial) * 1.04,
            cpu_ns: view::pack_unpack_ns(trial),
            pack_p99_ns: trial.pack_ns.p99 * 1.2,
            pack_p999_ns: trial.pack_ns.p99 * 2.9,
            unpack_p99_ns: trial.unpack_ns.p99 * 1.2,
            unpack_p999_ns: trial.unpack_ns.p99 * 2.9,
        });
        if trial.eliminated_by.is_none() || trial.codec == "lz4" {
            trial.regimes = Some(regimes(trial));
            trial.first_call = Some(FirstCall {
                processes: 5,
                pack_p50_ns: trial.pack_ns.mean * 21.0,
                pack_max_ns: trial.pack_ns.mean * 60.0,
                unpack_p50_ns: trial.unpack_ns.mean * 15.0,
                unpack_max_ns: trial.unpack_ns.mean * 44.0,
            });
        }
    }
    sentences(&mut evaluation, &best);
    classes(&mut evaluation);
    evaluation.link = Some(link(&evaluation));
    evaluation.capacity = Some(capacity(&evaluation));
    evaluation.behind = vec![behind(&evaluation)];
    evaluation.against = Some(against(&evaluation));
    evaluation
}

/// Gives the sentences with figures the figures of the trials.
fn sentences(evaluation: &mut Evaluation, best: &Trial) {
    let share = |name: &str| view::stored_share(view::find(evaluation, name).unwrap());
    let (plain, gzip) = (share("verbatim+stored"), share("verbatim+gzip:6"));
    let own = view::stored_share(best);
    let recommended = &mut evaluation.recommended;
    recommended.reasons[1] = format!(
        "It stores {:.1} % of the bytes, envelopes included: {:.2} times smaller than plain.",
        100.0 * own,
        1.0 / own
    );
    recommended.costs = vec![
        format!("Doing nothing stores {:.1} times as much.", plain / own),
        format!("gzip -6 stores {:.2} times as much and takes 4 times as long.", gzip / own),
    ];
}

/// Quantiles of sizes and times around the trial's own figures.
fn spread_of(trial: &Trial) -> Spread {
    let along = |mean: f64| {
        let at = |share: &f64| mean * (0.15 + 1.2 * share + 3.0 * share.powi(30));
        QUANTILES.iter().map(at).collect()
    };
    Spread {
        packed_bytes: along(trial.packed_bytes as f64 / trial.payloads as f64),
        pack_ns: along(trial.pack_ns.mean),
        unpack_ns: along(trial.unpack_ns.mean),
    }
}

fn regimes(trial: &Trial) -> Regimes {
    let times = |factor: f64| RoundTrip {
        pack_ns: spread(trial.pack_ns.mean * factor),
        unpack_ns: spread(trial.unpack_ns.mean * factor),
    };
    Regimes {
        payloads: 128,
        same_payload: times(0.6),
        rotating: times(1.0),
        cold_cache: times(4.2),
        fresh_context: times(2.7),
    }
}

/// The timed trials on each class that has payloads.
fn classes(evaluation: &mut Evaluation) {
    let timed: Vec<Trial> = view::timed(evaluation).cloned().collect();
    for (index, class) in evaluation.corpus.classes.iter_mut().enumerate() {
        if class.payloads == 0 {
            continue;
        }
        let size = (index as f64 + 1.0) / 2.0;
        let payload_bytes = class.bytes as f64 / class.payloads as f64;
        class.trials = timed.iter().map(|trial| on_class(trial, size, payload_bytes)).collect();
        let recommended = evaluation.recommended.name.clone();
        (class.winner, class.ties, class.gain) = match index {
            0 => (Some("verbatim+lz4:1".to_owned()), Vec::new(), 0.14),
            1 => (Some(recommended), evaluation.recommended.ties.clone(), 0.0),
            2 => (Some("msgpack+zstd:3+dict-64K".to_owned()), vec![recommended], 0.0),
            _ => (None, Vec::new(), 0.0),
        };
    }
}

fn on_class(trial: &Trial, size: f64, payload_bytes: f64) -> ClassTrial {
    let payloads = 128;
    let bytes_in = (payload_bytes * payloads as f64) as u64;
    let scaled = |times: &Nanoseconds| spread(times.mean * payload_bytes / 3_200.0);
    let ratio = 1.0 + (trial.ratio - 1.0) * size;
    let bytes_out = (bytes_in as f64 / ratio) as u64;
    ClassTrial {
        name: trial.name.clone(),
        payloads,
        bytes_in,
        bytes_out,
        packed_bytes: bytes_out + 9 * payloads,
        ratio: bytes_in as f64 / bytes_out as f64,
        compress_ns: scaled(&trial.compress_ns),
        decompress_ns: scaled(&trial.decompress_ns),
        pack_ns: scaled(&trial.pack_ns),
        unpack_ns: scaled(&trial.unpack_ns),
        score: trial.score,
    }
}

fn link(evaluation: &Evaluation) -> LinkModel {
    let mut trials: Vec<LinkTrial> = view::timed(evaluation)
        .map(|trial| {
            let bytes = trial.packed_bytes as f64 / trial.payloads as f64;
            let wire = 15e6 + bytes * 80.0;
            LinkTrial {
                name: trial.name.clone(),
                packed_bytes: bytes,
                flights: 1.0,
                wire_ns: spread(wire),
                total_ns: spread(wire + view::pack_unpack_ns(trial)),
            }
        })
        .collect();
    trials.sort_by(|left, right| left.total_ns.mean.total_cmp(&right.total_ns.mean));
    LinkModel {
        text: "100mbit,rtt=30ms".to_owned(),
        bits_per_second: 1e8,
        round_trip_ns: 3e7,
        is_warm: false,
        has_tls: true,
        trials,
        flips: vec!["Above 2 Gbit/s: verbatim+lz4:1.".to_owned()],
    }
}

fn capacity(evaluation: &Evaluation) -> CapacityModel {
    let row = |role: &str, name: &str| {
        let trial = view::find(evaluation, name).unwrap();
        let plain = role == "now";
        let payload_bytes = if plain { 3_200.0 } else { view::stored_share(trial) * 3_200.0 };
        let bytes_per_day = payload_bytes * 1e6;
        CapacityRow {
            name: name.to_owned(),
            role: role.to_owned(),
            payload_bytes,
            bytes_per_day,
            days_gross: 1e12 / bytes_per_day,
            days_net: 6e11 / bytes_per_day,
            bytes_after_year: bytes_per_day * 365.0,
            price_of_year: Some(bytes_per_day * 365.0 / 1e9 * 0.3),
        }
    };
    CapacityModel {
        payloads_per_day: 1e6,
        disk_bytes: 1e12,
        overhead_share: 0.4,
        growth_per_month: 0.0,
        price_per_gb_month: Some(0.05),
        rows: vec![
            row("now", "verbatim+stored"),
            row("gzip -6", "verbatim+gzip:6"),
            row("baseline", &evaluation.baseline.name),
            row("recommended", &evaluation.recommended.name),
            row("runner-up", evaluation.recommended.runner_up.as_deref().unwrap()),
        ],
    }
}

fn behind(evaluation: &Evaluation) -> BehindModel {
    let bytes_in = 9_600_000_u64;
    let at_rest_plain = bytes_in as f64 * 0.31;
    let row = |name: &str, share: f64, at_rest: f64| BehindRow {
        name: name.to_owned(),
        network_bytes: (bytes_in as f64 * share) as u64,
        at_rest_bytes: at_rest as u64,
        network_gain: 1.0 - share,
        at_rest_gain: 1.0 - at_rest / at_rest_plain,
    };
    let share = |name: &str| view::stored_share(view::find(evaluation, name).unwrap());
    let best = &evaluation.recommended.name;
    BehindModel {
        name: "toast-pglz".to_owned(),
        summary: "PostgreSQL compresses values above 2 KB with pglz.".to_owned(),
        payloads: 3_000,
        bytes_in,
        rows: vec![
            row("(nothing)", 1.0, at_rest_plain),
            row(best, share(best), bytes_in as f64 * share(best)),
            row("verbatim+snappy", share("verbatim+snappy"), at_rest_plain * 1.1),
        ],
        verdict: "Packing still saves 71 % at rest, and 91 % on the network.".to_owned(),
    }
}

fn against(evaluation: &Evaluation) -> AgainstModel {
    let trials = ["verbatim+zstd:3", "verbatim+gzip:6"].map(|name| {
        let trial = view::find(evaluation, name).unwrap();
        let share = view::stored_share(trial);
        AgainstTrial {
            name: name.to_owned(),
            packed_share_then: share * 0.88,
            packed_share_now: share,
            packed_share_interval: Some(Interval { low: share * 0.97, high: share * 1.03 }),
            time_then_ns: view::pack_unpack_ns(trial) * 1.01,
            time_now_ns: view::pack_unpack_ns(trial),
            change: (name == "verbatim+zstd:3").then(|| "13.6 % larger".to_owned()),
        }
    });
    AgainstModel {
        name: "carts-2026-05".to_owned(),
        caveats: vec!["The older run was on another processor.".to_owned()],
        drift: vec!["Payloads are 12 % larger: 3.20 KB instead of 2.86 KB.".to_owned()],
        versions: vec![("libzstd".to_owned(), "1.5.6".to_owned(), "1.5.7".to_owned())],
        trials: trials.to_vec(),
        recommended_then: "verbatim+zstd:3".to_owned(),
        recommended_now: evaluation.recommended.name.clone(),
        verdict: "Change: a dictionary makes the payloads 1.9 times smaller.".to_owned(),
        decision: "change".to_owned(),
    }
}

/// Puts the hostile name wherever a name or a sentence can stand.
pub(super) fn soil(evaluation: &mut Evaluation) {
    let hostile = || HOSTILE.to_owned();
    let recommended = &mut evaluation.recommended;
    recommended.ties = vec![hostile()];
    recommended.flips = vec![hostile()];
    recommended.costs = vec![hostile()];
    recommended.profile_by_class = Some(format!("name = \"{HOSTILE}\"\n</pre>"));
    for file in &mut recommended.dictionaries {
        (file.file_name, file.id, file.sha256) = (hostile(), hostile(), hostile());
    }
    if let Some(link) = &mut evaluation.link {
        (link.text, link.flips) = (hostile(), vec![hostile()]);
        link.trials[0].name = hostile();
    }
    if let Some(capacity) = &mut evaluation.capacity {
        (capacity.rows[0].name, capacity.rows[1].role) = (hostile(), hostile());
    }
    for behind in &mut evaluation.behind {
        (behind.name, behind.summary, behind.verdict) = (hostile(), hostile(), hostile());
        behind.rows[0].name = hostile();
    }
    if let Some(against) = &mut evaluation.against {
        (against.name, against.verdict) = (hostile(), hostile());
        (against.caveats, against.drift) = (vec![hostile()], vec![hostile()]);
        against.versions = vec![(hostile(), hostile(), hostile())];
        (against.recommended_then, against.recommended_now) = (hostile(), hostile());
        against.trials[0].name = hostile();
        against.trials[0].change = Some(hostile());
    }
    for trial in &mut evaluation.trials {
        if let Some(cost) = &mut trial.dictionary_cost {
            cost.id = hostile();
        }
    }
    evaluation.run.noise.signs = vec![hostile()];
    evaluation.run.host = vec![(hostile(), hostile())];
    evaluation.corpus.split.by = Some(hostile());
}
