//! Expected gain of a switch from the observed mechanism to the choice. Both carried the recorded traffic.

use super::RankedBenchmark;
use crate::{Cpu, DecodedRun, Row};
use furlong_model::{Shortlist, row_name};
use furlong_stats::{bootstrap_interval, median, tidy};
use serde::Serialize;

/// Expected gain of a switch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Switch {
    /// Benchmark of the observed mechanism, `mechanism/wait`.
    pub from: String,
    /// Median time of a message or a round trip.
    pub latency: Gain,
    /// CPU time of both processes, per message or round trip.
    pub cpu: Gain,
    /// Part of a CPU that the switch saves at the observed rate: 0.1 is 10 % of a CPU. `None`
    /// in a closed loop, whose rate depends on the mechanism and on the CPUs of the programs.
    pub cpu_share: Option<f64>,
    /// 95 % confidence interval of that part.
    pub cpu_share_ci95: Option<[f64; 2]>,
}

/// Change of a figure in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gain {
    /// Median over the trials of the observed mechanism.
    pub before_ns: f64,
    /// Median over the trials of the choice.
    pub after_ns: f64,
    /// Difference; negative if the switch costs time.
    pub saved_ns: f64,
    /// 95 % bootstrap interval of the difference; `None` for fewer than three trials.
    pub ci95: Option<[f64; 2]>,
}

impl Gain {
    fn new([before, after]: [&[f64]; 2], seed: u64) -> Option<Gain> {
        let (before_ns, after_ns) = (median(before)?, median(after)?);
        let saved = |drawn: &[Vec<f64>]| {
            let [before, after] = [0, 1].map(|place| median(&drawn[place]).unwrap_or_default());
            before - after
        };
        let ci95 = bootstrap_interval(&[before, after], saved, seed).map(|ends| ends.map(tidy));
        let saved_ns = tidy(before_ns - after_ns);
        Some(Gain { before_ns: tidy(before_ns), after_ns: tidy(after_ns), saved_ns, ci95 })
    }

    /// Returns whether the interval is known and excludes zero.
    pub fn is_significant(&self) -> bool {
        self.ci95.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }
}

impl Switch {
    /// Compares the observed mechanism with the choice; `None` if it is not known, was not measured, or is the choice.
    pub(super) fn new(shortlist: &Shortlist, run: &DecodedRun, choice: &RankedBenchmark) -> Option<Switch> {
        let traffic = shortlist.workload.observed.as_ref()?;
        let (mechanism, wait) = traffic.benchmark.as_ref()?;
        let rows = &run.summary.rows;
        let from = rows.iter().find(|row| (&row.case.mechanism, row.case.wait) == (mechanism, *wait))?;
        let to = rows.iter().find(|row| choice.is(row) && row.case != from.case)?;
        let seed = run.records.header.seed;
        let latencies = [from, to].map(|row| {
            let trials = run.trials.measured(&row.case);
            trials.filter_map(|trial| trial.deciding_ns).collect::<Vec<_>>()
        });
        let cpu_ns = |row: &Row| {
            let trials = run.trials.measured(&row.case);
            trials.map(|trial| Cpu::of(&row.case, &[trial.record]).all()).collect::<Vec<_>>()
        };
        let cpu_times = [from, to].map(cpu_ns);
        let cpu = Gain::new([&cpu_times[0], &cpu_times[1]], seed)?;
        let share = |ns: f64| tidy(ns * traffic.per_second / 1e9);
        let is_paced = !traffic.arrival.is_closed_loop();
        Some(Switch {
            from: row_name(mechanism, *wait),
            latency: Gain::new([&latencies[0], &latencies[1]], seed)?,
            cpu_share: is_paced.then(|| share(cpu.saved_ns)),
            cpu_share_ci95: cpu.ci95.filter(|_| is_paced).map(|ends| ends.map(share)),
            cpu,
        })
    }
}
