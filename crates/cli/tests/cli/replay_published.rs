//! Five of the published experiments, shortened as far as possible: every row is measured, or reports why it cannot be.

use crate::common::Place;
use crate::common::Snapshot;
use crate::common::experiment::is_void;
use furlong_analysis::{Replay, ReplayStatus};
use std::path::Path;
use std::time::{Duration, Instant};

/// Replays one trial, or three if a row is void, because a stall of the machine may break a law in any trial.
fn replay(name: &str, options: &[&str]) -> Replay {
    let (before, place) = (Snapshot::take(), Place::new());
    let begin = Instant::now();
    let run = |trials: &'static str| {
        let words = ["replay", name, "--format", "json", "--no-save", "--trials", trials];
        let mut command = place.furlong(words.iter().chain(options).copied());
        let finished = place.start(&mut command).finish_within(Duration::from_secs(180)).expect_no_panic();
        (finished.replay(), finished)
    };
    let (mut replay, mut finished) = run("1");
    if replay.rows.iter().any(is_void) {
        eprintln!("tried again, because a row is void: {:#?}", replay.rows.iter().find(|row| is_void(row)));
        (replay, finished) = run("3");
    }
    before.expect_nothing_left(&place);
    eprintln!("{name}: {:.1} s", begin.elapsed().as_secs_f64());
    assert_eq!((replay.experiment.as_str(), finished.code), (name, Some(0)), "{finished:#?}");
    replay
}

/// Fails unless every row is verified or reports why it was not measured. Returns the number of measured rows.
#[track_caller]
fn measured(replay: &Replay) -> usize {
    for row in &replay.rows {
        match row.status {
            ReplayStatus::Measured => assert!(row.verified && row.reason.is_none(), "{row:#?}"),
            ReplayStatus::Unavailable | ReplayStatus::Refused => {
                assert!(row.reason.as_ref().is_some_and(|reason| !reason.is_empty()), "{row:#?}");
                assert_ne!(row.reason.as_deref(), Some("this run has no trial of it"), "{row:#?}");
            }
            ReplayStatus::Failed | ReplayStatus::Void => panic!("{row:#?}"),
        }
    }
    assert!(!furlong_render::replay_verdict(replay).is_empty() && !replay.run.partial, "{replay:#?}");
    replay.rows.iter().filter(|row| row.status == ReplayStatus::Measured).count()
}

#[test]
fn a_device_driver_against_the_posix_mechanisms() {
    let replay = replay("ka2yan-2008", &[]);
    let (sound, loaded) = (measured(&replay), Path::new("/sys/module/furlong").exists());
    assert_eq!((sound, replay.rows.len()), (if loaded { 5 } else { 3 }, 5), "{:#?}", replay.rows);
    for row in replay.rows[..2].iter().filter(|_| !loaded) {
        let [reason, remedy] = [&row.reason, &row.remedy].map(|text| text.as_deref().unwrap_or_default());
        assert!(reason.contains("not loaded") && remedy.contains("furlong driver install"), "{row:#?}");
    }
}

#[test]
fn ping_pong_over_nine_mechanisms() {
    let replay = replay("racehorse", &[]);
    assert_eq!((measured(&replay), replay.rows.len()), (16, 20), "{:#?}", replay.rows);
    let zeromq = |name: &str| name.starts_with("ZeroMQ");
    assert!(replay.rows.iter().all(|row| zeromq(&row.mechanism) != row.verified), "{:#?}", replay.rows);
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn five_mechanisms_and_advice() {
        let replay = replay("csdn-ipc-ranking", &[]);
        // The libraries in it are measured through adapters, and none is installed.
        assert_eq!((measured(&replay), replay.rows.len()), (7, 10), "{:#?}", replay.rows);
    }

    #[test]
    #[ignore = "slow"]
    fn anonymous_pipe_or_shared_memory() {
        let replay = replay("qiita-windows-blocks", &["--total", "1MiB"]);
        assert_eq!(replay.rows.len(), 18 * 11);
        // The limits of the machine determine which blocks are too large for queues and packets.
        assert!(measured(&replay) >= 13 * 11, "{:#?}", replay.rows);
        let windows = |name: &str| name.starts_with("windows");
        assert!(
            replay.rows.iter().all(|row| !windows(&row.mechanism) || row.row.is_none()),
            "{:#?}",
            replay.rows
        );
        assert_eq!(
            replay.starts.iter().filter(|start| start.first_ms.is_some()).count(),
            4,
            "{:#?}",
            replay.starts
        );
    }

    #[test]
    #[ignore = "slow"]
    fn what_backs_a_mapping() {
        let replay = replay("itmedia-mmap-100mb", &["--touch", "line"]);
        assert_eq!(replay.rows.len(), 7);
        // The other backings need rights.
        assert!(measured(&replay) >= 4, "{:#?}", replay.rows);
        let counted = |row: &&furlong_analysis::ReplayRow| row.system_calls.is_some();
        assert_eq!(replay.rows.iter().filter(counted).count(), measured(&replay), "{:#?}", replay.rows);
    }
}
