//! Runs as metrics, for a monitoring system that keeps them over time (OpenMetrics 1.0 text).

use super::NamedSummary;
use furlong_analysis::text::plain;
use furlong_analysis::{Level, Row, Unit};
use std::collections::BTreeMap;

type Labels<'a> = Vec<(&'static str, &'a str)>;
/// The value of each series, by its labels as they are printed: a series that is set twice is printed once.
type Metric = BTreeMap<String, f64>;

/// The metrics of all runs and rows.
#[derive(Default)]
struct Metrics {
    round_trip: Metric,
    message: Metric,
    link: Metric,
    rate: Metric,
    throughput: Metric,
    processor_time: Metric,
    switches: Metric,
    noise: Metric,
    partial: Metric,
}

/// Returns one exposition of all runs: times in seconds, a series for each row and quantile, and how quiet each run was.
pub fn export_openmetrics(runs: &[NamedSummary]) -> String {
    let mut metrics = Metrics::default();
    for NamedSummary { name, summary } in runs {
        let level = match summary.run.noise.level {
            Level::Quiet => 0.0,
            Level::Noisy => 1.0,
            Level::Unreliable => 2.0,
        };
        let run = plain(name);
        let kernel = plain(&summary.run.machine.kernel);
        let processor = plain(summary.run.machine.processor.as_deref().unwrap_or("unknown"));
        let labels = vec![("run", &*run), ("kernel", &*kernel), ("processor", &*processor)];
        set(&mut metrics.noise, &labels, level);
        set(&mut metrics.partial, &labels, f64::from(u8::from(summary.run.partial)));
        summary.rows.iter().for_each(|row| metrics.add(&run, row));
    }
    let metrics = [
        ("round_trip_seconds", "What a round trip takes", metrics.round_trip),
        ("message_seconds", "What a message one way takes", metrics.message),
        ("link_seconds", "What a link takes that carries one message", metrics.link),
        ("exchanges_per_second", "Round trips, messages or links in a second", metrics.rate),
        ("bytes_per_second", "Bytes of messages one way or answers in a second", metrics.throughput),
        (
            "processor_time_seconds",
            "Processor time of both processes in a round trip, message or link",
            metrics.processor_time,
        ),
        (
            "context_switches",
            "Context switches of both processes in a round trip, message or link",
            metrics.switches,
        ),
        ("noise", "How quiet the machine was: 0 quiet, 1 noisy, 2 unreliable", metrics.noise),
        ("partial", "Whether trials are missing, as of a run that was interrupted: 1 if so", metrics.partial),
    ];
    let mut text = String::new();
    for (name, help, metric) in metrics.iter().filter(|(_, _, metric)| !metric.is_empty()) {
        text += &format!("# HELP furlong_{name} {help}.\n# TYPE furlong_{name} gauge\n");
        if name.ends_with("_seconds") {
            text += &format!("# UNIT furlong_{name} seconds\n");
        }
        for (labels, value) in metric {
            text += &format!("furlong_{name}{{{labels}}} {}\n", number(*value));
        }
    }
    text + "# EOF\n"
}

/// Sets the series with these labels to `value`.
fn set(metric: &mut Metric, labels: &Labels, value: f64) {
    let escaped = |text: &str| text.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
    let labels: Vec<_> = labels.iter().map(|(name, text)| format!("{name}=\"{}\"", escaped(text))).collect();
    metric.insert(labels.join(","), value);
}

/// Returns the value as a float of OpenMetrics: with a decimal point, and an exponent if it is very small or large.
fn number(value: f64) -> String {
    if value != 0.0 && !(1e-6..1e21).contains(&value.abs()) {
        return format!("{value:e}");
    }
    let text = value.to_string();
    if text.contains('.') { text } else { text + ".0" }
}

impl Metrics {
    fn add(&mut self, run: &str, row: &Row) {
        let Row { case, exchange, .. } = row;
        let (name, group, placement) = (plain(&case.row()), plain(&row.group), case.placement.to_string());
        let size = case.size_bytes.to_string();
        let buffer = case.buffer_bytes.unwrap_or_default().to_string();
        let (access, window) = (case.access.to_string(), case.window().to_string());
        let parties = case.parties().to_string();
        let labels = vec![
            ("run", run),
            ("row", &name),
            ("group", &group),
            ("placement", &placement),
            ("size_bytes", &size),
            ("buffer_bytes", &buffer),
            ("access", &access),
            ("window", &window),
            ("parties", &parties),
        ];
        let with = |name, value| [&labels[..], &[(name, value)]].concat();
        let times = match exchange.unit {
            Unit::RoundTrip => &mut self.round_trip,
            Unit::Message => &mut self.message,
            Unit::Link => &mut self.link,
        };
        let ns = &exchange.ns;
        let quantiles = [("0.5", ns.p50), ("0.9", ns.p90), ("0.99", ns.p99), ("0.999", ns.p999)];
        for (quantile, ns) in quantiles.into_iter().chain(ns.p9999.map(|ns| ("0.9999", ns))) {
            set(times, &with("quantile", quantile), ns / 1e9);
        }
        set(&mut self.rate, &labels, exchange.per_second);
        if let Some(bytes) = exchange.bytes_per_second {
            set(&mut self.throughput, &labels, bytes);
        }
        for (mode, ns) in [("user", exchange.cpu_ns.user), ("system", exchange.cpu_ns.system)] {
            set(&mut self.processor_time, &with("mode", mode), ns / 1e9);
        }
        let switches = &exchange.switches;
        for (kind, count) in [("voluntary", switches.voluntary), ("involuntary", switches.involuntary)] {
            set(&mut self.switches, &with("kind", kind), count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_numbers_are_floats() {
        let mut metric = Metric::new();
        set(&mut metric, &vec![("a", "\"\\\n"), ("b", "c")], 1.0);
        assert_eq!(metric.first_key_value(), Some((&r#"a="\"\\\n",b="c""#.to_owned(), &1.0)));
        let numbers = [0.0, 12.0, 0.000_002, 1.5e-7, 1e22].map(number);
        assert_eq!(numbers, ["0.0", "12.0", "0.000002", "1.5e-7", "1e22"]);
    }
}
