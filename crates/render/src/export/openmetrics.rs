//! Runs as metrics, for a monitoring system that keeps them over time (OpenMetrics 1.0 text).

use super::NamedSummary;
use furlong_analysis::text::plain;
use furlong_analysis::{Level, Row, Unit};
use furlong_stats::sort_by;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit as MetricUnit};
use std::sync::atomic::AtomicU64;

type Labels = Vec<(&'static str, String)>;
type Metric = Family<Labels, Gauge<f64, AtomicU64>>;

/// What is told of each row.
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

/// One exposition of all runs: times in seconds, a series for each row and quantile, and how quiet each run was.
pub fn export_openmetrics(runs: &[NamedSummary]) -> String {
    let metrics = Metrics::default();
    for NamedSummary { name, summary } in runs {
        let level = match summary.run.noise.level {
            Level::Quiet => 0.0,
            Level::Noisy => 1.0,
            Level::Unreliable => 2.0,
        };
        let of_run = vec![
            ("run", plain(name)),
            ("kernel", plain(&summary.run.machine.kernel)),
            ("processor", plain(summary.run.machine.processor.as_deref().unwrap_or("unknown"))),
        ];
        metrics.noise.get_or_create(&of_run).set(level);
        metrics.partial.get_or_create(&of_run).set(f64::from(u8::from(summary.run.partial)));
        summary.rows.iter().for_each(|row| metrics.add(&plain(name), row));
    }
    let mut registry = Registry::with_prefix("furlong");
    let seconds = || MetricUnit::Seconds;
    registry.register_with_unit("round_trip", "What a round trip takes", seconds(), metrics.round_trip);
    registry.register_with_unit("message", "What a message one way takes", seconds(), metrics.message);
    registry.register_with_unit(
        "link",
        "What a link takes that carries one message",
        seconds(),
        metrics.link,
    );
    let rate = "Round trips, messages or links in a second";
    registry.register("exchanges_per_second", rate, metrics.rate);
    registry.register(
        "bytes_per_second",
        "Bytes of messages one way or answers in a second",
        metrics.throughput,
    );
    let processor_time = "Processor time of both processes in a round trip, message or link";
    registry.register_with_unit("processor_time", processor_time, seconds(), metrics.processor_time);
    let switches = "Context switches of both processes in a round trip, message or link";
    registry.register("context_switches", switches, metrics.switches);
    let noise = "How quiet the machine was: 0 quiet, 1 noisy, 2 unreliable";
    registry.register("noise", noise, metrics.noise);
    let partial = "Whether trials are missing, as of a run that was interrupted: 1 if so";
    registry.register("partial", partial, metrics.partial);
    let mut text = String::new();
    encode(&mut text, &registry).expect("memory takes every byte");
    in_order(&text)
}

/// With the samples of each metric in the order of their labels: the encoder has them in a map without any.
fn in_order(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut ordered = String::with_capacity(text.len());
    for metric in lines.chunk_by(|one, other| one.starts_with('#') == other.starts_with('#')) {
        let mut metric = metric.to_vec();
        if !metric[0].starts_with('#') {
            sort_by(&mut metric, Ord::cmp);
        }
        metric.iter().for_each(|line| ordered.extend([line, "\n"]));
    }
    ordered
}

impl Metrics {
    fn add(&self, run: &str, row: &Row) {
        let labels = || -> Labels {
            vec![
                ("run", run.to_owned()),
                ("row", plain(&row.case.row())),
                ("group", plain(&row.group)),
                ("placement", row.case.placement.to_string()),
                ("size_bytes", row.case.size_bytes.to_string()),
                ("buffer_bytes", row.case.buffer_bytes.unwrap_or_default().to_string()),
                ("access", row.case.access.to_string()),
                ("window", row.case.window.to_string()),
                ("parties", row.case.parties.to_string()),
            ]
        };
        let with = |name: &'static str, value: &str| {
            labels().into_iter().chain([(name, value.to_owned())]).collect::<Labels>()
        };
        let times = match row.exchange.unit {
            Unit::RoundTrip => &self.round_trip,
            Unit::Message => &self.message,
            Unit::Link => &self.link,
        };
        let ns = &row.exchange.ns;
        for (quantile, ns) in [("0.5", ns.p50), ("0.9", ns.p90), ("0.99", ns.p99), ("0.999", ns.p999)] {
            times.get_or_create(&with("quantile", quantile)).set(ns / 1e9);
        }
        self.rate.get_or_create(&labels()).set(row.exchange.per_second);
        if let Some(bytes) = row.exchange.bytes_per_second {
            self.throughput.get_or_create(&labels()).set(bytes);
        }
        for (mode, ns) in [("user", row.exchange.cpu_ns.user), ("system", row.exchange.cpu_ns.system)] {
            self.processor_time.get_or_create(&with("mode", mode)).set(ns / 1e9);
        }
        let switches = &row.exchange.switches;
        for (kind, count) in [("voluntary", switches.voluntary), ("involuntary", switches.involuntary)] {
            self.switches.get_or_create(&with("kind", kind)).set(count);
        }
    }
}
