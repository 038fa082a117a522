//! Reads payloads from Redis, Valkey and what speaks their protocol: one server, a cluster, or the
//! replicas of either.
//!
//! Keys are chosen first and values are read afterwards, so that the work does not grow with what
//! is stored. Every command is one that Redis itself lists as reading (`+@read`).

mod connect;
mod failure;
mod keys;
mod values;

use crate::address::Address;
use crate::error::SampleError;
use crate::options::SampleOptions;
use crate::taker::Taker;

/// How many more keys are chosen than payloads are wanted: some have expired, hold objects of a
/// language, or belong to a size class that has enough.
const KEYS_PER_PAYLOAD: usize = 2;

/// Offers what is stored to the taker.
pub(crate) fn read(
    address: &Address,
    options: &SampleOptions,
    taker: &mut Taker<'_>,
) -> Result<(), SampleError> {
    if options.query.is_some() {
        return Err(SampleError::Query {
            address: address.to_string(),
            reason: "Redis has no queries; choose keys with --match 'cart:*'".to_owned(),
        });
    }
    let mut nodes = connect::nodes(address, options)?;
    let mut sizes = Vec::with_capacity(nodes.len());
    for node in &mut nodes {
        sizes.push(node.size()?);
    }
    let stored: u64 = sizes.iter().sum();
    taker.stored(stored);
    let wanted = options.count.saturating_mul(KEYS_PER_PAYLOAD);
    for (node, size) in nodes.iter_mut().zip(sizes) {
        // Each node of a cluster gives its share, so that no key is likelier than another.
        let share = (wanted as u128 * u128::from(size)).div_ceil(u128::from(stored.max(1)));
        let share = usize::try_from(share).unwrap_or(wanted);
        let chosen = keys::choose(node, share, size, options, taker)?;
        if taker.stopped() || values::offer(node, &chosen, share, taker)?.is_break() {
            break;
        }
    }
    Ok(())
}
