//! `cinch rollout member`: a process of a fleet as small as it can be, which a test tells what to
//! do by lines: `put KEY PAYLOAD`, `get KEY`, `look`, and `slow MICROSECONDS` for the p99 that it
//! tells, since a time that was measured would make a test depend on the machine.
//!
//! It is an application in miniature: it joins before it takes a line, and counts what its reads
//! find, which is what the stop rules look at.

use std::io::Write;
use std::sync::{Arc, Mutex};

use cinch_rollout::fleet::Health;
use cinch_rollout::gate::{Finding, Source};
use cinch_rollout::live::Live;
use cinch_rollout::policy::Plan;
use cinch_stores::control::{Announcer, AnnouncerOptions, Control, Readiness};
use cinch_stores::{Client, ClientError, Condition, Expiry, Store};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use super::arguments::MemberArguments;
use super::{Variables, read};
use crate::Done;
use crate::failure::Failure;

/// Runs until standard input ends.
pub async fn run(arguments: &MemberArguments, variables: Variables) -> Result<Done, Failure> {
    let configuration = read(&arguments.config, variables, Some(&arguments.process))?;
    let control = Control::open(&arguments.control, true).await?;
    let store: Arc<dyn Store> = Arc::from(cinch_stores::open(&arguments.store).await?);
    let live = Arc::new(Live::new(configuration));
    let health = Arc::new(Mutex::new(Health::default()));
    let told = Arc::clone(&health);
    let options = AnnouncerOptions {
        health: Some(Arc::new(move |_| *lock(&told))),
        ..AnnouncerOptions::default()
    };
    let announcer = Announcer::start(control, Arc::clone(&live), options).await?;
    let member = Member { client: Client::new(store, live), health, announcer };
    answer(&json!({ "ready": true }))?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        let line = lines.next_line().await;
        let Some(line) = line.map_err(|error| Failure::file("standard input", error))? else {
            break;
        };
        answer(&member.obey(&line).await)?;
    }
    member.announcer.stop().await;
    Ok(Done::Whole)
}

struct Member {
    client: Client,
    health: Arc<Mutex<Health>>,
    announcer: Announcer,
}

impl Member {
    async fn obey(&self, line: &str) -> Value {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "put" => {
                let (key, payload) = rest.split_once(' ').unwrap_or((rest, ""));
                let (key, payload) = (key.as_bytes(), payload.to_owned());
                let put =
                    self.client.put(key, payload, None, &Condition::Always, Expiry::Keep).await;
                let mut health = lock(&self.health);
                health.writes += 1;
                match put {
                    Ok(_) => json!({ "put": true }),
                    Err(error) => json!({ "error": (error.to_string()) }),
                }
            }
            "get" => {
                let got = self.client.get(rest.as_bytes()).await;
                let mut health = lock(&self.health);
                health.reads += 1;
                match got {
                    Ok(None) => json!({ "payload": null }),
                    Ok(Some(read)) => {
                        let findings = &read.findings;
                        let is_mismatch = findings.iter().any(Finding::is_critical);
                        health.mismatches += u64::from(is_mismatch);
                        let payload = read.payload.as_deref().map(String::from_utf8_lossy);
                        json!({
                            "payload": payload,
                            "source": (match read.source {
                                Source::Raw => "raw",
                                Source::Packed => "packed",
                                Source::Foreign => "foreign",
                            }),
                            "findings": (findings.iter().map(Finding::name).collect::<Vec<_>>()),
                        })
                    }
                    Err(error) => {
                        let is_undecodable = matches!(error, ClientError::Undecodable { .. });
                        health.decode_errors += u64::from(is_undecodable);
                        json!({ "error": (error.to_string()) })
                    }
                }
            }
            "slow" => {
                let p99_us = rest.parse().unwrap_or_default();
                let mut health = lock(&self.health);
                (health.read_p99_us, health.write_p99_us) = (p99_us, p99_us);
                json!({ "p99_us": p99_us })
            }
            "look" => {
                let snapshot = self.client.live().snapshot();
                let does = snapshot.namespaces().iter().map(|ready| {
                    let does = match ready.plans()[0] {
                        Plan::Two(plan) => format!("{}/{}", plan.write.name(), plan.read.name()),
                        Plan::One(plan) => plan.write.name().to_owned(),
                    };
                    (ready.namespace().name.clone(), Value::String(does))
                });
                let does: serde_json::Map<String, Value> = does.collect();
                let readiness = match self.announcer.readiness() {
                    Readiness::Ready => "ready".to_owned(),
                    Readiness::NotReady(why) => why.to_string(),
                };
                json!({ "does": does, "readiness": readiness })
            }
            _ => json!({ "error": (format!("no such line: {line}")) }),
        }
    }
}

fn lock(health: &Mutex<Health>) -> std::sync::MutexGuard<'_, Health> {
    // Numbers are whole whatever happened to who held it.
    health.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn answer(value: &Value) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{value}").and_then(|()| out.flush());
    written.map_err(|error| Failure::file("standard output", error))
}
