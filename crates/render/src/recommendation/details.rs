//! Sentences about the choice and its alternatives, printed with all explanations.

use super::super::findings::two_levels;
use super::super::origin::date;
use super::answer::{factor, share};
use super::workload::{is_stream, limit, unit};
use furlong_analysis::text::{format_count, format_ratio, plain};
use furlong_analysis::{
    Alternative, ChoiceChange, EarlierAnswer, EliminatedCandidate, Level, RankedBenchmark, Recommendation,
};
use furlong_model::{Objective, Pattern, Wait, Workload, format_ns, row_name};

/// Explains the choice: why it is provisional, and the aspects that its figures do not show.
pub(crate) fn details(recommendation: &Recommendation) -> Vec<String> {
    let Recommendation { run, workload, choice, .. } = recommendation;
    let is_unreliable = run.noise.level == Level::Unreliable;
    let Some(choice) = choice else {
        let has_rate = recommendation.carried_most.is_some() || recommendation.carried_by_spinning.is_some();
        let line = "The machine was unreliable during this run, and may carry more otherwise: repeat when furlong doctor finds it \
                    fit.";
        return (is_unreliable && has_rate && !run.partial).then(|| line.to_owned()).into_iter().collect();
    };
    let mut lines: Vec<String> = Vec::new();
    lines.extend(is_unreliable.then(|| {
        "The machine was unreliable during this run, so another benchmark may be the best: repeat when furlong doctor finds it \
         fit."
            .to_owned()
    }));
    lines.extend(too_short(recommendation, choice));
    let is_comparable = choice.figure_ci95.is_some();
    lines.extend(recommendation.earlier.as_ref().map(|answer| earlier(answer, is_comparable)));
    lines.extend((choice.wait == Wait::Adaptive && !workload.spin).then(|| {
        "A waiting process busy-waits for as long as a wake-up takes, and then blocks: messages at shorter intervals keep its \
         CPU busy."
            .to_owned()
    }));
    lines.extend(dropped(recommendation));
    lines.extend(recommendation.capacity_per_second.map(|per_second| {
        let (rate, unit) = (format_count(per_second), unit(workload));
        format!("For more than {rate} {unit}s/s, consider batching first.")
    }));
    lines.extend(recommendation.two_levels.as_ref().map(two_levels));
    lines
}

/// Explains why the answer rests on an incomplete measurement, and how to complete it.
fn too_short(recommendation: &Recommendation, choice: &RankedBenchmark) -> Vec<String> {
    let is_partial = recommendation.run.partial;
    let [cause, within, remedy] = match is_partial {
        true => ["The run was interrupted", "were measured before the run was interrupted", "repeat it"],
        false => ["The time was over", "fitted into the time", "use a longer --within"],
    };
    let early = recommendation.early_look_alone.then(|| {
        let longer = match is_partial {
            true => "A whole run measures the best of them longer.",
            false => "A longer --within measures the best of them longer.",
        };
        format!(
            "{cause} before the longer look: these are figures of the early look, a few short trials of each candidate. {longer}"
        )
    });
    let none_has_interval = recommendation.ranked.iter().all(|row| row.figure_ci95.is_none());
    let few = choice.figure_ci95.is_none().then(|| {
        let (of, which) = match none_has_interval {
            true => ("each".to_owned(), "between them"),
            false => (plain(&choice.name()), "from it"),
        };
        format!(
            "Fewer than three trials of {of} {within}, so no difference {which} is significant: {remedy}."
        )
    });
    early.into_iter().chain(few).collect()
}

/// Reports the earlier answer to the same question, and what to do if it differs.
fn earlier(earlier: &EarlierAnswer, is_comparable: bool) -> String {
    let (when, row) = (date(earlier.started_unix_s), plain(&earlier.row));
    match earlier.now {
        ChoiceChange::Same => format!("The answer was the same at {when}."),
        ChoiceChange::Tie => format!("At {when} the answer was {row}, which ties with it: use either."),
        ChoiceChange::Other if !is_comparable => format!(
            "At {when} the answer was {row}, and there are too few trials to compare the two. Measure longer (--within 2min)."
        ),
        ChoiceChange::Other => format!(
            "At {when} the answer was {row}: between the two runs the machine changed by more than the benchmarks differ. Measure \
             longer (--within 2min), at another time."
        ),
    }
}

/// Lists the benchmarks that may be as good as the first but were not measured longer, because the first pass does
/// not distinguish them from it.
fn dropped(recommendation: &Recommendation) -> Vec<String> {
    let rows = &recommendation.eliminated;
    let than = rows.first().map(|row| plain(&row.than)).unwrap_or_default();
    let name = |row: &EliminatedCandidate| plain(&row_name(&row.mechanism, row.wait));
    let tied: Vec<String> = rows.iter().filter(|row| is_as_good(row)).map(name).collect();
    let uncompared = rows.iter().filter(|row| row.times_interval.is_none()).count();
    let compared = match recommendation.workload.objective {
        Objective::Cpu => "without significantly more CPU time",
        _ => "not significantly slower",
    };
    let tied = (!tied.is_empty()).then(|| {
        format!("Not measured longer, but {compared} than {than} in the early look: {}.", tied.join(", "))
    });
    let uncompared = (uncompared > 0).then(|| {
        format!("Not measured longer, with fewer than three trials in the early look: {uncompared}.")
    });
    tied.into_iter().chain(uncompared).collect()
}

/// Returns whether the early look does not distinguish a benchmark from the first, or finds it better. The first of the
/// longer look need not be the first of the early look.
pub(crate) fn is_as_good(row: &EliminatedCandidate) -> bool {
    row.times_interval.is_some_and(|[low, _]| low <= 1.0)
}

/// Lists the alternatives: a simpler benchmark, and one that busy-waits.
pub(crate) fn alternatives(recommendation: &Recommendation) -> Vec<String> {
    let workload = &recommendation.workload;
    let simpler = recommendation.simpler.as_ref().map(|other| {
        let costs: Vec<_> = other.row.integration_costs.iter().map(|cost| plain(&cost.what)).collect();
        let costs = if costs.is_empty() { String::new() } else { format!(": {}", costs.join("; ")) };
        format!(
            "Less integration effort: {} {}{}; effort {}{costs}.",
            plain(&other.row.name()),
            compared(other, workload),
            workload
                .slo
                .filter(|_| other.row.may_miss())
                .map_or_else(String::new, |slo| format!(", and whether it meets {} is unknown", limit(slo))),
            other.row.effort,
        )
    });
    let spinning = recommendation.if_spinning.as_ref().map(|other| {
        let (row, compared) = (plain(&other.row.name()), compared(other, workload));
        if other.row.times_interval.is_none() {
            return format!("Busy-waiting (--spin): {row} {compared}.");
        }
        let meets_more = other.row.meets() && recommendation.choice.as_ref().is_some_and(|own| !own.meets());
        if !meets_more && other.tie {
            return format!("Busy-waiting (--spin) gains nothing significant: {row} {compared}.");
        }
        if !meets_more && other.row.times >= 1.0 {
            return format!("Busy-waiting (--spin) gains nothing: {row} {compared}.");
        }
        let share = share(other.row.cpu_share);
        format!("Busy-waiting (--spin): {row} {compared}, and uses {share} of one CPU.")
    });
    let not_compared = recommendation.spinning_not_compared.as_ref().map(|reason| match reason.as_str() {
        "" if recommendation.run.partial => {
            "Busy-waiting (--spin) was not compared: the run was interrupted.".to_owned()
        }
        "" => "Busy-waiting (--spin) was not compared: the time was over. A longer --within compares it."
            .to_owned(),
        reason => format!("Busy-waiting (--spin) was not compared: {}.", plain(reason)),
    });
    simpler.into_iter().chain(spinning).chain(not_compared).collect()
}

/// Compares an alternative with the choice, as in `takes 1.30 times as long (47.0 us)`.
fn compared(other: &Alternative, workload: &Workload) -> String {
    let row = &other.row;
    let figure = format_ns(row.figure);
    let takes = if workload.objective == Objective::Cpu { format!("{figure} of CPU time") } else { figure };
    let between = |invert: bool| {
        let [low, high] = row.times_interval?;
        let ends = if invert { [1.0 / high, 1.0 / low] } else { [low, high] };
        Some(format!(" ({})", ends.map(format_ratio).join("-")))
    };
    let interval = |invert| between(invert).unwrap_or_default();
    match (workload.objective, row.times) {
        _ if other.tie => {
            let factor = factor(row.times, row.times_interval);
            format!("is not significantly different, at {factor} ({takes})")
        }
        _ if row.times_interval.is_none() => format!("has too few trials for a comparison ({takes})"),
        (Objective::Cpu, times) => {
            format!("takes {} times as much{} ({takes})", format_ratio(times), interval(false))
        }
        (_, times) if times < 1.0 => {
            format!("is {} times as fast{} ({takes})", format_ratio(1.0 / times), interval(true))
        }
        (_, times) => format!("takes {} times as long{} ({takes})", format_ratio(times), interval(false)),
    }
}

/// Lists the aspects that were not measured.
pub(crate) fn not_measured(recommendation: &Recommendation) -> Vec<String> {
    let Workload { receivers, interval_ns, .. } = recommendation.workload;
    let (measured, parties) = recommendation.workload.pattern_and_parties();
    let mut lines = Vec::new();
    match measured {
        Pattern::FanOut => lines.push(format!(
            "Several receivers: each of {parties} gets every message, over a separate link or one link to all. Times end when the \
             last receiver has the message. --workers {parties} measures mechanisms that send each message to one of several."
        )),
        Pattern::FanIn => lines.push(format!(
            "Several senders: all {parties} write to one link, as fast as it accepts their messages. A separate link per sender, \
             with a receiver that waits for all of them, was not measured."
        )),
        Pattern::Work => lines.push(format!(
            "Several workers: all {parties} read from one link, as fast as they can. No benchmark of furlong has a separate link \
             per worker, among which the sender chooses."
        )),
        _ if receivers > 1 => lines.push(format!(
            "Several receivers: if messages are answered, furlong measures one receiver. Each of {receivers} needs a separate \
             link; --pattern one-way measures {receivers}."
        )),
        _ => {}
    }
    if measured.shares_an_end() {
        lines.push("Latency: messages at the maximum rate wait in buffers.".to_owned());
    } else if is_stream(&recommendation.workload) && interval_ns.is_none() {
        lines.push("Latency: messages at the maximum rate wait in buffers; --rate measures it.".to_owned());
    }
    lines
}
