//! Every bench with tiny counts, so that `cargo test` keeps them compiling, their results right and
//! the expected sizes up to date. No time is looked at: a machine that tests is never quiet.

use crate::{deltas, drift, encodings, hotpath, json, learned, overhead, pack, ratios, schema};

#[test]
fn our_calls_and_the_bare_ones_agree() {
    overhead::smoke().unwrap();
}

#[test]
fn parsers_and_writers_agree() {
    json::smoke().unwrap();
}

#[test]
fn encodings_and_their_peers_read_each_other() {
    encodings::smoke().unwrap();
}

#[test]
fn encodings_with_a_schema_are_read_by_their_crates_and_read_theirs() {
    schema::smoke().unwrap();
}

#[test]
fn packing_is_the_bare_codec_in_an_envelope() {
    pack::smoke().unwrap();
}

#[test]
fn compressed_sizes_are_as_expected() {
    ratios::smoke().unwrap();
}

#[test]
fn columns_with_a_dictionary_come_back_and_are_smaller_than_messagepack() {
    learned::smoke().unwrap();
}

#[test]
fn old_dictionaries_serve_todays_encoder() {
    drift::smoke().unwrap();
}

#[test]
fn a_version_is_smaller_against_the_one_before_it() {
    deltas::smoke().unwrap();
}

#[test]
fn a_call_through_the_policy_gives_what_the_bare_one_gives() {
    hotpath::smoke().unwrap();
}
