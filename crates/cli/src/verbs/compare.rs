//! `furlong compare`: compares saved runs row by row, without measuring.

use crate::arguments::{CompareFormat, CompareOptions, FailOn};
use crate::verbs::compare_many::{compare_many, compare_pairs};
use crate::{output, saved};
use furlong_analysis::{Comparison, DecodedRun, NamedRun, RunPart, compare as compare_runs};
use furlong_console::exit::{Outcome, Usage};
use furlong_render as render;

/// Compares the named runs with the first of them.
pub fn compare(asked: &CompareOptions) -> anyhow::Result<Outcome> {
    if asked.pairs {
        return compare_pairs(asked);
    }
    if let Some(by) = asked.by {
        return compare_many(asked, by);
    }
    let found = saved::find(&asked.runs)?;
    let runs = saved::read_each(&found, |run| run)?;
    if let Some(axis) = asked.between {
        let [(name, run)] = runs.as_slice() else {
            return Err(
                Usage(format!("--between compares the values in one run, got {} runs", runs.len())).into()
            );
        };
        let parts = RunPart::all(run, axis);
        if parts.len() < 2 {
            let (number, axis) = (parts.len(), axis.name());
            let reason = format!(
                "run {name} has {number} values of {axis}, and a comparison needs two: repeat the option in furlong run"
            );
            return Err(Usage(reason).into());
        }
        let parts: Vec<_> = parts.iter().map(|part| (part.value.to_string(), part.decode())).collect();
        return compare_decoded(&parts, asked);
    }
    if runs.len() < 2 {
        let names: Vec<_> = runs.iter().map(|(name, _)| *name).collect();
        let reason = format!(
            "a comparison needs a baseline and another run, but only {} was specified; add one, for example 'furlong compare {} @last'",
            names.join(", "),
            names.join(" ")
        );
        return Err(Usage(reason).into());
    }
    let decoded: Vec<_> = runs.iter().map(|(name, run)| ((*name).to_owned(), DecodedRun::of(run))).collect();
    compare_decoded(&decoded, asked)
}

/// Compares runs with the first of them.
fn compare_decoded(runs: &[(String, DecodedRun<'_>)], asked: &CompareOptions) -> anyhow::Result<Outcome> {
    let named: Vec<_> = runs.iter().map(|(name, run)| NamedRun { name, run }).collect();
    match compare_runs(&named, asked.margin.share()) {
        Ok(comparison) => {
            output::print(&rendered(&comparison, asked.format))?;
            let outcome = outcome(&comparison, asked);
            if outcome == Outcome::Inconclusive {
                for what in asked.fail_on.iter().filter(|what| !can_be_judged(&comparison, **what)) {
                    output::tell(format_args!("furlong: {}", why_nothing(*what)));
                }
            }
            Ok(outcome)
        }
        Err(why) => {
            output::tell(format_args!("furlong: {}", render::incomparable(&why)));
            Ok(Outcome::Incomparable)
        }
    }
}

fn rendered(comparison: &Comparison, format: CompareFormat) -> String {
    match format {
        CompareFormat::Table => render::comparison_table(comparison, output::style()),
        CompareFormat::Json => render::comparison_json(comparison),
        CompareFormat::Csv => render::comparison_csv(comparison),
        CompareFormat::Markdown => render::comparison_markdown(comparison),
        CompareFormat::Junit => render::comparison_junit(comparison),
    }
}

fn outcome(comparison: &Comparison, asked: &CompareOptions) -> Outcome {
    let fails_on = |what: FailOn| asked.fail_on.contains(&what);
    // Without any judged row, no regression was found only because none could be: that must not pass as success.
    let says_nothing =
        !asked.allow_inconclusive && asked.fail_on.iter().any(|what| !can_be_judged(comparison, *what));
    if (fails_on(FailOn::Regression) && comparison.has_regression())
        || (fails_on(FailOn::MoreCalls) && comparison.has_more_calls())
    {
        Outcome::Regressed
    } else if says_nothing || (fails_on(FailOn::Inconclusive) && comparison.is_inconclusive()) {
        Outcome::Inconclusive
    } else {
        Outcome::Done
    }
}

/// Returns whether at least one row can be judged by this condition.
fn can_be_judged(comparison: &Comparison, what: FailOn) -> bool {
    match what {
        FailOn::Regression | FailOn::Inconclusive => comparison.is_conclusive(),
        FailOn::MoreCalls => comparison.is_conclusive_about_calls(),
    }
}

fn why_nothing(what: FailOn) -> &'static str {
    match what {
        FailOn::Regression | FailOn::Inconclusive => {
            "no benchmark could be judged, so a regression is possible; use more trials or a quieter machine \
             (to exit with status 0 nevertheless, use --allow-inconclusive)"
        }
        FailOn::MoreCalls => {
            "no benchmark has system calls counted in both runs, so more calls are possible; count both, for example with 'furlong \
             count pipe --save NAME' (to exit with status 0 nevertheless, use --allow-inconclusive)"
        }
    }
}
