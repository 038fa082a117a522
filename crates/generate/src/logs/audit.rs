//! Writes an audit record: who called which operation from where, with which parameters and with
//! which result.

use super::Moment;
use super::account::Account;
use super::operations::{Form, Operation};
use crate::calendar;
use crate::identifiers;
use crate::json;
use crate::random::{Random, mix};

/// The things of one sort that an account has; records keep coming back to the popular ones.
const RESOURCES: u32 = 2000;

/// The most items that a record repeats of a request and of its answer.
const LONGEST_FILTER: u32 = 14;
const LONGEST_ANSWER: u32 = 16;

const PURPOSES: [&str; 12] = [
    "backups",
    "invoices",
    "sessions",
    "exports",
    "images",
    "reports",
    "ledger",
    "catalogue",
    "archive",
    "metrics",
    "staging",
    "uploads",
];

const FAILURES: [(&str, &str); 5] = [
    ("ThrottlingException", "Rate exceeded"),
    ("Client.UnauthorizedOperation", "You are not authorized to perform this operation."),
    ("AccessDenied", "User is not authorized to perform the action on the resource"),
    ("ResourceNotFoundException", "The specified resource was not found"),
    ("InvalidStateException", "The resource is in a state that does not allow the request"),
];

/// Appends the record of one call, with `extra_resources` in its list of resources.
pub(super) fn write(
    account: &Account,
    operation: &Operation,
    moment: Moment,
    extra_resources: u32,
    random: &mut Random,
    output: &mut String,
) {
    output.push_str("{\"eventVersion\":\"1.08\",\"userIdentity\":");
    output.push_str(account.identity(random));
    output.push_str("},\"eventTime\":\"");
    calendar::time(output, moment.0 / 1000, 'T');
    output.push_str("Z\",\"eventSource\":\"");
    output.push_str(operation.service);
    output.push_str(".cloud.example\",\"eventName\":\"");
    output.push_str(&operation.name);
    output.push_str("\",\"cloudRegion\":\"region-1\",\"sourceIPAddress\":\"");
    let address = if random.chance(740) { 20 } else { random.between(1, 16) };
    output.push_str("192.168.10.");
    json::integer(output, u64::from(address));
    output.push_str("\",\"userAgent\":\"");
    output.push_str(account.agent(random));
    output.push('"');
    let failure = random.chance(100).then(|| &FAILURES[random.skewed(5) as usize]);
    if let Some((code, message)) = failure {
        output.push_str(",\"errorCode\":\"");
        output.push_str(code);
        output.push_str("\",\"errorMessage\":\"");
        output.push_str(message);
        output.push('"');
    }
    let resource = random.skewed(RESOURCES);
    output.push_str(",\"requestParameters\":");
    write_parameters(account, operation, resource, random, output);
    let mut request = String::with_capacity(36);
    identifiers::uuid(random, &mut request);
    output.push_str(",\"responseElements\":");
    if operation.answered && failure.is_none() {
        write_answer(account, operation, resource, &request, random, output);
    } else {
        output.push_str("null");
    }
    output.push_str(",\"requestID\":\"");
    output.push_str(&request);
    output.push_str("\",\"eventID\":\"");
    identifiers::uuid(random, output);
    output.push_str("\",\"readOnly\":");
    json::boolean(output, operation.read_only);
    write_resources(account, operation, resource, extra_resources, random, output);
    output.push_str(
        ",\"eventType\":\"CloudApiCall\",\"managementEvent\":true,\"recipientAccountId\":\"",
    );
    output.push_str(&account.number);
    output.push_str("\",\"eventCategory\":\"Management\"");
    if random.chance(850) {
        output.push_str(",\"tlsDetails\":{\"tlsVersion\":\"TLSv1.2\",\"cipherSuite\":\"");
        output.push_str("ECDHE-RSA-AES128-GCM-SHA256\",\"clientProvidedHostHeader\":\"");
        output.push_str(&operation.host);
        output.push_str("\"}");
    } else {
        output.push_str(",\"sessionCredentialFromConsole\":\"true\"");
    }
    output.push('}');
}

/// Appends the identifier that a resource of the operation's sort has in the account.
fn write_identifier(account: &Account, operation: &Operation, resource: u32, output: &mut String) {
    for letter in operation.noun.chars().filter(char::is_ascii_uppercase) {
        output.push(letter.to_ascii_lowercase());
    }
    output.push_str("-0");
    let number = mix(account.resource_seed ^ u64::from(resource) << 8);
    json::hexadecimal(output, number, 16);
}

fn write_name(operation: &Operation, resource: u32, output: &mut String) {
    output.push_str("tenant-");
    output.push_str(operation.service);
    output.push('-');
    output.push_str(PURPOSES[resource as usize % PURPOSES.len()]);
    output.push('-');
    json::integer(output, u64::from(resource));
}

/// Appends a key that starts with the operation's noun in lower case.
fn write_key(operation: &Operation, suffix: &str, output: &mut String) {
    let (first, rest) = operation.noun.split_at(1);
    output.push('"');
    output.push_str(&first.to_ascii_lowercase());
    output.push_str(rest);
    output.push_str(suffix);
    output.push_str("\":");
}

fn write_parameters(
    account: &Account,
    operation: &Operation,
    resource: u32,
    random: &mut Random,
    output: &mut String,
) {
    match operation.form {
        Form::Nothing => output.push_str("null"),
        Form::Identified => {
            output.push('{');
            write_key(operation, "Id", output);
            output.push('"');
            write_identifier(account, operation, resource, output);
            output.push_str("\"}");
        }
        Form::Named => {
            output.push('{');
            write_key(operation, "Name", output);
            output.push('"');
            write_name(operation, resource, output);
            output.push_str("\"}");
        }
        Form::Filtered => {
            output.push('{');
            write_key(operation, "Set", output);
            output.push_str("{\"items\":[");
            for position in 0..1 + random.steep(LONGEST_FILTER) {
                output.push_str(if position == 0 { "{" } else { "},{" });
                write_key(operation, "Id", output);
                output.push('"');
                write_identifier(account, operation, resource + position, output);
                output.push('"');
            }
            output.push_str("}]},\"filterSet\":{},\"maxResults\":");
            json::integer(output, random.pick(&[50, 100, 100, 1000]));
            output.push('}');
        }
    }
}

fn write_answer(
    account: &Account,
    operation: &Operation,
    resource: u32,
    request: &str,
    random: &mut Random,
    output: &mut String,
) {
    output.push_str("{\"requestId\":\"");
    output.push_str(request);
    output.push_str("\",\"_return\":true,");
    write_key(operation, "Set", output);
    output.push_str("{\"items\":[");
    for position in 0..1 + random.steep(LONGEST_ANSWER) {
        output.push_str(if position == 0 { "{" } else { "},{" });
        write_key(operation, "Id", output);
        output.push('"');
        write_identifier(account, operation, resource + position, output);
        output.push_str("\",\"ownerId\":\"");
        output.push_str(&account.number);
        output.push_str("\",\"state\":\"available\"");
    }
    output.push_str("}]}}");
}

fn write_resources(
    account: &Account,
    operation: &Operation,
    resource: u32,
    extra_resources: u32,
    random: &mut Random,
    output: &mut String,
) {
    let count = extra_resources + u32::from(random.chance(140));
    for position in 0..count {
        output.push_str(if position == 0 { ",\"resources\":[" } else { "," });
        output.push_str("{\"accountId\":\"");
        output.push_str(&account.number);
        output.push_str("\",\"type\":\"Cloud::");
        output.push_str(operation.noun);
        output.push_str("\",\"ARN\":\"arn:cloud:");
        output.push_str(operation.service);
        output.push_str(":region-1:");
        output.push_str(&account.number);
        output.push(':');
        write_identifier(account, operation, resource + position, output);
        output.push_str("\"}");
    }
    if count > 0 {
        output.push(']');
    }
}
