//! Groups as a user would expect them: copies and near-copies together, everything else apart, and
//! no giant group of payloads that only a chain connects.

use super::*;

fn groups(payloads: impl IntoIterator<Item = String>) -> Groups {
    let payloads = payloads.into_iter().map(String::into_bytes);
    near_duplicates(&Corpus::from_payloads("synthetic", payloads))
}

/// An object whose members are numbered from `start`, each with a value of its own.
fn object(start: usize, members: usize) -> String {
    let members: Vec<String> = (start..start + members)
        .map(|member| format!(r#""key{member}":"value{}""#, member * 7919))
        .collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn payloads_that_differ_in_a_few_values_are_one_group() {
    let (one, other) = (object(0, 40), object(1_000, 40));
    let changed = one.replace("value0", "changed").replace("value7919", "changed too");
    let reordered = {
        let inner = one.trim_matches(['{', '}']);
        let mut members: Vec<&str> = inner.split(',').collect();
        members.reverse();
        format!("{{ {} }}", members.join(" , "))
    };
    let half = format!("{},{}", object(0, 20).trim_end_matches('}'), &object(2_000, 20)[1..]);
    let found = groups([one.clone(), other, changed, reordered, half, one]);
    assert_eq!(found, Groups { of: vec![0, 1, 0, 0, 2, 0], count: 3, largest: 4 });
}

#[test]
fn elements_of_an_array_that_moved_are_the_same_elements() {
    let rows = |order: &mut dyn Iterator<Item = usize>| {
        let rows: Vec<String> = order.map(|row| object(row * 10, 3)).collect();
        format!("[{}]", rows.join(","))
    };
    let found = groups([rows(&mut (0..20)), rows(&mut (0..20).rev()), rows(&mut (20..40))]);
    assert_eq!(found.of, [0, 0, 1]);
}

#[test]
fn a_chain_of_similar_payloads_does_not_become_one_group() {
    // Neighbours share 37 of 43 members (0.86), the next ones 34 of 46 (0.74), then 31 of 49 and 28
    // of 52 (0.54), which no error of the estimate takes for a near-duplicate.
    let found = groups((0..300).map(|step| object(step * 3, 40)));
    assert!(found.largest <= 4, "{}", found.largest);
    assert!(found.count < 250, "neighbours are near-duplicates: {}", found.count);
    for (step, &group) in found.of.iter().enumerate() {
        let first = found.of.iter().position(|&of| of == group).unwrap();
        assert!(step - first <= 3, "payload {step} is in the group of {first}");
    }
}

#[test]
fn lines_of_text_that_differ_in_a_word_are_one_group() {
    let line = |user: &str| {
        format!(
            "sshd[24200]: pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 \
             tty=ssh ruser= rhost=static-200-55-94-2.example.net port 41224 ssh2 user={user}"
        )
    };
    let other = "kernel: CPU 0: Intel Pentium III (Coppermine) stepping 06, 512 KB of cache memory";
    let found = groups([line("root"), other.to_owned(), line("guest"), other.to_owned()]);
    assert_eq!(found.of, [0, 1, 0, 1]);
}

#[test]
fn a_json_payload_of_one_long_text_is_compared_by_its_text() {
    let text = |start: usize| {
        let words: Vec<String> = (start..start + 300).map(|word| format!("w{word}")).collect();
        format!(r#"{{"text":"{}"}}"#, words.join(" "))
    };
    assert_eq!(groups([text(0), text(10), text(5_000)]).of, [0, 0, 1]);
}

#[test]
fn tiny_payloads_are_near_duplicates_only_where_all_their_values_are_the_same() {
    let payloads = [
        r#"{"id":1,"on":true}"#,
        r#"{"id":2,"on":true}"#,
        r#"{"on":true,"id":1}"#,
        r#"{"id":"1","on":true}"#,
        "7",
        "[7]",
        "not JSON",
        "not json",
        "",
        "",
    ];
    let found = groups(payloads.map(str::to_owned));
    assert_eq!(found.of, [0, 1, 0, 2, 3, 3, 4, 5, 6, 6]);
    assert_eq!(found.count, 7);
}

#[test]
fn an_empty_corpus_has_no_groups() {
    assert_eq!(near_duplicates(&Corpus::default()), Groups::default());
}
