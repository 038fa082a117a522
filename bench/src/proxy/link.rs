//! A link of a real network's speed: the clients and the sidecar are in a network namespace of
//! their own, joined to the server's by a pair of interfaces that send no faster than the rate.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::Command;

use crate::failure::Outcome;

/// A link, which is taken down when it is dropped.
pub(super) struct Link {
    namespace: String,
    net: u8,
}

impl Link {
    /// Makes one of a rate as `tc` writes it, such as `1gbit`.
    pub(super) fn start(rate: &str) -> Outcome<Link> {
        let process = std::process::id();
        let link = Link { namespace: format!("proxy{process}"), net: (process % 256) as u8 };
        let (space, ends) = (&link.namespace, [format!("p{process}i"), format!("p{process}o")]);
        // What the kernel hands over in one piece must fit into the burst, or it waits for ever.
        let shape = format!("root tbf rate {rate} burst 256kb latency 50ms");
        let [inner, outer] = &ends;
        link.ran(&format!("ip netns add {space}"))?;
        let steps = [
            format!("ip link add {outer} type veth peer name {inner} netns {space}"),
            format!("ip addr add {}/30 dev {outer}", link.here()),
            format!("ip link set {outer} up"),
            format!("ip -n {space} addr add {}/30 dev {inner}", link.there()),
            format!("ip -n {space} link set {inner} up"),
            format!("ip -n {space} link set lo up"),
            format!("tc qdisc add dev {outer} {shape}"),
            format!("tc -n {space} qdisc add dev {inner} {shape}"),
        ];
        steps.iter().try_for_each(|step| link.ran(step))?;
        Ok(link)
    }

    /// The server's end, of the addresses that RFC 2544 keeps for measurements.
    pub(super) fn here(&self) -> IpAddr {
        Ipv4Addr::new(198, 19, self.net, 1).into()
    }

    /// The clients' end.
    pub(super) fn there(&self) -> IpAddr {
        Ipv4Addr::new(198, 19, self.net, 2).into()
    }

    /// A command that runs at the clients' end.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace]).arg(program);
        command
    }

    fn ran(&self, line: &str) -> Outcome {
        let mut words = line.split(' ');
        let program = words.next().unwrap_or_default();
        let output = Command::new(program).args(words).output();
        let output = output.map_err(|error| format!("{line}: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{line}: {}; a link needs root", said.trim()).into()),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The pair of interfaces goes with the namespace that one of them is in.
        if let Err(error) = self.ran(&format!("ip netns del {}", self.namespace)) {
            eprintln!("bench: {error}");
        }
    }
}
