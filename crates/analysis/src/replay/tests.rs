//! Tests of replays of runs with known times.

use super::{ClaimReason, ClaimStatus, RankChange, ReplayRow, ReplayStatus};
use crate::fixture::replay::{
    self as experiments, ReplayBuilder, failure, itmedia, ka2yan, qiita, racehorse,
};
use crate::{DecodedRun, Disturbance, Replay, Run, fixture, read_experiment, replay};
use furlong_model::{Backing, Evidence, Fault, Figure, HandoverOutcome, Meaning, Record};

fn row<'a>(replay: &'a Replay, name: &str) -> &'a ReplayRow {
    replay.rows.iter().find(|row| row.mechanism == name).unwrap()
}

fn value(replay: &Replay, name: &str, figure: Figure) -> f64 {
    row(replay, name).measured[&figure].value
}

fn close(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 0.01
}

fn statuses(replay: &Replay) -> Vec<ClaimStatus> {
    replay.claims.iter().map(|claim| claim.status).collect()
}

/// Returns a replay of three benchmarks with published times of 1, 2 and 4 us, and these medians now. One without a median
/// is not measured.
fn three(now_us: [Option<f64>; 3]) -> Replay {
    let rows = [("a", "pipe/block", 1), ("b", "fifo/block", 2), ("c", "tcp/block", 4)];
    let rows = rows.map(|(name, row, us)| {
        format!("[[row]]\nname = \"{name}\"\nrow = \"{row}\"\npublished = [{{ mean_us = {us} }}]\n")
    });
    let text = format!(
        "name = \"three\"\ntitle = \"t\"\n[measure]\nkind = \"round-trip\"\nsizes = [\"128\"]\ncount = 1000\n\
         order_by = \"mean_us\"\n{}[[claim]]\ntext = \"a is fastest\"\nfastest = \"a\"\n[[claim]]\ntext = \"twice\"\n\
         faster = \"a\"\nthan = \"c\"\ntimes = 2\n[[claim]]\ntext = \"alike\"\nalike = [\"b\", \"c\"]\nwithin = 1.2\n",
        rows.concat()
    );
    let made = ReplayBuilder::of(read_experiment(&text, "three.toml").unwrap());
    let names = ["a", "b", "c"].into_iter().zip(now_us);
    let measured = |made: ReplayBuilder, (name, us): (&str, Option<f64>)| match us {
        Some(us) => made.row(name, 128, us * 1e3),
        None => made,
    };
    names.fold(made, measured).replay()
}

#[test]
fn a_run_of_something_else_is_no_replay() {
    assert_eq!(replay(&DecodedRun::of(&Run::from_records(fixture::records()).unwrap())), None);
}

#[test]
fn figures_are_scaled_to_what_was_published() {
    let replay = ka2yan().replay();
    let queue = row(&replay, "POSIX message queue");
    let mean_us = value(&replay, "FIFO", Figure::RealS) / 500_000.0 * 1e6;
    assert!(mean_us > 3.1 && mean_us < 3.5, "{mean_us}");
    // Both alternate on one CPU, with a fifth of the time in user mode.
    let real = value(&replay, "POSIX message queue", Figure::RealS);
    assert!(close(value(&replay, "POSIX message queue", Figure::UserS), real / 5.0));
    assert!(close(value(&replay, "POSIX message queue", Figure::SystemS), real * 0.8));
    assert!(close(value(&replay, "POSIX message queue", Figure::MedianUs), 3.6));
    assert_eq!((queue.status, queue.trials, queue.verified), (ReplayStatus::Measured, 7, true));
    let [low, high] = queue.measured[&Figure::RealS].ci95.unwrap();
    assert!(low < real && real < high);
}

#[test]
fn rates_and_means_are_two_sides_of_one_figure() {
    let made = ReplayBuilder::published("csdn-ipc-ranking").row("FIFO", 128, 20_000.0).replay();
    let (mean, rate) =
        (value(&made, "FIFO", Figure::MeanUs), value(&made, "FIFO", Figure::MessagesPerSecond));
    assert!(close(mean * rate, 1e6), "{mean} {rate}");
}

#[test]
fn blocks_are_scaled_to_the_total() {
    let replay = qiita().replay();
    let pipe = replay.rows_of(32 << 10).next().unwrap();
    let (ms, rate) =
        (pipe.measured[&Figure::TotalMs].value, pipe.measured[&Figure::GigabytesPerSecond].value);
    assert!(close(ms * rate, (1 << 30) as f64 / 1e6), "{ms} ms, {rate} GB/s");
}

#[test]
fn ratios_are_to_the_fastest_of_then() {
    let replay = ka2yan().replay();
    let ratios = |name| (row(&replay, name).ratio_then.unwrap(), row(&replay, name).ratio_now);
    assert_eq!(ratios("POSIX message queue"), (1.0, Some(1.0)));
    let (then, now) = ratios("FIFO");
    assert!(close(then, 8.272 / 6.935) && close(now.unwrap(), 3150.0 / 3600.0));
    assert_eq!(ratios("device driver (read, write)").1, None);
    // The larger one of two rates is faster.
    let replay = racehorse().replay();
    assert!(row(&replay, "TCP sockets").ratio_then.unwrap() > 70.0);
    assert_eq!(row(&replay, "memory-mapped file").ratio_then, Some(1.0));
}

#[test]
fn what_is_missing_says_why() {
    let replay = ka2yan().replay();
    let status = |name| (row(&replay, name).status, row(&replay, name).reason.clone().unwrap_or_default());
    let unavailable = ReplayStatus::Unavailable;
    let tried = "the kernel module furlong is not loaded".to_owned();
    assert_eq!(status("device driver (shared memory)"), (unavailable, tried));
    let stated = racehorse().replay();
    let stated = stated.rows.iter().find(|row| row.mechanism.starts_with("ZeroMQ")).unwrap();
    let of_experiment = stated.reason.as_deref().unwrap();
    assert!(
        stated.status == unavailable && of_experiment != "this run has no trial of it",
        "{of_experiment}"
    );
    let none = ReplayBuilder::published("csdn-ipc-ranking").replay();
    let not_tried = |row: &ReplayRow| row.reason.as_deref() == Some("this run has no trial of it");
    let not_installed =
        |row: &ReplayRow| row.reason.as_ref().is_some_and(|why| why.contains("furlong adapter install"));
    assert_eq!(none.rows.iter().filter(|row| not_installed(row)).count(), 3);
    assert!(none.rows.iter().all(|row| not_tried(row) || not_installed(row)));
    assert!(none.claims.iter().all(|claim| claim.status == ClaimStatus::NotTested));
}

#[test]
fn failures_and_void_figures_have_no_speed() {
    let lost = ka2yan().failed("FIFO", 128, Fault::Lost).replay();
    assert_eq!(row(&lost, "FIFO").status, ReplayStatus::Failed);
    assert!(lost.found_corruption() && row(&lost, "FIFO").measured.is_empty());
    let silent = ka2yan().failed("FIFO", 128, Fault::Silent).replay();
    assert_eq!(row(&silent, "FIFO").status, ReplayStatus::Measured);
    assert!(row(&silent, "FIFO").reason.as_deref().unwrap().contains("it was made to"));
    let mut records = ka2yan().records();
    for record in &mut records {
        if let Record::Trial(trial) = record
            && let furlong_model::Outcome::Measured(measured) = &mut trial.outcome
        {
            measured.verified_messages = 0;
        }
    }
    let void = replay(&DecodedRun::of(&Run::from_records(records).unwrap())).unwrap();
    assert_eq!(row(&void, "FIFO").status, ReplayStatus::Void);
    assert!(!row(&void, "FIFO").verified);
}

/// Checks that the queue, which was the fastest, is slower than the FIFO.
fn assert_beaten(replay: &Replay) {
    let was = &replay.fastest[0];
    let RankChange::Beaten { by, times } = &was.became else { panic!("{was:?}") };
    assert_eq!((was.mechanism.as_str(), by.as_str()), ("POSIX message queue", "FIFO"));
    assert!(close(*times, 3600.0 / 3150.0), "{times}");
}

#[test]
fn a_reversed_order_is_told_with_its_ratio() {
    let replay = ka2yan().replay();
    assert_beaten(&replay);
    let pairs = replay.pairs;
    assert_eq!((pairs.kept, pairs.reversed, pairs.untold, pairs.untested), (2, 1, 0, 7));
    let expected = [ClaimStatus::Falls, ClaimStatus::NotTested, ClaimStatus::NotTested, ClaimStatus::Holds];
    assert_eq!(statuses(&replay), expected);
}

#[test]
fn ties_are_never_called_faster() {
    let replay = three([Some(1.0), Some(1.001), Some(3.0)]);
    assert_eq!(replay.fastest[0].became, RankChange::Untold { tied_with: vec!["b".to_owned()] });
    assert_eq!((replay.pairs.kept, replay.pairs.untold), (2, 1));
    assert_eq!(statuses(&replay), [ClaimStatus::CannotBeTold, ClaimStatus::Holds, ClaimStatus::Falls]);
}

#[test]
fn the_one_that_beats_is_one_that_does_so_for_sure() {
    let mut run = Run::from_records(ka2yan().records()).unwrap();
    let last = run.trials.iter_mut().rfind(|trial| trial.case.mechanism.starts_with("unix")).unwrap();
    let case = last.case.clone();
    // A socket with the smallest median, and an interval from the fastest to the slowest.
    let times = [1000.0, 1100.0, 1200.0, 1300.0, 9000.0, 9000.0, 9000.0];
    let mut times = times.into_iter();
    for trial in run.trials.iter_mut().filter(|trial| trial.case == case) {
        let measured = fixture::measurement(&case, times.next().unwrap(), 0);
        trial.outcome = furlong_model::Outcome::Measured(measured);
    }
    let replay = replay(&DecodedRun::of(&run)).unwrap();
    assert_beaten(&replay);
    let claim = &replay.claims[0];
    assert!(matches!(&claim.reason, ClaimReason::AgainstNext { next, .. } if next == "FIFO"), "{claim:?}");
    assert!(close(claim.ratio_now.unwrap(), 3150.0 / 3600.0), "{claim:?}");
}

#[test]
fn claims_hold_fall_or_are_left_open() {
    use ClaimStatus::{CannotBeTold, Falls, Holds, HoldsInDirection, NotTested};
    let same = three([Some(1.0), Some(2.0), Some(2.1)]);
    assert_eq!(statuses(&same), [Holds, Holds, Holds]);
    let RankChange::Still { next, times } = &same.fastest[0].became else { panic!("{:?}", same.fastest) };
    assert!(next == "b" && close(*times, 2.0), "{:?}", same.fastest);
    assert_eq!(statuses(&three([Some(2.0), Some(1.0), Some(1.5)])), [Falls, Falls, Falls]);
    // The claim is a factor of 2. A factor of 3.9 is within it, 9 is far beyond it.
    assert_eq!(statuses(&three([Some(1.0), Some(2.0), Some(3.9)]))[1], Holds);
    assert_eq!(statuses(&three([Some(1.0), Some(2.0), Some(9.0)]))[1], HoldsInDirection);
    // Ratio at the limit of the claim.
    assert_eq!(statuses(&three([Some(1.0), Some(1.667), Some(2.0)])), [Holds, CannotBeTold, CannotBeTold]);
    let missing = three([Some(1.0), None, Some(3.0)]);
    assert_eq!(statuses(&missing), [Holds, Holds, NotTested]);
    let next = ClaimReason::AgainstNext { next: "c".to_owned(), missing: vec!["b".to_owned()] };
    assert_eq!(missing.claims[0].reason, next);
    let alone = three([None, Some(1.0), None]);
    assert_eq!(statuses(&alone), [NotTested, NotTested, NotTested]);
    assert_eq!(alone.fastest[0].became, RankChange::NotMeasured);
    assert_eq!((alone.pairs.tested(), alone.pairs.untested), (0, 3));
    assert_eq!(alone.claims[0].reason, ClaimReason::NoFigure { of: vec!["a".to_owned()] });
}

#[test]
fn few_trials_tell_nothing() {
    let records = ka2yan().records();
    let is_late = |record: &Record| matches!(record, Record::Trial(trial) if trial.number > 1);
    let few = records.into_iter().filter(|record| !is_late(record));
    let replay = replay(&DecodedRun::of(&Run::from_records(few).unwrap())).unwrap();
    assert_eq!(row(&replay, "FIFO").measured[&Figure::RealS].ci95, None);
    // Missing evidence is not a tie.
    assert_eq!((replay.pairs.no_interval, replay.pairs.tested()), (3, 0));
    assert_eq!(replay.fastest[0].became, RankChange::NoInterval);
    assert!(replay.claims.iter().all(|claim| claim.status == ClaimStatus::NotTested), "{:?}", replay.claims);
}

#[test]
fn best_sizes_are_told_with_their_ties() {
    let replay = qiita().replay();
    let best = |name: &str| replay.best_sizes.iter().find(|best| best.mechanism == name).unwrap();
    let pipe = best("console + pipe");
    assert_eq!((pipe.then.as_slice(), pipe.now.as_ref().unwrap().size_bytes), (&[256 << 10][..], 128 << 10));
    let shared = best("console + shm").now.as_ref().unwrap();
    assert_eq!((shared.size_bytes, shared.tied_with.as_slice()), (512 << 10, &[1 << 20][..]));
    assert_eq!(best("windows + pipe").now, None);
    use ClaimStatus::{CannotBeTold, Falls, Holds};
    assert_eq!(statuses(&replay), [Falls, CannotBeTold, Falls, Holds]);
    assert!(ReplayBuilder::published("racehorse").replay().best_sizes.is_empty());
}

#[test]
fn one_way_messages_have_rates() {
    let text = "name = \"stream\"\ntitle = \"t\"\n[measure]\nkind = \"one-way\"\nsizes = [\"4KiB\"]\ntotal = \"1GiB\"\n\
                order_by = \"gigabytes_per_second\"\n[[row]]\nname = \"a\"\nrow = \"pipe/block\"\n";
    let made = ReplayBuilder::of(read_experiment(text, "stream.toml").unwrap()).row("a", 4096, 2000.0);
    let rate = value(&made.replay(), "a", Figure::GigabytesPerSecond);
    assert!(rate > 1.9 && rate < 2.1, "{rate}");
}

#[test]
fn rows_that_were_added_are_named_apart() {
    let added = &itmedia().replay().faster_added;
    assert!(added.len() == 1 && added[0].mechanisms.last().unwrap() == "huge pages", "{added:?}");
    assert_eq!(racehorse().replay().faster_added, []);
}

#[test]
fn starts_are_first_and_later() {
    let replay = qiita().replay();
    let spawn = &replay.starts[0];
    assert_eq!((spawn.first_ms_then, spawn.first_ms.unwrap().value), (Some(17.0), 1.2));
    assert!(close(spawn.later_ms.unwrap().value, 0.61) && spawn.later_ms.unwrap().ci95.is_some());
    assert!(replay.starts[1].reason.as_deref().unwrap().contains("no subsystems"));
    let no_exec = &replay.starts[4];
    assert_eq!((no_exec.first_ms, no_exec.reason.as_deref()), (None, Some("this run did not measure it")));
}

#[test]
fn a_notification_has_its_own_size() {
    let replay = racehorse().replay();
    let signals: Vec<_> = replay.rows.iter().filter(|row| row.mechanism == "UNIX signals").collect();
    assert_eq!(signals.len(), 2);
    assert!(signals.iter().all(|row| row.carried_bytes == 4 && row.status == ReplayStatus::Measured));
    assert_eq!(signals[0].measured, signals[1].measured);
}

#[test]
fn a_region_has_first_touch_and_steady_apart() {
    let replay = itmedia().replay();
    assert!(close(value(&replay, "tmpfs file", Figure::FirstTouchMs), 145.0));
    assert!(close(value(&replay, "tmpfs file", Figure::SteadyMs), 92.0));
    assert!(close(value(&replay, "tmpfs file", Figure::RealS), 0.145 + 9.0 * 0.092));
    assert_eq!(value(&replay, "tmpfs file", Figure::ForcedSwitches), 40.0);
    let disk = row(&replay, "UFS file on disk");
    assert_eq!(disk.in_effect.as_deref(), Some("ext4 on /dev/vda1"));
    assert_eq!((disk.system_calls_published["mmap"], disk.system_calls.as_ref().unwrap()["mmap"]), (8, 8));
    assert_eq!(row(&replay, "UFS on memory disk (malloc)").status, ReplayStatus::Unavailable);
    use ClaimStatus::{CannotBeTold, Falls, Holds, NotTested};
    assert_eq!(statuses(&replay), [Falls, CannotBeTold, Holds, NotTested]);
}

#[test]
fn regions_that_cannot_be_true_have_no_speed() {
    let status = |change: &dyn Fn(&mut furlong_model::HandoverMeasurement)| {
        let made = ReplayBuilder::published("itmedia-mmap-100mb");
        let mut measured = made.handed_over(Backing::Tmpfs, 145.0, 92.0);
        change(&mut measured);
        let replay = made.region_trial(Backing::Tmpfs, 0, HandoverOutcome::Measured(measured)).replay();
        (row(&replay, "tmpfs file").status, row(&replay, "tmpfs file").reason.clone().unwrap_or_default())
    };
    assert_eq!(status(&|_| {}), (ReplayStatus::Measured, String::new()));
    let void = |change: &dyn Fn(&mut furlong_model::HandoverMeasurement), law: &str| {
        let (status, reason) = status(change);
        assert!(status == ReplayStatus::Void && reason.starts_with(law), "{status:?} {reason}");
    };
    void(&|measured| measured.verified_bytes /= 2, "verified: trial 1: ");
    void(&|measured| measured.elapsed_ns = 0, "complete-record: trial 1: ");
    void(&|measured| measured.repetitions.truncate(3), "complete-record");
    void(&|measured| measured.roles.clear(), "complete-record");
    void(&|measured| measured.roles[0].round_trips = 0, "complete-record");
    void(&|measured| measured.roles[1].processor = 0, "placement");
}

#[test]
fn regions_that_failed_are_judged_as_messages_are() {
    let with = |made: ReplayBuilder, fault| {
        made.region_trial(Backing::Tmpfs, 8, HandoverOutcome::Failed(failure(fault)))
    };
    let flipped = with(itmedia(), Fault::Flipped).replay();
    assert!(flipped.found_corruption());
    assert_eq!(row(&flipped, "tmpfs file").status, ReplayStatus::Failed);
    let killed = with(itmedia(), Fault::Killed).replay();
    assert_eq!(row(&killed, "tmpfs file").status, ReplayStatus::Measured);
    assert!(row(&killed, "tmpfs file").reason.is_some() && !killed.found_corruption());
    let alone = with(ReplayBuilder::published("itmedia-mmap-100mb"), Fault::Killed).replay();
    assert_eq!(row(&alone, "tmpfs file").status, ReplayStatus::Failed);
}

#[test]
fn a_replay_is_the_same_every_time() {
    for made in
        [experiments::ka2yan(), experiments::itmedia(), experiments::qiita(), experiments::racehorse()]
    {
        assert_eq!(made.clone().replay(), made.replay());
    }
}

/// Claims of meaning about a row that is measured and about one without a mechanism.
const MEANINGS: &str = r#"name = "meanings"
title = "t"
[measure]
kind = "round-trip"
sizes = ["128"]
count = 1000
order_by = "mean_us"
[[row]]
name = "pipe"
row = "pipe/block"
[[row]]
name = "driver"
missing = "its module is not loaded here"
[[claim]]
text = "merges"
meaning = "keeps-boundaries"
of = "pipe"
holds = false
[[claim]]
text = "keeps"
meaning = "keeps-boundaries"
of = "pipe"
[[claim]]
text = "survives"
meaning = "survives-reboot"
of = "pipe"
[[claim]]
text = "persists"
meaning = "persists"
of = "driver"
"#;

#[test]
fn claims_of_meaning_are_judged_by_their_evidence() {
    let merged = Evidence::Lengths { sent: vec![5, 5], received: vec![10] };
    let made = || ReplayBuilder::of(read_experiment(MEANINGS, "meanings.toml").unwrap());
    let replay = made().meaning(0, Ok(merged.clone())).meaning(2, Err("a reboot")).replay();
    let expected = [ClaimStatus::Holds, ClaimStatus::Falls, ClaimStatus::NotTested, ClaimStatus::NotTested];
    assert_eq!(statuses(&replay), expected, "{:#?}", replay.claims);
    let reason = ClaimReason::Evidence { meaning: Meaning::KeepsBoundaries, evidence: merged };
    assert_eq!(replay.claims[1].reason, reason);
    assert_eq!(replay.claims[2].reason, ClaimReason::NotTestable { why: "a reboot".to_owned() });
    assert_eq!(replay.claims[3].reason, ClaimReason::NoFigure { of: vec!["driver".to_owned()] });
    assert_eq!(statuses(&made().replay()), [ClaimStatus::NotTested; 4], "a run without probes");
}

#[test]
fn a_claim_that_proxies_decide_names_them() {
    let made = |name: &str| ReplayBuilder::published(name).row("TCP", 64, 20_000.0);
    let replay = made("redis-uds").row("UNIX domain socket", 64, 9000.0).replay();
    let [torusware, redis, pipelines] = &replay.claims[..] else { panic!("{:?}", replay.claims) };
    let proxies = ["a round trip over TCP, without Redis", "a round trip over the socket, without Redis"];
    assert_eq!(
        (&torusware.proxies[..], &redis.proxies[..]),
        (&proxies.map(str::to_owned)[..], &torusware.proxies[..])
    );
    assert!(pipelines.status == ClaimStatus::NotTested && pipelines.proxies.is_empty(), "{pipelines:?}");
    assert!(ka2yan().replay().claims.iter().all(|claim| claim.proxies.is_empty()));
}

#[test]
fn wide_intervals_are_those_of_the_figure_that_is_shown() {
    let mut records = ka2yan().records();
    for record in &mut records {
        match record {
            Record::Experiment(experiment) => experiment.measure.order_by = Figure::UserS,
            // The times of round trips stay. The CPU times, which decide, differ by up to a factor of seven.
            Record::Trial(trial) => {
                if let furlong_model::Outcome::Measured(measured) = &mut trial.outcome {
                    let divisor = 1 + u64::from(trial.number) % 7;
                    measured.roles.iter_mut().for_each(|role| role.user_ns /= divisor);
                }
            }
            _ => {}
        }
    }
    let run = Run::from_records(records).unwrap();
    let decoded = DecodedRun::of(&run);
    let replay = replay(&decoded).unwrap();
    let shown = replay.rows.iter().filter(|row| row.has_interval(Figure::UserS)).count();
    assert!(shown > 2);
    let wide = |reasons: &[Disturbance]| {
        let count = |reason: &Disturbance| match reason {
            Disturbance::WideIntervals { wide, rows, .. } => Some((*wide, *rows)),
            _ => None,
        };
        reasons.iter().find_map(count)
    };
    assert_eq!(wide(&replay.run.noise.reasons), Some((shown, shown)));
    assert_eq!(wide(&decoded.summary.run.noise.reasons), None);
}
