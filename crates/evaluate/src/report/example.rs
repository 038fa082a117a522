//! Evaluations to test reports with: a typical one, and ones with what corpora do to reports
//! (times from 50 ns to 3 s, one payload, no front, names that are HTML).
//!
//! They are built in code from a fixed seed, so that two runs render the same text. The figures
//! are plausible and nothing more: no test may take them for measurements.

mod models;

use crate::bootstrap::Interval;
use crate::model::*;

/// A name that breaks every report that does not escape it.
pub(super) const HOSTILE: &str =
    "<script>alert(\"1\")</script>'&amp;]]>\u{1b}[31m\u{202e}`{{ 7*7 }}` onload=x";

const ENCODINGS: [(&str, f64, f64); 7] = [
    ("verbatim", 1.0, 0.05),
    ("json", 0.96, 1.0),
    ("json-simd", 0.96, 0.5),
    ("msgpack", 0.78, 0.6),
    ("cbor", 0.79, 0.7),
    ("bson", 1.08, 0.9),
    ("smile", 0.7, 0.8),
];

/// Name, level, ratio, nanoseconds per byte to compress and to decompress, bytes of contexts.
const CODECS: [(&str, i32, f64, f64, f64, u64); 11] = [
    ("stored", 0, 1.0, 0.02, 0.02, 0),
    ("snappy", 0, 3.4, 1.6, 0.6, 65_536),
    ("lz4", 1, 3.6, 1.4, 0.3, 16_384),
    ("lz4", 9, 4.4, 14.0, 0.3, 262_144),
    ("zlib", 6, 5.8, 11.0, 2.6, 300_000),
    ("gzip", 6, 5.7, 11.4, 2.8, 300_000),
    ("zstd", 1, 5.5, 2.4, 1.0, 590_000),
    ("zstd", 3, 5.9, 3.3, 1.0, 1_310_000),
    ("zstd", 9, 6.4, 14.0, 0.9, 7_400_000),
    ("brotli", 5, 6.9, 18.0, 3.1, 4_000_000),
    ("bzip2", 9, 6.8, 70.0, 30.0, 7_600_000),
];

/// Every example, so that a test can hold for all of them.
pub(super) fn all() -> Vec<Evaluation> {
    vec![typical(), hostile(), extreme(), one_payload(), nothing_timed()]
}

/// A corpus of carts: every codec with every encoding, two dictionaries, and some of them timed.
pub(super) fn typical() -> Evaluation {
    let mut random = Random(20_261_104);
    let mut trials = Vec::new();
    for (encoding, size, cost) in ENCODINGS {
        for (codec, level, ratio, compress, decompress, memory) in CODECS {
            let name = match level {
                0 => format!("{encoding}+{codec}"),
                _ => format!("{encoding}+{codec}:{level}"),
            };
            let ratio = ratio / size.powf(if codec == "stored" { 1.0 } else { 0.4 });
            let ratio = ratio * random.between(0.97, 1.03);
            let mut trial = trial(&name, (encoding, codec, level), ratio);
            trial.memory_bytes = memory;
            trial.compressor_memory_bytes = memory * 3 / 4;
            trial.decompressor_memory_bytes = memory / 4;
            if encoding != "verbatim" {
                trial.fidelity = "value".to_owned();
            }
            let noise = random.between(0.9, 1.15);
            time(&mut trial, 3_200.0, cost, (compress * noise, decompress * noise));
            if !is_finalist(encoding, codec, level) {
                // What was only sized has the times of one pass and nothing that needs more.
                trial.stage = "sizes".to_owned();
                (trial.timed_payloads, trial.rounds) = (128, 1);
                (trial.first_call_ns, trial.round_spread) = (0.0, 0.0);
            }
            trials.push(trial);
        }
    }
    trials.push(models::with_dictionary(&trials, "verbatim+zstd:3", ("dict-110K", 112_640, 1.9)));
    trials.push(models::with_dictionary(&trials, "msgpack+zstd:3", ("dict-64K", 65_536, 1.7)));
    let corpus = CorpusSummary {
        name: "carts-2026-11".to_owned(),
        payloads: 12_000,
        bytes: 38_400_000,
        json_payloads: 11_988,
        seen: 1_204_331,
        seen_bytes: 3_850_000_000,
        duplicates: 1_203,
        groups: 9_800,
        largest_group: 41,
        split: SplitSummary {
            by: Some("group".to_owned()),
            train: 7_200,
            select: 2_400,
            report: 2_400,
        },
        size: SizeSummary {
            min: 212,
            mean: 3_200.0,
            p50: 2_480,
            p95: 9_310,
            p99: 14_200,
            max: 131_072,
        },
        classes: vec![
            class("up to 1 KiB", Some(1 << 10), 1_900, 1_200_000),
            class("1 to 4 KiB", Some(4 << 10), 7_400, 17_100_000),
            class("4 to 16 KiB", Some(16 << 10), 2_680, 19_000_000),
            class("16 to 128 KiB", Some(128 << 10), 20, 1_100_000),
            class("above 128 KiB", None, 0, 0),
        ],
        problems: ProblemSummary {
            count: 3,
            first: vec!["carts.jsonl:1207: not UTF-8 at byte 88".to_owned()],
        },
        skipped_files: vec!["README.md".to_owned()],
    };
    models::filled(finished(corpus, trials, "json+zlib:6"))
}

/// The typical corpus with names that are HTML, template syntax and terminal commands.
pub(super) fn hostile() -> Evaluation {
    let mut evaluation = typical();
    evaluation.corpus.name = HOSTILE.to_owned();
    evaluation.corpus.problems.first = vec![format!("{HOSTILE}:1: {HOSTILE}")];
    evaluation.corpus.skipped_files = vec![HOSTILE.to_owned()];
    evaluation.corpus.classes[0].name = HOSTILE.to_owned();
    evaluation.corpus.classes[1].winner = Some(HOSTILE.to_owned());
    evaluation.corpus.classes[1].ties = vec![HOSTILE.to_owned()];
    evaluation.corpus.classes[1].trials[0].name = HOSTILE.to_owned();
    let renamed = evaluation.recommended.name.clone();
    for trial in &mut evaluation.trials {
        if trial.name == renamed {
            trial.name = HOSTILE.to_owned();
            trial.dictionary = Some(HOSTILE.to_owned());
            trial.refused = 2;
            trial.refusal = Some(HOSTILE.to_owned());
        } else if trial.codec == "lz4" {
            trial.codec = HOSTILE.to_owned();
            trial.encoding = HOSTILE.to_owned();
            trial.failures = 1;
            trial.failure = Some(HOSTILE.to_owned());
            trial.fidelity = HOSTILE.to_owned();
        }
        if trial.eliminated_by.is_some() {
            trial.eliminated_by = Some(HOSTILE.to_owned());
        }
    }
    for point in &mut evaluation.front {
        if point.name == renamed {
            point.name = HOSTILE.to_owned();
        }
    }
    evaluation.recommended.name = HOSTILE.to_owned();
    evaluation.recommended.runner_up = Some(HOSTILE.to_owned() + "2");
    evaluation.recommended.reasons = vec![HOSTILE.to_owned()];
    evaluation.recommended.profile = format!("name = \"{HOSTILE}\"\n</pre>");
    evaluation.budgets = vec![HOSTILE.to_owned()];
    evaluation.goal = HOSTILE.to_owned();
    models::soil(&mut evaluation);
    evaluation.run.notices = vec![HOSTILE.to_owned()];
    evaluation.run.processor = HOSTILE.to_owned();
    evaluation.versions[0].name = HOSTILE.to_owned();
    evaluation
}

/// Times from 50 ns to 3 s, a trial that grows payloads, and one with a ratio of 300.
pub(super) fn extreme() -> Evaluation {
    let mut evaluation = typical();
    let mut ends = evaluation.trials.iter_mut().filter(|trial| trial.stage != "sizes");
    let (fast, slow) = (ends.next().unwrap(), ends.last().unwrap());
    set_ratio(fast, 0.8);
    set_ratio(slow, 300.0);
    (fast.pack_ns, fast.unpack_ns) = (spread(30.0), spread(20.0));
    (slow.pack_ns, slow.unpack_ns) = (spread(2.9e9), spread(1e8));
    refresh(&mut evaluation);
    evaluation
}

/// One payload: every percentile is the maximum, and no class has a winner.
pub(super) fn one_payload() -> Evaluation {
    let mut evaluation = typical();
    evaluation.corpus.name = "one.json".to_owned();
    evaluation.corpus.payloads = 1;
    evaluation.corpus.seen = 1;
    evaluation.corpus.duplicates = 0;
    evaluation.corpus.classes = vec![class("1 to 4 KiB", Some(4 << 10), 1, 2_480)];
    evaluation.corpus.split = SplitSummary { train: 1, select: 1, report: 1, by: None };
    evaluation.corpus.problems = ProblemSummary::default();
    evaluation.corpus.skipped_files.clear();
    evaluation.trials.retain(|trial| trial.encoding != "bson");
    for trial in &mut evaluation.trials {
        (trial.payloads, trial.p99_is_max) = (1, trial.stage != "sizes");
        (trial.held_out, trial.paired, trial.regimes) = (None, None, None);
        (trial.calls, trial.first_call, trial.dictionary_cost) = (None, None, None);
    }
    (evaluation.link, evaluation.capacity, evaluation.against) = (None, None, None);
    evaluation.behind.clear();
    evaluation.recommended.ties.clear();
    evaluation.run.interrupted = true;
    evaluation
}

/// An evaluation that was cut short before anything was timed.
pub(super) fn nothing_timed() -> Evaluation {
    let mut evaluation = typical();
    for trial in &mut evaluation.trials {
        // Nothing is left of it but its sizes.
        *trial = Trial {
            name: trial.name.clone(),
            encoding: trial.encoding.clone(),
            codec: trial.codec.clone(),
            level: trial.level,
            dictionary: trial.dictionary.clone(),
            is_control: trial.is_control,
            stage: "sizes".to_owned(),
            payloads: trial.payloads,
            bytes_in: trial.bytes_in,
            bytes_out: trial.bytes_out,
            packed_bytes: trial.packed_bytes,
            ratio: trial.ratio,
            median_ratio: trial.median_ratio,
            fidelity: trial.fidelity.clone(),
            size_factor: trial.size_factor,
            ..Trial::default()
        };
    }
    (evaluation.link, evaluation.capacity, evaluation.against) = (None, None, None);
    evaluation.behind.clear();
    evaluation.run.noise = Noise::default();
    evaluation.recommended.ties.clear();
    evaluation.recommended.flips.clear();
    evaluation.recommended.costs.clear();
    evaluation.front.clear();
    evaluation.recommended.runner_up = None;
    evaluation.recommended.reasons.clear();
    evaluation.corpus.classes.clear();
    evaluation
}

fn class(name: &str, max_bytes: Option<u64>, payloads: u64, bytes: u64) -> SizeClass {
    SizeClass { name: name.to_owned(), max_bytes, payloads, bytes, ..SizeClass::default() }
}

/// What a run of a minute would time: every codec on the text, and the best of the rest.
fn is_finalist(encoding: &str, codec: &str, level: i32) -> bool {
    match encoding {
        "verbatim" => !(codec == "zstd" && level == 1),
        "json" => matches!(codec, "zlib" | "stored"),
        "msgpack" => matches!(codec, "zlib" | "zstd" | "brotli") || (codec, level) == ("lz4", 1),
        "smile" => matches!((codec, level), ("zstd", 3) | ("bzip2", 9)),
        "cbor" => codec == "zlib",
        _ => false,
    }
}

fn spread(mean: f64) -> Nanoseconds {
    Nanoseconds { mean, p50: mean * 0.8, p95: mean * 2.1, p99: mean * 3.4 }
}

fn set_ratio(trial: &mut Trial, ratio: f64) {
    trial.ratio = ratio;
    trial.median_ratio = ratio * 0.93;
    trial.bytes_out = (trial.bytes_in as f64 / ratio) as u64;
    trial.packed_bytes = trial.bytes_out + trial.payloads * 9;
}

fn trial(name: &str, (encoding, codec, level): (&str, &str, i32), ratio: f64) -> Trial {
    let mut trial = Trial {
        name: name.to_owned(),
        encoding: encoding.to_owned(),
        codec: codec.to_owned(),
        level,
        is_control: encoding == "verbatim"
            && matches!((codec, level), ("stored", _) | ("gzip", 6) | ("zstd", 3)),
        stage: "sizes".to_owned(),
        payloads: 128,
        bytes_in: 409_600,
        fidelity: "bytes".to_owned(),
        size_factor: 1.0,
        speed_factor: 1.0,
        ..Trial::default()
    };
    set_ratio(&mut trial, ratio);
    trial
}

fn time(trial: &mut Trial, bytes: f64, cost: f64, (compress, decompress): (f64, f64)) {
    trial.stage = "times".to_owned();
    (trial.timed_payloads, trial.rounds) = (512, 5);
    let cost = if trial.encoding == "verbatim" { 0.0 } else { cost };
    if cost > 0.0 {
        trial.parse_ns = spread(bytes * 2.0 * cost);
        trial.encode_ns = spread(bytes * 0.9 * cost);
        trial.decode_ns = spread(bytes * 1.4 * cost);
        trial.write_ns = spread(bytes * cost);
    }
    trial.compress_ns = spread(bytes * compress);
    trial.decompress_ns = spread(bytes * decompress);
    trial.checksum_ns = spread(bytes * 0.13);
    trial.pack_ns = spread(bytes * (2.9 * cost + compress));
    trial.unpack_ns = spread(bytes * (2.4 * cost + decompress));
    trial.first_call_ns = trial.pack_ns.mean * 21.0;
    trial.round_spread = 0.021;
}

/// Recomputes the factors, the scores, the eliminations and the front after a change of figures.
fn refresh(evaluation: &mut Evaluation) {
    let cost = |trial: &Trial| trial.pack_ns.mean + trial.unpack_ns.mean;
    let baseline = evaluation.trials.iter().find(|trial| trial.name == evaluation.baseline.name);
    let (size, time) = baseline.map(|trial| (trial.packed_bytes as f64, cost(trial))).unwrap();
    let points: Vec<(f64, f64)> = evaluation
        .trials
        .iter()
        .filter(|trial| trial.stage != "sizes")
        .map(|trial| (trial.packed_bytes as f64, cost(trial)))
        .collect();
    evaluation.front.clear();
    for trial in &mut evaluation.trials {
        let point = (trial.packed_bytes as f64, cost(trial));
        trial.size_factor = point.0 / size;
        trial.eliminated_by = Some("sizes: not among the 24 finalists".to_owned());
        if trial.stage == "sizes" {
            continue;
        }
        trial.speed_factor = point.1 / time;
        trial.score = Some(point.0 * point.1);
        let beaten = points.iter().any(|other| other.0 < point.0 && other.1 < point.1);
        let is_kept = trial.is_control || trial.name == evaluation.baseline.name;
        trial.eliminated_by = if trial.pack_ns.p99 > 4e5 {
            let took = trial.pack_ns.p99 / 1e6;
            Some(format!("budget pack_p99=400us: it takes {took:.3} ms"))
        } else {
            let better = "dominated: another is smaller and faster";
            (beaten && !is_kept).then(|| better.to_owned())
        };
        if !beaten {
            evaluation.front.push(FrontPoint {
                name: trial.name.clone(),
                packed_ratio: trial.bytes_in as f64 / trial.packed_bytes as f64,
                pack_unpack_ns: point.1,
            });
        }
    }
    evaluation.front.sort_by(|left, right| right.packed_ratio.total_cmp(&left.packed_ratio));
}

fn finished(corpus: CorpusSummary, trials: Vec<Trial>, baseline: &str) -> Evaluation {
    let mut evaluation = Evaluation {
        format: 1,
        corpus,
        goal: "cache".to_owned(),
        from: "text".to_owned(),
        budgets: vec!["pack_p99=400us".to_owned()],
        trials,
        front: Vec::new(),
        baseline: Reference {
            name: baseline.to_owned(),
            encoding: "json".to_owned(),
            codec: "zlib".to_owned(),
            level: 6,
        },
        recommended: models::recommendation(),
        run: Run {
            stage1_payloads: 128,
            stage1_trials: 79,
            stage2_payloads: 512,
            stage2_trials: 24,
            stage2_rounds: 5,
            stage3_trials: 6,
            stage_seconds: [2.4, 38.1, 11.0],
            stage2: StageTwo {
                measured_seconds: 29.8,
                comparison_seconds: 3.9,
                other_seconds: 4.4,
                overhead_share: 0.129,
            },
            training_seconds: 6.2,
            noise: Noise {
                is_noisy: true,
                signs: vec!["0.8 % of the round trips were interrupted (bound 0.5 %).".to_owned()],
                preempted_share: 0.008,
                cpu_share: 0.987,
                round_spread: 0.021,
            },
            notices: vec!["Another process used 12 % of the core while stage 2 ran.".to_owned()],
            processor: "AMD EPYC 7B13".to_owned(),
            processors: 2,
            host: vec![
                ("kernel".to_owned(), "Linux 6.8.0".to_owned()),
                ("governor".to_owned(), "performance".to_owned()),
            ],
            ..Run::default()
        },
        seed: 20_261_104,
        versions: vec![
            Version { name: "cinch".to_owned(), version: "0.1.0".to_owned() },
            Version { name: "libzstd".to_owned(), version: "1.5.7".to_owned() },
            Version { name: "zlib".to_owned(), version: "1.3.1".to_owned() },
        ],
        quantiles: QUANTILES.to_vec(),
        ..Evaluation::default()
    };
    refresh(&mut evaluation);
    evaluation
}

/// A small generator (Knuth's constants), so that examples need no dependency.
struct Random(u64);

impl Random {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
}
