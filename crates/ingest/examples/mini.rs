//! Not to be committed: a small cinch for tests.
use std::time::Duration;
use cinch_ingest::{Ingress, config::Config, logs::{Form, Query, Search}};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| args.iter().position(|a| a == name).map(|at| args[at + 1].clone());
    if args[0] == "logs" {
        let pattern = value("--grep").map(|t| regex::bytes::Regex::new(&format!("(?m){t}")).unwrap());
        let query = Query { directory: value("--directory").unwrap().into(), pool: value("--pool"), since_ms: 0, until_ms: u64::MAX,
            pattern, connection: None, form: Form::Text };
        let mut search = Search::new(&query, std::io::BufWriter::new(std::io::stdout().lock()));
        let found = search.pass().unwrap();
        if args.iter().any(|a| a == "--stats") {
            eprintln!("cinch: {} batches, {} read, {} passed over by their filters, {} repeated; {} records",
                found.batches, found.read_batches, found.skipped_batches, found.repeated_batches, found.records);
        }
        if found.damaged_files > 0 { eprintln!("cinch: {} files end in a batch that is torn", found.damaged_files); std::process::exit(3) }
        return;
    }
    let path = value("--config").unwrap();
    let config = Config::read(path.as_ref()).unwrap_or_else(|e| { eprintln!("cinch: {e}"); std::process::exit(1) });
    let names: Vec<String> = config.listeners.iter().map(|row| row.name.clone()).collect();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let hup = stop.clone();
    let reload = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    for s in [15, 2] { signal_hook::flag::register(s, hup.clone()).unwrap(); }
    signal_hook::flag::register(1, reload.clone()).unwrap();
    let ingress = Ingress::start(config, Box::new(|line: &str| eprintln!("cinch: {line}"))).unwrap_or_else(|e| { eprintln!("cinch: {e}"); std::process::exit(1) });
    for (name, address) in names.iter().zip(ingress.addresses()) { eprintln!("cinch: listener {name} on {address}"); }
    if let Some(address) = ingress.status_address() { eprintln!("cinch: status on http://{address}/metrics"); }
    let mut told = None;
    let mut n = 0u64;
    while !stop.load(std::sync::atomic::Ordering::Relaxed) && !ingress.has_failed() {
        n += 1;
        let asked = reload.swap(false, std::sync::atomic::Ordering::Relaxed);
        if asked || n % 20 == 0 {
            if asked { told = None }
            let before = ingress.generation();
            match Config::read(path.as_ref()).map_err(|e| e.to_string()).and_then(|c| ingress.reload(c)) {
                Ok(g) => { if g != before || asked { eprintln!("cinch: configuration {g} holds") } told = None }
                Err(m) => if told.as_ref() != Some(&m) { ingress.refused_reload(); eprintln!("cinch: the configuration stays as it was: {m}"); told = Some(m) }
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let t = ingress.stop().unwrap();
    eprintln!("cinch: received {} records ({} bytes), wrote {}, dropped {}", t.received, t.received_bytes, t.written, t.dropped);
    std::process::exit(if t.dropped == 0 { 0 } else { 3 });
}
