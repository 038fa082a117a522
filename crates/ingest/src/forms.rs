//! What the forms of a batch and its filter come to on somebody's own logs, for whoever chooses
//! the settings of a pool: the batches are those that an ingress would write.

use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use cinch_core::codec::{CompressError, codec_named};

use crate::batch::{OpenBatch, SealError, Sealer};
use crate::config::{BatchForm, Config, ConfigError, PoolSettings};
use crate::connection::{Connection, Peer};
use crate::format::{Filter, RunKind};
use crate::pool::{Pool, Pools};

/// The codec and its level that the sizes are compared with.
const BASELINE: (&str, i32) = ("gzip", 1);

/// The shortest word that a filter is asked for, in bytes.
const WORD_BYTES_MIN: usize = 4;

/// The most words of a text that its filters are asked for.
const WORDS_MAX: usize = 200;

/// The least that an ingress needs to be told, for the settings of a pool.
const CONFIG: &str = "[sink.none]\nkind = \"nowhere\"\n\
                      [[listener]]\nprotocol = \"lines\"\naddress = \"127.0.0.1:0\"\n\
                      pool = \"trial\"\n";

/// Why it can't be said.
#[derive(Debug, thiserror::Error)]
pub enum FormsError {
    /// The settings of the pool could not be made.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A batch could not be compressed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// What is compared with could not be compressed.
    #[error(transparent)]
    Baseline(#[from] CompressError),
    /// This program was built without what is compared with.
    #[error("this program has no codec {}", BASELINE.0)]
    NoBaseline,
}

/// What one form makes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FormSize {
    /// Batches.
    pub batches: u64,
    /// Those of them that are columnar.
    pub columnar_batches: u64,
    /// The bytes of all batches, their heads included.
    pub bytes: u64,
    /// How long one thread worked on it.
    pub elapsed: Duration,
}

/// What filters make of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FilterSize {
    /// The bytes of the filters of all batches.
    pub bytes: u64,
    /// Words of the text that were looked for.
    pub words: u64,
    /// How often one of the batches lacked one of the words.
    pub lacking: u64,
    /// How often a search for the word passes over the batch then.
    pub passed_over: u64,
}

/// What was found out about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forms {
    /// The bytes of the text.
    pub text_bytes: u64,
    /// The bytes of the whole text in one stream of gzip at level 1.
    pub gzip_bytes: u64,
    /// In the plain form.
    pub plain: FormSize,
    /// In the columnar form.
    pub columnar: FormSize,
    /// Of the plain form with filters.
    pub filter: FilterSize,
}

/// Tries all forms on a text, in batches of that many bytes at that level of zstd.
///
/// # Errors
/// [`FormsError`], none of which comes from the text.
pub fn forms(text: &[u8], batch_bytes: usize, level: i32) -> Result<Forms, FormsError> {
    let codec = codec_named(BASELINE.0).ok_or(FormsError::NoBaseline)?;
    let mut gzip = vec![0; codec.compress_bound(text.len())];
    let compressor = codec.compressor(BASELINE.1, None).map_err(|_| FormsError::NoBaseline);
    let gzip_bytes = compressor?.compress(text, &mut gzip)? as u64;
    let base = Config::parse("the settings of a trial", CONFIG)?.default_pool;
    let settings = |form, has_filter| PoolSettings { form, has_filter, level, ..base.clone() };
    let (plain, _) = form(text, batch_bytes, settings(BatchForm::Plain, false))?;
    let (columnar, _) = form(text, batch_bytes, settings(BatchForm::Columnar, false))?;
    let (_, filter) = form(text, batch_bytes, settings(BatchForm::Plain, true))?;
    Ok(Forms { text_bytes: text.len() as u64, gzip_bytes, plain, columnar, filter })
}

fn form(
    text: &[u8],
    batch_bytes: usize,
    settings: PoolSettings,
) -> Result<(FormSize, FilterSize), FormsError> {
    let words = if settings.has_filter { words(text) } else { Vec::new() };
    let config = Config::parse("the settings of a trial", CONFIG)?;
    let pool = Pools::new(Arc::new(config)).named("trial");
    pool.settings.store(Arc::new(settings));
    let connection = connection();
    let mut sealer = Sealer::new(0, 0, 1);
    let mut batch = OpenBatch::new(Arc::clone(&pool));
    let mut size = FormSize::default();
    let mut filter = FilterSize { words: words.len() as u64, ..FilterSize::default() };
    let mut rest = text;
    while !rest.is_empty() {
        let full = batch_bytes.clamp(1, rest.len());
        let end = memchr::memchr(b'\n', &rest[full - 1..]).map_or(rest.len(), |end| full + end);
        let (piece, after) = rest.split_at(end);
        rest = after;
        fill(&mut batch, &connection, piece);
        let start = Instant::now();
        let head = sealer.seal(&mut batch)?;
        size.elapsed += start.elapsed();
        size.batches += 1;
        size.columnar_batches += u64::from(head.is_columnar());
        size.bytes += head.batch_bytes();
        let filter_bytes = head.split_sections().map_or(0, |(_, filter)| filter);
        filter.bytes += filter_bytes as u64;
        let bits = &sealer.head[sealer.head.len() - filter_bytes..];
        if let Some(bits) = Filter::read(bits) {
            let lacking = words.iter().filter(|word| memchr::memmem::find(piece, word).is_none());
            for word in lacking {
                filter.lacking += 1;
                filter.passed_over += u64::from(!bits.may_hold(word));
            }
        }
    }
    Ok((size, filter))
}

fn fill(batch: &mut OpenBatch, connection: &Connection, text: &[u8]) {
    batch.text.extend_from_slice(text);
    if !text.ends_with(b"\n") {
        batch.text.push(b'\n');
    }
    batch.records = memchr::memchr_iter(b'\n', &batch.text).count();
    let (bytes, records) = (batch.text.len(), batch.records);
    batch.sections.end_run(connection, "", RunKind::Lines, bytes, records);
}

/// Different words of a text, from all of its parts.
fn words(text: &[u8]) -> Vec<&[u8]> {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric();
    let words = text.split(|byte| !is_of_word(byte)).filter(|word| word.len() >= WORD_BYTES_MIN);
    let mut known = std::collections::HashSet::new();
    let words: Vec<&[u8]> = words.filter(|word| known.insert(*word)).collect();
    let step = words.len().div_ceil(WORDS_MAX).max(1);
    words.into_iter().step_by(step).collect()
}

fn connection() -> Connection {
    Connection {
        id: 1,
        listener: 0,
        reader: 0,
        peer: Peer::Local(Path::new("trial").into()),
        is_answered: false,
        pool: OnceLock::<Arc<Pool>>::new(),
        outbox: Mutex::new(Vec::new()),
        waits: AtomicUsize::new(0),
    }
}
