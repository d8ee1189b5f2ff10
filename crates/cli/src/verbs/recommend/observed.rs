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
use furlong_trace::{
    MOST_REPLAYED, MessageKind, Recording, TraceError, TraceMessage, TraceReader, TraceSummary, open_trace,
};
use std::io::BufRead;
use std::path::Path;
use std::time::Duration;

/// The part of a trace that a trial replays at most.
const PART: Duration = Duration::from_millis(500);

/// Most exchanges per second of a trace. Higher rates cannot be replayed.
const MOST_PER_SECOND: f64 = 1e7;

/// A requester that waits for less than this multiple of the time to the answer sends as soon as it can.
const SOON: u64 = 2;

/// Messages of a link and the answers to them, as times and sizes.
#[derive(Debug, Default)]
struct Traffic {
    /// Name of the link of the requests, `SENDER->RECEIVER`.
    link: String,
    means: Option<String>,
    /// Sizes of the messages and of the answers.
    sizes: [Vec<u32>; 2],
    /// Nanoseconds from a request to its answer, and from an answer to the next request.
    gaps_ns: [Vec<u64>; 2],
    ends_ns: Option<[u64; 2]>,
    last: Option<(bool, u64)>,
}

impl Traffic {
    /// Reads the messages of a link with the answers. Either direction may be named if the messages are requests and responses.
    fn read<R: BufRead>(mut messages: TraceReader<R>, link: &str) -> Result<Traffic, TraceError> {
        let mut traffic = Traffic::default();
        while let Some(message) = messages.next().transpose()? {
            let [forward, back] = [message.link(), format!("{}->{}", message.receiver, message.sender)];
            if forward != link && back != link {
                continue;
            }
            let is_answer = match message.kind {
                MessageKind::Request => false,
                MessageKind::Response => true,
                MessageKind::Message => forward != link,
            };
            if traffic.last.is_none() {
                traffic.link = if is_answer { back } else { forward };
            }
            traffic.add(&message, is_answer);
            if traffic.sizes.iter().map(Vec::len).sum::<usize>() > MOST_REPLAYED {
                let what = format!("more than {MOST_REPLAYED} messages: cut the trace before this line");
                return Err(TraceError::Line(messages.line(), what));
            }
        }
        if traffic.sizes[0].len() < 2 {
            let what =
                format!("link '{link}' has fewer than two messages; furlong trace info lists the links");
            return Err(TraceError::File(what));
        }
        Ok(traffic)
    }

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

    /// Returns whether most messages are answered before the next one. Two pipes between two processes may be independent.
    fn is_answered(&self) -> bool {
        10 * self.gaps_ns[0].len() >= 8 * self.sizes[0].len()
    }

    /// Returns whether each request follows the last answer at once.
    fn is_closed_loop(&self) -> bool {
        let [answer, next] = self.gaps_ns.clone().map(median);
        let follows = answer.zip(next).is_some_and(|(answer_ns, next_ns)| next_ns <= SOON * answer_ns);
        follows && self.is_answered()
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
    let invalid = |error: TraceError| traces::invalid(path, &error);
    if options.objective == Some(Objective::Throughput) {
        let why = "--observed has the rate of the trace: use an --objective other than throughput";
        return Err(Usage(why.to_owned()).into());
    }
    let link = match link {
        Some(link) => link.to_owned(),
        None => busiest_link(path)?,
    };
    let traffic = open_trace(path).and_then(|messages| Traffic::read(messages, &link)).map_err(invalid)?;
    if traffic.per_second() > MOST_PER_SECOND {
        return Err(Usage(format!("{file}: more than 10M messages per second on '{}'", traffic.link)).into());
    }
    let link = traffic.link.clone();
    let [size, answer] = traffic.sizes.clone().map(|sizes| median(sizes).unwrap_or_default() as usize);
    let is_closed_loop = traffic.is_closed_loop();
    let has_sizes_of_both = is_closed_loop && size != answer;
    let fits = |pattern: &Pattern| {
        pattern.is_stream() != traffic.is_answered() && pattern.has_requests() == has_sizes_of_both
    };
    let pattern = Pattern::OVER_ONE_LINK.into_iter().find(fits);
    let mut options = WorkloadOptions { pattern, ..options.clone() };
    let mut observed = ObservedTraffic {
        link: link.clone(),
        benchmark: traffic.means.as_deref().and_then(benchmark),
        arrival: Arrival::ClosedLoop,
        conditions: RequestedConditions::default(),
        per_second: traffic.per_second(),
    };
    if is_closed_loop {
        options.size = Some(ByteSize(answer));
        options.request = has_sizes_of_both.then_some(ByteSize(size));
        output::tell(format_args!(
            "furlong: {file}: each request follows the last answer at once, so candidates run in a closed loop"
        ));
    } else {
        let recording = Recording::read(path, Some(&link)).map_err(invalid)?;
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
    let invalid = |error: TraceError| traces::invalid(path, &error);
    let mut summary = TraceSummary::new()?;
    for message in open_trace(path).map_err(invalid)? {
        summary.add(&message.map_err(invalid)?);
    }
    let first = summary.links().into_iter().map(|(link, _)| link).next();
    first.ok_or_else(|| Usage(format!("{}: no message", path.display())).into())
}

/// Returns the benchmark of this means of communication: the mechanism with its name, or the first one of its kind, with its
/// first wait strategy that blocks.
fn benchmark(means: &str) -> Option<(String, Wait)> {
    let known: Vec<_> = registry().into_iter().map(|entry| entry.capabilities).collect();
    let kind = format!("{means}-");
    let named = known.iter().find(|known| known.name == means);
    let found = named.or_else(|| known.iter().find(|known| known.name.starts_with(&kind)))?;
    let wait = found.waits.iter().copied().find(|wait| wait.sleeps_in_the_end())?;
    Some((found.name.to_owned(), wait))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the traffic of lines with a time, an arrow for the direction, a size and a kind.
    fn traffic(lines: &[(u64, char, u32, &str)], link: &str) -> Result<Traffic, TraceError> {
        let line = |(time_ns, arrow, size_bytes, kind): &(u64, char, u32, &str)| {
            let [sender, receiver] = if *arrow == '>' { ["a", "b"] } else { ["b", "a"] };
            format!(
                "{{\"time_ns\":{time_ns},\"sender\":\"{sender}\",\"receiver\":\"{receiver}\",\
                 \"size_bytes\":{size_bytes},\"kind\":\"{kind}\",\"means\":\"unix\"}}\n"
            )
        };
        let text: String = lines.iter().map(line).collect();
        TraceReader::new(text.as_bytes()).and_then(|reader| Traffic::read(reader, link))
    }

    /// Returns exchanges with these times from a request to its answer, and from the answer to the next request.
    fn exchanges(
        answer_ns: u64,
        next_ns: u64,
        kinds: [&'static str; 2],
    ) -> Vec<(u64, char, u32, &'static str)> {
        let exchange = |number: u64| {
            let time_ns = number * (answer_ns + next_ns);
            [(time_ns, '>', 64, kinds[0]), (time_ns + answer_ns, '<', 1000, kinds[1])]
        };
        (0..10).flat_map(exchange).collect()
    }

    #[test]
    fn closed_loop_is_recognized_by_the_time_to_the_next_request() {
        for kinds in [["request", "response"], ["message", "message"]] {
            let fast = traffic(&exchanges(1000, 1900, kinds), "a->b").unwrap();
            assert!(fast.is_answered() && fast.is_closed_loop(), "{fast:?}");
            assert_eq!((fast.link.as_str(), fast.means.as_deref()), ("a->b", Some("unix")));
            assert_eq!(fast.sizes.clone().map(median), [Some(64), Some(1000)]);
            assert!(
                (fast.per_second() / (9.0 * 1e9 / (9.0 * 2900.0 + 1000.0)) - 1.0).abs() < 1e-9,
                "{fast:?}"
            );
            let slow = traffic(&exchanges(1000, 2100, kinds), "a->b").unwrap();
            assert!(slow.is_answered() && !slow.is_closed_loop(), "{slow:?}");
        }
    }

    #[test]
    fn link_of_responses_means_that_of_the_requests() {
        let lines = exchanges(1000, 1000, ["request", "response"]);
        let found = traffic(&lines, "b->a").unwrap();
        assert_eq!((found.link.as_str(), found.sizes[0][0]), ("a->b", 64));
        // The trace may begin with a response.
        let found = traffic(&lines[1..], "b->a").unwrap();
        assert_eq!((found.link.as_str(), found.sizes.map(|sizes| sizes.len())), ("a->b", [9, 10]));
        // Without kinds, the named direction is that of the requests.
        let found = traffic(&exchanges(1000, 1000, ["message", "message"]), "b->a").unwrap();
        assert_eq!((found.link.as_str(), found.sizes[0][0]), ("b->a", 1000));
    }

    #[test]
    fn independent_directions_are_not_answers() {
        let mut lines: Vec<_> = (0..100).map(|number| (number * 1000, '>', 64, "message")).collect();
        lines.insert(50, (49_500, '<', 8, "message"));
        let found = traffic(&lines, "a->b").unwrap();
        assert!(!found.is_answered() && !found.is_closed_loop(), "{found:?}");
    }

    #[test]
    fn too_few_and_too_many_messages_are_rejected() {
        let one = traffic(&[(0, '>', 1, "message"), (5, '<', 1, "message")], "a->b").unwrap_err();
        assert!(one.to_string().starts_with("link 'a->b' has fewer than two messages"), "{one}");
        let responses: Vec<_> = (0..9).map(|number| (number, '<', 1, "response")).collect();
        assert!(matches!(traffic(&responses, "b->a"), Err(TraceError::File(_))));
        let many: Vec<_> = (0..MOST_REPLAYED as u64 + 9).map(|number| (number, '>', 1, "message")).collect();
        let error = traffic(&many, "a->b").unwrap_err();
        assert!(error.to_string().starts_with("line 1000001: more than 1000000 messages"), "{error}");
    }

    #[test]
    fn means_are_those_of_the_mechanisms() {
        for means in ["pipe", "fifo", "tcp", "udp", "posix-mq", "sysv-mq", "unix"] {
            let (mechanism, wait) = benchmark(means).unwrap();
            assert!(mechanism.starts_with(means) && wait.sleeps_in_the_end(), "{mechanism}/{wait}");
        }
        assert_eq!(
            benchmark("unix"),
            Some(("unix-stream".to_owned(), Wait::Block)),
            "the first one of its kind"
        );
        for means in ["", "-", "pi", "a mechanism", "private-futex"] {
            assert_eq!(benchmark(means), None, "{means}");
        }
    }
}
