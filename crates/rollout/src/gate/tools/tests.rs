//! Compression that fails at run time: the payload is written raw, the outcome says why so that it
//! is counted, and the next payload is tried again.

use cinch_core::codec::CompressError;
use cinch_core::pack::PlainReason;

use super::*;
use crate::settings::Sources;

/// A library that is out of order.
struct OutOfOrder;

impl Compressor for OutOfOrder {
    fn compress(&mut self, _: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        Err(CompressError::OutputTooSmall { codec: "lz4", capacity: output.len() })
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}

/// A library that gives back other bytes than it should.
struct Forgetful;

impl Compressor for Forgetful {
    fn compress(&mut self, _: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        output[..4].fill(0);
        Ok(4)
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}

#[test]
fn a_codec_that_fails_costs_the_packed_copy_and_nothing_else() {
    let text = "[namespaces.carts]\nkeys = [\"*\"]\nwrite_mode = \"DUAL\"\n".to_owned();
    let configuration = Sources { text, ..Sources::default() }.configuration().unwrap();
    let mut tools = Tools::new(Arc::clone(&configuration.namespaces["carts"]));
    let payload = br#"{"sku":"SKU-1","price":12.50},"#.repeat(20);
    tools.compressor = Some(Box::new(OutOfOrder));
    let (packed, outcome) = tools.pack_field(&payload, 0).unwrap();
    assert!(packed.is_none());
    let PackOutcome::Packer(Outcome::Plain(reason)) = outcome else { panic!("{outcome:?}") };
    assert!(matches!(reason, PlainReason::CodecFailed(_)));
    assert_eq!(reason.name(), "codec failed");
    tools.compressor = Some(Box::new(Forgetful));
    let (packed, outcome) = tools.pack_field(&payload, 0).unwrap();
    let expected = PackOutcome::Packer(Outcome::Plain(PlainReason::VerificationFailed));
    assert_eq!((packed, outcome), (None, expected));
    tools.compressor = None;
    assert!(tools.pack_field(&payload, 0).unwrap().0.is_some());
}
