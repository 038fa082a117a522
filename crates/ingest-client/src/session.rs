//! The thread that sends: one connection after the other, each with a thread that reads what the
//! server answers. Both change the buffer under its lock and wait outside of it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use cinch_wire::native::{Client as Machine, Event, Hello};

use crate::Shared;
use crate::backoff::Backoff;

/// How long the thread sleeps at most before it looks again, if nobody wakes it.
const TICK: Duration = Duration::from_millis(500);

/// How often a write that the server does not take is looked after.
const WRITE_TICK: Duration = Duration::from_millis(100);

/// What is read at once. Answers are short.
const READ_BYTES: usize = 4 << 10;

/// Sends until the client ends.
pub(crate) fn run(shared: &Shared) {
    let mut backoff = Backoff::new(shared.settings.backoff_least, shared.settings.backoff_most);
    while wait_for_work(shared) {
        let before = shared.lock().acknowledged;
        let result = connect(shared).and_then(|stream| serve(shared, stream));
        let mut buffer = shared.lock();
        buffer.machine = None;
        if buffer.acknowledged > before {
            backoff.reset();
        }
        let Err(error) = result else { continue };
        buffer.problem = error.to_string();
        let until = Instant::now() + backoff.wait();
        while !buffer.is_over && Instant::now() < until {
            buffer = shared.wait(buffer, until.saturating_duration_since(Instant::now()));
        }
    }
}

/// Waits until there is something to send; false when the client ends.
fn wait_for_work(shared: &Shared) -> bool {
    let mut buffer = shared.lock();
    while buffer.is_empty() && !buffer.is_over {
        buffer = shared.wait(buffer, TICK);
    }
    !buffer.is_over
}

fn connect(shared: &Shared) -> io::Result<TcpStream> {
    let mut result = Err(ErrorKind::AddrNotAvailable.into());
    for address in shared.settings.address.to_socket_addrs()? {
        result = TcpStream::connect_timeout(&address, shared.settings.connect_time);
        if result.is_ok() {
            break;
        }
    }
    let stream = result?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(WRITE_TICK))?;
    Ok(stream)
}

/// One connection, from the hello to its end. `Ok` when there is nothing wrong with it.
fn serve(shared: &Shared, stream: TcpStream) -> io::Result<()> {
    let mut out = Vec::new();
    {
        let mut buffer = shared.lock();
        let hello = Hello {
            client_id: shared.client_id,
            durability: shared.settings.durability,
            first_sequence: buffer.first_sequence(),
            pool: shared.settings.pool.clone(),
            host: shared.settings.host.clone(),
        };
        buffer.machine = Some(Machine::connect(&hello, &mut out));
        buffer.counters.connections += 1;
        (buffer.is_broken, buffer.is_draining, buffer.rests_until) = (false, false, None);
        buffer.problem.clear();
    }
    thread::scope(|scope| {
        scope.spawn(|| read(shared, &stream));
        let result = send(shared, &stream, out);
        // The reading thread ends with the connection.
        let _closed = stream.shutdown(Shutdown::Both);
        result
    })
}

fn send(shared: &Shared, stream: &TcpStream, mut out: Vec<u8>) -> io::Result<()> {
    loop {
        write(shared, stream, &out)?;
        out.clear();
        let mut buffer = shared.lock();
        loop {
            if buffer.is_broken {
                return Err(io::Error::other(buffer.problem.clone()));
            }
            if buffer.is_over {
                return Ok(());
            }
            let now = Instant::now();
            let linger = shared.settings.linger;
            if buffer.opened.is_some_and(|opened| now - opened >= linger) {
                buffer.seal(&shared.settings);
            }
            if buffer.is_draining && buffer.is_settled() {
                return Err(io::Error::other("the server is about to stop"));
            }
            let rest = buffer.rests_until.map(|until| until.saturating_duration_since(now));
            let rests = rest.is_some_and(|rest| !rest.is_zero());
            if !rests && !buffer.is_draining && buffer.next(&mut out) {
                break;
            }
            let due = buffer.opened.map(|opened| (opened + linger).saturating_duration_since(now));
            let soonest = [due, rest.filter(|_| rests)].into_iter().flatten().min();
            buffer = shared.wait(buffer, soonest.unwrap_or(TICK).min(TICK));
        }
    }
}

/// Writes all of it, however slowly the server takes it.
fn write(shared: &Shared, mut stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    let mut moved = Instant::now();
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = &bytes[count..];
                moved = Instant::now();
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                let buffer = shared.lock();
                if buffer.is_over || buffer.is_broken {
                    return Ok(());
                }
                if moved.elapsed() > shared.settings.stall_time {
                    return Err(io::Error::other("the server takes nothing"));
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads what the server says, until the connection ends.
fn read(shared: &Shared, mut stream: &TcpStream) {
    let (mut bytes, mut arrived) = (Vec::new(), [0; READ_BYTES]);
    let problem = loop {
        match stream.read(&mut arrived) {
            Ok(0) => break "the server has closed the connection".to_owned(),
            Ok(count) => bytes.extend_from_slice(&arrived[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => break error.to_string(),
        }
        match take(shared, &mut bytes) {
            Ok(()) => shared.changed.notify_all(),
            Err(problem) => break problem,
        }
    };
    let mut buffer = shared.lock();
    buffer.is_broken = true;
    if buffer.problem.is_empty() {
        buffer.problem = problem;
    }
    drop(buffer);
    shared.changed.notify_all();
}

/// Takes all whole answers; an error ends the connection.
fn take(shared: &Shared, bytes: &mut Vec<u8>) -> Result<(), String> {
    let mut buffer = shared.lock();
    let Some(machine) = &mut buffer.machine else { return Ok(()) };
    let mut events = Vec::new();
    let scan = machine.scan(bytes, &mut events);
    for event in events {
        match event {
            Event::Welcome(welcome) => {
                let most = welcome.batch_bytes_max as usize;
                if most < shared.settings.batch_bytes {
                    return Err(format!("the server takes batches of {most} bytes at most"));
                }
                buffer.acknowledge(welcome.acknowledged);
            }
            Event::Acknowledged { sequence } => buffer.acknowledge(sequence),
            Event::NotNow { retry_after_ms, .. } => {
                let rest = Duration::from_millis(retry_after_ms.into());
                buffer.rests_until = Some(Instant::now() + rest.min(shared.settings.backoff_most));
            }
            Event::Drain => buffer.is_draining = true,
            Event::Refused(refusal) => {
                return Err(format!("the server refuses: {}", refusal.reason));
            }
        }
    }
    let consumed = scan.map_err(|error| error.to_string())?.consumed;
    bytes.drain(..consumed);
    Ok(())
}
