//! `furlong map`: the latency between all pairs of CPUs.

use crate::arguments::{CaseOptions, CommonOptions, MapFormat, MapOptions};
use crate::conclusion::{Demands, Results, check_possible};
use crate::delivery::check_result;
use crate::environment::{FinishedRun, RunEnvironment, TRIAL_OVERHEAD, announce_build};
use crate::output;
use crate::progress::Progress;
use crate::selection::{CaseTemplate, select};
use anyhow::Context;
use furlong_analysis::{CpuMap, CpuMapSettings, DecodedRun, Level, PairLatency, Row};
use furlong_bench::cpu_pairs::{bare_round_trips, sample};
use furlong_bench::plan::Plan;
use furlong_bench::registry::find;
use furlong_bench::{ChildProgram, MechanismEntry, placement, registry};
use furlong_console::exit::{CannotHere, Outcome, Usage};
use furlong_console::writing;
use furlong_model::{Case, CpuList, CpuTopology, Placement, Sizes, Start, Unavailable, format_bytes};
use furlong_os::shutdown::NotedRequests;
use furlong_os::topology;
use furlong_render::words::count;
use furlong_render::{cpu_map_csv, cpu_map_json, cpu_map_table, plain};
use furlong_report::heat_map;
use furlong_stats::{median, median_interval, tidy};
use std::time::{Duration, Instant};

/// The longest time of all pairs without a request for a sample.
const LONGEST: Duration = Duration::from_secs(60);

/// The time of one trial of a bare cache line, with the start of its processes.
const BARE_TRIAL: Duration = Duration::from_millis(20);

/// The measured pairs, and how the measurement ended.
struct MeasuredPairs {
    pairs: Vec<PairLatency>,
    noise: Option<Level>,
    end: MeasurementEnd,
}

/// The end of a measurement: the signal that interrupted a bare map, or the run of a benchmark with its results.
enum MeasurementEnd {
    Bare(Option<i32>),
    Run(Box<FinishedRun>, Results),
}

/// Measures the latencies and prints the map.
pub fn map(asked: &MapOptions) -> anyhow::Result<Outcome> {
    check(asked)?;
    let mechanisms = registry();
    let case = asked.row.as_ref().map(|row| case(asked, row, &mechanisms)).transpose()?;
    let topology = topology_of(asked.cpus.as_ref())?;
    let seed = asked.common.seed.map_or_else(furlong_os::identity::random, Ok);
    let seed = seed.context("cannot generate a random seed")?;
    let all_pairs = topology.pairs().count();
    let trial = case.as_ref().map_or(BARE_TRIAL, |_| asked.budget.0 + TRIAL_OVERHEAD);
    let all_time = trial * asked.trials * all_pairs as u32;
    let limit = asked.within.map_or(LONGEST, |time| time.0);
    let most = if asked.all {
        all_pairs
    } else {
        (limit.as_secs_f64() / all_time.as_secs_f64() * all_pairs as f64) as usize
    };
    let pairs = sample(&topology, most, seed);
    announce(pairs.len(), all_pairs, all_time);
    let measured = match &case {
        None => bare(asked, &pairs, seed)?,
        Some(case) => benchmark(asked, &mechanisms, case, &pairs, seed)?,
    };
    let settings = CpuMapSettings {
        benchmark: case.map(|case| format!("{} {}", case.row(), format_bytes(case.size_bytes))),
        seed,
        selected_pairs: pairs.len(),
        all_pairs_s: all_time.as_secs_f64(),
        noise: measured.noise,
    };
    let map = CpuMap::new(settings, &topology, measured.pairs);
    output::print(&match asked.format {
        MapFormat::Table => cpu_map_table(&map, output::style()),
        MapFormat::Json => cpu_map_json(&map),
        MapFormat::Csv => cpu_map_csv(&map),
    })?;
    if let Some(file) = &asked.svg {
        writing::replace(file, heat_map(&map).as_bytes())?;
        output::tell(format_args!("heat map written to {}", plain(&file.to_string_lossy())));
    }
    Ok(match measured.end {
        MeasurementEnd::Run(finished, results) => finished.conclude(&results, Demands::default()),
        MeasurementEnd::Bare(Some(signal)) => {
            output::tell(format_args!("furlong: interrupted, so the result is partial"));
            Outcome::Interrupted(signal)
        }
        MeasurementEnd::Bare(None) if map.pairs.is_empty() => Outcome::Failed,
        MeasurementEnd::Bare(None) => Outcome::Done,
    })
}

/// Rejects options that cannot be obeyed, before anything is measured.
fn check(asked: &MapOptions) -> anyhow::Result<()> {
    if asked.row.is_none() && asked.name.save.is_some() {
        let reason = "--save needs ROW: only a run of a benchmark is saved; --format json prints the map of a bare cache line";
        return Err(Usage(reason.to_owned()).into());
    }
    asked.svg.as_ref().map_or(Ok(()), |file| check_result("--svg", file))
}

/// Returns the topology of the requested CPUs, or of all that this process may use.
fn topology_of(requested: Option<&CpuList>) -> anyhow::Result<CpuTopology> {
    let allowed = placement::allowed().map_err(CannotHere)?;
    let cpus = match requested {
        None => allowed,
        Some(CpuList(cpus)) => match cpus.iter().find(|cpu| !allowed.contains(cpu)) {
            None => cpus.clone(),
            Some(missing) => {
                let reason = format!(
                    "--cpus: CPU {missing} does not exist or is not allowed; choose from {}",
                    CpuList(allowed)
                );
                return Err(Usage(reason).into());
            }
        },
    };
    if cpus.len() < 2 && requested.is_some() {
        return Err(Usage("--cpus must name two CPUs or more".to_owned()).into());
    }
    if cpus.len() < 2 {
        let reason = "this process may use only one CPU, and a map needs two";
        return Err(
            CannotHere(Unavailable::new(reason, "allow more CPUs (taskset, container limits)")).into()
        );
    }
    Ok(topology::read(&cpus))
}

/// Returns the case of the requested benchmark.
fn case(asked: &MapOptions, row: &str, mechanisms: &[MechanismEntry]) -> anyhow::Result<Case> {
    let options = CaseOptions {
        rows: vec![row.to_owned()],
        sizes: vec![Sizes(vec![asked.size])],
        waits: Vec::new(),
        places: Vec::new(),
        adapters: Vec::new(),
        all_adapters: false,
    };
    let mut cases = select(mechanisms, &options, &CaseTemplate::default())?;
    check_possible(mechanisms, &cases)?;
    let found = cases.len();
    let case = cases.pop().filter(|_| found == 1);
    let case =
        case.ok_or_else(|| Usage(format!("'{row}' matches {found} benchmarks, and a map shows one")))?;
    let is_alone = |entry: &MechanismEntry| entry.capabilities.start == Start::Alone;
    if find(mechanisms, &case.mechanism, case.wait).is_some_and(is_alone) {
        return Err(Usage(format!("{} has one end, so it has no latency between CPUs", case.row())).into());
    }
    Ok(case)
}

/// Reports how long the pairs take, if they take long or are a sample.
fn announce(selected: usize, all_pairs: usize, all_time: Duration) {
    let minutes = (all_time.as_secs_f64() / 60.0).ceil();
    if selected < all_pairs {
        output::tell(format_args!(
            "furlong: all {all_pairs} pairs of CPUs would take about {minutes} min, so a sample of {selected} is measured; \
             --all measures all"
        ));
    } else if all_time > LONGEST {
        output::tell(format_args!("furlong: {} of CPUs: about {minutes} min", count(all_pairs, "pair")));
    }
}

/// Measures a bare cache line.
fn bare(asked: &MapOptions, pairs: &[[usize; 2]], seed: u64) -> anyhow::Result<MeasuredPairs> {
    announce_build();
    let program = ChildProgram::own().context("cannot find furlong's own binary")?;
    let requests = NotedRequests::new().context("cannot install signal handlers")?;
    let mut progress = Progress::new((&asked.common).into());
    let (begin, total) = (Instant::now(), pairs.len() * asked.trials as usize);
    let times = bare_round_trips(&program, pairs, asked.trials, seed, &mut |done, [one, other]| {
        progress.show(done, total, &format_args!("CPUs {one}:{other}"));
        requests.first().is_none() && asked.within.is_none_or(|time| begin.elapsed() < time.0)
    });
    progress.clear();
    let times = times.context("cannot start the processes of a pair")?;
    let pairs = pairs.iter().zip(&times).filter_map(|(cpus, times)| {
        Some(PairLatency {
            cpus: *cpus,
            ns: tidy(median(times)?),
            ci95: median_interval(times).map(|ends| ends.map(tidy)),
            trials: times.len(),
        })
    });
    Ok(MeasuredPairs {
        pairs: pairs.collect(),
        noise: None,
        end: MeasurementEnd::Bare(requests.into_first()),
    })
}

/// Measures a benchmark as one interleaved run.
fn benchmark(
    asked: &MapOptions,
    mechanisms: &[MechanismEntry],
    case: &Case,
    pairs: &[[usize; 2]],
    seed: u64,
) -> anyhow::Result<MeasuredPairs> {
    let placed =
        |[one, other]: &[usize; 2]| Case { placement: Placement::Explicit(*one, *other), ..case.clone() };
    let common = CommonOptions { seed: Some(seed), ..asked.common.clone() };
    let environment = RunEnvironment::enter(mechanisms, &common)?;
    let plan = environment.plan(pairs.iter().map(placed).collect(), asked.trials, asked.budget.0)?;
    let plan = Plan { within: asked.within.map(|time| time.0), ..plan };
    let finished = environment.perform(&plan, &asked.name.or_not_saved())?;
    let summary = DecodedRun::of(&finished.run).summary;
    let latency = |row: &Row| match row.case.placement {
        Placement::Explicit(one, other) => {
            let ns = row.exchange.ns;
            Some(PairLatency { cpus: [one, other], ns: ns.p50, ci95: ns.median_ci95, trials: row.trials })
        }
        _ => None,
    };
    let pairs: Vec<_> = summary.rows.iter().filter_map(latency).collect();
    let results = Results::of(!pairs.is_empty(), &summary.skipped);
    let noise = Some(summary.run.noise.level);
    Ok(MeasuredPairs { pairs, noise, end: MeasurementEnd::Run(Box::new(finished), results) })
}
