//! The default of every limit of the protocols, in one place, so that a reader can see what a
//! hostile client may cost. Each is this implementation's choice and can be configured: a machine
//! takes its limits when it is made.

/// The longest body of a CAL message, in bytes. The known client caps a body at 4,096 and holds
/// 32,000 bytes in all, so nothing longer can be meant.
pub const CAL_BODY_BYTES_MAX: usize = 32 << 10;

/// The longest name of a pool or host in a CAL label, in bytes, as for the types and names of
/// records: it becomes part of a file's name.
pub const CAL_NAME_BYTES_MAX: usize = 127;

/// The longest line, or length-prefixed record, in bytes. Half of the 64 KiB that a connection
/// reads at a time, so that an incomplete line leaves room to read on.
pub const LINE_BYTES_MAX: usize = 32 << 10;

/// The most that a decompressor of a stream holds of what it has written, in bytes: the window of
/// a zstd frame or the block of an LZ4 frame. Those of zstd's levels up to 19 and of every LZ4
/// level are within it.
pub const STREAM_WINDOW_BYTES_MAX: usize = 8 << 20;

/// The longest syslog message, in bytes. RFC 5425 asks for 8 KiB to be taken, and rsyslog sends no
/// more unless it is told to.
pub const SYSLOG_MESSAGE_BYTES_MAX: usize = 32 << 10;

/// The longest batch of the native protocol, in bytes, as it is sent and as it is decompressed.
/// The server tells its client in the welcome.
pub const NATIVE_BATCH_BYTES_MAX: usize = 1 << 20;

/// The most batches of the native protocol that a client may have sent without an acknowledgement.
/// The server tells its client in the welcome.
pub const NATIVE_WINDOW_BATCHES: u32 = 64;

/// The longest body of a native frame that is no batch, in bytes.
pub const NATIVE_CONTROL_BYTES_MAX: usize = 1 << 10;

/// How deep arrays and maps of MessagePack may nest. Nothing recurses; this bounds memory.
pub const MSGPACK_DEPTH_MAX: usize = 64;

/// The longest message of the forward protocol, in bytes. Fluentd's chunks have 8 MB, compressed
/// ones less.
pub const FORWARD_MESSAGE_BYTES_MAX: usize = 16 << 20;

/// The most that the lines of one request may be together, in bytes. Each line repeats what the
/// request says once for many records, so a small body can ask for any number of bytes.
pub const LINES_BYTES_MAX: usize = 64 << 20;

/// How deep the values of an OTLP record may nest.
pub const OTLP_DEPTH_MAX: usize = 32;

/// How deep RESP values may nest. Replies of Redis nest less than ten deep.
pub const RESP_DEPTH_MAX: usize = 32;

/// The longest RESP line that is no bulk, in bytes: inline commands, simple strings, errors. That
/// of Redis for inline commands.
pub const RESP_LINE_BYTES_MAX: usize = 64 << 10;

/// The longest RESP bulk, in bytes: that of Redis.
pub const RESP_BULK_BYTES_MAX: u64 = 512 << 20;

/// The longest RESP bulk that is handed out in one piece, in bytes. Longer ones come in parts, as
/// they are read.
pub const RESP_WHOLE_BYTES_MAX: u64 = 16 << 10;

/// The most elements of one RESP array or pairs of one map: that of Redis for requests.
pub const RESP_ELEMENTS_MAX: u64 = 1 << 20;

/// The most digits of the size of an HTTP chunk. Fifteen hold any size that fits memory.
pub const CHUNKED_SIZE_DIGITS_MAX: usize = 15;

/// The most bytes of a chunked HTTP body that are extensions or trailers, which nobody reads.
pub const CHUNKED_EXTRA_BYTES_MAX: usize = 8 << 10;
