//! Tests with generated fleets: which outliers are found, and which hosts are not reported.

use super::*;
use crate::fixture::comparison::{MARGIN, TrialBuilder};
use crate::fixture::fleet::{MadeHost, made, mistakes};
use crate::{Change, Level, Run};
use furlong_model::Runtime;

fn by_host(fleet: &[MadeHost]) -> FleetComparison {
    compare_fleet(fleet.iter().map(MadeHost::run).collect(), Vec::new(), FleetBy::Host, MARGIN)
}

/// Returns the data of a run with these records.
fn kept(name: &str, host: &MadeHost, label: Option<&str>, times: f64, trials: &mut TrialBuilder) -> FleetRun {
    let run = Run::from_records(host.records(label, times, trials)).unwrap();
    FleetRun::of(name, &run).unwrap()
}

#[test]
fn the_odd_hosts_are_found_with_their_reasons_and_no_other() {
    for seed in 0..5 {
        let fleet = made(seed, 120, 60);
        let found = by_host(&fleet);
        assert_eq!((found.hosts, found.runs, found.rows.len()), (120, 120, 60));
        let (missed, falsely) = mistakes(&fleet, &found.outliers);
        assert!(missed.is_empty() && falsely.is_empty(), "seed {seed}: {missed:#?} {falsely:#?}");
    }
}

#[test]
fn the_records_of_runs_say_the_same() {
    let fleet = made(1, 60, 12);
    let mut trials = TrialBuilder::default();
    let runs = fleet.iter().map(|host| kept(&host.name, host, None, 1.0, &mut trials)).collect();
    let found = compare_fleet(runs, Vec::new(), FleetBy::Host, MARGIN);
    let (missed, falsely) = mistakes(&fleet, &found.outliers);
    assert!(missed.is_empty() && falsely.is_empty(), "{missed:#?} {falsely:#?}");
}

#[test]
fn hosts_that_are_alike_have_no_outlier() {
    let mut fleet = made(3, 200, 60);
    fleet.retain(|host| host.odd.is_none());
    assert_eq!(by_host(&fleet).outliers, []);
}

#[test]
fn few_hosts_have_no_outlier_and_still_their_medians() {
    let fleet = &made(4, 40, 12)[..4];
    let found = by_host(fleet);
    assert_eq!((found.outliers.len(), found.rows.len(), found.rows[0].hosts), (0, 12, 4));
    let row = &found.rows[0];
    let [low, high] = row.quartiles_ns;
    assert!(row.least.ns <= low && low <= row.median_ns && row.median_ns <= high && high <= row.most.ns);
}

#[test]
fn a_host_on_which_all_is_a_little_slower_is_found_by_all_rows() {
    let mut fleet = made(5, 300, 60);
    fleet.retain(|host| host.odd.is_none());
    let mut runs: Vec<FleetRun> = fleet.iter().map(MadeHost::run).collect();
    runs[7].rows.iter_mut().for_each(|(_, _, ns)| *ns *= 1.15);
    let found = compare_fleet(runs, Vec::new(), FleetBy::Host, MARGIN);
    let hosts: Vec<_> = found.outliers.iter().map(|host| (host.host.as_str(), host.by_all_rows)).collect();
    assert_eq!(hosts, [(fleet[7].name.as_str(), true)]);
    assert!((found.outliers[0].ratio - 1.15).abs() < 0.06 && found.outliers[0].reasons.is_empty());
}

#[test]
fn a_run_without_a_host_is_of_its_file() {
    let mut fleet = made(9, 6, 6);
    fleet[0].machine.host = None;
    let mut trials = TrialBuilder::default();
    let of = |name, trials: &mut TrialBuilder| kept(name, &fleet[0], None, 1.0, trials).host;
    assert_eq!(of("results/node 7.jsonl", &mut trials), "node 7");
    assert_eq!(of("node-8", &mut trials), "node-8");
    assert_eq!(kept("x", &fleet[1], None, 1.0, &mut trials).host, "node-0001");
}

#[test]
fn runs_of_another_platform_are_not_used_and_named() {
    let fleet = made(6, 20, 6);
    let mut trials = TrialBuilder::default();
    let mut runs: Vec<FleetRun> = fleet.iter().map(MadeHost::run).collect();
    let mut records = fleet[0].records(None, 1.0, &mut trials);
    if let furlong_model::Record::Run(header) = &mut records[0] {
        header.machine.runtime = Runtime::Wine("8.0".to_owned());
    }
    let wine = Run::from_records(records).unwrap();
    runs.push(FleetRun::of("wine", &wine).unwrap());
    let found = compare_fleet(runs, Vec::new(), FleetBy::Host, MARGIN);
    assert_eq!((found.runs, found.unused.len(), found.unused[0].run.as_str()), (20, 1, "wine"));
    let other = &found.unused[0].reason;
    assert!(
        matches!(other, UnusedReason::OtherPlatform { platform, .. } if platform.ends_with("wine-8.0")),
        "{other:?}"
    );
}

/// Returns the comparison of a fleet before and after each benchmark became `times` as slow, on the same hosts or on
/// others.
fn before_and_after(times: f64, same_hosts: bool, hosts: usize) -> FleetComparison {
    let mut fleet = made(8, 2 * hosts + 5, 12);
    fleet.retain(|host| host.odd.is_none());
    let (first, second) = fleet.split_at(hosts);
    let mut runs = Vec::new();
    for (number, host) in first.iter().enumerate() {
        runs.push(FleetRun { label: Some("before".into()), started_unix_s: 1, ..host.run() });
        let mut after = FleetRun { label: Some("after".into()), started_unix_s: 2, ..host.run() };
        if !same_hosts {
            after = FleetRun { label: Some("after".into()), started_unix_s: 2, ..second[number].run() };
        }
        let again = |at: usize| 1.0 + 0.004 * ((at + number) % 5) as f64;
        after.rows.iter_mut().enumerate().for_each(|(at, (_, _, ns))| *ns *= times * again(at));
        runs.push(after);
    }
    compare_fleet(runs, Vec::new(), FleetBy::Label, MARGIN)
}

#[test]
fn groups_are_compared_with_that_of_the_oldest_run() {
    for (times, verdict) in [(1.3, Change::Worse), (1.0, Change::Same), (1.0 / 1.3, Change::Better)] {
        for same_hosts in [true, false] {
            let found = before_and_after(times, same_hosts, 100);
            let names: Vec<_> = found.groups.iter().map(|group| group.name.as_deref()).collect();
            assert_eq!(names, [Some("before"), Some("after")]);
            assert_eq!(found.changes.len(), 12);
            for row in &found.changes {
                assert_eq!(row.paired_hosts.is_some(), same_hosts);
                // Other hosts differ among each other, so some unchanged benchmarks are inconclusive.
                let is_wide = !same_hosts && verdict == Change::Same && row.verdict == Change::Inconclusive;
                assert!(row.verdict == verdict || is_wide, "{row:?}");
            }
        }
    }
}

#[test]
fn few_hosts_and_overlapping_intervals_are_inconclusive() {
    let few = before_and_after(1.3, true, 5);
    let needed = FleetInconclusive::TooFewHosts { needed: 9 };
    assert!(few.changes.iter().all(|row| row.reason == Some(needed)), "{few:?}");
    for row in before_and_after(1.05, false, 30).changes {
        let overlaps = row.interval.is_some_and(|[low, high]| low <= 1.05 && high >= 1.0 / 1.05);
        assert_eq!(matches!(row.verdict, Change::Worse | Change::Better), !overlaps, "{row:?}");
    }
}

#[test]
fn equal_groups_seldom_read_different() {
    let changed = (0..40).filter(|seed| {
        let mut fleet = made(*seed, 85, 12);
        fleet.retain(|host| host.odd.is_none());
        let half = |number: usize| if number.is_multiple_of(2) { "one" } else { "other" };
        let labelled =
            |(number, host): (usize, &MadeHost)| FleetRun { label: Some(half(number).into()), ..host.run() };
        let runs = fleet.iter().enumerate().map(labelled).collect();
        let found = compare_fleet(runs, Vec::new(), FleetBy::Label, 0.0);
        found.changes.iter().any(|row| matches!(row.verdict, Change::Worse | Change::Better))
    });
    assert!(changed.count() <= 4);
}

/// Tests that run only if slow tests are requested.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn in_forty_fleets_of_a_thousand_hosts_all_are_found_and_few_falsely() {
        let (mut missed, mut with_false) = (Vec::new(), Vec::new());
        for seed in 1000..1040 {
            let fleet = made(seed, 1000, 60);
            let (of_fleet, falsely) = mistakes(&fleet, &by_host(&fleet).outliers);
            missed.extend(of_fleet);
            with_false.extend(falsely.into_iter().next().map(|host| format!("seed {seed}: {host}")));
        }
        println!("missed {}, fleets with a false one {}", missed.len(), with_false.len());
        assert!(missed.is_empty(), "{missed:#?}");
        assert!(with_false.len() <= 2, "{with_false:#?}");
    }
}

#[test]
fn a_map_has_every_row_and_cost_of_every_host_those_that_stand_out_first() {
    let fleet = made(1, 60, 12);
    let runs = fleet.iter().map(MadeHost::run).collect();
    let (found, map) = compare_and_map_fleet(runs, Vec::new(), FleetBy::Host, MARGIN);
    assert_eq!((map.hosts.len(), found.rows.len()), (60, 12));
    assert!(map.hosts.iter().all(|host| host.ratios.len() == 12));
    let first: Vec<_> = map.hosts.iter().take_while(|host| host.stands_out).map(|host| &host.name).collect();
    assert!(first.iter().copied().eq(found.outliers.iter().map(|outlier| &outlier.host)) && first.len() >= 5);
    assert!(map.hosts[first.len()..].is_sorted_by_key(|host| &host.name));
    for (outlier, host) in found.outliers.iter().zip(&map.hosts) {
        for apart in &outlier.apart {
            let row = found.rows.iter().position(|row| row.case == apart.case).unwrap();
            let ratio = host.ratios[row].unwrap();
            assert!((ratio / apart.ratio - 1.0).abs() < 1e-5, "{ratio} {}", apart.ratio);
        }
    }
    let costs = map.costs.iter().enumerate().map(|(at, cost)| {
        let ns: Vec<f64> = map.hosts.iter().filter_map(|host| host.costs_ns[at]).collect();
        (furlong_stats::median(&ns), cost.fleet_ns)
    });
    assert!(map.costs.len() > 3 && costs.into_iter().all(|(median, fleet)| median == Some(fleet)));
}

/// Returns `runs` runs of one host with 12 benchmarks for each of two kernels, measured alternately. The second kernel is
/// `times` as slow.
fn in_turn_runs(times: f64, runs: usize, seed: u64) -> Vec<FleetRun> {
    let host = &made(1, 6, 12)[0];
    let mut random = fastrand::Rng::with_seed(seed);
    (0..2 * runs)
        .map(|at| {
            // Runs of one side differ by more than the trials of one run: by 2 % in total, and by 1 % for each benchmark.
            let pace = 1.0 + 0.04 * (random.f64() - 0.5);
            let mut run = host.run();
            let slower = if at % 2 == 1 { times } else { 1.0 };
            run.rows
                .iter_mut()
                .for_each(|(.., ns)| *ns *= pace * slower * (1.0 + 0.02 * (random.f64() - 0.5)));
            (run.kernel, run.started_unix_s) = (["A", "B"][at % 2].to_owned(), at as u64);
            run
        })
        .collect()
}

fn in_turn(times: f64, runs: usize, seed: u64) -> FleetComparison {
    compare_fleet(in_turn_runs(times, runs, seed), Vec::new(), FleetBy::Kernel, 0.05)
}

#[test]
fn runs_of_one_host_are_the_unit() {
    for (times, verdict) in [(1.3, Change::Worse), (1.0, Change::Same), (1.0 / 1.3, Change::Better)] {
        let found = in_turn(times, 7, 3);
        assert_eq!((found.hosts, found.groups[0].runs, found.groups[1].runs), (1, 7, 7));
        assert_eq!(found.changes.len(), 12);
        for row in &found.changes {
            assert_eq!((row.verdict, row.runs), (verdict, Some([7, 7])), "{row:?}");
            let [low, high] = row.interval.unwrap();
            assert!(low <= row.ratio && row.ratio <= high && low < times && times < high, "{row:?}");
        }
    }
}

#[test]
fn load_during_the_runs_of_one_side_alone_leaves_rows_open() {
    let mut runs = in_turn_runs(1.3, 7, 3);
    let of_b = |run: &FleetRun| run.kernel == "B";
    let verdicts = |runs: &[FleetRun]| {
        let found = compare_fleet(runs.to_vec(), Vec::new(), FleetBy::Kernel, 0.05);
        let mut verdicts: Vec<_> = found.changes.iter().map(|row| (row.verdict, row.reason)).collect();
        verdicts.dedup();
        verdicts
    };
    runs.iter_mut().filter(|run| of_b(run)).for_each(|run| run.level = Level::Unreliable);
    let differ = FleetInconclusive::Unreliable { runs: [0, 7] };
    assert_eq!(verdicts(&runs), [(Change::Inconclusive, Some(differ))]);
    // The intervals include the differences between runs of both sides.
    runs.iter_mut().for_each(|run| run.level = Level::Unreliable);
    assert_eq!(verdicts(&runs), [(Change::Worse, None)]);
}

#[test]
fn equal_runs_of_one_host_rarely_read_otherwise() {
    let odd = |found: &FleetComparison| {
        found.changes.iter().any(|row| matches!(row.verdict, Change::Worse | Change::Better))
    };
    let wrong = (0..100).filter(|seed| odd(&in_turn(1.0, 5, *seed))).count();
    assert!(wrong <= 5, "{wrong}");
}

#[test]
fn few_runs_of_one_host_say_how_many_are_needed() {
    let found = in_turn(1.3, 2, 3);
    let needed = FleetInconclusive::TooFewRuns { needed: 6 };
    assert!(found.changes.iter().all(|row| row.reason == Some(needed)), "{found:?}");
}
