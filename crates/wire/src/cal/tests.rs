//! CAL against the captured connection of a real client, hand-made ones and hostile ones. The
//! captured one is not part of the project: its test says so and passes where it is not there.

use proptest::prelude::*;

use super::*;
use crate::fuzzing;

/// The captured connection, which is not part of the project.
const CAPTURED: &str = "/work/shared/data/cal/cal-client-session.bin";

/// A short connection in every class, made by hand from the description of the protocol.
fn session() -> Vec<u8> {
    let mut bytes = Vec::new();
    let label = "SQLLog for carts:host-7\r\nEnvironment: production\r\n\
                 Label: carts-1.2-345\r\nStart: 2026-11-20 11:51:18\r\n\r\n";
    write(0x0100_0000, 1_795_175_478, label.as_bytes(), &mut bytes);
    for body in BODIES {
        write(7, 1_795_175_478, body.as_bytes(), &mut bytes);
    }
    bytes
}

const BODIES: [&str; 5] = [
    "\r\nt11:51:18.67\tURL\tSearch\r\n",
    "A11:51:18.68\tEXEC\tSQL_30\t0\t69.0\trows=266\r\n",
    "E11:51:18.68\tVID\tvid_match\t0\tvid=42&ua=a b & co = \tx&k=7\r\n",
    "H11:51:19.00\tLOAD\tcpu\t0\tidle=93\r\n",
    "T11:51:19.01\tURL\tSearch\t2.CART.SYS.5\t288.5\tcorr_id_=&log_id_=9&user=27\r\n",
];

type Outcome = (Option<String>, Vec<Vec<u8>>, fuzzing::Ending);

fn outcome(bytes: &[u8]) -> Outcome {
    fuzzing::cal(bytes, CAL_BODY_BYTES_MAX, &mut std::iter::empty())
}

#[test]
fn a_session_is_the_same_however_it_is_cut() {
    let bytes = session();
    let (pool, bodies, ending) = fuzzing::same_at_every_cut(&bytes, |lengths| {
        fuzzing::cal(&bytes, CAL_BODY_BYTES_MAX, lengths)
    });
    assert_eq!(pool.as_deref(), Some("carts"));
    assert_eq!(bodies, BODIES.map(|body| body.as_bytes().to_vec()));
    assert_eq!(ending, Ok(Vec::new()));
}

#[test]
fn the_label_says_who_sends() {
    let mut cal = Cal::default();
    let mut messages = Vec::new();
    let bytes = session();
    let scan = cal.scan(&bytes, &mut messages).unwrap();
    assert_eq!(scan, Scan { consumed: bytes.len(), needed: HEADER_BYTES });
    let label = cal.label().unwrap();
    assert_eq!((label.pool.as_str(), label.host.as_str()), ("carts", "host-7"));
    assert_eq!(label.environment, "production");
    assert_eq!(label.version, "carts-1.2-345");
    assert_eq!(label.start, "2026-11-20 11:51:18");
    assert_eq!((messages[0].thread, messages[0].connect_seconds), (7, 1_795_175_478));
    // Written again it is the same text.
    let mut body = Vec::new();
    label.write(&mut body);
    assert_eq!(Label::parse(&body).as_ref(), Ok(label));
    assert_eq!(body, bytes[HEADER_BYTES..HEADER_BYTES + body.len()]);
}

#[test]
fn fields_are_found_in_every_class() {
    let [start, atomic, event, heartbeat, end] =
        BODIES.map(|body| Record::parse(body.as_bytes()).unwrap());
    assert_eq!(start.class(), Class::Start);
    assert_eq!((start.type_name(), start.name()), (&b"URL"[..], &b"Search"[..]));
    assert_eq!((start.status(), start.duration_ms(), start.data()), (None, None, None));
    let time = Time { hour: 11, minute: 51, second: 18, centisecond: 67 };
    assert_eq!(start.time(), Some(time));

    assert_eq!(atomic.status(), Some(Status::Success));
    assert_eq!((atomic.duration_ms(), atomic.value(b"rows")), (Some(69.0), Some(&b"266"[..])));

    // Data is the client's text, TABs and all.
    assert_eq!(event.data(), Some(&b"vid=42&ua=a b & co = \tx&k=7"[..]));
    assert_eq!(event.value(b"vid"), Some(&b"42"[..]));
    assert_eq!(event.value(b"k"), Some(&b"7"[..]));
    assert_eq!(event.value(b"absent"), None);
    assert_eq!(event.duration_ms(), None);

    assert_eq!(heartbeat.class().letter(), b'H');
    assert_eq!(heartbeat.value(b"idle"), Some(&b"93"[..]));

    let failure =
        Status::Failure { severity: b"2", module: b"CART", system_error: b"SYS", code: b"5" };
    assert_eq!(end.status(), Some(failure));
    assert_eq!(end.duration_ms(), Some(288.5));
    assert_eq!(end.value(b"log_id_"), Some(&b"9"[..]));
    let first = end.pairs().next();
    assert_eq!(first, Some((&b"corr_id_"[..], &b""[..])));
}

#[test]
fn what_is_no_record_says_why() {
    assert_eq!(Record::parse(b""), Err(RecordError::Empty));
    assert_eq!(Record::parse(b"\r\n"), Err(RecordError::Empty));
    assert_eq!(Record::parse(b"x11:51:18.67\tURL\tname"), Err(RecordError::Class(b'x')));
    assert_eq!(Record::parse(b"E11:51"), Err(RecordError::Time));
    assert_eq!(Record::parse(b"E11:51:18.67 VID"), Err(RecordError::Time));
    // Fields that are cut off are not there; what is there is.
    let cut = Record::parse(b"T25:51:18.67\tURL").unwrap();
    assert_eq!((cut.time(), cut.type_name(), cut.name()), (None, &b"URL"[..], &b""[..]));
    assert_eq!((cut.status(), cut.duration_ms(), cut.data()), (None, None, None));
    let odd = Record::parse(b"A11:51:18.67\tEXEC\tq\t1\tinf\t").unwrap();
    assert_eq!((odd.duration_ms(), odd.data()), (None, Some(&b""[..])));
}

#[test]
fn an_absurd_length_ends_the_connection_and_keeps_what_came_before() {
    let mut bytes = session();
    bytes.extend([0, 0, 0, 7, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, b'E']);
    let (_, bodies, ending) = fuzzing::same_at_every_cut(&bytes, |lengths| {
        fuzzing::cal(&bytes, CAL_BODY_BYTES_MAX, lengths)
    });
    assert_eq!(bodies.len(), BODIES.len());
    let error = CalError::BodyTooLong { length_bytes: u32::MAX, limit_bytes: CAL_BODY_BYTES_MAX };
    assert_eq!(ending, Err(error.to_string()));
}

#[test]
fn a_body_at_the_limit_is_taken_and_one_above_is_not() {
    let mut bytes = session();
    // Longer than everything before it.
    write(7, 0, &[b'x'; 200], &mut bytes);
    let with_limit = |limit| fuzzing::cal(&bytes, limit, &mut std::iter::empty());
    let (_, bodies, ending) = with_limit(200);
    assert_eq!((bodies.len(), ending), (BODIES.len() + 1, Ok(Vec::new())));
    let (_, bodies, ending) = with_limit(199);
    assert_eq!(bodies.len(), BODIES.len());
    assert!(ending.is_err());
}

#[test]
fn a_first_message_that_is_no_label_ends_the_connection() {
    let ending = |body: &[u8]| {
        let mut bytes = Vec::new();
        write(0, 0, body, &mut bytes);
        let mut messages = Vec::new();
        let error = Cal::default().scan(&bytes, &mut messages).unwrap_err();
        assert!(messages.is_empty());
        error
    };
    assert_eq!(ending(BODIES[1].as_bytes()), LabelError::Start.into());
    assert_eq!(ending(b""), LabelError::Start.into());
    assert_eq!(ending(b"SQLLog for carts\r\n"), LabelError::NoPool.into());
    assert_eq!(ending(b"SQLLog for :host\r\n"), LabelError::NoPool.into());
    assert_eq!(ending(b"SQLLog for a\x00b:host\r\n"), LabelError::Name.into());
    let long = format!("SQLLog for {}:host\r\n", "x".repeat(128));
    assert_eq!(ending(long.as_bytes()), LabelError::Name.into());
}

#[test]
fn a_connection_that_ends_inside_a_message_says_how_much_is_missing() {
    let bytes = session();
    let cal = Cal::default();
    assert_eq!(cal.finish(&[]), Ok(()));
    assert_eq!(cal.finish(&bytes[..5]), Err(CalError::CutOff { missing_bytes: 7 }));
    let body_bytes = u32::from_be_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize;
    let error = CalError::CutOff { missing_bytes: body_bytes - 3 };
    assert_eq!(cal.finish(&bytes[..HEADER_BYTES + 3]), Err(error));
}

#[test]
fn the_captured_connection_holds_what_its_description_says() {
    let Ok(bytes) = std::fs::read(CAPTURED) else {
        eprintln!("skipped: {CAPTURED} is not on this machine");
        return;
    };
    let whole = outcome(&bytes);
    for piece_bytes in [1, 2, 7, 13, 1_500, 65_536] {
        let pieces = bytes.len() / piece_bytes;
        let mut lengths = std::iter::repeat_n(piece_bytes, pieces);
        assert_eq!(fuzzing::cal(&bytes, CAL_BODY_BYTES_MAX, &mut lengths), whole);
    }
    let (pool, bodies, ending) = whole;
    assert_eq!((pool.as_deref(), ending), (Some("cartsvc"), Ok(Vec::new())));
    assert_eq!(bodies.len(), 2_942);
    let count = |class| {
        let is_of = |body: &&Vec<u8>| Record::parse(body).unwrap().class() == class;
        bodies.iter().filter(is_of).count()
    };
    assert_eq!((count(Class::Start), count(Class::End)), (701, 701));
    assert_eq!(count(Class::Atomic), 1_090);
    assert_eq!((count(Class::Event), count(Class::Heartbeat)), (398, 52));
    for body in &bodies {
        let record = Record::parse(body).unwrap();
        assert!(record.time().is_some() && !record.name().is_empty());
        assert_eq!(record.data().is_none(), record.class() == Class::Start);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_the_same_however_they_are_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        fuzzing::cal_any(&bytes);
    }

    #[test]
    fn any_bodies_behind_a_label_come_back(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..8),
        cut in 0_usize..600,
    ) {
        let mut bytes = Vec::new();
        write(0, 0, b"SQLLog for p:h\r\n", &mut bytes);
        for body in &bodies {
            write(1, 2, body, &mut bytes);
        }
        let found = fuzzing::cal(&bytes, CAL_BODY_BYTES_MAX, &mut std::iter::once(cut));
        prop_assert_eq!(found, (Some("p".to_owned()), bodies, Ok(Vec::new())));
    }
}
