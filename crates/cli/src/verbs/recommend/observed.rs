//! The workload of a trace that `furlong observe` recorded.

use super::check;
use crate::arguments::WorkloadOptions;
use crate::{output, traces};
use furlong_bench::registry;
use furlong_console::exit::Usage;
use furlong_loops::replay::ReplayedMessages;
use furlong_model::{
    Arrival, ByteSize, Objective, ObservedTraffic, Pattern, Rate, RequestedConditions, Wait, Workload,
};
use furlong_trace::{MessageKind, Recording, TraceMessage, TraceSummary, open};
use std::path::Path;
use std::time::Duration;

/// The part of a trace that a trial replays at most.
const PART: Duration = Duration::from_millis(500);

/// A requester that waits for less than this multiple of the time to the answer sends as soon as it can.
const SOON: u64 = 2;

/// Messages of a link and the answers to them, as times and sizes.
#[derive(Default)]
struct Traffic {
    means: Option<String>,
    sizes: [Vec<u32>; 2],
    /// Nanoseconds from a request to its answer, and from an answer to the next request.
    gaps_ns: [Vec<u64>; 2],
    ends_ns: Option<[u64; 2]>,
    last: Option<(bool, u64)>,
}

impl Traffic {
    fn add(&mut self, message: &TraceMessage, is_answer: bool) {
        let time_ns = message.time_ns;
        self.means = self.means.take().or_else(|| message.means.clone());
        self.sizes[usize::from(is_answer)].push(message.size_bytes);
        if let Some((was_answer, last_ns)) = self.last
            && was_answer != is_answer
        {
            self.gaps_ns[usize::from(was_answer)].push(time_ns - last_ns);
        }
        self.last = Some((is_answer, time_ns));
        self.ends_ns = Some(self.ends_ns.map_or([time_ns; 2], |[first, _]| [first, time_ns]));
    }

    /// Returns whether each request follows the last answer at once.
    fn is_closed_loop(&self) -> bool {
        let [answer, next] = self.gaps_ns.clone().map(median);
        answer.zip(next).is_some_and(|(answer_ns, next_ns)| next_ns <= SOON * answer_ns)
    }

    fn per_second(&self) -> f64 {
        let [first, last] = self.ends_ns.unwrap_or_default();
        self.sizes[0].len().saturating_sub(1) as f64 * 1e9 / (last - first).max(1) as f64
    }
}

fn median<T: Ord + Copy>(mut values: Vec<T>) -> Option<T> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// Returns the workload of the recorded traffic, with the constraints of the options.
///
/// # Errors
/// Returns a usage error if the trace cannot be read or replayed.
pub fn workload(path: &Path, link: Option<&str>, options: &WorkloadOptions) -> anyhow::Result<Workload> {
    let file = traces::printable(path)?;
    if options.objective == Some(Objective::Throughput) {
        let why = "--observed has the rate of the trace: use an --objective other than throughput";
        return Err(Usage(why.to_owned()).into());
    }
    let link = match link {
        Some(link) => link.to_owned(),
        None => busiest_link(path)?,
    };
    let (traffic, link) = read(path, &link)?;
    let [sent, answers] = &traffic.sizes;
    let [size, answer] = [sent, answers].map(|sizes| median(sizes.clone()).unwrap_or_default() as usize);
    let per_second = traffic.per_second();
    // Two pipes between two processes may be independent, so the directions must alternate.
    let is_answered = 10 * traffic.gaps_ns[0].len() >= 8 * sent.len();
    let is_closed_loop = is_answered && traffic.is_closed_loop();
    let has_sizes_of_both = is_closed_loop && size != answer;
    let fits =
        |pattern: &Pattern| pattern.is_stream() != is_answered && pattern.has_requests() == has_sizes_of_both;
    let pattern = Pattern::OVER_ONE_LINK.into_iter().find(fits);
    let mut options = WorkloadOptions { pattern, ..options.clone() };
    let benchmark = traffic.means.as_deref().and_then(benchmark);
    let mut observed = ObservedTraffic {
        link: link.clone(),
        benchmark,
        arrival: Arrival::ClosedLoop,
        conditions: RequestedConditions::default(),
        per_second,
    };
    if is_closed_loop {
        options.size = Some(ByteSize(answer));
        options.request = (size != answer).then_some(ByteSize(size));
        output::tell(format_args!(
            "furlong: {file}: each request follows the last answer at once, so candidates run in a closed loop"
        ));
    } else {
        let recording = Recording::read(path, Some(&link)).map_err(|error| traces::invalid(path, &error))?;
        let messages = ReplayedMessages::new(&recording.times_ns, &recording.sizes_bytes, 1000);
        let (arrival, trace) = traces::pace((file, &link), &recording, &messages, PART, 1000)?;
        (observed.arrival, observed.conditions) = (arrival, RequestedConditions::default().with(trace));
        options.size = recording.sizes_bytes.iter().max().map(|bytes| ByteSize(*bytes as usize));
        options.objective = options.objective.or(Some(Objective::Latency));
    }
    let workload = check(&WorkloadOptions { rate: rate(&observed), ..options })?;
    let interval_ns = match observed.arrival {
        Arrival::Trace { interval_ns, .. } => Some(interval_ns),
        _ => None,
    };
    Ok(Workload { interval_ns, observed: Some(observed), ..workload })
}

/// Returns a rate for the checks of options, if the pace is not a closed loop.
fn rate(observed: &ObservedTraffic) -> Option<Rate> {
    let is_paced = !observed.arrival.is_closed_loop();
    is_paced.then(|| format!("{:.3}/s", observed.per_second).parse().ok()).flatten()
}

/// Returns the link with the most messages.
fn busiest_link(path: &Path) -> anyhow::Result<String> {
    let mut summary = TraceSummary::new()?;
    for message in open(path).map_err(|error| traces::invalid(path, &error))? {
        summary.add(&message.map_err(|error| traces::invalid(path, &error))?);
    }
    let links = summary.links();
    let first = links.into_iter().map(|(link, _)| link).next();
    first.ok_or_else(|| Usage(format!("{}: no message", path.display())).into())
}

/// Reads the messages of a link with the answers, and returns them with the link of the requests.
fn read(path: &Path, link: &str) -> anyhow::Result<(Traffic, String)> {
    let (mut traffic, mut requests) = (Traffic::default(), None);
    for message in open(path).map_err(|error| traces::invalid(path, &error))? {
        let message = message.map_err(|error| traces::invalid(path, &error))?;
        let [forward, back] = [message.link(), format!("{}->{}", message.receiver, message.sender)];
        if forward == link || back == link {
            let is_answer = match message.kind {
                MessageKind::Request => false,
                MessageKind::Response => true,
                MessageKind::Message => forward != link,
            };
            requests.get_or_insert(if is_answer { back } else { forward });
            traffic.add(&message, is_answer);
        }
    }
    if traffic.sizes[0].len() < 2 {
        let why =
            format!("{}: link '{link}' has fewer than two messages; see furlong trace info", path.display());
        return Err(Usage(why).into());
    }
    Ok((traffic, requests.unwrap_or_default()))
}

/// Returns the benchmark of this means of communication: the mechanism or the wait strategy with its name, or the first
/// mechanism of its kind.
fn benchmark(means: &str) -> Option<(String, Wait)> {
    let known: Vec<_> = registry().into_iter().map(|entry| entry.capabilities).collect();
    let blocking = |waits: &[Wait]| waits.iter().copied().find(|wait| wait.sleeps_in_the_end());
    let kind = format!("{means}-");
    let is_kind = |name: &str| name.starts_with(&kind);
    let named = known.iter().find(|known| known.name == means);
    let by_name = named.or_else(|| known.iter().find(|known| is_kind(known.name)));
    let by_name = by_name.and_then(|known| Some((known.name.to_owned(), blocking(known.waits)?)));
    let waits = || {
        known.iter().find_map(|known| {
            let wait = known.waits.iter().copied().find(|wait| wait.name() == means)?;
            Some((known.name.to_owned(), wait))
        })
    };
    by_name.or_else(waits)
}
