//! Questions that several publications answer: which of two mechanisms is faster, and the axis that explains different answers.

use super::setting::{MeasuredSetting, Setting};
use crate::{Replay, ReplayRow};
use furlong_model::{Pattern, Work, named_enum};
use furlong_stats::{distinct, sort_by_key};
use serde::Serialize;
use std::cmp::Ordering;

/// Least ratio of two published figures that is an answer.
const LEAST_ANSWER: f64 = 1.05;

/// Which of two mechanisms is faster, in publications and here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// The two mechanisms.
    pub mechanisms: [String; 2],
    /// Published ratios of each experiment.
    pub published: Vec<PublishedAnswer>,
    /// Whether publications differ in the faster mechanism.
    pub is_contradictory: bool,
    /// Numbers of comparisons here in which the first mechanism is faster, the second is faster, and neither is.
    pub here: [usize; 3],
    /// Axes along which the faster mechanism changes here, the one with the most changes first.
    pub explained_by: Vec<ExplainingAxis>,
}

/// Published ratios of two mechanisms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedAnswer {
    /// Name of the experiment.
    pub experiment: String,
    /// Smallest and largest ratio over its sizes. Above 1, the first mechanism is faster.
    pub ratios: [f64; 2],
}

impl PublishedAnswer {
    /// Returns whether each mechanism is faster at a size.
    pub fn favours(&self) -> [bool; 2] {
        let [least, most] = self.ratios;
        [most > LEAST_ANSWER, least < 1.0 / LEAST_ANSWER]
    }
}

/// An axis along which the faster mechanism changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainingAxis {
    /// The axis.
    pub axis: Axis,
    /// Number of pairs of comparisons that differ in nothing else and have different answers.
    pub changes: usize,
}

named_enum! {
    /// An axis of comparisons.
    Axis, "axis" {
        /// The size of a message.
        Size = "message size",
        /// The placement of the processes.
        Placement = "placement",
        /// The wait strategy.
        Wait = "wait strategy",
        /// The pattern of the exchange.
        Pattern = "pattern",
    }
}

/// One comparison of two mechanisms here, with a significant answer or none.
struct Comparison<'a> {
    experiment: &'a str,
    pattern: Option<Pattern>,
    setting: Setting,
    size_bytes: usize,
    faster: Option<Ordering>,
}

/// Returns the questions with at least two publications, those with contradictory answers first.
pub(super) fn all(measured: &[MeasuredSetting]) -> Vec<Question> {
    let published = || measured.iter().filter(|replayed| replayed.setting == Setting::Published);
    let pairs = published().flat_map(|replayed| pairs_of(&replayed.replay));
    let mut questions: Vec<_> = distinct(pairs)
        .into_iter()
        .map(|mechanisms| question(mechanisms, measured))
        .filter(|question| question.published.len() > 1)
        .collect();
    sort_by_key(&mut questions, |question| {
        (!question.is_contradictory, usize::MAX - question.published.len())
    });
    questions
}

/// Returns the mechanism of a row, without its wait strategy.
fn mechanism(row: &ReplayRow) -> Option<&str> {
    row.row.as_deref()?.split('/').next()
}

fn pairs_of(replay: &Replay) -> Vec<[String; 2]> {
    let figure = replay.measure.order_by;
    let with_figure = || replay.rows.iter().filter(|row| row.then(figure).is_some());
    let pairs = with_figure().flat_map(|row| with_figure().map(move |other| (row, other)));
    let named = pairs.filter(|(row, other)| row.size_bytes == other.size_bytes).filter_map(|(row, other)| {
        let [one, two] = [mechanism(row)?, mechanism(other)?];
        (one < two).then(|| [one.to_owned(), two.to_owned()])
    });
    distinct(named)
}

fn question(mechanisms: [String; 2], measured: &[MeasuredSetting]) -> Question {
    let published = measured.iter().filter(|replayed| replayed.setting == Setting::Published);
    let published: Vec<_> = published.filter_map(|replayed| answer(&mechanisms, &replayed.replay)).collect();
    let is_contradictory =
        (0..2).all(|place| published.iter().any(|answer: &PublishedAnswer| answer.favours()[place]));
    let comparisons: Vec<_> =
        measured.iter().flat_map(|replayed| comparisons(&mechanisms, replayed)).collect();
    let count = |faster: Option<Ordering>| comparisons.iter().filter(|one| one.faster == faster).count();
    let here = [count(Some(Ordering::Greater)), count(Some(Ordering::Less)), count(None)];
    Question { explained_by: explanations(&comparisons), mechanisms, published, is_contradictory, here }
}

/// Returns the rows of both mechanisms at one size.
fn both<'a>(
    mechanisms: &[String; 2],
    replay: &'a Replay,
    size_bytes: usize,
) -> Vec<(&'a ReplayRow, &'a ReplayRow)> {
    let of = |name: &str| -> Vec<&ReplayRow> {
        replay.rows_of(size_bytes).filter(|row| mechanism(row) == Some(name)).collect()
    };
    let [first, second] = [of(&mechanisms[0]), of(&mechanisms[1])];
    first.iter().flat_map(|row| second.iter().map(move |other| (*row, *other))).collect()
}

fn answer(mechanisms: &[String; 2], replay: &Replay) -> Option<PublishedAnswer> {
    let figure = replay.measure.order_by;
    let pairs = replay.measure.sizes_bytes.iter().flat_map(|size| both(mechanisms, replay, *size));
    let ratios: Vec<_> = pairs.filter_map(|(row, other)| row.times_as_fast_as_then(other, figure)).collect();
    let least = ratios.iter().copied().reduce(f64::min)?;
    let most = ratios.iter().copied().reduce(f64::max)?;
    Some(PublishedAnswer { experiment: replay.experiment.clone(), ratios: [least, most] })
}

fn comparisons<'a>(mechanisms: &[String; 2], replayed: &'a MeasuredSetting) -> Vec<Comparison<'a>> {
    let replay = &replayed.replay;
    let figure = replay.measure.order_by;
    let pattern = match &replay.measure.work {
        Work::Exchange(exchange) => Some(exchange.pattern),
        Work::Handover { .. } => None,
    };
    let compared = |size_bytes: usize| {
        both(mechanisms, replay, size_bytes).into_iter().filter_map(move |(row, other)| {
            let ratio = row.times_as_fast_as(other, figure).filter(|ratio| ratio.ends.is_some())?;
            Some(Comparison {
                experiment: &replay.experiment,
                pattern,
                setting: replayed.setting,
                size_bytes,
                faster: ratio.against(1.0),
            })
        })
    };
    replay.measure.sizes_bytes.iter().flat_map(|size| compared(*size)).collect()
}

fn explanations(comparisons: &[Comparison]) -> Vec<ExplainingAxis> {
    let changes = |axis: Axis| {
        let opposite = |one: &Comparison, other: &Comparison| {
            one.faster == Some(Ordering::Greater) && other.faster == Some(Ordering::Less)
        };
        let pairs = comparisons.iter().flat_map(|one| comparisons.iter().map(move |other| (one, other)));
        pairs.filter(|(one, other)| opposite(one, other) && differ_in(one, other, axis)).count()
    };
    let found = Axis::ALL.into_iter().map(|axis| ExplainingAxis { axis, changes: changes(axis) });
    let mut found: Vec<_> = found.filter(|explanation| explanation.changes > 0).collect();
    sort_by_key(&mut found, |explanation| usize::MAX - explanation.changes);
    found
}

/// Returns whether two comparisons differ in this axis and in no other.
fn differ_in(one: &Comparison, other: &Comparison, axis: Axis) -> bool {
    let is_place = |setting: Setting| setting == Setting::OtherPlace;
    let (size, setting) = (one.size_bytes != other.size_bytes, one.setting != other.setting);
    let (experiment, pattern) = (one.experiment != other.experiment, one.pattern != other.pattern);
    let place = setting && (is_place(one.setting) || is_place(other.setting));
    match axis {
        Axis::Size => size && !setting && !experiment,
        Axis::Placement => {
            let is_published = |setting: Setting| setting == Setting::Published;
            place && (is_published(one.setting) || is_published(other.setting)) && !size && !experiment
        }
        Axis::Wait => setting && !place && !size && !experiment,
        Axis::Pattern => pattern && experiment && !size && !setting,
    }
}
