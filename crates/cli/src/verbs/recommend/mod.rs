//! `furlong recommend`: recommends a mechanism for a workload.

mod asking;
mod earlier;
mod emitting;
pub mod file;
mod looking;
mod observed;

use crate::arguments::{ExtraCandidates, ListFormat, RecommendOptions, WorkloadOptions};
use crate::conclusion::{Demands, Results};
use crate::output;
use clap::ArgMatches;
use furlong_analysis::{DecodedRun, Level, Recommendation, recommend as judge};
use furlong_console::exit::{Outcome, Usage};
use furlong_model::{Boundary, Objective, Placement, Trust, Workload};
use furlong_render as render;

/// Recommends a mechanism for the requested workload; `typed` are the arguments as parsed by clap.
pub fn recommend(asked: &RecommendOptions, typed: &ArgMatches) -> anyhow::Result<Outcome> {
    if asked.place == Placement::OneProcess {
        let reason =
            "--place one-process is not supported: recommend compares mechanisms between two processes";
        return Err(Usage(reason.to_owned()).into());
    }
    let (workload, answered) = workload(asked, typed)?;
    if !asked.emit.is_empty() && [workload.receivers, workload.senders, workload.workers] != [1; 3] {
        let reason = "--emit prints one sender and one receiver: run recommend without --emit, then print its \
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
        anyhow::bail!("the run contains no workload: this is a bug in furlong; please report it");
    };
    // The answer of a partial run is not worth keeping.
    let keep = !asked.saving.no_save && !recommendation.run.partial;
    let recommendation = earlier::compared(recommendation, asked.place, keep);
    let detail = render::RecommendationDetail { all: asked.all, why: asked.why };
    let shown = match asked.format {
        ListFormat::Table => render::recommendation_table(&recommendation, detail, output::style()),
        ListFormat::Json => render::recommendation_json(&recommendation),
    };
    if asked.emit.is_empty() {
        let argv = answered.as_deref().unwrap_or(&recommendation.run.argv);
        let next = next(&recommendation, argv).filter(|_| asked.format == ListFormat::Table);
        let next = next.map_or_else(String::new, |next| format!("Next: {next}\n"));
        output::print(&(shown + &next))?;
    } else {
        output::tell_coloured(shown.trim_end());
        to.print_choice(&recommendation)?;
    }
    let results = Results { failed: recommendation.found_corruption, ..Results::default() };
    let strict = asked.strict.then_some(recommendation.run.noise.level);
    let outcome = finished.conclude(&results, Demands { require: false, strict });
    Ok(outcome.worse(verdict(&recommendation)))
}

/// Returns the command that follows from the answer to the command `argv`: it prints a program pair for the choice, or
/// measures again.
fn next(recommendation: &Recommendation, argv: &[String]) -> Option<String> {
    let again = |options: &[&str]| {
        let options = options.iter().map(|word| (*word).to_owned());
        render::shell(&argv.iter().cloned().chain(options).collect::<Vec<_>>())
    };
    if let Some(choice) = &recommendation.choice {
        let (language, file) = emitting::printable(choice, &recommendation.workload)?;
        let program = again(&["--emit", language.name(), "--row", &choice.name()]);
        return Some(format!("{program} > {file}"));
    }
    match recommendation.run.noise.level {
        _ if recommendation.candidates == 0 => Some("furlong list --why".to_owned()),
        _ if recommendation.carried_by_spinning.is_some() => Some(again(&["--spin"])),
        Level::Unreliable => Some("furlong doctor".to_owned()),
        _ => None,
    }
}

fn verdict(recommendation: &Recommendation) -> Outcome {
    match (&recommendation.choice, recommendation.slo_holds()) {
        (None, _) => Outcome::Missing,
        (Some(_), Some(false)) => Outcome::Missed,
        (Some(_), _) => Outcome::Done,
    }
}

/// Returns the workload from the command line, from a file, or from answers on the terminal.
fn workload(asked: &RecommendOptions, typed: &ArgMatches) -> anyhow::Result<(Workload, Option<Vec<String>>)> {
    if let Some(path) = &asked.observed {
        return Ok((observed::workload(path, asked.link.as_deref(), &asked.workload)?, None));
    }
    // clap skips `requires` if another option conflicts with the required one.
    if asked.link.is_some() {
        return Err(Usage("--link requires --observed FILE".to_owned()).into());
    }
    let options = match &asked.file {
        Some(path) => file::read(path, typed)?,
        None => asked.workload.clone(),
    };
    if options != WorkloadOptions::default() {
        return Ok((check(&options)?, None));
    }
    let answered = asking::ask()?;
    Ok((check(&answered)?, Some(asking::command(&answered))))
}

/// Returns the workload that the options describe.
///
/// # Errors
/// Returns a usage error if options contradict each other.
pub fn check(options: &WorkloadOptions) -> anyhow::Result<Workload> {
    let usual = Workload::default();
    let pattern = options.pattern.unwrap_or(usual.pattern);
    let number = |asked: Option<u32>| asked.unwrap_or(1);
    let [receivers, senders, workers] = [options.receivers, options.senders, options.workers].map(number);
    let streams = pattern.is_stream() && (options.rate.is_none() || senders > 1 || workers > 1);
    let usual_objective = if streams { Objective::Throughput } else { Objective::Latency };
    let boundaries =
        if options.boundary.is_empty() { vec![Boundary::None] } else { options.boundary.clone() };
    let workload = Workload {
        pattern,
        size_bytes: options.size.map_or(usual.size_bytes, |size| size.0),
        request_bytes: pattern.has_requests().then(|| options.request.map_or(1, |size| size.0)),
        interval_ns: options.rate.map(|rate| rate.interval_ns()),
        objective: options.objective.unwrap_or(usual_objective),
        slo: options.slo,
        boundaries,
        measured_boundary: None,
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
        adapters: options.also == Some(ExtraCandidates::Adapters),
        observed: None,
    };
    let contradictions = [
        (options.request.is_some() && !pattern.has_requests(), "--request requires --pattern request"),
        (
            options.accept_shared_memory && options.trust != Some(Trust::None),
            "--accept-shared-memory requires --trust none",
        ),
        (workload.size_bytes == 0, "--size must be at least 1 byte, got 0"),
    ];
    let contradictions = contradictions.into_iter().chain(contradictions_of_several(&workload));
    let of_slo = (
        options.slo.is_some() && (streams || workload.objective == Objective::Throughput),
        "--slo limits the latency of single messages: add --rate, and use an --objective other than throughput",
    );
    match contradictions.chain([of_slo]).find(|(is_one, _)| *is_one) {
        Some((_, why)) => Err(Usage(why.to_owned()).into()),
        None => Ok(workload),
    }
}

/// Returns the possible contradictions in a workload of several processes, each with whether it holds.
fn contradictions_of_several(workload: &Workload) -> [(bool, &'static str); 4] {
    let Workload { pattern, receivers, senders, workers, latest, .. } = *workload;
    let several = [receivers, senders, workers].into_iter().filter(|number| *number > 1).count();
    let shares_an_end = senders > 1 || workers > 1;
    let is_paced_stream = pattern.is_stream() && workload.interval_ns.is_some() && !shares_an_end;
    [
        (several > 1, "only one of --receivers, --senders and --workers may be above 1"),
        (shares_an_end && !pattern.is_stream(), "--senders and --workers require --pattern one-way"),
        (
            shares_an_end && workload.objective == Objective::Latency,
            "--senders and --workers are measured at the maximum rate: use an --objective other than latency",
        ),
        (
            latest && !is_paced_stream,
            "--latest requires --pattern one-way and --rate, with one or more receivers",
        ),
    ]
}
