//! Benchmarks with several rates: the latency at each rate, and the rate up to which it does not increase.

use crate::{Row, Saturation, SkippedCase};
use furlong_model::Case;
use furlong_stats::{sort_by, tidy};
use serde::Serialize;

/// Ratio of a median to the minimum above which the rate is beyond the knee.
const KNEE: f64 = 2.0;

/// Benchmark at several rates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RateSweep {
    /// Case with the lowest of its rates.
    #[serde(flatten)]
    pub case: Case,
    /// Results by rate, ascending.
    pub points: Vec<RatePoint>,
    /// Highest rate up to which the median is at most twice its minimum and no rate is too high. Rates below that of the
    /// minimum may have larger medians. `None` if the lowest rate is too high.
    pub knee_per_second: Option<f64>,
}

/// Benchmark at one rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatePoint {
    /// Requested rate.
    pub asked_per_second: f64,
    /// Result at this rate.
    #[serde(flatten)]
    pub result: AtRate,
}

/// Result of a benchmark at a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtRate {
    /// The benchmark keeps up with the rate.
    Carried {
        /// Median in nanoseconds.
        p50_ns: f64,
        /// Interval of the median; `None` with too few trials.
        median_ci95: Option<[f64; 2]>,
    },
    /// The result is unknown, because other processes used CPU time.
    Disturbed {
        /// Rate that the benchmark carried instead.
        carried_per_second: f64,
    },
    /// The benchmark is saturated.
    Saturated {
        /// Rate that the benchmark carried instead.
        carried_per_second: f64,
    },
}

impl RatePoint {
    /// Returns the median, if the benchmark keeps up with the rate.
    pub fn p50_ns(&self) -> Option<f64> {
        match self.result {
            AtRate::Carried { p50_ns, .. } => Some(p50_ns),
            AtRate::Saturated { .. } | AtRate::Disturbed { .. } => None,
        }
    }
}

impl RateSweep {
    /// Returns the sweeps of all benchmarks with at least two rates, in the order of the benchmarks.
    pub(crate) fn all(rows: &[Row], skipped: &[SkippedCase]) -> Vec<RateSweep> {
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
            let Some(interval_ns) = case.arrival.interval_ns() else { continue };
            let point = RatePoint { asked_per_second: tidy(1e9 / interval_ns as f64), result };
            let alike = |sweep: &&mut RateSweep| {
                let arrival = sweep.case.arrival.with_interval(interval_ns);
                Case { arrival, ..sweep.case.clone() } == *case
            };
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
        self.case.arrival = self.case.arrival.with_interval((1e9 / lowest).round() as u64);
        let shortest = self.points.iter().filter_map(RatePoint::p50_ns).fold(f64::INFINITY, f64::min);
        // At a low rate a CPU may go idle between messages, so larger medians there are before the knee.
        let fastest = self.points.iter().position(|point| point.p50_ns() == Some(shortest));
        let stays = |(at, point): &(usize, &RatePoint)| {
            point
                .p50_ns()
                .is_some_and(|ns| fastest.is_some_and(|fastest| *at < fastest) || ns <= KNEE * shortest)
        };
        let before = self.points.iter().enumerate().take_while(stays).last();
        self.knee_per_second = before.map(|(_, point)| point.asked_per_second);
    }

    /// Returns the first rate beyond the knee; `None` if the knee is the highest requested rate.
    pub fn beyond(&self) -> Option<&RatePoint> {
        self.points.iter().find(|point| self.knee_per_second.is_none_or(|knee| point.asked_per_second > knee))
    }

    /// Returns the ratio of a median to the smallest median.
    pub fn times_shortest(&self, ns: f64) -> f64 {
        ns / self.points.iter().filter_map(RatePoint::p50_ns).fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, row};
    use furlong_model::{Arrival, Placement, Wait};

    /// Returns a sweep with these medians in microseconds at 1k/s, 2k/s, 4k/s and so on. A rate without a median is
    /// saturated.
    fn swept(medians_us: &[Option<f64>]) -> RateSweep {
        let (mut rows, mut skipped) = (Vec::new(), Vec::new());
        for (at, median_us) in medians_us.iter().enumerate() {
            let arrival = Arrival::Interval(1_000_000 >> at);
            let case = Case { arrival, ..case("pipe", Wait::Block, Placement::OtherCore) };
            let saturation = Saturation {
                asked_per_second: 1e3,
                carried_per_second: 900.0,
                lost_share: None,
                limit: None,
                disturbed: false,
            };
            match median_us {
                Some(us) => {
                    let row = row("pipe", Wait::Block, Placement::OtherCore, us * 1e3);
                    rows.insert(0, Row { case, ..row });
                }
                None => skipped.push(SkippedCase::saturated(&case, 3, saturation)),
            }
        }
        // A benchmark with a single rate is not a sweep.
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
