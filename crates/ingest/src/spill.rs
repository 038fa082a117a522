//! The spill: batches of a slow sink that wait on the local disk, in segments of a bounded size,
//! and leave in the order in which they came, also after a restart. Every batch has a checksum;
//! what a crash tore off the end of a segment is cut.
//!
//! How far the writer has come is noted after each batch. A crash between the two hands one batch
//! over twice, under the same instance and sequence, by which `cinch logs` knows it.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use xxhash_rust::xxh64::Xxh64;

use crate::acknowledge::Receipt;
use crate::format::Head;
use crate::limits::{GROUP_BATCHES_MAX, HEAD_BYTES_MAX, POOL_NAME_BYTES_MAX};

/// What every batch in a segment starts with.
const TAG: &[u8; 4] = b"cLS1";

/// Tag, length of the pool's name, length of the batch.
const HEADER_BYTES: usize = 4 + 4 + 4;

const CHECKSUM_BYTES: usize = 8;

/// A segment is closed when it has this many bytes, so that disk is given back bit by bit.
const SEGMENT_BYTES: u64 = 32 << 20;

/// The ending of a segment's name.
const SEGMENT: &str = "spill";

/// The file that says how far the writer has come.
const POSITION: &str = "position";

#[derive(Debug)]
struct Segment {
    number: u64,
    bytes: u64,
}

#[derive(Debug)]
struct State {
    segments: VecDeque<Segment>,
    /// The last segment, while it takes more.
    tail: Option<File>,
    /// The first segment, while it is read.
    front: Option<File>,
    /// How far the first segment was read.
    read: u64,
    /// The lengths on disk of the batches that were read and are not done.
    reading: VecDeque<u64>,
    /// Bytes that wait.
    waiting_bytes: u64,
    /// For each batch of this run that waits, how many had been put into the ring before it.
    barriers: VecDeque<(u64, Arc<[Receipt]>)>,
    /// Batches of an earlier run that wait, as far as they are known to be whole.
    earlier: u64,
    position: File,
    next: u64,
}

/// The spill of one sink.
#[derive(Debug)]
pub struct Spill {
    folder: PathBuf,
    limit_bytes: u64,
    state: Mutex<State>,
}

/// A batch that was read back.
#[derive(Debug, Clone)]
pub struct Spilled {
    /// The name of its pool.
    pub pool: String,
    /// What is said of it.
    pub head: Head,
    /// How many batches must have left the ring before it; 0 for those of an earlier run.
    pub barrier: u64,
    /// Who is told when it is written; nobody for those of an earlier run.
    pub receipts: Arc<[Receipt]>,
    /// Head, sections and frame.
    pub bytes: Bytes,
}

impl Spill {
    /// Opens the folder, with what an earlier run has left in it.
    ///
    /// # Errors
    /// What the system says of the folder and its files.
    pub fn open(folder: PathBuf, limit_bytes: u64) -> io::Result<Spill> {
        fs::create_dir_all(&folder)?;
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let is_segment = path.extension().is_some_and(|ending| ending == SEGMENT);
            let number = path.file_stem().and_then(|name| name.to_str()?.parse::<u64>().ok());
            numbers.extend(number.filter(|_| is_segment));
        }
        numbers.sort_unstable();
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut position = options.open(folder.join(POSITION))?;
        let mut text = String::new();
        // A position that can't be read is that of the start: twice is better than not at all.
        let _read = (&mut position).take(64).read_to_string(&mut text);
        let mut words = text.split_whitespace().map(|word| word.parse::<u64>().unwrap_or(0));
        let (first, read) = (words.next().unwrap_or(0), words.next().unwrap_or(0));
        let mut state = State {
            segments: VecDeque::new(),
            tail: None,
            front: None,
            read: 0,
            reading: VecDeque::new(),
            waiting_bytes: 0,
            barriers: VecDeque::new(),
            earlier: 0,
            position,
            next: numbers.last().map_or(0, |last| last + 1).max(first + 1),
        };
        for number in numbers {
            let path = segment_path(&folder, number);
            if number < first {
                fs::remove_file(path)?;
                continue;
            }
            let start = if number == first { read } else { 0 };
            let (batches, bytes) = whole_batches(&path, start)?;
            if batches == 0 {
                fs::remove_file(path)?;
                continue;
            }
            OpenOptions::new().write(true).open(&path)?.set_len(bytes)?;
            if state.segments.is_empty() {
                state.read = start;
            }
            state.waiting_bytes += bytes - start;
            state.earlier += batches;
            state.segments.push_back(Segment { number, bytes });
        }
        Ok(Spill { folder, limit_bytes, state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many batches wait.
    pub fn waiting(&self) -> u64 {
        let state = self.lock();
        state.earlier + state.barriers.len() as u64
    }

    /// How many bytes wait.
    pub fn waiting_bytes(&self) -> u64 {
        self.lock().waiting_bytes
    }

    /// Puts a batch behind all others; `false` if the limit does not allow it.
    ///
    /// # Errors
    /// What the system says; nothing of the batch is there then.
    pub fn put(
        &self,
        pool: &str,
        parts: &[&[u8]],
        barrier: u64,
        receipts: Arc<[Receipt]>,
    ) -> io::Result<bool> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let whole = (HEADER_BYTES + pool.len() + length + CHECKSUM_BYTES) as u64;
        let mut state = self.lock();
        if state.waiting_bytes + whole > self.limit_bytes {
            return Ok(false);
        }
        if state.tail.is_none() {
            let number = state.next;
            let path = segment_path(&self.folder, number);
            state.tail = Some(OpenOptions::new().write(true).create_new(true).open(path)?);
            state.next += 1;
            state.segments.push_back(Segment { number, bytes: 0 });
        }
        let mut header = Vec::with_capacity(HEADER_BYTES + pool.len());
        header.extend_from_slice(TAG);
        header.extend_from_slice(&(pool.len() as u32).to_le_bytes());
        header.extend_from_slice(&(length as u32).to_le_bytes());
        header.extend_from_slice(pool.as_bytes());
        let mut checksum = Xxh64::new(0);
        checksum.update(&header);
        parts.iter().for_each(|part| checksum.update(part));
        let State { tail, segments, .. } = &mut *state;
        // Both were made above where they were missing.
        let (Some(file), Some(segment)) = (tail.as_mut(), segments.back_mut()) else {
            return Ok(false);
        };
        let mut result = file.write_all(&header);
        for part in parts {
            result = result.and_then(|()| file.write_all(part));
        }
        result = result.and_then(|()| file.write_all(&checksum.digest().to_le_bytes()));
        if let Err(error) = result {
            // What stands behind a torn batch would not be found again: the next one starts where
            // this one did, or in a segment of its own.
            let start = segment.bytes;
            if file.set_len(start).and_then(|()| file.seek(SeekFrom::Start(start))).is_err() {
                *tail = None;
            }
            return Err(error);
        }
        segment.bytes += whole;
        if segment.bytes >= SEGMENT_BYTES {
            *tail = None;
        }
        state.waiting_bytes += whole;
        state.barriers.push_back((barrier, receipts));
        Ok(true)
    }

    /// Reads the batches that have waited longest, the first of them whatever it has, and others up
    /// to these bytes. Each stays until `done`; what is not done is read again the next time.
    ///
    /// # Errors
    /// What the system says.
    pub fn oldest(&self, bytes_max: usize) -> io::Result<Vec<Spilled>> {
        let mut state = self.lock();
        state.reading.clear();
        loop {
            let Some(front) = state.segments.front() else { return Ok(Vec::new()) };
            let (number, end) = (front.number, front.bytes);
            if state.read >= end {
                let is_tail = state.segments.len() == 1 && state.tail.is_some();
                if is_tail && end < SEGMENT_BYTES {
                    return Ok(Vec::new());
                }
                self.drop_front(&mut state, number)?;
                continue;
            }
            if state.front.is_none() {
                state.front = Some(File::open(segment_path(&self.folder, number))?);
            }
            let read = state.read;
            let found = self.read_from(&mut state, end, bytes_max)?;
            if !found.is_empty() {
                return Ok(found);
            }
            // It was whole when it was written or found: the disk has changed it since.
            let message = format!("segment {number} is damaged at byte {read}");
            let waiting = end - read;
            state.read = end;
            state.waiting_bytes -= waiting.min(state.waiting_bytes);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
    }

    /// Reads batches of the first segment, which ends there.
    fn read_from(&self, state: &mut State, end: u64, bytes_max: usize) -> io::Result<Vec<Spilled>> {
        let (mut found, mut at, mut bytes_read) = (Vec::new(), state.read, 0);
        let Some(mut file) = state.front.take() else { return Ok(found) };
        file.seek(SeekFrom::Start(at))?;
        while at < end && found.len() < GROUP_BATCHES_MAX {
            let mut bytes = Vec::new();
            let Some((pool, head, whole)) = read_batch(&mut file, &mut bytes)? else { break };
            bytes_read += bytes.len();
            if bytes_read > bytes_max && !found.is_empty() {
                break;
            }
            at += whole;
            state.reading.push_back(whole);
            let of_this_run = (found.len() as u64).checked_sub(state.earlier);
            let waits = of_this_run.and_then(|place| state.barriers.get(place as usize));
            let (barrier, receipts) = waits.cloned().unwrap_or_else(|| (0, Arc::new([])));
            found.push(Spilled { pool, head, barrier, receipts, bytes: bytes.into() });
        }
        state.front = Some(file);
        Ok(found)
    }

    /// The oldest of the batches that were read is written.
    ///
    /// # Errors
    /// What the system says; the batch may then be handed over again after a restart.
    pub fn done(&self) -> io::Result<()> {
        let mut state = self.lock();
        let Some(length) = state.reading.pop_front() else { return Ok(()) };
        state.read += length;
        state.waiting_bytes -= length.min(state.waiting_bytes);
        match state.earlier {
            0 => drop(state.barriers.pop_front()),
            _ => state.earlier -= 1,
        }
        let number = state.segments.front().map_or(0, |segment| segment.number);
        let text = format!("{number:020} {:020}\n", state.read);
        state.position.seek(SeekFrom::Start(0))?;
        state.position.write_all(text.as_bytes())
    }

    fn drop_front(&self, state: &mut State, number: u64) -> io::Result<()> {
        if state.segments.len() == 1 {
            state.tail = None;
        }
        state.segments.pop_front();
        state.front = None;
        state.read = 0;
        fs::remove_file(segment_path(&self.folder, number))
    }
}

fn segment_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:010}.{SEGMENT}"))
}

/// How many whole batches a segment has from there on, and where the last one ends.
fn whole_batches(path: &Path, start: u64) -> io::Result<(u64, u64)> {
    let mut file = io::BufReader::new(File::open(path)?);
    file.seek(SeekFrom::Start(start))?;
    let (mut count, mut end, mut bytes) = (0, start, Vec::new());
    while let Some((_, _, whole)) = read_batch(&mut file, &mut bytes)? {
        count += 1;
        end += whole;
    }
    Ok((count, end))
}

/// Reads a batch; `None` at the end, and where it is torn or damaged.
fn read_batch(
    input: &mut impl Read,
    bytes: &mut Vec<u8>,
) -> io::Result<Option<(String, Head, u64)>> {
    let mut header = [0; HEADER_BYTES];
    if !fill(input, &mut header)? {
        return Ok(None);
    }
    let number = |at: usize| {
        header[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)) as usize
    };
    let (name_bytes, batch_bytes) = (number(4), number(8));
    let is_plausible = header.starts_with(TAG)
        && name_bytes <= POOL_NAME_BYTES_MAX
        && batch_bytes <= 2 * HEAD_BYTES_MAX;
    if !is_plausible {
        return Ok(None);
    }
    let (mut name, mut check) = (vec![0; name_bytes], [0; CHECKSUM_BYTES]);
    bytes.resize(batch_bytes, 0);
    if !fill(input, &mut name)? || !fill(input, bytes)? || !fill(input, &mut check)? {
        return Ok(None);
    }
    let mut checksum = Xxh64::new(0);
    checksum.update(&header);
    checksum.update(&name);
    checksum.update(bytes);
    let (Some(head), Ok(name)) = (Head::read(bytes), String::from_utf8(name)) else {
        return Ok(None);
    };
    let whole = (HEADER_BYTES + name_bytes + batch_bytes + CHECKSUM_BYTES) as u64;
    let is_sound = checksum.digest() == u64::from_le_bytes(check);
    Ok(is_sound.then_some((name, head, whole)))
}

fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(sequence: u64) -> Head {
        Head {
            instance: 1,
            sequence,
            first_ms: 0,
            last_ms: 0,
            records: 1,
            text_bytes: 1,
            frame_bytes: 100,
            sections_bytes: 0,
            flags: 0,
            checksum: 0,
        }
    }

    fn put(spill: &Spill, sequence: u64) -> bool {
        let mut bytes = Vec::new();
        head(sequence).write(&mut bytes);
        spill.put("web", &[&bytes, &[7; 100]], sequence, Arc::new([])).unwrap()
    }

    fn take(spill: &Spill) -> Option<u64> {
        let spilled = spill.oldest(0).unwrap().into_iter().next()?;
        assert!(spilled.bytes.ends_with(&[7; 100]));
        spill.done().unwrap();
        Some(spilled.head.sequence)
    }

    #[test]
    fn batches_leave_in_the_order_in_which_they_came_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Spill::open(folder.path().to_owned(), 1 << 20).unwrap();
        let spill = open();
        assert!((0..10).all(|number| put(&spill, number)));
        assert_eq!((take(&spill), take(&spill)), (Some(0), Some(1)));
        let spill = {
            drop(spill);
            open()
        };
        assert_eq!(spill.waiting(), 8);
        assert!(put(&spill, 10));
        let rest: Vec<u64> = std::iter::from_fn(|| take(&spill)).collect();
        assert_eq!(rest, (2..=10).collect::<Vec<_>>());
        assert_eq!((spill.waiting(), spill.waiting_bytes()), (0, 0));
        drop(spill);
        assert_eq!(open().waiting(), 0, "what was done comes back");
    }

    #[test]
    fn what_was_read_ahead_and_is_not_done_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::open(folder.path().to_owned(), 1 << 20).unwrap();
        assert!((0..5).all(|number| put(&spill, number)));
        let sequences = || -> Vec<u64> {
            let found = spill.oldest(usize::MAX).unwrap();
            assert!(found.iter().all(|spilled| spilled.barrier == spilled.head.sequence));
            found.iter().map(|spilled| spilled.head.sequence).collect()
        };
        assert_eq!(sequences(), [0, 1, 2, 3, 4]);
        spill.done().unwrap();
        spill.done().unwrap();
        assert_eq!((sequences(), spill.waiting()), (vec![2, 3, 4], 3));
    }

    #[test]
    fn a_torn_tail_is_cut_wherever_it_was_torn() {
        let whole = tempfile::tempdir().unwrap();
        let spill = Spill::open(whole.path().to_owned(), 1 << 20).unwrap();
        assert!((0..3).all(|number| put(&spill, number)));
        let bytes = fs::read(segment_path(whole.path(), 1)).unwrap();
        let one = bytes.len() / 3;
        for length in [2 * one, 2 * one + 1, 2 * one + HEADER_BYTES, bytes.len() - 1] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(segment_path(folder.path(), 1), &bytes[..length]).unwrap();
            let spill = Spill::open(folder.path().to_owned(), 1 << 20).unwrap();
            assert!(put(&spill, 9));
            let found: Vec<u64> = std::iter::from_fn(|| take(&spill)).collect();
            assert_eq!(found, [0, 1, 9], "torn at {length}");
        }
    }

    #[test]
    fn what_is_above_the_limit_is_refused_until_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::open(folder.path().to_owned(), 500).unwrap();
        assert!(put(&spill, 0) && put(&spill, 1));
        assert!(!put(&spill, 2));
        assert_eq!(take(&spill), Some(0));
        assert!(put(&spill, 3));
    }
}
