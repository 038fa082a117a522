//! `cinch ingest size`: the article's formulas on figures of one's own, to plan an ingress before
//! there is one.

use cinch_ingest::size::Plan;

use crate::Done;
use crate::arguments::SizeArguments;
use crate::failure::Failure;
use crate::output::{Output, Place};

/// Prints what follows from the plan.
pub fn run(arguments: &SizeArguments) -> Result<Done, Failure> {
    if !(arguments.rate > 0.0 && arguments.rate.is_finite()) {
        return Err(Failure::Argument("--rate is a number of bytes above 0".to_owned()));
    }
    let plan = Plan {
        connections: arguments.connections,
        rate: arguments.rate,
        readers: arguments.readers,
        period: arguments.period,
        pause: arguments.pause,
        process: arguments.process,
        client_buffer: arguments.client_buffer,
    };
    let size = plan.size();
    let (interval, budget) = (size.interval.as_secs_f64(), size.budget.as_secs_f64());
    let text = if arguments.json {
        let json = serde_json::json!({
            "interval_s": interval,
            "budget_s": budget,
            "memory_bytes": size.memory_bytes,
            "readers_needed": size.readers_needed,
        });
        format!("{json}\n")
    } else {
        let fits = if interval <= budget { "fits" } else { "does not fit" };
        let needed = match size.readers_needed {
            Some(readers) => format!("{readers} or more"),
            None => "no number is enough: the pause is longer than the budget".to_owned(),
        };
        let memory = size.memory_bytes / 1e6;
        format!(
            "interval  {interval:.3} s = connections / readers x period + pause\n\
             budget    {budget:.3} s = client buffer / rate of a connection; the interval {fits}\n\
             readers   {needed}\n\
             memory    {memory:.1} MB = rate x processing time\n"
        )
    };
    let mut output = Output::open(&Place::Stdout, true)?;
    output.write(text.as_bytes())?;
    output.finish()?;
    Ok(Done::Whole)
}
