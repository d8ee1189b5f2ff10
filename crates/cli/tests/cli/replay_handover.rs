//! Replays of bulk transfers: every backing is measured and verified, or reports which right it needs.

use crate::common::experiment::{handovers, row};
use crate::common::{FinishedCommand, Place, Snapshot};
use furlong_analysis::{Replay, ReplayRow, ReplayStatus};
use furlong_model::{Backing, Figure, Touch, Work};

const REPETITIONS: u32 = 3;

/// The backings that need no right.
const FREE: [Backing; 4] = [Backing::Anonymous, Backing::Tmpfs, Backing::Memfd, Backing::Disk];

fn all_backings() -> String {
    handovers(&Backing::ALL.map(Backing::name), "256KiB", REPETITIONS, 3)
}

/// Fails unless the row has all figures of a bulk transfer.
#[track_caller]
fn expect_measured(row: &ReplayRow) {
    assert_eq!((row.status, row.verified, row.trials), (ReplayStatus::Measured, true, 3), "{row:#?}");
    let value =
        |figure: Figure| row.measured.get(&figure).unwrap_or_else(|| panic!("{figure}: {row:#?}")).value;
    let real_s = value(Figure::RealS);
    assert!(real_s > 0.0 && value(Figure::UserS) + value(Figure::SystemS) > 0.0, "{row:#?}");
    let [first, later] = [Figure::FirstTouchMs, Figure::SteadyMs].map(|figure| value(figure) / 1e3);
    // Medians of trials need not add up, but each is a part of the total.
    assert!(0.0 < first && first <= real_s * 2.0 && 0.0 < later && later <= real_s * 2.0, "{row:#?}");
    assert!(value(Figure::ForcedSwitches) >= 0.0 && value(Figure::VoluntarySwitches) >= 0.0, "{row:#?}");
}

/// Fails unless the calls of both roles were counted. Each role maps the region, unless it inherits the mapping.
#[track_caller]
fn expect_counted(row: &ReplayRow, backing: Backing) {
    let Some(calls) = &row.system_calls else { panic!("not counted: {row:#?}") };
    let maps = if backing == Backing::Anonymous { None } else { Some(&2) };
    assert_eq!((calls.get("mmap"), calls.get("munmap")), (maps, maps), "{row:#?}");
    assert!(calls.values().sum::<u64>() < 50, "no call is made while it is touched: {row:#?}");
}

/// Fails unless every row is measured or reports what it lacks, and rows that need no right are measured.
fn expect_all_or_reasons(replay: &Replay) {
    for backing in Backing::ALL {
        let row = row(replay, backing.name());
        if row.status == ReplayStatus::Measured {
            expect_measured(row);
            expect_counted(row, backing);
            continue;
        }
        assert_eq!(row.status, ReplayStatus::Unavailable, "{row:#?}");
        assert!(!FREE.contains(&backing), "{row:#?}");
        assert!(row.reason.is_some() && row.remedy.is_some() && row.measured.is_empty(), "{row:#?}");
        eprintln!("{backing}: not measured, because {}", row.reason.as_ref().unwrap());
    }
}

/// Replays all backings with this kind of access to a region.
fn replay_all(touch: &[&str], start: impl Fn(&Place, &[&str]) -> FinishedCommand) -> Replay {
    let (before, place) = (Snapshot::take(), Place::new());
    let finished = start(&place, &[touch, &["--no-save", "--no-progress"]].concat()).expect_code(0);
    before.expect_nothing_left(&place);
    let replay = finished.replay();
    expect_all_or_reasons(&replay);
    replay
}

#[test]
fn every_backing_is_measured_or_says_why_not() {
    for (words, expected) in [(&[][..], Touch::Byte), (&["--touch", "line"], Touch::Line)] {
        let replay = replay_all(words, |place, options| place.replay(&all_backings(), options));
        let Work::Handover { touch, repetitions } = replay.measure.work else { panic!("{replay:#?}") };
        assert_eq!((touch, repetitions), (expected, REPETITIONS));
        if furlong_os::identity::is_administrator() {
            // Root lacks no rights, so a missing row has another reason.
            for row in replay.rows.iter().filter(|row| row.status != ReplayStatus::Measured) {
                assert!(!row.reason.as_ref().is_some_and(|reason| reason.contains("denied")), "{row:#?}");
            }
        }
    }
}

/// Fails unless each row that needs a right reports it.
fn expect_rights(replay: &Replay) {
    for (backing, right) in
        [(Backing::RamDisk, "root"), (Backing::Loop, "root"), (Backing::HugePages, "vm.nr_")]
    {
        let row = row(replay, backing.name());
        if row.status == ReplayStatus::Measured {
            eprintln!("{backing}: this user may have it");
            continue;
        }
        let said = [&row.reason, &row.remedy].map(|words| words.clone().unwrap_or_default()).concat();
        assert!(said.contains(right), "{row:#?}");
    }
}

#[test]
fn without_rights_a_row_says_which_it_needs_and_the_others_are_measured() {
    let root = furlong_os::identity::is_administrator();
    let replay = replay_all(&[], |place, options| {
        place.write_experiment(&all_backings());
        let words = [&["replay", "./mine.toml", "--format", "json"], options].concat();
        let words = words.iter().copied();
        place.finish(&mut if root { place.furlong_as_nobody(words) } else { place.furlong(words) })
    });
    expect_rights(&replay);
    assert!(!replay.run.machine.root);
    assert!(row(&replay, "ram-disk").status != ReplayStatus::Measured, "only root makes devices");
}

#[test]
fn rights_that_are_missing_are_enough_for_those_who_require_all() {
    let place = Place::new();
    let finished = place.replay(&all_backings(), &["--no-save", "--require", "--trials", "1"]);
    let whole = finished.replay().rows.iter().all(|row| row.status == ReplayStatus::Measured);
    finished.expect_code(if whole { 0 } else { 7 });
}

#[test]
fn in_one_process_there_is_nothing_to_hand_over() {
    let place = Place::new();
    let experiment = handovers(&["memfd"], "256KiB", 1, 1);
    let finished = place.replay(&experiment, &["--no-save", "--place", "one-process"]).expect_code(7);
    let replay = finished.replay();
    let row = row(&replay, "memfd");
    assert!(row.reason.as_ref().is_some_and(|reason| reason.contains("two processes")), "{row:#?}");
}
