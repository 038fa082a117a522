//! What an evaluation recommended stays recommended while it is tied with the best: the records in
//! the folder for state, seen from outside.
//!
//! The goal is `smallest` on levels that lie close together, so that which trials are tied is the
//! same in every run and only the record can change the choice.

use cinch_integration::{Cinch, Folder, cinch, small_carts};
use serde_json::Value;

/// A run on a file, with its records in this folder.
fn run(file: &str, state: &Folder) -> Cinch {
    let quick = ["--goal", "smallest", "--encodings", "verbatim", "--no-dictionary"];
    let codecs = ["--codecs", "lz4:1,zstd:9,zstd:12,zstd:13", "--time", "1s"];
    cinch(["evaluate", file, "--progress", "never", "--json", "-"])
        .and(quick)
        .and(codecs)
        .remembering(state.path())
}

fn found(run: Cinch) -> Value {
    run.run().quiet().json()
}

fn reasons(found: &Value) -> String {
    found["recommended"]["reasons"].to_string()
}

/// The one record in the folder, as path and text.
fn record(state: &Folder) -> (String, String) {
    let records = state.names_in("cinch/evaluations");
    let [name] = &records[..] else { panic!("one record was expected: {records:?}") };
    let path = format!("cinch/evaluations/{name}");
    let text = state.read_text(&path);
    (path, text)
}

#[test]
fn a_recommendation_stays_while_it_is_tied_and_changes_when_it_has_lost() {
    let (folder, state) = (Folder::new(), Folder::new());
    let file = folder.write("carts.ndjson", small_carts(300, 1));
    let first = found(run(&file, &state));
    assert!(first["recommended"]["remembered"].is_null());
    let name = first["recommended"]["name"].as_str().unwrap();
    let tied = first["recommended"]["ties"][0].as_str().expect("two levels are tied");
    let (path, text) = record(&state);
    let recommended = format!("\"recommended\": \"{name}\"");
    assert!(text.contains(&recommended), "{text}");

    // As if the other one had been recommended then.
    let other = text.replace(&recommended, &format!("\"recommended\": \"{tied}\""));
    state.write(&path, &other);
    let kept = found(run(&file, &state));
    assert_eq!(kept["recommended"]["name"], tied);
    let remembered = &kept["recommended"]["remembered"];
    assert_eq!((&remembered["is_kept"], &remembered["anew"]), (&true.into(), &name.into()));
    let at = remembered["at"].as_str().unwrap();
    assert!(text.contains(at), "{at} is no time of {text}");
    assert!(reasons(&kept).contains("still in the tie"), "{}", reasons(&kept));

    // Other payloads, another goal and another seed are other questions.
    let more = folder.write("more.ndjson", small_carts(301, 1));
    for run in [run(&more, &state), run(&file, &state).and(["--seed", "2"])] {
        assert!(found(run)["recommended"]["remembered"].is_null());
    }

    let forgotten = found(run(&file, &state).and(["--forget"]));
    assert_eq!(forgotten["recommended"]["name"], name);
    assert!(forgotten["recommended"]["remembered"].is_null());
    assert!(state.read_text(&path).contains(&recommended), "it was replaced");

    // What was recommended then has lost, and who reads the report learns by how much.
    state.write(&path, text.replace(name, "verbatim+lz4:1"));
    let changed = found(run(&file, &state));
    assert_eq!(changed["recommended"]["name"], name);
    let remembered = &changed["recommended"]["remembered"];
    assert_eq!(remembered["is_kept"], false);
    assert!(remembered["behind"].as_f64().unwrap() > 0.02, "{remembered}");
    assert!(reasons(&changed).contains("verbatim+lz4:1, which was recommended then, is now"));
    assert!(state.read_text(&path).contains(&recommended));
}

#[test]
fn a_damaged_record_is_replaced_and_a_folder_that_takes_none_costs_a_notice() {
    let (folder, state) = (Folder::new(), Folder::new());
    let file = folder.write("carts.ndjson", small_carts(100, 1));
    let first = found(run(&file, &state));
    let (path, text) = record(&state);
    state.write(&path, &text[..text.len() / 2]);
    let again = found(run(&file, &state));
    assert_eq!(again["recommended"]["name"], first["recommended"]["name"]);
    assert!(again["recommended"]["remembered"].is_null());
    assert!(again["run"]["notices"].to_string().contains("no record of an evaluation"));
    assert!(found(run(&file, &state))["recommended"]["remembered"]["is_kept"] == true);

    // A file where the folder should be stops root too, whom permissions do not.
    let blocked = Folder::new();
    blocked.write("cinch", "");
    let found = found(run(&file, &blocked));
    assert_eq!(found["recommended"]["name"], first["recommended"]["name"]);
    assert!(found["run"]["notices"].to_string().contains("can't be remembered"));
}
