//! Menus of the sizes that DoorDash published, over a link: all SET and then all GET; then one menu
//! that everybody wants, at a rate that fills the link to nine tenths without a sidecar.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use cinch_generate::published;

use super::contestants::{Running, redis, said, sidecar, written};
use super::link::Link;
use super::load::{Load, Seen, What, shares};
use crate::failure::Outcome;
use crate::table::Table;

/// The sizes of what is asked for: one client after the other, and a few at once.
const CONNECTIONS: [usize; 2] = [1, 8];

/// Connections of those who want the same menu.
const CALLERS: usize = 50;

/// The size of the menu that everybody wants, in bytes.
const HOT_BYTES: usize = 500_000;

/// How full the link is without a sidecar.
const FULL_SHARE: f64 = 0.9;

/// What a GET adds to a payload on the link, with frames and acknowledgements: 1,514 bytes carry
/// 1,448.
const WIRE_SHARE: f64 = 1_448.0 / 1_514.0;

const PROFILE: &str = "[profile]\nencoding = \"columnar\"\ncodec = \"zstd\"\nlevel = -1\n";

/// What one side did.
struct Side {
    name: String,
    sets: Seen,
    gets: Seen,
    cpu_s: f64,
    redis_mb: f64,
    sidecar_mb: f64,
}

pub(super) fn run(rate: &str, count: usize, profile: Option<&Path>, seconds: u64) -> Outcome {
    let folder = tempfile::tempdir()?;
    let profile = match profile {
        Some(path) => fs::canonicalize(path)?.display().to_string(),
        None => written(folder.path(), "menus.toml", PROFILE)?,
    };
    let settings = format!(
        "[namespaces.menus]\nkeys = [\"menu:*\"]\nslots = \"one\"\nwrite = \"packed\"\n\
         profile = \"{profile}\"\n"
    );
    let doordash = published("doordash").ok_or("cinch-generate has no such sizes")?;
    let mut menus: Vec<String> = doordash.first(11, count).collect();
    // The one that everybody wants comes first.
    let hot = (0..menus.len()).min_by_key(|at| menus[*at].len().abs_diff(HOT_BYTES));
    menus.swap(0, hot.ok_or("there are no menus")?);
    let sizes: Vec<usize> = menus.iter().map(String::len).collect();
    let file = folder.path().join("menus.ndjson");
    fs::write(&file, menus.join("\n"))?;
    drop(menus);
    let average = sizes.iter().sum::<usize>() / sizes.len();
    println!("{count} menus of {average} bytes on average over a link of {rate}:\n");
    let link = Link::start(rate)?;
    let mut sides = Vec::new();
    for connections in CONNECTIONS {
        for is_direct in [true, false] {
            sides.push(all(&link, &file, &settings, connections, is_direct)?);
        }
    }
    print(&sides);
    hot_menu(&link, rate, &file, &settings, &sizes, seconds)
}

fn between(
    link: &Link,
    server: SocketAddr,
    settings: &str,
    is_direct: bool,
) -> Outcome<Option<Running>> {
    match is_direct {
        true => Ok(None),
        false => sidecar(server, settings, "own", Some(link)).map(Some),
    }
}

fn all(
    link: &Link,
    file: &Path,
    settings: &str,
    connections: usize,
    is_direct: bool,
) -> Outcome<Side> {
    let server = redis(link.here())?;
    let proxy = between(link, server.address, settings, is_direct)?;
    let to = proxy.as_ref().map_or(server.address, |proxy| proxy.address);
    let load =
        |what| Load { to, what, payloads: file, connections, rate: 0.0, seconds: 0, zipf: false };
    let sets = load(What::Fill).run(Some(link))?;
    let gets = load(What::Read).run(Some(link))?;
    let host = server.address.ip().to_string();
    let port = server.address.port().to_string();
    let info = said("redis-cli", &["-h", &host, "-p", &port, "info", "memory"])?;
    let used = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
    let used: f64 = used.ok_or("the server says no used_memory")?.trim().parse()?;
    let way = if is_direct { "direct" } else { "cinch" };
    Ok(Side {
        name: format!("{way}, {connections} connections"),
        sets,
        gets,
        cpu_s: proxy.as_ref().map_or(Ok(0.0), |proxy| proxy.cpu_s())?,
        redis_mb: used / 1e6,
        sidecar_mb: proxy.as_ref().map_or(Ok(0.0), |proxy| proxy.resident_mb())?,
    })
}

fn print(sides: &[Side]) {
    let mut table = Table::new([
        "all menus",
        "SET s",
        "GET s",
        "SET p99 us",
        "GET p99 us",
        "Redis MB",
        "sidecar CPU s",
        "sidecar MB",
    ]);
    for (index, side) in sides.iter().enumerate() {
        // Each direct side stands before its other.
        let direct = &sides[index / 2 * 2];
        let factor = |direct: f64, ours: f64| match index % 2 {
            0 => String::new(),
            _ => format!(" ({:.1}x)", direct / ours),
        };
        table.row([
            side.name.clone(),
            format!("{:.1}{}", side.sets.seconds, factor(direct.sets.seconds, side.sets.seconds)),
            format!("{:.1}{}", side.gets.seconds, factor(direct.gets.seconds, side.gets.seconds)),
            format!("{:.0}", side.sets.p99_us),
            format!("{:.0}", side.gets.p99_us),
            format!("{:.0}{}", side.redis_mb, factor(direct.redis_mb, side.redis_mb)),
            format!("{:.1}", side.cpu_s),
            format!("{:.0}", side.sidecar_mb),
        ]);
    }
    println!("{}", table.text());
}

fn hot_menu(
    link: &Link,
    rate: &str,
    file: &Path,
    settings: &str,
    sizes: &[usize],
    seconds: u64,
) -> Outcome {
    let shares = shares(sizes.len(), true);
    let average: f64 = shares.iter().zip(sizes).map(|(share, size)| share * *size as f64).sum();
    let calls = bytes_a_second(rate)? * FULL_SHARE * WIRE_SHARE / average;
    println!(
        "GET by Zipf, the first of {} bytes, {calls:.0} calls a second of {average:.0} bytes on \
         average, which fill {:.0} % of the link without a sidecar:\n",
        sizes[0],
        FULL_SHARE * 100.0
    );
    let mut table = Table::new(["a hot menu", "p50 us", "p99 us", "p99 of the hot one us"]);
    let mut direct: Option<Seen> = None;
    for is_direct in [true, false] {
        let server = redis(link.here())?;
        let proxy = between(link, server.address, settings, is_direct)?;
        let to = proxy.as_ref().map_or(server.address, |proxy| proxy.address);
        let load = |what, connections| Load {
            to,
            what,
            payloads: file,
            connections,
            rate: calls,
            // The tail of a queue takes a while to show.
            seconds: seconds * 3,
            zipf: true,
        };
        load(What::Fill, 1).run(Some(link))?;
        let seen = load(What::Rate, CALLERS).run(Some(link))?;
        let factor = |of: fn(&Seen) -> f64| match &direct {
            None => String::new(),
            Some(direct) => format!(" ({:.1}x)", of(direct) / of(&seen)),
        };
        table.row([
            if is_direct { "direct" } else { "cinch" }.to_owned(),
            format!("{:.0}{}", seen.p50_us, factor(|seen| seen.p50_us)),
            format!("{:.0}{}", seen.p99_us, factor(|seen| seen.p99_us)),
            format!("{:.0}{}", seen.first_p99_us, factor(|seen| seen.first_p99_us)),
        ]);
        direct.get_or_insert(seen);
    }
    println!("{}", table.text());
    Ok(())
}

/// What a rate as `tc` writes it carries.
fn bytes_a_second(rate: &str) -> Outcome<f64> {
    let digits = rate.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let unit = match &rate[digits.len()..] {
        "gbit" => 1e9,
        "mbit" => 1e6,
        "kbit" => 1e3,
        _ => return Err(format!("--link {rate}: write a rate as 1gbit or 100mbit").into()),
    };
    Ok(digits.parse::<f64>()? * unit / 8.0)
}
