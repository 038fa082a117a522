//! The modes by their published names: what is written, and what is believed.
//!
//! Two slots: NO_COMPRESS, DUAL and COMPRESS_ONLY writing; NO_COMPRESS, VERIFY_COMPRESS and
//! COMPRESS_ONLY reading. One slot: plain, shadow and packed writing; reading knows one mode, since
//! an envelope says of itself that it is one. DESIGN section 6 has the table of pairs.

use serde::{Deserialize, Serialize};

/// What a write puts into a store with two slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WriteMode {
    /// The raw copy alone; a packed one that was there is removed in the same update.
    #[serde(alias = "no_compress")]
    NoCompress,
    /// Both copies.
    #[serde(alias = "dual")]
    Dual,
    /// The packed copy alone; the raw field becomes null.
    #[serde(alias = "compress_only")]
    CompressOnly,
}

/// What a read of a store with two slots believes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReadMode {
    /// The raw copy.
    #[serde(alias = "no_compress")]
    NoCompress,
    /// The raw copy, and the packed one is unpacked and compared with it: the audit.
    #[serde(alias = "verify_compress")]
    VerifyCompress,
    /// The packed copy where there is a current one, else the raw copy.
    #[serde(alias = "compress_only")]
    CompressOnly,
}

/// What a write puts into a store with one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SingleWrite {
    /// The payload as it is.
    Plain,
    /// The payload as it is; it is packed, unpacked and compared beside that, and only counted.
    Shadow,
    /// An envelope, where that pays.
    Packed,
}

impl WriteMode {
    /// All of them, from the least to the most packed.
    pub const ALL: [WriteMode; 3] =
        [WriteMode::NoCompress, WriteMode::Dual, WriteMode::CompressOnly];

    /// The published name.
    pub fn name(self) -> &'static str {
        match self {
            WriteMode::NoCompress => "NO_COMPRESS",
            WriteMode::Dual => "DUAL",
            WriteMode::CompressOnly => "COMPRESS_ONLY",
        }
    }

    /// Whether the raw copy is written.
    pub fn writes_raw(self) -> bool {
        self != WriteMode::CompressOnly
    }

    /// Whether the packed copy is written.
    pub fn writes_packed(self) -> bool {
        self != WriteMode::NoCompress
    }
}

impl ReadMode {
    /// All of them, from the least to the most packed.
    pub const ALL: [ReadMode; 3] =
        [ReadMode::NoCompress, ReadMode::VerifyCompress, ReadMode::CompressOnly];

    /// The published name.
    pub fn name(self) -> &'static str {
        match self {
            ReadMode::NoCompress => "NO_COMPRESS",
            ReadMode::VerifyCompress => "VERIFY_COMPRESS",
            ReadMode::CompressOnly => "COMPRESS_ONLY",
        }
    }
}

impl SingleWrite {
    /// The name in configuration and metrics.
    pub fn name(self) -> &'static str {
        match self {
            SingleWrite::Plain => "plain",
            SingleWrite::Shadow => "shadow",
            SingleWrite::Packed => "packed",
        }
    }
}

/// Why a write mode and a read mode don't go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPair {
    /// What is written could not be read.
    #[error(
        "write_mode = COMPRESS_ONLY with read_mode = NO_COMPRESS: nothing that is written could be \
         read; write DUAL, or read VERIFY_COMPRESS or COMPRESS_ONLY"
    )]
    Unreadable,
    /// What is read would not be written.
    #[error(
        "write_mode = NO_COMPRESS with read_mode = COMPRESS_ONLY: every write removes the copy \
         that is read; write DUAL first, or read NO_COMPRESS"
    )]
    NeverWritten,
}

/// Whether a process, or a fleet, may write in one mode and read in the other.
///
/// # Errors
/// Which of the two refused pairs it is.
pub fn check_pair(write: WriteMode, read: ReadMode) -> Result<(), InvalidPair> {
    match (write, read) {
        (WriteMode::CompressOnly, ReadMode::NoCompress) => Err(InvalidPair::Unreadable),
        (WriteMode::NoCompress, ReadMode::CompressOnly) => Err(InvalidPair::NeverWritten),
        _ => Ok(()),
    }
}
