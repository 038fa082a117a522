//! A store of objects that speaks S3: moto's server, from the tests' Python. It checks no
//! signatures, so that tests ask it with plain requests.

use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use super::daemon::{Daemon, closed_port};
use crate::http::{http, percent_encoded};
use crate::peer::interpreter;

/// A server with one empty bucket.
pub struct Moto(Daemon);

/// The bucket.
pub const BUCKET: &str = "logs";

impl Moto {
    /// Starts a server.
    pub fn start() -> Moto {
        Moto::start_on(closed_port())
    }

    /// Starts one on this port.
    pub fn start_on(port: u16) -> Moto {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let command = |_: &Path, port: u16| {
            let mut command = Command::new(interpreter());
            command.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()]);
            command
        };
        let answers = |_: &Path, port: u16| {
            let path = format!("/{BUCKET}");
            http(port, "PUT", &path, &[]).is_some_and(|(code, _)| code == 200)
        };
        Moto(Daemon::start_on(port, folder, Signal::TERM, command, answers))
    }

    /// Where it is.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.0.port())
    }

    /// The names of all objects, in order.
    #[track_caller]
    pub fn names(&self) -> Vec<String> {
        let path = format!("/{BUCKET}?list-type=2");
        let (code, body) = http(self.0.port(), "GET", &path, &[]).expect("it answers");
        assert_eq!(code, 200);
        let text = String::from_utf8(body).expect("the list is text");
        let keys = text.split("<Key>").skip(1);
        keys.filter_map(|rest| Some(rest.split_once("</Key>")?.0.to_owned())).collect()
    }

    /// An object.
    #[track_caller]
    pub fn object(&self, name: &str) -> Vec<u8> {
        let parts: Vec<String> = name.split('/').map(percent_encoded).collect();
        // Objects are for those who sign; what they sign with is not looked at.
        let path = format!("/{BUCKET}/{}?Signature=any", parts.join("/"));
        let (code, body) = http(self.0.port(), "GET", &path, &[]).expect("it answers");
        assert_eq!(code, 200, "{name}: {}", String::from_utf8_lossy(&body));
        body
    }
}
