//! A cost as a function of the size, interpolated and extrapolated from measured sizes.

/// Times at some sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Bytes above 0, ascending, and nanoseconds.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// Creates a curve from sizes in bytes and times in nanoseconds, in any order. A negative time counts as zero, because
    /// a difference of two measurements can be negative.
    pub fn new(points: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let mut points: Vec<_> = points
            .into_iter()
            .filter(|(size, ns)| *size > 0 && ns.is_finite())
            .map(|(size, ns)| (size as f64, ns.max(0.0)))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by_key(|(size, _)| *size);
        Curve { points }
    }

    /// Returns the nanoseconds for `size_bytes`, or `None` without a measurement.
    ///
    /// Between two sizes the curve is a power law, which fits both a constant time and a proportional one. Below the
    /// smallest size it is a straight line. Above the largest size it grows in proportion to the size.
    pub fn at(&self, size_bytes: usize) -> Option<f64> {
        let size = size_bytes as f64;
        let (first, last) = (*self.points.first()?, *self.points.last()?);
        if size >= last.0 {
            return Some(last.1 * (size / last.0));
        }
        let above = self.points.partition_point(|point| point.0 <= size);
        Some(match above.checked_sub(1) {
            Some(below) => between(self.points[below], self.points[above], size),
            None => before(first, self.points.get(1), size),
        })
    }
}

/// Interpolates by the power law through two points, or by a straight line if a time is zero.
fn between(low: (f64, f64), high: (f64, f64), size: f64) -> f64 {
    if low.1 <= 0.0 || high.1 <= 0.0 {
        return low.1 + (high.1 - low.1) * (size - low.0) / (high.0 - low.0);
    }
    let share = (size / low.0).ln() / (high.0 / low.0).ln();
    low.1 * (high.1 / low.1).powf(share)
}

/// Extrapolates below the first size, which costs a fixed time plus a time per byte. The result is the line through the
/// first two points. The slope is limited so that the time is not negative and does not rise towards size 0.
fn before(first: (f64, f64), second: Option<&(f64, f64)>, size: f64) -> f64 {
    let steepest = first.1 / first.0;
    let slope = second.map_or(steepest, |second| (second.1 - first.1) / (second.0 - first.0));
    // Rounding can produce a negative time.
    (first.1 - slope.clamp(0.0, steepest) * (first.0 - size)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} is not {expected}");
    }

    #[test]
    fn measured_sizes_are_as_measured() {
        let curve = Curve::new([(4096, 100.0), (64, 3.0), (1 << 20, 200_000.0)]);
        for (size, ns) in [(64, 3.0), (4096, 100.0), (1 << 20, 200_000.0)] {
            close(curve.at(size), ns);
        }
        assert_eq!(Curve::new([]).at(64), None);
        assert_eq!(Curve::new([(0, 5.0), (64, f64::INFINITY)]).at(64), None);
    }

    #[test]
    fn constant_and_proportional_times_stay_so() {
        let constant = Curve::new([(8, 90.0), (512, 90.0)]);
        let proportional = Curve::new([(512, 32.0), (65536, 4096.0)]);
        close(constant.at(64), 90.0);
        close(constant.at(1), 90.0);
        close(proportional.at(4096), 256.0);
        close(proportional.at(1 << 30), f64::from(1 << 26));
        close(proportional.at(1), 0.0625);
    }

    #[test]
    fn small_sizes_go_straight_on() {
        let curve = Curve::new([(64, 3.0), (128, 4.0)]);
        close(curve.at(0), 2.0);
        close(curve.at(32), 2.5);
        close(Curve::new([(64, 4.0), (128, 3.0)]).at(0), 4.0);
        close(Curve::new([(64, 4.0)]).at(16), 1.0);
    }

    #[test]
    fn a_difference_below_zero_counts_as_none() {
        let curve = Curve::new([(8, -3.0), (64, 0.0), (128, 10.0)]);
        close(curve.at(8), 0.0);
        close(curve.at(96), 5.0);
    }

    proptest! {
        #[test]
        fn no_curve_gives_less_than_nothing(
            points in proptest::collection::vec((any::<usize>(), any::<f64>()), 0..6), size in 0_usize..1 << 40,
        ) {
            let at = Curve::new(points).at(size);
            prop_assert!(at.is_none_or(|ns| ns >= 0.0), "{at:?}");
        }
    }
}
