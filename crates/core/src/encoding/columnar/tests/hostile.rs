//! Bytes that ask for much: each is small beside what it asks for, and each was found by asking
//! what could grow faster than the input.

use super::super::model::code::{ARRAY, CONSTANT, NUMBER, OBJECT, TUPLE};
use super::super::{Corrupt, varint};
use super::{TEXTS, contexts, orders, round_trip};
use crate::limits::{COLUMNAR_KEYS_MAX, COLUMNAR_SLOTS_MAX};

/// What the limits of a model allow a decoder to hold beside what it reads and writes.
const DECODER_BYTES_MAX: usize = 24 << 20;

/// A payload that brings a model to the root and has these columns.
fn payload(additions: &[u8], columns: &[u8]) -> Vec<u8> {
    let list = [&[1, 0], additions].concat();
    let mut bytes = vec![0x80];
    varint::write(list.len() as u64, &mut bytes);
    [bytes, list, columns.to_vec()].concat()
}

#[test]
fn two_variants_of_arrays_in_one_slot_are_refused() {
    // The lengths of the second would be read for arrays of the first, whose elements have no
    // variants then: `[[[],[`, and a slot that nothing was read for.
    let additions = [1, TUPLE, 2, 1, ARRAY, 2, ARRAY, ARRAY, 1, NUMBER, 0, 0];
    let bytes = payload(&additions, &[2, 0, 1, 0, 0, 10]);
    let refused = Err(Corrupt("a second variant of arrays"));
    assert_eq!(contexts(None).1.decode(&bytes, 100, &mut Vec::new()), refused);
}

#[test]
fn key_lists_that_repeat_long_ones_are_refused_before_they_take_memory() {
    let keys = COLUMNAR_SLOTS_MAX - 10;
    let mut additions = vec![1, ARRAY];
    let lists = 2 * COLUMNAR_KEYS_MAX / keys;
    varint::write(lists as u64, &mut additions);
    additions.extend([OBJECT, 0]);
    varint::write(keys as u64, &mut additions);
    for _ in 0..keys {
        additions.extend([0, b'k', 0]);
    }
    for _ in 1..lists {
        additions.push(OBJECT);
        varint::write(keys as u64, &mut additions);
        additions.push(0);
    }
    let mut decoder = contexts(None).1;
    let result = decoder.decode(&payload(&additions, &[1]), 1 << 20, &mut Vec::new());
    assert_eq!(result, Err(Corrupt("too many keys in the lists of objects")));
    let held = decoder.memory_bytes();
    assert!(held < DECODER_BYTES_MAX, "{held}");
    // What was refused is forgotten.
    let mut out = Vec::new();
    let three = payload(&[1, ARRAY, 1, CONSTANT, b'1', 0], &[3]);
    assert_eq!((decoder.decode(&three, 7, &mut out), out.as_slice()), (Ok(()), &b"[1,1,1]"[..]));
}

#[test]
fn a_text_with_too_many_key_lists_is_refused_and_forgotten() {
    // Each object has a thousand keys and lacks another one of them.
    let object = |without: usize| {
        let keys = (0..1_000).filter(|&key| key != without);
        let members: Vec<String> = keys.map(|key| format!("\"{key}\":0")).collect();
        format!("{{{}}}", members.join(","))
    };
    let array = |count: usize| {
        let objects: Vec<String> = (0..count).map(object).collect();
        format!("[{}]", objects.join(","))
    };
    let (mut contexts, limit) = (contexts(None), COLUMNAR_KEYS_MAX / 999);
    assert!(limit > 1_000, "another list has to be found for more objects than keys");
    round_trip(&mut contexts, array(900).as_bytes()).unwrap();
    let twice = format!("{{\"a\":{},\"b\":{}}}", array(900), array(900));
    assert_eq!(round_trip(&mut contexts, twice.as_bytes()), Err(super::Refused::Keys));
    round_trip(&mut contexts, array(900).as_bytes()).unwrap();
}

#[test]
fn what_a_decoder_holds_is_in_proportion_to_what_is_announced() {
    let ones = [1, ARRAY, 1, CONSTANT, b'1', 0];
    for length in [&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F][..], &[0xFF, 0xFF, 0x3F]] {
        for announced in [0, 1, 1 << 10, 1 << 19] {
            let (mut decoder, mut out) = (contexts(None).1, Vec::new());
            let result = decoder.decode(&payload(&ones, length), announced, &mut out);
            assert!(result.is_err());
            let held = decoder.memory_bytes() + out.capacity();
            assert!(held <= (8 << 10) + 2 * announced, "{held} bytes for {announced}");
        }
    }
    // A column of tuples in tuples asks for slots, each of which is larger than its two bytes.
    let mut tuples = Vec::new();
    for _ in 0..COLUMNAR_SLOTS_MAX {
        tuples.extend([1, TUPLE, 64]);
    }
    let (mut decoder, mut out) = (contexts(None).1, Vec::new());
    assert!(decoder.decode(&payload(&tuples, &[]), 1 << 20, &mut out).is_err());
    let held = decoder.memory_bytes() + out.capacity();
    assert!(held < DECODER_BYTES_MAX, "{held}");
}

#[test]
fn a_warm_decoder_does_not_grow() {
    let texts: Vec<String> = TEXTS.iter().map(|text| (*text).to_owned()).collect();
    let texts = [texts, orders(50)].concat();
    let mut contexts = contexts(None);
    let mut held = Vec::new();
    for _ in 0..5 {
        for text in &texts {
            round_trip(&mut contexts, text.as_bytes()).unwrap();
        }
        held.push(contexts.1.memory_bytes());
    }
    assert!(held[1..].windows(2).all(|pair| pair[0] == pair[1]), "{held:?}");
}
