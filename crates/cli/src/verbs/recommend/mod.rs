//! `furlong recommend`: what to take for a workload.

mod asking;
mod earlier;
mod emitting;
pub mod file;
mod looking;

use crate::arguments::{Also, ListFormat, RecommendOptions, WorkloadOptions};
use crate::conclusion::{Demands, Results};
use crate::output;
use clap::ArgMatches;
use furlong_analysis::{DecodedRun, Recommendation, recommend as judge};
use furlong_console::exit::{Outcome, Usage};
use furlong_model::{Boundary, Objective, Placement, Trust, Workload};
use furlong_render as render;

/// Recommends a mechanism for what was asked, which is what was `typed`.
pub fn recommend(asked: &RecommendOptions, typed: &ArgMatches) -> anyhow::Result<Outcome> {
    if asked.place == Placement::OneProcess {
        return Err(Usage("--place one-process: a recommendation is for two processes".to_owned()).into());
    }
    let workload = workload(asked, typed)?;
    if !asked.emit.is_empty() && [workload.receivers, workload.senders, workload.workers] != [1; 3] {
        let reason = "--emit prints one sender and one receiver: ask for the recommendation without --emit, then print its \
                      row with --emit and --row but without --receivers, --senders and --workers, and use one pair for each \
                      process";
        return Err(Usage(reason.to_owned()).into());
    }
    let to = emitting::Destination::of(&asked.emit, asked.output.as_deref())?;
    if let Some(row) = &asked.row {
        return to.print_row(row, &workload, asked.place);
    }
    let finished =
        looking::measure(workload, &asked.emit, (asked.place, asked.within.0), &asked.common, &asked.saving)?;
    let Some(recommendation) = judge(&DecodedRun::of(&finished.run)) else {
        anyhow::bail!("the run has no workload in it: this is a fault of furlong; please report it");
    };
    // Half of a run says nothing that could be told again.
    let keep = !asked.saving.no_save && !recommendation.run.partial;
    let recommendation = earlier::compared(recommendation, asked.place, keep);
    let shown = match asked.format {
        ListFormat::Table => render::recommendation_table(&recommendation, output::style()),
        ListFormat::Json => render::recommendation_json(&recommendation),
    };
    if asked.emit.is_empty() {
        output::print(&shown)?;
    } else {
        output::tell_coloured(shown.trim_end());
        to.print_choice(&recommendation)?;
    }
    let results = Results { failed: recommendation.found_corruption, ..Results::default() };
    let strict = asked.strict.then_some(recommendation.run.noise.level);
    let outcome = finished.conclude(&results, Demands { require: false, strict });
    Ok(outcome.worse(verdict(&recommendation)))
}

fn verdict(recommendation: &Recommendation) -> Outcome {
    match (&recommendation.choice, recommendation.slo_holds()) {
        (None, _) => Outcome::Missing,
        (Some(_), Some(false)) => Outcome::Missed,
        (Some(_), _) => Outcome::Done,
    }
}

/// The workload as it was typed, read from a file, or answered.
fn workload(asked: &RecommendOptions, typed: &ArgMatches) -> anyhow::Result<Workload> {
    let options = match &asked.file {
        Some(path) => file::read(path, typed)?,
        None => asked.workload.clone(),
    };
    check(&if options == WorkloadOptions::default() { asking::ask()? } else { options })
}

/// Returns the workload that the options describe.
///
/// # Errors
/// Options that contradict each other.
pub fn check(options: &WorkloadOptions) -> anyhow::Result<Workload> {
    let usage = |text: &str| Err(Usage(text.to_owned()).into());
    let usual = Workload::default();
    let pattern = options.pattern.unwrap_or(usual.pattern);
    if options.request.is_some() && !pattern.has_requests() {
        return usage("--request belongs to requests: say --pattern request");
    }
    if options.accept_shared_memory && options.trust != Some(Trust::None) {
        return usage("--accept-shared-memory says something only with --trust none");
    }
    let size_bytes = options.size.map_or(usual.size_bytes, |size| size.0);
    if size_bytes == 0 {
        return usage("--size 0 carries nothing: say 1 byte or more");
    }
    let number = |asked: Option<u32>| asked.unwrap_or(1);
    let [receivers, senders, workers] = [options.receivers, options.senders, options.workers].map(number);
    if [receivers, senders, workers].iter().filter(|number| **number > 1).count() > 1 {
        return usage("--receivers, --senders and --workers: several of one of them can be measured");
    }
    let shares_an_end = senders > 1 || workers > 1;
    if shares_an_end && !pattern.is_stream() {
        return usage("--senders and --workers belong to messages one way: say --pattern one-way");
    }
    if shares_an_end && options.objective == Some(Objective::Latency) {
        return usage(
            "--senders and --workers are measured as fast as messages go: say another --objective than latency",
        );
    }
    if options.latest && (!pattern.is_stream() || options.rate.is_none() || shares_an_end) {
        return usage(
            "--latest is for messages one way at a rate, to one or more receivers: say --pattern one-way and --rate",
        );
    }
    let streams = pattern.is_stream() && (options.rate.is_none() || shares_an_end);
    let objective =
        options.objective.unwrap_or(if streams { Objective::Throughput } else { Objective::Latency });
    if options.slo.is_some() && (streams || objective == Objective::Throughput) {
        return usage("--slo is about single messages: say --rate, and an objective other than throughput");
    }
    let boundaries =
        if options.boundary.is_empty() { vec![Boundary::Process] } else { options.boundary.clone() };
    Ok(Workload {
        pattern,
        size_bytes,
        request_bytes: pattern.has_requests().then(|| options.request.map_or(1, |size| size.0)),
        interval_ns: options.rate.map(|rate| rate.interval_ns()),
        objective,
        slo: options.slo,
        boundaries,
        languages: options.languages.clone(),
        receivers,
        senders,
        workers,
        needs: options.needs.clone(),
        trust: options.trust.unwrap_or(Trust::Mutual),
        accept_shared_memory: options.accept_shared_memory,
        spin: options.spin,
        latest: options.latest,
        work_ns: options.work.map(|work| work.0.as_nanos() as u64),
        adapters: options.also == Some(Also::Adapters),
    })
}
