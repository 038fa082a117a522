//! What happens in an ingress right now, from two looks at its `/metrics`: rates, latencies and
//! drops, of everything and by pool.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde::Serialize;

/// How long an answer may take.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// The longest page that is read, in bytes: 4,096 pools with all their counters have ten million.
const PAGE_BYTES_MAX: u64 = 64 << 20;

/// Why there is nothing to show.
#[derive(Debug, thiserror::Error)]
pub enum TopError {
    /// Nobody answers.
    #[error("{address} does not answer: {error}; is it the status address of an ingress?")]
    Unreachable {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// Something else answers.
    #[error("{address} is no ingress: its status page is another one's")]
    NoIngress {
        /// Where.
        address: SocketAddr,
    },
}

/// One look at the metrics.
#[derive(Debug, Clone)]
pub struct Look {
    at: Instant,
    series: BTreeMap<String, Vec<Series>>,
}

#[derive(Debug, Clone)]
struct Series {
    labels: Vec<(String, String)>,
    value: f64,
}

/// What happened between two looks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Top {
    /// Seconds since the ingress started.
    pub uptime_s: f64,
    /// Which configuration holds.
    pub generation: f64,
    /// Open connections.
    pub connections: f64,
    /// Bytes read in a second.
    pub read_bytes_per_s: f64,
    /// The longest wait of bytes in a socket since the start, of the worst listener, in seconds:
    /// its median, 99th hundredth and maximum.
    pub read_interval_s: [f64; 3],
    /// From a read to its worker, since the start, in seconds: the same three.
    pub queue_time_s: [f64; 3],
    /// Connections that were closed or cut off in a second.
    pub closed_per_s: f64,
    /// By sink.
    pub sinks: Vec<TopSink>,
    /// By pool, the one that receives most first.
    pub pools: Vec<TopPool>,
}

/// A sink between two looks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopSink {
    /// Its name.
    pub sink: String,
    /// How full its ring is, from 0 to 1.
    pub ring: f64,
    /// Bytes that wait for it on disk.
    pub spill_bytes: f64,
    /// Writes that failed in a second.
    pub failures_per_s: f64,
}

/// A pool between two looks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopPool {
    /// Its name.
    pub pool: String,
    /// Records received in a second.
    pub received_per_s: f64,
    /// Bytes of text received in a second.
    pub received_bytes_per_s: f64,
    /// Records written in a second.
    pub written_per_s: f64,
    /// Records dropped in a second.
    pub dropped_per_s: f64,
    /// Records dropped since the start, by reason.
    pub dropped: BTreeMap<String, f64>,
    /// Bytes of text for each byte after compression, since the start; 0 before there are any.
    pub ratio: f64,
    /// Whether its connections are held.
    pub is_held: bool,
}

impl Look {
    /// Takes a look at the ingress whose status page is there.
    ///
    /// # Errors
    /// Any [`TopError`].
    pub fn take(address: SocketAddr) -> Result<Look, TopError> {
        let page =
            page(address, "/metrics").map_err(|error| TopError::Unreachable { address, error })?;
        let look = Look::parse(&page);
        let is_ingress = look.series.contains_key("uptime_seconds");
        if is_ingress { Ok(look) } else { Err(TopError::NoIngress { address }) }
    }

    fn parse(page: &str) -> Look {
        let mut series = BTreeMap::<String, Vec<Series>>::new();
        for line in page.lines() {
            let Some(line) = line.strip_prefix("cinch_ingest_") else { continue };
            let Some((full, value)) = line.rsplit_once(' ') else { continue };
            let Ok(value) = value.parse() else { continue };
            let (name, rest) = full.split_once('{').unwrap_or((full, ""));
            series.entry(name.to_owned()).or_default().push(Series { labels: labels(rest), value });
        }
        Look { at: Instant::now(), series }
    }

    fn all(&self, name: &str) -> &[Series] {
        self.series.get(name).map_or(&[], Vec::as_slice)
    }

    /// The sum over all series with these labels.
    fn sum(&self, name: &str, wanted: &[(&str, &str)]) -> f64 {
        // The same from an empty sum, which is minus zero, is no figure to show.
        self.all(name).iter().filter(|series| series.has(wanted)).map(|s| s.value).sum::<f64>()
            + 0.0
    }

    /// The largest of all listeners.
    fn worst(&self, name: &str) -> [f64; 3] {
        ["0.5", "0.99", "1"].map(|quantile| {
            let wanted = [("quantile", quantile)];
            let found = self.all(name).iter().filter(|series| series.has(&wanted));
            found.map(|series| series.value).fold(0.0, f64::max)
        })
    }

    /// The values of a label, in their order.
    fn names(&self, name: &str, label: &str) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.all(name).iter().filter_map(|series| series.label(label)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What happened between an earlier look and this one.
    pub fn since(&self, before: &Look) -> Top {
        let seconds = (self.at - before.at).as_secs_f64().max(1e-9);
        let rate = |name: &str, wanted: &[(&str, &str)]| {
            // A restart between the looks starts all counters anew.
            (self.sum(name, wanted) - before.sum(name, wanted)).max(0.0) / seconds
        };
        let ends = ["refused", "starved", "cut_off", "turned_away"];
        let closed = ends.iter().map(|end| rate(&format!("connections_{end}_total"), &[])).sum();
        let sinks = self.names("ring_bytes", "sink").into_iter().map(|sink| {
            let wanted = [("sink", sink)];
            TopSink {
                sink: sink.to_owned(),
                ring: self.sum("ring_bytes", &wanted)
                    / self.sum("ring_capacity_bytes", &wanted).max(1.0),
                spill_bytes: self.sum("spill_bytes", &wanted),
                failures_per_s: rate("write_failures_total", &wanted),
            }
        });
        let pools = self.names("received_records_total", "pool").into_iter().map(|pool| {
            let wanted = [("pool", pool)];
            let dropped = self.all("dropped_records_total").iter();
            let dropped = dropped.filter(|series| series.has(&wanted) && series.value > 0.0);
            let compressed = self.sum("compressed_bytes_total", &wanted);
            TopPool {
                pool: pool.to_owned(),
                received_per_s: rate("received_records_total", &wanted),
                received_bytes_per_s: rate("received_bytes_total", &wanted),
                written_per_s: rate("written_records_total", &wanted),
                dropped_per_s: rate("dropped_records_total", &wanted),
                dropped: dropped
                    .filter_map(|series| Some((series.label("reason")?.to_owned(), series.value)))
                    .collect(),
                ratio: match compressed > 0.0 {
                    true => self.sum("received_bytes_total", &wanted) / compressed,
                    false => 0.0,
                },
                is_held: self.sum("pool_held", &wanted) > 0.0,
            }
        });
        let mut pools: Vec<TopPool> = pools.collect();
        pools.sort_by(|a, b| b.received_bytes_per_s.total_cmp(&a.received_bytes_per_s));
        Top {
            uptime_s: self.sum("uptime_seconds", &[]),
            generation: self.sum("configuration_generation", &[]),
            connections: self.sum("connections_open", &[]),
            read_bytes_per_s: rate("read_bytes_total", &[]),
            read_interval_s: self.worst("read_interval_seconds"),
            queue_time_s: self.worst("queue_time_seconds"),
            closed_per_s: closed,
            sinks: sinks.collect(),
            pools,
        }
    }
}

impl Series {
    fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }

    fn has(&self, wanted: &[(&str, &str)]) -> bool {
        wanted.iter().all(|(name, value)| self.label(name) == Some(value))
    }
}

/// The labels of a series, from behind the brace that opens them.
fn labels(mut text: &str) -> Vec<(String, String)> {
    let mut labels = Vec::new();
    while let Some((name, rest)) = text.split_once("=\"") {
        let mut value = String::new();
        let mut letters = rest.char_indices();
        let mut end = rest.len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    end = at;
                    break;
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, escaped)) => value.push(escaped),
                    None => {}
                },
                _ => value.push(letter),
            }
        }
        labels.push((name.trim_start_matches(',').to_owned(), value));
        text = rest.get(end + 1..).unwrap_or("");
    }
    labels
}

/// The text of `/metrics`.
/// The longest time between two reads of a connection since this was last asked, of the ingress
/// whose status page is there.
///
/// # Errors
/// Any [`TopError`].
pub fn take_pause(address: SocketAddr) -> Result<Duration, TopError> {
    let unreachable = |error| TopError::Unreachable { address, error };
    let text = page(address, "/pause").map_err(unreachable)?;
    let pause = text.trim().parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    pause.ok_or(TopError::NoIngress { address })
}

fn page(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_TIME)?;
    stream.set_read_timeout(Some(ANSWER_TIME))?;
    // Version 1.0: the page ends with the connection.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(PAGE_BYTES_MAX).read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    Ok(answer.split_once("\r\n\r\n").map_or("", |(_, page)| page).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(seconds: u64, page: &str) -> Look {
        let mut look = Look::parse(page);
        look.at = Instant::now() + Duration::from_secs(seconds);
        look
    }

    #[test]
    fn rates_are_those_between_two_looks_and_names_may_hold_anything() {
        let page = |received: u32, dropped: u32| {
            format!(
                "# HELP cinch_ingest_x y\n\
                 cinch_ingest_received_records_total{{pool=\"we\\\"b, a=\\\\\"}} {received}\n\
                 cinch_ingest_dropped_records_total{{pool=\"we\\\"b, a=\\\\\",reason=\"quota\"}} \
                 {dropped}\n\
                 other 7\ncinch_ingest_broken\n"
            )
        };
        let top = look(2, &page(300, 10)).since(&look(0, &page(100, 0)));
        let [pool] = &top.pools[..] else { panic!("{top:?}") };
        assert_eq!(pool.pool, "we\"b, a=\\");
        assert!((pool.received_per_s - 100.0).abs() < 0.1, "{pool:?}");
        assert!((pool.dropped_per_s - 5.0).abs() < 0.1, "{pool:?}");
        assert_eq!(pool.dropped["quota"], 10.0);
        let restarted = look(2, &page(5, 0)).since(&look(0, &page(300, 10)));
        assert_eq!(restarted.pools[0].received_per_s, 0.0);
    }
}
