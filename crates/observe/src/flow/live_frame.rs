//! One picture of the live view, as lines of text that fit on the terminal.

use super::document::{invisible, peers, scaled, times};
use super::links::Link;
use super::means::Means;
use super::observation::Observation;
use furlong_model::{display_width, format_ns, shortened, three_digits};
use furlong_render::plain;
use furlong_render::words::count;

/// Columns of a mechanism, and of each of the four figures.
const MEANS: usize = 14;
const FIGURE: usize = 7;

/// Columns that all fields except the processes and the object need.
const FIXED: usize = MEANS + 4 * FIGURE + 6;

/// Most columns of a process. On a wider terminal, the object is shown, too.
const MOST_NAME: usize = 30;

/// Most lines about traffic that is not visible.
const MOST_NOTES: usize = 3;

/// Order of the links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkOrder {
    /// CPU time of the calls at both ends.
    Cpu,
    /// Messages per second.
    Rate,
    /// Median time.
    Latency,
}

/// Returns the lines of an interval; `None` before the first one has ended.
pub fn frame(found: Option<&Observation>, order: LinkOrder, columns: usize, lines: usize) -> Vec<String> {
    let keys = match order {
        LinkOrder::Cpu => "sorted by CPU      keys: [c] CPU, r rate, l latency, q quit",
        LinkOrder::Rate => "sorted by rate     keys: c CPU, [r] rate, l latency, q quit",
        LinkOrder::Latency => "sorted by latency  keys: c CPU, r rate, [l] latency, q quit",
    };
    let mut text = vec!["furlong observe".to_owned(), keys.to_owned()];
    if let Some(found) = found {
        let links = sorted(found, order);
        text[0] = format!(
            "furlong observe: {}, {}, {} % CPU for furlong, {} events lost",
            count(links.len(), "link"),
            count(found.processes.len(), "process"),
            three_digits(found.observer.cpu_share * 100.0),
            found.observer.lost_events
        );
        let notes = invisible(found).into_iter().take(MOST_NOTES).map(|note| note.text).collect::<Vec<_>>();
        let room = lines.saturating_sub(text.len() + 1 + notes.len());
        let name = (columns.saturating_sub(FIXED) / 2).min(MOST_NAME);
        let object = columns.saturating_sub(FIXED + 2 * name + 1);
        let row = |fields: [String; 8]| row(name, object, fields);
        let titles = ["sender", "receiver", "means", "CPU", "msg/s", "p50", "p99", "object"];
        text.push(row(titles.map(str::to_owned)));
        text.extend(links.iter().take(room).map(|link| row(fields(link))));
        if links.is_empty() {
            text.push("No message was seen.".to_owned());
        }
        text.extend(notes);
    }
    text.truncate(lines);
    text.iter().map(|line| fitted(line, columns)).collect()
}

fn sorted(found: &Observation, order: LinkOrder) -> Vec<&Link> {
    let is_shown = |link: &&Link| link.means != Means::PrivateFutex && link.messages > 0;
    let mut links: Vec<_> = found.links.iter().filter(is_shown).collect();
    let key = |link: &Link| match order {
        LinkOrder::Cpu => link.calls_cpu_share,
        LinkOrder::Rate => link.messages_per_s,
        LinkOrder::Latency => times(link).map_or(0.0, |times| times.p50 as f64),
    };
    links.sort_by(|one, other| key(other).total_cmp(&key(one)));
    links
}

fn fields(link: &Link) -> [String; 8] {
    let times = times(link).map(|times| [times.p50, times.p99].map(|ns| format_ns(ns as f64)));
    let [median, late] = times.unwrap_or_else(|| ["–".to_owned(), "–".to_owned()]);
    [
        peers(&link.senders, &link.other_senders, &link.users),
        peers(&link.receivers, &link.other_receivers, &link.users),
        link.means.words().to_owned(),
        format!("{} %", three_digits(link.calls_cpu_share * 100.0)),
        scaled(link.messages_per_s),
        median,
        late,
        plain(&link.object),
    ]
}

/// Returns a line with processes of `name` and an object of `object` columns.
fn row(name: usize, object: usize, fields: [String; 8]) -> String {
    let [sender, receiver, means, figures @ .., object_name] = fields;
    let words = [(sender, name), (receiver, name), (means, MEANS)].map(|(text, width)| left(&text, width));
    let figures: Vec<_> = figures.iter().map(|figure| format!("{figure:>FIGURE$}")).collect();
    // A shorter beginning of an object says nothing.
    let object = if object > 8 { fitted(&object_name, object) } else { String::new() };
    format!("{} {} {object}", words.join(" "), figures.join(" "))
}

fn left(text: &str, width: usize) -> String {
    let mut text = fitted(text, width);
    text.push_str(&" ".repeat(width.saturating_sub(display_width(&text))));
    text
}

/// Returns the text without spaces at its end, or its beginning with an ellipsis.
fn fitted(text: &str, width: usize) -> String {
    shortened(text.trim_end(), width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::amounts::Percentiles;
    use crate::flow::ends::FlowId;
    use crate::flow::links::{Peer, TrafficShape};
    use crate::flow::observation::{ObserverCost, SCHEMA};

    fn link(command: &str, rate: f64, cpu: f64, p50: u64) -> Link {
        let peer = |pid| Peer { pid, command: command.to_owned() };
        Link {
            flow: FlowId(0),
            means: Means::Pipe,
            object: format!("{command} object"),
            senders: Vec::new(),
            receivers: Vec::new(),
            users: Vec::new(),
            other_senders: vec![peer(1)],
            other_receivers: vec![peer(2)],
            messages: 10,
            messages_per_s: rate,
            calls_cpu_share: cpu,
            bytes_per_s: None,
            size_bytes: None,
            pattern: TrafficShape::Unanswered,
            round_trips: Vec::new(),
            requester: None,
            transit_ns: Some(Percentiles { p50, p99: 2 * p50, max: 3 * p50 }),
        }
    }

    fn observation(links: Vec<Link>) -> Observation {
        let observer = ObserverCost {
            cpu_share: 0.01,
            events: 10,
            events_per_s: 5.0,
            traced_call_ns: 600.0,
            lost_events: 3,
        };
        Observation {
            schema: SCHEMA,
            duration_ns: 1_000_000_000,
            links,
            processes: Vec::new(),
            shared_memory: Vec::new(),
            observer,
            unidentified_descriptors: 0,
        }
    }

    #[test]
    fn links_have_the_order_of_the_key() {
        let links = vec![link("a", 3e3, 0.1, 9_000), link("b", 9e3, 0.2, 1_000), link("c", 1e3, 0.3, 5_000)];
        let found = observation(links);
        for (order, expected) in
            [(LinkOrder::Cpu, "cba"), (LinkOrder::Rate, "bac"), (LinkOrder::Latency, "acb")]
        {
            let lines = frame(Some(&found), order, 80, 24);
            let first: String = lines[3..].iter().filter_map(|line| line.chars().next()).collect();
            assert_eq!(first.get(..3), Some(expected), "{lines:#?}");
        }
    }

    #[test]
    fn lines_fit_any_terminal() {
        let names = ["\u{1b}[2J", "名前の長いプログラムの名前", "a long name of a program with words"];
        let links = (0..100).map(|number| link(names[number % 3], 1e6, 1.0, 123_456_789)).collect();
        let found = observation(links);
        for (columns, lines) in [(80, 24), (200, 50), (40, 10), (10, 3), (1, 1), (0, 0)] {
            let text = frame(Some(&found), LinkOrder::Cpu, columns, lines);
            assert_eq!(text.len(), lines);
            assert!(text.iter().all(|line| display_width(line) <= columns.max(1)), "{columns}: {text:#?}");
            assert!(!text.concat().contains('\u{1b}'));
        }
        let text = frame(Some(&found), LinkOrder::Cpu, 80, 24);
        assert!(text[0].contains("3 events lost") && text[2].ends_with(" p99"), "{text:#?}");
        assert!(text[3].ends_with("123 ms  247 ms"), "{text:#?}");
        assert_eq!(frame(None, LinkOrder::Rate, 80, 24).len(), 2);
    }
}
