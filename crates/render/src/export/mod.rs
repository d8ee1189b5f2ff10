//! Saved runs for other programs: spreadsheets, databases, documents and monitoring.

mod openmetrics;
#[cfg(feature = "parquet")]
mod parquet;
mod sheet;

pub use openmetrics::export_openmetrics;
pub use sheet::export_csv;

use super::printed::markdown;
use super::{findings::findings, noise::reasons, object::object};
use furlong_analysis::Summary;
use furlong_analysis::text::plain;
use serde::Serialize;

/// A run by the name it is known by, summarised.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct NamedSummary<'a> {
    /// The name.
    #[serde(rename = "run")]
    pub name: &'a str,
    /// Summary of the run.
    #[serde(flatten)]
    pub summary: &'a Summary,
}

/// Returns a list of JSON objects, one per run: its name as `run`, then its whole [`Summary`].
pub fn export_json(runs: &[NamedSummary]) -> String {
    let summaries = || runs.iter().map(|run| run.summary);
    object(&runs, vec![reasons(summaries().map(|summary| &summary.run.noise)), findings(summaries())])
}

/// Returns one page of Markdown per run, under its name.
pub fn export_markdown(runs: &[NamedSummary]) -> String {
    let page = |run: &NamedSummary| format!("# {}\n\n{}", plain(run.name), markdown(run.summary));
    match runs {
        [run] => markdown(run.summary),
        runs => runs.iter().map(page).collect::<Vec<_>>().join("\n"),
    }
}

/// Returns the table of [`export_csv`] as a Parquet file. Each column has a type, and a cell without a value is null.
///
/// # Errors
/// Returns an error if this was compiled without the feature `parquet`.
pub fn export_parquet(runs: &[NamedSummary]) -> Result<Vec<u8>, String> {
    #[cfg(feature = "parquet")]
    return parquet::export(runs).map_err(|error| error.to_string());
    #[cfg(not(feature = "parquet"))]
    {
        let _ = runs;
        Err("this furlong was compiled without Parquet: install a release, compile with --features parquet, or use \
             --format csv"
            .to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::assert_has_all;
    use furlong_analysis::DecodedRun;
    use furlong_fixture as fixture;
    use furlong_fixture::comparison::searched;

    fn exported(render: fn(&[NamedSummary]) -> String) -> String {
        let summary = fixture::summary();
        let names = ["before", "=after|"];
        render(&names.map(|name| NamedSummary { name, summary: &summary }))
    }

    #[test]
    fn a_sheet_says_of_every_line_which_run_it_is_of() {
        let text = exported(export_csv);
        let lines: Vec<_> = text.lines().collect();
        assert!(
            lines[0].starts_with("run,started_unix_s,processor,kernel,noise,partial,mechanism,wait,"),
            "{}",
            lines[0]
        );
        assert_eq!(lines.iter().filter(|line| line.contains("mechanism")).count(), 1, "one header");
        let of = |name: &str| lines.iter().filter(|line| line.starts_with(name)).count();
        assert_eq!(of("before,"), (lines.len() - 1) / 2);
        assert_eq!(of("=after"), 0, "a spreadsheet must not take a name for a formula");
    }

    #[test]
    fn json_is_a_list_of_runs() {
        let runs: Vec<serde_json::Value> = serde_json::from_str(&exported(export_json)).unwrap();
        assert_eq!((runs.len(), runs[1]["run"].as_str()), (2, Some("=after|")));
        assert_has_all(&runs[1].to_string(), &fixture::summary());
    }

    #[test]
    fn several_pages_have_their_names_above_them() {
        let page = exported(export_markdown);
        assert!(page.starts_with("# before\n\n") && page.contains("\n# =after|\n\n"), "{page}");
        let summary = fixture::summary();
        let one = export_markdown(&[NamedSummary { name: "alone", summary: &summary }]);
        assert_eq!(one, markdown(&summary));
    }

    #[test]
    fn metrics_are_lines_that_a_collector_reads() {
        let text = exported(export_openmetrics);
        assert!(text.ends_with("# EOF\n"), "{text}");
        let samples: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(samples.len() > 20, "{text}");
        for sample in &samples {
            let (name, rest) = sample.split_once('{').unwrap();
            let (labels, value) = rest.rsplit_once("} ").unwrap();
            assert!(name.starts_with("furlong_") && labels.contains("run=\""), "{sample}");
            assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{sample}");
        }
        let mut distinct: Vec<_> = samples.iter().filter_map(|sample| sample.rsplit_once(' ')).collect();
        distinct.sort_unstable();
        distinct.dedup_by_key(|(series, _)| *series);
        assert_eq!(distinct.len(), samples.len(), "no series comes twice");
        let metadata = text.lines().filter(|line| line.starts_with("# TYPE")).count();
        assert_eq!(metadata, text.lines().filter(|line| line.starts_with("# HELP")).count());
    }

    #[test]
    fn sheets_and_metrics_say_that_a_run_is_partial() {
        let mut summary = fixture::summary();
        summary.run.partial = true;
        let named = [NamedSummary { name: "run", summary: &summary }];
        let metrics = export_openmetrics(&named);
        assert!(
            metrics.lines().any(|line| line.starts_with("furlong_partial{") && line.ends_with(" 1.0")),
            "{metrics}"
        );
        let sheet = export_csv(&named);
        assert!(sheet.lines().skip(1).all(|line| line.split(',').any(|cell| cell == "true")), "{sheet}");
    }

    #[test]
    fn highest_rates_are_columns_and_a_metric() {
        let summary = DecodedRun::of(&searched(4000.0)).summary;
        let named = [NamedSummary { name: "run", summary: &summary }];
        let sheet = export_csv(&named);
        let lines: Vec<Vec<_>> = sheet.lines().map(|line| line.split(',').collect()).collect();
        let cells = |name: &str| {
            let at = lines[0].iter().position(|column| *column == name).unwrap();
            lines[1..].iter().map(|line| line[at]).filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(cells("objective"), ["p50<200 us"], "only the benchmark without a rate has it");
        let rate = |name: &str| cells(name)[0].parse::<f64>().unwrap();
        let [low, high] = ["highest_low_per_second", "highest_high_per_second"].map(rate);
        assert!(
            low < rate("highest_per_second")
                && rate("highest_per_second") < high
                && (low..high).contains(&4000.0)
        );
        let metrics = export_openmetrics(&named);
        assert_eq!(metrics.matches("furlong_highest_rate_per_second{").count(), 3, "{metrics}");
        assert!(export_json(&named).contains("\"capacities\""));
    }

    #[test]
    fn series_of_a_metric_are_sorted() {
        let text = exported(export_openmetrics);
        let of_one: Vec<_> = text.lines().filter(|line| line.starts_with("furlong_noise{")).collect();
        assert!(of_one.len() == 2 && of_one.is_sorted(), "{of_one:?}");
    }

    #[test]
    fn a_metric_is_in_seconds() {
        let summary = fixture::summary();
        let text = export_openmetrics(&[NamedSummary { name: "run", summary: &summary }]);
        let row = summary.rows.iter().find(|row| row.case.row() == "pipe/block").unwrap();
        let line = |line: &&str| {
            line.starts_with("furlong_round_trip_seconds{")
                && line.contains("row=\"pipe/block\"")
                && line.contains("quantile=\"0.5\"")
                && line.contains(&format!("placement=\"{}\"", row.case.placement))
        };
        let found = text.lines().find(line).unwrap();
        let value: f64 = found.rsplit(' ').next().unwrap().parse().unwrap();
        assert!((value * 1e9 - row.exchange.ns.p50).abs() < 1.0, "{found}");
    }
}
