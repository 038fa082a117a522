//! The libraries that the formats' own projects publish read what we encode, and we read what they
//! write of it: the same values, in whatever order they put fields.
//!
//! The schemas are compiled by protoc and thrift on the way. Payloads are generated, with a few
//! that have what is hard: names that no language allows, values of several kinds, what has no
//! place. With `CINCH_CORPORA=FOLDER` a part of every file of JSON lines in a folder joins them,
//! and with `CINCH_CORPORA_PAYLOADS=N` a part of so many payloads. Run with `--nocapture` to see
//! what was tried.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use cinch_core::document::Document;
use cinch_core::encoding::{
    DocumentEncoding, ENCODINGS, Engine, Parser, WithSchema, encoding_named,
};
use cinch_core::json;
use cinch_core::schema::{Language, Schema};
use cinch_generate::Options;
use cinch_schema::{Model, Observations};
use serde_json::Value;

/// Payloads whose shapes are hard to say in one of the languages.
const HARD: &[&str] = &[
    r#"{"class":1,"user-id":"a","userId":2,"user_id":3,"":4,"日本":5,"@type":"x","a@null":null}"#,
    r#"{"class":"text","user-id":null,"userId":[],"user_id":{},"":[1,"two",null,{"k":[[]]}]}"#,
    r#"{"class":1.5,"deep":{"deep":{"deep":{"x":1}}},"big":12345678901234567890,"e":1e400}"#,
    r#"{"by day":{"2026-01-01":1,"2026-01-02":2,"2026-01-03":3},"list":[[1,2],[],[3.5]]}"#,
    r#"{"by day":{"2026-02-01":1,"2026-02-02":null},"list":[],"empty":[],"nothing":null,"o":{}}"#,
    r#"{"class":true,"deep":{"deep":null},"big":-1,"e":0,"namespace":"n","message":{"oneof":1}}"#,
];

/// Payloads that the schema of the hard ones has no place for, in part.
const UNSEEN: &[&str] = &[
    r#"{"class":[1],"new":{"a":1},"deep":5,"user_id":"three"}"#,
    r#"{"o":{"b":2},"list":["x"],"big":"none","":false,"class":1}"#,
];

/// How many payloads of a file are tried, unless told; four times as many teach the schema.
const OF_A_FILE: usize = 60;

fn of_a_file() -> usize {
    let told = std::env::var("CINCH_CORPORA_PAYLOADS").ok();
    told.map_or(OF_A_FILE, |told| told.parse().unwrap())
}

/// By their kind, payloads that teach the schema and payloads that are encoded.
fn payloads() -> BTreeMap<String, (Vec<String>, Vec<String>)> {
    let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let mut all = BTreeMap::new();
    all.insert("hard".to_owned(), (own(HARD), [own(HARD), own(UNSEEN)].concat()));
    for kind in ["carts", "menus", "trips", "flights", "logs"] {
        let of = cinch_generate::find(kind).unwrap();
        let options = |seed| Options { count: 60, seed, median_bytes: None };
        let made = |seed| of.payloads(options(seed)).collect();
        all.insert(kind.to_owned(), (made(1), made(2)));
    }
    let folder = std::env::var_os("CINCH_CORPORA");
    for entry in folder.map(|folder| std::fs::read_dir(folder).unwrap()).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "ndjson") {
            let kind = path.file_stem().unwrap().to_string_lossy().into_owned();
            all.insert(kind, of_file(&std::fs::read_to_string(&path).unwrap()));
        }
    }
    all
}

/// Payloads from everywhere in a file, one a line.
fn of_file(text: &str) -> (Vec<String>, Vec<String>) {
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let step = lines.len().div_ceil(5 * of_a_file()).max(1);
    let taken = lines.iter().step_by(step).enumerate();
    let (held_out, training): (Vec<_>, Vec<_>) = taken.partition(|(index, _)| index % 5 == 4);
    let texts = |found: Vec<(usize, &&str)>| {
        found.into_iter().map(|(_, line)| (*line).to_owned()).collect()
    };
    (texts(training), texts(held_out))
}

fn document(text: &str) -> Document {
    let mut document = Document::new();
    json::parse(Parser::Simd, text.as_bytes(), &mut document).unwrap();
    document
}

/// A value without the order of keys; numbers as doubles.
fn unordered(document: &Document) -> Value {
    fn plain(value: Value) -> Value {
        match value {
            Value::Number(number) => Value::from(number.as_f64()),
            Value::Array(all) => all.into_iter().map(plain).collect(),
            Value::Object(all) => all.into_iter().map(|(key, value)| (key, plain(value))).collect(),
            other => other,
        }
    }
    let mut text = Vec::new();
    json::write(document, &mut text);
    // No double holds 1e400; any text will do for it here.
    let text = String::from_utf8(text).unwrap().replace("1e400", "\"1e400\"");
    plain(serde_json::from_str(&text).unwrap())
}

/// Payloads of one kind in one encoding.
struct Case {
    kind: String,
    name: &'static str,
    /// The schema; FlexBuffers and Ion need none.
    schema: Option<Arc<Schema>>,
    coder: Coder,
    taken: Vec<Document>,
    encoded: Vec<Vec<u8>>,
}

enum Coder {
    Plain(&'static dyn DocumentEncoding),
    WithSchema(Box<dyn WithSchema>),
}

impl Coder {
    fn encoding(&self) -> &dyn DocumentEncoding {
        match self {
            Coder::Plain(coder) => *coder,
            Coder::WithSchema(coder) => coder.as_ref(),
        }
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, (training, held_out)) in payloads() {
        let mut observations = Observations::new();
        training.iter().for_each(|text| observations.observe(&document(text)));
        let model = Model::of(&observations);
        for language in Language::ALL {
            let written = cinch_schema::write(language, &model, None, false).unwrap();
            let schema = cinch_schema::read(language, written.text.as_bytes())
                .unwrap_or_else(|error| panic!("{kind}: {error}\n{}", written.text));
            for row in ENCODINGS {
                if let Ok(Some(coder)) = row.with_schema(Some(&schema)) {
                    let schema = Some(Arc::clone(&schema));
                    let coder = Coder::WithSchema(coder);
                    cases.push(Case::new(&kind, row.name, schema, coder, &held_out));
                }
            }
        }
        for name in ["flexbuffers", "ion"] {
            let Engine::Document(coder) = encoding_named(name).unwrap().engine else {
                panic!("{name} needs a schema")
            };
            // Python's package takes keys of FlexBuffers for ASCII.
            let mut held_out = held_out.clone();
            held_out.retain(|text| name != "flexbuffers" || text.is_ascii());
            cases.push(Case::new(&kind, name, None, Coder::Plain(coder), &held_out));
        }
    }
    cases
}

impl Case {
    fn new(
        kind: &str,
        name: &'static str,
        schema: Option<Arc<Schema>>,
        coder: Coder,
        payloads: &[String],
    ) -> Case {
        let (mut taken, mut encoded) = (Vec::new(), Vec::new());
        for text in payloads {
            let mut bytes = Vec::new();
            if coder.encoding().encode(&document(text), &mut bytes).is_ok() {
                taken.push(document(text));
                encoded.push(bytes);
            }
        }
        let refused = payloads.len() - taken.len();
        assert!(refused * 10 < payloads.len() + 10, "{kind} {name}");
        Case { kind: kind.to_owned(), name, schema, coder, taken, encoded }
    }

    /// Whether what another library wrote of the payloads is read as the same values.
    fn check(&self, again: &[Vec<u8>]) {
        let what = format!("{} {}", self.kind, self.name);
        assert_eq!(again.len(), self.taken.len(), "{what}");
        for (before, bytes) in self.taken.iter().zip(again) {
            let mut after = Document::new();
            let read = self.coder.encoding().decode(bytes, &mut after);
            read.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(unordered(&after), unordered(before), "{what}");
        }
    }

    fn root_name(&self) -> String {
        let plan = self.schema.as_ref().and_then(|schema| schema.plan().tagged());
        plan.map(|plan| plan.records()[plan.root()].name.clone()).unwrap_or_default()
    }

    /// Writes the schema's file, if there is one, into a folder.
    fn write_schema(&self, folder: &Path) -> PathBuf {
        let Some(schema) = &self.schema else { return PathBuf::new() };
        std::fs::create_dir_all(folder).unwrap();
        let file = folder.join(format!("schema.{}", schema.language().extension()));
        std::fs::write(&file, schema.bytes()).unwrap();
        file
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Gives a program lines and reads its own, which are bytes in hexadecimal.
fn answers(command: &mut Command, lines: String) -> Vec<Vec<u8>> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{command:?}: {}", output.status);
    let bytes = |line: &str| {
        let digits = line.as_bytes().chunks(2);
        digits.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
    };
    // Maven resets the colours of a terminal that is none.
    let text = String::from_utf8(output.stdout).unwrap().replace("\u{1b}[0m", "");
    text.lines().map(bytes).collect()
}

fn python() -> Command {
    Command::new(std::env::var_os("CINCH_PYTHON").expect(
        "CINCH_PYTHON names no interpreter: run `cargo xtask test`, or make one with the packages \
         of integration/python/requirements.txt",
    ))
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

#[test]
fn official_libraries_read_ours_and_we_read_theirs() {
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        let file = case.write_schema(folder.path());
        let mut command = python();
        command.arg(tests().join("official.py")).arg(case.name).arg(&file);
        command.arg(case.root_name()).arg(folder.path());
        let lines = case.encoded.iter().map(|bytes| hex(bytes) + "\n").collect();
        case.check(&answers(&mut command, lines));
        println!("{} {}: {} agree", case.kind, case.name, case.taken.len());
    }
}

#[test]
fn java_reads_ours_and_we_read_what_it_writes() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    for file in ["pom.xml", "src/main/java/SchemaReaders.java"] {
        let to = project.join(file);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(tests().join("java").join(file), to).unwrap();
    }
    let cases = cases();
    let mut lines = String::new();
    for (index, case) in cases.iter().enumerate() {
        let of_case = folder.path().join(index.to_string());
        let mut file = case.write_schema(&of_case);
        if case.name == "protobuf" {
            let compiled = of_case.join("schema.bin");
            let mut protoc = Command::new("protoc");
            protoc.arg("--proto_path").arg(&of_case).arg("--descriptor_set_out").arg(&compiled);
            assert!(protoc.arg(&file).status().unwrap().success(), "{}", case.kind);
            file = compiled;
        }
        let (file, root) = (file.display().to_string(), case.root_name());
        for bytes in &case.encoded {
            lines += &format!("{}\t{file}\t{root}\t{}\n", case.name, hex(bytes));
        }
    }
    let mut maven = Command::new("mvn");
    maven.args(["-q", "-B", "compile", "exec:java"]).current_dir(&project);
    let mut again = answers(&mut maven, lines).into_iter();
    for case in &cases {
        case.check(&again.by_ref().take(case.encoded.len()).collect::<Vec<_>>());
        println!("{} {}: {} agree in Java", case.kind, case.name, case.taken.len());
    }
}
