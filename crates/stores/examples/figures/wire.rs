//! Counts what a client sends to a server, by standing between them. It is used where no server
//! counts for us; what it adds to the times is why these are not told there.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// A place to connect to, from which everything is passed on to a server.
pub struct Counted {
    address: String,
    bytes: Arc<AtomicU64>,
}

impl Counted {
    /// Stands before the server at `address`, until the process ends.
    ///
    /// # Errors
    /// Where this machine has no port left.
    pub fn before(address: &str) -> Result<Counted, std::io::Error> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let own = listener.local_addr()?.to_string();
        let bytes = Arc::new(AtomicU64::new(0));
        let (server, counter) = (address.to_owned(), Arc::clone(&bytes));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // A server that is gone is the client's to notice: its connection ends.
                let Ok(server) = TcpStream::connect(&server) else { continue };
                let ends = (client.try_clone(), server.try_clone());
                let (Ok(to_client), Ok(from_server)) = ends else { continue };
                let counter = Arc::clone(&counter);
                thread::spawn(move || pass(client, server, Some(&counter)));
                thread::spawn(move || pass(from_server, to_client, None));
            }
        });
        Ok(Counted { address: own, bytes })
    }

    /// Where a client connects to.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What clients have sent so far, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::SeqCst)
    }
}

/// Hands everything on, and counts it before it does, so that an answer comes after its count.
fn pass(mut from: TcpStream, mut to: TcpStream, counter: Option<&AtomicU64>) {
    let mut buffer = vec![0; 64 << 10];
    // Small commands must not wait for others.
    drop(to.set_nodelay(true));
    while let Ok(length) = from.read(&mut buffer) {
        if length == 0 {
            break;
        }
        if let Some(counter) = counter {
            counter.fetch_add(length as u64, Ordering::SeqCst);
        }
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    // It may be closed already, which is what is wanted.
    drop(to.shutdown(Shutdown::Write));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_passed_on_and_only_what_clients_send_is_counted() {
        let server = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let counted = Counted::before(&server.local_addr().unwrap().to_string()).unwrap();
        let mut client = TcpStream::connect(counted.address()).unwrap();
        client.write_all(b"question").unwrap();
        let (mut peer, _) = server.accept().unwrap();
        let mut question = [0; 8];
        peer.read_exact(&mut question).unwrap();
        peer.write_all(b"a much longer answer").unwrap();
        drop(peer);
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        assert_eq!((&question, answer.as_slice()), (b"question", &b"a much longer answer"[..]));
        assert_eq!(counted.bytes(), 8);
    }
}
