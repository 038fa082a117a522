//! A terminal for the binary to write to: progress is shown on terminals only, and it is the one
//! thing that tells a test from outside that the measuring has begun.
//!
//! Reading ends with the error that Linux gives when the other side is closed.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A test that waits for what never comes should fail and not hang.
const SILENCE_MAX: Timespec = Timespec { tv_sec: 30, tv_nsec: 0 };

/// Our side of a terminal.
pub struct Terminal {
    ours: File,
    seen: String,
}

impl Terminal {
    /// A new terminal, and the side that a program writes to.
    pub fn open() -> (Terminal, File) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).expect("a terminal");
        grantpt(&ours).expect("a terminal of ours");
        unlockpt(&ours).expect("a terminal that can be opened");
        let name = ptsname(&ours, Vec::new()).expect("a terminal has a name");
        let name = name.into_string().expect("a terminal's name is ASCII");
        let theirs = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OpenptFlags::NOCTTY.bits() as i32)
            .open(name)
            .expect("it opens");
        (Terminal { ours: File::from(ours), seen: String::new() }, theirs)
    }

    /// Reads until this text was shown.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        while !self.seen.contains(text) {
            assert!(self.read_more(), "{text:?} was never shown, but: {}", self.seen);
        }
    }

    /// Reads until anything at all was shown.
    #[track_caller]
    pub fn wait(&mut self) {
        assert!(self.read_more(), "nothing was ever shown");
    }

    /// Reads to the end, and returns everything that was shown.
    pub fn finish(mut self) -> String {
        while self.read_more() {}
        self.seen
    }

    /// False at the end, or where nothing was shown for so long that nothing will be.
    fn read_more(&mut self) -> bool {
        let mut ours = [PollFd::new(&self.ours, PollFlags::IN)];
        if !poll(&mut ours, Some(&SILENCE_MAX)).is_ok_and(|ready| ready > 0) {
            return false;
        }
        let mut piece = [0; 4096];
        match self.ours.read(&mut piece) {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.seen.push_str(&String::from_utf8_lossy(&piece[..count]));
                true
            }
        }
    }
}
