//! Summary of a trace, in bounded memory.

use crate::message::TraceMessage;
use furlong_stats::{Distribution, HistogramRange, HistogramRecorder};
use std::collections::BTreeMap;

/// Length of the windows in which messages are counted, in nanoseconds.
const WINDOW_NS: u64 = 10_000_000;

/// Most links that are named.
const MOST_LINKS: usize = 1000;

/// Messages and bytes of a link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkTotals {
    /// Number of messages.
    pub messages: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Figures of the intervals between messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burstiness {
    /// Mean interval in nanoseconds.
    pub mean_ns: f64,
    /// 99th percentile of the intervals in nanoseconds.
    pub p99_ns: f64,
    /// Longest interval in nanoseconds.
    pub longest_ns: u64,
    /// Variance of the number of messages in 10 ms, divided by its mean: 1 for Poisson arrivals (Cox and Lewis 1966).
    pub dispersion: f64,
}

/// Figures of a trace.
#[derive(Debug)]
pub struct TraceSummary {
    /// Messages and bytes of all links.
    pub all: LinkTotals,
    /// Messages by sender and receiver.
    links: BTreeMap<String, BTreeMap<String, LinkTotals>>,
    number_of_links: usize,
    /// Messages of links that are not named.
    pub unnamed: LinkTotals,
    /// Time of the first and the last message in nanoseconds.
    ends_ns: Option<[u64; 2]>,
    longest_ns: u64,
    largest_bytes: u32,
    sizes: HistogramRecorder,
    intervals: HistogramRecorder,
    /// Number of the current window, and its messages.
    window: (u64, u64),
    /// Sum of the squared numbers of messages of all windows.
    squares: f64,
}

impl TraceSummary {
    /// Returns the summary of no messages.
    ///
    /// # Errors
    /// Returns an error if memory is missing.
    pub fn new() -> std::io::Result<TraceSummary> {
        let recorder =
            |highest, digits| HistogramRecorder::new(HistogramRange { lowest: 1, highest, digits });
        Ok(TraceSummary {
            all: LinkTotals::default(),
            links: BTreeMap::new(),
            number_of_links: 0,
            unnamed: LinkTotals::default(),
            ends_ns: None,
            longest_ns: 0,
            largest_bytes: 0,
            sizes: recorder(1 << 31, 4)?,
            intervals: recorder(1 << 52, 3)?,
            window: (0, 0),
            squares: 0.0,
        })
    }

    /// Adds the next message.
    pub fn add(&mut self, message: &TraceMessage) {
        let TraceMessage { time_ns, sender, receiver, size_bytes, .. } = message;
        let [first_ns, last_ns] = self.ends_ns.unwrap_or([*time_ns; 2]);
        if self.ends_ns.is_some() {
            let interval_ns = time_ns.saturating_sub(last_ns);
            // The histogram counts from 1.
            self.intervals.record(interval_ns.max(1));
            self.longest_ns = self.longest_ns.max(interval_ns);
        }
        self.ends_ns = Some([first_ns, *time_ns]);
        self.sizes.record(u64::from(*size_bytes));
        self.largest_bytes = self.largest_bytes.max(*size_bytes);
        let window = time_ns.saturating_sub(first_ns) / WINDOW_NS;
        if window != self.window.0 {
            self.squares += (self.window.1 as f64).powi(2);
            self.window = (window, 0);
        }
        self.window.1 += 1;
        let is_known = self.links.get(sender).is_some_and(|receivers| receivers.contains_key(receiver));
        let totals = if is_known || self.number_of_links < MOST_LINKS {
            self.number_of_links += usize::from(!is_known);
            if !self.links.contains_key(sender) {
                self.links.insert(sender.clone(), BTreeMap::new());
            }
            self.links.get_mut(sender).map(|receivers| match is_known {
                true => receivers.get_mut(receiver),
                false => Some(receivers.entry(receiver.clone()).or_default()),
            })
        } else {
            None
        };
        let totals = totals.flatten().unwrap_or(&mut self.unnamed);
        for totals in [totals, &mut self.all] {
            totals.messages += 1;
            totals.bytes += u64::from(*size_bytes);
        }
    }

    /// Returns the time between the first and the last message in nanoseconds.
    pub fn duration_ns(&self) -> u64 {
        self.ends_ns.map_or(0, |[first, last]| last - first)
    }

    /// Returns the links with their totals, those with most messages first.
    pub fn links(&self) -> Vec<(String, LinkTotals)> {
        let of = |(sender, receivers): (&String, &BTreeMap<String, LinkTotals>)| {
            let sender = sender.clone();
            let name =
                move |(receiver, totals): (&String, &LinkTotals)| (format!("{sender}->{receiver}"), *totals);
            receivers.iter().map(name).collect::<Vec<_>>()
        };
        let mut links: Vec<_> = self.links.iter().flat_map(of).collect();
        links.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.messages));
        links
    }

    /// Returns the sizes in bytes that these shares of the messages do not exceed, within 0.01 %.
    pub fn size_percentiles(&self, shares: &[f64]) -> Vec<f64> {
        // A bucket of the histogram may end above the largest size.
        percentiles(&self.sizes, shares)
            .into_iter()
            .map(|bytes| bytes.min(self.largest_bytes.into()))
            .collect()
    }

    /// Returns the figures of the intervals; `None` for fewer than two messages, or if all have the same time.
    pub fn burstiness(&self) -> Option<Burstiness> {
        let duration_ns = self.duration_ns();
        if duration_ns == 0 {
            return None;
        }
        let windows = (duration_ns / WINDOW_NS + 1) as f64;
        let mean = self.all.messages as f64 / windows;
        let squares = self.squares + (self.window.1 as f64).powi(2);
        Some(Burstiness {
            mean_ns: duration_ns as f64 / (self.all.messages - 1) as f64,
            p99_ns: *percentiles(&self.intervals, &[0.99]).first()?,
            longest_ns: self.longest_ns,
            dispersion: (squares / windows - mean * mean) / mean,
        })
    }
}

/// Returns the values that these shares do not exceed, in ascending order; none without values.
fn percentiles(recorder: &HistogramRecorder, shares: &[f64]) -> Vec<f64> {
    let Ok(distribution) = Distribution::decode(&recorder.encode()) else { return Vec::new() };
    let value = |share: &f64| {
        let (mut below, wanted) = (0, share * distribution.samples() as f64);
        let found = distribution.buckets().find(|(_, count)| {
            below += count;
            below as f64 >= wanted
        });
        found.map_or(distribution.max_ns(), |(value, _)| value)
    };
    shares.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(times_ns: impl Iterator<Item = u64>) -> TraceSummary {
        let mut summary = TraceSummary::new().unwrap();
        for (number, time_ns) in (0..).zip(times_ns) {
            let receiver = if number % 4 == 0 { "c" } else { "b" }.to_owned();
            let size_bytes = if number % 10 == 0 { 4096 } else { 64 };
            let kind = Default::default();
            summary.add(&TraceMessage {
                time_ns,
                sender: "a".to_owned(),
                receiver,
                size_bytes,
                kind,
                means: None,
            });
        }
        summary
    }

    #[test]
    fn even_arrivals_have_no_dispersion_and_bursts_have_much() {
        let even = summary((0..1000).map(|number| number * 1_000_000));
        assert_eq!((even.all.messages, even.duration_ns()), (1000, 999_000_000));
        let figures = even.burstiness().unwrap();
        assert_eq!((figures.mean_ns, figures.longest_ns, figures.dispersion), (1e6, 1_000_000, 0.0));
        assert!((figures.p99_ns / 1e6 - 1.0).abs() < 0.001, "{figures:?}");
        assert_eq!(even.size_percentiles(&[0.5, 0.99, 1.0]), [64.0, 4096.0, 4096.0]);
        let links: Vec<_> = even.links().into_iter().map(|(link, totals)| (link, totals.messages)).collect();
        assert_eq!(links, [("a->b".to_owned(), 750), ("a->c".to_owned(), 250)]);
        // 50 messages at once in every fifth window.
        let bursts = summary((0..1000).map(|number| number / 50 * 50_000_000));
        let dispersion = bursts.burstiness().unwrap().dispersion;
        assert!((35.0..45.0).contains(&dispersion), "{dispersion}");
    }

    #[test]
    fn memory_is_bounded_for_any_number_of_links() {
        let mut summary = TraceSummary::new().unwrap();
        for number in 0..2 * MOST_LINKS as u64 {
            let (sender, receiver, kind) = (number.to_string(), "b".to_owned(), Default::default());
            summary.add(&TraceMessage {
                time_ns: number,
                sender,
                receiver,
                size_bytes: 1,
                kind,
                means: None,
            });
        }
        assert_eq!((summary.links().len(), summary.unnamed.messages), (MOST_LINKS, MOST_LINKS as u64));
        assert!(summary.burstiness().is_some());
    }
}
