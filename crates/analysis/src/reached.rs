//! Time until the first of a message's receivers has it, and until half of them have it.

use crate::{Law, law::Breach};
use furlong_model::{Measurement, format_ns};
use furlong_stats::{Distribution, median, tidy};
use serde::Serialize;

/// Medians of the trials' medians, in nanoseconds. The latency of the benchmark is the time until the last receiver.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReachMedians {
    /// Time until the first receiver.
    pub first_ns: f64,
    /// Time until half of the receivers.
    pub median_ns: f64,
}

impl ReachMedians {
    /// Computes the medians of these trials. `times` are the latencies until the last receiver. Returns `None` with a
    /// single receiver.
    ///
    /// # Errors
    /// Returns the breach of a trial if its times cannot be read, or if its first receiver got messages after a later one.
    pub(crate) fn of(
        trials: &[&Measurement],
        times: &[Distribution],
    ) -> Result<Option<ReachMedians>, Breach> {
        let (mut first, mut half) = (Vec::new(), Vec::new());
        for (trial, to_last) in trials.iter().zip(times) {
            let Some(reached) = &trial.reached else { continue };
            let median_ns = |text: &String| {
                let times = Distribution::decode(text);
                times
                    .map(|times| times.median_ns())
                    .map_err(|error| Breach::new(Law::CompleteRecord, error.to_string()))
            };
            let [to_first, to_half] = [median_ns(&reached[0])?, median_ns(&reached[1])?];
            in_order([to_first, to_half, to_last.median_ns()])?;
            first.push(to_first);
            half.push(to_half);
        }
        let reached = median(&first).zip(median(&half));
        Ok(reached.map(|(first_ns, median_ns)| ReachMedians {
            first_ns: tidy(first_ns),
            median_ns: tidy(median_ns),
        }))
    }
}

/// Rejects medians that are not ordered: until the first, half, and the last of the receivers got a message.
fn in_order(medians_ns: [f64; 3]) -> Result<(), Breach> {
    // All three distributions have the same messages and buckets.
    if medians_ns.is_sorted() {
        return Ok(());
    }
    let [first, half, last] = medians_ns.map(format_ns);
    let reason = format!(
        "the first receiver had messages after {first}, half of them after {half} and the last after {last}"
    );
    Err(Breach::new(Law::RoleFigures, reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, encode, measurement};
    use furlong_model::{Placement, Wait};

    #[test]
    fn receivers_have_messages_in_order() {
        let of = |[first, half, last]: [u64; 3]| {
            let times = |ns| encode([ns; 20]);
            let reached = Some([times(first), times(half)]);
            let trial = measurement(&case("pipe", Wait::Block, Placement::OtherCore), 1000.0, 0);
            let trial = Measurement { reached, ..trial };
            let last = Distribution::decode(&times(last)).unwrap();
            ReachMedians::of(&[&trial], &[last])
        };
        let reached = of([1000, 2000, 3000]).unwrap().unwrap();
        assert!(reached.first_ns < reached.median_ns, "{reached:?}");
        assert!(of([2000, 2000, 2000]).is_ok());
        for medians_ns in [[24_200, 24_000, 24_000], [1000, 3000, 2000], [3000, 2000, 1000]] {
            let breach = of(medians_ns).unwrap_err();
            assert_eq!(breach.law, Law::RoleFigures, "{medians_ns:?}");
        }
    }
}
