//! The folder of a pool. A pool's name is the client's text and may hold anything that a path
//! must not.

use xxhash_rust::xxh64::xxh64;

/// The longest name of a folder that is made of a pool's; file systems take 255 bytes.
const BYTES_MAX: usize = 200;

/// The name of the pool's folder: letters, digits, `_`, `-` and dots that are not in front stay,
/// everything else is `%XX`, nothing at all is `%`. A name that would be too long ends in its hash
/// instead.
pub fn folder_name(pool: &str) -> String {
    let mut name = String::new();
    for byte in pool.bytes() {
        let stays = byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'-')
            || byte == b'.' && !name.is_empty();
        if stays {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    if name.is_empty() {
        name.push('%');
    }
    if name.len() > BYTES_MAX {
        name.truncate(BYTES_MAX);
        name.push_str(&format!("%{:016x}", xxh64(pool.as_bytes(), 0)));
    }
    name
}
