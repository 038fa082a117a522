//! A reader of envelopes and records, written from the text of the specification alone (the layout
//! of version 1), so that a mistake of ours can't hide in both the writer and its test.
//!
//! It reads well-formed envelopes only and panics at anything else: a test wants to know.

use xxhash_rust::xxh64::xxh64;

/// An envelope, taken apart.
#[derive(Debug)]
pub struct Envelope<'a> {
    /// The codec's id.
    pub codec: u8,
    /// The encoding's id, if the header has one.
    pub encoding: Option<u8>,
    /// The length of the payload.
    pub payload_bytes: usize,
    /// The dictionary's id, if the header has one.
    pub dictionary: Option<u32>,
    /// The low half of the payload's XXH64, if the header has it.
    pub checksum: Option<u32>,
    /// The XXH64 of the base, if the envelope is a delta.
    pub base: Option<u64>,
    /// How long the header is.
    pub header_bytes: usize,
    /// What follows the header.
    pub body: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Takes an envelope apart and checks everything that its header promises.
    #[track_caller]
    pub fn read(bytes: &'a [u8]) -> Envelope<'a> {
        assert_eq!(bytes[..2], [0xC1, 0x9E], "the magic");
        assert_eq!(bytes[2] & 0x80, 0x80, "the top bit of the version byte");
        assert_eq!(bytes[2] >> 4 & 0x07, 1, "the version");
        assert_eq!(bytes[3] & 0x80, 0x80, "the top bit of the length byte");
        let flags = bytes[2] & 0x0F;
        let header_bytes = usize::from(bytes[3] & 0x7F);
        assert!(header_bytes <= 64, "a header of {header_bytes} bytes");
        let (header, body) = bytes.split_at(header_bytes);
        let (check, checked) = header.split_last().expect("the header is not empty");
        assert_eq!(*check, xxh64(checked, 0) as u8, "the header check");
        let mut rest = &checked[4..];
        let codec = take(&mut rest, 1)[0];
        let encoding = (flags & 8 != 0).then(|| take(&mut rest, 1)[0]);
        let payload_bytes = varint(&mut rest);
        let dictionary = (flags & 1 != 0).then(|| number(&mut rest));
        let checksum = (flags & 2 != 0).then(|| number(&mut rest));
        let base = (flags & 4 != 0).then(|| {
            assert_eq!(varint(&mut rest), 10, "nothing that this release writes has other fields");
            assert_eq!(take(&mut rest, 2), [0x82, 8], "the field of a delta");
            let low = u64::from(number(&mut rest));
            u64::from(number(&mut rest)) << 32 | low
        });
        assert!(rest.is_empty(), "{} bytes are left over in the header", rest.len());
        Envelope { codec, encoding, payload_bytes, dictionary, checksum, base, header_bytes, body }
    }

    /// Checks that this is the payload that the header describes.
    #[track_caller]
    pub fn is_of(&self, payload: &[u8]) {
        assert_eq!(self.payload_bytes, payload.len(), "the length in the header");
        let checksum = xxh64(payload, 0) as u32;
        assert_eq!(self.checksum, Some(checksum), "the checksum in the header");
    }
}

/// Cuts a sequence of records: each stands behind its length, a varint.
#[track_caller]
pub fn records(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let length = varint(&mut bytes);
        records.push(take(&mut bytes, length));
    }
    records
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, after) = rest.split_at_checked(count).expect("the bytes end too early");
    *rest = after;
    taken
}

fn number(rest: &mut &[u8]) -> u32 {
    let bytes = take(rest, 4);
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Seven bits a byte, lowest first; the minimal form only.
fn varint(rest: &mut &[u8]) -> usize {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let byte = take(rest, 1)[0];
        value |= usize::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            assert!(byte != 0 || shift == 0, "a varint that is not minimal");
            return value;
        }
    }
    panic!("a varint of more than five bytes");
}
