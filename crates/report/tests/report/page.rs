//! Tests of a report from real records: its charts as described, its Markdown, its page as text, and its handling of
//! hostile or damaged records.

use crate::common::{report, run};
use furlong_analysis::{DecodedRun, Run};
use furlong_model::{Outcome, Record};
use furlong_report::{Chart, Kind, Look, Side};
use std::collections::{BTreeMap, BTreeSet};

/// Terminal escapes, markup of every kind, and what ends a script.
const EVIL: &str =
    "\u{1b}[2J\u{202e}\"'><script>alert(1)</script><img src=http://evil/ onerror=alert(1)>{{7*7}}`|\n]]>-->";

fn charts(name: &str) -> Vec<Chart> {
    report(&[(name, &run(name))]).charts().cloned().collect()
}

/// Formats a chart in a few lines.
fn outline(chart: &Chart) -> String {
    let mut text = format!("{}\n  {}\n  {}\n", chart.id, chart.title, chart.says);
    text += &chart.notes.iter().map(|note| format!("  - {note}\n")).collect::<String>();
    for (name, axis, side) in [("x", &chart.x, Side::X), ("y", &chart.y, Side::Y)] {
        let ticks = axis.ticks(chart.extent(side), |ticks| ticks.len() <= 9);
        let ticks: Vec<_> = ticks.into_iter().map(|tick| tick.label).collect();
        text += &format!("  {name} {}: {}\n", axis.label, ticks.join(", "));
    }
    for series in &chart.series {
        text += &format!("  {} {:?}, {} points\n", series.name, series.look, series.points.len());
    }
    text
}

#[test]
fn charts_say_what_the_records_say() {
    for name in ["sizes", "stream", "model", "past"] {
        let outlines: String = charts(name).iter().map(outline).collect();
        insta::assert_snapshot!(name, outlines);
    }
}

#[test]
fn every_subject_has_its_charts() {
    for (name, subjects) in [
        ("sizes", &["ranking", "latency-by-size", "distribution", "cpu-and-latency"][..]),
        ("stream", &["throughput-by-size", "distribution"]),
        ("model", &["predicted", "cost-parts", "distribution"]),
        ("past", &["then-and-now", "distribution"]),
    ] {
        let charts = charts(name);
        for subject in subjects {
            let start = format!("{name}-{subject}");
            assert!(charts.iter().any(|chart| chart.id.starts_with(&start)), "no {subject} of {name}");
        }
    }
}

#[test]
fn the_first_chart_is_what_the_run_was_made_for() {
    for (name, chart) in [
        ("sizes", "latency-by-size"),
        ("stream", "throughput-by-size"),
        ("model", "cost-parts"),
        ("past", "then-and-now"),
    ] {
        let first = &charts(name)[0];
        assert!(first.id.starts_with(&format!("{name}-{chart}")), "{}", first.id);
        let page = report(&[(name, &run(name))]).html().unwrap();
        let (verdict, _) = page.split_once("<nav").unwrap();
        assert_eq!(verdict.matches("<figure").count(), 1, "{name}");
        assert!(verdict.contains(&format!("<figure class=\"chart\" id=\"{}\"", first.id)), "{name}");
    }
}

#[test]
fn a_note_is_printed_once() {
    let report = report(&[("sizes", &run("sizes")), ("stream", &run("stream"))]);
    let notes: Vec<&String> = report.charts().flat_map(|chart| &chart.notes).collect();
    assert!(notes.len() > 1 && notes.iter().collect::<BTreeSet<_>>().len() == notes.len(), "{notes:#?}");
}

#[test]
fn charts_of_one_benchmark_are_a_line_of_text() {
    let mut one = run("past");
    let is_measured = |trial: &&furlong_model::Trial| matches!(trial.outcome, Outcome::Measured(_));
    let first = one.trials.iter().find(is_measured).expect("a measured trial").case.clone();
    one.trials.retain(|trial| trial.case == first);
    one.experiment = None;
    let report = report(&[("one", &one)]);
    assert_eq!(report.charts().count(), 0);
    let text = report.markdown(None);
    assert!(text.contains(&format!("{}: median ", first.row())) && text.contains(", p99.9 "), "{text}");
}

#[test]
fn rankings_are_sorted() {
    let all = charts("sizes");
    let rankings: Vec<&Chart> = all.iter().filter(|chart| chart.id.starts_with("sizes-ranking")).collect();
    // Three sizes, sleeping and spinning apart.
    assert_eq!(rankings.len(), 6);
    let summary = DecodedRun::of(&run("sizes")).summary;
    for chart in rankings {
        let [median, p99] = &chart.series[..] else { panic!("{:?}", chart.series) };
        assert!(chart.x.log && median.points.len() == chart.y.categories.len(), "{chart:?}");
        assert!(median.points.is_sorted_by(|one, other| one.x <= other.x && one.y < other.y), "{median:?}");
        for (point, name) in median.points.iter().zip(&chart.y.categories) {
            let row =
                summary.rows.iter().find(|row| row.case.row() == *name && row.exchange.ns.p50 == point.x);
            let row = row.unwrap_or_else(|| panic!("no {name} of {}", point.x));
            assert_eq!(
                (point.x_ends, point.look),
                (row.exchange.ns.median_ci95, Some(Look::Filled(row.family)))
            );
            let slow = p99.points.iter().find(|slow| slow.y == point.y).expect("a p99");
            assert_eq!((slow.x, slow.look), (row.exchange.ns.p99, Some(Look::Hollow(row.family))));
            assert!(chart.title.contains(if name.contains("spin") { "busy-waiting" } else { "blocking" }));
        }
    }
}

#[test]
fn a_mechanism_has_the_colour_of_its_family_in_all_charts_of_all_runs() {
    let [sizes, model] = ["sizes", "model"].map(run);
    let mut all =
        report(&[("sizes", &sizes), ("slower", &slower(&sizes, 2))]).charts().cloned().collect::<Vec<_>>();
    all.extend(["stream", "model"].map(charts).concat());
    all.extend(report(&[("model", &model), ("slower", &slower(&model, 2))]).charts().cloned());
    let mut seen = BTreeSet::new();
    let mut families = BTreeMap::new();
    for chart in &all {
        let kind = chart.id.split('-').find(|word| ["ranking", "forest", "cpu", "predicted"].contains(word));
        for series in &chart.series {
            for point in &series.points {
                let name = chart.y.categories.get(point.y as usize).unwrap_or(&point.label);
                let (name, look) = match point.look {
                    Some(look) => (name, look),
                    None => (&series.name, series.look),
                };
                let (Look::Filled(family) | Look::Hollow(family)) = look else { continue };
                let mechanism = name.split('/').next().unwrap().rsplit(' ').next().unwrap();
                let known = *families.entry(mechanism.to_owned()).or_insert(family);
                assert!(family.is_some() && known == family, "{}: {name} {family:?} {known:?}", chart.id);
                seen.extend(kind.or(Some("curve")));
            }
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["cpu", "curve", "forest", "predicted", "ranking"]);
}

#[test]
fn a_distribution_stops_where_samples_are_few_and_rises() {
    for chart in charts("sizes").iter().filter(|chart| chart.id.contains("distribution")) {
        for series in &chart.series {
            assert!(
                series.points.windows(2).all(|pair| pair[0].x < pair[1].x && pair[0].y <= pair[1].y),
                "{series:?}"
            );
            // Trials of 2 ms hold no ten samples beyond p99.99 of benchmarks that block.
            let most = if chart.id.contains("sleeping") { 1e3 } else { 1e4 * 1.01 };
            assert!(series.points.iter().all(|point| (2.0..=most).contains(&point.x)), "{series:?}");
        }
    }
}

#[test]
fn parts_add_up_to_what_was_predicted() {
    let explained = run("model");
    // Benchmarks without payload were measured only to derive costs.
    let carries_data =
        |trial: &&furlong_model::Trial| trial.family != Some(furlong_model::Family::Notification);
    let cases: Vec<_> =
        explained.trials.iter().filter(carries_data).map(|trial| trial.case.clone()).collect();
    let explanation = furlong_analysis::explain(&DecodedRun::of(&explained), &cases);
    let bars: Vec<Chart> = charts("model").into_iter().filter(|chart| chart.kind == Kind::Bars).collect();
    let mut seen = 0;
    for chart in &bars {
        for (number, name) in chart.y.categories.iter().enumerate() {
            let at = |chart: &Chart, measured: bool| -> f64 {
                let series = chart.series.iter().filter(|series| (series.name == "measured") == measured);
                let points =
                    series.flat_map(|series| &series.points).filter(|point| point.y == number as f64);
                points.map(|point| point.x).sum()
            };
            let measured = at(chart, true);
            let row =
                explanation.rows.iter().find(|row| row.measured_ns == measured && row.case.row() == *name);
            let row = row.unwrap_or_else(|| panic!("no {name} of {measured}"));
            assert!((at(chart, false) - row.predicted_ns).abs() < 1e-3 * row.predicted_ns, "{row:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, explanation.rows.len());
}

#[test]
fn a_comparison_has_a_mark_for_each_row_and_its_margin() {
    let (before, after) = (run("sizes"), slower(&run("sizes"), 2));
    let forest = |report: &furlong_report::Report| {
        report.charts().find(|chart| chart.id.starts_with("forest")).cloned()
    };
    let all = forest(&report(&[("before", &before), ("after", &after)])).expect("a forest");
    assert_eq!((all.points().count(), all.y.categories.len()), (15, 15));
    // Four trials of 15 benchmarks are inconclusive; those of a single benchmark are not.
    assert!(all.title == "after against before", "{}", all.title);
    assert!(all.y.categories.iter().all(|name| name.starts_with("inconclusive: ")), "{:?}", all.y.categories);
    let alone = |mut run: Run| {
        let first = run.trials[0].case.clone();
        run.trials.retain(|trial| trial.case == first);
        run
    };
    let (before, after) = (alone(before), alone(after));
    let report = report(&[("before", &before), ("after", &after)]);
    let one = forest(&report).expect("a forest");
    assert!(one.y.categories[0].starts_with("worse: "), "{:?}", one.y.categories);
    let page = report.html().unwrap();
    assert!(page.contains("Compared with before"));
    assert!(report.markdown(None).contains("## Compared with before"));
}

/// Returns the run with every trial taking `times` times as long.
fn slower(run: &Run, times: u64) -> Run {
    use furlong_stats::{Distribution, HistogramRange, encode_histogram};
    const RANGE: HistogramRange = HistogramRange { lowest: 1, highest: 60_000_000_000, digits: 3 };
    let mut run = run.clone();
    for trial in &mut run.trials {
        let Outcome::Measured(measured) = &mut trial.outcome else { continue };
        let read = Distribution::decode(&measured.histogram).unwrap();
        let slower = read.buckets().map(|(ns, count)| (ns as u64 * times, count));
        measured.histogram = encode_histogram(RANGE, slower).unwrap();
        measured.elapsed_ns *= times;
        for role in &mut measured.roles {
            (role.user_ns, role.system_ns) = (role.user_ns * times, role.system_ns * times);
            role.window_ns = role.window_ns.map(|ns| ns * times);
        }
    }
    run
}

#[test]
fn runs_without_a_common_row_are_told_and_not_compared() {
    let (one, other) = (run("sizes"), run("past"));
    let report = report(&[("one", &one), ("other", &other)]);
    let page = report.html().unwrap();
    assert!(page.contains("other shares no benchmark with one, and is not compared with it."));
    assert!(!page.contains("id=\"compared\""));
}

#[test]
fn anchors_are_unique_and_links_lead_somewhere() {
    let runs = ["sizes", "stream", "model", "past"].map(|name| (name, run(name)));
    // Names that become the same anchor.
    let mut named: Vec<_> = runs.iter().map(|(name, run)| (*name, run)).collect();
    let again = run("sizes");
    named.extend([
        ("Sizes", &again),
        ("s-i-z-e-s", &again),
        ("sizes!", &again),
        ("top", &again),
        ("verdict", &again),
    ]);
    let page = report(&named).html().unwrap();
    let mut ids: Vec<&str> = attributes(&page, " id=\"");
    let links = attributes(&page, "href=\"#");
    assert!(!links.is_empty() && links.iter().all(|link| ids.contains(link)), "{links:?}");
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

fn attributes<'a>(page: &'a str, start: &str) -> Vec<&'a str> {
    page.split(start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn a_page_is_small_and_asks_nobody() {
    let sizes = run("sizes");
    let page = report(&[("sizes", &sizes)]).html().unwrap();
    assert!(page.len() < 1_000_000, "{}", page.len());
    // With three benchmarks, the report is small enough to be mailed.
    let mut few = sizes.clone();
    let mut rows: Vec<_> = few.trials.iter().map(|trial| trial.case.clone()).collect();
    rows.sort();
    rows.dedup();
    few.trials.retain(|trial| rows[..3].contains(&trial.case));
    let small = report(&[("few", &few)]).html().unwrap();
    assert!(small.len() < 200_000, "{}", small.len());
    assert!(page.contains("default-src 'none'"));
    // Addresses are names of markup languages alone, and nothing is loaded by an attribute.
    let outside =
        page.split("http").skip(1).filter(|rest| rest.starts_with("://") || rest.starts_with("s://"));
    for address in outside {
        assert!(address.starts_with("://www.w3.org/2000/svg"), "http{}", &address[..60]);
    }
    assert!(!page.contains("src=") && !page.contains("@import") && !page.contains("url("));
    // The report names available charts with their commands.
    assert!(page.contains("furlong explain pipe unix-stream tcp"));
}

#[test]
fn hostile_text_is_text_everywhere() {
    let evil = |run: Run| {
        let mut run = run;
        run.header.argv.push(EVIL.into());
        run.header.machine.kernel = EVIL.into();
        run.header.machine.processor = Some(EVIL.into());
        run.header.machine.mitigations = vec![(EVIL.into(), EVIL.into())];
        for trial in &mut run.trials {
            trial.case.mechanism += EVIL;
        }
        for count in &mut run.counts {
            count.case.mechanism += EVIL;
        }
        if let Some(experiment) = &mut run.experiment {
            for text in [&mut experiment.title, &mut experiment.name] {
                *text = EVIL.into();
            }
            experiment.source = Some(EVIL.into());
            experiment.rows.iter_mut().for_each(|row| row.name += EVIL);
            experiment.faults.push(EVIL.into());
        }
        run
    };
    let runs = ["sizes", "stream", "model", "past"].map(|name| evil(run(name)));
    let again = slower(&runs[0], 2);
    let mut named: Vec<_> = runs.iter().map(|run| (EVIL, run)).collect();
    named.push(("again", &again));
    let report = report(&named);
    let page = report.html().unwrap();
    assert!(
        !page.contains("<script>alert") && !page.contains("<img") && !page.contains(['\u{1b}', '\u{202e}'])
    );
    assert!(!page.contains("49`"), "what a record says is no template");
    // The page must have only its own two scripts: that of its tables, and that of its charts.
    assert_eq!((page.matches("<script").count(), page.matches("</script>").count()), (2, 2));
    for picture in report.pictures() {
        assert!(
            !picture.svg.contains("<script") && !picture.svg.contains(['\u{1b}', '\u{202e}']),
            "{}",
            picture.file
        );
        let plain = picture.file.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
        assert!(
            plain && picture.file.ends_with(".svg") && !picture.file.starts_with('.'),
            "{}",
            picture.file
        );
    }
    let markdown = report.markdown(Some("charts\n<x>"));
    assert!(!markdown.contains("\n<script") && !markdown.contains(['\u{1b}', '\u{202e}']));
    // Text between backticks is never markup.
    let lines = markdown.lines().filter(|line| !line.contains(" UTC: `"));
    assert!(lines.clone().count() > 20);
    for line in lines {
        assert!(!line.replace("\\<", "").contains("<img"), "every bracket is escaped: {line}");
    }
}

#[test]
fn damaged_records_make_a_report_all_the_same() {
    // Each figure that can be damaged, separately and all together.
    let damage: [fn(&mut Run); 7] = [
        |run| run.trials.clear(),
        |run| run.noise.clear(),
        |run| run.end = None,
        |run| run.counts.clear(),
        |run| run.costs.iter_mut().flat_map(|look| &mut look.figures).for_each(|figure| figure.ns = f64::NAN),
        |run| run.costs.iter_mut().flat_map(|look| &mut look.figures).for_each(|figure| figure.ns = 1e300),
        |run| {
            for trial in &mut run.trials {
                trial.case.size_bytes = usize::MAX;
                if let Outcome::Measured(measured) = &mut trial.outcome {
                    measured.roles.iter_mut().for_each(|role| role.user_ns = u64::MAX);
                }
            }
            run.header.started_unix_s = u64::MAX;
            run.header.machine.memory_bytes = Some(u64::MAX);
        },
    ];
    for name in ["sizes", "stream", "model", "past"] {
        for change in damage {
            let mut run = run(name);
            change(&mut run);
            let report = report(&[(name, &run)]);
            let page = report.html().unwrap();
            let (page, rest) = page.split_once("<script>").unwrap();
            assert!(rest.contains("</html>") && !page.contains("NaN") && !page.contains(">inf"), "{name}");
            report.pictures();
            assert!(report.markdown(None).starts_with(&format!("# furlong: {name}")));
        }
    }
    assert!(report(&[]).html().unwrap().contains("0 runs"));
    let header = run("sizes").header;
    let empty = Run::from_records([Record::Run(header)]).unwrap();
    let page = report(&[("empty", &empty)]).html().unwrap();
    assert!(page.contains("No row has a speed.") && page.contains("The run is partial"));
}

#[test]
fn markdown_for_a_document() {
    insta::assert_snapshot!("markdown", report(&[("model", &run("model"))]).markdown(Some("charts")));
}

#[test]
fn pictures_are_whole_and_of_their_own() {
    let report = report(&[("sizes", &run("sizes"))]);
    for picture in report.pictures() {
        assert!(
            picture.svg.starts_with("<svg ") && picture.svg.trim_end().ends_with("</svg>"),
            "{}",
            picture.file
        );
        // Colours of a page mean nothing in a file.
        assert!(!picture.svg.contains("var(") && !picture.svg.contains("data-"), "{}", picture.file);
        assert!(picture.svg.contains(&picture.title.replace('\'', "&apos;")), "{}", picture.file);
    }
}
