//! Writes the lines of services: what one request or job did, with the place it ran at and its
//! trace, or in the short form only the message and what led to it.

use super::Moment;
use super::account::Account;
use crate::calendar;
use crate::identifiers;
use crate::json;
use crate::random::{Random, mix};

const LEVELS: [&str; 12] = [
    "INFO", "INFO", "INFO", "INFO", "INFO", "INFO", "INFO", "INFO", "DEBUG", "DEBUG", "WARN",
    "ERROR",
];

const SERVICES: [&str; 10] = [
    "checkout",
    "pricing",
    "inventory",
    "search",
    "accounts",
    "payments",
    "delivery",
    "media",
    "recommendations",
    "notifications",
];

const COMPONENTS: [&str; 8] = [
    "RequestHandler",
    "ConnectionPool",
    "CacheLoader",
    "QueueConsumer",
    "RetryPolicy",
    "SessionStore",
    "BatchScheduler",
    "ResourceManager",
];

/// What happened, before and after the one number that the message has.
const MESSAGES: [(&str, &str); 14] = [
    ("Request finished in ", " ms"),
    ("Found block rdd_", " in the local store"),
    ("Connection pool has ", " idle connections"),
    ("Committed ", " records to the partition"),
    ("Cache refresh loaded ", " entries"),
    ("Retrying call, attempt ", " of the configured maximum"),
    ("Scheduled job with ", " tasks"),
    ("Session expired after ", " s without a request"),
    ("Received heartbeat from node ", ""),
    ("Queue depth is ", " messages"),
    ("Released lock of worker ", " after its batch"),
    ("Took ", " ms to destroy the instance on the host"),
    ("Estimated size of the task is ", " kB"),
    ("Client closed the connection on port ", ", nothing was read"),
];

const METHODS: [&str; 6] = ["GET", "GET", "GET", "POST", "PUT", "DELETE"];

const STATUSES: [u32; 12] = [200, 200, 200, 200, 200, 200, 200, 201, 204, 304, 404, 503];

/// Appends a full event: the line, the pod it comes from, the trace and the request.
pub(super) fn write_event(
    account: &Account,
    moment: Moment,
    frames: u32,
    random: &mut Random,
    output: &mut String,
) {
    let service = write_start(moment, random, output);
    let revision = mix(account.resource_seed ^ service.len() as u64);
    let pod = mix(revision ^ u64::from(random.skewed(6)));
    output.push_str(",\"thread\":\"worker-");
    json::integer(output, u64::from(random.below(16)));
    output.push_str("\",\"kubernetes\":{\"namespace\":\"production\",\"pod\":\"");
    output.push_str(service);
    output.push('-');
    json::hexadecimal(output, revision, 10);
    output.push('-');
    json::hexadecimal(output, pod, 5);
    output.push_str("\",\"container\":\"");
    output.push_str(service);
    output.push_str("\",\"node\":\"node-");
    json::integer(output, pod % 24);
    output.push_str(".region-1.internal.cloud.example\",\"labels\":{\"app\":\"");
    output.push_str(service);
    output.push_str("\",\"tier\":\"backend\",\"team\":\"platform\",\"release\":\"2026.");
    json::integer(output, revision % 50);
    output.push_str("\",\"managed-by\":\"provisioner\"}},\"trace\":{\"trace_id\":\"");
    json::hexadecimal(output, random.wide_bits(), 16);
    json::hexadecimal(output, random.wide_bits(), 16);
    output.push_str("\",\"span_id\":\"");
    json::hexadecimal(output, random.wide_bits(), 16);
    output.push_str("\",\"sampled\":");
    json::boolean(output, random.chance(100));
    output.push_str("},\"http\":{\"method\":\"");
    output.push_str(random.pick(&METHODS));
    output.push_str("\",\"path\":\"/api/v2/");
    output.push_str(service);
    output.push('/');
    json::integer(output, u64::from(random.skewed(90_000)));
    output.push_str("\",\"status\":");
    json::integer(output, u64::from(random.pick(&STATUSES)));
    output.push_str(",\"user_agent\":\"");
    output.push_str(account.agent(random));
    output.push_str("\",\"duration_ms\":");
    json::integer(output, u64::from(random.steep(4000)));
    output.push_str(",\"cached\":");
    json::boolean(output, random.chance(400));
    output.push_str(",\"retried\":false},\"error\":null");
    for frame in 0..frames {
        output.push_str(if frame == 0 { ",\"stack\":[" } else { "," });
        write_frame(service, random, output);
    }
    output.push_str(if frames > 0 { "]}" } else { "}" });
}

/// Appends a short line with breadcrumbs: earlier messages of the same request.
pub(super) fn write_line(
    moment: Moment,
    breadcrumbs: u32,
    random: &mut Random,
    output: &mut String,
) {
    write_start(moment, random, output);
    for breadcrumb in 0..breadcrumbs {
        output.push_str(if breadcrumb == 0 { ",\"breadcrumbs\":[" } else { "," });
        output.push_str("{\"ago_ms\":");
        json::integer(output, u64::from(random.skewed(30_000)));
        output.push_str(",\"message\":\"");
        write_message(random, output);
        output.push_str("\"}");
    }
    output.push_str("]}");
}

/// Appends what both forms begin with, and returns the service that speaks.
fn write_start(moment: Moment, random: &mut Random, output: &mut String) -> &'static str {
    let service = SERVICES[random.skewed(SERVICES.len() as u32) as usize];
    output.push_str("{\"timestamp\":\"");
    calendar::time(output, moment.0 / 1000, 'T');
    output.push('.');
    json::padded(output, moment.0 % 1000, 3);
    output.push_str("Z\",\"level\":\"");
    output.push_str(random.pick(&LEVELS));
    output.push_str("\",\"service\":\"");
    output.push_str(service);
    output.push_str("\",\"logger\":\"example.");
    output.push_str(service);
    output.push('.');
    output.push_str(random.pick(&COMPONENTS));
    output.push_str("\",\"message\":\"");
    write_message(random, output);
    output.push_str("\",\"request_id\":\"");
    identifiers::uuid(random, output);
    output.push('"');
    service
}

fn write_message(random: &mut Random, output: &mut String) {
    let (before, after) = random.pick(&MESSAGES);
    output.push_str(before);
    json::integer(output, u64::from(random.steep(20_000)));
    output.push_str(after);
}

fn write_frame(service: &str, random: &mut Random, output: &mut String) {
    output.push_str("{\"class\":\"example.");
    output.push_str(service);
    output.push('.');
    output.push_str(random.pick(&COMPONENTS));
    output.push_str("\",\"method\":\"");
    output.push_str(random.pick(&["handle", "run", "apply", "invoke", "process", "commit"]));
    output.push_str("\",\"file\":\"src/");
    output.push_str(service);
    output.push_str(".rs\",\"line\":");
    json::integer(output, u64::from(random.below(900)));
    output.push_str(",\"native\":");
    json::boolean(output, random.chance(50));
    output.push('}');
}
