//! Leading benchmarks during a run. It contains no results that need the whole run (ties, noise, void benchmarks).

use crate::{Group, PayloadKind, exchange::deciding_ns};
use furlong_model::{Case, Family, Trial};
use furlong_stats::{Distribution, SortedMap, median, median_interval, sort_by, uncertainty};

/// Medians of the trials so far, by group and benchmark.
#[derive(Debug, Clone, Default)]
pub struct Standings {
    groups: SortedMap<Group, SortedMap<Case, Vec<f64>>>,
}

/// Fastest benchmarks of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaders {
    /// Title of the group.
    pub title: String,
    /// Benchmarks, the fastest first.
    pub rows: Vec<Leader>,
    /// Number of benchmarks of the group that are not in `rows`.
    pub others: usize,
}

/// Benchmark with its current figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Leader {
    /// Name of the benchmark.
    pub row: String,
    /// Median of its trials' medians, in nanoseconds.
    pub median_ns: f64,
    /// Distance of the farther end of the 95 % interval from that median, as a share; `None` with too few trials.
    pub precision: Option<f64>,
}

impl Standings {
    /// Adds a measured trial with a recorded start. It ignores own programs and the loop without a mechanism.
    pub fn add(&mut self, trial: &Trial) {
        let Some(measured) = trial.outcome.measurement().filter(|_| trial.at_ns.is_some()) else { return };
        let Ok(times) = Distribution::decode(&measured.histogram) else { return };
        let loses = measured.lost.is_some();
        let group = Group::of(&trial.case, trial.family).if_losing(loses);
        if group.carries != PayloadKind::Nothing && trial.family != Some(Family::Programs) {
            self.groups.or_default(group).or_default(trial.case.clone()).push(deciding_ns(
                &trial.case,
                measured,
                &times,
            ));
        }
    }

    /// Returns the `most` fastest benchmarks of each group, in the order of the groups in a complete run.
    pub fn leaders(&self, most: usize) -> Vec<Leaders> {
        let of_group = |(group, members): &(Group, SortedMap<Case, Vec<f64>>)| {
            let mut rows: Vec<Leader> =
                members.iter().filter_map(|(case, p50s)| leader(case, p50s)).collect();
            sort_by(&mut rows, |one, other| one.median_ns.total_cmp(&other.median_ns));
            let others = rows.len().saturating_sub(most);
            rows.truncate(most);
            Leaders { title: group.title.clone(), rows, others }
        };
        self.groups.iter().map(of_group).collect()
    }
}

fn leader(case: &Case, p50s: &[f64]) -> Option<Leader> {
    let median_ns = median(p50s)?;
    let precision = median_interval(p50s).map(|interval| uncertainty(median_ns, interval));
    Some(Leader { row: case.row(), median_ns, precision })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecodedRun, Run, fixture};
    use furlong_model::Record;

    #[test]
    fn leaders_are_those_of_the_whole_run() {
        let (mut standings, mut at_ns) = (Standings::default(), 0);
        let mut records = fixture::records();
        for record in &mut records {
            if let Record::Trial(trial) = record {
                at_ns += 1_000;
                trial.at_ns = Some(at_ns);
                standings.add(trial);
            }
        }
        let run = Run::from_records(records).unwrap();
        let summary = DecodedRun::of(&run).summary;
        let all = standings.leaders(usize::MAX);
        for (leaders, few) in all.iter().zip(standings.leaders(1)) {
            let group = summary.groups.iter().find(|group| group.title == leaders.title).expect("the group");
            let p50_ns = |leader: &Leader| {
                let row = summary.rows_of(group).find(|row| row.case.row() == leader.row);
                row.map(|row| row.exchange.ns.p50)
            };
            for leader in leaders.rows.iter().filter(|leader| p50_ns(leader).is_some()) {
                assert!((leader.median_ns / p50_ns(leader).unwrap() - 1.0).abs() < 0.01, "{leader:?}");
            }
            assert!(leaders.rows.is_sorted_by_key(|leader| leader.median_ns));
            assert_eq!((&few.rows[..], few.others), (&leaders.rows[..1], leaders.rows.len() - 1));
        }
        assert!(!all.is_empty() && all.iter().all(|leaders| leaders.others == 0));
    }

    #[test]
    fn a_row_has_an_interval_once_it_has_enough_trials() {
        let case =
            fixture::row("pipe", furlong_model::Wait::Block, furlong_model::Placement::OtherCore, 1.0).case;
        assert_eq!(leader(&case, &[]), None);
        assert_eq!(leader(&case, &[100.0]).unwrap().precision, None);
        let many: Vec<f64> = (0..30).map(|trial| 100.0 + f64::from(trial)).collect();
        let found = leader(&case, &many).unwrap();
        assert!(found.precision.is_some_and(|precision| precision > 0.0 && precision < 0.2), "{found:?}");
    }
}
