//! Best block size of each benchmark, if all sizes have the same total.

use super::{
    MeasuredFigure, ReplayRow,
    compare::{times_as_fast, times_as_fast_then},
};
use furlong_model::{Amount, Figure, Measure, Work};
use serde::{Deserialize, Serialize};

/// Fastest block size of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestSize {
    /// Name in the publication.
    pub mechanism: String,
    /// Measured counterpart.
    pub row: Option<String>,
    /// Sizes with the best published figure; empty without published figures.
    pub then: Vec<usize>,
    /// Fastest size now; `None` if fewer than two sizes were measured.
    pub now: Option<BestNow>,
}

/// Fastest size of a benchmark now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestNow {
    /// Size with the best median.
    pub size_bytes: usize,
    /// Figure that decides.
    pub figure: MeasuredFigure,
    /// Sizes that tie with it, because their intervals overlap.
    pub tied_with: Vec<usize>,
}

/// Returns the best size of each benchmark, or nothing if the sizes have different totals.
pub(super) fn best(rows: &[ReplayRow], measure: &Measure) -> Vec<BestSize> {
    let of_one_total =
        matches!(&measure.work, Work::Exchange(exchange) if matches!(exchange.count, Amount::Bytes(_)));
    let (figure, sizes) = (measure.order_by, &measure.sizes_bytes);
    if !of_one_total || sizes.len() < 2 {
        return Vec::new();
    }
    let first = rows.iter().filter(|row| row.size_bytes == sizes[0]);
    first
        .map(|row| {
            let alike: Vec<_> = rows.iter().filter(|other| other.mechanism == row.mechanism).collect();
            let (then, now) = (best_then(&alike, figure), best_now(&alike, figure));
            BestSize { mechanism: row.mechanism.clone(), row: row.row.clone(), then, now }
        })
        .collect()
}

fn best_then(rows: &[&ReplayRow], figure: Figure) -> Vec<usize> {
    let known: Vec<_> = rows.iter().filter_map(|row| Some((row.size_bytes, row.then(figure)?))).collect();
    let beaten = |value: f64| {
        known
            .iter()
            .any(|(_, other)| times_as_fast_then(figure, *other, value).is_some_and(|times| times > 1.0))
    };
    known.iter().filter(|(_, value)| !beaten(*value)).map(|(size, _)| *size).collect()
}

fn best_now(rows: &[&ReplayRow], figure: Figure) -> Option<BestNow> {
    let known: Vec<_> = rows.iter().filter_map(|row| Some((row.size_bytes, row.now(figure)?))).collect();
    let slowness = |value: f64| if figure.is_rate() { -value } else { value };
    let (size_bytes, best) =
        *known.iter().min_by(|a, b| slowness(a.1.value).total_cmp(&slowness(b.1.value)))?;
    let tied = |(size, other): &&(usize, MeasuredFigure)| {
        *size != size_bytes
            && times_as_fast(figure, best, *other)
                .is_some_and(|ratio| ratio.ends.is_some() && ratio.against(1.0).is_none())
    };
    let tied_with = known.iter().filter(tied).map(|(size, _)| *size).collect();
    (known.len() > 1).then_some(BestNow { size_bytes, figure: best, tied_with })
}
