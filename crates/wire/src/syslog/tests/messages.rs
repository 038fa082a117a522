//! What is in a frame: the examples of the RFCs, what senders really write, and the same read by
//! another parser.

use super::super::*;

fn text(bytes: Option<&[u8]>) -> Option<&str> {
    bytes.map(|bytes| str::from_utf8(bytes).unwrap())
}

/// Host, program, process and text.
fn parts(frame: &str) -> (Option<&str>, Option<&str>, Option<&str>, &str) {
    let message = Message::parse(frame.as_bytes());
    let body = str::from_utf8(message.text).unwrap();
    (text(message.hostname), text(message.app_name), text(message.process_id), body)
}

#[test]
fn the_examples_of_rfc_5424_are_read() {
    let frame = "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \
                 \u{FEFF}'su root' failed for lonvick on /dev/pts/8\n";
    let message = Message::parse(frame.as_bytes());
    assert_eq!(message.format, Format::Rfc5424);
    assert_eq!(message.priority, Some(Priority { facility: 4, severity: 2 }));
    let moment = Timestamp::Zoned { unix_seconds: 1_065_910_455, nanosecond: 3_000_000 };
    assert_eq!(message.timestamp, Some(moment));
    assert_eq!(text(message.message_id), Some("ID47"));
    assert_eq!(message.structured_data, None);
    let body = "'su root' failed for lonvick on /dev/pts/8";
    assert_eq!(parts(frame), (Some("mymachine.example.com"), Some("su"), None, body));

    let frame = "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - \
                 %% It's time to make the do-nuts.";
    let message = Message::parse(frame.as_bytes());
    let moment = Timestamp::Zoned { unix_seconds: 1_061_727_255, nanosecond: 3_000 };
    assert_eq!(message.timestamp, Some(moment));
    let body = "%% It's time to make the do-nuts.";
    assert_eq!(parts(frame), (Some("192.0.2.1"), Some("myproc"), Some("8710"), body));

    let frame = "<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 \
                 [exampleSDID@32473 iut=\"3\" eventSource=\"Application\" eventID=\"1011\"]\
                 [examplePriority@32473 class=\"high\"]";
    let message = Message::parse(frame.as_bytes());
    let ids: Vec<&[u8]> = message.elements().map(|element| element.id).collect();
    assert_eq!(ids, [&b"exampleSDID@32473"[..], b"examplePriority@32473"]);
    let first = message.elements().next().unwrap();
    let parameters: Vec<(&[u8], &[u8])> = first.parameters().collect();
    let expected: [(&[u8], &[u8]); 3] =
        [(b"iut", b"3"), (b"eventSource", b"Application"), (b"eventID", b"1011")];
    assert_eq!(parameters, expected);
    assert_eq!(message.text, b"");
}

#[test]
fn escapes_in_structured_data_are_read() {
    let frame = br#"<13>1 - - - - - [a@1 q="\"x\" \\ \] \n" empty=""][b] [text]"#;
    let message = Message::parse(frame);
    assert_eq!(message.timestamp, None);
    assert_eq!(text(message.structured_data), Some(r#"[a@1 q="\"x\" \\ \] \n" empty=""][b]"#));
    assert_eq!(message.text, b"[text]");
    let values: Vec<Vec<u8>> = message
        .elements()
        .flat_map(Element::parameters)
        .map(|(_, value)| unescape(value).into_owned())
        .collect();
    assert_eq!(values, [br#""x" \ ] \n"#.to_vec(), Vec::new()]);
}

#[test]
fn structured_data_that_breaks_the_grammar_stays_in_the_text() {
    for data in ["[a", "[a b=\"c]", "[a b=c]", "[]", "[a b=\"\\", "[a]x", "[a b=\"c\"", "none"] {
        let frame = format!("<13>1 - host app - - {data}");
        let message = Message::parse(frame.as_bytes());
        assert_eq!(message.format, Format::Rfc5424, "{data}");
        assert_eq!((message.structured_data, text(Some(message.text))), (None, Some(data)));
        assert_eq!(message.elements().count(), 0);
    }
}

#[test]
fn the_examples_of_rfc_3164_are_read() {
    let frame = "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8";
    let message = Message::parse(frame.as_bytes());
    assert_eq!(message.format, Format::Rfc3164);
    assert_eq!(message.priority, Some(Priority { facility: 4, severity: 2 }));
    let time = Timestamp::Local {
        year: None,
        month: 10,
        day: 11,
        hour: 22,
        minute: 14,
        second: 15,
        nanosecond: 0,
    };
    assert_eq!(message.timestamp, Some(time));
    let body = "'su root' failed for lonvick on /dev/pts/8";
    assert_eq!(parts(frame), (Some("mymachine"), Some("su"), None, body));

    let frame = "<13>Feb  5 17:32:18 10.0.0.99 Use the BFG!";
    assert_eq!(parts(frame), (Some("10.0.0.99"), None, None, "Use the BFG!"));
    assert_eq!(parts("Use the BFG!"), (None, None, None, "Use the BFG!"));
    assert_eq!(Message::parse(b"Use the BFG!").priority, None);
}

#[test]
fn what_senders_really_write_is_read() {
    // The C library on a local socket, with and without a process.
    let frame = "<30>Nov 21 21:34:00 sshd[812]: Accepted publickey";
    assert_eq!(parts(frame), (None, Some("sshd"), Some("812"), "Accepted publickey"));
    assert_eq!(parts("<30>Nov 21 21:34:00 cron: x: y"), (None, Some("cron"), None, "x: y"));
    // rsyslog's forwarding format.
    let frame = "<30>2026-11-21T21:34:00.123456+01:00 web-3 nginx[9]: GET /";
    assert_eq!(parts(frame), (Some("web-3"), Some("nginx"), Some("9"), "GET /"));
    let moment = Timestamp::Zoned { unix_seconds: 1_795_293_240, nanosecond: 123_456_000 };
    assert_eq!(Message::parse(frame.as_bytes()).timestamp, Some(moment));
    // A router: a year, a fraction, a mark and a colon behind the time.
    let frame = "<189>*Nov  1 2026 01:02:03.456: %SYS-5-CONFIG_I: Configured from console";
    let message = Message::parse(frame.as_bytes());
    assert!(matches!(
        message.timestamp,
        Some(Timestamp::Local { year: Some(2026), day: 1, nanosecond: 456_000_000, .. })
    ));
    assert_eq!(parts(frame).1, Some("%SYS-5-CONFIG_I"));
    // An address with colons is a host, no tag.
    let frame = "<13>Nov 21 21:34:00 fe80::1 app: x";
    assert_eq!(parts(frame), (Some("fe80::1"), Some("app"), None, "x"));
    // No time: the tag follows the priority.
    assert_eq!(parts("<13>app[1]: x"), (None, Some("app"), Some("1"), "x"));
    assert_eq!(parts("<13>http://host/ x"), (None, None, None, "http://host/ x"));
}

#[test]
fn half_a_header_loses_nothing() {
    for frame in ["<192>x", "<>x", "<-1>x", "<+13>x", "<13", "<1234>x", "1 <13>", "<", "[", ""] {
        let message = Message::parse(frame.as_bytes());
        assert_eq!((message.priority, text(Some(message.text))), (None, Some(frame)));
    }
    for rest in
        ["1", "1 ", "1 2026-13-01T00:00:00Z a b c d - x", "1 - a b", "Nov 31 00:00:00", "2 x"]
    {
        let message = Message::parse(format!("<13>{rest}").into_bytes().leak());
        assert_eq!(message.format, Format::Rfc3164);
        assert_eq!(text(Some(message.text)), Some(rest));
    }
}

#[test]
fn days_are_those_of_the_calendar() {
    let seconds = |text: &str| match Timestamp::rfc3339(text.as_bytes()) {
        Some((Timestamp::Zoned { unix_seconds, .. }, b"")) => Some(unix_seconds),
        _ => None,
    };
    assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
    assert_eq!(seconds("2000-02-29T00:00:00Z"), Some(951_782_400));
    assert_eq!(seconds("1969-12-31T23:59:59Z"), Some(-1));
    assert_eq!(seconds("0000-03-01T00:00:00Z"), Some(-62_162_035_200));
    assert_eq!(seconds("2100-02-29T00:00:00Z"), None);
    assert_eq!(seconds("2026-11-21T24:00:00Z"), None);
    assert_eq!(seconds("2026-11-21T23:00:00"), None);
}

/// The parser of Vector reads the same from what both understand.
#[test]
fn another_parser_reads_the_same() {
    let frames = [
        "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - failed for lonvick",
        "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% do-nuts.",
        "<165>1 2003-10-11T22:14:15.003Z host evntslog - ID47 [a@3 iut=\"3\" b=\"A\"][c d=\"e\"] x",
        "<13>1 - - - - - - text",
        "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8",
        "<30>Nov 21 21:34:00 web-3 sshd[812]: Accepted publickey",
        "<191>Dec  1 00:00:00 h a[b]: c",
    ];
    for frame in frames {
        let other = syslog_loose::parse_message(frame, syslog_loose::Variant::Either);
        let message = Message::parse(frame.as_bytes());
        let priority = message.priority.unwrap();
        assert_eq!(other.facility.map(|facility| facility as u8), Some(priority.facility));
        assert_eq!(other.severity.map(|severity| severity as u8), Some(priority.severity));
        assert_eq!(other.hostname, text(message.hostname), "{frame}");
        assert_eq!(other.appname, text(message.app_name), "{frame}");
        let process = other.procid.map(|process| process.to_string());
        assert_eq!(process.as_deref(), text(message.process_id), "{frame}");
        assert_eq!(other.msgid, text(message.message_id), "{frame}");
        assert_eq!(other.msg, text(Some(message.text)).unwrap(), "{frame}");
        if let Some(Timestamp::Zoned { unix_seconds, nanosecond }) = message.timestamp {
            let moment = other.timestamp.unwrap();
            assert_eq!(moment.timestamp(), unix_seconds);
            assert_eq!(moment.timestamp_subsec_nanos(), nanosecond);
        }
        let found: Vec<(&str, Vec<(&str, &str)>)> = message
            .elements()
            .map(|element| {
                let pair = |(name, value)| (text(Some(name)).unwrap(), text(Some(value)).unwrap());
                (text(Some(element.id)).unwrap(), element.parameters().map(pair).collect())
            })
            .collect();
        let expected: Vec<(&str, Vec<(&str, &str)>)> = other
            .structured_data
            .iter()
            .map(|element| {
                (element.id, element.params().map(|(name, value)| (*name, value)).collect())
            })
            .map(|(id, params): (_, Vec<(&str, String)>)| {
                let owned = params.into_iter().map(|(name, value)| (name, &*value.leak()));
                (id, owned.collect())
            })
            .collect();
        assert_eq!(found, expected, "{frame}");
    }
}
