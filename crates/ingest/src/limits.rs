//! Every limit of the ingress, in one place, so that a reader can see what hostile input may cost.
//! All of them are this implementation's choice; the formats' own limits are in spec/ingest.md.
//!
//! What depends on the memory budget is carved from it in `budget.rs`.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Raises the number of files that this process may open as far as it may itself: the usual 1,024
/// are fewer than connections.
pub fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where it fails, connections wait when the files are used up, and the operator is told.
    let _raised = setrlimit(Resource::Nofile, limit);
}

/// The bytes of one chunk: what a reader hands to a worker at once, filled by one or more reads.
/// Four reads of 64 KiB cost one hand-over, and a chunk still fits a processor's own cache.
pub const CHUNK_BYTES: usize = 256 << 10;

/// The most bytes that one connection may hand over in one turn of its reader, so that no
/// connection waits for another one's flood. Larger reads were no faster (research/ingress.md).
pub const READ_BYTES_MAX: usize = 64 << 10;

/// A chunk with less room than this is handed over: small reads cost as much as large ones.
pub const READ_BYTES_MIN: usize = 16 << 10;

/// The longest record, in bytes, unless the listener says otherwise.
pub const RECORD_BYTES_MAX: usize = 256 << 10;

/// The text of a batch is compressed when it reaches this many bytes, unless the pool says
/// otherwise: the article's 160K, where zstd's ratio and speed level off.
pub const BATCH_BYTES: usize = 160 << 10;

/// The largest batch that a pool may ask for, in bytes. It bounds what a reader of the files
/// allocates for one batch.
pub const BATCH_BYTES_MAX: usize = 4 << 20;

/// The level of zstd for what came faster than it could be compressed and waits on disk: on logs it
/// takes less than half the time of level 1 (`cargo xtask bench ingest --steps blocks` says how
/// much), and several times its room.
pub const HURRIED_LEVEL: i32 = -50;

/// The longest text that is tried as columns, in bytes: each worker needs about ten times as much
/// for that. Only chunks that clients sent whole make longer batches than a pool may ask for.
pub const COLUMNS_TEXT_BYTES_MAX: usize = 2 * BATCH_BYTES_MAX;

/// The longest that a record waits for its batch to fill, in milliseconds, unless its pool says
/// otherwise.
pub const LINGER_MS: u64 = 200;

/// The memory budget unless the configuration says otherwise, in bytes.
pub const MEMORY_BYTES: usize = 256 << 20;

/// The smallest memory budget, in bytes: below it the carved parts would hold less than one chunk
/// and one batch for each worker.
pub const MEMORY_BYTES_MIN: usize = 16 << 20;

/// The most connections of a listener unless it says otherwise.
pub const CONNECTIONS_MAX: usize = 20_000;

/// The most connections that are accepted in one turn, so that a storm of them does not keep the
/// reader from those that it has.
pub const ACCEPTS_PER_TURN: usize = 64;

/// The most pools. A label is the client's text, and each pool costs counters, files and a batch.
pub const POOLS_MAX: usize = 4_096;

/// The longest name of a pool, in bytes; it becomes the name of a folder.
pub const POOL_NAME_BYTES_MAX: usize = 127;

/// The most readers and the most workers.
pub const THREADS_MAX: usize = 256;

/// The most files that the filer holds open. The one that was written longest ago is closed first.
pub const OPEN_FILES_MAX: usize = 512;

/// The most answers that wait for a connection that does not take them, in bytes. Then the
/// connection is closed.
pub const OUTBOX_BYTES_MAX: usize = 64 << 10;

/// The largest head of a batch that is read back, in bytes.
pub const HEAD_BYTES_MAX: usize = 16 << 20;

/// The longest configuration file, in bytes.
pub const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// The longest batch of a native client, compressed and not, in bytes. A part of one is kept until
/// it is whole, so this is smaller than what the protocol allows.
pub const NATIVE_BATCH_BYTES_MAX: u32 = 256 << 10;

/// The most native clients whose last acknowledged batch is known.
pub const CLIENTS_KNOWN_MAX: usize = 65_536;

/// The longest message of the forward protocol, in bytes: Fluent Bit's chunks have about 2 MiB.
pub const FORWARD_MESSAGE_BYTES_MAX: usize = 3 << 20;

/// The longest chunk of the forward protocol after decompression, in bytes.
pub const FORWARD_PLAIN_BYTES_MAX: usize = 4 << 20;

/// The longest text of a batch, in bytes. A chunk of the forward protocol is kept whole, and its
/// JSON can be several times as long.
pub const TEXT_BYTES_MAX: usize = 64 << 20;

/// The longest head of an HTTP request, in bytes.
pub const HTTP_HEAD_BYTES_MAX: usize = 16 << 10;

/// The most headers of an HTTP request.
pub const HTTP_HEADERS_MAX: usize = 64;

/// The longest body of an HTTP request, in bytes, as it came and decompressed.
pub const HTTP_BODY_BYTES_MAX: usize = 4 << 20;

/// The longest datagram, in bytes, which is also the longest record of one: the most that UDP over
/// IPv4 holds is 65,507.
pub const DATAGRAM_BYTES_MAX: usize = 64 << 10;

/// The most datagrams that are taken in one turn of a reader, so that a storm of them does not keep
/// it from its connections.
pub const DATAGRAMS_PER_TURN: usize = 256;

/// The most senders of datagrams of one listener that are told apart at a time.
pub const DATAGRAM_SENDERS_MAX: usize = 4_096;

/// What the system is asked to keep of datagrams that were not read yet, in bytes. It grants less
/// where `net.core.rmem_max` is lower, and counts what it had no room for.
pub const DATAGRAM_BUFFER_BYTES: usize = 4 << 20;

/// How long a client may take for its TLS handshake, in seconds. Then it is closed and counted.
pub const HANDSHAKE_S: u64 = 10;

/// How long what a refused HTTP client still sends is thrown away, in seconds. A close with bytes
/// that were not read would take the answer away before the client has seen it.
pub const DISCARD_S: u64 = 2;

/// How long an HTTP connection may be idle, in seconds.
pub const HTTP_IDLE_S: u64 = 75;

/// The most requests of an HTTP connection that wait for their answer. Further ones are told to
/// come again, and nothing of them is kept.
pub const HTTP_PIPELINED_MAX: usize = 64;

/// The longest answer to an HTTP request, in bytes: Elasticsearch's bulk form answers each item.
pub const HTTP_ANSWER_BYTES_MAX: usize = 8 << 20;

/// The most items of a request in Elasticsearch's bulk form: each is answered.
pub const BULK_ITEMS_MAX: usize = 16_384;

/// The longest name of an index in the path of a bulk request, in bytes, as Elasticsearch has it:
/// the answer repeats it for each item.
pub const BULK_INDEX_BYTES_MAX: usize = 255;

/// What one gRPC call may have under way that was not passed on, in bytes: its flow-control window.
pub const GRPC_WINDOW_BYTES: u32 = 64 << 10;

/// The most calls of a gRPC connection at a time. One call is passed on at a time; the windows of
/// the others must not take the room of its own, so the connection has the windows of all.
pub const GRPC_CALLS_MAX: u32 = 16;

/// The most bytes of the headers of a gRPC call.
pub const GRPC_HEADERS_BYTES_MAX: u32 = 16 << 10;

/// How long a gRPC client may take to send a message, in seconds.
pub const GRPC_CALL_S: u64 = 60;

/// An object of a bucket is written when it has this many bytes, unless the sink says otherwise.
/// It is put whole: a request that fails leaves nothing, where an upload in parts leaves parts.
pub const OBJECT_BYTES: usize = 8 << 20;

/// The largest object that a sink may ask for, in bytes. It waits in the ring until it is whole.
pub const OBJECT_BYTES_MAX: usize = 256 << 20;

/// An object is written when its oldest batch has waited so long, in seconds, unless the sink says
/// otherwise.
pub const OBJECT_S: u64 = 10;

/// The longest that a sink may let batches wait for their object, in seconds.
pub const OBJECT_S_MAX: u64 = 3_600;

/// The most bytes of batches that are under way to a broker at once.
pub const FLIGHT_BYTES: usize = 4 << 20;

/// The most batches that a writer takes at once.
pub const GROUP_BATCHES_MAX: usize = 4_096;

/// The longest message that is handed to a broker, in bytes. Brokers have a limit of their own,
/// 1 MiB unless they were told otherwise.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// The longest key of a metric, in bytes; records with a longer one count under the other keys.
pub const METRIC_KEY_BYTES_MAX: usize = 1 << 10;
