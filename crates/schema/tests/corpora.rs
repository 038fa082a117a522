//! Every corpus gets a schema in all three languages that the language's own compiler takes, and
//! of the payloads that did not teach it each comes back or is refused with the place named.
//!
//! The corpora are generated. With `CINCH_CORPORA=FOLDER` every file of JSON lines in a folder
//! joins them; run with `--nocapture` to see the table.

use std::path::Path;
use std::process::Command;

use cinch_core::document::Document;
use cinch_core::encoding::Parser;
use cinch_core::json;
use cinch_core::schema::Language;
use cinch_generate::{KINDS, Options};
use cinch_schema::{Held, Model, Observations};

/// One payload in so many is held out.
const HELD_OUT_EVERY: usize = 5;

/// From so many payloads on, at most one in a hundred others may be refused.
const TAUGHT_MIN: usize = 1000;

/// The name and payloads of each corpus.
fn corpora() -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for kind in KINDS {
        let options = Options { count: 1500, seed: 7, median_bytes: Some(1000) };
        all.push((kind.name.to_owned(), kind.payloads(options).collect()));
    }
    let folder = std::env::var_os("CINCH_CORPORA");
    for entry in folder.map(|folder| std::fs::read_dir(folder).unwrap()).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "ndjson") {
            let text = std::fs::read_to_string(&path).unwrap();
            let lines = text.lines().filter(|line| !line.is_empty()).map(str::to_owned);
            all.push((path.file_stem().unwrap().to_string_lossy().into_owned(), lines.collect()));
        }
    }
    all.sort();
    all
}

fn compiles(language: Language, folder: &Path, file: &Path) -> bool {
    let mut command = match language {
        Language::Protobuf => {
            let mut protoc = Command::new("protoc");
            protoc.arg("--proto_path").arg(folder).arg("--python_out").arg(folder);
            protoc
        }
        Language::Thrift => {
            let mut thrift = Command::new("thrift");
            thrift.args(["--strict", "--gen", "py", "-o"]).arg(folder);
            thrift
        }
        Language::Avro => {
            let python = std::env::var_os("CINCH_PYTHON").expect(
                "CINCH_PYTHON names no interpreter: run `cargo xtask test`, or make one with the \
                 packages of integration/python/requirements.txt",
            );
            let mut python = Command::new(python);
            let parse = "import fastavro.schema, sys; fastavro.schema.load_schema(sys.argv[1])";
            python.args(["-c", parse]);
            python
        }
    };
    command.arg(file).status().unwrap().success()
}

#[test]
fn every_corpus_gets_schemas_that_compile_and_carry_the_rest_of_it() {
    for (name, payloads) in corpora() {
        let is_held_out = |index: usize| index % HELD_OUT_EVERY == HELD_OUT_EVERY - 1;
        let mut observations = Observations::new();
        let mut document = Document::new();
        for (index, payload) in payloads.iter().enumerate() {
            if !is_held_out(index)
                && json::parse(Parser::Simd, payload.as_bytes(), &mut document).is_ok()
            {
                observations.observe(&document);
            }
        }
        let taught = observations.payloads() as usize;
        let model = Model::of(&observations);
        for language in Language::ALL {
            let text = cinch_schema::write(language, &model, None, false).unwrap().text;
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(format!("schema.{}", language.extension()));
            std::fs::write(&file, &text).unwrap();
            assert!(compiles(language, folder.path(), &file), "{name} in {}", language.name());
            let schema = cinch_schema::read(language, text.as_bytes()).unwrap();
            let held_out = || {
                let all = payloads.iter().enumerate().filter(|(index, _)| is_held_out(*index));
                all.map(|(_, payload)| payload.as_bytes())
            };
            for held in cinch_schema::try_on(&schema, held_out) {
                let Held { encoding, payloads, refused, outside, bytes_in, bytes_out, .. } = held;
                println!(
                    "{name:26} {encoding:14} {taught:6} taught {payloads:6} held out {refused:4} \
                     refused {outside:5} partly outside {:5.1} % of the bytes {}",
                    100.0 * bytes_out as f64 / bytes_in.max(1) as f64,
                    held.first_refusal.as_deref().unwrap_or_default(),
                );
                assert_eq!(held.failure, None, "{name} {encoding}");
                let names_a_place = |why: &str| why.contains("the value at $");
                assert!(held.first_refusal.as_deref().is_none_or(names_a_place), "{name}");
                assert!(taught < TAUGHT_MIN || refused * 100 < payloads, "{name} {encoding}");
            }
        }
    }
}
