//! What the tiers did, counted without a lock. One list makes the counters
//! and the figures, so that none is forgotten in either.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($name:ident: $meaning:literal,)*) => {
        /// What the tiers did since they were made.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct TieredCounts {
            $(#[doc = $meaning] pub $name: u64,)*
            /// Keys that are being fetched now.
            pub flights: usize,
            /// Callers that wait now.
            pub waiters: usize,
        }

        #[derive(Debug, Default)]
        pub(super) struct Counters {
            $($name: AtomicU64,)*
        }

        impl Counters {
            $(pub(super) fn $name(&self) {
                self.$name.fetch_add(1, Ordering::Relaxed);
            })*

            pub(super) fn now(&self, flights: usize, waiters: usize) -> TieredCounts {
                TieredCounts {
                    $($name: self.$name.load(Ordering::Relaxed),)*
                    flights,
                    waiters,
                }
            }
        }
    };
}

counters! {
    cache_hits: "Reads that the cache answered.",
    cache_misses: "Reads of keys that the cache did not have.",
    cache_stale: "Reads that the cache could have answered only with an older version.",
    cache_unreadable: "Reads of cached values that could not be unpacked.",
    cache_failures: "Calls of the cache that failed; none of them failed a caller.",
    persistent_hits: "Fetches that the persistent copy answered.",
    persistent_lagging: "Fetches that found the persistent copy older than was asked for.",
    persistent_failures: "Calls of the persistent copy that failed.",
    recomputed: "Fetches that called the application's computation.",
}
