//! Plain requests to servers of this machine, so that no client library has a part in a test, and
//! what is sent and answered is what stands here.

use std::io::{Read, Write};
use std::net::TcpStream;

/// Sends a request and returns code and body; `None` if nobody answers.
pub(crate) fn http(port: u16, method: &str, path: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    // Version 1.0: the body ends with the connection.
    let head = format!(
        "{method} {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let code = head.split(' ').nth(1)?.parse().ok()?;
    Some((code, answer[end + 4..].to_vec()))
}

/// Text as a part of an address.
pub(crate) fn percent_encoded(text: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    text.bytes()
        .map(|byte| match is_plain(&byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}
