//! `/metrics` and `/healthz`: what a Prometheus and an orchestrator ask for. One thread answers; it
//! takes nothing from connections but their counters.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use cinch_rollout::live::Live;
use tiny_http::{Header, Response, Server};

use crate::counters::Counters;

/// The server of the status page; it ends when this is dropped.
pub(crate) struct Status {
    pub(crate) address: SocketAddr,
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
}

impl Status {
    /// Starts to answer at `HOST:PORT`.
    pub(crate) fn start(
        address: &str,
        live: Arc<Live>,
        counters: Arc<Counters>,
        is_stopping: Arc<AtomicBool>,
    ) -> Result<Status, String> {
        let server = Arc::new(Server::http(address).map_err(|error| error.to_string())?);
        let bound = server.server_addr().to_ip().ok_or("it is no address of the network")?;
        let answering = Arc::clone(&server);
        let answer = move || answer(&answering, &live, &counters, &is_stopping);
        let thread = thread::Builder::new().name("status".to_owned()).spawn(answer);
        let thread = thread.map_err(|error| error.to_string())?;
        Ok(Status { address: bound, server, thread: Some(thread) })
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.server.unblock();
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn answer(server: &Server, live: &Live, counters: &Counters, is_stopping: &AtomicBool) {
    for request in server.incoming_requests() {
        let (code, text) = match request.url().split('?').next().unwrap_or_default() {
            "/metrics" => (200, live.metrics().text() + &counters.text()),
            "/healthz" if is_stopping.load(Ordering::Relaxed) => (503, "stopping\n".to_owned()),
            "/healthz" => (200, "ok\n".to_owned()),
            _ => (404, "there are /metrics and /healthz\n".to_owned()),
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
