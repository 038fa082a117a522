//! The graphs over time: the average size of an object and the bytes written a minute, once as the
//! application sees them and once as they are stored, so that the step of a rollout shows.

use cinch_rollout::metrics::Minute;

use super::super::human;
use super::super::svg::{Chart, Line, Point, Scale, drawn};

/// The graphs of the minutes; none where there are fewer than two.
pub(super) fn graphs(minutes: &[Minute]) -> Vec<String> {
    if minutes.len() < 2 {
        return Vec::new();
    }
    let average = |bytes: u64, minute: &Minute| bytes as f64 / minute.writes.max(1) as f64;
    let volume = |bytes: u64, _: &Minute| bytes as f64;
    vec![
        graph("Average object size", minutes, average),
        graph("Written in a minute", minutes, volume),
    ]
}

fn graph(title: &str, minutes: &[Minute], figure: impl Fn(u64, &Minute) -> f64) -> String {
    let stored: Vec<f64> = minutes.iter().map(|m| figure(m.stored_bytes, m)).collect();
    let payloads: Vec<f64> = minutes.iter().map(|m| figure(m.payload_bytes, m)).collect();
    let all: Vec<f64> = stored.iter().chain(&payloads).copied().collect();
    let up = Scale::linear(&all, (0.0, 1.0));
    let (first, last) = (minutes[0].minute, minutes[minutes.len() - 1].minute);
    let length = last.saturating_sub(first).max(1) as f64;
    let across = |minute: &Minute| minute.minute.saturating_sub(first) as f64 / length;
    let line = |name: &str, class: &str, figures: &[f64]| Line {
        class: class.to_owned(),
        points: minutes
            .iter()
            .zip(figures)
            .map(|(minute, figure)| Point {
                place: (across(minute), up.place(*figure)),
                facts: format!("{}: {name} {}", clock(minute.minute), human::size(*figure)),
            })
            .collect(),
        name: Some(name.to_owned()),
    };
    drawn(&Chart {
        title: title.to_owned(),
        across: "time (UTC)".to_owned(),
        across_ticks: [0.0, 0.5, 1.0]
            .map(|share| (share, clock(first + (share * length) as u64)))
            .to_vec(),
        up_ticks: up.ticks(6).into_iter().map(|tick| (up.place(tick), human::size(tick))).collect(),
        lines: vec![line("stored", "s1", &stored), line("payload", "s0", &payloads)],
    })
}

/// A minute since 1970 as a time of day.
fn clock(minute: u64) -> String {
    format!("{:02}:{:02}", minute / 60 % 24, minute % 60)
}
