//! Throughput of a benchmark, then and now. It is comparable over sizes, regardless of the published figure.

use super::ReplayRow;
use furlong_model::{Figure, Measure, Work};

/// Bytes per second at each size of one benchmark, by size.
#[derive(Debug, Clone, PartialEq)]
pub struct Throughput<'a> {
    /// Name in the publication.
    pub mechanism: &'a str,
    /// Measured counterpart.
    pub row: Option<&'a str>,
    /// Published points: message size in bytes, and bytes per second.
    pub then: Vec<(usize, f64)>,
    /// Measured points.
    pub now: Vec<(usize, f64)>,
}

/// Returns the throughput of each benchmark in an experiment with messages; empty for a bulk transfer.
pub fn throughput<'a>(rows: &'a [ReplayRow], measure: &Measure) -> Vec<Throughput<'a>> {
    let first = measure.sizes_bytes.first();
    let named = rows.iter().filter(|row| Some(&row.size_bytes) == first);
    let of = |named: &'a ReplayRow| {
        let alike = || rows.iter().filter(|row| row.mechanism == named.mechanism);
        // A notification has a fixed size, so it is not comparable over sizes.
        let carries = |row: &&ReplayRow| row.carried_bytes == row.size_bytes;
        let then = alike().filter_map(|row| Some((row.size_bytes, then(row, measure)?)));
        let now = alike().filter(carries).filter_map(|row| Some((row.size_bytes, now(row, measure)?)));
        Throughput {
            mechanism: &named.mechanism,
            row: named.row.as_deref(),
            then: then.collect(),
            now: now.collect(),
        }
    };
    named.map(of).collect()
}

fn then(row: &ReplayRow, measure: &Measure) -> Option<f64> {
    bytes_per_second(row.size_bytes, measure, |figure| row.published.get(&figure).copied())
}

fn now(row: &ReplayRow, measure: &Measure) -> Option<f64> {
    bytes_per_second(row.size_bytes, measure, |figure| row.measured.get(&figure).map(|now| now.value))
}

/// Returns the bytes of one direction per second, from the first suitable figure: the throughput itself, a rate, or a time of one message or of all.
pub(crate) fn bytes_per_second(
    size: usize,
    measure: &Measure,
    figure: impl Fn(Figure) -> Option<f64>,
) -> Option<f64> {
    let Work::Exchange(exchange) = &measure.work else { return None };
    let size_bytes = size as f64;
    let in_all = size_bytes * exchange.count.exchanges(size) as f64;
    let found = [
        figure(Figure::GigabytesPerSecond).map(|rate| rate * 1e9),
        figure(Figure::MegabytesPerSecond).map(|rate| rate * 1e6),
        figure(Figure::MessagesPerSecond).map(|rate| rate * size_bytes),
        figure(Figure::TotalMs).map(|ms| in_all / ms * 1e3),
        figure(Figure::RealS).map(|s| in_all / s),
        figure(Figure::MeanUs).map(|us| size_bytes / us * 1e6),
    ];
    found.into_iter().flatten().find(|bytes| bytes.is_finite() && *bytes > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{replay::itmedia, replay::qiita, replay::racehorse};

    #[test]
    fn published_totals_become_rates() {
        let replay = qiita().replay();
        let rows = throughput(&replay.rows, &replay.measure);
        let pipe = rows.iter().find(|row| row.mechanism == "console + pipe").unwrap();
        assert_eq!((pipe.then.len(), pipe.now.len()), (10, 11));
        // 1 GiB in 430 ms, in blocks of 32 KiB.
        assert_eq!(pipe.then[0].0, 32 << 10);
        assert!((pipe.then[0].1 / (f64::from(1 << 30) / 0.43) - 1.0).abs() < 1e-9, "{pipe:?}");
        let measured = replay.rows[0].measured[&Figure::GigabytesPerSecond].value;
        assert!((pipe.now[0].1 / (measured * 1e9) - 1.0).abs() < 1e-9, "{pipe:?}");
    }

    #[test]
    fn a_notification_and_a_handover_have_none() {
        let replay = racehorse().replay();
        let rows = throughput(&replay.rows, &replay.measure);
        let of = |name: &str| rows.iter().find(|row| row.mechanism == name).unwrap();
        assert_eq!((of("UNIX signals").now.len(), of("pipes").now.len()), (0, 2));
        let replay = itmedia().replay();
        let rows = throughput(&replay.rows, &replay.measure);
        assert!(rows.iter().all(|row| row.then.is_empty() && row.now.is_empty()));
    }
}
