//! A process that tries candidates, seen from the evaluation.
//!
//! It is this program once more, with arguments of the caller's choice, and talks over its standard
//! input and output. When it ends unasked, the trial that it was busy with has crashed.

use std::io::{self, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use crate::candidate::Candidate;
use crate::corpus::Payload;
use crate::measure::executor::{Sized, Trouble};
use crate::measure::frames::{self, Operation};
use crate::measure::runner::TimedFrom;

/// How to start this program so that it serves [`crate::measure::serve`].
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

struct Running {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// A process that is started when it is needed.
pub(super) struct Process<'a> {
    launch: &'a Launch,
    running: Option<Running>,
}

impl<'a> Process<'a> {
    pub(super) fn new(launch: &'a Launch) -> Process<'a> {
        Process { launch, running: None }
    }

    fn start(&mut self) -> io::Result<&mut Running> {
        if self.running.is_none() {
            let mut child = Command::new(&self.launch.program)
                .args(&self.launch.arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                // What a library says while it crashes is not for the user's terminal.
                .stderr(Stdio::null())
                .spawn()?;
            let (input, output) = match (child.stdin.take(), child.stdout.take()) {
                (Some(input), Some(output)) => (input, output),
                _ => return Err(io::Error::other("the process has no pipes")),
            };
            let (input, output) = (BufWriter::new(input), BufReader::new(output));
            self.running = Some(Running { child, input, output });
        }
        self.running.as_mut().ok_or_else(|| io::Error::other("the process did not start"))
    }

    /// Does something with the process; an error of the pipes is a crash, after which a new
    /// process is started for the next candidate.
    fn ask<T>(&mut self, work: impl FnOnce(&mut Running) -> io::Result<T>) -> Result<T, Trouble> {
        let started = match self.start() {
            Ok(running) => work(running),
            Err(error) => {
                return Err(Trouble::Setup(format!("its process could not be started: {error}")));
            }
        };
        started.map_err(|error| {
            let status = self.running.take().and_then(|running| {
                let Running { mut child, input, output } = running;
                drop(output);
                if error.kind() == io::ErrorKind::InvalidData {
                    // It is alive and says what it should not; nobody will talk to it again.
                    let _ = child.kill();
                }
                // The rest of the request has no reader, so it is not written on drop.
                let _ = input.into_parts();
                child.wait().ok()
            });
            Trouble::Crashed(describe(status))
        })
    }

    pub(super) fn begin(&mut self, candidate: &Candidate, from: TimedFrom) -> Result<(), Trouble> {
        self.ask(|running| {
            frames::write_operation(&mut running.input, Operation::Begin)?;
            write_candidate(&mut running.input, candidate, from)?;
            running.input.flush()?;
            frames::read_outcome(&mut running.output)
        })?
        .map_err(Trouble::Setup)
    }

    pub(super) fn run(
        &mut self,
        payloads: &[&Payload],
        take: &mut dyn FnMut(usize, Sized),
    ) -> Result<(), Trouble> {
        self.ask(|running| {
            frames::write_operation(&mut running.input, Operation::Run)?;
            frames::write_number(&mut running.input, payloads.len() as u64)?;
            for payload in payloads {
                write_payload(&mut running.input, payload)?;
            }
            running.input.flush()?;
            for index in 0..payloads.len() {
                take(index, frames::read_sized(&mut running.output)?);
            }
            Ok(())
        })
    }

    pub(super) fn end(&mut self) -> Result<(usize, usize), Trouble> {
        self.ask(|running| {
            frames::write_operation(&mut running.input, Operation::End)?;
            running.input.flush()?;
            let compressor = frames::read_number(&mut running.output)?;
            Ok((compressor as usize, frames::read_number(&mut running.output)? as usize))
        })
    }

    /// Times of new contexts and their first call; a process is used for one such request only.
    pub(super) fn first_call(
        &mut self,
        candidate: &Candidate,
        from: TimedFrom,
        payload: &Payload,
    ) -> Result<(f64, f64), Trouble> {
        self.ask(|running| {
            frames::write_operation(&mut running.input, Operation::FirstCall)?;
            write_candidate(&mut running.input, candidate, from)?;
            write_payload(&mut running.input, payload)?;
            running.input.flush()?;
            if let Err(reason) = frames::read_outcome(&mut running.output)? {
                return Ok(Err(reason));
            }
            let pack = frames::read_float(&mut running.output)?;
            Ok(Ok((pack, frames::read_float(&mut running.output)?)))
        })?
        .map_err(Trouble::Setup)
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        if let Some(Running { mut child, input, output }) = self.running.take() {
            // Without an input it ends by itself.
            drop(input);
            drop(output);
            let _ = child.wait();
        }
    }
}

fn write_candidate(
    output: &mut impl Write,
    candidate: &Candidate,
    from: TimedFrom,
) -> io::Result<()> {
    frames::write_text(output, from.name())?;
    frames::write_text(output, &candidate.without_dictionary().to_string())?;
    let dictionary = candidate.dictionary().map_or(&[] as &[u8], |dictionary| dictionary.bytes());
    frames::write_bytes(output, dictionary)?;
    let schema = candidate.schema.as_ref().map_or(&[] as &[u8], |schema| schema.bytes());
    frames::write_bytes(output, schema)
}

fn write_payload(output: &mut impl Write, payload: &Payload) -> io::Result<()> {
    output.write_all(&[u8::from(payload.is_json)])?;
    frames::write_bytes(output, &payload.bytes)
}

/// How a process ended, as people say it.
fn describe(status: Option<ExitStatus>) -> String {
    let Some(status) = status else {
        return "crashed: its process ended".to_owned();
    };
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let name = match signal {
            4 => " (illegal instruction)",
            6 => " (abort)",
            7 => " (bus error)",
            8 => " (arithmetic error)",
            9 => " (killed, perhaps for want of memory)",
            11 => " (segmentation fault)",
            _ => "",
        };
        return format!("crashed: its process was ended by signal {signal}{name}");
    }
    format!("crashed: its process ended with {status}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Candidate;

    fn launch(script: &str) -> Launch {
        Launch {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".to_owned(), script.to_owned()],
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_process_that_dies_is_a_crash_that_says_how() {
        let candidate = Candidate::parse("verbatim+stored").unwrap();
        for (script, said) in [
            ("kill -SEGV $$", "signal 11 (segmentation fault)"),
            ("kill -ABRT $$", "signal 6 (abort)"),
            ("exit 7", "exit status: 7"),
        ] {
            let launch = launch(script);
            match Process::new(&launch).begin(&candidate, TimedFrom::Text) {
                Err(Trouble::Crashed(reason)) => {
                    assert!(reason.starts_with("crashed: ") && reason.contains(said), "{reason}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_told() {
        let launch = Launch { program: PathBuf::from("/no/such/program"), arguments: Vec::new() };
        let candidate = Candidate::parse("verbatim+stored").unwrap();
        let trouble = Process::new(&launch).begin(&candidate, TimedFrom::Text);
        assert!(matches!(trouble, Err(Trouble::Setup(reason)) if reason.contains("started")));
    }
}
