//! The calls that audit records are about: about 260 names, built from services, verbs and the
//! things that they act on, with the unchanging texts of each call already written.

use crate::random::Random;

const OPERATIONS: u32 = 360;

const SERVICES: [(&str, [&str; 4]); 16] = [
    ("compute", ["Instance", "Image", "Volume", "Snapshot"]),
    ("network", ["RouteTable", "Subnet", "SecurityGroup", "Gateway"]),
    ("identity", ["User", "Role", "Policy", "AccessKey"]),
    ("storage", ["Bucket", "BucketPolicy", "Lifecycle", "ObjectLock"]),
    ("parameters", ["Parameter", "ParameterHistory", "Document", "Association"]),
    ("secrets", ["Secret", "SecretValue", "RotationRule", "SecretPolicy"]),
    ("keys", ["Key", "DataKey", "Alias", "Grant"]),
    ("databases", ["Cluster", "DatabaseInstance", "ParameterGroup", "Backup"]),
    ("functions", ["Function", "Layer", "EventSource", "Concurrency"]),
    ("balancers", ["LoadBalancer", "TargetGroup", "Listener", "Rule"]),
    ("queues", ["Queue", "QueueAttribute", "DeadLetter", "Message"]),
    ("topics", ["Topic", "Subscription", "Endpoint", "Platform"]),
    ("monitoring", ["Alarm", "Dashboard", "MetricStream", "Metric"]),
    ("trails", ["Trail", "EventSelector", "Insight", "Channel"]),
    ("certificates", ["Certificate", "Authority", "Renewal", "Domain"]),
    ("containers", ["Service", "TaskDefinition", "Registry", "Repository"]),
];

const VERBS: [(&str, bool); 12] = [
    ("Describe", true),
    ("Get", true),
    ("List", true),
    ("Create", false),
    ("Delete", false),
    ("Update", false),
    ("Put", false),
    ("Attach", false),
    ("Tag", false),
    ("Modify", false),
    ("Batch", true),
    ("Disable", false),
];

/// What a call's parameters look like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Nothing,
    Identified,
    Named,
    Filtered,
}

/// One call that an account can make.
pub(super) struct Operation {
    pub(super) service: &'static str,
    pub(super) name: String,
    pub(super) noun: &'static str,
    pub(super) read_only: bool,
    pub(super) form: Form,
    /// Whether the record says what the call answered.
    pub(super) answered: bool,
    pub(super) host: String,
}

pub(super) struct Operations(Vec<Operation>);

impl Operations {
    pub(super) fn new(random: &mut Random) -> Self {
        Self((0..OPERATIONS).map(|_| Operation::new(random)).collect())
    }

    /// Draws a call, the frequent ones first: the top ten make a third of the records.
    pub(super) fn called(&self, random: &mut Random) -> &Operation {
        &self.0[random.steep(OPERATIONS) as usize]
    }
}

impl Operation {
    fn new(random: &mut Random) -> Self {
        let (service, nouns) = random.pick(&SERVICES);
        let noun = random.pick(&nouns);
        let (verb, read_only) = VERBS[random.skewed(VERBS.len() as u32) as usize];
        let form = match random.below(10) {
            0..2 => Form::Nothing,
            2..5 => Form::Identified,
            5..8 => Form::Named,
            _ => Form::Filtered,
        };
        Self {
            service,
            name: [verb, noun].concat(),
            noun,
            read_only,
            form,
            answered: !read_only && random.chance(500),
            host: format!("{service}.region-1.cloud.example"),
        }
    }
}
