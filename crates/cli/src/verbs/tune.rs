//! `furlong tune`: measure which conditions make a benchmark faster.

use super::run::{Request, results};
use crate::arguments::{Format, RunOptions, TuneOptions};
use crate::conclusion::Demands;
use crate::output;
use furlong_analysis::{DecodedRun, TuningResult};
use furlong_bench::MechanismEntry;
use furlong_bench::registry::find;
use furlong_console::exit::{Outcome, Usage};
use furlong_model::{CONDITION_KINDS, Case, RequestedCondition, RequestedConditions, Scheduling};
use furlong_render::{tuning_json, tuning_markdown, tuning_table};
use furlong_stats::distinct;

/// Measures each benchmark without and with each condition, and prints the effects.
pub fn tune(asked: &TuneOptions) -> anyhow::Result<Outcome> {
    check(&asked.run)?;
    let inherited = furlong_os::facts::machine(false).conditions.unwrap_or_default();
    let requested: Vec<_> = asked.run.conditions.0.iter().flatten().cloned().collect();
    let candidates = if requested.is_empty() { candidates()? } else { requested };
    // The policy that the roles inherit changes nothing.
    let placebo = Scheduling::inherited(&inherited).map(RequestedCondition::Scheduling);
    let conditions = distinct(placebo.into_iter().chain(candidates));
    let mut plain = asked.run.clone();
    plain.conditions.0.clear();
    let request = Request::of(&plain)?.vary(|case, mechanisms| varied(case, mechanisms, &conditions));
    let finished = request.measure()?;
    let run = DecodedRun::of(&finished.run);
    let tuning = TuningResult::of(&run.summary, &inherited);
    output::print(&match asked.run.format {
        Format::Json => tuning_json(&tuning),
        Format::Markdown => tuning_markdown(&tuning),
        Format::Table | Format::Csv => tuning_table(&tuning, output::style()),
    })?;
    // A condition that is impossible here is a result, not a failure.
    let noise = asked.run.strict.then_some(run.summary.run.noise.level);
    let outcome =
        finished.conclude(&results(&run.summary), Demands { require: asked.run.require, strict: noise });
    let is_judged =
        tuning.benchmarks.iter().flat_map(|benchmark| &benchmark.effects).any(|effect| !effect.is_placebo);
    Ok(if is_judged { outcome } else { outcome.worse(Outcome::Missing) })
}

/// Rejects options that have no meaning here, before anything is measured.
fn check(asked: &RunOptions) -> Result<(), Usage> {
    if asked.find_rate.is_some() {
        return Err(Usage("tune supports no --find-rate: use furlong run --find-rate".to_owned()));
    }
    let rejected = [
        (asked.cases.rows.is_empty(), "name a benchmark, as in furlong tune pipe"),
        (asked.watch, "--watch cannot be combined with tune; use furlong run --watch"),
        (asked.self_check, "--self-check cannot be combined with tune, which has a placebo"),
        (asked.peer.is_some(), "--peer cannot be combined with tune, which changes only this host"),
        (asked.format == Format::Csv, "tune supports --format table, json and markdown"),
    ];
    rejected
        .into_iter()
        .find(|(is_rejected, _)| *is_rejected)
        .map_or(Ok(()), |(_, why)| Err(Usage(why.to_owned())))
}

/// Returns the candidates of all kinds of conditions.
fn candidates() -> anyhow::Result<Vec<RequestedCondition>> {
    let of_kind =
        CONDITION_KINDS.iter().flat_map(|kind| kind.candidates.iter().map(|value| kind.read(value)));
    let candidates = of_kind.collect::<Result<Vec<_>, _>>()?.into_iter();
    #[cfg(target_os = "linux")]
    let candidates = candidates.filter(|condition| !furlong_bench::kernel_settings::is_in_effect(condition));
    Ok(candidates.collect())
}

/// Returns a case without a condition, and with each condition that means something to its mechanism.
fn varied(case: &Case, mechanisms: &[MechanismEntry], conditions: &[RequestedCondition]) -> Vec<Case> {
    let Some(entry) = find(mechanisms, &case.mechanism, case.wait) else { return vec![case.clone()] };
    let applicable = conditions.iter().filter(|condition| condition.applies(entry.capabilities));
    // All benchmarks of a ranking have the same deciding figure.
    let plain = RequestedConditions::without_effects(conditions);
    let with = |conditions| Case { conditions, ..case.clone() };
    let varied = applicable.map(|condition| with(plain.with(condition.clone())));
    let mut cases = vec![with(plain.clone())];
    cases.extend(varied.filter(|varied| varied.conditions != plain));
    cases
}
