//! What the sidecar knows of commands: one table, from which everything else follows. A command's
//! class says what becomes of its values and of its reply.
//!
//! A command that is not in the table passes where none of its arguments is a key of a namespace,
//! and is refused elsewhere: it may be one that reads inside values.

mod table;

pub use table::COMMANDS;

/// A command.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// Its name, in upper case.
    pub name: &'static str,
    /// What becomes of it.
    pub class: Class,
    /// Whether it needs a connection to the server that no other client uses: it changes or asks
    /// what the server keeps of one, or it may block.
    pub needs_own: bool,
}

/// What becomes of a command. Where keys are spoken of, only those of namespaces count: for all
/// others every command passes byte for byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It passes: it has no value, or one that is never packed (members, elements, numbers).
    Opaque,
    /// It passes, and the sidecar follows what it does to the connection.
    Connection(Connection),
    /// Its values are packed, and its reply is treated as `reply` says.
    Pack {
        /// Where the values are.
        values: Values,
        /// What its reply is.
        reply: Option<Shape>,
    },
    /// Values in its reply are unpacked.
    Unpack(Shape),
    /// It is replaced by one that gets the value, and answered from that.
    Inside(Inside),
    /// It changes a value inside: refused, or done on the payload and stored by compare-and-set.
    Changes {
        /// It only reads, so that nothing need be stored.
        is_only_read: bool,
    },
    /// It takes a value for something else than a payload: refused.
    Refused(Keys),
    /// It moves or copies a value to another key: refused if that is in another namespace.
    Moves,
    /// A script that may do anything: refused unless it is allowed by name.
    Script,
    /// Replication: refused for all keys. Replicas connect directly.
    Replication,
}

/// What a command does to the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// `MULTI`.
    Multi,
    /// `EXEC`.
    Exec,
    /// `DISCARD`.
    Discard,
    /// `WATCH`.
    Watch,
    /// `UNWATCH`.
    Unwatch,
    /// `HELLO`.
    Hello,
    /// `RESET`.
    Reset,
    /// `QUIT`.
    Quit,
    /// `MONITOR`.
    Monitor,
    /// `CLIENT`, of which `CLIENT REPLY` is the sidecar's own.
    Client,
    /// A reply for each channel.
    Subscribe(Channels),
    /// A reply for each channel, or for all that there are.
    Unsubscribe(Channels),
}

/// The kinds of subscriptions, which Redis keeps apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channels {
    /// By name.
    Plain,
    /// By pattern.
    Patterns,
    /// By name, in one shard.
    Sharded,
}

/// Where the values of a command are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// The key is the first argument, the value the one at this index.
    One(usize),
    /// Keys and values alternate from this index on.
    Pairs(usize),
    /// The key is the first argument; fields and values alternate from this index on.
    Fields(usize),
    /// The key is the first argument; fields and values alternate behind `FIELDS` and a number.
    NamedFields,
    /// A number of keys first, then keys and values alternate, then options.
    CountedPairs,
}

/// Where values are in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The reply is one.
    Value,
    /// Every element is one.
    Each,
    /// Every element is one, of the key of the same index.
    EachKey,
    /// Every second element, or the second of each pair, or the values of a map.
    Second,
    /// The second element is an array of which every second element is one.
    Scan,
}

/// A command that reads inside a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    /// `STRLEN`.
    Length,
    /// `HSTRLEN`.
    FieldLength,
    /// `GETRANGE`, `SUBSTR`.
    Range,
    /// `GETBIT`.
    Bit,
    /// `BITCOUNT`.
    BitCount,
    /// `BITPOS`.
    BitPosition,
}

/// Where keys are, for commands of which the sidecar needs no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// The first argument.
    First,
    /// Every argument from this index on may be one.
    From(usize),
}

/// The longest name in the table, in bytes.
const NAME_BYTES_MAX: usize = 32;

/// The command of a name in any case.
pub fn command_named(name: &[u8]) -> Option<&'static Command> {
    let mut upper = [0; NAME_BYTES_MAX];
    let upper = upper.get_mut(..name.len())?;
    upper.copy_from_slice(name);
    upper.make_ascii_uppercase();
    let found = COMMANDS.binary_search_by(|row| row.name.as_bytes().cmp(upper));
    found.ok().map(|index| &COMMANDS[index])
}

impl Class {
    /// What the table of compatibility says of it.
    pub fn meaning(self) -> &'static str {
        match self {
            Class::Opaque => "passes byte for byte",
            Class::Connection(_) => "passes; the sidecar follows it",
            Class::Pack { reply: None, .. } => "values are packed",
            Class::Pack { reply: Some(_), .. } => "values are packed, the old one is unpacked",
            Class::Unpack(_) => "values in the reply are unpacked",
            Class::Inside(Inside::Length) => "answered from the envelope's header",
            Class::Inside(_) => "answered from the payload",
            Class::Changes { is_only_read: true } => "answered from the payload",
            Class::Changes { is_only_read: false } => {
                "refused on keys of a namespace, or done by `change_inside = \"rewrite\"`"
            }
            Class::Refused(_) => "refused on keys of a namespace",
            Class::Moves => "passes within a namespace, refused out of or into one",
            Class::Script => "refused on keys of a namespace, unless allowed by name",
            Class::Replication => "refused: replicas connect directly",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_names_are_found_in_any_case() {
        assert!(COMMANDS.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(COMMANDS.iter().all(|row| row.name.len() <= NAME_BYTES_MAX));
        for row in COMMANDS {
            let lower = row.name.to_lowercase();
            assert_eq!(command_named(lower.as_bytes()).map(|found| found.name), Some(row.name));
        }
        let page = include_str!("../../../spec/redis.md");
        let rows: String = COMMANDS
            .iter()
            .map(|row| format!("| {} | {} |\n", row.name, row.class.meaning()))
            .collect();
        assert!(page.ends_with(&rows), "spec/redis.md is to end with\n{rows}");
        assert!(command_named(b"NO.SUCH").is_none() && command_named(&[b'A'; 100]).is_none());
    }
}
