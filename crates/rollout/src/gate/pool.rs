//! Contexts for many threads: taken for one call, given back after it, without a lock.
//!
//! A context costs up to a few hundred kilobytes and microseconds to make, so it is kept; how many
//! are kept is bounded, and one more caller than that makes one for its call.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crossbeam_queue::ArrayQueue;

use super::tools::Tools;
use crate::settings::Namespace;

/// How many sets of contexts a namespace keeps.
const KEPT_MAX: usize = 64;

/// The kept contexts of a namespace.
pub(super) struct Pool {
    namespace: Arc<Namespace>,
    kept: ArrayQueue<Box<Tools>>,
}

/// A set of contexts that goes back to its pool.
pub(super) struct Taken<'p> {
    pool: &'p Pool,
    tools: Option<Box<Tools>>,
}

impl Pool {
    pub(super) fn new(namespace: Arc<Namespace>) -> Pool {
        Pool { namespace, kept: ArrayQueue::new(KEPT_MAX) }
    }

    pub(super) fn take(&self) -> Taken<'_> {
        let tools = self.kept.pop();
        let tools = tools.unwrap_or_else(|| Box::new(Tools::new(Arc::clone(&self.namespace))));
        Taken { pool: self, tools: Some(tools) }
    }
}

impl Deref for Taken<'_> {
    type Target = Tools;

    fn deref(&self) -> &Tools {
        self.tools.as_ref().expect("they are there until they are dropped")
    }
}

impl DerefMut for Taken<'_> {
    fn deref_mut(&mut self) -> &mut Tools {
        self.tools.as_mut().expect("they are there until they are dropped")
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(tools) = self.tools.take() {
            // A full pool keeps what it has: this set was one too many.
            let _ = self.pool.kept.push(tools);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Sources;

    #[test]
    fn of_many_contexts_that_were_in_use_at_once_few_are_kept() {
        let text = "[namespaces.carts]\nkeys = [\"*\"]\n".to_owned();
        let configuration = Sources { text, ..Sources::default() }.configuration().unwrap();
        let pool = Pool::new(Arc::clone(&configuration.namespaces["carts"]));
        let in_use: Vec<Taken<'_>> = (0..4 * KEPT_MAX).map(|_| pool.take()).collect();
        assert_eq!(pool.kept.len(), 0);
        drop(in_use);
        assert_eq!(pool.kept.len(), 64);
    }
}
