//! What keys hold, by type: a string is a payload; of collections a random choice of members is.
//!
//! A key that expired or changed its type in the meantime is no error. Lengths are asked for before
//! values, so that no answer is larger than what is taken.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use redis::{Cmd, FromRedisValue, RedisResult, Value, cmd};

use super::connect::Node;
use crate::error::SampleError;
use crate::options::VALUE_BYTES_MAX;
use crate::taker::Taker;

/// How many keys are asked for at once.
const BATCH: usize = 32;

/// How many bytes of values are asked for at once, beyond the first of them.
const BATCH_BYTES: u64 = 4 << 20;

/// At least so many members of a collection are taken, where it has them.
const MEMBERS_MIN: usize = 16;

/// Offers the values of the keys. `wanted` is how many payloads are hoped for: where keys are few,
/// more members of each are taken.
pub(super) fn offer(
    node: &mut Node<'_>,
    keys: &[Vec<u8>],
    wanted: usize,
    taker: &mut Taker<'_>,
) -> Result<ControlFlow<()>, SampleError> {
    let members = MEMBERS_MIN.max(wanted / keys.len().max(1));
    for batch in keys.chunks(BATCH) {
        let types = node.ask_all(batch.iter().map(|key| command("TYPE", key)))?;
        let mut strings: Vec<(String, Cmd, Cmd)> = Vec::new();
        for (key, found) in batch.iter().zip(types) {
            let shown = String::from_utf8_lossy(key).into_owned();
            let found: String = text(found);
            match found.as_str() {
                "string" => strings.push((shown, command("STRLEN", key), command("GET", key))),
                "none" | "" => {}
                found => {
                    let reads = match found {
                        "hash" => hash(node, key, members)?,
                        "list" => list(node, key, members, taker)?,
                        "set" => set(key, members),
                        "zset" => sorted_set(node, key, members, taker)?,
                        "stream" => stream(node, key, members, taker)?,
                        other => {
                            if taker.refuse(&format!("values of type {other}")).is_break() {
                                return Ok(ControlFlow::Break(()));
                            }
                            continue;
                        }
                    };
                    if members_of(node, &shown, reads, taker)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        if measured(node, strings, taker)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Reads values whose lengths a command tells, as many at once as are not too long together.
fn measured(
    node: &mut Node<'_>,
    reads: Vec<(String, Cmd, Cmd)>,
    taker: &mut Taker<'_>,
) -> Result<ControlFlow<()>, SampleError> {
    let lengths = node.ask_all(reads.iter().map(|(_, length, _)| length.clone()))?;
    let mut group: Vec<(String, Cmd)> = Vec::new();
    let mut group_bytes: u64 = 0;
    for ((name, _, read), length) in reads.into_iter().zip(lengths) {
        let length = length.ok().and_then(|value| u64::from_redis_value(value).ok()).unwrap_or(0);
        if length > VALUE_BYTES_MAX as u64 {
            if taker.refuse("too large").is_break() {
                return Ok(ControlFlow::Break(()));
            }
            continue;
        }
        if !group.is_empty() && group_bytes + length > BATCH_BYTES {
            if members_of(node, "", Reads(std::mem::take(&mut group)), taker)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            group_bytes = 0;
        }
        group_bytes += length;
        group.push((name, read));
    }
    members_of(node, "", Reads(group), taker)
}

/// The commands that read members, each with what is added to the key's name.
struct Reads(Vec<(String, Cmd)>);

fn members_of(
    node: &mut Node<'_>,
    key: &str,
    Reads(reads): Reads,
    taker: &mut Taker<'_>,
) -> Result<ControlFlow<()>, SampleError> {
    let (names, commands): (Vec<String>, Vec<Cmd>) = reads.into_iter().unzip();
    if commands.is_empty() {
        return Ok(ControlFlow::Continue(()));
    }
    for (name, answer) in names.iter().zip(node.ask_all(commands)?) {
        let Ok(answer) = answer else { continue };
        let mut values = Vec::new();
        flatten(answer, &mut values);
        for value in values {
            if taker.offer(&format!("{key}{name}"), &value).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The values of an answer: itself, or of an array the values in it. Of an entry of a stream, which
/// is its id and an array of names and values, only the values.
fn flatten(answer: Value, values: &mut Vec<Vec<u8>>) {
    match answer {
        Value::BulkString(bytes) => values.push(bytes),
        Value::SimpleString(text) => values.push(text.into_bytes()),
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::Array(entry) => {
                        let Some(Value::Array(fields)) = entry.into_iter().nth(1) else { continue };
                        for value in fields.into_iter().skip(1).step_by(2) {
                            flatten(value, values);
                        }
                    }
                    item => flatten(item, values),
                }
            }
        }
        _ => {}
    }
}

/// The fields are chosen first, because their values may be long.
fn hash(node: &mut Node<'_>, key: &[u8], members: usize) -> Result<Reads, SampleError> {
    let random = command("HRANDFIELD", key).arg(members).to_owned();
    let fields = match node.ask_all([random])?.pop() {
        Some(Ok(Value::Array(fields))) => fields,
        // Before Redis 6.2 there are no random fields, so the first ones have to do.
        _ => {
            let scan = command("HSCAN", key).arg(0).arg("COUNT").arg(members).to_owned();
            match node.ask_all([scan])?.pop() {
                Some(Ok(Value::Array(answer))) => match answer.into_iter().nth(1) {
                    Some(Value::Array(pairs)) => pairs.into_iter().step_by(2).collect(),
                    _ => Vec::new(),
                },
                _ => Vec::new(),
            }
        }
    };
    let mut fields: Vec<Vec<u8>> =
        fields.into_iter().filter_map(|field| Vec::from_redis_value(field).ok()).collect();
    fields.truncate(members);
    let lengths =
        node.ask_all(fields.iter().map(|field| command("HSTRLEN", key).arg(field).to_owned()))?;
    let is_taken = |length: RedisResult<Value>| {
        let length = length.ok().and_then(|length| u64::from_redis_value(length).ok());
        length.is_none_or(|length| length <= VALUE_BYTES_MAX as u64)
    };
    let kept = fields.into_iter().zip(lengths).filter_map(|(field, length)| {
        let name = format!("[{}]", String::from_utf8_lossy(&field));
        is_taken(length).then(|| (name, command("HGET", key).arg(field).to_owned()))
    });
    Ok(Reads(kept.collect()))
}

fn list(
    node: &mut Node<'_>,
    key: &[u8],
    members: usize,
    taker: &mut Taker<'_>,
) -> Result<Reads, SampleError> {
    let length = length(node, command("LLEN", key))?;
    let read = |place: u64| (format!("[{place}]"), command("LINDEX", key).arg(place).to_owned());
    Ok(Reads(places(length, members, taker).into_iter().map(read).collect()))
}

/// Members have no length that could be asked for.
fn set(key: &[u8], members: usize) -> Reads {
    Reads(vec![("[]".to_owned(), command("SRANDMEMBER", key).arg(members).to_owned())])
}

fn sorted_set(
    node: &mut Node<'_>,
    key: &[u8],
    members: usize,
    taker: &mut Taker<'_>,
) -> Result<Reads, SampleError> {
    let length = length(node, command("ZCARD", key))?;
    let read = |place: u64| {
        (format!("[{place}]"), command("ZRANGE", key).arg(place).arg(place).to_owned())
    };
    Ok(Reads(places(length, members, taker).into_iter().map(read).collect()))
}

/// Entries at random times between the first and the last one.
fn stream(
    node: &mut Node<'_>,
    key: &[u8],
    members: usize,
    taker: &mut Taker<'_>,
) -> Result<Reads, SampleError> {
    let end = |name: &str, from: &str, to: &str| {
        command(name, key).arg(from).arg(to).arg("COUNT").arg(1).to_owned()
    };
    let ends = node.ask_all([end("XRANGE", "-", "+"), end("XREVRANGE", "+", "-")])?;
    let times: Vec<u64> = ends.into_iter().filter_map(|answer| entry_ms(answer.ok()?)).collect();
    let [first, last] = times[..] else { return Ok(Reads(Vec::new())) };
    let span = last.saturating_sub(first);
    let mut chosen = BTreeSet::new();
    for _ in 0..members {
        chosen.insert(first + taker.random().below(span.saturating_add(1)));
    }
    let read = |ms: u64| (format!("[{ms}]"), end("XRANGE", &ms.to_string(), "+"));
    Ok(Reads(chosen.into_iter().map(read).collect()))
}

/// The time in the id of the only entry of an answer, in milliseconds.
fn entry_ms(answer: Value) -> Option<u64> {
    let Value::Array(entries) = answer else { return None };
    let Value::Array(entry) = entries.into_iter().next()? else { return None };
    let id = String::from_redis_value(entry.into_iter().next()?).ok()?;
    id.split_once('-')?.0.parse().ok()
}

fn length(node: &mut Node<'_>, command: Cmd) -> Result<u64, SampleError> {
    let answer = node.ask_all([command])?.pop();
    Ok(answer.and_then(|length| u64::from_redis_value(length.ok()?).ok()).unwrap_or(0))
}

/// Different random places below `length`, in their order; all of them where they are few.
fn places(length: u64, members: usize, taker: &mut Taker<'_>) -> BTreeSet<u64> {
    if length <= members as u64 {
        return (0..length).collect();
    }
    let mut chosen = BTreeSet::new();
    // Half of the places at most are taken already, so this ends soon.
    for _ in 0..members.saturating_mul(2) {
        if chosen.len() == members {
            break;
        }
        chosen.insert(taker.random().below(length));
    }
    chosen
}

fn command(name: &str, key: &[u8]) -> Cmd {
    cmd(name).arg(key).to_owned()
}

fn text(answer: RedisResult<Value>) -> String {
    answer.ok().and_then(|value| String::from_redis_value(value).ok()).unwrap_or_default()
}
