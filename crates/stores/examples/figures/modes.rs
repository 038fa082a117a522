//! The modes and methods that are compared, as the configuration would say them.
//!
//! Every client here is made of a configuration file's text, so that what is measured is what a
//! user would get.

use std::path::Path;

/// A way to pack: its name, and the line of the configuration.
pub struct Method {
    /// The name in the table.
    pub name: String,
    line: String,
}

/// The published codec, and the profile.
pub fn methods(profile: &Path) -> Vec<Method> {
    vec![published("LZ4_HIGH"), of_profile(profile)]
}

/// The published codecs that the menus were measured with, and the profile.
pub fn menu_methods(profile: &Path) -> Vec<Method> {
    vec![published("SNAPPY"), published("LZ4_FAST"), of_profile(profile)]
}

fn published(name: &str) -> Method {
    Method { name: name.to_owned(), line: format!("compression_codec = {name:?}\n") }
}

fn of_profile(profile: &Path) -> Method {
    // A TOML string quotes as JSON does, for every path that is text.
    let path = serde_json::Value::from(profile.display().to_string());
    Method { name: "profile".to_owned(), line: format!("profile = {path}\n") }
}

/// The text of a configuration in which every key is packed by a method in these modes.
pub fn configuration(method: Option<&Method>, modes: &str) -> String {
    let line = method.map_or("", |method| &method.line);
    format!("[namespaces.all]\nkeys = [\"*\"]\n{line}{modes}")
}

/// The modes of a rollout of two slots, in its order: the published name and the settings.
pub const TWO_SLOTS: &[(&str, &str)] = &[
    ("NO_COMPRESS", "write_mode = \"NO_COMPRESS\"\n"),
    ("DUAL", "write_mode = \"DUAL\"\nread_mode = \"VERIFY_COMPRESS\"\n"),
    ("COMPRESS_ONLY", "write_mode = \"COMPRESS_ONLY\"\nread_mode = \"COMPRESS_ONLY\"\n"),
];

/// Every row of a table of two slots: its name, its method and its settings. Without packing the
/// method does not matter, and one row is enough.
pub fn rows_of_two_slots(methods: &[Method]) -> Vec<(String, &Method, &'static str)> {
    let mut rows = Vec::new();
    for (index, method) in methods.iter().enumerate() {
        for (mode, settings) in TWO_SLOTS {
            match *mode {
                "NO_COMPRESS" if index > 0 => {}
                "NO_COMPRESS" => rows.push(((*mode).to_owned(), method, *settings)),
                mode => rows.push((format!("{mode}, {}", method.name), method, *settings)),
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use cinch_rollout::settings::Sources;

    use super::*;

    #[test]
    fn every_mode_of_a_published_codec_is_a_configuration() {
        let methods = [published("LZ4_HIGH"), published("SNAPPY")];
        let rows = rows_of_two_slots(&methods);
        let names: Vec<&str> = rows.iter().map(|(name, ..)| name.as_str()).collect();
        let expected = [
            "NO_COMPRESS",
            "DUAL, LZ4_HIGH",
            "COMPRESS_ONLY, LZ4_HIGH",
            "DUAL, SNAPPY",
            "COMPRESS_ONLY, SNAPPY",
        ];
        assert_eq!(names, expected);
        for (name, method, settings) in rows {
            let text = configuration(Some(method), settings);
            let sources = Sources { text, ..Sources::default() };
            assert!(sources.configuration().is_ok(), "{name}");
        }
    }

    #[test]
    fn a_path_with_quotes_stays_one_text() {
        let method = of_profile(Path::new("a \"b\"\\c.toml"));
        let text = configuration(Some(&method), "write = \"packed\"\n");
        let error = Sources { text, ..Sources::default() }.configuration().unwrap_err();
        assert!(error.to_string().contains("a \"b\"\\c.toml: No such file"), "{error}");
    }
}
