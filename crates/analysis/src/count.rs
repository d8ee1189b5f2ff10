//! Counts per round trip: system calls, context switches, page faults, and the hardware counters.

use crate::declared::is_declared;
use crate::{PageFaults, Run, Switches, undeclared_calls};
use furlong_model::{Bounds, Case, Count, CountMethod, Role, RoleCount, RoleTally};
use furlong_stats::tidy;
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountRow {
    /// The case.
    #[serde(flatten)]
    pub case: Case,
    /// Method of counting system calls.
    #[serde(flatten)]
    pub counting: CountingMethod,
    /// Sum over both roles. Each role's counts are divided by its own round trips.
    #[serde(flatten)]
    pub figures: Figures,
    /// Reason for missing hardware counters; `None` if they exist.
    pub hardware_absent: Option<String>,
    /// Counts of each role, the initiator first. There is a single role if both ends are in one process. With several
    /// pairs, a role is the average over the pairs.
    pub roles: Vec<RoleFigures>,
    /// System calls that the mechanism declares for one role and round trip, by name.
    pub declared: BTreeMap<String, Bounds>,
    /// Whether every role makes exactly the declared calls; `None` if no calls were counted.
    pub as_declared: Option<bool>,
    /// Difference between the calls of a role and the declaration, with numbers.
    pub surprise: Option<String>,
}

/// Method of counting system calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CountingMethod {
    /// The method.
    pub method: CountMethod,
    /// Reason against each better method, best method first, one sentence each.
    pub why_not_better: Vec<String>,
}

/// Counts of one role.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoleFigures {
    /// The role.
    pub role: Role,
    /// Round trips in which its system calls were counted.
    pub round_trips: u64,
    /// System calls of its threads, by the name of the thread, if several threads made any.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub threads_per_round_trip: BTreeMap<String, f64>,
    /// Counts of the role.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Counts per round trip.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// System calls by name; `None` if they were not counted.
    pub system_calls_per_round_trip: Option<BTreeMap<String, f64>>,
    /// Context switches while no call was traced.
    pub switches_per_round_trip: Switches,
    /// Page faults while no call was traced.
    pub page_faults_per_round_trip: PageFaults,
    /// Hardware counts while no call was traced, by name; empty if the CPU has no counters.
    pub hardware_per_round_trip: BTreeMap<String, f64>,
}

impl CountRow {
    pub(crate) fn of(count: &Count) -> Self {
        let roles = RoleFigures::all(count);
        let surprise = undeclared_calls(count);
        let is_counted = roles.iter().any(|role| role.figures.system_calls_per_round_trip.is_some());
        CountRow {
            case: count.case.clone(),
            counting: CountingMethod::of(count),
            figures: Figures::sum_over_roles(&roles),
            hardware_absent: count.hardware_absent.clone(),
            declared: count.declared.clone(),
            as_declared: (is_counted && is_declared(count)).then_some(surprise.is_none()),
            surprise,
            roles,
        }
    }

    /// Returns the round trips in which system calls were counted, of the role with the larger number.
    pub fn round_trips(&self) -> u64 {
        self.roles.iter().map(|role| role.round_trips).max().unwrap_or_default()
    }
}

impl CountingMethod {
    fn of(count: &Count) -> Self {
        CountingMethod { method: count.method, why_not_better: count.why_not_better.clone() }
    }

    /// Returns each distinct method of counting in `counts`.
    pub(crate) fn all(counts: &[Count]) -> Vec<Self> {
        let mut ways = Vec::new();
        for way in counts.iter().map(CountingMethod::of) {
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        ways
    }
}

impl RoleFigures {
    /// Returns the counts of each role that took part.
    fn all(count: &Count) -> Vec<Self> {
        let of_role = |role| {
            let same: Vec<_> =
                count.roles.iter().filter(|own| own.role == role).map(RoleFigures::of).collect();
            if same.len() < 2 { same } else { vec![RoleFigures::on_average(role, &same)] }
        };
        Role::ALL.into_iter().flat_map(of_role).collect()
    }

    /// Returns the average of a role over several pairs.
    fn on_average(role: Role, pairs: &[RoleFigures]) -> Self {
        let share = 1.0 / pairs.len() as f64;
        let threads = add(pairs.iter().map(|pair| &pair.threads_per_round_trip));
        RoleFigures {
            role,
            round_trips: pairs.iter().map(|pair| pair.round_trips).sum(),
            threads_per_round_trip: times(threads, share),
            figures: Figures::sum_over_roles(pairs).times(share),
        }
    }

    fn of(count: &RoleCount) -> Self {
        RoleFigures {
            role: count.role,
            round_trips: count.round_trips,
            threads_per_round_trip: by_name(&count.threads, count.round_trips),
            figures: Figures::of(count),
        }
    }
}

impl Figures {
    /// Returns the counts of one role.
    fn of(count: &RoleCount) -> Self {
        let usage = &count.usage;
        let each = |figure: fn(&RoleTally) -> u64| per(figure(usage), usage.round_trips);
        Figures {
            system_calls_per_round_trip: system_calls_of(count),
            switches_per_round_trip: Switches::of(each),
            page_faults_per_round_trip: PageFaults::of(each),
            hardware_per_round_trip: by_name(&count.hardware, usage.round_trips),
        }
    }

    /// Returns the sum over the roles. If a role lacks counted calls, the sum lacks them too.
    fn sum_over_roles(roles: &[RoleFigures]) -> Self {
        let sum = |figure: fn(&Figures) -> f64| tidy(roles.iter().map(|role| figure(&role.figures)).sum());
        let calls: Option<Vec<_>> =
            roles.iter().map(|role| role.figures.system_calls_per_round_trip.as_ref()).collect();
        Figures {
            system_calls_per_round_trip: calls.filter(|calls| !calls.is_empty()).map(add),
            switches_per_round_trip: Switches {
                voluntary: sum(|figures| figures.switches_per_round_trip.voluntary),
                involuntary: sum(|figures| figures.switches_per_round_trip.involuntary),
            },
            page_faults_per_round_trip: PageFaults {
                minor: sum(|figures| figures.page_faults_per_round_trip.minor),
                major: sum(|figures| figures.page_faults_per_round_trip.major),
            },
            hardware_per_round_trip: add(roles.iter().map(|role| &role.figures.hardware_per_round_trip)),
        }
    }

    /// Multiplies every count by `factor`.
    fn times(self, factor: f64) -> Self {
        let Switches { voluntary, involuntary } = self.switches_per_round_trip;
        let PageFaults { minor, major } = self.page_faults_per_round_trip;
        let scaled = |figure| tidy(figure * factor);
        Figures {
            system_calls_per_round_trip: self.system_calls_per_round_trip.map(|calls| times(calls, factor)),
            switches_per_round_trip: Switches {
                voluntary: scaled(voluntary),
                involuntary: scaled(involuntary),
            },
            page_faults_per_round_trip: PageFaults { minor: scaled(minor), major: scaled(major) },
            hardware_per_round_trip: times(self.hardware_per_round_trip, factor),
        }
    }

    /// Returns the number of all system calls; `None` if they were not counted.
    pub fn system_calls(&self) -> Option<f64> {
        self.system_calls_per_round_trip.as_ref().map(total)
    }
}

fn times(counts: BTreeMap<String, f64>, factor: f64) -> BTreeMap<String, f64> {
    counts.into_iter().map(|(name, count)| (name, tidy(count * factor))).collect()
}

/// Returns the number of all calls.
pub(crate) fn total(calls: &BTreeMap<String, f64>) -> f64 {
    tidy(calls.values().sum())
}

/// Returns the counted pass of `case`.
pub(crate) fn count_of<'a>(run: &'a Run, case: &Case) -> Option<&'a Count> {
    run.counts.iter().find(|count| count.case == *case)
}

/// Returns the system calls per round trip over both roles; `None` if those of a role were not counted.
pub(crate) fn system_calls(count: &Count) -> Option<f64> {
    Figures::sum_over_roles(&RoleFigures::all(count)).system_calls()
}

fn system_calls_of(count: &RoleCount) -> Option<BTreeMap<String, f64>> {
    let calls = count.system_calls.as_ref().filter(|_| count.round_trips > 0)?;
    Some(by_name(calls, count.round_trips))
}

fn by_name(counts: &BTreeMap<String, u64>, round_trips: u64) -> BTreeMap<String, f64> {
    counts.iter().map(|(name, count)| (name.clone(), per(*count, round_trips))).collect()
}

/// Divides a count by the round trips. A record may contain zero round trips, and nothing was counted then.
fn per(count: u64, round_trips: u64) -> f64 {
    if round_trips == 0 { 0.0 } else { tidy(count as f64 / round_trips as f64) }
}

fn add<'a>(roles: impl IntoIterator<Item = &'a BTreeMap<String, f64>>) -> BTreeMap<String, f64> {
    let mut sum: BTreeMap<String, f64> = BTreeMap::new();
    for (name, figure) in roles.into_iter().flatten() {
        let total = sum.entry(name.clone()).or_default();
        *total = tidy(*total + figure);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, count};
    use furlong_model::{Placement, Wait};

    fn sound() -> Count {
        count(&case("posix-shm", Wait::Futex, Placement::OtherCore), "futex", 500)
    }

    fn row(change: impl FnOnce(&mut Count)) -> CountRow {
        let mut count = sound();
        change(&mut count);
        CountRow::of(&count)
    }

    #[test]
    fn roles_add_up_each_by_its_own_round_trips() {
        let row = row(|count| {
            count.roles[1].round_trips = 1000;
            count.roles[1].usage.voluntary_switches = 2 * count.roles[1].usage.round_trips;
            count.roles[1].usage.minor_faults = count.roles[1].usage.round_trips / 4;
            count.roles[0].hardware.insert("instructions".into(), 500_000);
            count.roles[1].hardware.insert("instructions".into(), 250_000);
        });
        assert_eq!(row.figures.system_calls_per_round_trip, Some(BTreeMap::from([("futex".into(), 1.5)])));
        assert_eq!(row.figures.switches_per_round_trip.voluntary, 3.0);
        assert_eq!(row.figures.page_faults_per_round_trip.minor, 0.25);
        assert_eq!(row.figures.hardware_per_round_trip["instructions"], 1500.0);
        assert_eq!(row.round_trips(), 1000);
    }

    #[test]
    fn several_pairs_count_per_round_trip_of_one() {
        let one = row(|_| {});
        let several = row(|count| {
            for _ in 0..2 {
                let pair = [count.roles[0].clone(), count.roles[1].clone()];
                count.roles.extend(pair);
            }
            count.roles[0].system_calls = Some(BTreeMap::from([("futex".to_owned(), 2_000)]));
        });
        assert_eq!(several.roles.len(), 2);
        assert_eq!(several.roles[0].figures.system_calls(), Some(2.0), "of 4, 1 and 1");
        assert_eq!(several.figures.system_calls(), Some(3.0));
        assert_eq!(several.figures.switches_per_round_trip, one.figures.switches_per_round_trip);
        assert_eq!(several.round_trips(), 1500);
    }

    #[test]
    fn a_call_that_is_not_declared_is_a_surprise() {
        assert_eq!((row(|_| {}).as_declared, row(|_| {}).surprise), (Some(true), None));
        let row = row(|count| count.declared.clear());
        assert_eq!(row.as_declared, Some(false));
        assert!(row.surprise.unwrap().contains("futex"));
    }

    #[test]
    fn what_was_not_counted_is_not_zero() {
        let row = row(|count| {
            count.method = CountMethod::Rusage;
            count.roles[1].system_calls = None;
        });
        assert_eq!(row.figures.system_calls_per_round_trip, None);
        let empty = self::row(|count| count.roles.clear());
        assert_eq!((empty.figures.system_calls(), empty.as_declared), (None, None));
    }

    #[test]
    fn no_round_trips_count_nothing() {
        let row = row(|count| {
            for role in &mut count.roles {
                role.round_trips = 0;
                role.usage.round_trips = 0;
                role.usage.major_faults = u64::MAX;
            }
        });
        assert_eq!((row.figures.system_calls(), row.as_declared), (None, None));
        assert_eq!(row.figures.page_faults_per_round_trip.major, 0.0);
    }
}
