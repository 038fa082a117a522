//! Schema files as profiles and envelopes name them: by the SHA-256 of the file. Another file under
//! the name, none, and an envelope that names one that nobody has are told in one line each.
//!
//! The profile is written by hand here, as somebody does who reads the specification.

use cinch_integration::{Folder, cinch, generated};

/// The SHA-256 of a file, by the program that everybody has.
fn sha256(path: &str) -> String {
    let output = std::process::Command::new("sha256sum").arg(path).output().unwrap();
    let line = String::from_utf8(output.stdout).unwrap();
    line.split(' ').next().unwrap().to_owned()
}

/// Trips, their schema in a language, and a profile that names it.
struct Case {
    folder: Folder,
    profile: String,
    schema: String,
    trips: String,
}

impl Case {
    fn new(encoding: &str, ending: &str) -> Case {
        let folder = Folder::new();
        let trips = folder.write("trips.ndjson", generated("trips", 40));
        let schema = folder.at(&format!("trips.{ending}"));
        cinch(["schema", &trips, "--out", &schema]).run().code(0);
        let hash = sha256(&schema);
        let profile = folder.write(
            "profile.toml",
            format!(
                "[profile]\nencoding = \"{encoding}\"\ncodec = \"zstd\"\n\
                 schema = \"trips.{ending}\"\nschema_sha256 = \"{hash}\"\n"
            ),
        );
        Case { folder, profile, schema, trips }
    }

    fn pack(&self, to: &str) -> cinch_integration::Ran {
        cinch(["pack", "--records", "--profile", &self.profile, &self.trips, "-o", to]).run()
    }
}

const LANGUAGES: [(&str, &str); 4] = [
    ("protobuf", "proto"),
    ("thrift-binary", "thrift"),
    ("thrift-compact", "thrift"),
    ("avro", "avsc"),
];

#[test]
fn a_profile_takes_its_own_schema_and_says_so_when_it_is_another_or_gone() {
    for (encoding, ending) in LANGUAGES {
        let case = Case::new(encoding, ending);
        let packed = case.folder.at("packed");
        case.pack(&packed).code(0);
        let profile = case.profile.as_str();
        let records = std::fs::read(&packed).unwrap();
        let unpack =
            || cinch(["unpack", "--records", "--profile", profile]).input(records.clone()).run();
        assert_eq!(unpack().code(0).text().lines().count(), 40, "{encoding}");

        // The same schema with one more line at its end is another file.
        let own = std::fs::read_to_string(&case.schema).unwrap();
        std::fs::write(&case.schema, format!("{own}\n")).unwrap();
        let found = sha256(&case.schema);
        let name = format!("the schema trips.{ending}");
        let words = ["profile.toml", &name, "is another than the profile names", &found];
        case.pack(&case.folder.at("again")).refused(1, &words);
        unpack().refused(1, &words);

        std::fs::remove_file(&case.schema).unwrap();
        case.pack(&case.folder.at("again")).refused(1, &[&case.schema, "No such file"]);
        unpack().refused(1, &[&case.schema, "No such file"]);
    }
}

#[test]
fn an_envelope_whose_schema_nobody_has_is_told_and_nothing_is_handed_out() {
    for (encoding, ending) in LANGUAGES {
        let case = Case::new(encoding, ending);
        let packed = case.folder.at("packed");
        case.pack(&packed).code(0);
        let records = std::fs::read(&packed).unwrap();
        let unpack = |more: &[&str]| {
            let arguments = ["unpack", "--records"].into_iter().chain(more.iter().copied());
            cinch(arguments).input(records.clone()).run()
        };
        let words = ["schema", "--schema"];
        unpack(&[]).refused(1, &words);
        // A schema of the same language that another corpus taught.
        let carts = case.folder.write("carts.ndjson", generated("carts", 40));
        let other = case.folder.at(&format!("carts.{ending}"));
        cinch(["schema", &carts, "--out", &other]).run().code(0);
        unpack(&["--schema", &other]).refused(1, &words);
        assert_eq!(unpack(&["--schema", &case.schema]).code(0).text().lines().count(), 40);
    }
}
