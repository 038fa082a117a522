//! `cargo xtask fuzz`: every target of `fuzz/`, each for the same number of seconds. Inputs that a
//! run finds stay in a scratch folder; one that shows a fault is moved to `fuzz/corpus/` by hand,
//! which the ordinary tests replay.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::failure::{Failure, Outcome};
use crate::process;

const SECONDS: &str = "60";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let seconds = seconds(arguments)?;
    let root = process::root()?;
    let targets = targets(&root)?;
    if !process::succeeds(Command::new("rustup").args(["run", "nightly", "cargo", "fuzz", "-V"])) {
        return Err(Failure::new("cargo-fuzz does not run under the nightly toolchain").remedy(
            "rustup toolchain install nightly --profile minimal && \
             cargo install --locked cargo-fuzz",
        ));
    }
    for target in &targets {
        println!("== {target}, {seconds} s");
        // libFuzzer writes what it finds into the first folder that it is given.
        let scratch = root.join("fuzz/target/corpus").join(target);
        std::fs::create_dir_all(&scratch)
            .map_err(|error| Failure::new(format!("{}: {error}", scratch.display())))?;
        let mut command = Command::new("rustup");
        command.args(["run", "nightly", "cargo", "fuzz", "run", target]).arg(&scratch);
        command.arg("--").arg(format!("-max_total_time={seconds}")).current_dir(&root);
        // gcc moves constant arrays out of a scope that it has marked as left, which the sanitizer
        // then reports in libzstd (zstd_opt.c) although nothing is read after its end.
        command.env("CFLAGS", "-fno-sanitize-address-use-after-scope");
        process::run(&mut command).map_err(|failure| {
            failure.remedy(format!(
                "mend it, then move the input from fuzz/artifacts/{target}/ \
                 to fuzz/corpus/{target}/"
            ))
        })?;
    }
    println!("{} targets, nothing found", targets.len());
    Ok(())
}

fn seconds(arguments: &[String]) -> Outcome<String> {
    let asked = match arguments {
        [] => SECONDS,
        [flag, number] if flag == "--seconds" => number,
        [one] if one.starts_with("--seconds=") => &one["--seconds=".len()..],
        _ => return Err(Failure::new("fuzz takes only --seconds N")),
    };
    // libFuzzer reads a time of 0 as "for ever".
    match asked.parse::<u32>() {
        Ok(number) if number > 0 => Ok(number.to_string()),
        _ => Err(Failure::new(format!("--seconds takes a whole number above 0, not {asked:?}"))),
    }
}

fn targets(root: &Path) -> Outcome<Vec<String>> {
    if !root.join("fuzz/Cargo.toml").exists() {
        return Err(Failure::new("fuzz/Cargo.toml is missing, so there is nothing to fuzz"));
    }
    let manifest = ["metadata", "--no-deps", "--format-version=1", "--manifest-path"];
    let mut command = process::cargo(root, &manifest);
    let text = process::capture(command.arg("fuzz/Cargo.toml"))?;
    let names = binaries(&text)?;
    if names.is_empty() {
        return Err(Failure::new("fuzz/Cargo.toml has no [[bin]], so there is nothing to fuzz"));
    }
    Ok(names)
}

fn binaries(metadata: &str) -> Outcome<Vec<String>> {
    let metadata: Value = serde_json::from_str(metadata)
        .map_err(|error| Failure::new(format!("cargo metadata printed bad JSON: {error}")))?;
    let targets = metadata["packages"][0]["targets"].as_array().cloned().unwrap_or_default();
    let is_binary = |target: &&Value| target["kind"][0] == "bin";
    Ok(targets
        .iter()
        .filter(is_binary)
        .filter_map(|target| target["name"].as_str().map(str::to_owned))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_in_both_spellings_and_zero_is_refused() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(seconds(&[]).unwrap(), "60");
        assert_eq!(seconds(&words("--seconds 5")).unwrap(), "5");
        assert_eq!(seconds(&words("--seconds=7")).unwrap(), "7");
        for bad in ["--seconds 0", "--seconds -1", "--seconds", "5", "--seconds 5 6"] {
            assert!(seconds(&words(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_binaries_are_targets() {
        let text = r#"{"packages":[{"targets":[
            {"name":"unpack","kind":["bin"]},{"name":"shared","kind":["lib"]}]}]}"#;
        assert_eq!(binaries(text).unwrap(), ["unpack"]);
    }
}
