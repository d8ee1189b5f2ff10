//! Reasons why runs cannot be compared, as sentences.

use super::prose::NAMED;
use furlong_analysis::ComparisonRefusal;
use furlong_analysis::text::{listed, plain};
use furlong_model::Case;

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
            format!(
                "{run} and {baseline} have no benchmark in common: {run} has {}, and {baseline} has {}. Benchmarks \
                 match if mechanism, wait strategy, pattern, sizes, placement, arrival, buffer, access, boundary, window and \
                 conditions are equal, and with --find-rate also the objective and --arrival",
                cases(has),
                cases(baseline_has)
            )
        }
    }
}

/// Lists the first of `cases`, and the number of further ones.
fn cases(cases: &[Case]) -> String {
    listed(&cases.iter().map(|case| plain(&case.to_string())).collect::<Vec<_>>(), NAMED)
}
