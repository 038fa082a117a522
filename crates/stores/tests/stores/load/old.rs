//! The release before this one, kept as a client that knows only what the released vectors show:
//! plain payloads, and envelopes of two codecs. It links none of our encoder or decoder: headers
//! are read by the text of the specification, bodies by another gzip.
//!
//! It follows spec/rollout.md by hand: it does not start where values may need what it has not,
//! announces what it does, does what the step says, and writes raw copies once its lease ran out.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use cinch_rollout::{Metadata, PackedField, Record};
use cinch_stores::control::now_ms;
use cinch_stores::{Condition, Expiry, Store};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use xxhash_rust::xxh64::xxh64;

/// `stored` and `gzip`.
const CODECS: [u8; 2] = [0x10, 0x13];
const VERBATIM: u8 = 0x10;

/// What it does while a step holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Does {
    pub writes_raw: bool,
    pub writes_packed: bool,
    pub reads_packed: bool,
    pub epoch: u64,
}

/// The raw copy alone.
const RAW: Does = Does { writes_raw: true, writes_packed: false, reads_packed: false, epoch: 0 };

/// The vectors that this release was built against: what it announces it must read.
pub fn check_vectors() {
    let folder = cinch_integration::repository().join("vectors/envelope");
    let mut read = 0;
    for file in ["plain.json", "header.json", "codecs.json"] {
        let text = std::fs::read_to_string(folder.join(file)).expect("the vectors are there");
        let file: Value = serde_json::from_str(&text).expect("vectors are JSON");
        for vector in file["vectors"].as_array().expect("there are vectors") {
            let codec = vector["header"]["codec"].as_u64().unwrap_or(0x10);
            let is_known = CODECS.iter().any(|known| u64::from(*known) == codec);
            let is_ours = vector["result"] != "invalid" && vector["dictionary"].is_null();
            if !is_known || !is_ours || vector["base_text"].is_string() {
                continue;
            }
            let value = unhex(vector["hex"].as_str().expect("a vector has bytes"));
            let payload = match vector["payload_text"].as_str() {
                Some(text) => text.as_bytes().to_vec(),
                None => unhex(vector["payload_hex"].as_str().unwrap_or_default()),
            };
            assert_eq!(unpack(&value).as_deref(), Ok(payload.as_slice()), "{}", vector["name"]);
            read += 1;
        }
    }
    assert!(read > 20, "{read} vectors");
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().map(|digit| digit.to_digit(16).expect("hexadecimal") as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The payload of a value, plain or in an envelope of version 1.
fn unpack(value: &[u8]) -> Result<Vec<u8>, String> {
    let [0xC1, 0x9E, flags, length, ..] = value else { return Ok(value.to_vec()) };
    if flags & 0x80 == 0 || length & 0x80 == 0 {
        return Ok(value.to_vec());
    }
    let header_bytes = usize::from(length & 0x7F);
    let (header, body) = value.split_at_checked(header_bytes).ok_or("the header is cut")?;
    let (check, checked) = header.split_last().ok_or("no header")?;
    if *check != xxh64(checked, 0) as u8 || flags >> 4 & 7 != 1 || flags & 1 != 0 {
        return Err("an envelope that this release does not know".to_owned());
    }
    let mut rest = checked[4..].iter().copied();
    let codec = rest.next().ok_or("no codec")?;
    if flags & 8 != 0 && rest.next() != Some(VERBATIM) {
        return Err("an unknown encoding".to_owned());
    }
    let (mut payload_bytes, mut shift) = (0, 0);
    loop {
        let byte = rest.next().ok_or("no length")?;
        payload_bytes |= usize::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    let checksum: Option<Vec<u8>> = (flags & 2 != 0).then(|| rest.by_ref().take(4).collect());
    let payload = match codec {
        0x10 => body.to_vec(),
        0x13 => gunzip(body)?,
        other => return Err(format!("codec {other:#04x}")),
    };
    let is_right = payload.len() == payload_bytes
        && checksum.is_none_or(|sum| sum == (xxh64(&payload, 0) as u32).to_le_bytes());
    if is_right { Ok(payload) } else { Err("another payload than the header says".to_owned()) }
}

/// An envelope of gzip, as `codecs.json` shows it.
fn pack(payload: &[u8]) -> Vec<u8> {
    let mut header = vec![0xC1, 0x9E, 0x92, 0x80, 0x13];
    let mut left = payload.len();
    while left >= 0x80 {
        header.push(left as u8 | 0x80);
        left >>= 7;
    }
    header.push(left as u8);
    header.extend((xxh64(payload, 0) as u32).to_le_bytes());
    header[3] = 0x80 | (header.len() + 1) as u8;
    header.push(xxh64(&header, 0) as u8);
    header.extend(gzip(payload));
    header
}

fn gzip(payload: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(payload).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

fn gunzip(body: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    GzDecoder::new(body).read_to_end(&mut out).map_err(|error| error.to_string())?;
    Ok(out)
}

/// A process of the older release.
pub struct OldRelease {
    pub name: String,
    pub data: Arc<dyn Store>,
    pub control: Arc<dyn Store>,
    pub is_two: bool,
    pub lease_ms: u64,
    incarnation: u64,
    does: Does,
    renewed: Instant,
}

impl OldRelease {
    pub fn new(
        name: String,
        data: Arc<dyn Store>,
        control: Arc<dyn Store>,
        is_two: bool,
        lease_ms: u64,
    ) -> OldRelease {
        let incarnation = fastrand::u64(..);
        let renewed = Instant::now();
        OldRelease { name, data, control, is_two, lease_ms, incarnation, does: RAW, renewed }
    }

    /// Joins, or says why it must not start.
    pub async fn join(&mut self) -> Result<(), String> {
        self.renew(true).await?;
        // The state may have been raised by somebody who did not see this announcement.
        self.renew(false).await
    }

    /// Looks at the state, acts by it, and announces that.
    pub async fn renew(&mut self, takes_over: bool) -> Result<(), String> {
        let began = Instant::now();
        let patience = Duration::from_millis(self.lease_ms / 3);
        let renewal = tokio::time::timeout(patience, self.renew_now(takes_over));
        renewal.await.map_err(|_| "no answer in time".to_owned())??;
        self.renewed = began;
        Ok(())
    }

    async fn renew_now(&mut self, takes_over: bool) -> Result<(), String> {
        let said = |error: cinch_stores::StoreError| error.to_string();
        let state = self.control.get(b"cinch:state:carts").await.map_err(said)?;
        let state = match state.and_then(|found| found.record.raw) {
            Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| error.to_string())?,
            None => json!({ "epoch": 0, "progress": { "step": "off" } }),
        };
        let needed = state["codecs"].as_array().cloned().unwrap_or_default();
        if let Some(id) = needed.iter().find(|id| !CODECS.iter().any(|known| **id == *known)) {
            return Err(format!("values may need the codec {id}"));
        }
        self.does = self.of_state(&state);
        self.announce(takes_over).await
    }

    /// What the step says; who goes first is somebody of the newer release.
    fn of_state(&self, state: &Value) -> Does {
        let epoch = state["epoch"].as_u64().unwrap_or_default();
        let may_lack_raw = state["may_lack_raw"] == true;
        let is_sealed = state["sealed"] == true;
        let step = state["progress"]["step"].as_str().unwrap_or("off");
        let (writes_raw, writes_packed, reads_packed) = match (step, self.is_two) {
            ("off" | "first-write", true) => (true, false, may_lack_raw),
            ("all-write" | "verify" | "first-read", true) => (true, true, may_lack_raw),
            ("all-read", true) => (true, true, true),
            (_, true) => (is_sealed, true, true),
            ("all-read" | "packed-only", false) => (false, !is_sealed, true),
            (_, false) => (true, false, true),
        };
        Does { writes_raw: writes_raw || !writes_packed, writes_packed, reads_packed, epoch }
    }

    async fn announce(&self, takes_over: bool) -> Result<(), String> {
        let key = format!("cinch:process:{}", self.name).into_bytes();
        let said = |error: cinch_stores::StoreError| error.to_string();
        let Does { writes_raw, writes_packed, reads_packed, epoch } = self.does;
        let write = match (writes_raw, writes_packed) {
            (true, false) => "NO_COMPRESS",
            (true, true) => "DUAL",
            _ => "COMPRESS_ONLY",
        };
        // It compares copies wherever it writes both.
        let read = match (reads_packed, writes_packed) {
            (true, _) => "COMPRESS_ONLY",
            (false, true) => "VERIFY_COMPRESS",
            (false, false) => "NO_COMPRESS",
        };
        let single = if writes_packed { "packed" } else { "shadow" };
        let (two, one) = match self.is_two {
            true => (json!([write, read]), Value::Null),
            false => (json!([null, null]), json!(single)),
        };
        let health = json!({ "writes": 0, "reads": 0, "mismatches": 0, "decode_errors": 0,
            "pack_failures": 0, "read_p99_us": 0, "write_p99_us": 0 });
        let practice = json!({ "write": two[0], "read": two[1], "single": one,
            "dictionaries": [], "epoch": epoch, "health": health });
        let document = json!({ "version": 1, "incarnation": self.incarnation,
            "announcement": { "process": self.name, "release": "0.0.9",
                "renewed_at_ms": now_ms(), "lease_ms": self.lease_ms, "envelope_version": 1,
                "codecs": CODECS, "encodings": [VERBATIM],
                "namespaces": { "carts": practice } } });
        for _ in 0..16 {
            let held = self.control.get(&key).await.map_err(said)?;
            if let Some(found) = &held
                && !takes_over
            {
                let raw = found.record.raw.as_deref().unwrap_or_default();
                let found: Value = serde_json::from_slice(raw).map_err(|e| e.to_string())?;
                if found["incarnation"] != self.incarnation {
                    return Err("another run has the name".to_owned());
                }
            }
            let condition = held.map_or(Condition::Absent, |found| Condition::Is(found.version));
            let record = Record::single(document.to_string().into_bytes());
            let put = self.control.put(&key, &record, &condition, Expiry::Never);
            if put.await.map_err(said)? == cinch_stores::PutOutcome::Written {
                return Ok(());
            }
            sleep(Duration::from_millis(1)).await;
        }
        Err("the announcement was contended".to_owned())
    }

    /// Whether it may take traffic.
    pub fn is_ready(&self) -> bool {
        self.renewed.elapsed() < Duration::from_millis(self.lease_ms)
    }

    /// Whether a renewal is due.
    pub fn is_due(&self) -> bool {
        self.renewed.elapsed() > Duration::from_millis(self.lease_ms / 3)
    }

    /// The record of a cart.
    pub fn record_of(&self, payload: &[u8], stamp: u64) -> Record {
        let does = if self.is_ready() { self.does } else { RAW };
        if !self.is_two {
            let is_packed = does.writes_packed && payload.len() > 100;
            return Record::single(if is_packed { pack(payload) } else { payload.to_vec() });
        }
        let stamp = Some(cinch_rollout::Stamp(stamp));
        if !does.writes_packed || payload.len() <= 100 {
            return Record { raw: Some(payload.to_vec().into()), packed: None, stamp };
        }
        let bytes = gzip(payload);
        let metadata = Metadata {
            codec: "GZIP".to_owned(),
            compressed_size: bytes.len() as u64,
            uncompressed_size: payload.len() as u64,
            last_updated_ms: 0,
            raw_checksum: Some(xxh64(payload, 0)),
            raw_nulled: Some(!does.writes_raw),
        };
        let raw = does.writes_raw.then(|| payload.to_vec());
        Record {
            raw: raw.map(Into::into),
            packed: Some(PackedField { bytes: bytes.into(), metadata }),
            stamp,
        }
    }

    /// The payload of a record, and whether it came from the packed copy.
    pub fn payload_of(&self, record: &Record) -> Result<(Option<Vec<u8>>, bool), String> {
        if !self.is_two {
            let Some(value) = &record.raw else { return Ok((None, false)) };
            return Ok((Some(unpack(value)?), value.starts_with(&[0xC1, 0x9E])));
        }
        let Some(packed) = &record.packed else {
            return Ok((record.raw.clone().map(Vec::from), false));
        };
        let noted = packed.metadata.raw_checksum;
        let is_current = match &record.raw {
            Some(raw) => noted == Some(xxh64(raw, 0)),
            None => packed.metadata.raw_nulled != Some(false),
        };
        if !is_current || record.raw.is_some() && !self.does.reads_packed {
            return Ok((record.raw.clone().map(Vec::from), false));
        }
        match packed.metadata.codec.as_str() {
            "GZIP" => Ok((Some(gunzip(&packed.bytes)?), true)),
            codec => Err(format!("the metadata names {codec}")),
        }
    }
}
