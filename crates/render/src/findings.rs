//! Findings of a run as sentences for a reader who sees the figures for the first time.

use super::growth::growth;
use super::object::JudgedSentences;
use super::words::{alike, count, factor, size};
use furlong_analysis::text::{decimals, format_ratio, listed, listed_with, plain, ratios_between};
use furlong_analysis::{
    BatchFigures, BatchKnee, BatchedRow, CommonProperties, ConditionEffects, DisturbedRow, Finding, InBoth,
    NamedRow, QuotaFigures, Regimes, Summary, ValueEffect, VariedBenchmark, WaitingProgram,
};
use furlong_model::{Placement, WaitKind, format_ns};
use std::ops::RangeInclusive;

/// Own programs that are named one by one.
const PROGRAMS_NAMED: usize = 4;
/// Benchmarks with several messages per call that are named one by one.
const BATCHES_NAMED: usize = 8;
/// Benchmarks under a condition that are named one by one.
const BENCHMARKS_NAMED: usize = 4;
/// Values of a condition that are named one by one.
const VALUES_NAMED: usize = 6;

/// Returns the findings of each summary, for programs.
pub(crate) fn findings<'a>(summaries: impl IntoIterator<Item = &'a Summary>) -> JudgedSentences {
    let findings = |summary: &Summary| summary.findings.iter().map(finding).collect();
    JudgedSentences::new("findings_data", "findings", summaries.into_iter().map(findings))
}

/// Describes a finding in one or two sentences.
pub fn finding(finding: &Finding) -> String {
    match finding {
        Finding::Unreliable => {
            "On this unreliable machine, ratios are disturbed less than times, because benchmarks ran side by side."
                .to_owned()
        }
        Finding::WakeUp { times, rows, size_bytes } => {
            let rows = if *rows == 1 { "1 benchmark".to_owned() } else { format!("median of {rows}") };
            let of = format!("({}, {rows})", size(*size_bytes));
            if *times > 1.0 {
                let times = factor(*times);
                format!("Blocking on two cores takes {times} times as long as on one {of}, due to wake-ups.")
            } else {
                let times = factor(1.0 / times);
                format!("Blocking on two cores is {times} times as fast as on one {of}.")
            }
        }
        Finding::SleepersTie { rows, fastest_ns, slowest_ns, size_bytes } => format!(
            "All {rows} blocking benchmarks of {} across two cores tie ({} to {}): there the mechanism hardly matters.",
            size(*size_bytes),
            format_ns(*fastest_ns),
            format_ns(*slowest_ns)
        ),
        Finding::SleepersChange { first_ns, later_ns } => format!(
            "Two bare processes that block on two cores took {} per round trip at first, and {} after 0.1 s. Trials are \
             shorter; --warm-up 200ms shows the later pace.",
            format_ns(*first_ns),
            format_ns(*later_ns)
        ),
        Finding::SleepersAreCloser { across, within, size_bytes } => format!(
            "The mechanism matters less on two cores ({}): blocking spreads {}-fold there, {}-fold on one.",
            size(*size_bytes),
            factor(*across),
            factor(*within),
        ),
        Finding::Spinning {
            spinner,
            times,
            sleeper,
            sleepers_tied,
            size_bytes,
            processors_busy: [spinning, sleeping],
        } => {
            let winner = one_of(*sleepers_tied, "the fastest that blocks", "the fastest that block");
            format!(
                "Busy-waiting: {} is {} times as fast as {}, {winner} ({}). \
                 Busy-waiting keeps {spinning:.1} CPUs busy, blocking {sleeping:.1}.",
                named(spinner),
                factor(*times),
                named(sleeper),
                size(*size_bytes),
            )
        }
        Finding::Memory { among, memory, times, rest, rest_tied } => format!(
            "Shared memory gains most among benchmarks {}: {} is {} times as fast as {}, {}.",
            alike(among),
            named(memory),
            factor(*times),
            named(rest),
            one_of(*rest_tied, "the best without it", "the best without it"),
        ),
        Finding::MemoryTies { among, memory, rest } => format!(
            "Among benchmarks {}, shared memory ties with the fastest other mechanism: {} with {}.",
            alike(among),
            named(memory),
            named(rest),
        ),
        Finding::OneAtATime { among, one, times, several, depth } => format!(
            "One way, among benchmarks {}, {} takes {} times as long for a message as {}: it holds one message, so each message \
             waits for the receiver, and the other holds {depth}. A ring of several messages in the same memory avoids that wait.",
            alike(among),
            named(one),
            factor(*times),
            named(several),
        ),
        Finding::Condition(effects) => condition_effects(effects),
        Finding::Waits { programs } => waits(programs),
        Finding::Environment { rows } => {
            let more = rows.len().saturating_sub(BENCHMARKS_NAMED);
            let more = (more > 0).then(|| format!("So was {}.", count(more, "more benchmark")));
            rows.iter().take(BENCHMARKS_NAMED).map(disturbed).chain(more).collect::<Vec<_>>().join(" ")
        }
        Finding::DelayedAcknowledgement { row } => format!(
            "{} waits about {} per message: the second write waits for the acknowledgement of the first (Nagle), which the \
             receiver delays (delayed ACK). --socket-options nodelay removes the wait.",
            named(row),
            format_ns(row.p50_ns / 2.0),
        ),
        Finding::CopiedOverLoopback { rows } => format!(
            "{}: the kernel copied each message nevertheless, because both ends are on one machine. Zero-copy sends need two \
             hosts.",
            listed(rows, PROGRAMS_NAMED)
        ),
        Finding::Batches { rows, knees } => batches(rows, knees),
        Finding::TwoLevels(regimes) => two_levels(regimes),
        Finding::Growth(growths) => growth(growths),
    }
}

/// Describes the effects of the values of a condition, the largest first.
fn condition_effects(ConditionEffects { condition, benchmarks }: &ConditionEffects) -> String {
    let (differing, tied): (Vec<_>, Vec<_>) = benchmarks.iter().partition(|one| one.largest() > 1.0);
    let (named, summed_up) =
        if differing.is_empty() && tied.len() == 1 { (tied, vec![]) } else { (differing, tied) };
    let mut sentences: Vec<_> =
        named.iter().take(BENCHMARKS_NAMED).map(|one| condition_effect(condition, one)).collect();
    if named.len() > BENCHMARKS_NAMED {
        let more = count(named.len() - BENCHMARKS_NAMED, "more benchmark");
        sentences.push(format!("Effects of {condition} on {more} are smaller."));
    }
    if !summed_up.is_empty() {
        let names: Vec<_> =
            summed_up.iter().map(|one| format!("{} {}", plain(&one.row), alike(&one.among))).collect();
        let names = listed(&names, BENCHMARKS_NAMED);
        sentences.push(format!("All values of {condition} tie with the lowest: {names}."));
    }
    let few = benchmarks.iter().find(|one| one.trials < one.needed_trials);
    sentences.extend(few.map(|VariedBenchmark { trials, needed_trials, .. }| {
        format!("{} do not cover 95 %: ask for --trials {needed_trials}.", count(*trials, "trial"))
    }));
    sentences.join(" ")
}

/// Compares each value of a condition with the lowest one.
fn condition_effect(condition: &str, benchmark: &VariedBenchmark) -> String {
    let VariedBenchmark { row, among, baseline, baseline_ns, effects, .. } = benchmark;
    let effect = |ValueEffect { value, ns, ratio }: &ValueEffect| {
        let interval = ratio.interval.map(|ends| format!(" ({})", ratios_between(ends))).unwrap_or_default();
        let time = format_ns(*ns);
        match ratio.is_tie() {
            true => format!("with {value} {time}, a tie{interval}"),
            false => {
                let cause = cause(condition, value, ratio.times, among);
                format!("with {value} {time}, {} times as long{interval}{cause}", format_ratio(ratio.times))
            }
        }
    };
    format!(
        "{}, {}: with {condition} {baseline} {}; {}.",
        plain(row),
        alike(among),
        format_ns(*baseline_ns),
        listed_with(&effects.iter().map(effect).collect::<Vec<_>>(), VALUES_NAMED, "; ")
    )
}

/// Returns the known cause of the effect of a value against the lowest one.
fn cause(condition: &str, value: &str, times: f64, among: &CommonProperties) -> &'static str {
    match (condition, value) {
        ("pages", "thp" | "huge") if times < 1.0 => {
            ", because an entry of the TLB covers a huge page as it covers a page of 4 KiB"
        }
        ("isolation", "fork" | "exec") if times > 1.0 && among.placement == Placement::SameCore => {
            ", because a switch between threads of one process keeps the address space"
        }
        ("beside", _) if times < 1.0 && among.waiting == WaitKind::Sleeping => {
            ", because a neighbour keeps its CPU from going idle, which shortens wake-ups"
        }
        _ => "",
    }
}

/// Names the calls that carried several messages, and the batches beyond which nothing is gained.
fn batches(rows: &[BatchedRow], knees: &[BatchKnee]) -> String {
    let per_call = |BatchFigures { call, messages_per_call }: &BatchFigures| {
        format!("{} per {}", decimals(Some(*messages_per_call)), plain(call))
    };
    let each = rows.iter().map(|BatchedRow { row, batches: [sent, received] }| {
        format!("{} sends {} and receives {}", plain(row), per_call(sent), per_call(received))
    });
    let calls = format!("Messages per call: {}.", listed(&each.collect::<Vec<_>>(), BATCHES_NAMED));
    let calls = (!rows.is_empty()).then_some(calls);
    calls.into_iter().chain(knees.iter().map(knee)).collect::<Vec<_>>().join(" ")
}

/// Names the batch from which on a benchmark gains little, or reports the absence of a knee.
pub(crate) fn knee(found: &BatchKnee) -> String {
    let BatchKnee { batch, measured: [smallest, largest], best, times, is_latency, .. } = found;
    let (row, times) = (plain(&found.row), factor(*times));
    let what = if *is_latency { "as fast as" } else { "the throughput" };
    let most = if *is_latency { "lowest latency" } else { "highest throughput" };
    match batch {
        Some(batch) if batch == largest => {
            format!(
                "{row} gains up to {batch} per call, the most that was measured: {times} times {what} with {smallest}."
            )
        }
        Some(batch) => {
            format!(
                "Knee of {row}: {batch} per call, within 10 % of the {most} and {times} times {what} with {smallest}."
            )
        }
        None if best == smallest => format!("{row} has no knee: {smallest} per call has the {most}."),
        None => format!(
            "{row} has no knee: {best} per call, {times} times {what} with {smallest}, is not significantly better than a smaller batch by more \
             than 10 %."
        ),
    }
}

/// Returns the words for a row that is the first of its kind, alone or with others that tie with it.
fn one_of(others: usize, alone: &str, tied: &str) -> String {
    if others == 0 { alone.to_owned() } else { format!("one of {} that tie as {tied}", others + 1) }
}

/// Names the own programs that use no CPU for most of the time.
fn waits(programs: &[WaitingProgram]) -> String {
    // TCP waits so long before it acknowledges a small segment that it may still answer.
    const DELAYED_ACKNOWLEDGEMENT_NS: RangeInclusive<f64> = 38e6..=46e6;
    let each = programs.iter().map(|WaitingProgram { row: NamedRow { row, p50_ns }, share, cpu_ns }| {
        // Not 100 %: some CPU time was used.
        let percent = (share * 100.0).floor().min(99.0);
        let (time, cpu) = (format_ns(*p50_ns), format_ns(*cpu_ns));
        format!(
            "{} waits for {percent} % of the time (its processes use a CPU for {cpu} of {time})",
            plain(row)
        )
    });
    let cause = if programs.iter().any(|program| DELAYED_ACKNOWLEDGEMENT_NS.contains(&program.row.p50_ns)) {
        "TCP may delay an acknowledgement by 40 ms: try TCP_NODELAY, or one call per message"
    } else {
        "Look for a timer (an interval between polls, a sleep), a disk or a network before you change the mechanism"
    };
    format!("{}. {cause}.", listed(&each.collect::<Vec<_>>(), PROGRAMS_NAMED))
}

/// Describes how a quota or a neighbour disturbed a benchmark.
fn disturbed(DisturbedRow { row, throttling, shared_cpu }: &DisturbedRow) -> String {
    let throttled = throttling.map(|QuotaFigures { period_ns, periods_share, pause_ns }| {
        // Not 0 %: the quota was used up at least once.
        let percent = (periods_share * 100.0).round().max(1.0);
        let (period, pause) = (format_ns(period_ns), format_ns(pause_ns));
        format!("used up its quota in {percent} % of the periods of {period}, and then paused for {pause} on average")
    });
    let shared =
        shared_cpu.map(|cpu| format!("shared CPU {cpu} with the neighbour, because no CPU was free"));
    let what: Vec<_> = throttled.into_iter().chain(shared).collect();
    format!("{} {}.", plain(row), what.join("; it "))
}

/// Reports findings that hold at both levels of the core-to-core time.
pub(crate) fn two_levels(Regimes { core_to_core_ns, readings: [lower, higher], groups }: &Regimes) -> String {
    let [low, high] = core_to_core_ns.map(|[least, most]| format!("{least:.0} to {most:.0} ns"));
    let levels = format!(
        "The bare core-to-core round trip had two levels: {low} in {lower} readings, and {high} in {higher}."
    );
    [levels].into_iter().chain(groups.iter().map(in_both)).collect::<Vec<_>>().join(" ")
}

fn in_both(group: &InBoth) -> String {
    let InBoth { among, rows, times, first, same, at_one, opposite } = group;
    let level = if *times < 1.0 { "lower" } else { "higher" };
    let times = factor(times.max(1.0 / times));
    let among = alike(among);
    if *rows == 1 {
        return format!("The benchmark {among} takes {times} times as long at the {level} level.");
    }
    let mut text =
        format!("Benchmarks {among} take {times} times as long at the {level} level (median of {rows}).");
    if let Some(first) = first {
        text += &format!(" {} is first at both.", plain(first));
    }
    let pairs = rows * (rows - 1) / 2;
    // Rows may tie at both levels.
    let neither = match pairs.saturating_sub(same + at_one + opposite.len()) {
        0 => String::new(),
        tied => format!(" {tied} known at neither,"),
    };
    text += &format!(
        " Of {}, {same} in the same order at both,{neither} {at_one} known at one only",
        count(pairs, "pair")
    );
    text += &match opposite.first() {
        None => ", none in opposite orders.".to_owned(),
        Some([faster, slower]) => format!(
            ", {} in opposite orders: {} is faster than {} at the lower level, and slower at the higher one.",
            opposite.len(),
            plain(faster),
            plain(slower)
        ),
    };
    text
}

/// Names a benchmark with its median.
fn named(NamedRow { row, p50_ns }: &NamedRow) -> String {
    format!("{} ({})", plain(row), format_ns(*p50_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_analysis::Ratio;
    use furlong_model::Depth;

    fn row(row: &str, p50_ns: f64) -> NamedRow {
        NamedRow { row: row.to_owned(), p50_ns }
    }

    fn varied(
        placement: Placement,
        [baseline, row]: [&str; 2],
        effects: &[(&str, f64, [f64; 2])],
    ) -> VariedBenchmark {
        let effect = |(value, times, interval): &(&str, f64, [f64; 2])| ValueEffect {
            value: (*value).to_owned(),
            ns: 10e3 * times,
            ratio: Ratio { times: *times, interval: Some(*interval) },
        };
        VariedBenchmark {
            row: row.to_owned(),
            among: CommonProperties { waiting: WaitKind::Sleeping, placement, size_bytes: Some(128) },
            baseline: baseline.to_owned(),
            baseline_ns: 10e3,
            effects: effects.iter().map(effect).collect(),
            trials: 9,
            needed_trials: 9,
        }
    }

    #[test]
    fn each_finding_has_its_sentence() {
        let size_bytes = Some(128);
        let among =
            CommonProperties { waiting: WaitKind::Spinning, placement: Placement::OtherCore, size_bytes };
        let (memory, pipe) = (row("posix-shm/spin", 500.0), row("pipe/spin", 2_000.0));
        for (found, said) in [
            (Finding::Unreliable, "ratios are disturbed less than times"),
            (
                Finding::Waits {
                    programs: vec![WaitingProgram {
                        row: row("client/own free", 5e6),
                        share: 0.999,
                        cpu_ns: 5e3,
                    }],
                },
                "client/own free waits for 99 % of the time (its processes use a CPU for 5.00 us of 5.00 ms). Look for a timer",
            ),
            (
                Finding::Waits {
                    programs: vec![WaitingProgram {
                        row: row("client/own free", 41e6),
                        share: 0.99,
                        cpu_ns: 4e5,
                    }],
                },
                "try TCP_NODELAY",
            ),
            (
                Finding::DelayedAcknowledgement {
                    row: row("tcp/block (socket-options nagle, writes 2)", 88e6),
                },
                "tcp/block (socket-options nagle, writes 2) (88.0 ms) waits about 44.0 ms per message: the second write waits",
            ),
            (
                Finding::CopiedOverLoopback { rows: vec!["udp/block (socket-options zerocopy)".to_owned()] },
                "udp/block (socket-options zerocopy): the kernel copied each message nevertheless",
            ),
            (
                Finding::Batches {
                    rows: vec![BatchedRow {
                        row: "pipe/block (batch 64) other-core".to_owned(),
                        batches: [("write", 64.0), ("read", 9.87)].map(|(call, messages_per_call)| {
                            BatchFigures { call: call.to_owned(), messages_per_call }
                        }),
                    }],
                    knees: vec![BatchKnee {
                        row: "pipe/block other-core".to_owned(),
                        case: furlong_fixture::case("pipe", furlong_model::Wait::Block, Placement::OtherCore),
                        batch: Some(16),
                        measured: [1, 64],
                        best: 64,
                        times: 6.0,
                        is_latency: false,
                    }],
                },
                "pipe/block (batch 64) other-core sends 64.00 per write and receives 9.87 per read. Knee of pipe/block other-core: \
                 16 per call, within 10 % of the highest throughput and 6.0 times the throughput with 1.",
            ),
            (
                Finding::WakeUp { times: 12.04, rows: 3, size_bytes },
                "Blocking on two cores takes 12 times as long as on one (128B, median of 3), due to wake-ups.",
            ),
            (
                Finding::WakeUp { times: 0.5, rows: 1, size_bytes },
                "Blocking on two cores is 2.0 times as fast as on one (128B, 1 benchmark).",
            ),
            (
                Finding::SleepersTie { rows: 3, fastest_ns: 52_000.0, slowest_ns: 52_200.0, size_bytes },
                "All 3 blocking benchmarks of 128B across two cores tie (52.0 us to 52.2 us): there",
            ),
            (
                Finding::SleepersChange { first_ns: 30_000.0, later_ns: 42_000.0 },
                "took 30.0 us per round trip at first, and 42.0 us after 0.1 s.",
            ),
            (
                Finding::SleepersAreCloser { across: 1.15, within: 2.5, size_bytes },
                "The mechanism matters less on two cores (128B): blocking spreads 1.1-fold there, 2.5-fold on one.",
            ),
            (
                Finding::Spinning {
                    spinner: memory.clone(),
                    times: 100.0,
                    sleeper: row("pipe/block", 50_000.0),
                    sleepers_tied: 2,
                    size_bytes,
                    processors_busy: [2.0, 0.5],
                },
                "posix-shm/spin (500 ns) is 100 times as fast as pipe/block (50.0 us), one of 3 that tie as the fastest \
                 that block (128B). \
                 Busy-waiting keeps 2.0 CPUs busy, blocking 0.5.",
            ),
            (
                Finding::Memory {
                    among: among.clone(),
                    memory: memory.clone(),
                    times: 4.0,
                    rest: pipe.clone(),
                    rest_tied: 0,
                },
                "Shared memory gains most among benchmarks busy-waiting on two cores (128B): posix-shm/spin (500 ns) is 4.0 \
                 times as fast as pipe/spin (2.00 us), the best without it.",
            ),
            (
                Finding::OneAtATime {
                    among: among.clone(),
                    one: row("posix-shm/futex", 3_000.0),
                    times: 6.0,
                    several: row("pipe/block", 500.0),
                    depth: Depth::of(481),
                },
                "posix-shm/futex (3.00 us) takes 6.0 times as long for a message as pipe/block (500 ns): it holds one",
            ),
            (
                Finding::TwoLevels(Regimes {
                    core_to_core_ns: [[62.0, 65.2], [305.0, 312.0]],
                    readings: [12, 6],
                    groups: vec![InBoth {
                        among: among.clone(),
                        rows: 3,
                        times: 1.52,
                        first: Some("posix-shm/spin".to_owned()),
                        same: 1,
                        at_one: 1,
                        opposite: vec![["pipe/spin", "tcp/spin"].map(str::to_owned)],
                    }],
                }),
                "The bare core-to-core round trip had two levels: 62 to 65 ns in 12 readings, and 305 to 312 ns in 6. Benchmarks \
                 busy-waiting on two cores (128B) take 1.5 times as long at the higher level (median of 3). posix-shm/spin is \
                 first at both. Of 3 pairs, 1 in the same order at both, 1 known at one only, 1 in opposite orders: pipe/spin \
                 is faster than tcp/spin at the lower level, and slower at the higher one.",
            ),
            (
                Finding::Condition(ConditionEffects {
                    condition: "pages",
                    benchmarks: vec![varied(
                        Placement::OtherCore,
                        ["4k", "process-vm/futex"],
                        &[("thp", 1.01, [0.98, 1.04]), ("huge", 0.64, [0.6, 0.7])],
                    )],
                }),
                "process-vm/futex, blocking on two cores (128B): with pages 4k 10.0 us; with thp 10.1 us, a tie (0.98-1.04); with \
                 huge 6.40 us, 0.64 times as long (0.60-0.70), because an entry of the TLB",
            ),
            (
                Finding::Condition(ConditionEffects {
                    condition: "sched",
                    benchmarks: ["pipe/block", "tcp/block"]
                        .map(|row| VariedBenchmark {
                            trials: 3,
                            ..varied(Placement::SameCore, ["other", row], &[("batch", 1.0, [0.9, 1.1])])
                        })
                        .to_vec(),
                }),
                "All values of sched tie with the lowest: pipe/block blocking on one core (128B), tcp/block blocking on one core (128B). \
                 3 trials do not cover 95 %: ask for --trials 9.",
            ),
            (
                Finding::Environment {
                    rows: vec![DisturbedRow {
                        row: "pipe/spin (quota 20%)".to_owned(),
                        throttling: Some(QuotaFigures {
                            period_ns: 1e8,
                            periods_share: 0.95,
                            pause_ns: 78e6,
                        }),
                        shared_cpu: Some(1),
                    }],
                },
                "pipe/spin (quota 20%) used up its quota in 95 % of the periods of 100 ms, and then paused for 78.0 ms on average; it \
                 shared CPU 1 with the neighbour",
            ),
            (
                Finding::MemoryTies { among, memory, rest: pipe },
                "Among benchmarks busy-waiting on two cores (128B), shared memory ties with the fastest other mechanism: posix-shm/spin (500 ns) with pipe/spin (2.00 us).",
            ),
        ] {
            let sentence = finding(&found);
            assert!(sentence.contains(said), "{sentence}");
        }
    }
}
