//! What compression does in production, from the calls that processes counted: the three scatter
//! plots of the cart service's publication (stored against original size, time to read, time to
//! write) and its two graphs over time (object size, write volume), as one page without a script.
//!
//! It draws what was sampled where it ran, and judges nothing.

mod dots;
mod lines;

use std::fmt::Write;

use cinch_rollout::metrics::{Export, NamespaceExport, SampleKind};

use super::human;
use super::svg::{escaped, page_style};

/// The most dots of a plot. More hide each other, and every one is a line of the page.
const DOTS_MAX: usize = 2_000;

/// Makes the whole page.
pub fn page(export: &Export) -> String {
    let mut body = String::new();
    for (name, namespace) in &export.namespaces {
        section(name, namespace, &mut body);
    }
    if export.namespaces.is_empty() {
        body.push_str("<section><p>No namespace was exported.</p></section>");
    }
    let count = human::counted(export.processes.len() as u64, "process");
    let processes = export.processes.iter().map(|name| escaped(name)).collect::<Vec<_>>();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n<title>cinch in production</title>\n\
         <style>{}{}{}</style>\n</head>\n<body>\n<main>\n<header><h1>cinch in production</h1>\
         <p>{count}: {}</p></header>\n{body}</main>\n</body>\n</html>\n",
        include_str!("html/style.css"),
        page_style(),
        include_str!("production/style.css"),
        processes.join(", "),
    )
}

fn section(name: &str, namespace: &NamespaceExport, out: &mut String) {
    let of_kind =
        |kind: SampleKind| namespace.samples.iter().filter(move |sample| sample.kind == kind);
    let sizes: Vec<(f64, f64)> = of_kind(SampleKind::Write)
        .map(|sample| (sample.payload_bytes as f64, sample.packed_bytes as f64))
        .collect();
    let reads: Vec<(f64, f64)> = of_kind(SampleKind::Read)
        .map(|sample| (sample.packed_bytes as f64, sample.time_ns as f64))
        .collect();
    let writes: Vec<(f64, f64)> = of_kind(SampleKind::Write)
        .map(|sample| (sample.payload_bytes as f64, sample.time_ns as f64))
        .collect();
    let mut add = |text: String| out.push_str(&text);
    add(format!("<section>\n<h2>{}</h2>\n<p>{}</p>\n", escaped(name), summary(namespace)));
    add("<div class=\"charts\">\n".to_owned());
    for plot in [
        dots::Plot {
            title: "Packed size",
            across: "original size",
            points: &sizes,
            is_time: false,
        },
        dots::Plot { title: "Time to read", across: "packed size", points: &reads, is_time: true },
        dots::Plot {
            title: "Time to write",
            across: "original size",
            points: &writes,
            is_time: true,
        },
    ] {
        add(dots::drawn(&plot, DOTS_MAX));
    }
    for graph in lines::graphs(&namespace.minutes) {
        add(graph);
    }
    add("</div>\n</section>\n".to_owned());
}

/// The figures in words, for whoever can't see the pictures.
fn summary(namespace: &NamespaceExport) -> String {
    let mut text = String::new();
    let written: Vec<_> =
        namespace.samples.iter().filter(|sample| sample.kind == SampleKind::Write).collect();
    if !written.is_empty() {
        let sum = |of: fn(&cinch_rollout::metrics::Sample) -> u64| {
            written.iter().map(|sample| of(sample) as f64).sum::<f64>()
        };
        let (payload, packed) = (sum(|s| s.payload_bytes), sum(|s| s.packed_bytes));
        let count = written.len() as f64;
        // A String takes any text.
        let _ = write!(
            text,
            "{}: {} on average, {} packed ({}). ",
            human::counted(written.len() as u64, "write"),
            human::size(payload / count),
            human::size(packed / count),
            human::ratio(payload / packed.max(1.0)),
        );
    }
    let minutes = &namespace.minutes;
    if let (Some(first), Some(last)) = (minutes.first(), minutes.last()) {
        let average = |minute: &cinch_rollout::metrics::Minute| {
            human::size(minute.stored_bytes as f64 / minute.writes.max(1) as f64)
        };
        let _ = write!(
            text,
            "Stored for each write: {} in the first minute, {} in the last.",
            average(first),
            average(last)
        );
    }
    if text.is_empty() { "Nothing was packed or read yet.".to_owned() } else { text }
}

#[cfg(test)]
mod tests;
