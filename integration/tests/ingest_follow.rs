//! Logs that are followed while files are closed and begun, and while the ingress ends and starts
//! again: every line comes once, in the order in which it was sent.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Stdio};

use cinch_integration::{Folder, Ingress, cinch, noise, pool_listener};

/// A filer that closes its files as these keys say.
fn config(rotate: &str) -> String {
    let listener = pool_listener("lines", "lines", "web");
    format!(
        "[sink.files]\nkind = \"filer\"\ndirectory = \"logs\"\n{rotate}\n\
         [pool.default]\nlinger_ms = 5\n{listener}"
    )
}

/// A search that is followed, and how far its output was read.
struct Follower {
    child: Child,
    out: BufReader<ChildStdout>,
    next: u64,
}

impl Follower {
    fn start(folder: &Folder) -> Follower {
        let arguments = ["logs", "--directory", &folder.at("logs"), "--pool", "web", "--follow"];
        let mut command = cinch(arguments).command();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Follower { child, out, next: 0 }
    }

    /// The next lines are those up to this number, each once and in order.
    #[track_caller]
    fn shows_up_to(&mut self, end: u64) {
        while self.next < end {
            let mut line = String::new();
            self.out.read_line(&mut line).unwrap();
            let number = line.split(' ').next().and_then(|number| number.parse::<u64>().ok());
            assert_eq!(number, Some(self.next), "{line:?}");
            self.next += 1;
        }
    }

    /// Nothing else came, and nothing was complained of.
    #[track_caller]
    fn ends(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.out, &mut rest).unwrap();
        assert_eq!(rest, "");
        let output = self.child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

/// Lines with their numbers, which do not compress well.
fn lines(numbers: std::ops::Range<u64>) -> String {
    let noise = noise(numbers.clone().count() * 50);
    let line = |(number, piece): (u64, &[u8])| {
        let digits: String = piece.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{number} {digits}\n")
    };
    numbers.zip(noise.chunks_exact(50)).map(line).collect()
}

/// The closed files of the pool.
fn closed(folder: &Folder) -> usize {
    let mut folders = vec![folder.path().join("logs")];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false => count += usize::from(path.extension().is_some_and(|end| end == "zst")),
            }
        }
    }
    count
}

#[test]
fn files_that_are_closed_for_their_size_are_followed_into_the_next() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config("rotate = \"16KiB\""));
    let mut stream = ingress.connect("lines");
    stream.write_all(lines(0..1).as_bytes()).unwrap();
    ingress.wait_for("written_records_total", "", 1.0);
    let mut follower = Follower::start(&folder);
    follower.shows_up_to(1);
    for step in 0..20 {
        let end = 1 + (step + 1) * 500;
        stream.write_all(lines(follower.next..end).as_bytes()).unwrap();
        follower.shows_up_to(end);
    }
    assert!(closed(&folder) >= 10, "{} files were closed", closed(&folder));
    assert!(ingress.stop().0.success());
    follower.ends();
}

#[test]
fn files_that_are_closed_for_their_age_are_followed_into_the_next() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config("rotate_s = 1"));
    let mut stream = ingress.connect("lines");
    stream.write_all(lines(0..1).as_bytes()).unwrap();
    ingress.wait_for("written_records_total", "", 1.0);
    let mut follower = Follower::start(&folder);
    follower.shows_up_to(1);
    while closed(&folder) < 3 {
        let end = follower.next + 10;
        stream.write_all(lines(follower.next..end).as_bytes()).unwrap();
        follower.shows_up_to(end);
    }
    assert!(ingress.stop().0.success());
    follower.ends();
}

#[test]
fn an_ingress_that_is_killed_and_starts_again_is_followed() {
    let folder = Folder::new();
    let config = config("rotate = \"16KiB\"");
    let mut follower: Option<Follower> = None;
    for round in 0..4 {
        let ingress = Ingress::start(&folder, &config);
        let mut stream = ingress.connect("lines");
        let (start, end) = (round * 300, (round + 1) * 300);
        stream.write_all(lines(start..end).as_bytes()).unwrap();
        ingress.wait_for("written_records_total", "", 300.0);
        let follower = follower.get_or_insert_with(|| Follower::start(&folder));
        follower.shows_up_to(end);
        ingress.kill();
    }
    assert!(Ingress::start(&folder, &config).stop().0.success());
    follower.unwrap().ends();
}

#[test]
fn a_pool_that_is_not_there_yet_is_waited_for() {
    let folder = Folder::new();
    let ingress = Ingress::start(&folder, &config(""));
    let mut follower = Follower::start(&folder);
    let mut said = BufReader::new(follower.child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.contains("web is not there") && line.contains("waited for"), "{line}");
    ingress.connect("lines").write_all(lines(0..3).as_bytes()).unwrap();
    follower.shows_up_to(3);
    assert!(ingress.stop().0.success());
    follower.ends();
}
