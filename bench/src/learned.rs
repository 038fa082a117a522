//! `learned`: what the columnar encoding and a dictionary make of each corpus of a folder, beside
//! what services use today, in sizes and in time.
//!
//! As DESIGN.md asks: dictionaries are trained on the first 60 % of the lines and everything is
//! measured on the last 40 %, with contexts that are reused. Times are the medians over payloads of
//! the least of several calls, and every ratio is of two sides of the same run. Packing with the
//! columnar encoding includes unpacking again, because a packer verifies it.

use std::path::PathBuf;
use std::sync::Arc;

use cinch_core::codec::{Codec, CodecChoice, Compressor, codec_named};
use cinch_core::dictionary::Dictionary;
use cinch_core::document::Document;
use cinch_core::encoding::{Encoding, Engine, TextDecoder, TextEncoder, encoding_named};
use cinch_core::json;
use cinch_learn::deny::Deny;
use cinch_learn::{Course, Lessons};

use crate::clock::Clock;
use crate::corpora::{self, Corpus};
use crate::failure::Outcome;
use crate::statistics::median;
use crate::table::Table;

/// No corpus of the folder is cut.
const BYTES_MAX: usize = 1 << 30;

/// Fewer payloads have no share in the medians.
const PAYLOADS_MIN: usize = 300;

/// Fewer lines of a corpus train no dictionary.
const TRAINING_MIN: usize = 50;

/// What so many payloads had may enter a dictionary, in lack of anything that tells entities.
const ENTITIES_MIN: u32 = 10;

/// The corpus of long lists that no dictionary is for.
const FARE_LISTS: &str = "flights_fare_history";

/// Times are of so many calls, the least of them.
const CALLS: usize = 5;

/// Payloads of these lengths have a share in the times.
const TIMED_BYTES: std::ops::RangeInclusive<usize> = 1_000..=20_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A folder of .ndjson files, such as the one that ../shared/data/unpack makes
    folder: PathBuf,
}

/// The bytes and times of one corpus.
struct Row {
    name: String,
    payloads: usize,
    bytes: usize,
    msgpack_zlib: usize,
    verbatim_3: usize,
    columnar_3: usize,
    columnar_19: usize,
    columnar_alone: usize,
    lzma: usize,
    refused: usize,
    times: Times,
}

#[derive(Default)]
struct Times {
    gzip_ns: Vec<f64>,
    pack_ns: Vec<f64>,
    gunzip_ns: Vec<f64>,
    libdeflate_ns: Vec<f64>,
    unpack_ns: Vec<f64>,
    encode_ns: f64,
    decode_ns: f64,
    bytes: usize,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let corpora = corpora::of_folder(&arguments.folder, BYTES_MAX)?;
    if corpora.is_empty() {
        return Err(format!("{} holds no .ndjson file", arguments.folder.display()).into());
    }
    let rows: Vec<Row> = corpora.iter().map(measure).collect::<Outcome<_>>()?;
    println!("{}", table(&rows));
    for line in summary(&rows) {
        println!("{line}");
    }
    Ok(())
}

/// The same code on a few generated payloads, for its results only.
#[cfg(test)]
pub(crate) fn smoke() -> Outcome {
    let corpus = &corpora::generated(400_000)[0];
    let row = measure(corpus)?;
    if row.refused > 0 || row.columnar_3 > row.msgpack_zlib {
        return Err(format!("columns of {} are larger than MessagePack", row.name).into());
    }
    Ok(())
}

/// A codec with a dictionary, or without.
fn compressor(
    codec: &'static dyn Codec,
    level: i32,
    dictionary: Option<&Arc<Dictionary>>,
) -> Outcome<Box<dyn Compressor>> {
    Ok(codec.compressor(level, dictionary)?)
}

fn named(codec: &str) -> Outcome<&'static dyn Codec> {
    codec_named(codec).ok_or_else(|| format!("no codec is called {codec}").into())
}

fn compressed(compressor: &mut dyn Compressor, bytes: &[u8], out: &mut Vec<u8>) -> Outcome<usize> {
    // Every codec of this bench stays within this bound.
    let bound = bytes.len() + bytes.len() / 8 + 1024;
    if out.len() < bound {
        out.resize(bound, 0);
    }
    Ok(compressor.compress(bytes, out)?)
}

fn measure(corpus: &Corpus) -> Outcome<Row> {
    let (training, measured) = corpus.payloads.split_at(corpus.payloads.len() * 6 / 10);
    let columnar = encoding_named("columnar").ok_or("no encoding is called columnar")?;
    let Engine::Text(engine) = columnar.engine else {
        return Err("columnar is no encoding of text".into());
    };
    let zstd = named("zstd-bare")?;
    let verbatim = encoding_named("verbatim").ok_or("no encoding is called verbatim")?;
    let of_text = dictionary(training, verbatim, 3);
    let of_columns = dictionary(training, columnar, 3);
    let of_columns_19 = dictionary(training, columnar, 19);
    let mut encoder = engine.encoder(of_columns.as_deref());
    let mut decoder = engine.decoder(of_columns.as_deref());
    let mut alone = engine.encoder(None);
    let mut verbatim_3 = compressor(zstd, 3, of_text.as_ref())?;
    let mut columnar_3 = compressor(zstd, 3, of_columns.as_ref())?;
    let mut encoder_19 = engine.encoder(of_columns_19.as_deref());
    let mut columnar_19 = compressor(zstd, 19, of_columns_19.as_ref())?;
    let mut zstd_3 = compressor(zstd, 3, None)?;
    let mut zlib = compressor(named("zlib")?, 6, None)?;
    let mut lzma = compressor(named("lzma2")?, 3, None)?;
    let mut row = Row {
        name: corpus.name.clone(),
        payloads: corpus.payloads.len(),
        bytes: 0,
        msgpack_zlib: 0,
        verbatim_3: 0,
        columnar_3: 0,
        columnar_19: 0,
        columnar_alone: 0,
        lzma: 0,
        refused: 0,
        times: Times::default(),
    };
    let mut out = Vec::new();
    for payload in measured {
        row.bytes += payload.len();
        row.msgpack_zlib += compressed(zlib.as_mut(), &msgpack(payload), &mut out)?;
        row.verbatim_3 += compressed(verbatim_3.as_mut(), payload, &mut out)?;
        row.lzma += compressed(lzma.as_mut(), payload, &mut out)?;
        let mut encoded = Vec::new();
        if encoder.encode(payload, &mut encoded).is_err() {
            row.refused += 1;
            encoded.clone_from(payload);
        } else {
            let mut back = Vec::new();
            decoder.decode(&encoded, payload.len(), &mut back)?;
            if back != *payload {
                return Err(format!("a payload of {} did not come back", corpus.name).into());
            }
        }
        row.columnar_3 += compressed(columnar_3.as_mut(), &encoded, &mut out)?;
        encoded.clear();
        if encoder_19.encode(payload, &mut encoded).is_err() {
            encoded.clone_from(payload);
        }
        row.columnar_19 += compressed(columnar_19.as_mut(), &encoded, &mut out)?;
        encoded.clear();
        if alone.encode(payload, &mut encoded).is_err() {
            encoded.clone_from(payload);
        }
        row.columnar_alone += compressed(zstd_3.as_mut(), &encoded, &mut out)?;
    }
    time(measured, of_columns.as_ref(), encoder.as_mut(), decoder.as_mut(), &mut row.times)?;
    Ok(row)
}

/// A dictionary as `cinch train` makes one: parameters and size are searched with the last quarter
/// of the training payloads held out, and then all of them train. A corpus that is too small or
/// has nothing in common is measured without one.
fn dictionary(
    training: &[Vec<u8>],
    encoding: &'static Encoding,
    level: i32,
) -> Option<Arc<Dictionary>> {
    if training.len() < TRAINING_MIN {
        return None;
    }
    let payloads: Vec<(&[u8], u32)> =
        training.iter().enumerate().map(|(at, payload)| (payload.as_slice(), at as u32)).collect();
    let deny = Deny::default();
    let (search, judge) = payloads.split_at(payloads.len() * 3 / 4);
    let choice = CodecChoice { codec: named("zstd").ok()?, level };
    let found = Course::new(&Lessons::of(search, &deny), encoding, ENTITIES_MIN)
        .ok()?
        .search(encoding, &choice, &Lessons::of(judge, &deny), || {})
        .ok()?;
    let mut course = Course::new(&Lessons::of(&payloads, &deny), encoding, ENTITIES_MIN).ok()?;
    let bytes = found.best.bytes.min(course.bytes_max());
    let part = course.part(found.best.parameters, bytes, level).ok()?;
    course.file(&part, "").ok()
}

/// A payload as MessagePack, or as it is where MessagePack does not carry it.
fn msgpack(payload: &[u8]) -> Vec<u8> {
    let encoding = encoding_named("msgpack");
    let mut out = Vec::new();
    if let Some(encoding) = encoding
        && let Engine::Document(engine) = encoding.engine
    {
        let mut document = Document::new();
        if json::parse(encoding.parser, payload, &mut document).is_ok()
            && engine.encode(&document, &mut out).is_ok()
        {
            return out;
        }
    }
    payload.to_vec()
}

/// The least time of some calls, in nanoseconds.
fn least(mut call: impl FnMut() -> Outcome) -> Outcome<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..CALLS {
        let clock = Clock::start();
        call()?;
        least = least.min(clock.elapsed_ns());
    }
    Ok(least)
}

fn time(
    measured: &[Vec<u8>],
    dictionary: Option<&Arc<Dictionary>>,
    encoder: &mut dyn TextEncoder,
    decoder: &mut dyn TextDecoder,
    times: &mut Times,
) -> Outcome {
    let zstd = named("zstd-bare")?;
    let gzip = named("gzip")?;
    let (mut pack, mut unpack) = (zstd.compressor(3, dictionary)?, zstd.decompressor(dictionary)?);
    let (mut deflate, mut inflate) = (gzip.compressor(6, None)?, gzip.decompressor(None)?);
    let mut libdeflate = named("gzip-libdeflate")?.decompressor(None)?;
    let (mut encoded, mut body, mut text) = (Vec::new(), Vec::new(), Vec::new());
    let timed = |payload: &&Vec<u8>| TIMED_BYTES.contains(&payload.len());
    for payload in measured.iter().filter(timed) {
        if encoder.encode(payload, &mut Vec::new()).is_err() {
            continue;
        }
        body.resize(2 * payload.len() + 1024, 0);
        text.resize(payload.len(), 0);
        let mut gzip_bytes = 0;
        times.gzip_ns.push(least(|| {
            gzip_bytes = deflate.compress(payload, &mut body)?;
            Ok(())
        })?);
        times
            .gunzip_ns
            .push(least(|| Ok(inflate.decompress_exact(&body[..gzip_bytes], &mut text)?))?);
        times
            .libdeflate_ns
            .push(least(|| Ok(libdeflate.decompress_exact(&body[..gzip_bytes], &mut text)?))?);
        times.encode_ns += least(|| {
            encoded.clear();
            Ok(encoder.encode(payload, &mut encoded)?)
        })?;
        times.decode_ns += least(|| {
            text.clear();
            Ok(decoder.decode(&encoded, payload.len(), &mut text)?)
        })?;
        times.bytes += payload.len();
        let mut columns = vec![0; encoded.len()];
        let mut packed_bytes = 0;
        times.pack_ns.push(least(|| {
            encoded.clear();
            encoder.encode(payload, &mut encoded)?;
            packed_bytes = pack.compress(&encoded, &mut body)?;
            unpack.decompress_exact(&body[..packed_bytes], &mut columns)?;
            text.clear();
            Ok(decoder.decode(&columns, payload.len(), &mut text)?)
        })?);
        times.unpack_ns.push(least(|| {
            unpack.decompress_exact(&body[..packed_bytes], &mut columns)?;
            text.clear();
            Ok(decoder.decode(&columns, payload.len(), &mut text)?)
        })?);
    }
    Ok(())
}

fn table(rows: &[Row]) -> String {
    let mut table = Table::new([
        "corpus",
        "payloads",
        "refused",
        "msgpack+zlib",
        "text+dict z3",
        "columns+dict z3",
        "z19",
        "no dict z3",
        "lzma2:3",
        "pack x gzip",
        "unpack x gunzip",
        "x libdeflate",
        "encode MB/s",
        "decode MB/s",
    ]);
    for row in rows {
        let ratio = |bytes: usize| format!("{:.2}", row.bytes as f64 / bytes.max(1) as f64);
        let times = &row.times;
        let speed = |ns: f64| {
            megabytes_per_second(times, ns).map_or("-".to_owned(), |speed| format!("{speed:.0}"))
        };
        let factor = |slow: &[f64], fast: &[f64]| {
            factor(slow, fast).map_or("-".to_owned(), |factor| format!("{factor:.2}"))
        };
        table.row([
            row.name.clone(),
            row.payloads.to_string(),
            row.refused.to_string(),
            ratio(row.msgpack_zlib),
            ratio(row.verbatim_3),
            ratio(row.columnar_3),
            ratio(row.columnar_19),
            ratio(row.columnar_alone),
            ratio(row.lzma),
            factor(&times.gzip_ns, &times.pack_ns),
            factor(&times.gunzip_ns, &times.unpack_ns),
            factor(&times.libdeflate_ns, &times.unpack_ns),
            speed(times.encode_ns),
            speed(times.decode_ns),
        ]);
    }
    table.text()
}

/// How many times the median of one side is that of the other, where something was timed.
fn factor(slow: &[f64], fast: &[f64]) -> Option<f64> {
    (!slow.is_empty()).then(|| median(slow) / median(fast))
}

fn megabytes_per_second(times: &Times, ns: f64) -> Option<f64> {
    (times.bytes > 0).then(|| times.bytes as f64 / ns * 1e3)
}

/// The figures that the encoding was built for, each with its goal.
fn summary(rows: &[Row]) -> Vec<String> {
    let many: Vec<&Row> = rows.iter().filter(|row| row.payloads >= PAYLOADS_MIN).collect();
    let ratio = |a: usize, b: usize| Some(a as f64 / b.max(1) as f64);
    let mut lines = vec![format!(
        "medians, least and most of {} corpora of {PAYLOADS_MIN} payloads or more:",
        many.len()
    )];
    let mut line = |name: &str, goal: &str, rows: &[&Row], of: &dyn Fn(&Row) -> Option<f64>| {
        let mut figures: Vec<f64> = rows.iter().filter_map(|row| of(row)).collect();
        figures.sort_by(f64::total_cmp);
        let (Some(least), Some(most)) = (figures.first(), figures.last()) else { return };
        let middle = median(&figures);
        lines.push(format!("  {name:<52} {middle:>8.2}  {least:.2} to {most:.2}  goal {goal}"));
    };
    line("msgpack+zlib:6 / columnar+zstd:3+dictionary", "2.4", &many, &|row| {
        ratio(row.msgpack_zlib, row.columnar_3)
    });
    line("msgpack+zlib:6 / columnar+zstd:19+dictionary", "2.9", &many, &|row| {
        ratio(row.msgpack_zlib, row.columnar_19)
    });
    line("verbatim / columnar, both zstd:3+dictionary", "1.15", &many, &|row| {
        ratio(row.verbatim_3, row.columnar_3)
    });
    let lists: Vec<&Row> = rows.iter().filter(|row| row.name == FARE_LISTS).collect();
    line("fare lists: json+lzma2:3 / columnar+zstd:3", "2.5", &lists, &|row| {
        ratio(row.lzma, row.columnar_alone)
    });
    line("gzip:6 / pack, times", "4", &many, &|row| factor(&row.times.gzip_ns, &row.times.pack_ns));
    line("gunzip (zlib-rs) / unpack, times", "1.5", &many, &|row| {
        factor(&row.times.gunzip_ns, &row.times.unpack_ns)
    });
    line("gunzip (libdeflate) / unpack, times", "-", &many, &|row| {
        factor(&row.times.libdeflate_ns, &row.times.unpack_ns)
    });
    line("encode alone, MB/s of text", "800", &many, &|row| {
        megabytes_per_second(&row.times, row.times.encode_ns)
    });
    line("decode alone, MB/s of text", "1500", &many, &|row| {
        megabytes_per_second(&row.times, row.times.decode_ns)
    });
    lines.push(
        "times are of payloads of 1 to 20 kB; packing includes unpacking to verify".to_owned(),
    );
    lines
}
