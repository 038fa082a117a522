//! What a run was made on: without it a figure means nothing, so every bench prints it first.
//! What the system does not tell is left out, not guessed.

use std::fs;

use cinch_core::codec::CODECS;

/// The processor, the build and the libraries, one a line.
pub(crate) fn description() -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = |field: &str| {
        let line = processors.lines().find(|line| line.starts_with(field))?;
        line.split_once(':').map(|(_, value)| value.trim())
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut lines = vec![format!(
        "machine: {} (family {} model {}), {cores} cores, {}-{}",
        named("model name").unwrap_or("unknown processor"),
        named("cpu family").unwrap_or("?"),
        named("model\t").unwrap_or("?"),
        std::env::consts::ARCH,
        std::env::consts::OS,
    )];
    if cfg!(debug_assertions) {
        lines.push("build: debug, so the times below mean nothing".to_owned());
    }
    let mut libraries: Vec<String> = CODECS.iter().map(|codec| (codec.info().library)()).collect();
    libraries.sort();
    libraries.dedup();
    lines.push(format!("libraries: {}", libraries.join(", ")));
    lines.push(String::new());
    lines.join("\n")
}
