//! The account that a corpus of log events comes from: its users, their tools and its machines.
//! Few users make most calls with few tools, which is why an event repeats what others had.

use crate::calendar::{self, DAY_SECONDS, FIRST_DAY};
use crate::identifiers;
use crate::json;
use crate::random::Random;

const USERS: u32 = 14;
const AGENTS: u32 = 155;
const SESSIONS: u32 = 120;

const ROLES: [&str; 10] = [
    "deployer", "auditor", "backup", "pipeline", "operator", "scanner", "analyst", "support",
    "release", "billing",
];

const TEAMS: [&str; 8] =
    ["north", "harbour", "atlas", "meadow", "quartz", "willow", "delta", "summit"];

const KEY_LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The parts of events that belong to an account.
pub(super) struct Account {
    pub(super) number: String,
    /// What the identifiers of its resources and machines are computed from.
    pub(super) resource_seed: u64,
    identities: Vec<String>,
    sessions: Vec<String>,
    agents: Vec<String>,
}

impl Account {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut number = String::new();
        json::padded(&mut number, random.wide_bits(), 12);
        let identities: Vec<String> = (0..USERS).map(|_| identity(&number, random)).collect();
        let sessions = (0..SESSIONS)
            .map(|_| session(&identities[random.steep(USERS) as usize], random))
            .collect();
        Self {
            number,
            resource_seed: random.wide_bits(),
            identities,
            sessions,
            agents: (0..AGENTS).map(|rank| agent(rank, random)).collect(),
        }
    }

    /// The object that says who called: most calls come from a key, some from a session.
    pub(super) fn identity(&self, random: &mut Random) -> &str {
        if random.chance(150) {
            &self.sessions[random.skewed(SESSIONS) as usize]
        } else if random.chance(780) {
            &self.identities[0]
        } else {
            &self.identities[random.below(USERS) as usize]
        }
    }

    /// The tool that called: the most frequent one makes a quarter of the calls.
    pub(super) fn agent(&self, random: &mut Random) -> &str {
        let rank = if random.chance(130) { 0 } else { random.steep(AGENTS) };
        &self.agents[rank as usize]
    }
}

fn key_letters(count: u32, random: &mut Random, output: &mut String) {
    for _ in 0..count {
        output.push(char::from(random.pick(KEY_LETTERS)));
    }
}

/// Writes the identity of a user without its closing brace, so that a session can go on from it.
fn identity(account: &str, random: &mut Random) -> String {
    let user = [random.pick(&TEAMS), "-", random.pick(&ROLES)].concat();
    let mut text = String::from("{\"type\":\"AccountUser\",\"principalId\":\"PRID");
    key_letters(17, random, &mut text);
    text.push_str("\",\"arn\":\"arn:cloud:iam::");
    text.push_str(account);
    text.push_str(":user/");
    text.push_str(&user);
    text.push_str("\",\"accountId\":\"");
    text.push_str(account);
    text.push_str("\",\"accessKeyId\":\"KEYA");
    key_letters(16, random, &mut text);
    text.push_str("\",\"userName\":\"");
    text.push_str(&user);
    text.push('"');
    text
}

fn session(identity: &str, random: &mut Random) -> String {
    let mut text = String::from(identity);
    text.push_str(",\"sessionContext\":{\"sessionIssuer\":{},\"attributes\":{\"creationDate\":\"");
    calendar::time(&mut text, FIRST_DAY * DAY_SECONDS + u64::from(random.below(7200)), 'T');
    text.push_str("Z\",\"mfaAuthenticated\":\"true\"}}");
    text
}

/// Writes the name that a tool gives itself: long lists of versions for provisioning tools, and a
/// bare host for the services of the provider.
fn agent(rank: u32, random: &mut Random) -> String {
    if rank % 5 == 2 {
        return [random.pick(&TEAMS), ".internal.cloud.example"].concat();
    }
    let mut text = format!(
        "PRV/1.0 Groundwork/1.0 Provisioner/1.{}.{} (+https://www.provisioner.example) \
         provider-cloud/3.{}.0 (+https://registry.provisioner.example/providers/cloud) \
         sdk-go/1.44.{} (go1.19.{}; linux; amd64) ",
        random.between(1, 3),
        random.below(4),
        random.between(70, 79),
        random.between(150, 160),
        random.between(1, 9),
    );
    if random.chance(500) {
        text.push_str("run_");
        identifiers::uuid(random, &mut text);
        text.push(' ');
    }
    text.push_str("provisioner-exec/0.17.3");
    text
}
