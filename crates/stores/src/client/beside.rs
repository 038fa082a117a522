//! Large payloads are packed and unpacked beside the threads that serve calls.
//!
//! A payload of megabytes takes a codec tens of milliseconds, in which a thread that runs other
//! calls too would answer none of them. The pool is that of the runtime; how many large payloads
//! are worked on at a time is bounded, and a caller that finds no place waits as it would for a
//! processor. Without a runtime there is nobody to be kept waiting, and the work is done at once.

use std::panic::resume_unwind;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use cinch_core::envelope::{Header, looks_like_envelope};
use cinch_core::pack::looks_like_interop;
use cinch_rollout::Record;
use cinch_rollout::modes::SingleWrite;
use cinch_rollout::policy::Plan;
use cinch_rollout::settings::Namespace;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// Payloads of at least this many bytes are packed and unpacked beside the caller's thread unless
/// the application says otherwise. The way to another thread and back takes some tens of
/// microseconds and one copy, which is little against the milliseconds that so many bytes take.
pub const BESIDE_BYTES_DEFAULT: usize = 1 << 20;

/// One place for each processor: more at a time would finish none of them sooner, and each holds
/// a set of contexts and two copies of its payload.
static PLACES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, usize::from);
    Arc::new(Semaphore::new(processors))
});

/// Does the work on a thread where it keeps nobody waiting; `None` where the runtime ends first.
pub(super) async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    if Handle::try_current().is_err() {
        return Some(work());
    }
    let place = Arc::clone(&PLACES).acquire_owned().await.ok()?;
    // A caller that gives up does not end the work, which keeps its place until it is done.
    let task = tokio::task::spawn_blocking(move || {
        let _place = place;
        work()
    });
    match task.await {
        Ok(done) => Some(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => None,
        },
    }
}

/// Whether a write under this plan packs anything.
pub(super) fn packs(plan: &Plan) -> bool {
    match plan {
        Plan::Two(plan) => plan.write.writes_packed(),
        Plan::One(plan) => plan.write != SingleWrite::Plain,
    }
}

/// How many bytes a read may have to unpack, by what the record says of itself: 0 where there is
/// nothing to unpack.
pub(super) fn unpacked_bytes(namespace: &Namespace, record: &Record) -> usize {
    if let Some(packed) = &record.packed {
        let announced = usize::try_from(packed.metadata.uncompressed_size).unwrap_or(usize::MAX);
        return announced.max(packed.bytes.len());
    }
    let Some(value) = &record.raw else { return 0 };
    if looks_like_envelope(value) {
        let announced = Header::read(value).map_or(0, |(header, _)| header.payload_bytes);
        return value.len().max(usize::try_from(announced).unwrap_or(usize::MAX));
    }
    // A frame or a format of another tool does not say how long its content is.
    let may_unpack = looks_like_interop(value) || !namespace.foreign_formats.is_empty();
    if may_unpack { value.len() } else { 0 }
}
