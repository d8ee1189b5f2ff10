//! Tests of the atlas: contradictions, agreements, and settings.

use super::*;
use crate::fixture::replay::ReplayBuilder;
use crate::read_experiment;
use furlong_model::{Experiment, Placement, Target, Wait, WaitKind};

/// Returns an experiment whose pipe takes `pipe_us` and whose UNIX socket takes 10 us.
fn experiment(name: &str, pipe_us: f64) -> Experiment {
    let text = format!(
        "name = \"{name}\"\ntitle = \"t\"\n[measure]\nkind = \"round-trip\"\nsizes = [\"128\"]\ncount = 1000\n\
         order_by = \"mean_us\"\n[[row]]\nname = \"pipe\"\nrow = \"pipe/block\"\npublished = [{{ mean_us = {pipe_us} }}]\n\
         [[row]]\nname = \"socket\"\nrow = \"unix-stream/block\"\npublished = [{{ mean_us = 10 }}]\n[[claim]]\n\
         text = \"The pipe is faster.\"\nfaster = \"pipe\"\nthan = \"socket\"\n"
    );
    read_experiment(&text, "test.toml").unwrap()
}

fn wait(mechanism: &str, kind: WaitKind) -> Option<Wait> {
    match kind {
        WaitKind::Spinning if mechanism == "pipe" || mechanism == "unix-stream" => Some(Wait::Spin),
        WaitKind::Sleeping => Some(Wait::Block),
        _ => None,
    }
}

/// Returns a replay in a setting in which the pipe takes `pipe_us` and the socket 10 us.
fn measured(published: &Experiment, setting: Setting, pipe_us: f64) -> MeasuredSetting {
    let experiment = setting.apply(published, wait).unwrap();
    let made = ReplayBuilder::of(experiment);
    let replay = made.row("pipe", 128, pipe_us * 1e3).row("socket", 128, 10_000.0).replay();
    MeasuredSetting { setting, replay }
}

#[test]
fn the_axis_that_alone_changes_the_faster_one_explains() {
    let (one, other) = (experiment("one", 5.0), experiment("other", 20.0));
    let all = [
        measured(&one, Setting::Published, 5.0),
        measured(&other, Setting::Published, 5.0),
        measured(&one, Setting::OtherPlace, 20.0),
        measured(&one, Setting::BusyWaiting, 5.0),
    ];
    let atlas = atlas(&all, 3);
    let [question] = atlas.questions.as_slice() else { panic!("{:#?}", atlas.questions) };
    assert!(question.is_contradictory && question.published.len() == 2, "{question:#?}");
    assert_eq!(question.mechanisms, ["pipe", "unix-stream"]);
    assert_eq!(question.here, [3, 1, 0]);
    assert_eq!(question.explained_by, [ExplainingAxis { axis: Axis::Placement, changes: 1 }]);
    let claim = &atlas.claims[0];
    let counts: Vec<_> =
        claim.results.iter().map(|result| (result.setting, result.holds, result.falls)).collect();
    let expected = [(Setting::Published, 1, 0), (Setting::OtherPlace, 0, 1), (Setting::BusyWaiting, 1, 0)];
    assert_eq!(counts, expected);
}

#[test]
fn publications_that_agree_need_no_explanation() {
    let (one, other) = (experiment("one", 5.0), experiment("other", 6.0));
    let all = [measured(&one, Setting::Published, 20.0), measured(&other, Setting::Published, 20.0)];
    let atlas = atlas(&all, 0);
    assert!(!atlas.questions[0].is_contradictory, "{:#?}", atlas.questions);
    assert_eq!((atlas.questions[0].here, atlas.questions[0].explained_by.len()), ([0, 2, 0], 0));
    // A question of one publication is none.
    assert!(super::atlas(&all[..1], 0).questions.is_empty());
}

#[test]
fn settings_differ_from_the_publication_or_are_left_out() {
    let published = experiment("one", 5.0);
    let place = |setting: Setting| setting.apply(&published, wait).map(|experiment| experiment.measure.place);
    assert_eq!(place(Setting::OtherPlace), Some(Placement::SameCore));
    assert_eq!(place(Setting::BusyWaiting), Some(Placement::OtherCore));
    // They sleep as published.
    assert_eq!(place(Setting::Sleeping), None);
    let busy = Setting::BusyWaiting.apply(&published, wait).unwrap();
    let is_busy =
        |target: &Option<Target>| matches!(target, Some(Target::Row(row)) if row.wait == Wait::Spin);
    assert!(busy.rows.iter().all(|row| is_busy(&row.target)), "{:#?}", busy.rows);
    // On one core, benchmarks that busy-wait are left out, and nothing remains to compare.
    assert_eq!(Setting::OtherPlace.apply(&busy, wait), None);
    let only_pipe = |mechanism: &str, kind| wait(mechanism, kind).filter(|_| mechanism == "pipe");
    assert_eq!(Setting::BusyWaiting.apply(&published, only_pipe), None);
}
