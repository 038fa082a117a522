//! Prints the registries of codecs and encodings as the Markdown page spec/registries.md, which
//! `cargo xtask gen` writes. The tables follow the registries: a row is never written by hand.

use cinch_core::codec::{CODECS, CodecInfo, DictionaryUse, Levels};
use cinch_core::encoding::{ENCODINGS, Encoding};

const OPENING: &str = "\
# Registries

<!-- Written by `cargo xtask gen` from CODECS and ENCODINGS in crates/core. Don't edit it. -->

Ids stand in envelopes and in dictionaries, names in profiles, arguments and reports. An id names
a decoder, exactly: its framing and version. Rows that share an id read each other's bytes. Ids
are permanent; one that is no longer written is still read.
";

fn main() {
    print!("{OPENING}");
    println!("\n## Codecs\n\nBytes to fewer bytes and back.\n");
    println!("| id | name | levels | default | dictionary | base | releases | summary |");
    println!("|---|---|---|---|---|---|---|---|");
    CODECS.iter().for_each(|codec| print_codec(codec.info()));
    println!(
        "\nLevels marked slow are tried only when asked for. Codecs that take a base make deltas."
    );
    println!("\n## Encodings\n\nPayload to bytes and back.\n");
    println!("| id | name | fidelity | releases | summary | refuses |");
    println!("|---|---|---|---|---|---|");
    ENCODINGS.iter().for_each(print_encoding);
    println!(
        "\nFidelity is what a round trip keeps: `bytes` the identical text, `value+text` the same \
         JSON value\nand number texts, `value` the same JSON value with numbers equal as decimals. \
         A payload that an\nencoding refuses is never changed: it is reported, and packed in \
         another way or not at all."
    );
}

fn print_codec(info: &CodecInfo) {
    let dictionary = match info.dictionary_use {
        DictionaryUse::None => "no",
        DictionaryUse::HighLevels => "high levels",
        DictionaryUse::EveryLevel => "every level",
    };
    println!(
        "| `0x{:02X}` | `{}` | {} | {} | {dictionary} | {} | {} | {} |",
        info.id.0,
        info.name,
        levels(&info.levels),
        if info.levels.is_single() { "–".to_owned() } else { info.levels.default.to_string() },
        if info.takes_prefix { "yes" } else { "no" },
        releases(info.since, info.until),
        cell(info.summary),
    );
}

fn print_encoding(encoding: &Encoding) {
    println!(
        "| `0x{:02X}` | `{}` | `{}` | {} | {} | {} |",
        encoding.id.0,
        encoding.name,
        encoding.fidelity.name(),
        releases(encoding.since, encoding.until),
        cell(encoding.summary),
        cell(encoding.refuses),
    );
}

fn levels(levels: &Levels) -> String {
    let Levels { min, max, slow_from, .. } = *levels;
    match () {
        () if levels.is_single() => "one".to_owned(),
        () if slow_from > max => format!("{min} to {max}"),
        () => format!("{min} to {max}, slow from {slow_from}"),
    }
}

fn releases(since: &str, until: Option<&str>) -> String {
    match until {
        Some(until) => format!("{since} to {until}"),
        None => format!("{since} on"),
    }
}

/// A table cell: a bar would end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
