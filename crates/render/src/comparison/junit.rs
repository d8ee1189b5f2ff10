//! A comparison as JUnit's XML, which systems for continuous integration show: a suite for each run, with a case for each row and
//! each count of the baseline.

use super::counts::change;
use super::prose::{heading, inconclusive_because};
use furlong_analysis::text::plain;
use furlong_analysis::{
    Change, ComparedCount, ComparedRow, ComparedRun, Comparison, CountChange, Counted, OnlyIn,
};
use furlong_model::format_ns;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, Event};
use std::io;

/// One case, and what became of it.
struct Case {
    name: String,
    result: Result,
}

enum Result {
    Passed,
    /// It got worse: how.
    Failed(String),
    /// It cannot be said what became of it: why.
    Skipped(String),
}

/// The XML. A row that is worse and more system calls are failures; what is inconclusive, or was not measured again, is skipped.
pub fn comparison_junit(comparison: &Comparison) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    written(&mut writer, comparison).expect("memory takes every byte");
    String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n"
}

fn written(writer: &mut Writer<Vec<u8>>, comparison: &Comparison) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let suites = writer.create_element("testsuites").with_attribute(("name", "furlong compare"));
    suites.write_inner_content(|writer| {
        comparison.others().try_for_each(|run| suite(writer, comparison, run))
    })?;
    Ok(())
}

fn suite(writer: &mut Writer<Vec<u8>>, comparison: &Comparison, run: &ComparedRun) -> io::Result<()> {
    let rows = comparison.rows_of(&run.name).map(of_row);
    let counts = comparison.counts_of(&run.name).map(of_count);
    let missing = comparison.only_in.iter().filter(|only| only.missing_in == run.name).map(of_missing);
    let cases: Vec<Case> = rows.chain(counts).chain(missing).collect();
    let count = |is: fn(&Case) -> bool| cases.iter().filter(|case| is(case)).count().to_string();
    let [failures, skipped] = [
        count(|case| matches!(case.result, Result::Failed(_))),
        count(|case| matches!(case.result, Result::Skipped(_))),
    ];
    let (name, tests) = (heading(comparison, run), cases.len().to_string());
    let element = writer.create_element("testsuite").with_attributes([
        ("name", name.as_str()),
        ("tests", &tests),
        ("failures", &failures),
        ("skipped", &skipped),
    ]);
    element.write_inner_content(|writer| cases.iter().try_for_each(|case| test_case(writer, &name, case)))?;
    Ok(())
}

fn test_case(writer: &mut Writer<Vec<u8>>, class: &str, case: &Case) -> io::Result<()> {
    let element =
        writer.create_element("testcase").with_attributes([("classname", class), ("name", &case.name)]);
    let (name, message) = match &case.result {
        Result::Passed => return element.write_empty().map(drop),
        Result::Failed(how) => ("failure", how),
        Result::Skipped(why) => ("skipped", why),
    };
    element
        .write_inner_content(|writer| {
            writer.create_element(name).with_attribute(("message", message.as_str())).write_empty().map(drop)
        })
        .map(drop)
}

fn of_row(row: &ComparedRow) -> Case {
    let result = match row.verdict {
        Change::Better | Change::Same => Result::Passed,
        Change::Worse => {
            let ends = row.ci95.map(|[low, high]| format!(" ({low:.2} to {high:.2})")).unwrap_or_default();
            let [then, now] = [row.baseline_ns, row.new_ns].map(format_ns);
            Result::Failed(format!("{:.2} times as long{ends}: {then} then, {now} now", row.ratio))
        }
        Change::Inconclusive => Result::Skipped(
            row.reason.as_ref().map(|why| plain(&inconclusive_because(why))).unwrap_or_default(),
        ),
    };
    Case { name: plain(&row.case.to_string()), result }
}

/// A row that the baseline alone has.
fn of_missing(only: &OnlyIn) -> Case {
    let reason = only.reason.as_deref().map_or_else(|| "it was not measured again".to_owned(), plain);
    Case { name: plain(&only.case.to_string()), result: Result::Skipped(reason) }
}

fn of_count(count: &ComparedCount) -> Case {
    let result = match (count.verdict, count.counted) {
        (CountChange::More, Counted::SystemCalls) => Result::Failed(format!("more {}", change(count))),
        (CountChange::Inconclusive, _) => {
            Result::Skipped(format!("by when messages arrive: {}", change(count)))
        }
        _ => Result::Passed,
    };
    Case { name: format!("{} {}", plain(&count.case.to_string()), count.counted.name()), result }
}
