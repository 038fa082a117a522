//! `/metrics` and `/healthz`: what a Prometheus and an orchestrator ask for, and `/pause`, which a
//! load asks for before and after it. One thread answers; it takes nothing from the pipeline but
//! its counters.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tiny_http::{Header, Response, Server};

use crate::ingress::{IngressError, Shared};
use crate::metrics;

/// The server of the status page; it ends when this is dropped.
pub struct Status {
    /// Where it listens.
    pub address: SocketAddr,
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
}

impl Status {
    /// Starts to answer.
    ///
    /// # Errors
    /// [`IngressError::Status`] if the address can't be listened on.
    pub fn start(address: SocketAddr, shared: Arc<Shared>) -> Result<Status, IngressError> {
        let failed =
            |error: &dyn ToString| IngressError::Status { address, error: error.to_string() };
        let server = Arc::new(Server::http(address).map_err(|error| failed(&error))?);
        let address = server.server_addr().to_ip().unwrap_or(address);
        let answering = Arc::clone(&server);
        let answer = move || answer(&answering, &shared);
        let thread = thread::Builder::new().name("status".to_owned()).spawn(answer);
        let thread = thread.map_err(IngressError::Thread)?;
        Ok(Status { address, server, thread: Some(thread) })
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.server.unblock();
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// The longest time between two reads of a connection since this was last asked, in seconds.
fn pause_s(shared: &Shared) -> f64 {
    let listeners = shared.metrics.listeners.iter();
    listeners.map(|listener| listener.read_interval.take_recent_max_s()).fold(0.0, f64::max)
}

fn answer(server: &Server, shared: &Shared) {
    for request in server.incoming_requests() {
        let (code, text) = match request.url().split('?').next().unwrap_or_default() {
            "/metrics" => (200, metrics::exposition(shared)),
            "/healthz" if shared.is_stopping() => (503, "stopping\n".to_owned()),
            "/healthz" => (200, "ok\n".to_owned()),
            "/pause" => (200, format!("{}\n", pause_s(shared))),
            _ => (404, "there are /metrics, /healthz and /pause\n".to_owned()),
        };
        let response = Response::from_string(text).with_status_code(code);
        let response = match Header::from_bytes("content-type", "text/plain; version=0.0.4") {
            Ok(header) => response.with_header(header),
            Err(()) => response,
        };
        // Whoever asked has gone; there is nobody to tell.
        let _answered = request.respond(response);
    }
}
