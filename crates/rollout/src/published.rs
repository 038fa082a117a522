//! The codecs by their published names, whose bytes are bare blocks: what the cart service wrote,
//! and what clients that know nothing of envelopes can read.
//!
//! SNAPPY is a raw Snappy block, LZ4_FAST and LZ4_HIGH an LZ4 block whose length stands in the
//! metadata, GZIP one member. A block is only as safe as the metadata beside it, which is why our
//! own profiles write envelopes.

use std::fmt;

use cinch_core::codec::{
    CodecChoice, CompressError, Compressor, DecompressError, Decompressor, SetupError,
};

/// A published codec name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublishedCodec(&'static str);

/// The published names, in the order of the publication; `LZ_FAST` is the article's other spelling.
const NAMES: &[&str] = &["SNAPPY", "LZ4_HIGH", "LZ4_FAST", "GZIP"];

impl PublishedCodec {
    /// What a namespace without a profile and a codec uses, as published.
    pub const DEFAULT: PublishedCodec = PublishedCodec("LZ4_HIGH");

    /// The codec of a name, in any case and spelling.
    pub fn named(name: &str) -> Option<PublishedCodec> {
        let name = if name.eq_ignore_ascii_case("LZ_FAST") { "LZ4_FAST" } else { name };
        NAMES.iter().find(|known| known.eq_ignore_ascii_case(name)).map(|name| PublishedCodec(name))
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = PublishedCodec> {
        NAMES.iter().map(|name| PublishedCodec(name))
    }

    /// The name as metadata holds it.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// The codec and level behind the name.
    pub fn choice(self) -> CodecChoice {
        // Every published name is an alias of core's, which a test checks.
        CodecChoice::parse(self.0).expect("a published name is an alias")
    }

    /// A context that writes blocks.
    ///
    /// # Errors
    /// Where the library has no memory for it.
    pub fn compressor(self) -> Result<Box<dyn Compressor>, SetupError> {
        let choice = self.choice();
        choice.codec.compressor(choice.level, None)
    }

    /// A context that reads blocks.
    ///
    /// # Errors
    /// Where the library has no memory for it.
    pub fn decompressor(self) -> Result<Box<dyn Decompressor>, SetupError> {
        self.choice().codec.decompressor(None)
    }

    /// Compresses a payload into `out`, whose content is replaced.
    ///
    /// # Errors
    /// What the library says.
    pub fn compress(
        self,
        compressor: &mut dyn Compressor,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), CompressError> {
        out.clear();
        out.resize(self.choice().codec.compress_bound(payload.len()), 0);
        let length = compressor.compress(payload, out)?;
        out.truncate(length);
        Ok(())
    }
}

impl fmt::Display for PublishedCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Decompresses a block of exactly `payload_bytes` into `out`, whose content is replaced; it is
/// empty on an error. The length must have been checked against the limit.
///
/// # Errors
/// What the library says, or another length.
pub fn decompress(
    decompressor: &mut dyn Decompressor,
    block: &[u8],
    payload_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), DecompressError> {
    out.clear();
    out.resize(payload_bytes, 0);
    let result = decompressor.decompress_exact(block, out);
    if result.is_err() {
        out.clear();
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_codec_gives_back_what_it_took() {
        let payload = br#"{"cart":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#;
        for codec in PublishedCodec::all() {
            let mut block = Vec::new();
            codec.compress(&mut *codec.compressor().unwrap(), payload, &mut block).unwrap();
            assert!(block.len() < payload.len(), "{codec}");
            let mut out = Vec::new();
            let mut decompressor = codec.decompressor().unwrap();
            decompress(&mut *decompressor, &block, payload.len(), &mut out).unwrap();
            assert_eq!(out, payload, "{codec}");
            decompress(&mut *decompressor, &block, payload.len() - 1, &mut out).unwrap_err();
            assert!(out.is_empty(), "{codec}");
        }
    }

    #[test]
    fn both_published_spellings_and_any_case_are_known() {
        assert_eq!(PublishedCodec::named("LZ_FAST").unwrap().name(), "LZ4_FAST");
        assert_eq!(PublishedCodec::named("gzip").unwrap().name(), "GZIP");
        assert_eq!(PublishedCodec::named("zstd"), None);
    }
}
