//! Every way to write a choice, and every way to get it wrong: the texts of the errors are part
//! of what is checked, since people read them.

use super::*;

fn printed(text: &str) -> String {
    let choices = CodecChoice::parse_list(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    choices.iter().map(CodecChoice::to_string).collect::<Vec<_>>().join(" ")
}

fn refused(text: &str) -> String {
    match CodecChoice::parse_list(text) {
        Ok(choices) => panic!("{text} was read as {choices:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_name_alone_is_its_default_level() {
    assert_eq!(printed("zstd"), "zstd:3");
    assert_eq!(printed("lz4"), "lz4:1");
    assert_eq!(printed("snappy"), "snappy");
    assert_eq!(printed("stored"), "stored");
    assert_eq!(printed("gzip-libdeflate"), "gzip-libdeflate:6");
}

#[test]
fn levels_ranges_and_all() {
    assert_eq!(printed("zstd:19"), "zstd:19");
    assert_eq!(printed("zstd:-5"), "zstd:-5");
    assert_eq!(printed("zstd:1-4"), "zstd:1 zstd:2 zstd:3 zstd:4");
    assert_eq!(printed("zstd:1..3"), "zstd:1 zstd:2 zstd:3");
    assert_eq!(printed("zstd:-3--1"), "zstd:-3 zstd:-2 zstd:-1");
    assert_eq!(printed("zstd:-3..-1"), "zstd:-3 zstd:-2 zstd:-1");
    assert_eq!(printed("zstd:-1-1"), "zstd:-1 zstd:0 zstd:1");
    assert_eq!(printed("brotli:all").split(' ').count(), 12);
    assert_eq!(printed("snappy:all"), "snappy");
    assert_eq!(printed("lz4:fast"), "lz4:1");
    assert_eq!(printed("lz4:high"), "lz4:9");
    assert_eq!(printed("lz4:high..10"), "lz4:9 lz4:10");
}

#[test]
fn lists_keep_their_order_and_drop_repetitions() {
    assert_eq!(printed("zstd:3, lz4 ,gzip:6"), "zstd:3 lz4:1 gzip:6");
    assert_eq!(printed("zstd,lz4:fast,zstd:2-4,LZ4_FAST"), "zstd:3 lz4:1 zstd:2 zstd:4");
}

#[test]
fn published_names_in_any_case() {
    assert_eq!(printed("SNAPPY,LZ4_FAST,LZ4_HIGH,GZIP"), "snappy lz4:1 lz4:9 gzip:6");
    assert_eq!(printed("lz_fast,Lz4_High,Gzip,NO,none"), "lz4:1 lz4:9 gzip:6 stored");
    for (alias, _, _) in ALIASES {
        assert!(CodecChoice::parse(alias).is_ok(), "{alias}");
    }
}

#[test]
fn what_is_printed_is_read_back() {
    for codec in CODECS {
        for level in codec.info().levels.min..=codec.info().levels.max {
            let choice = CodecChoice { codec: *codec, level };
            assert_eq!(choice.to_string().parse::<CodecChoice>().as_ref(), Ok(&choice));
        }
    }
    assert_eq!(format!("{:>8}", CodecChoice::parse("zstd:3").unwrap()), "  zstd:3");
}

#[test]
fn errors_say_what_would_be_right() {
    assert_eq!(
        refused("xz"),
        format!("there is no codec \"xz\" (did you mean lzma2?); the codecs are {}", codec_names())
    );
    assert!(refused("lzma:6").contains("did you mean lzma2?"));
    assert!(refused("ztsd").contains("did you mean zstd?"));
    assert!(refused("snapy").contains("did you mean snappy?"));
    assert!(refused("LZ4_HIHG").contains("did you mean LZ4_HIGH?"));
    assert!(refused("ZSTD").contains("did you mean zstd?"));
    let unlike = refused("something");
    assert!(unlike.contains("the codecs are stored, snappy,") && !unlike.contains("did you mean"));
    assert_eq!(refused("zstd:23"), "zstd has no level 23: it has levels -50 to 22");
    assert_eq!(refused("zstd:1-40"), "zstd has no level 40: it has levels -50 to 22");
    assert_eq!(refused("lz4:9-1"), "lz4:9..1 is empty: write the lower level first");
    assert_eq!(
        refused("snappy:3"),
        "snappy has no level 3: it has only one level, which need not be named"
    );
    assert_eq!(
        refused("gzip:best"),
        "\"best\" is not a level of gzip: write a level from 1 to 9, a range such as gzip:1..9, \
         or gzip:all"
    );
    assert_eq!(
        refused("LZ4_HIGH:12"),
        "LZ4_HIGH always means lz4:9: for another level write lz4:LEVEL"
    );
    assert!(refused("zstd,,lz4").starts_with("\"\" names no codec"));
    assert!(refused("").starts_with("\"\" names no codec"));
    assert!(refused(":3").starts_with("\":3\" names no codec"));
    for broken in ["zstd:", "zstd:-", "zstd:1-", "zstd:--", "zstd:..", "zstd:1..", "zstd:é-2"] {
        assert!(refused(broken).contains("is not a level of zstd"), "{broken}");
    }
    assert!(refused("zstd:99999999999").contains("is not a level"));
}

#[test]
fn exactly_one_means_one() {
    assert!(CodecChoice::parse("zstd:3").is_ok());
    assert_eq!(
        CodecChoice::parse("zstd:1-3").unwrap_err().to_string(),
        "\"zstd:1-3\" names 3 choices where one is needed"
    );
}
