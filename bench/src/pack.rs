//! `pack`: what the envelope costs. `Packer::pack` and `Unpacker::read` with verbatim payloads and
//! zstd:3, against what nobody can leave out: the bare compressor, XXH64 of the payload, and the
//! copies of header and body.
//!
//! Packing must not verify itself here (the profile of verbatim payloads does not), and both sides
//! must write the same bytes.

use std::hint::black_box;

use cinch_core::codec::CodecChoice;
use cinch_core::encoding::encoding_named;
use cinch_core::envelope::{Header, checksum};
use cinch_core::pack::{Found, Outcome as Packed, Packer, Unpacker};
use cinch_core::profile::Profile;

use crate::bare::zstd;
use crate::failure::Outcome;
use crate::machine;
use crate::paired::{Comparison, Effort, Subject};
use crate::payloads::{self, SIZES_BYTES};
use crate::random::Random;
use crate::side::{Call, Side};
use crate::table::Table;

const LEVEL: i32 = 3;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

struct OurPacker {
    packer: Packer,
    out: Vec<u8>,
}

impl Call for OurPacker {
    fn call(&mut self, input: &[u8], _: &mut [u8]) -> usize {
        match self.packer.pack(input, &mut self.out) {
            Ok(Packed::Packed { not_encoded: None }) => self.out.len(),
            _ => 0,
        }
    }
}

struct BarePacker {
    compressor: zstd::Compress,
    header: Vec<u8>,
    body: Vec<u8>,
    out: Vec<u8>,
}

impl Call for BarePacker {
    fn call(&mut self, input: &[u8], _: &mut [u8]) -> usize {
        black_box(xxhash_rust::xxh64::xxh64(input, 0));
        let body_bytes = self.compressor.call(input, &mut self.body);
        self.out.clear();
        self.out.extend_from_slice(&self.header);
        self.out.extend_from_slice(&self.body[..body_bytes]);
        self.out.len()
    }
}

struct OurReader {
    unpacker: Unpacker,
    out: Vec<u8>,
}

impl Call for OurReader {
    fn call(&mut self, input: &[u8], _: &mut [u8]) -> usize {
        match self.unpacker.read(input, &mut self.out) {
            Ok(Found::Envelope(_)) => self.out.len(),
            _ => 0,
        }
    }
}

struct BareReader {
    decompressor: zstd::Decompress,
    header_bytes: usize,
    checksum: u32,
    out: Vec<u8>,
}

impl Call for BareReader {
    fn call(&mut self, input: &[u8], _: &mut [u8]) -> usize {
        let written = self.decompressor.call(&input[self.header_bytes..], &mut self.out);
        let got = xxhash_rust::xxh64::xxh64(&self.out, 0) as u32;
        if got == self.checksum { written } else { 0 }
    }
}

/// A payload, and what it is packed to.
struct Sample {
    profile: Profile,
    payload: Vec<u8>,
    envelope: Vec<u8>,
    header_bytes: usize,
}

impl Sample {
    /// Packs the payload, and checks that both sides write and read the same.
    fn new(payload: Vec<u8>) -> Outcome<Sample> {
        let verbatim = encoding_named("verbatim").ok_or("the registry has no verbatim encoding")?;
        let choice = CodecChoice::parse(&format!("zstd:{LEVEL}"))?;
        let profile = Profile { min_gain: 0.0, ..Profile::new(verbatim, choice) };
        let mut envelope = Vec::new();
        let outcome = Packer::new(&profile)?.pack(&payload, &mut envelope)?;
        if outcome != (Packed::Packed { not_encoded: None }) {
            return Err(format!("the payload was not packed: {outcome:?}").into());
        }
        let (_, header_bytes) = Header::read(&envelope)?;
        let sample = Sample { profile, payload, envelope, header_bytes };
        let mut bare = sample.bare_packer();
        bare.call(&sample.payload, &mut []);
        let mut reader = sample.bare_reader();
        reader.call(&sample.envelope, &mut []);
        let mut read = Vec::new();
        Unpacker::new([]).read(&sample.envelope, &mut read)?;
        if bare.out != sample.envelope || reader.out != sample.payload || read != sample.payload {
            return Err("the two sides pack or read differently".into());
        }
        Ok(sample)
    }

    fn bare_packer(&self) -> BarePacker {
        BarePacker {
            compressor: zstd::Compress::new(true, LEVEL, None),
            header: self.envelope[..self.header_bytes].to_vec(),
            body: vec![0; zstd_safe::compress_bound(self.payload.len())],
            out: Vec::with_capacity(self.envelope.len()),
        }
    }

    fn bare_reader(&self) -> BareReader {
        BareReader {
            decompressor: zstd::Decompress::new(true, None),
            header_bytes: self.header_bytes,
            checksum: checksum(&self.payload),
            out: vec![0; self.payload.len()],
        }
    }

    fn packing(&self, effort: Effort, random: &mut Random) -> Outcome<Comparison> {
        let ours = || -> Outcome<Box<dyn Side>> {
            let out = Vec::with_capacity(self.envelope.len());
            Ok(Box::new(OurPacker { packer: Packer::new(&self.profile)?, out }))
        };
        let bare = || -> Outcome<Box<dyn Side>> { Ok(Box::new(self.bare_packer())) };
        let written_bytes = self.envelope.len();
        Subject { ours: &ours, bare: &bare, input: &self.payload, written_bytes }.compare(
            effort,
            &mut [],
            random,
        )
    }

    fn reading(&self, effort: Effort, random: &mut Random) -> Outcome<Comparison> {
        let ours = || -> Outcome<Box<dyn Side>> {
            let out = Vec::with_capacity(self.payload.len());
            Ok(Box::new(OurReader { unpacker: Unpacker::new([]), out }))
        };
        let bare = || -> Outcome<Box<dyn Side>> { Ok(Box::new(self.bare_reader())) };
        let written_bytes = self.payload.len();
        Subject { ours: &ours, bare: &bare, input: &self.envelope, written_bytes }.compare(
            effort,
            &mut [],
            random,
        )
    }
}

pub(crate) fn run(_: &Arguments) -> Outcome {
    print!("{}", machine::description());
    print!("{}", measure(&SIZES_BYTES, Effort::USUAL)?.text());
    println!("\nnanoseconds per payload; bare is zstd:{LEVEL}, XXH64 and the copies");
    Ok(())
}

fn measure(sizes_bytes: &[u32], effort: Effort) -> Outcome<Table> {
    let mut random = Random::new(1);
    let mut table = Table::new([
        "bytes",
        "packed",
        "operation",
        "ours ns",
        "bare ns",
        "envelope ns",
        "95 % of it",
        "ratio",
    ]);
    for &size_bytes in sizes_bytes {
        let sample = Sample::new(payloads::nearest(size_bytes)?)?;
        let packing = sample.packing(effort, &mut random)?;
        let reading = sample.reading(effort, &mut random)?;
        for (operation, found) in [("pack", packing), ("read", reading)] {
            let difference = found.difference_ns;
            table.row([
                sample.payload.len().to_string(),
                sample.envelope.len().to_string(),
                operation.to_owned(),
                format!("{:.0}", found.ours_ns),
                format!("{:.0}", found.bare_ns),
                format!("{:+.1}", difference.value),
                format!("{:+.1} to {:+.1}", difference.low, difference.high),
                format!("{:.4}", found.ratio),
            ]);
        }
        eprintln!("measured {size_bytes} bytes");
    }
    Ok(table)
}

#[cfg(test)]
pub(crate) fn smoke() -> Outcome {
    measure(&SIZES_BYTES[..3], Effort::TINY).map(drop)
}
