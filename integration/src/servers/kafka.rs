//! Apache Kafka, one broker that is its own controller, with the jars that Maven brings.
//!
//! It is filled by Kafka's own console producer, so that no client library of ours has a part
//! in it.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustix::process::Signal;
use tempfile::TempDir;

use super::daemon::{Daemon, Shared, closed_port, output};
use crate::repository;

const PACKAGE: &str = "maven default-jdk-headless";

/// The text that stands for a record without a value.
pub const TOMBSTONE: &str = "~";

/// A broker.
pub struct Kafka {
    daemon: Daemon,
    jars: TempDir,
}

/// The jars of a broker that is to be started later, and the port that it will have.
pub struct KafkaLater {
    jars: TempDir,
    port: u16,
}

impl Kafka {
    /// The broker that the tests of this file share.
    pub fn shared() -> Arc<Kafka> {
        static SHARED: Shared<Kafka> = Shared::new();
        SHARED.or_start(Kafka::start)
    }

    fn start() -> Kafka {
        Kafka::start_on(jars(), None)
    }

    /// A broker of one's own that does not run yet: nothing listens on its port.
    pub fn later() -> KafkaLater {
        KafkaLater { jars: jars(), port: closed_port() }
    }

    fn start_on(jars: TempDir, port: Option<u16>) -> Kafka {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let command = |folder: &Path, port: u16| {
            let properties = folder.join("server.properties");
            fs::write(&properties, settings(folder, port)).expect("the folder takes a file");
            let mut format = java(jars.path(), "kafka.tools.StorageTool");
            format.args(["format", "-t", "AAAAAAAAQACAAAAAAAAAAA", "-c"]).arg(&properties);
            output(&mut format, Vec::new(), PACKAGE);
            let mut command = java(jars.path(), "kafka.Kafka");
            command.arg(properties);
            command
        };
        let answers = |_: &Path, port: u16| TcpStream::connect(("127.0.0.1", port)).is_ok();
        let daemon = match port {
            None => Daemon::start(folder, Signal::KILL, command, answers),
            Some(port) => Daemon::start_on(port, folder, Signal::KILL, command, answers),
        };
        Kafka { daemon, jars }
    }

    /// The address of topics.
    pub fn address(&self, topics: &str) -> String {
        format!("kafka://{}/{topics}", self.host())
    }

    /// `HOST:PORT` of the broker.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.daemon.port())
    }

    /// Writes lines of `key<TAB>value` to a topic, which is made if there is none.
    #[track_caller]
    pub fn produce(&self, topic: &str, codec: &str, lines: impl Into<Vec<u8>>) {
        let mut producer = java(self.jars.path(), "kafka.tools.ConsoleProducer");
        producer.args(["--bootstrap-server", &self.host(), "--topic", topic]);
        producer.args(["--compression-codec", codec, "--property", "parse.key=true"]);
        producer.args(["--property", &format!("null.marker={TOMBSTONE}")]);
        output(&mut producer, lines.into(), PACKAGE);
    }

    /// The names of all consumer groups, and of all topics.
    #[track_caller]
    pub fn groups_and_topics(&self) -> (String, String) {
        let list = |class: &str| {
            let mut tool = java(self.jars.path(), class);
            output(tool.args(["--bootstrap-server", &self.host(), "--list"]), Vec::new(), PACKAGE)
        };
        let groups = list("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand");
        (groups, list("org.apache.kafka.tools.TopicCommand"))
    }
}

impl KafkaLater {
    /// `HOST:PORT` that the broker will have.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Starts it.
    pub fn start(self) -> Kafka {
        Kafka::start_on(self.jars, Some(self.port))
    }
}

fn jars() -> TempDir {
    let jars = tempfile::tempdir().expect("a temporary folder can be made");
    let pom = repository().join("integration/java/kafka/pom.xml");
    fs::copy(pom, jars.path().join("pom.xml")).expect("the list of jars is there");
    let mut maven = Command::new("mvn");
    maven.args(["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=."]);
    output(maven.current_dir(jars.path()), Vec::new(), PACKAGE);
    jars
}

fn java(jars: &Path, class: &str) -> Command {
    let mut command = Command::new("java");
    command.args(["-Xmx384m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp"]);
    command.arg(format!("{}/*", jars.display())).arg(class);
    command
}

fn settings(folder: &Path, port: u16) -> String {
    let (folder, controller) = (folder.display(), closed_port());
    format!(
        "process.roles=broker,controller\n\
         node.id=1\n\
         controller.quorum.voters=1@127.0.0.1:{controller}\n\
         listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n\
         advertised.listeners=PLAINTEXT://127.0.0.1:{port}\n\
         controller.listener.names=CONTROLLER\n\
         listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\n\
         inter.broker.listener.name=PLAINTEXT\n\
         log.dirs={folder}/data\n\
         num.partitions=4\n\
         offsets.topic.replication.factor=1\n"
    )
}
