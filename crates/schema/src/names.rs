//! Names for keys that no language allows, and for types: letters, digits and underscores, none of
//! them twice and none a reserved word.
//!
//! The original key stands in an annotation beside the name, so that nothing here has to be undone.

use std::collections::BTreeSet;

/// The longest name, in bytes: a key may be a sentence.
const NAME_BYTES_MAX: usize = 48;

/// Words that one of the languages, or the code that its compiler generates, has a meaning for.
const RESERVED: &[&str] = &[
    "abstract",
    "alias",
    "and",
    "args",
    "as",
    "assert",
    "async",
    "await",
    "begin",
    "binary",
    "bool",
    "boolean",
    "break",
    "byte",
    "bytes",
    "case",
    "catch",
    "char",
    "class",
    "clone",
    "const",
    "continue",
    "cpp_include",
    "cpp_type",
    "declare",
    "def",
    "default",
    "del",
    "delete",
    "do",
    "double",
    "dynamic",
    "edition",
    "elif",
    "else",
    "elseif",
    "elsif",
    "end",
    "enddeclare",
    "endfor",
    "endforeach",
    "endif",
    "endswitch",
    "endwhile",
    "ensure",
    "enum",
    "eof",
    "error",
    "except",
    "exception",
    "exec",
    "extend",
    "extends",
    "extensions",
    "false",
    "final",
    "finally",
    "fixed",
    "fixed32",
    "fixed64",
    "float",
    "for",
    "foreach",
    "from",
    "function",
    "global",
    "goto",
    "group",
    "i16",
    "i32",
    "i64",
    "i8",
    "if",
    "implements",
    "import",
    "in",
    "include",
    "inline",
    "instanceof",
    "int",
    "int32",
    "int64",
    "interface",
    "is",
    "lambda",
    "list",
    "long",
    "map",
    "max",
    "message",
    "module",
    "namespace",
    "native",
    "new",
    "next",
    "nil",
    "none",
    "nonlocal",
    "not",
    "null",
    "oneof",
    "oneway",
    "option",
    "optional",
    "or",
    "package",
    "pass",
    "print",
    "private",
    "protected",
    "public",
    "raise",
    "record",
    "redo",
    "register",
    "repeated",
    "required",
    "rescue",
    "reserved",
    "retry",
    "return",
    "rpc",
    "self",
    "senum",
    "service",
    "set",
    "sfixed32",
    "sfixed64",
    "short",
    "sint32",
    "sint64",
    "sizeof",
    "slist",
    "static",
    "stream",
    "string",
    "struct",
    "super",
    "switch",
    "synchronized",
    "syntax",
    "then",
    "this",
    "throw",
    "throws",
    "to",
    "transient",
    "true",
    "try",
    "typedef",
    "uint32",
    "uint64",
    "undef",
    "union",
    "unless",
    "unset",
    "unsigned",
    "until",
    "use",
    "uuid",
    "var",
    "virtual",
    "void",
    "volatile",
    "when",
    "while",
    "with",
    "xor",
    "xsd_all",
    "xsd_optional",
    "yield",
];

/// Gives out names, each once. Names that differ in case or underscores only are the same to some
/// languages' generated code, and so are they here.
#[derive(Debug, Default)]
pub(crate) struct Namer {
    used: BTreeSet<String>,
}

impl Namer {
    pub(crate) fn new() -> Namer {
        Namer::default()
    }

    /// Takes a name out of use.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.used.insert(folded(name));
    }

    /// The name of a field: the key itself where that is a name.
    pub(crate) fn field_name(&mut self, key: &str) -> String {
        let mut name = mangled(key);
        if is_reserved(&name) {
            name.push('_');
        }
        self.free(name)
    }

    /// The name of a type, for what stands under a key.
    pub(crate) fn type_name(&mut self, key: &str) -> String {
        let mut name = String::new();
        for word in mangled(key).split('_').filter(|word| !word.is_empty()) {
            let mut letters = word.chars();
            name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            name.push_str(letters.as_str());
        }
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || is_reserved(&name) {
            name.insert_str(0, "Type");
        }
        self.free(name)
    }

    fn free(&mut self, name: String) -> String {
        if self.used.insert(folded(&name)) {
            return name;
        }
        for number in 2u64.. {
            let numbered = format!("{name}_{number}");
            if self.used.insert(folded(&numbered)) {
                return numbered;
            }
        }
        unreachable!("there are more numbers than names")
    }
}

fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name.to_ascii_lowercase().as_str()).is_ok()
}

/// What generated code may take for one name.
fn folded(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

/// A key as letters, digits and single underscores.
fn mangled(key: &str) -> String {
    let mut name = String::new();
    for c in key.chars() {
        if name.len() >= NAME_BYTES_MAX {
            break;
        }
        match c {
            c if c.is_ascii_alphanumeric() => name.push(c),
            _ if name.is_empty() || name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    if key.starts_with('_') && !name.is_empty() && is_plain(key) {
        return format!("x{}", key.trim_end_matches('_'));
    }
    let name = name.trim_end_matches('_');
    match name.as_bytes().first() {
        None => "x".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("x{name}"),
        _ if is_plain(key) && key.len() <= NAME_BYTES_MAX && !key.ends_with('_') => key.to_owned(),
        _ => name.to_owned(),
    }
}

/// Whether a key is a name as it is.
fn is_plain(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserved_words_are_in_the_order_that_a_search_needs() {
        let mut sorted = RESERVED.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted, RESERVED);
    }

    #[test]
    fn keys_become_names_and_no_name_comes_twice() {
        let mut namer = Namer::new();
        let names: Vec<String> = [
            "id",
            "userId",
            "user_id",
            "user id",
            "user-id",
            "2fa",
            "",
            "_",
            "class",
            "Class",
            "naïve key",
            "日本",
            "_links",
            "a__b",
            "trailing_",
        ]
        .iter()
        .map(|key| namer.field_name(key))
        .collect();
        assert_eq!(
            names,
            [
                "id",
                "userId",
                "user_id_2",
                "user_id_3",
                "user_id_4",
                "x2fa",
                "x",
                "x_2",
                "class_",
                "Class__2",
                "na_ve_key",
                "x_3",
                "x_links",
                "a__b",
                "trailing",
            ]
        );
        assert_eq!(namer.type_name("line_items"), "LineItems");
        assert_eq!(namer.type_name("lineItems"), "LineItems_2");
        assert_eq!(namer.type_name("42"), "X42");
    }
}
