//! Where a setting stands in the file, so that an error that is no matter of syntax (a pair of
//! modes that don't go together, a profile that isn't there) shows its line all the same.

use toml::de::{DeTable, DeValue};

/// The line of a setting, counted from 1; that of its table where the setting itself is not there.
pub(super) fn line_of(text: &str, path: &[&str]) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let mut offset = None;
    let mut found: &DeTable = table.get_ref();
    for (index, name) in path.iter().enumerate() {
        let Some((key, value)) = found.iter().find(|(key, _)| key.get_ref() == name) else { break };
        offset = Some(key.span().start);
        match value.get_ref() {
            DeValue::Table(table) if index + 1 < path.len() => found = table,
            _ => break,
        }
    }
    let before = text.get(..offset?)?;
    Some(before.bytes().filter(|byte| *byte == b'\n').count() + 1)
}

/// A line with its number, as errors show it.
pub(super) fn shown(text: &str, line: usize) -> String {
    let content = text.lines().nth(line - 1).unwrap_or_default();
    format!("{line} | {}", content.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_and_its_table_have_lines() {
        let text = "process = \"a\"\n\n[namespaces.carts]\nkeys = []\nwrite_mode = \"DUAL\"\n";
        assert_eq!(line_of(text, &["namespaces", "carts", "write_mode"]), Some(5));
        assert_eq!(line_of(text, &["namespaces", "carts", "profile"]), Some(3));
        assert_eq!(line_of(text, &["nowhere"]), None);
        assert_eq!(shown(text, 5), "5 | write_mode = \"DUAL\"");
    }
}
