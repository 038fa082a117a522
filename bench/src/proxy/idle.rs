//! A thousand connections that were used once and wait: the memory that they cost the sidecar. Idle
//! clients are what most clients are.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::contestants::{LOOPBACK, redis, sidecar};
use crate::failure::Outcome;
use crate::table::Table;

const CONNECTIONS: usize = 1_000;

/// What every connection sets and gets before it waits, in bytes.
const USED_BYTES: usize = 100_000;

const SETTINGS: &str = "[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite = \"packed\"\n";

pub(super) fn run() -> Outcome {
    println!(
        "{CONNECTIONS} connections, each of which has set and got {USED_BYTES} bytes, idle:\n"
    );
    let mut table = Table::new(["connections to the server", "MB at the most"]);
    for kind in ["own", "shared"] {
        let server = redis(LOOPBACK)?;
        let proxy = sidecar(server.address, SETTINGS, kind, None)?;
        let mut clients = Vec::new();
        for number in 0..CONNECTIONS {
            let mut client = TcpStream::connect(proxy.address)?;
            let value = "{\"sku\":\"SKU-1\"}".repeat(USED_BYTES / 15);
            let key = format!("cart:{number}");
            let command = format!(
                "*3\r\n$3\r\nSET\r\n${}\r\n{key}\r\n${}\r\n{value}\r\nGET {key}\r\n",
                key.len(),
                value.len()
            );
            client.write_all(command.as_bytes())?;
            let mut said = vec![0; format!("+OK\r\n${}\r\n{value}\r\n", value.len()).len()];
            client.read_exact(&mut said)?;
            clients.push(client);
        }
        table.row([kind.to_owned(), format!("{:.1}", proxy.resident_mb()?)]);
    }
    println!("{}", table.text());
    Ok(())
}
