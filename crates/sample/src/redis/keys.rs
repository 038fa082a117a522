//! Which keys are read. A server has no random place to start listing at, so there are two ways:
//! ask it for random keys, or list all of them and keep a random choice.

use std::collections::BTreeSet;

use redis::{FromRedisValue, Value, cmd};

use super::connect::Node;
use crate::error::SampleError;
use crate::options::SampleOptions;
use crate::taker::Taker;

/// Random keys are asked for where the server holds at least so many times more keys than are
/// wanted: with fewer most answers would be keys that were chosen before.
const RANDOM_FACTOR: u64 = 8;

/// How many random keys are asked for at once.
const RANDOM_BATCH: usize = 64;

/// How many keys a server is asked to list at once, which takes it well below a millisecond.
const SCAN_BATCH: u32 = 512;

/// A longer key is left out, so that keys can't fill the memory.
const KEY_BYTES_MAX: usize = 64 << 10;

/// Chooses at most `wanted` of the node's `size` keys.
pub(super) fn choose(
    node: &mut Node<'_>,
    wanted: usize,
    size: u64,
    options: &SampleOptions,
    taker: &mut Taker<'_>,
) -> Result<Vec<Vec<u8>>, SampleError> {
    let is_large = size > (wanted as u64).saturating_mul(RANDOM_FACTOR);
    match &options.matching {
        None if is_large => random(node, wanted, taker),
        matching => scan(node, wanted, matching.as_deref(), taker),
    }
}

fn random(
    node: &mut Node<'_>,
    wanted: usize,
    taker: &mut Taker<'_>,
) -> Result<Vec<Vec<u8>>, SampleError> {
    let mut chosen = BTreeSet::new();
    let mut asked = 0;
    // A few answers are the same key again, or one that expires just now.
    while chosen.len() < wanted && asked < wanted.saturating_mul(2) {
        let batch = RANDOM_BATCH.min(wanted - chosen.len());
        asked += batch;
        for answer in node.ask_all((0..batch).map(|_| cmd("RANDOMKEY")))? {
            if let Ok(Value::BulkString(key)) = answer
                && key.len() <= KEY_BYTES_MAX
            {
                chosen.insert(key);
            }
        }
        if taker.list(batch as u32).is_break() {
            break;
        }
    }
    Ok(chosen.into_iter().collect())
}

fn scan(
    node: &mut Node<'_>,
    wanted: usize,
    matching: Option<&str>,
    taker: &mut Taker<'_>,
) -> Result<Vec<Vec<u8>>, SampleError> {
    let mut chosen: Vec<Vec<u8>> = Vec::new();
    let mut found: u64 = 0;
    let mut cursor: u64 = 0;
    loop {
        let mut command = cmd("SCAN");
        command.arg(cursor).arg("COUNT").arg(SCAN_BATCH);
        if let Some(pattern) = matching {
            command.arg("MATCH").arg(pattern);
        }
        let (next, keys): (u64, Vec<Value>) = node.ask(&command)?;
        for key in keys {
            let Ok(key) = Vec::<u8>::from_redis_value(key) else { continue };
            if key.len() > KEY_BYTES_MAX {
                continue;
            }
            found += 1;
            // Algorithm R: after n keys each of them is in the choice with the same chance.
            if chosen.len() < wanted {
                chosen.push(key);
                continue;
            }
            let place = taker.random().below(found) as usize;
            if let Some(place) = chosen.get_mut(place) {
                *place = key;
            }
        }
        // The server goes through so many keys, whether they match or not.
        cursor = next;
        if taker.list(SCAN_BATCH).is_break() || cursor == 0 {
            break;
        }
    }
    // A server that is growing its table may list a key twice.
    chosen.sort_unstable();
    chosen.dedup();
    // The order of keys says what they are, and what is read first must not be of one kind.
    for index in (1..chosen.len()).rev() {
        chosen.swap(index, taker.random().below(index as u64 + 1) as usize);
    }
    Ok(chosen)
}
