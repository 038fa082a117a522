//! A link of a real network's speed: a network namespace of its own for the client, joined to this
//! one by a pair of interfaces, each of which sends no faster than the rate.
//!
//! Loopback moves bytes faster than any network, so that what compression gains there is the least
//! that it can gain.

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// How much may be sent at once above the rate: what the kernel hands to an interface in one piece
/// must fit in, or it would wait for ever.
const BURST: &str = "256kb";

/// How long a packet may wait for its turn before it is dropped.
const LATENCY: &str = "50ms";

/// A link, which is taken down when it is dropped.
pub struct Link {
    namespace: String,
    rate: String,
    here: String,
}

impl Link {
    /// Makes a link of a rate as `tc` writes it, such as `1gbit`.
    ///
    /// # Errors
    /// What is wrong with the rate, or what keeps this process from making one.
    pub fn start(rate: &str) -> Result<Link, Box<dyn Error>> {
        let digits = rate.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let is_rate = digits.parse::<u32>().is_ok_and(|number| number > 0)
            && ["kbit", "mbit", "gbit"].contains(&&rate[digits.len()..]);
        if !is_rate {
            return Err(format!("--link {rate}: write a rate as 1gbit or 100mbit").into());
        }
        // Names of interfaces have 15 bytes at most; the addresses are those that RFC 2544 keeps
        // for measurements.
        let process = std::process::id();
        let namespace = format!("cinch{process}");
        let (inner, outer) = (format!("cinch{process}i"), format!("cinch{process}o"));
        let net = format!("198.18.{}", process % 256);
        let (here, there) = (format!("{net}.1"), format!("{net}.2"));
        let (here_net, there_net) = (format!("{here}/30"), format!("{there}/30"));
        ran("ip", &["netns", "add", &namespace]).map_err(|said| {
            format!("--link needs root, and ip and tc of the package iproute2: {said}")
        })?;
        // From here on there is something to take down.
        let link = Link { namespace, rate: rate.to_owned(), here };
        let space = link.namespace.as_str();
        let shape = ["root", "tbf", "rate", rate, "burst", BURST, "latency", LATENCY];
        let peer = ["type", "veth", "peer", "name", &inner, "netns", space];
        ran("ip", &[&["link", "add", &outer][..], &peer].concat())?;
        ran("ip", &["addr", "add", &here_net, "dev", &outer])?;
        ran("ip", &["link", "set", &outer, "up"])?;
        ran("ip", &["-n", space, "addr", "add", &there_net, "dev", &inner])?;
        ran("ip", &["-n", space, "link", "set", &inner, "up"])?;
        ran("tc", &[&["qdisc", "add", "dev", &outer][..], &shape].concat())?;
        ran("tc", &[&["-n", space, "qdisc", "add", "dev", &inner][..], &shape].concat())?;
        Ok(link)
    }

    /// Its rate.
    pub fn rate(&self) -> &str {
        &self.rate
    }

    /// The address of this end.
    pub fn here(&self) -> &str {
        &self.here
    }

    /// A command that runs at the other end.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace]).arg(program);
        command
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The pair of interfaces goes with the namespace that one of them is in.
        if let Err(said) = ran("ip", &["netns", "del", &self.namespace]) {
            eprintln!("figures: {said}");
        }
    }
}

fn ran(program: &str, arguments: &[&str]) -> Result<(), String> {
    let shown = || format!("{program} {}", arguments.join(" "));
    let ran = Command::new(program).args(arguments).output();
    let ran = ran.map_err(|error| format!("{}: {error}", shown()))?;
    match ran.status.success() {
        true => Ok(()),
        false => Err(format!("{}: {}", shown(), String::from_utf8_lossy(&ran.stderr).trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_rate_is_refused_before_anything_is_made() {
        for rate in ["", "fast", "1", "0gbit", "1gbit;reboot", "gbit", "1Gbit", "1 gbit", "-1mbit"]
        {
            let error = Link::start(rate).err().expect(rate).to_string();
            assert!(error.contains("write a rate"), "{rate}: {error}");
        }
    }
}
