//! The CPUs that a run would use: interrupts and isolation.

use super::Finding;
use furlong_bench::placement::{AllowedCpus, MANY_INTERRUPTS};
use furlong_model::CpuList;
use furlong_os::linux::cpu_isolation::{self, CpuIsolation};

/// Judges the CPUs of `other-core`, `pair`.
pub(super) fn findings(cpus: &AllowedCpus, pair: [usize; 2]) -> Vec<Finding> {
    let isolation = isolation(&cpu_isolation::read(), cpus.numbers(), pair);
    interrupts(cpus, pair).into_iter().chain(isolation).collect()
}

/// Judges the device interrupts of a pair; `None` if they are unknown.
fn interrupts(cpus: &AllowedCpus, pair: [usize; 2]) -> Option<Finding> {
    let rates: Vec<f64> = pair.iter().map(|cpu| cpus.interrupts_per_s(&[*cpu])).collect::<Option<_>>()?;
    let [one, other] = pair;
    let text = format!(
        "CPUs {one} and {other} (other-core) serve {:.0} and {:.0} device interrupts per second, on average since boot",
        rates[0], rates[1]
    );
    let remedy = "stop irqbalance and move them (/proc/irq/NUMBER/smp_affinity_list), or choose other CPUs, as in --place 2:3";
    let is_quiet = rates.iter().all(|rate| *rate < MANY_INTERRUPTS);
    Some(Finding::choose(is_quiet, text.clone(), Finding::note(text, remedy)))
}

/// Judges the isolation of a pair. `allowed` are the CPUs that this process may use.
fn isolation(isolation: &CpuIsolation, allowed: &[usize], pair: [usize; 2]) -> Vec<Finding> {
    let CpuIsolation { isolated, tickless, without_callbacks } = isolation;
    let [one, other] = pair;
    let all_in = |part: &[usize], all: &[usize]| part.iter().all(|cpu| all.contains(cpu));
    let mut findings = Vec::new();
    if all_in(&pair, isolated) {
        findings.push(Finding::choose(
            all_in(&pair, without_callbacks),
            format!("CPUs {one} and {other} are isolated (isolcpus, rcu_nocbs)"),
            Finding::note(
                format!("CPUs {one} and {other} are isolated (isolcpus), but run RCU callbacks"),
                "boot with rcu_nocbs= for these CPUs",
            ),
        ));
    } else if !isolated.is_empty() {
        findings.push(Finding::note(
            format!(
                "CPUs {} are isolated (isolcpus), but other-core uses {one} and {other}",
                CpuList(isolated.clone())
            ),
            "use isolated CPUs, as in taskset -c 0,2,3 furlong run --place 2:3",
        ));
    }
    if all_in(allowed, isolated) {
        findings.push(Finding::note(
            "all allowed CPUs are isolated: furlong, and processes with --place free, stay on one CPU",
            "allow another CPU, too, as in taskset -c 0,2,3 furlong run --place 2:3",
        ));
    }
    if pair.iter().any(|cpu| tickless.contains(cpu)) {
        findings.push(Finding::note(
            format!("CPU {one} or {other} is in nohz_full: each system call takes longer, because the kernel accounts for its time"),
            "to measure mechanisms with system calls, boot without nohz_full= for these CPUs",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::Weight;
    use super::*;

    fn judged(
        isolated: &[usize],
        tickless: &[usize],
        without_callbacks: &[usize],
        allowed: &[usize],
    ) -> Vec<(Weight, String)> {
        let [isolated, tickless, without_callbacks] =
            [isolated, tickless, without_callbacks].map(<[_]>::to_vec);
        let pair = [allowed[0], allowed[1]];
        let findings = isolation(&CpuIsolation { isolated, tickless, without_callbacks }, allowed, pair);
        findings.into_iter().map(|finding| (finding.weight, finding.text)).collect()
    }

    #[test]
    fn isolation_is_judged_for_the_cpus_of_a_run() {
        let has = |found: Vec<(Weight, String)>, expected: &[(Weight, &str)]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for ((weight, text), (expected, part)) in found.iter().zip(expected) {
                assert!(weight == expected && text.contains(part), "{found:?}");
            }
        };
        has(judged(&[], &[], &[1], &[0, 1]), &[]);
        has(
            judged(&[2, 3], &[2, 3], &[2, 3], &[0, 1]),
            &[(Weight::Note, "CPUs 2-3 are isolated (isolcpus), but other-core uses 0 and 1")],
        );
        has(
            judged(&[2, 3], &[], &[2, 3], &[2, 3]),
            &[(Weight::Good, "are isolated"), (Weight::Note, "all allowed CPUs")],
        );
        has(
            judged(&[2, 3, 4], &[3], &[3], &[2, 3, 7]),
            &[(Weight::Note, "run RCU callbacks"), (Weight::Note, "in nohz_full")],
        );
    }
}
