//! Arguments that are wrong: exit status 2 and a text that says what would have been right.
//! Nobody should have to open the manual to find the name of a codec.

use cinch_integration::{CODECS, ENCODINGS, Folder, cinch};

#[test]
fn an_unknown_codec_is_refused_with_the_names_there_are() {
    for arguments in [
        &["evaluate", "--codecs", "zstd,lz5"][..],
        &["pack", "--codec", "lz5"],
        &["estimate", "--codec", "lz5"],
        &["evaluate", "--baseline", "json+lz5"],
    ] {
        cinch(arguments).run().refused(2, &["lz5"]).says(&CODECS);
    }
    cinch(["pack", "--codec", "xz"]).run().refused(2, &["did you mean lzma2?"]);
}

#[test]
fn an_unknown_encoding_is_refused_with_the_names_there_are() {
    for arguments in [
        &["evaluate", "--encodings", "json,yaml"][..],
        &["pack", "--encoding", "yaml"],
        &["estimate", "--encoding", "yaml"],
        &["evaluate", "--baseline", "yaml+zlib"],
    ] {
        cinch(arguments).run().refused(2, &["yaml"]).says(&ENCODINGS);
    }
}

#[test]
fn a_level_that_a_codec_does_not_have_is_refused_with_its_range() {
    cinch(["pack", "--codec", "zstd:23"]).run().refused(2, &["zstd", "23", "-50", "22"]);
    cinch(["pack", "--codec", "snappy:3"]).run().refused(2, &["snappy", "only one level"]);
    cinch(["pack", "--codec", "zstd:x"]).run().refused(2, &["\"x\"", "zstd"]);
    cinch(["pack", "--codec", "zstd:1-3"]).run().refused(2, &["zstd:1-3"]);
    cinch(["pack", "--codec", "LZ4_HIGH:3"]).run().refused(2, &["LZ4_HIGH", "lz4:9"]);
    cinch(["evaluate", "--codecs", "zstd:9-1"]).run().refused(2, &["zstd:9..1", "lower"]);
    cinch(["evaluate", "--codecs", "zstd:3,,lz4"]).run().refused(2, &["names no codec"]);
}

#[test]
fn an_unknown_goal_is_refused_with_the_goals_there_are() {
    let run = cinch(["evaluate", "--goal", "tiny"]).run().refused(2, &["tiny"]);
    run.says(&["cache", "api", "archive", "smallest", "fastest"]);
}

#[test]
fn a_budget_that_is_none_is_refused_with_an_example() {
    for budget in ["compress_p98=1ms", "compress_p99", "speed=1", "memory=1ms", "=1ms", ""] {
        let run = cinch(["evaluate", "--budget", budget]).run();
        run.refused(2, &["compress", "p99", "first_call", "memory"]);
    }
}

#[test]
fn a_time_that_is_none_is_refused() {
    for time in ["soon", "0s", "-1s", ""] {
        let ran = cinch(["evaluate", &format!("--time={time}")]).run().code(2);
        assert!(ran.err.contains("60s"), "{}", ran.err);
    }
}

#[test]
fn a_field_that_is_no_path_is_refused() {
    for field in ["", "a..b", ".a"] {
        cinch(["evaluate", "-", "--field", field]).input("{}").run().refused(2, &["field"]);
    }
}

#[test]
fn nothing_is_read_or_written_where_an_argument_is_wrong() {
    let folder = Folder::new();
    let file = folder.write("cart.json", "{}");
    for arguments in [["pack", "--codec=lz5"], ["evaluate", "--goal=tiny"], ["unpack", "--no=1"]] {
        cinch(arguments).and([&file]).inside(folder.path()).run().code(2);
        assert_eq!(folder.names(), ["cart.json"]);
    }
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let ran = cinch(["pack", "--profile", "p.toml", "--codec", "zstd"]).run().code(2);
    ran.says(&["--profile", "--codec"]);
    cinch(["pack", "--interop", "--records"]).run().code(2).says(&["--interop", "--records"]);
}

#[test]
fn every_command_has_help_with_an_example() {
    for command in ["evaluate", "estimate", "pack", "unpack", "inspect", "generate"] {
        let ran = cinch([command, "--help"]).run().quiet();
        assert!(ran.text().contains("Example") && ran.text().contains(&format!("cinch {command}")));
    }
    let help = cinch(["--help"]).run().quiet();
    assert!(help.text().contains("Exit status"), "{}", help.text());
    assert!(cinch(["--version"]).run().quiet().text().starts_with("cinch "));
    cinch(["frobnicate"]).run().code(2).says(&["frobnicate"]);
    cinch([""; 0]).run().code(2).says(&["evaluate"]);
}
