//! Rows that were asked for several rates: what their messages take at each, and up to which rate that stays as it is.

use crate::{Row, Saturation, Skipped};
use furlong_model::{Arrival, Case};
use furlong_stats::{sort_by, tidy};
use serde::Serialize;

/// Beyond the knee a median is more than so many times as long as at its shortest.
const KNEE: f64 = 2.0;

/// A row at several rates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RateSweep {
    /// What was measured, at the lowest of its rates.
    #[serde(flatten)]
    pub case: Case,
    /// What came of each rate, ascending.
    pub points: Vec<RatePoint>,
    /// The highest rate up to which the median stays below twice its shortest, and no rate is too much; `None` if the lowest
    /// rate is too much.
    pub knee_per_second: Option<f64>,
}

/// A row at one rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatePoint {
    /// What was asked.
    pub asked_per_second: f64,
    /// What came of it.
    #[serde(flatten)]
    pub result: AtRate,
}

/// What comes of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtRate {
    /// The row carries it.
    Carried {
        /// The median, in nanoseconds.
        p50_ns: f64,
        /// Its interval; `None` where there are too few trials.
        median_ci95: Option<[f64; 2]>,
    },
    /// It is not known, because others took CPU time.
    Disturbed {
        /// What the row carried in place of that.
        carried_per_second: f64,
    },
    /// The row is saturated.
    Saturated {
        /// What it carried in place of that.
        carried_per_second: f64,
    },
}

impl RatePoint {
    /// The median, where the row carries the rate.
    pub fn p50_ns(&self) -> Option<f64> {
        match self.result {
            AtRate::Carried { p50_ns, .. } => Some(p50_ns),
            AtRate::Saturated { .. } | AtRate::Disturbed { .. } => None,
        }
    }
}

impl RateSweep {
    /// Those of all rows that were asked for two rates or more, in the order of the rows.
    pub(crate) fn all(rows: &[Row], skipped: &[Skipped]) -> Vec<RateSweep> {
        let carried = rows.iter().map(|row| {
            let (p50_ns, median_ci95) = (row.exchange.ns.p50, row.exchange.ns.median_ci95);
            (&row.case, AtRate::Carried { p50_ns, median_ci95 })
        });
        let saturated = skipped.iter().filter_map(|entry| {
            let Saturation { carried_per_second, lost_share, .. } = entry.saturation?;
            let result = match lost_share {
                Some(_) => AtRate::Disturbed { carried_per_second },
                None => AtRate::Saturated { carried_per_second },
            };
            Some((&entry.case, result))
        });
        let mut sweeps: Vec<RateSweep> = Vec::new();
        for (case, result) in carried.chain(saturated) {
            let Arrival::Interval(interval_ns) = case.arrival else { continue };
            let point = RatePoint { asked_per_second: tidy(1e9 / interval_ns as f64), result };
            let alike =
                |sweep: &&mut RateSweep| Case { arrival: case.arrival, ..sweep.case.clone() } == *case;
            match sweeps.iter_mut().find(alike) {
                Some(sweep) => sweep.points.push(point),
                None => {
                    let case = case.clone();
                    sweeps.push(RateSweep { case, points: vec![point], knee_per_second: None });
                }
            }
        }
        sweeps.retain(|sweep| sweep.points.len() > 1);
        sweeps.iter_mut().for_each(RateSweep::finish);
        sweeps
    }

    fn finish(&mut self) {
        sort_by(&mut self.points, |a, b| a.asked_per_second.total_cmp(&b.asked_per_second));
        let lowest = self.points[0].asked_per_second;
        self.case.arrival = Arrival::Interval((1e9 / lowest).round() as u64);
        let shortest = self.points.iter().filter_map(RatePoint::p50_ns).fold(f64::INFINITY, f64::min);
        // At a low rate a processor may have gone to sleep in between: what is long there is before the knee.
        let fastest = self.points.iter().position(|point| point.p50_ns() == Some(shortest));
        let stays = |(at, point): &(usize, &RatePoint)| {
            point
                .p50_ns()
                .is_some_and(|ns| fastest.is_some_and(|fastest| *at < fastest) || ns <= KNEE * shortest)
        };
        let before = self.points.iter().enumerate().take_while(stays).last();
        self.knee_per_second = before.map(|(_, point)| point.asked_per_second);
    }

    /// The first rate beyond the knee; `None` where the knee is the highest rate that was asked for.
    pub fn beyond(&self) -> Option<&RatePoint> {
        self.points.iter().find(|point| self.knee_per_second.is_none_or(|knee| point.asked_per_second > knee))
    }

    /// How many times its shortest median a median is.
    pub fn times_shortest(&self, ns: f64) -> f64 {
        ns / self.points.iter().filter_map(RatePoint::p50_ns).fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, row};
    use furlong_model::{Placement, Wait};

    /// A row whose median is so many microseconds at 1 k, 2 k, 4 k, … a second; saturated where there is none.
    fn swept(medians_us: &[Option<f64>]) -> RateSweep {
        let (mut rows, mut skipped) = (Vec::new(), Vec::new());
        for (at, median_us) in medians_us.iter().enumerate() {
            let arrival = Arrival::Interval(1_000_000 >> at);
            let case = Case { arrival, ..case("pipe", Wait::Block, Placement::OtherCore) };
            let saturation = Saturation {
                asked_per_second: 1e3,
                carried_per_second: 900.0,
                lost_share: None,
                disturbed: false,
            };
            match median_us {
                Some(us) => {
                    let row = row("pipe", Wait::Block, Placement::OtherCore, us * 1e3);
                    rows.insert(0, Row { case, ..row });
                }
                None => skipped.push(Skipped::saturated(&case, 3, saturation)),
            }
        }
        // One that was asked for a single rate is no sweep.
        let once = Case { arrival: Arrival::Interval(500), ..case("tcp", Wait::Block, Placement::OtherCore) };
        rows.push(Row { case: once, ..row("tcp", Wait::Block, Placement::OtherCore, 1e3) });
        let mut all = RateSweep::all(&rows, &skipped);
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    #[test]
    fn the_knee_is_the_last_rate_before_messages_wait() {
        let sweep = swept(&[Some(30.0), Some(25.0), Some(26.0), Some(80.0), None]);
        assert_eq!(
            sweep.points.iter().map(|point| point.asked_per_second).collect::<Vec<_>>(),
            [1e3, 2e3, 4e3, 8e3, 16e3]
        );
        assert_eq!(sweep.case.arrival, Arrival::Interval(1_000_000));
        assert_eq!(
            (sweep.knee_per_second, sweep.beyond().map(|point| point.asked_per_second)),
            (Some(4e3), Some(8e3))
        );
        assert!((sweep.times_shortest(80e3) - 3.2).abs() < 0.01);
        let saturated = swept(&[Some(30.0), None, None]);
        assert_eq!(saturated.knee_per_second, Some(1e3));
        assert!(saturated.beyond().unwrap().p50_ns().is_none());
    }

    #[test]
    fn a_row_may_carry_all_or_nothing_and_be_slow_at_a_low_rate() {
        let all = swept(&[Some(30.0), Some(31.0)]);
        assert_eq!((all.knee_per_second, all.beyond()), (Some(2e3), None));
        let nothing = swept(&[None, None]);
        assert_eq!((nothing.knee_per_second, nothing.beyond()), (None, Some(&nothing.points[0])));
        let sleepy = swept(&[Some(90.0), Some(30.0), Some(31.0), None]);
        assert_eq!(sleepy.knee_per_second, Some(4e3));
    }
}
