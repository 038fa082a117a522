//! The registry of corpus kinds: the one table that the command line, the evaluation and the tests
//! read, so that a new kind is added in one place.

use crate::options::Options;
use crate::payloads::Payloads;
use crate::recipe::OpenRecipe;
use crate::{carts, flights, logs, menus, trips};

/// One kind of corpus that can be generated.
#[derive(Debug)]
pub struct Kind {
    /// The name by which users ask for it.
    pub name: &'static str,
    /// One line that says what a payload of this kind is.
    pub summary: &'static str,
    open: OpenRecipe,
}

/// Every kind, in the order in which they are listed to users.
pub static KINDS: &[Kind] = &[
    Kind {
        name: "carts",
        summary: "shopping carts: a short header and a list of lines with 4 keys, about 1 KB",
        open: carts::open,
    },
    Kind {
        name: "menus",
        summary: "canteen menus: days, dishes, nested prices and labels, about 3 KB",
        open: menus::open,
    },
    Kind {
        name: "trips",
        summary: "taxi trips: 18 flat keys of ids, times and amounts, about 0.4 KB",
        open: trips::open,
    },
    Kind {
        name: "flights",
        summary: "flight search lists: about 180 fares of 7 keys, about 23 KB",
        open: flights::open,
    },
    Kind {
        name: "logs",
        summary: "structured log events: audit records and service lines, about 1.2 KB",
        open: logs::open,
    },
];

/// Finds a kind by its exact name.
pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

impl Kind {
    /// Starts a corpus of this kind; the payloads are made one by one as they are asked for.
    pub fn payloads(&self, options: Options) -> Payloads {
        Payloads::new(self.name, self.open, options)
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, find};
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_is_found_by_its_own_name_only() {
        let names: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), KINDS.len());
        for kind in KINDS {
            assert_eq!(find(kind.name).map(|found| found.name), Some(kind.name));
        }
        assert!(find("Carts").is_none());
        assert!(find("").is_none());
    }
}
