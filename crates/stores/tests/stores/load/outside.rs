//! Processes of the fleet that are processes of the system too: this test binary once more, whose
//! only task is to be one of the twenty. They are killed with SIGKILL, most of them between the
//! beginning of a write and its answer, and stopped with SIGSTOP; nothing in them gets to know.
//!
//! Such a process asks the judge of the parent for everything: a line that starts with `@` on its
//! standard output, answered by a line on its standard input. A process whose parent is gone ends
//! at its next question.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::fleet::{Counts, Release, Site};
use super::oracle::Oracle;
use crate::own_process;

/// The test of this binary that is such a process.
const TEST: &str = "load::outside::a_process_of_the_fleet";

/// How long after the beginning of a write its process is killed at most, in microseconds: the
/// write has then not been sent, is under way, or was answered.
const KILLED_AFTER_US_MAX: u64 = 1_500;

/// What became of such processes.
#[derive(Default)]
pub struct Killed {
    /// Ended by a signal after a write had begun and before its answer was noted.
    pub while_writing: AtomicU64,
    /// Ended by a signal elsewhere.
    pub elsewhere: AtomicU64,
    /// Writes that such processes had answered.
    pub confirmed: AtomicU64,
}

/// Where the stores are, for processes that open them anew.
#[derive(Clone)]
pub struct Addresses {
    pub data: String,
    pub control: String,
}

/// A process of the system.
pub struct Outside {
    child: Arc<Mutex<Child>>,
    is_to_die: Arc<AtomicBool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outside {
    /// Starts one and waits until it has joined the fleet, or says why it does not start.
    pub async fn start(
        site: &Arc<Site>,
        addresses: &Addresses,
        number: usize,
        release: Release,
        codec: &str,
    ) -> Result<Outside, String> {
        let seed = site.seed ^ site.started.fetch_add(1, Ordering::Relaxed).rotate_left(32);
        let task = json!({
            "data": addresses.data, "control": addresses.control, "is_two": site.is_two,
            "number": number, "is_old": release == Release::Old, "codec": codec, "seed": seed,
            "names": site.names,
        });
        let mut command = own_process::command(TEST, &task.to_string());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("this binary can be started");
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let input = input.expect("standard input is a pipe");
        let output = output.expect("standard output is a pipe");
        let outside = Outside {
            child: Arc::new(Mutex::new(child)),
            is_to_die: Arc::new(AtomicBool::new(false)),
        };
        let (tell, told) = oneshot::channel();
        let parent = Parent {
            site: Arc::clone(site),
            child: Arc::clone(&outside.child),
            is_to_die: Arc::clone(&outside.is_to_die),
            tell: Some(tell),
            is_writing: false,
            runtime: tokio::runtime::Handle::current(),
        };
        thread::spawn(move || parent.answer(input, output));
        match told.await {
            Ok(Ok(())) => Ok(outside),
            Ok(Err(why)) => Err(why),
            Err(_) => Err("it ended before it joined".to_owned()),
        }
    }

    /// Kills it now.
    pub fn kill(&self) {
        let mut child = lock(&self.child);
        // One that has ended already can't be ended, which is as it should be.
        drop(child.kill());
        drop(child.wait());
    }

    /// Has it killed at its next write.
    pub fn kill_at_next_write(&self) {
        self.is_to_die.store(true, Ordering::Relaxed);
    }

    /// Stops it where it is, or lets it go on.
    pub fn stop(&self, is_stopped: bool) {
        let mut child = lock(&self.child);
        // One that was waited for has no number any more, which may be somebody else's.
        if matches!(child.try_wait(), Ok(None)) {
            let signal = if is_stopped { Signal::STOP } else { Signal::CONT };
            kill_process(Pid::from_child(&child), signal).expect("a child takes signals");
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        !matches!(lock(&self.child).try_wait(), Ok(None))
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What answers one process, in the process of the test.
struct Parent {
    site: Arc<Site>,
    child: Arc<Mutex<Child>>,
    is_to_die: Arc<AtomicBool>,
    tell: Option<oneshot::Sender<Result<(), String>>>,
    is_writing: bool,
    runtime: tokio::runtime::Handle,
}

impl Parent {
    fn answer(mut self, mut input: ChildStdin, output: ChildStdout) {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { break };
            let Some(question) = line.strip_prefix('@') else { continue };
            let question: Value = serde_json::from_str(question).expect("questions are JSON");
            let answer = self.answer_to(&question);
            // A process that was killed meanwhile needs no answer.
            if writeln!(input, "{answer}").and_then(|()| input.flush()).is_err() {
                break;
            }
            if self.is_writing && self.is_to_die.load(Ordering::Relaxed) {
                let child = Arc::clone(&self.child);
                let pause = Duration::from_micros(fastrand::u64(..=KILLED_AFTER_US_MAX));
                self.runtime.spawn(async move {
                    sleep(pause).await;
                    // It may have been ended by the test itself.
                    drop(lock(&child).kill());
                });
            }
        }
        let killed = &self.site.killed;
        let count = if self.is_writing { &killed.while_writing } else { &killed.elsewhere };
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn answer_to(&mut self, question: &Value) -> Value {
        let oracle = &self.site.oracle;
        let number = |place: usize| question[place].as_u64().unwrap_or_default();
        let writer = || u32::try_from(number(3)).unwrap_or_default();
        let text = || question[1].as_str().unwrap_or_default().to_owned();
        let kind = question[0].as_str().unwrap_or_default();
        self.is_writing = kind == "begins";
        match kind {
            "floor" => return oracle.floor(number(1)).into(),
            "was_begun" => return oracle.was_begun(number(1), number(2), writer()).into(),
            "begins" => oracle.begins(number(1), number(2), writer()),
            "is_confirmed" => {
                oracle.is_confirmed(number(1), number(2));
                self.site.killed.confirmed.fetch_add(1, Ordering::Relaxed);
            }
            "is_violated" => oracle.is_violated(text()),
            "joined" => drop(self.tell.take().map(|tell| tell.send(Ok(())))),
            "refused" => drop(self.tell.take().map(|tell| tell.send(Err(text())))),
            other => oracle.is_violated(format!("nobody knows the question {other:?}")),
        }
        Value::Null
    }
}

/// The judge of the parent, asked from a process of its own.
pub struct Asker(Mutex<()>);

impl Asker {
    /// Of the process that this one was started by.
    pub fn new() -> Asker {
        println!();
        Asker(Mutex::new(()))
    }

    /// Asks, and waits for the answer. Nobody answers any more: this process ends.
    pub fn ask(&self, question: &Value) -> Value {
        let _one_at_a_time = lock(&self.0);
        println!("@{question}");
        let mut line = String::new();
        match std::io::stdin().read_line(&mut line) {
            Ok(1..) => serde_json::from_str(&line).expect("answers are JSON"),
            _ => std::process::exit(1),
        }
    }
}

/// Such a process: it joins, reads and writes until it is killed.
#[test]
#[ignore = "a process of the tests of a rollout under load"]
fn a_process_of_the_fleet() {
    let Some(task) = own_process::task() else { return };
    let task: Value = serde_json::from_str(&task).expect("a task is JSON");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(live(&task));
}

async fn live(task: &Value) {
    let text = |key: &str| task[key].as_str().expect("it is a text").to_owned();
    let names = task["names"].as_array().expect("it is a list").iter();
    let site = Arc::new(Site {
        data: super::opened(&text("data")).await,
        control: super::control_of(&text("control")).await,
        oracle: Oracle::asking(Asker::new()),
        counts: Counts::default(),
        is_two: task["is_two"] == true,
        seed: task["seed"].as_u64().expect("it is a number"),
        started: AtomicU64::new(0),
        names: names.map(|name| name.as_str().expect("it is a text").to_owned()).collect(),
        killed: Killed::default(),
        addresses: None,
    });
    let number = task["number"].as_u64().and_then(|number| usize::try_from(number).ok());
    let number = number.expect("it is a number");
    let release = if task["is_old"] == true { Release::Old } else { Release::New };
    match site.start(number, release, &text("codec")).await {
        Err(why) => drop(site.oracle.tell("refused", &why)),
        Ok(process) => {
            drop(site.oracle.tell("joined", ""));
            while !process.has_ended() {
                sleep(Duration::from_millis(200)).await;
                // Also one without traffic ends with its parent.
                site.oracle.floor(0);
            }
            site.oracle.is_violated(format!("the traffic of process {number} ended"));
        }
    }
}
