//! Descriptions of the disturbances of a run.

use super::object::JudgedSentences;
use super::words::count;
use furlong_analysis::text::{capital, plain};
use furlong_analysis::{Condition, Disturbance, Verdict};
use furlong_model::{format_digits, format_ns};

/// Returns the reasons of the noise verdict of each document, for programs.
pub(crate) fn reasons<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> JudgedSentences {
    reasons_at("noise.reasons_data", verdicts)
}

/// Returns the reasons of each verdict at this place of a document.
pub(crate) fn reasons_at<'a>(
    at: &'static str,
    verdicts: impl IntoIterator<Item = &'a Verdict>,
) -> JudgedSentences {
    let reasons = |verdict: &Verdict| verdict.reasons.iter().map(disturbance).collect();
    JudgedSentences::new(at, "reasons", verdicts.into_iter().map(reasons))
}

/// Describes the noise verdict except for its level: the bare core-to-core time, then a sentence per reason.
pub fn noise(noise: &Verdict) -> Vec<String> {
    let bare = noise.core_to_core_ns.map(|times| {
        let (median, min, max) = (format_ns(times.median), format_ns(times.min), format_ns(times.max));
        format!("A bare cache-line round trip from core to core took {median} ({min} to {max}).")
    });
    bare.into_iter().chain(reason_sentences(noise)).collect()
}

/// Returns the reasons of the verdict or, if there are none, the bare core-to-core time.
pub(crate) fn briefly(noise: &Verdict) -> Vec<String> {
    if noise.reasons.is_empty() { self::noise(noise) } else { reason_sentences(noise).collect() }
}

fn reason_sentences(noise: &Verdict) -> impl Iterator<Item = String> {
    noise.reasons.iter().map(|reason| capital(&disturbance(reason)) + ".")
}

/// Returns a noun phrase for a condition of the process that differs from the default.
pub fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Policy { policy, priority, reset_on_fork } => {
            let priority = if *priority == 0 { String::new() } else { format!(" {priority}") };
            let reset = if *reset_on_fork { " (reset on fork)" } else { "" };
            format!("scheduling policy {}{priority}{reset}", plain(policy))
        }
        Condition::Nice(nice) => format!("nice value {nice}"),
        Condition::TimerSlack { ns } => format!("timer slack {}", format_ns(*ns as f64)),
        Condition::HugePagesDisabled => "no transparent huge pages (PR_SET_THP_DISABLE)".to_owned(),
        Condition::CpuWeight(weight) => format!("CPU weight {weight} of its control group"),
        Condition::Seccomp { filters: Some(filters) } => count(*filters as usize, "seccomp filter"),
        Condition::Seccomp { filters: None } => "a seccomp filter".to_owned(),
        Condition::DebugBuild => "debug build of furlong".to_owned(),
        Condition::SecurityLabel(label) => format!("security label {}", plain(label)),
        Condition::Speculation { kind, state } => format!("{kind}: {}", plain(state)),
        Condition::Container(kind) => format!("container ({})", plain(kind)),
        Condition::Limit { name, value } => format!("{} {}", plain(name), plain(value)),
    }
}

/// Returns an observed disturbance as a clause of a sentence.
pub fn disturbance(seen: &Disturbance) -> String {
    match *seen {
        Disturbance::SpinLost { share } => {
            format!(
                "{:.1} % of the benchmarks' CPU time was lost to other processes or the host",
                share * 100.0
            )
        }
        Disturbance::Stolen { share } => {
            format!("the hypervisor gave {:.1} % of the time to others", share * 100.0)
        }
        Disturbance::Quota { cpus, needed } => {
            format!(
                "the control group may use the time of {} CPUs, and a benchmark keeps {needed} busy: raise its CPU limit",
                format_digits(cpus)
            )
        }
        Disturbance::Throttled { periods } => {
            format!("the control group ran out of quota {periods} times: raise its CPU limit")
        }
        Disturbance::CoreMoved { min_ns, max_ns } => format!(
            "the bare core-to-core round trip moved between {min_ns:.0} and {max_ns:.0} ns: the host moved a core"
        ),
        Disturbance::Pressure { percent } => {
            format!("processes waited for a CPU in {percent:.0} % of the 10 s before the run")
        }
        Disturbance::Load { load, processors } => {
            format!("the load was {load:.1} on {processors} CPUs in the minute before the run")
        }
        Disturbance::WideIntervals { wide, rows, limit, not_counted } => {
            let others = match not_counted {
                0 => String::new(),
                1 => ", not counting 1 that busy-waits on one core".to_owned(),
                count => format!(", not counting {count} that busy-wait on one core"),
            };
            format!("{wide} of {rows} benchmarks have intervals wider than ±{:.0} %{others}", limit * 100.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_disturbance_has_its_words() {
        for (seen, said) in [
            (
                Disturbance::SpinLost { share: 0.03 },
                "3.0 % of the benchmarks' CPU time was lost to other processes or the host",
            ),
            (Disturbance::Stolen { share: 0.1 }, "the hypervisor gave 10.0 % of the time to others"),
            (
                Disturbance::Throttled { periods: 3 },
                "the control group ran out of quota 3 times: raise its CPU limit",
            ),
            (
                Disturbance::CoreMoved { min_ns: 290.4, max_ns: 500.0 },
                "the bare core-to-core round trip moved between 290 and 500 ns: the host moved a core",
            ),
            (
                Disturbance::Pressure { percent: 40.0 },
                "processes waited for a CPU in 40 % of the 10 s before the run",
            ),
            (
                Disturbance::Load { load: 1.8, processors: 2 },
                "the load was 1.8 on 2 CPUs in the minute before the run",
            ),
            (
                Disturbance::Quota { cpus: 0.5, needed: 2 },
                "the control group may use the time of 0.500 CPUs, and a benchmark keeps 2 busy: raise its CPU limit",
            ),
            (
                Disturbance::WideIntervals { wide: 5, rows: 9, limit: 0.05, not_counted: 2 },
                "5 of 9 benchmarks have intervals wider than ±5 %, not counting 2 that busy-wait on one core",
            ),
        ] {
            assert_eq!(disturbance(&seen), said);
        }
    }
}
