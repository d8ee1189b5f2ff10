//! Runs as metrics, for a monitoring system that keeps them over time (OpenMetrics 1.0 text).

use super::super::figures::{self, FIGURES};
use super::NamedSummary;
use furlong_analysis::text::plain;
use furlong_analysis::{Level, Row};
use std::collections::BTreeMap;

/// Values of a metric by their printed labels, so that a series that is set twice is printed once.
type Metric = BTreeMap<String, f64>;

/// Returns one exposition of all runs: times in seconds, a series for each row and quantile, and how quiet each run was.
pub fn export_openmetrics(runs: &[NamedSummary]) -> String {
    let (mut noise, mut partial) = (Metric::new(), Metric::new());
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
        set(&mut noise, &labels, level);
        set(&mut partial, &labels, f64::from(u8::from(summary.run.partial)));
    }
    let of_rows = FIGURES.iter().flat_map(|figure| figure.metrics);
    let of_runs = [
        ("noise", "Noise of the machine: 0 quiet, 1 noisy, 2 unreliable", noise),
        (
            "partial",
            "Whether trials are missing, for example because the run was interrupted: 0 no, 1 yes",
            partial,
        ),
    ];
    let metrics: Vec<_> = of_rows
        .map(|metric| (metric.name, metric.help, metric_over_rows(runs, metric)))
        .chain(of_runs)
        .collect();
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
fn set(metric: &mut Metric, labels: &[(&str, &str)], value: f64) {
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

/// Returns the series of all rows of all runs.
fn metric_over_rows(runs: &[NamedSummary], metric: &figures::Metric) -> Metric {
    let mut all = Metric::new();
    for NamedSummary { name, summary } in runs {
        let run = plain(name);
        for row in &summary.rows {
            let labels = labels(&run, row);
            for (label, value) in (metric.series)(row) {
                let own = label.map(|[name, text]| (name, text.to_owned()));
                let labels: Vec<_> = labels.iter().chain(&own).map(|(name, text)| (*name, &**text)).collect();
                set(&mut all, &labels, value);
            }
        }
    }
    all
}

/// Returns the labels of a row's series.
fn labels(run: &str, row: &Row) -> [(&'static str, String); 10] {
    let case = &row.case;
    [
        ("run", run.to_owned()),
        ("row", plain(&case.row())),
        ("group", plain(&row.group)),
        ("placement", case.placement.to_string()),
        ("size_bytes", case.size_bytes.to_string()),
        ("buffer_bytes", case.buffer_bytes.unwrap_or_default().to_string()),
        ("access", case.access.to_string()),
        ("window", case.window().to_string()),
        ("parties", case.parties().to_string()),
        ("conditions", case.conditions.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_numbers_are_floats() {
        let mut metric = Metric::new();
        set(&mut metric, &[("a", "\"\\\n"), ("b", "c")], 1.0);
        assert_eq!(metric.first_key_value(), Some((&r#"a="\"\\\n",b="c""#.to_owned(), &1.0)));
        let numbers = [0.0, 12.0, 0.000_002, 1.5e-7, 1e22].map(number);
        assert_eq!(numbers, ["0.0", "12.0", "0.000002", "1.5e-7", "1e22"]);
    }
}
