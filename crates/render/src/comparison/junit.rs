//! A comparison as JUnit's XML, which systems for continuous integration show: a suite for each run, with a case for each row and
//! each count of the baseline.

use super::capacities;
use super::counts::change;
use super::prose::{heading, inconclusive_because};
use furlong_analysis::text::plain;
use furlong_analysis::{
    Change, ComparedCapacity, ComparedCount, ComparedRow, ComparedRun, Comparison, CountChange,
    CountedQuantity, Difference, OnlyIn,
};
use furlong_model::format_ns;

/// A test case with its outcome.
struct Case {
    name: String,
    result: Result,
}

enum Result {
    Passed,
    /// The case got worse, with a description.
    Failed(String),
    /// The outcome is unknown, with the reason.
    Skipped(String),
}

/// Returns the XML. A slower benchmark and an increase of system calls are failures. Benchmarks that are inconclusive
/// or were not measured again are skipped.
pub fn comparison_junit(comparison: &Comparison) -> String {
    let suites: String = comparison.others().map(|run| suite(comparison, run)).collect();
    let open = tag("testsuites", &[("name", "furlong compare")]);
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{open}>\n{suites}</testsuites>\n")
}

fn suite(comparison: &Comparison, run: &ComparedRun) -> String {
    let rows = comparison.rows_of(&run.name).map(row_case);
    let counts = comparison.counts_of(&run.name).map(count_case);
    let missing = comparison.only_in.iter().filter(|only| only.missing_in == run.name).map(missing_case);
    let rates = comparison.capacities_of(&run.name).map(rate_case);
    let cases: Vec<Case> = rows.chain(rates).chain(counts).chain(missing).collect();
    let count = |is: fn(&Case) -> bool| cases.iter().filter(|case| is(case)).count().to_string();
    let failures = count(|case| matches!(case.result, Result::Failed(_)));
    let skipped = count(|case| matches!(case.result, Result::Skipped(_)));
    let (name, tests) = (heading(comparison, run), cases.len().to_string());
    let attributes = [("name", &*name), ("tests", &tests), ("failures", &failures), ("skipped", &skipped)];
    let inside: String = cases.iter().map(|case| test_case(&name, case)).collect();
    format!("  <{}>\n{}{inside}  </testsuite>\n", tag("testsuite", &attributes), properties(comparison, run))
}

/// Returns the differences between the runs except for those of the benchmarks, so that a failure never lacks its conditions.
fn properties(comparison: &Comparison, run: &ComparedRun) -> String {
    let of_run = comparison.environment_differences.iter().filter(|difference| difference.run == run.name);
    let property = |difference: &Difference| {
        let [what, then, now] = [&difference.what, &difference.then, &difference.now].map(|text| plain(text));
        format!("      <{}/>\n", tag("property", &[("name", &what), ("value", &format!("{then} → {now}"))]))
    };
    let all: String = of_run.map(property).collect();
    if all.is_empty() { all } else { format!("    <properties>\n{all}    </properties>\n") }
}

fn test_case(class: &str, case: &Case) -> String {
    let open = tag("testcase", &[("classname", class), ("name", &case.name)]);
    let (name, message) = match &case.result {
        Result::Passed => return format!("    <{open}/>\n"),
        Result::Failed(how) => ("failure", how),
        Result::Skipped(why) => ("skipped", why),
    };
    format!("    <{open}>\n      <{}/>\n    </testcase>\n", tag(name, &[("message", message)]))
}

/// Returns the inner text of a tag: its name, and its attributes with escaped values.
fn tag(name: &str, attributes: &[(&str, &str)]) -> String {
    let escaped = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
            .replace('\'', "&apos;")
    };
    let mut tag = name.to_owned();
    tag.extend(attributes.iter().map(|(key, text)| format!(" {key}=\"{}\"", escaped(text))));
    tag
}

fn row_case(row: &ComparedRow) -> Case {
    let result = match row.verdict {
        Change::Better | Change::Same => Result::Passed,
        Change::Worse => {
            let ends = row.ci95.map(|[low, high]| format!(" ({low:.3} to {high:.3})")).unwrap_or_default();
            let [then, now] = [row.baseline_ns, row.new_ns].map(format_ns);
            Result::Failed(format!(
                "{:.3} times as long{ends}: {then} then, {now} now",
                row.ratio.unwrap_or(1.0)
            ))
        }
        Change::Inconclusive => Result::Skipped(
            row.reason.as_ref().map(|why| plain(&inconclusive_because(why))).unwrap_or_default(),
        ),
    };
    Case { name: plain(&row.case.to_string()), result }
}

/// Returns the test case of a benchmark that only the baseline has.
fn missing_case(only: &OnlyIn) -> Case {
    let reason = only.reason.as_deref().map_or_else(|| "it was not measured again".to_owned(), plain);
    Case { name: plain(&only.case.to_string()), result: Result::Skipped(reason) }
}

fn rate_case(one: &ComparedCapacity) -> Case {
    let result = match capacities::verdict(one) {
        "worse" => Result::Failed(capacities::change(one)),
        "inconclusive" => Result::Skipped(capacities::change(one)),
        _ => Result::Passed,
    };
    Case { name: format!("{} highest rate with {}", plain(&one.case.to_string()), one.objective), result }
}

fn count_case(count: &ComparedCount) -> Case {
    let result = match (count.verdict, count.counted) {
        (CountChange::More, CountedQuantity::SystemCalls) => {
            Result::Failed(format!("more {}", change(count)))
        }
        (CountChange::Inconclusive, _) => {
            Result::Skipped(format!("depends on when messages arrive: {}", change(count)))
        }
        _ => Result::Passed,
    };
    Case { name: format!("{} {}", plain(&count.case.to_string()), count.counted.name()), result }
}
