//! How far replicas lag, by the word of a command that the operator names: every database has its
//! own way to say it, and operators have theirs.

use std::process::Command;

use cinch_stores::control::decision::Lag;

/// Runs the command in a shell; it prints seconds, such as `0.25`, in its first line.
pub fn measure(command: &str) -> Lag {
    let output = Command::new("sh")
        .args(["-c", command])
        .output()
        .map_err(|error| format!("sh can't be started: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().next().unwrap_or_default();
        return Err(format!("--lag-command ended with {}: {line}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default().trim();
    match line.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok((seconds * 1000.0) as u64),
        _ => Err(format!("--lag-command printed {line:?}, and not a number of seconds")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_and_everything_else_is_not_known() {
        assert_eq!(measure("echo 0.25"), Ok(250));
        for (command, words) in [
            ("echo nothing", "\"nothing\""),
            ("echo -1", "\"-1\""),
            ("echo gone >&2; exit 4", "gone"),
            ("true", "\"\""),
        ] {
            assert!(measure(command).unwrap_err().contains(words), "{command}");
        }
    }
}
