//! Batches: records of one pool, combined until they are worth one call of the compressor.
//! The article's ingress did the same, and its compressions fell to a tenth.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Instant;

use xxhash_rust::xxh64::Xxh64;
use zstd_safe::{CCtx, CParameter};

use crate::acknowledge::Receipt;
use crate::columns::ColumnsWriter;
use crate::config::BatchForm;
use crate::format::{FLAG_COLUMNAR, FLAG_SECTIONS_PACKED, FilterWriter, Head, SectionsWriter};
use crate::limits::{COLUMNS_TEXT_BYTES_MAX, HURRIED_LEVEL};
use crate::pool::Pool;

/// Sections that are shorter than this are not worth compressing.
const SECTIONS_PACKED_MIN: usize = 256;

/// The records of one pool that were not compressed yet.
#[derive(Debug)]
pub struct OpenBatch {
    /// Whose they are.
    pub pool: Arc<Pool>,
    /// Their text.
    pub text: Vec<u8>,
    /// Where it is from.
    pub sections: SectionsWriter,
    /// Who is told what becomes of it.
    pub receipts: Vec<Receipt>,
    /// Something of it was acknowledged already: it is not dropped, whatever its pool says.
    pub is_promised: bool,
    /// Records came faster than they could be compressed, and are to wait on disk.
    pub is_hurried: bool,
    /// How many they are.
    pub records: usize,
    /// When the first one came.
    pub opened: Instant,
    /// The same, in Unix milliseconds.
    pub first_ms: u64,
    /// When the last one came.
    pub last_ms: u64,
}

impl OpenBatch {
    /// An empty one.
    pub fn new(pool: Arc<Pool>) -> OpenBatch {
        let (text, sections) = (Vec::new(), SectionsWriter::default());
        let (receipts, opened) = (Vec::new(), Instant::now());
        OpenBatch {
            pool,
            text,
            sections,
            receipts,
            is_promised: false,
            is_hurried: false,
            records: 0,
            opened,
            first_ms: 0,
            last_ms: 0,
        }
    }

    /// Somebody is told what becomes of it.
    pub fn promise(&mut self, receipt: Option<Receipt>) {
        self.is_promised |= receipt.as_ref().is_some_and(|receipt| receipt.peer.promises());
        self.receipts.extend(receipt);
    }
}

/// Why a batch can't be compressed. It does not happen with a sound library and enough memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("zstd could not compress a batch: {0}")]
pub struct SealError(String);

/// Compresses batches: one context for each level, reused from batch to batch.
pub struct Sealer {
    contexts: HashMap<i32, CCtx<'static>>,
    instance: u64,
    sequence_step: u64,
    sequence: u64,
    /// The head of the last batch, as bytes, its sections included.
    pub head: Vec<u8>,
    /// The frame of the last batch.
    pub frame: Vec<u8>,
    sections: Vec<u8>,
    packed: Vec<u8>,
    filter: FilterWriter,
    columns: ColumnsWriter,
    columns_frame: Vec<u8>,
}

fn failed(code: usize) -> SealError {
    SealError(zstd_safe::get_error_name(code).to_owned())
}

impl Sealer {
    /// The sealer of worker `number` of `workers`, whose batches are numbered apart from those of
    /// the others.
    pub fn new(instance: u64, number: usize, workers: usize) -> Sealer {
        Sealer {
            contexts: HashMap::new(),
            instance,
            sequence_step: workers as u64,
            sequence: number as u64,
            head: Vec::new(),
            frame: Vec::new(),
            sections: Vec::new(),
            packed: Vec::new(),
            filter: FilterWriter::default(),
            columns: ColumnsWriter::default(),
            columns_frame: Vec::new(),
        }
    }

    /// Compresses a batch into `head` and `frame` and empties it.
    pub fn seal(&mut self, batch: &mut OpenBatch) -> Result<Head, SealError> {
        let settings = batch.pool.settings.load();
        let level = match batch.is_hurried {
            true => HURRIED_LEVEL.min(settings.level),
            false => settings.level,
        };
        let context = match self.contexts.entry(level) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let mut context = CCtx::create();
                let set = |context: &mut CCtx, parameter| {
                    context.set_parameter(parameter).map(|_| ()).map_err(failed)
                };
                set(&mut context, CParameter::CompressionLevel(level))?;
                set(&mut context, CParameter::ContentSizeFlag(true))?;
                entry.insert(context)
            }
        };
        self.frame.clear();
        pack(context, &batch.text, &mut self.frame)?;
        let mut form_flag = 0;
        if settings.form == BatchForm::Columnar
            && !batch.is_hurried
            && batch.text.len() <= COLUMNS_TEXT_BYTES_MAX
            && let Some(parts) = self.columns.write(&batch.text)
        {
            self.columns_frame.clear();
            for part in parts {
                pack(context, part, &mut self.columns_frame)?;
            }
            if self.columns_frame.len() < self.frame.len() {
                std::mem::swap(&mut self.frame, &mut self.columns_frame);
                form_flag = FLAG_COLUMNAR;
            }
        }
        self.sections.clear();
        batch.sections.finish(&mut self.sections);
        let mut is_packed = false;
        if self.sections.len() >= SECTIONS_PACKED_MIN {
            self.packed.clear();
            pack(context, &self.sections, &mut self.packed)?;
            is_packed = self.packed.len() < self.sections.len();
        }
        let (sections, mut flags) = match is_packed {
            true => (&mut self.packed, FLAG_SECTIONS_PACKED),
            false => (&mut self.sections, 0),
        };
        flags |= form_flag;
        if settings.has_filter {
            flags |= Head::flags_of_filter(self.filter.write(&batch.text, sections));
        }
        let mut checksum = Xxh64::new(0);
        checksum.update(&sections[..]);
        checksum.update(&self.frame);
        let head = Head {
            instance: self.instance,
            sequence: self.sequence,
            first_ms: batch.first_ms,
            last_ms: batch.last_ms,
            records: batch.records as u32,
            text_bytes: batch.text.len() as u32,
            frame_bytes: self.frame.len() as u32,
            sections_bytes: sections.len() as u32,
            flags,
            checksum: checksum.digest(),
        };
        self.head.clear();
        head.write(&mut self.head);
        self.head.extend_from_slice(sections);
        self.sequence += self.sequence_step;
        batch.text.clear();
        batch.records = 0;
        Ok(head)
    }
}

/// Appends a frame.
fn pack(context: &mut CCtx, input: &[u8], out: &mut Vec<u8>) -> Result<(), SealError> {
    out.reserve(zstd_safe::compress_bound(input.len()));
    let mut end = Cursor::new(out);
    end.set_position(end.get_ref().len() as u64);
    context.compress2(&mut end, input).map_err(failed)?;
    Ok(())
}
