//! Requests in both forms, made by the types of the OpenTelemetry project and not by our idea of
//! them, and hostile ones.

use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use proptest::prelude::*;
use prost::Message;
use serde_json::{Value, json};

use super::*;
use crate::fuzzing::otlp_any;
use crate::limits::LINES_BYTES_MAX;

fn of(value: Any) -> AnyValue {
    AnyValue { value: Some(value) }
}

fn pair(key: &str, value: Any) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(of(value)), ..KeyValue::default() }
}

fn record() -> LogRecord {
    let list = KeyValueList { values: vec![pair("deep", Any::DoubleValue(0.5))] };
    let array = ArrayValue { values: vec![of(Any::IntValue(-7)), of(Any::KvlistValue(list))] };
    LogRecord {
        time_unix_nano: 1_795_298_400_123_456_789,
        observed_time_unix_nano: 1_795_298_400_200_000_000,
        severity_number: 9,
        severity_text: "INFO".to_owned(),
        body: Some(of(Any::StringValue("cart \"7\"\nsaved".to_owned()))),
        attributes: vec![
            pair("http.status", Any::IntValue(i64::MAX)),
            pair("ok", Any::BoolValue(false)),
            pair("list", Any::ArrayValue(array)),
            pair("raw", Any::BytesValue(vec![1, 2, 255])),
        ],
        flags: 1,
        trace_id: (0..16).collect(),
        span_id: (0xA0..0xA8).collect(),
        event_name: "saved".to_owned(),
        ..LogRecord::default()
    }
}

fn request() -> ExportLogsServiceRequest {
    let resource = Resource {
        attributes: vec![pair("service.name", Any::StringValue("carts".to_owned()))],
        ..Resource::default()
    };
    let scope = InstrumentationScope {
        name: "lib".to_owned(),
        version: "1.2".to_owned(),
        ..InstrumentationScope::default()
    };
    let bare = LogRecord {
        body: Some(of(Any::KvlistValue(KeyValueList::default()))),
        ..LogRecord::default()
    };
    let first =
        ScopeLogs { scope: Some(scope), log_records: vec![record(), bare], ..ScopeLogs::default() };
    let second = ScopeLogs { log_records: vec![LogRecord::default()], ..ScopeLogs::default() };
    let with =
        |resource, scope_logs| ResourceLogs { resource, scope_logs, ..ResourceLogs::default() };
    ExportLogsServiceRequest {
        resource_logs: vec![with(Some(resource), vec![first]), with(None, vec![second])],
    }
}

fn read(encoding: Encoding, body: &[u8]) -> Result<Vec<Value>, OtlpError> {
    let mut lines = Vec::new();
    let count = read_logs(encoding, body, LINES_BYTES_MAX, &mut lines)?;
    let lines = str::from_utf8(&lines).unwrap();
    let values: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values.len(), count);
    Ok(values)
}

#[test]
fn both_forms_of_a_request_come_to_the_same_lines() {
    let request = request();
    let binary = read(Encoding::Protobuf, &request.encode_to_vec()).unwrap();
    let text = serde_json::to_vec(&request).unwrap();
    assert_eq!(read(Encoding::Json, &text).unwrap(), binary);
    let resource = json!({"service.name": "carts"});
    let scope = json!({"name": "lib", "version": "1.2"});
    let whole = json!({
        "time_unix_nano": 1_795_298_400_123_456_789_u64,
        "observed_time_unix_nano": 1_795_298_400_200_000_000_u64,
        "severity_number": 9,
        "severity_text": "INFO",
        "event_name": "saved",
        "body": "cart \"7\"\nsaved",
        "attributes": {
            "http.status": i64::MAX, "ok": false, "list": [-7, {"deep": 0.5}], "raw": "AQL/",
        },
        "trace_id": "000102030405060708090a0b0c0d0e0f",
        "span_id": "a0a1a2a3a4a5a6a7",
        "flags": 1,
        "resource": resource,
        "scope": scope,
    });
    let bare = json!({"body": {}, "resource": resource, "scope": scope});
    assert_eq!(binary, [whole, bare, json!({})]);
}

#[test]
fn what_people_write_by_hand_is_read() {
    // As in the examples of the protocol, with numbers as numbers and keys that are unknown.
    let body = br#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[
        {"timeUnixNano":1544712660300000000,"severityNumber":10,"new":{"x":[1]},
         "body":{"doubleValue":"NaN"},"traceId":"5B8EFFF798038103D269B633813FC60C",
         "attributes":[{"key":"n","value":{"intValue":-5}},{"key":"none"},
                       {"key":"empty","value":{}}]}
    ]}]}]}"#;
    let expected = json!({
        "time_unix_nano": 1_544_712_660_300_000_000_u64,
        "severity_number": 10,
        "body": null,
        "attributes": {"n": -5, "none": null, "empty": null},
        "trace_id": "5b8efff798038103d269b633813fc60c",
    });
    assert_eq!(read(Encoding::Json, body), Ok(vec![expected]));
    assert_eq!(read(Encoding::Json, b"{}"), Ok(Vec::new()));
    assert_eq!(read(Encoding::Protobuf, b""), Ok(Vec::new()));
}

#[test]
fn a_request_that_is_cut_off_gives_no_line() {
    let body = request().encode_to_vec();
    for length in 1..body.len() {
        let mut lines = b"before\n".to_vec();
        let result = read_logs(Encoding::Protobuf, &body[..length], LINES_BYTES_MAX, &mut lines);
        // At the border between two resources the rest is simply not there.
        assert!(result.is_ok() || lines == b"before\n", "{length}");
    }
    for body in ["", "[1]", "{\"resourceLogs\":[{]}", "{\"resourceLogs\":1}"] {
        assert!(matches!(read(Encoding::Json, body.as_bytes()), Err(OtlpError::Json { .. })));
    }
    let late = r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{},{"flags":"x"}]}]}]}"#;
    assert!(read(Encoding::Json, late.as_bytes()).is_err());
    assert!(read(Encoding::Protobuf, b"\x0B").is_err());
    assert!(read(Encoding::Protobuf, &[0xFF; 12]).is_err());
}

#[test]
fn values_that_nest_too_deep_are_refused() {
    let nested = |depth| {
        let wrap = |value, _| of(Any::ArrayValue(ArrayValue { values: vec![value] }));
        let body = (0..depth).fold(of(Any::BoolValue(true)), wrap);
        let log_records = vec![LogRecord { body: Some(body), ..LogRecord::default() }];
        let scope_logs = vec![ScopeLogs { log_records, ..ScopeLogs::default() }];
        let resource_logs = vec![ResourceLogs { scope_logs, ..ResourceLogs::default() }];
        ExportLogsServiceRequest { resource_logs }
    };
    let both = |depth| {
        let request = nested(depth);
        let text = serde_json::to_vec(&request).unwrap();
        [read(Encoding::Protobuf, &request.encode_to_vec()), read(Encoding::Json, &text)]
    };
    assert!(both(OTLP_DEPTH_MAX - 1).iter().all(Result::is_ok));
    assert_eq!(both(OTLP_DEPTH_MAX)[0], Err(OtlpError::TooDeep));
    assert!(both(OTLP_DEPTH_MAX)[1].is_err());
    let text = format!(r#"{{"resourceLogs":{}"#, "[".repeat(100_000));
    assert!(read(Encoding::Json, text.as_bytes()).is_err());
}

#[test]
fn a_small_request_does_not_become_a_large_one() {
    let mut request = request();
    let large = pair("x", Any::StringValue("x".repeat(10_000)));
    request.resource_logs[0].resource.as_mut().unwrap().attributes.push(large);
    request.resource_logs[0].scope_logs[0].log_records = vec![LogRecord::default(); 10_000];
    let body = request.encode_to_vec();
    assert!(body.len() < 40_000);
    let mut lines = Vec::new();
    let result = read_logs(Encoding::Protobuf, &body, 1 << 20, &mut lines);
    assert_eq!(result, Err(TooLong { limit_bytes: 1 << 20 }.into()));
    assert!(lines.is_empty() && lines.capacity() < 4 << 20);
}

#[test]
fn answers_say_what_was_rejected() {
    let answer = |encoding, rejected, message| {
        let mut out = Vec::new();
        write_response(encoding, rejected, message, &mut out);
        out
    };
    assert_eq!(answer(Encoding::Protobuf, 0, ""), b"");
    assert_eq!(answer(Encoding::Json, 0, ""), b"{}");
    let partial = ExportLogsPartialSuccess {
        rejected_log_records: 300,
        error_message: "the pool is full".to_owned(),
    };
    let expected = ExportLogsServiceResponse { partial_success: Some(partial) };
    let body = answer(Encoding::Protobuf, 300, "the pool is full");
    assert_eq!(ExportLogsServiceResponse::decode(&body[..]), Ok(expected.clone()));
    let body = answer(Encoding::Json, 300, "the pool is full");
    let text: Value = serde_json::from_slice(&body).unwrap();
    let partial = json!({"rejectedLogRecords": "300", "errorMessage": "the pool is full"});
    assert_eq!(text, json!({"partialSuccess": partial}));
}

proptest! {
    #[test]
    fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        otlp_any(&bytes);
    }

    #[test]
    fn damaged_requests_do_no_harm(
        form in 0_u8..2, place in any::<prop::sample::Index>(), flip in any::<u8>(),
    ) {
        let mut bytes = if form == 0 {
            request().encode_to_vec()
        } else {
            serde_json::to_vec(&request()).unwrap()
        };
        let place = place.index(bytes.len());
        bytes[place] ^= flip;
        bytes.insert(0, form);
        otlp_any(&bytes);
    }
}
