//! Reasons why runs cannot be compared, as sentences.

use super::prose::NAMED;
use furlong_analysis::ComparisonRefusal;
use furlong_analysis::text::{listed, plain};
use furlong_model::{Axis, AxisValue, Case, row_name};

/// Describes why runs cannot be compared.
pub fn incomparable(why: &ComparisonRefusal) -> String {
    match why {
        ComparisonRefusal::TooFewRuns => "a comparison needs a baseline and another run".to_owned(),
        ComparisonRefusal::OtherRuntime { baseline, baseline_runtime, run, runtime } => format!(
            "{} was measured under {}, and {} under {}: a substitute for the operating system shows whether code \
             works, not how fast it is",
            plain(baseline),
            plain(baseline_runtime),
            plain(run),
            plain(runtime)
        ),
        ComparisonRefusal::NoRows { run, skipped, handovers, starts } => {
            let has = [
                (skipped, "cases that were skipped, failed or void"),
                (handovers, "bulk transfer trials, which are not compared"),
                (starts, "process starts, which are not compared"),
            ];
            let has: Vec<_> = has
                .iter()
                .filter(|(count, _)| **count > 0)
                .map(|(count, what)| format!("{count} {what}"))
                .collect();
            let has = if has.is_empty() { String::new() } else { format!(" (it has {})", has.join(", ")) };
            format!(
                "{} has no benchmark with a time or a count{has}; other runs cannot be compared with it",
                plain(run)
            )
        }
        ComparisonRefusal::NoCommonRow { baseline, run, baseline_has, has } => {
            let (baseline, run) = (plain(baseline), plain(run));
            let matching = "Benchmarks match if mechanism, wait strategy, pattern, sizes, placement, arrival, buffer, access, \
                            boundary, window and conditions are equal, and with --find-rate also the objective and --arrival";
            format!(
                "{run} and {baseline} have no benchmark in common: {run} has {}, and {baseline} has {}. {}",
                cases(has),
                cases(baseline_has),
                remedy(baseline_has, has).unwrap_or_else(|| matching.to_owned())
            )
        }
    }
}

/// Returns how to compare runs of benchmarks that differ only in values of axes.
fn remedy(baseline_has: &[Case], has: &[Case]) -> Option<String> {
    let plain = |case: &Case| Axis::all().fold(case.clone(), |case, axis| axis.without(case));
    let pairs = baseline_has.iter().flat_map(|old| has.iter().map(move |new| [old, new]));
    let alike = pairs.filter(|[old, new]| plain(old) == plain(new));
    let axes = |[old, new]: [&Case; 2]| {
        Axis::all().filter(|axis| axis.value(old) != axis.value(new)).collect::<Vec<_>>()
    };
    let (pair, axes) = alike.map(|pair| (pair, axes(pair))).min_by_key(|(_, axes)| axes.len())?;
    let first = axes.first()?.name();
    let names: Vec<_> = axes.iter().map(|axis| axis.name()).collect();
    let options: Vec<_> =
        axes.iter().flat_map(|axis| pair.map(|case| option(*axis, axis.value(case)))).collect();
    Some(format!(
        "They differ in {}: measure both in one run, 'furlong run {} {} --save both', and compare them with 'furlong compare both \
         --between {first}'",
        listed(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), NAMED),
        row_name(&pair[0].mechanism, pair[0].wait),
        options.join(" ")
    ))
}

/// Returns the option that requests a value of an axis; without a value, that of an ordinary process.
fn option(axis: Axis, value: Option<AxisValue>) -> String {
    let usual = match axis {
        Axis::Condition(kind) => kind.neutral.unwrap_or(kind.placeholder),
        _ => "VALUE",
    };
    let option = if axis.name() == Axis::Buffer.name() {
        "pipe-size (or --socket-buffer, --ring-size)"
    } else {
        axis.name()
    };
    format!("--{option} {}", value.map_or_else(|| usual.to_owned(), |value| value.value()))
}

/// Lists the first of `cases`, and the number of further ones.
fn cases(cases: &[Case]) -> String {
    listed(&cases.iter().map(|case| plain(&case.to_string())).collect::<Vec<_>>(), NAMED)
}
