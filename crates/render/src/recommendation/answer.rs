//! The choice with its figures, and the reasons why it is provisional.

use super::super::capacity::interval;
use super::super::document::Fact;
use super::super::noise::disturbance;
use super::super::origin::date;
use super::super::replay::thousands;
use super::RecommendationDetail;
use super::workload::{is_stream, limit, rate, receivers, runtimes, unit};
use furlong_analysis::text::{
    format_count, format_per_second, format_ratio, listed, plain, three_digits, times_between,
};
use furlong_analysis::{
    Alternative, Budget, BudgetKind, CarriedMost, ChoiceChange, Gain, Level, RankedBenchmark, Recommendation,
    SloVerdict, Switch,
};
use furlong_model::{Boundary, Objective, Slo, UnmeasuredBoundary, Workload, format_ns, is_one, row_name};

/// Names in a list with all explanations, and in a list without.
const NAMED: [usize; 2] = [6, 3];
/// The figures of a benchmark that carried less than this share of the rate belong to another rate.
const CARRIES: f64 = 0.9;

/// Returns the answer in one line.
pub(crate) fn heading(recommendation: &Recommendation) -> String {
    match &recommendation.choice {
        Some(choice) if recommendation.provisional => {
            format!("Recommendation (provisional): {}", plain(&choice.name()))
        }
        Some(choice) => format!("Recommendation: {}", plain(&choice.name())),
        None => format!("No recommendation: {}", no_choice(recommendation)),
    }
}

fn no_choice(recommendation: &Recommendation) -> String {
    if recommendation.run.partial {
        return "the run ended before any candidate was measured".to_owned();
    }
    match &recommendation.carried_most {
        Some(CarriedMost { saturation, .. }) => {
            let asked = rate(saturation.asked_per_second);
            match recommendation.run.noise.level {
                Level::Unreliable => format!("no benchmark carried {asked} on this busy machine"),
                _ if recommendation.carried_by_spinning.is_some() => {
                    format!("no benchmark carries {asked} here without busy-waiting")
                }
                _ => format!("no benchmark carries {asked} here"),
            }
        }
        None if recommendation.candidates > 0 => {
            format!("none of {} candidates could be measured under this workload", recommendation.candidates)
        }
        None => "no mechanism of this machine meets the constraints".to_owned(),
    }
}

/// Returns why the figures or the choice may be wrong, and the remedy; `None` if they hold.
pub(crate) fn warning(recommendation: &Recommendation) -> Option<String> {
    let Recommendation { run, earlier, choice, candidates, .. } = recommendation;
    if *candidates == 0 {
        return None;
    }
    let reason = run.noise.reasons.first().map(|reason| format!(" ({})", disturbance(reason)));
    let reason = reason.unwrap_or_default();
    let mut causes = Vec::new();
    causes.extend(match run.noise.level {
        Level::Quiet => None,
        Level::Noisy => Some(format!("noisy machine{reason}")),
        Level::Unreliable => Some(format!("unreliable machine{reason}")),
    });
    let few = choice.as_ref().filter(|choice| choice.figure_ci95.is_none());
    match (recommendation.early_look_alone, few) {
        (true, _) => causes.push("only the short trials of the early look were measured".to_owned()),
        (false, Some(choice)) => causes.push(format!("fewer than three trials of {}", plain(&choice.name()))),
        (false, None) => {}
    }
    let other = earlier.as_ref().filter(|earlier| earlier.now == ChoiceChange::Other);
    causes.extend(
        other.map(|other| format!("the answer at {} was {}", date(other.started_unix_s), plain(&other.row))),
    );
    let remedy = match () {
        () if run.noise.level == Level::Unreliable => "repeat when furlong doctor finds the machine fit",
        () if run.partial => "repeat the whole run",
        () if recommendation.provisional => "repeat with a longer --within",
        () => "differences of a few percent may not be reproducible",
    };
    (!causes.is_empty()).then(|| format!("WARNING: {}: {remedy}.", causes.join("; ")))
}

/// Returns the figures of the choice, or the best figures if there is no choice.
pub(crate) fn facts(recommendation: &Recommendation, detail: RecommendationDetail) -> Vec<Fact> {
    let Some(choice) = &recommendation.choice else { return facts_without_choice(recommendation) };
    let workload = &recommendation.workload;
    let carried = choice.per_second / receivers(workload);
    let unit = unit(workload);
    let interrupted = workload.per_second().filter(|asked| carried < CARRIES * asked).map(|asked| {
        let (carried, asked) = (format_count(carried), rate(asked));
        let text = format!("{carried} {unit}s/s of {asked} were sent, because trials were interrupted");
        Fact::new("rate", text)
    });
    let is_gain = |budget: &&Budget| detail.why || !budget.matters || budget.share > 1.0;
    let budget = recommendation.budget.as_ref().filter(is_gain);
    let costs: Vec<_> = choice.integration_costs.iter().map(|cost| plain(&cost.what)).collect();
    let costs = if costs.is_empty() { "nothing to add".to_owned() } else { costs.join("; ") };
    let notes = choice.caveats.iter().map(|caveat| plain(caveat));
    let notes = notes.chain(runtimes(&workload.languages)).map(|note| Fact::new("note", note));
    let notes = notes.chain(unmeasured(recommendation));
    let boundary = recommendation.without_boundary.as_ref().zip(workload.measured_boundary.as_ref());
    [Some(time(workload, choice)), interrupted, Some(cpu(workload, choice))]
        .into_iter()
        .flatten()
        .chain(choice.slo.zip(workload.slo).map(|(verdict, slo)| {
            Fact::new(limit(slo), slo_verdict(slo, verdict, choice.messages, recommendation.run.partial))
        }))
        .chain(recommendation.switch.iter().flat_map(|switch| gain(workload, switch)))
        .chain(capacity(recommendation, detail))
        .chain(highest_rate(recommendation))
        .chain(
            budget.map(|budget| {
                Fact::new("time budget", budget_share(budget, recommendation.simpler.as_ref()))
            }),
        )
        .chain(boundary.map(|(without, boundary)| boundary_cost(workload, boundary, without)))
        .chain([Fact::new("integration", format!("{}: {costs}", choice.effort))])
        .chain(standing(recommendation, choice, NAMED[usize::from(!detail.why)]))
        .chain(notes)
        .collect()
}

/// Returns the expected gain of a switch from the observed mechanism.
fn gain(workload: &Workload, switch: &Switch) -> [Fact; 2] {
    let time = |Gain { before_ns, after_ns, saved_ns, ci95 }: &Gain| {
        let ends = ci95.map_or_else(String::new, |[low, high]| {
            format!(" (95% CI {} to {})", format_ns(low), format_ns(high))
        });
        format!(
            "{} instead of {}, saves {}{ends}",
            format_ns(*after_ns),
            format_ns(*before_ns),
            format_ns(*saved_ns)
        )
    };
    let per = |gain: &Gain| if gain.is_significant() { "" } else { ", not significant" };
    let ends = switch
        .cpu_share_ci95
        .map_or_else(String::new, |[low, high]| format!(" (95% CI {} to {})", share(low), share(high)));
    let at_rate = switch.cpu_share.map_or_else(String::new, |saved| {
        format!("; {} of one CPU at the observed rate{ends}", share(saved))
    });
    let (latency, cpu) = (&switch.latency, &switch.cpu);
    let from = plain(&switch.from);
    [
        Fact::new("gain", format!("over the observed {from}: median {}{}", time(latency), per(latency))),
        Fact::new("gain in CPU", format!("{} per {}{}{at_rate}", time(cpu), unit(workload), per(cpu))),
    ]
}

/// Compares the choice with and without the measured boundary.
fn boundary_cost(workload: &Workload, boundary: &Boundary, without: &Alternative) -> Fact {
    let name = if workload.objective == Objective::Cpu { "CPU time" } else { "median" };
    let tied = if without.tie { " (tied)" } else { "" };
    let (row, boundary) = (&without.row, plain(&boundary.to_string()));
    let figure = format_ns(row.figure);
    let times = factor(row.times, row.times_interval);
    Fact::new("boundary", format!("without {boundary}, {name} {figure}: {times}{tied}"))
}

/// Returns the reasons why requested boundaries were not measured.
fn unmeasured(recommendation: &Recommendation) -> impl Iterator<Item = Fact> {
    recommendation.unmeasured_boundaries.iter().map(|UnmeasuredBoundary { boundary, reason }| {
        let text = format!("not measured under the boundary {boundary}: {reason}");
        Fact::new("note", plain(&text))
    })
}

fn facts_without_choice(recommendation: &Recommendation) -> Vec<Fact> {
    let by_spinning = recommendation.carried_by_spinning.as_ref().map(|row| {
        let (median, share) = (format_ns(row.p50_ns), share(row.cpu_share));
        let text = format!("{} carries it: median {median}, {share} of one CPU", plain(&row.name()));
        Fact::new("with --spin", text)
    });
    let most = recommendation.carried_most.as_ref().map(|most| {
        let rate = format_per_second(most.saturation.carried_per_second);
        Fact::new("highest rate", format!("{} with {rate}", plain(&row_name(&most.mechanism, most.wait))))
    });
    by_spinning.into_iter().chain(most).chain(unmeasured(recommendation)).collect()
}

/// Returns the latency of the choice, or the throughput of a stream.
fn time(workload: &Workload, choice: &RankedBenchmark) -> Fact {
    let unit = unit(workload);
    let measured = format!("{} {unit}s measured", thousands(choice.messages as f64));
    let bytes = choice.bytes_per_second.map(|bytes| format!("{} GB/s", three_digits(bytes / 1e9)));
    if is_stream(workload) {
        let bytes = bytes.map_or_else(String::new, |bytes| format!(", {bytes}"));
        let per_second = format_count(choice.per_second);
        let text = format!(
            "{per_second} {unit}s/s{bytes}; one {unit} every {}; {measured}",
            format_ns(choice.p50_ns)
        );
        return Fact::new("throughput", text);
    }
    let is_of_cpu = workload.objective == Objective::Cpu;
    let interval = choice.figure_ci95.filter(|_| !is_of_cpu);
    let interval = interval.map_or_else(String::new, |ends| format!(" (interval {})", times_between(ends)));
    let p99 = choice.p99_ns.map_or_else(String::new, |ns| format!(", p99 {}", format_ns(ns)));
    let throughput = bytes.filter(|_| workload.objective == Objective::Throughput).map(|bytes| {
        format!("; {} {unit}s/s, {bytes}", format_count(choice.per_second / receivers(workload)))
    });
    let throughput = throughput.unwrap_or_default();
    let median = format_ns(choice.p50_ns);
    Fact::new("latency", format!("median {median}{interval}{p99}{throughput}; {measured}"))
}

fn cpu(workload: &Workload, choice: &RankedBenchmark) -> Fact {
    let processes = if is_one(&workload.pattern_and_parties().1) { "both" } else { "all" };
    let is_of_cpu = workload.objective == Objective::Cpu;
    let text = format!(
        "{} of one CPU for {processes} processes, {} per {}{}",
        share(choice.cpu_share),
        format_ns(if is_of_cpu { choice.figure } else { choice.cpu_ns }),
        unit(workload),
        if receivers(workload) > 1.0 { " and receiver" } else { "" },
    );
    Fact::new("CPU", text)
}

/// Returns the maximum rate. Without a requested rate, the throughput contains it.
fn capacity(recommendation: &Recommendation, detail: RecommendationDetail) -> Option<Fact> {
    let workload = &recommendation.workload;
    let how = match workload.pattern.is_one_way() {
        _ if workload.pattern_and_parties().0.shares_an_end() => "in total",
        true => "as fast as possible",
        false => "back to back",
    };
    let per_second = recommendation.capacity_per_second?;
    let rate = format!("{} {}s/s {how}", format_count(per_second), unit(workload));
    match workload.per_second() {
        Some(asked) => Some(Fact::new("headroom", format!("{}x: {rate}", three_digits(per_second / asked)))),
        None => detail.why.then(|| Fact::new("capacity", rate)),
    }
}

/// Returns the highest rate that keeps the SLO, if a rate was requested.
fn highest_rate(recommendation: &Recommendation) -> Option<Fact> {
    let workload = &recommendation.workload;
    let (rate, slo, asked) = (recommendation.highest_rate?, workload.slo?, workload.per_second()?);
    let per_second = rate.per_second?;
    let limit = format_ns(slo.limit_ns as f64);
    let [reached, requested] = [per_second, asked].map(format_per_second);
    let times = three_digits(per_second / asked);
    let text = format!(
        "keeps {} < {limit} up to {reached} ({}), {times} times the requested {requested}",
        slo.percentile(),
        interval(&rate)
    );
    Some(Fact::new("highest rate", text))
}

fn slo_verdict(slo: Slo, verdict: SloVerdict, messages: u64, is_partial: bool) -> String {
    let SloVerdict { holds, quantile, measured_ns, limit_ns, .. } = verdict;
    let percentile = slo.percentile();
    let Some((holds, measured_ns)) = holds.zip(measured_ns) else {
        let needed = thousands(SloVerdict::needed(slo.quantile) as f64);
        let remedy = if is_partial { "" } else { "; a longer --within measures more" };
        return format!("unknown: {percentile} needs {needed} samples, got {messages}{remedy}");
    };
    let measured = format_ns(measured_ns);
    let times =
        three_digits(if holds { limit_ns / measured_ns.max(1.0) } else { measured_ns / limit_ns.max(1.0) });
    if quantile < slo.quantile {
        let lower = Slo { quantile, ..slo }.percentile();
        return format!("missed: even {lower} is {times} times the limit ({measured})");
    }
    match holds {
        true => format!("met: {measured} is {times} times below"),
        false => format!("missed: {measured} is {times} times the limit"),
    }
}

/// Returns the share of a budget. If the share is negligible, also names a simpler benchmark that would suffice.
fn budget_share(budget: &Budget, simpler: Option<&Alternative>) -> String {
    let of = match budget.from {
        BudgetKind::Work => "your work plus the exchange",
        BudgetKind::Slo => "the limit",
        BudgetKind::Interval => "the time between two messages",
    };
    let available = format_ns(budget.available_ns);
    if budget.share > 1.0 {
        return format!("the exchange takes {} times {of} ({available})", three_digits(budget.share));
    }
    let line = format!("the exchange takes {} of {of} ({available})", share(budget.share));
    let simpler = simpler.filter(|other| budget.is_negligible(&other.row));
    match simpler {
        _ if budget.matters => line,
        None => format!("{line}, so a faster mechanism would gain little"),
        Some(Alternative { row, .. }) => format!(
            "{line}, so a faster mechanism would gain little; {} needs less integration effort, and its median of {} is below \
             1 % too",
            plain(&row.name()),
            format_ns(row.p50_ns)
        ),
    }
}

/// Returns the benchmarks that tie with the choice, or the next one. Returns `None` if too little was measured.
fn standing(recommendation: &Recommendation, choice: &RankedBenchmark, named: usize) -> Option<Fact> {
    let first = recommendation.ranked.first()?;
    let others = recommendation.ranked.iter().filter(|row| row.name() != choice.name());
    let (failing, rivals): (Vec<&RankedBenchmark>, Vec<&RankedBenchmark>) =
        others.partition(|row| choice.meets() && !row.meets());
    let slo = recommendation.workload.slo.filter(|_| !failing.is_empty()).map(limit);
    if recommendation.workload.objective == Objective::Simplicity {
        return simplest(&rivals, choice, slo.as_deref(), named);
    }
    let tied = |rows: &[&RankedBenchmark]| {
        let is_tied = |row: &&&RankedBenchmark| **row == first || recommendation.ties.contains(&row.name());
        rows.iter().filter(is_tied).map(|row| plain(&row.name())).collect::<Vec<_>>()
    };
    let tied_rivals = tied(&rivals);
    let Fact { name, value, .. } = match tied_rivals.as_slice() {
        [] => Fact::new("next best", next(recommendation, &rivals, slo.as_deref())?),
        others => {
            let is_tied = |row: &&&RankedBenchmark| others.contains(&plain(&row.name()));
            let least = rivals.iter().filter(is_tied).map(|row| row.effort).min();
            let effort = match least {
                Some(least) if least > choice.effort => " (more effort)",
                Some(least) if least == choice.effort => " (same or more effort)",
                _ => "",
            };
            Fact::new("tied with", listed(others, named) + effort)
        }
    };
    let missing = match (tied(&failing).as_slice(), slo) {
        ([], _) | (_, None) => String::new(),
        (tied, Some(slo)) => {
            let figure =
                if recommendation.workload.objective == Objective::Cpu { "CPU time" } else { "the median" };
            let [tie, miss] = if let [_] = tied { ["ties", "misses"] } else { ["tie", "miss"] };
            let tied = listed(tied, named);
            format!("; by {figure} alone, {tied} {tie} with the first but {miss} {slo}")
        }
    };
    Some(Fact::new(name, value + &missing))
}

/// Returns the benchmark after a choice that is tied with none of its rivals. `slo` is present if other benchmarks miss
/// it.
fn next(recommendation: &Recommendation, rivals: &[&RankedBenchmark], slo: Option<&str>) -> Option<String> {
    let is_unknown = recommendation.ranked.iter().any(RankedBenchmark::may_miss);
    let [meets, meet] =
        if is_unknown { ["is not known to miss", "are not known to miss"] } else { ["meets", "meet"] };
    let next = match (rivals, slo) {
        ([], Some(slo)) => return Some(format!("none: no other benchmark {meets} {slo}")),
        (rivals, _) => rivals.first()?,
    };
    next.times_interval?;
    let among = slo.map_or_else(String::new, |slo| format!("; {} benchmarks {meet} {slo}", rivals.len() + 1));
    let uncompared = rivals.iter().filter(|row| row.times_interval.is_none()).count();
    let uncompared = match uncompared {
        0 => String::new(),
        number => format!("; {number} with fewer than three trials not compared"),
    };
    let times = factor(next.times, next.times_interval);
    Some(format!("{} at {times}{among}{uncompared}", plain(&next.name())))
}

/// Returns the benchmarks of equal effort if the objective is the least integration effort. They are ordered by their
/// median.
fn simplest(
    rivals: &[&RankedBenchmark],
    choice: &RankedBenchmark,
    slo: Option<&str>,
    named: usize,
) -> Option<Fact> {
    let equal: Vec<&&RankedBenchmark> = rivals.iter().filter(|row| row.effort == choice.effort).collect();
    let names = |rows: &[&&RankedBenchmark]| rows.iter().map(|row| plain(&row.name())).collect::<Vec<_>>();
    let among = slo.map_or_else(String::new, |slo| format!("; only those not known to miss {slo} count"));
    if equal.is_empty() {
        let is_compared = !rivals.is_empty() || slo.is_some();
        return is_compared.then(|| {
            Fact::new("same effort", format!("none: all others need more integration effort{among}"))
        });
    }
    let tied: Vec<&&RankedBenchmark> =
        equal.iter().copied().filter(|row| !row.differs_from(choice)).collect();
    let faster = match tied.as_slice() {
        [] => "slower".to_owned(),
        tied => format!("not significantly slower: {}", listed(&names(tied), named)),
    };
    Some(Fact::new("same effort", format!("{} ({faster}){among}", listed(&names(&equal), named))))
}

/// Formats a factor with its interval, as in `1.51x (1.20-1.93)`.
pub(crate) fn factor(times: f64, interval: Option<[f64; 2]>) -> String {
    let between =
        interval.map_or_else(String::new, |ends| format!(" ({})", ends.map(format_ratio).join("-")));
    format!("{}x{between}", format_ratio(times))
}

/// Formats a share as a percentage.
pub(crate) fn share(share: f64) -> String {
    format!("{} %", three_digits(share * 100.0))
}
