//! An observation for readers.

use super::amounts::Percentiles;
use super::links::{Link, LinkEnd, Peer, RoundTrips, TrafficShape};
use super::means::Means;
use super::observation::{Observation, ObservedProcess, SharedMemory};
use super::waits::WaitStrategy;
use furlong_model::{format_bytes, format_ns, three_digits};
use furlong_render::document::{Cell, Column, Document, Fact, Layout, Line, Row, Section, Table, Tone};
use furlong_render::words::count;
use furlong_render::{format_count, plain};

/// Most links in a table.
const MOST_LINKS: usize = 20;

/// Most processes in a table.
const MOST_PROCESSES: usize = 30;

/// CPU share from which a process without a link is shown.
const LEAST_CPU: f64 = 0.01;

/// CPU share from which a process without sleeps may busy-wait in shared memory.
const BUSY: f64 = 0.5;

/// Returns the document of an observation.
pub fn document(found: &Observation) -> Document {
    // Threads of one process are no link between processes.
    let candidates = found.links.iter().filter(|link| link.means != Means::PrivateFutex);
    let (links, silent): (Vec<_>, Vec<_>) = candidates.partition(|link| link.messages > 0);
    let omitted = silent.len() + links.len().saturating_sub(MOST_LINKS);
    let links = &links[..links.len().min(MOST_LINKS)];
    let mut section = Section::titled(format!("Links in {}", format_ns(found.duration_ns as f64)));
    section = match links.is_empty() {
        true if found.unidentified_descriptors > 0 => {
            section.paragraph("No message was seen on a descriptor that could be identified.")
        }
        true => section.paragraph("No message was seen."),
        false => section.table(link_table(links)),
    };
    if omitted > 0 {
        section = section
            .paragraph(format!("{} without messages, or with few, not shown.", count(omitted, "link")));
    }
    let has_ends = links.iter().any(|link| link.senders.len() + link.receivers.len() + link.users.len() > 0);
    let ends = has_ends.then(|| Section::titled("Both ends of each link").table(end_table(links)));
    let processes = Section::titled("Processes").table(process_table(found, links));
    let cost = Section::titled("Observer").facts(cost(found));
    let invisible = Section::list("Not visible", invisible(found));
    [Some(section), ends, Some(processes), Some(cost), Some(invisible)].into_iter().flatten().collect()
}

fn link_table(links: &[&Link]) -> Table {
    let columns = [
        Column::figures("#"),
        Column::words("sender"),
        Column::words("receiver"),
        Column::words("means"),
        Column::words("pattern"),
        Column::figures("messages/s"),
        Column::figures("bytes/s"),
        Column::figures("size p50"),
        Column::figures("max"),
        Column::figures("time p50"),
        Column::figures("p99"),
        Column::words("object"),
    ];
    let row = |(number, link): (usize, &&Link)| {
        let size = |figure: fn(&Percentiles) -> u64| {
            let size = link.size_bytes.as_ref().map(figure);
            size.map_or_else(Cell::none, |bytes| Cell::figure(format_bytes(bytes as usize), bytes as f64))
        };
        let times = times(link);
        let time = |figure: fn(&Percentiles) -> u64| {
            let time = times.as_ref().map(figure);
            time.map_or_else(Cell::none, |ns| Cell::figure(format_ns(ns as f64), ns as f64))
        };
        Row::neutral([
            Cell::figure((number + 1).to_string(), number as f64),
            Cell::Text(peers(&link.senders, &link.other_senders, &link.users)),
            Cell::Text(peers(&link.receivers, &link.other_receivers, &link.users)),
            Cell::Text(link.means.words().to_owned()),
            Cell::Text(pattern(link)),
            Cell::figure(scaled(link.messages_per_s), link.messages_per_s),
            link.bytes_per_s.map_or_else(Cell::none, |rate| Cell::figure(scaled(rate), rate)),
            size(|sizes| sizes.p50),
            size(|sizes| sizes.max),
            time(|times| times.p50),
            time(|times| times.p99),
            Cell::Text(plain(&link.object)),
        ])
    };
    let mut table = Table::new(columns, links.iter().enumerate().map(row).collect());
    table.notes.push("time: round trip of requests and responses, otherwise from send to receive".to_owned());
    table.layout = Layout::Continue(1);
    table
}

/// Returns the times of the requester, or of a message.
pub(super) fn times(link: &Link) -> Option<Percentiles> {
    let is_requester = |end: &&RoundTrips| link.requester.is_none_or(|pid| pid == end.peer.pid);
    let trips = link.round_trips.iter().filter(is_requester).map(|end| end.time_ns);
    trips.min_by_key(|times| times.p50).or(link.transit_ns)
}

fn pattern(link: &Link) -> String {
    match (link.pattern, link.requester) {
        (TrafficShape::Unanswered, _) => "one way",
        (TrafficShape::Unknown, _) => "direction not visible",
        (TrafficShape::RequestsAndResponses, None) => "request/response",
        (TrafficShape::RequestsAndResponses, Some(pid)) => {
            let is_request = link.senders.iter().any(|end| end.peer.pid == pid);
            if is_request { "requests" } else { "responses" }
        }
    }
    .to_owned()
}

/// Returns the processes at an end.
pub(super) fn peers(observed: &[LinkEnd], others: &[Peer], users: &[LinkEnd]) -> String {
    let used = if observed.is_empty() && others.is_empty() { users } else { observed };
    let known = used.iter().map(|end| &end.peer).chain(others).map(process);
    let known: Vec<_> = known.collect();
    match &known[..] {
        [] => "not observed".to_owned(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

fn process(peer: &Peer) -> String {
    match plain(&peer.command) {
        // It exited before its name could be read.
        name if name.is_empty() => format!("PID {}", peer.pid),
        name => format!("{name}[{}]", peer.pid),
    }
}

fn end_table(links: &[&Link]) -> Table {
    let columns = [
        Column::figures("#"),
        Column::words("process"),
        Column::words("does"),
        Column::words("waits"),
        Column::words("calls"),
        Column::figures("calls/msg"),
        Column::figures("sleeps/msg"),
        Column::figures("failed/msg"),
    ];
    let mut rows = Vec::new();
    for (number, link) in links.iter().enumerate() {
        let ends = [("sends", &link.senders), ("receives", &link.receivers), ("uses", &link.users)];
        for (does, end) in ends.iter().flat_map(|(does, ends)| ends.iter().map(move |end| (does, end))) {
            let ratio = |ratio: Option<f64>| {
                ratio.map_or_else(Cell::none, |ratio| Cell::figure(three_digits(ratio), ratio))
            };
            rows.push(Row::neutral([
                Cell::figure((number + 1).to_string(), number as f64),
                Cell::Text(process(&end.peer)),
                Cell::Text((*does).to_owned()),
                Cell::Text(waits(end)),
                Cell::Text([&end.calls[..], &end.readiness_calls[..]].concat().join(", ")),
                ratio(end.calls_per_message),
                ratio(end.sleeps_per_message),
                ratio(end.failed_attempts_per_message),
            ]));
        }
    }
    let mut table = Table::new(columns, rows);
    table.layout = Layout::Continue(1);
    table
}

fn waits(end: &LinkEnd) -> String {
    match end.wait {
        Some(WaitStrategy::Blocks) => "blocks in the call".to_owned(),
        Some(WaitStrategy::AwaitsReadiness) => end.readiness_calls.join(", "),
        Some(WaitStrategy::BusyWaits) => "busy-waits".to_owned(),
        Some(WaitStrategy::NeverWaits) => "never".to_owned(),
        None => "–".to_owned(),
    }
}

fn process_table(found: &Observation, links: &[&Link]) -> Table {
    let columns = [
        Column::words("process"),
        Column::figures("CPU"),
        Column::figures("sleeps/s"),
        Column::figures("preemptions/s"),
        Column::figures("traced calls/s"),
        Column::figures("tracing"),
    ];
    let row = |found: &ObservedProcess| {
        let rate = |rate: f64| Cell::figure(scaled(rate), rate);
        Row::neutral([
            Cell::Text(process(&found.peer)),
            Cell::figure(format!("{} %", three_digits(found.cpu_share * 100.0)), found.cpu_share),
            rate(found.voluntary_switches_per_s),
            rate(found.preemptions_per_s),
            rate(found.calls_per_s),
            Cell::figure(format!("{} %", three_digits(found.tracing_share * 100.0)), found.tracing_share),
        ])
    };
    let is_end = |pid: i32| {
        let mut ends =
            links.iter().flat_map(|link| link.senders.iter().chain(&link.receivers).chain(&link.users));
        ends.any(|end| end.peer.pid == pid)
    };
    let is_shown = |found: &&ObservedProcess| found.cpu_share >= LEAST_CPU || is_end(found.peer.pid);
    let shown: Vec<_> = found.processes.iter().filter(is_shown).take(MOST_PROCESSES).map(row).collect();
    let omitted = found.processes.len() - shown.len();
    let mut table = Table::new(columns, shown);
    if omitted > 0 {
        let be = if omitted == 1 { "was" } else { "were" };
        table.notes.push(format!("{} {be} omitted because of little CPU time.", count(omitted, "process")));
    }
    table.layout = Layout::Continue(1);
    table
}

fn cost(found: &Observation) -> Vec<Fact> {
    let observer = &found.observer;
    let share = format!("{} % CPU", three_digits(observer.cpu_share * 100.0));
    let added = format!(
        "+{} (measured on furlong before; context switches cost more)",
        format_ns(observer.traced_call_ns)
    );
    let events =
        format!("{} ({}/s), {} lost", observer.events, scaled(observer.events_per_s), observer.lost_events);
    vec![
        Fact::new("means", "tracepoints through perf_event_open"),
        Fact::new("cost", share),
        Fact::new("events", events),
        Fact::new("traced call", added),
    ]
}

/// Returns the traffic that system calls do not show.
pub(super) fn invisible(found: &Observation) -> Vec<Line> {
    let mut lines = Vec::new();
    let warning = |text: String| Line { tone: Tone::Warning, text };
    if found.observer.lost_events > 0 {
        lines.push(warning(format!(
            "{} events were lost because the processes made calls faster than this process could read them. Rates and \
             counts per message are too low.",
            found.observer.lost_events
        )));
    }
    lines.extend(found.shared_memory.iter().map(|memory| warning(shared_memory(memory, found))));
    let rings = found.processes.iter().filter(|process| process.io_uring_calls > 0);
    lines.extend(rings.map(|found| {
        let text = format!(
            "{} uses io_uring ({}). Its transfers are not system calls.",
            process(&found.peer),
            count(found.io_uring_calls as usize, "call")
        );
        warning(text)
    }));
    if found.unidentified_descriptors > 0 {
        let closed = count(found.unidentified_descriptors as usize, "descriptor");
        lines.push(Line::neutral(format!(
            "{closed} of files, short connections or processes that ran for some milliseconds, closed before furlong could identify them."
        )));
    }
    lines
}

fn shared_memory(memory: &SharedMemory, found: &Observation) -> String {
    let users: Vec<_> =
        found.processes.iter().filter(|process| memory.processes.contains(&process.peer.pid)).collect();
    let names: Vec<_> = users.iter().map(|user| process(&user.peer)).collect();
    let name = memory.name.as_deref().map_or_else(String::new, |name| format!(" {}", plain(name)));
    let mut text = format!(
        "Stores to shared memory ({}{name}, {}) of {} make no system calls.",
        memory.kind,
        format_bytes(memory.bytes as usize),
        names.join(", ")
    );
    for user in users {
        if user.cpu_share > BUSY && user.voluntary_switches_per_s < 100.0 {
            text += &format!(
                " {} uses {:.0} % of a CPU and does not sleep: it may busy-wait in this memory.",
                process(&user.peer),
                user.cpu_share * 100.0
            );
        }
    }
    text
}

/// Returns a number with three significant digits and a decimal prefix.
pub(super) fn scaled(number: f64) -> String {
    format_count(number).replace(' ', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::means::Means;
    use crate::flow::observation::ObserverCost;
    use furlong_render::{Style, document_text};
    use std::collections::BTreeSet;

    fn observation() -> Observation {
        let process = |pid, cpu_share| ObservedProcess {
            peer: Peer { pid, command: "\u{1b}[2Jworker".to_owned() },
            cpu_share,
            voluntary_switches_per_s: 0.0,
            preemptions_per_s: 1.0,
            calls_per_s: 3.0,
            tracing_share: 0.001,
            io_uring_calls: 0,
        };
        let memory = SharedMemory {
            kind: "memfd".to_owned(),
            name: Some("ring\u{202e}".to_owned()),
            bytes: 4096,
            is_written: true,
            processes: BTreeSet::from([7, 8]),
        };
        Observation {
            schema: 1,
            duration_ns: 2_000_000_000,
            links: Vec::new(),
            processes: vec![process(7, 0.99), process(8, 0.02), process(9, 0.001)],
            shared_memory: vec![memory],
            observer: ObserverCost {
                cpu_share: 0.01,
                events: 10,
                events_per_s: 5.0,
                traced_call_ns: 600.0,
                lost_events: 0,
            },
            unidentified_descriptors: 0,
        }
    }

    fn text(found: &Observation) -> String {
        let text = document_text(&document(found), Style::default());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn busy_process_with_shared_memory_is_named_without_invented_messages() {
        let text = text(&observation());
        assert!(text.contains("No message was seen."), "{text}");
        assert!(
            text.contains("Stores to shared memory (memfd ring, 4KiB) of [2Jworker[7], [2Jworker[8]"),
            "{text}"
        );
        assert!(
            text.contains("[2Jworker[7] uses 99 % of a CPU and does not sleep: it may busy-wait"),
            "{text}"
        );
        assert!(!text.contains("[2Jworker[8] uses") && text.contains("1 process was omitted"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }

    #[test]
    fn link_names_unobserved_ends_and_lost_events() {
        let mut found = observation();
        found.observer.lost_events = 5;
        let peer = |pid| Peer { pid, command: "web".to_owned() };
        found.links.push(Link {
            flow: crate::flow::ends::FlowId(0),
            means: Means::Unix,
            object: "/run/web".to_owned(),
            senders: Vec::new(),
            receivers: Vec::new(),
            users: Vec::new(),
            other_senders: vec![peer(1), peer(2)],
            other_receivers: Vec::new(),
            messages: 2_000,
            messages_per_s: 1_000.0,
            calls_cpu_share: 0.02,
            bytes_per_s: None,
            size_bytes: None,
            pattern: TrafficShape::Unanswered,
            round_trips: Vec::new(),
            requester: None,
            transit_ns: None,
        });
        let text = text(&found);
        assert!(text.contains("web[1] and 1 more not observed UNIX socket one way 1.00k"), "{text}");
        assert!(text.contains("5 events were lost"), "{text}");
    }
}
