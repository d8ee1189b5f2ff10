//! One picture of the live view, as lines of text that fit on the terminal.

use super::document::{invisible, peers, scaled, times};
use super::links::Link;
use super::means::Means;
use super::observation::Observation;
use furlong_model::{beginning, display_width, format_ns, three_digits};
use furlong_render::plain;
use furlong_render::words::count;

/// Columns of a mechanism, and of each of the four figures.
const MEANS: usize = 14;
const FIGURE: usize = 7;

/// Columns that all fields except the processes and the object need.
const FIXED: usize = MEANS + 4 * FIGURE + 6;

/// Most columns of a process.
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
        LinkOrder::Cpu => "by CPU     keys: [c] CPU, r rate, l latency, q quit",
        LinkOrder::Rate => "by rate    keys: c CPU, [r] rate, l latency, q quit",
        LinkOrder::Latency => "by latency keys: c CPU, r rate, [l] latency, q quit",
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
        text.push(row(
            name,
            ["sender", "receiver", "means", "CPU", "msg/s", "p50", "p99", "object"].map(str::to_owned),
        ));
        text.extend(links.iter().take(room).map(|link| row(name, fields(link))));
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

/// Returns a line with processes of `name` columns.
fn row(name: usize, fields: [String; 8]) -> String {
    let [sender, receiver, means, figures @ .., object] = fields;
    let words = [(sender, name), (receiver, name), (means, MEANS)].map(|(text, width)| left(&text, width));
    let figures: Vec<_> = figures.iter().map(|figure| format!("{figure:>FIGURE$}")).collect();
    format!("{} {} {object}", words.join(" "), figures.join(" "))
}

fn left(text: &str, width: usize) -> String {
    let mut text = fitted(text, width);
    text.push_str(&" ".repeat(width.saturating_sub(display_width(&text))));
    text
}

/// Returns the text, or its beginning with an ellipsis.
fn fitted(text: &str, width: usize) -> String {
    let text = text.trim_end();
    beginning(text, width).map_or_else(|| text.to_owned(), |start| format!("{start}…"))
}
