//! Reads payloads from sqlite. Not written yet: this build says so instead of finding nothing.

use crate::address::Address;
use crate::error::SampleError;
use crate::options::SampleOptions;
use crate::taker::Taker;

/// Offers what is stored to the taker.
pub fn read(
    address: &Address,
    _options: &SampleOptions,
    _taker: &mut Taker<'_>,
) -> Result<(), SampleError> {
    Err(SampleError::Query {
        address: address.to_string(),
        reason: "this cinch does not read sqlite yet".to_owned(),
    })
}
