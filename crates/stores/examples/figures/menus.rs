//! The published table of menus: all of them SET one after the other, then all GET, by codec.
//!
//! The published run gained 1.3 times on SET and 1.9 times on GET with LZ4.

use std::error::Error;

use cinch_integration::Redis;

use crate::launch::{Launcher, Row};
use crate::link::Link;
use crate::modes::{Method, menu_methods};
use crate::tables::{Column, Table};
use crate::traffic::Replay;

/// Measures over loopback, or over a link.
///
/// # Errors
/// The first call that failed.
pub fn table(
    launcher: &Launcher,
    replay: &Replay,
    link: Option<&Link>,
) -> Result<Table, Box<dyn Error>> {
    let columns = vec![
        Column::new("set_s", "SET s", 3).with_factor(),
        Column::new("get_s", "GET s", 3).with_factor(),
        Column::new("set_p99_us", "SET p99 us", 0),
        Column::new("get_p99_us", "GET p99 us", 0),
        Column::new("set_cpu_us", "CPU us/SET", 0),
        Column::new("get_cpu_us", "CPU us/GET", 0),
        Column::new("redis_mb", "Redis MB", 1).with_factor(),
    ];
    let methods = menu_methods(&replay.profile);
    let mut rows = Vec::new();
    for method in [None].into_iter().chain(methods.iter().map(Some)) {
        let name = method.map_or("none", |method| &method.name);
        rows.push((name.to_owned(), measured(launcher, replay, method, name, link)?));
    }
    let over = match link {
        None => "over loopback".to_owned(),
        Some(link) => format!("over a link of {}", link.rate()),
    };
    let title = format!("Redis, {} menus SET and then GET, {over}", replay.count);
    let notes = vec!["Published: LZ4 gained 1.3x on SET and 1.9x on GET.".to_owned()];
    Ok(Table { title, columns, rows, notes })
}

fn measured(
    launcher: &Launcher,
    replay: &Replay,
    method: Option<&Method>,
    name: &str,
    link: Option<&Link>,
) -> Result<Vec<Option<f64>>, Box<dyn Error>> {
    let server = Redis::start();
    let mut address = server.address();
    if let Some(link) = link {
        server.run(&["config", "set", "bind", &format!("127.0.0.1 {}", link.here())]);
        // Nobody but the other end of the link can reach that address.
        server.run(&["config", "set", "protected-mode", "no"]);
        address = address.replace("127.0.0.1", link.here());
    }
    let modes = if method.is_some() { "write = \"packed\"\n" } else { "write = \"plain\"\n" };
    let row = Row {
        name,
        // A menu is SET and GET; that nobody asks for its time to live is as it was published.
        store: format!("{address}?expiry=unread"),
        method,
        modes,
        keys: replay.count,
        counted: None,
        link,
    };
    let outcome = launcher.measured(&row, replay)?;
    let memory = server.run(&["info", "memory"]);
    let used = memory.lines().find_map(|line| line.strip_prefix("used_memory:"));
    let used: f64 = used.ok_or("the server says no used_memory")?.trim().parse()?;
    let (sets, gets) = (&outcome.writes, &outcome.reads);
    let figures =
        [sets.sum_s, gets.sum_s, sets.p99_us, gets.p99_us, sets.cpu_us, gets.cpu_us, used / 1e6];
    Ok(figures.map(Some).to_vec())
}
