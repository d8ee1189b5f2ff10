//! Factors outside the model, if a benchmark shows them.

use crate::{Row, checks::on_two_processors};
use furlong_model::WaitKind;
use serde::Serialize;

/// Minimum error that exceeds the error of the costs.
pub(crate) const FAR: f64 = 0.2;

/// Factor outside the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOut {
    /// The two roles work in parallel.
    Overlap,
    /// An unknown cost: buffers that one core frees and the other allocates, or a cold cache.
    BuffersOrColdCache,
    /// An unknown cost, such as a cold cache.
    ColdCache,
    /// Parts that are added up partly run in parallel, in a program with its own loop.
    AtTheSameTime,
}

/// Returns the factor that fits the error of the explanation. `error` is explained divided by measured, less 1. Returns
/// `None` if the explanation is close enough or no factor fits.
pub(crate) fn left_out(row: &Row, error: f64) -> Option<LeftOut> {
    let on_two_cores = on_two_processors(row.case.placement);
    let sleeps = row.case.wait.kind() == WaitKind::Sleeping;
    if row.has_own_loop() {
        let explained_ns = row.exchange.ns.p50 * (1.0 + error);
        let is_above = row.exchange.ns.median_ci95.is_some_and(|[_, high]| explained_ns > high);
        return is_above.then_some(LeftOut::AtTheSameTime);
    }
    if error > FAR && on_two_cores && sleeps {
        Some(LeftOut::Overlap)
    } else if error < -FAR && on_two_cores {
        Some(LeftOut::BuffersOrColdCache)
    } else if error < -FAR {
        Some(LeftOut::ColdCache)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::row;
    use furlong_model::{Family, Placement, Wait};

    fn found(wait: Wait, placement: Placement, error: f64) -> Option<LeftOut> {
        left_out(&row("pipe", wait, placement, 5000.0), error)
    }

    #[test]
    fn separate_loop_reports_everything_above_its_interval() {
        let found = |wait, error| {
            let mut row = row("pipe", wait, Placement::OtherCore, 5000.0);
            row.family = Some(Family::Adapter);
            left_out(&row, error)
        };
        // The interval is 1 %.
        assert_eq!(found(Wait::Block, 0.05), Some(LeftOut::AtTheSameTime));
        assert_eq!(found(Wait::Spin, 0.05), Some(LeftOut::AtTheSameTime));
        assert_eq!(found(Wait::Block, 0.001), None);
        assert_eq!(found(Wait::Block, -0.7), None);
    }

    #[test]
    fn what_fits_is_found() {
        use Placement::{OtherCore, SameCore};
        assert_eq!(found(Wait::Block, OtherCore, 0.21), Some(LeftOut::Overlap));
        assert_eq!(found(Wait::Block, OtherCore, -0.21), Some(LeftOut::BuffersOrColdCache));
        assert_eq!(found(Wait::Spin, OtherCore, -0.5), Some(LeftOut::BuffersOrColdCache));
        assert_eq!(found(Wait::Block, SameCore, -0.5), Some(LeftOut::ColdCache));
        for (wait, placement, error) in
            [(Wait::Block, OtherCore, 0.2), (Wait::Spin, OtherCore, 0.5), (Wait::Block, SameCore, 0.5)]
        {
            assert_eq!(found(wait, placement, error), None);
        }
    }
}
