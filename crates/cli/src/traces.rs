//! The traces that a run replays: they are read once before anything is measured.

use crate::arguments::{AskedArrival, ReplaySpeed, RunOptions};
use crate::output;
use furlong_console::exit::Usage;
use furlong_loops::replay::ReplayedMessages;
use furlong_model::{Arrival, CONDITION_KINDS, Replay, RequestedCondition, format_ns, is_unseen};
use furlong_trace::{Recording, TraceError};
use std::path::Path;
use std::time::Duration;

/// Shortest and longest part of a trace that a trial replays by default. A shorter trace is repeated.
const USUAL: [Duration; 2] = [Duration::from_millis(40), Duration::from_secs(5)];

/// Shortest mean interval in nanoseconds.
const SHORTEST_NS: u64 = 100;

/// Size of messages without --size, in bytes.
const USUAL_BYTES: usize = 128;

/// Traces of a run, with the measured time of a trial.
pub struct Traces {
    /// The pace and the condition of each trace.
    pub paces: Vec<(Arrival, RequestedCondition)>,
    pub budget: Duration,
}

/// Returns the usage error of a trace.
pub fn invalid(path: &Path, error: &TraceError) -> Usage {
    Usage(format!("{}: {error}", path.display()))
}

/// Returns the path of a trace, which becomes a part of the name of a benchmark.
///
/// # Errors
/// Returns a usage error if it cannot be printed.
pub fn printable(path: &Path) -> Result<&str, Usage> {
    let file = path.to_str().filter(|file| !file.chars().any(is_unseen));
    file.ok_or_else(|| Usage("the path of a trace must be printable UTF-8".to_owned()))
}

/// Reads the traces of --arrival; `None` if no trace is requested.
///
/// # Errors
/// Returns a usage error if a trace cannot be read or replayed, or if an option contradicts it.
pub fn load(asked: &RunOptions) -> Result<Option<Traces>, Usage> {
    check(asked)?;
    let ReplaySpeed(speed_thousandths) = asked.replay.speed.unwrap_or(ReplaySpeed(1000));
    let mut traces = Vec::new();
    for arrival in &asked.arrival {
        let AskedArrival::Trace(path) = arrival else { continue };
        let file = printable(path)?;
        let link = asked.replay.link.as_deref();
        let read = Recording::read(path, link).map_err(|error| invalid(path, &error))?;
        let messages = ReplayedMessages::new(&read.times_ns, &read.sizes_bytes, speed_thousandths);
        traces.push((file, read, messages));
    }
    if traces.is_empty() {
        return Ok(None);
    }
    let duration = |messages: &ReplayedMessages| Duration::from_nanos(messages.duration_ns());
    let longest = traces.iter().map(|(.., messages)| duration(messages)).max().unwrap_or_default();
    let budget = asked.budget.map_or(longest.clamp(USUAL[0], USUAL[1]), |time| time.0);
    let mut paces = Vec::new();
    for (file, read, messages) in &traces {
        if duration(messages) > budget {
            let [part, all] = [budget, duration(messages)].map(|time| format_ns(time.as_nanos() as f64));
            output::tell(format_args!(
                "furlong: {file}: each trial replays the first {part} of {all}; --budget sets the part"
            ));
        }
        let link = asked.replay.link.as_deref().unwrap_or_default();
        paces.push(pace((file, link), read, messages, budget, speed_thousandths)?);
    }
    Ok(Some(Traces { paces, budget }))
}

/// Returns the pace and the condition of the part of a trace that trials of this `budget` replay.
///
/// # Errors
/// Returns a usage error if the rate is too high.
pub fn pace(
    (file, link): (&str, &str),
    read: &Recording,
    messages: &ReplayedMessages,
    budget: Duration,
    speed_thousandths: u32,
) -> Result<(Arrival, RequestedCondition), Usage> {
    let (number, due_ns, mean_bytes) = messages.until(budget.as_nanos() as u64);
    let interval_ns = due_ns / number;
    if interval_ns < SHORTEST_NS {
        return Err(Usage(format!("{file}: more than 10M messages per second; use a lower --speed")));
    }
    let ends = [read.sizes_bytes.iter().min(), read.sizes_bytes.iter().max()];
    let replay = Replay {
        file: file.to_owned(),
        digest: read.digest,
        link: link.to_owned(),
        speed_thousandths,
        sizes_bytes: ends.map(|size| size.map_or(0, |bytes| *bytes as usize)),
        mean_bytes,
        largest_line: read.largest_line,
    };
    Ok((Arrival::Trace { interval_ns, longest_ns: messages.longest_ns() }, replay.condition()))
}

/// Checks that no option contradicts a trace, or needs one.
fn check(asked: &RunOptions) -> Result<(), Usage> {
    let is_trace = |arrival: &AskedArrival| matches!(arrival, AskedArrival::Trace(_));
    let has_rate = !asked.rates.is_empty() || asked.find_rate.is_some();
    let why = if !asked.arrival.iter().any(is_trace) {
        match &asked.replay {
            _ if !asked.arrival.is_empty() && !has_rate => "--arrival needs --rate or --find-rate",
            replay if replay.link.is_some() => "--link needs --arrival trace:FILE",
            replay if replay.speed.is_some() => "--speed needs --arrival trace:FILE",
            _ => return Ok(()),
        }
    } else if has_rate {
        "--arrival trace:FILE has the rate of the trace: leave --rate and --find-rate out, or change it with --speed 2x"
    } else if !asked.arrival.iter().all(is_trace) {
        "--arrival trace:FILE cannot be combined with arrivals that need --rate: run furlong once for each"
    } else if !asked.think_times.is_empty() {
        "--arrival trace:FILE has the times of the trace: leave --think-time out"
    } else if asked.cases.sizes.iter().flat_map(|sizes| &sizes.0).any(|size| size.0 != USUAL_BYTES)
        || asked.conditions.0.iter().flatten().any(|value| matches!(value, RequestedCondition::Sizes(_)))
    {
        "--arrival trace:FILE has the sizes of the trace: leave --size and --sizes out"
    } else {
        return Ok(());
    };
    Err(Usage(why.to_owned()))
}

/// Returns the requested conditions with a trace, if there is one.
pub fn with(
    conditions: &[Vec<RequestedCondition>],
    trace: Option<&RequestedCondition>,
) -> Vec<Vec<RequestedCondition>> {
    let mut conditions = conditions.to_vec();
    if let Some(trace) = trace {
        let place = CONDITION_KINDS.iter().position(|kind| kind.name == trace.kind().name);
        place
            .and_then(|place| conditions.get_mut(place))
            .into_iter()
            .for_each(|axis| *axis = vec![trace.clone()]);
    }
    conditions
}
