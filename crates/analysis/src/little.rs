//! Little's law: rate times mean latency is the number of messages in flight. A clock that omits part of a round trip, or
//! counts some twice, breaks it.

use crate::{Law, law::Breach};
use furlong_model::{Arrival, Case, Measurement, Unit, format_ns};
use furlong_stats::Distribution;

/// Tolerance between two computations of a time, as a share of the time per round trip by rate.
const TOLERANCE: f64 = 0.05;
/// Maximum error of a mean in nanoseconds, because samples are whole nanoseconds.
const ROUNDING_NS: f64 = 1.0;
/// Tolerance for early messages, as a share of the requested interval.
const EARLY: f64 = 0.01;

/// Checks one trial of a case. The trial must have round trips.
pub(crate) fn obeys_little(case: &Case, trial: &Measurement, times: &Distribution) -> Result<(), Breach> {
    let (by_rate_ns, mean_ns) = (by_rate_ns(case, trial), times.mean_ns());
    let kept = match case.arrival {
        // Received messages are counted separately, at the end that does not measure the times.
        Arrival::ClosedLoop if case.pattern().is_to_several() => Ok(()),
        Arrival::ClosedLoop => window_in_flight(by_rate_ns, mean_ns + edges_ns(trial), case),
        Arrival::ThinkTime(think_time_ns) => gap_fits(by_rate_ns, mean_ns, think_time_ns as f64),
        _ => {
            let interval_ns = case.arrival.interval_ns().unwrap_or_default() as f64;
            let shortest = 1.0 - EARLY - case.arrival.mean_error(trial.round_trips as f64);
            not_early(by_rate_ns, interval_ns, shortest)
        }
    };
    kept.map_err(|how| Breach::new(Law::LittlesLaw, format!("it breaks Little's law: {how}")))
}

/// Returns the time of a round trip by the rate. Several pairs without a fixed rate count with their own times, so that
/// slow pairs have their full weight.
fn by_rate_ns(case: &Case, trial: &Measurement) -> f64 {
    let links = case.links().get();
    let elapsed_ns = if case.arrival.is_closed_loop() && trial.parts.len() == links as usize {
        trial.parts.iter().map(|part| part.elapsed_ns as f64).sum()
    } else {
        trial.elapsed_ns as f64 * f64::from(links)
    };
    elapsed_ns / trial.round_trips as f64
}

/// Returns the bounds of the mean of a trial's times in nanoseconds, if its window was in flight; `None` if the law does
/// not apply.
pub(crate) fn mean_bounds_ns(case: &Case, trial: &Measurement) -> Option<[f64; 2]> {
    if !case.arrival.is_closed_loop() || case.pattern().is_to_several() {
        return None;
    }
    let (by_rate_ns, window) = (by_rate_ns(case, trial), f64::from(case.window().get()));
    let middle = window * by_rate_ns - edges_ns(trial);
    Some([-1.0, 1.0].map(|side| middle + side * window * (TOLERANCE * by_rate_ns + ROUNDING_NS)))
}

/// Returns the correction of the mean for messages that were in flight at the ends of the measured part. It is the missing
/// time at the end, less the excess time at the beginning.
fn edges_ns(trial: &Measurement) -> f64 {
    trial
        .outstanding_ns
        .map_or(0.0, |[before, after]| (after as f64 - before as f64) / trial.round_trips as f64)
}

/// Checks that a window is in flight, because the next message follows an answer at once.
fn window_in_flight(by_rate_ns: f64, mean_ns: f64, case: &Case) -> Result<(), String> {
    let window = f64::from(case.window().get());
    if (mean_ns / window - by_rate_ns).abs() <= TOLERANCE * by_rate_ns + ROUNDING_NS {
        return Ok(());
    }
    Err(format!(
        "{} per {} by rate, {} by mean, so {:.2} messages in flight instead of {window}",
        format_ns(by_rate_ns),
        Unit::of(case.pattern()).word(),
        format_ns(mean_ns),
        mean_ns / by_rate_ns,
    ))
}

/// Checks that round trip and gap fit one after the other. A gap may be longer than requested, so only one side is checked.
fn gap_fits(by_rate_ns: f64, mean_ns: f64, think_time_ns: f64) -> Result<(), String> {
    if mean_ns + think_time_ns <= by_rate_ns * (1.0 + TOLERANCE) + ROUNDING_NS {
        return Ok(());
    }
    Err(format!(
        "a round trip of {} and a gap of {} do not fit into the {} that both took by rate",
        format_ns(mean_ns),
        format_ns(think_time_ns),
        format_ns(by_rate_ns),
    ))
}

/// Checks that no message was early over the whole trial. Latency counts from the time at which a message was due, so it
/// may exceed the interval, and late messages catch up. `shortest` is the minimum as a share of the requested interval.
fn not_early(by_rate_ns: f64, interval_ns: f64, shortest: f64) -> Result<(), String> {
    if by_rate_ns >= interval_ns * shortest {
        return Ok(());
    }
    let (by_rate, interval) = (format_ns(by_rate_ns), format_ns(interval_ns));
    Err(format!("a message every {by_rate} by rate, but one every {interval} was requested"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, decoded, measurement};
    use furlong_model::{Placement, Wait};

    /// Returns the breach for 2000 round trips of about 53 us each that took `by_rate_ns` each by rate.
    fn breach(arrival: Arrival, by_rate_ns: u64) -> Option<String> {
        breach_of(Case { arrival, ..case("pipe", Wait::Block, Placement::OtherCore) }, by_rate_ns)
    }

    fn breach_of(case: Case, by_rate_ns: u64) -> Option<String> {
        let mut trial = measurement(&case, 52_000.0, 0);
        trial.elapsed_ns = by_rate_ns * trial.round_trips;
        let times = decoded(&trial);
        obeys_little(&case, &trial, &times).err().map(|breach| {
            assert_eq!(breach.law, Law::LittlesLaw);
            breach.reason
        })
    }

    #[test]
    fn one_message_is_in_flight_at_a_closed_pace() {
        assert_eq!(breach(Arrival::ClosedLoop, 53_000), None);
        let found = breach(Arrival::ClosedLoop, 26_500).unwrap();
        assert!(found.contains("2.01 messages in flight"), "{found}");
    }

    #[test]
    fn as_many_are_in_flight_as_the_window_says() {
        let window = |window: u32, by_rate_ns: u64| {
            let window = std::num::NonZeroU32::new(window).unwrap();
            breach_of(case("pipe", Wait::Block, Placement::OtherCore).with_window(window), by_rate_ns)
        };
        assert_eq!(window(8, 53_000 / 8), None);
        let kept_one = window(8, 53_000).unwrap();
        assert!(kept_one.contains("1.00 messages in flight instead of 8"), "{kept_one}");
        let kept_two_more = window(8, 53_000 / 10).unwrap();
        assert!(kept_two_more.contains("10.0") && kept_two_more.contains("instead of 8"), "{kept_two_more}");
    }

    #[test]
    fn what_is_outstanding_at_the_ends_counts() {
        let window = std::num::NonZeroU32::new(8).unwrap();
        let case = case("pipe", Wait::Block, Placement::OtherCore).with_window(window);
        let mut trial = measurement(&case, 52_000.0, 0);
        let times = decoded(&trial);
        // 2000 messages of 53 us each. The remaining time was spent on other messages, which were answered later.
        trial.elapsed_ns = trial.round_trips * 53_000 / 8 * 3 / 2;
        let mut obeys = |outstanding_ns: Option<[u64; 2]>| {
            trial.outstanding_ns = outstanding_ns;
            obeys_little(&case, &trial, &times).is_ok()
        };
        assert!(obeys(Some([1_000_000, 54_000_000])));
        assert!(!obeys(Some([54_000_000, 1_000_000])));
        assert!(!obeys(None));
    }

    #[test]
    fn pairs_that_do_little_count_by_their_time() {
        let parties = std::num::NonZeroU32::new(2).unwrap();
        let case = case("pipe", Wait::Block, Placement::Spread).with_parties(parties);
        let mut trial = measurement(&case, 52_000.0, 0);
        let times = decoded(&trial);
        assert_eq!((trial.round_trips, trial.parts.len()), (2000, 2));
        let mut obeys = |first_ns: u64, second_ns: u64| {
            // One pair waits for nearly all of its time. The rate of both is the sum of their rates.
            for (part, (round_trips, elapsed_ns)) in
                trial.parts.iter_mut().zip([(1, first_ns), (1999, second_ns)])
            {
                (part.round_trips, part.elapsed_ns) = (round_trips, elapsed_ns);
            }
            trial.elapsed_ns = second_ns;
            obeys_little(&case, &trial, &times).is_ok()
        };
        assert!(obeys(46_000_000, 60_000_000));
        assert!(!obeys(46_000_000, 30_000_000));
    }

    #[test]
    fn a_gap_is_time_on_top() {
        assert_eq!(breach(Arrival::ThinkTime(100_000), 153_200), None);
        assert_eq!(breach(Arrival::ThinkTime(100_000), 400_000), None, "a gap may last longer");
        assert_eq!(breach(Arrival::ThinkTime(100_000), 147_000), None, "within 5 %");
        let found = breach(Arrival::ThinkTime(100_000), 140_000).unwrap();
        assert!(found.contains("a gap of 100 us do not fit into the 140 us"), "{found}");
    }

    #[test]
    fn fixed_times_may_be_late_but_not_early() {
        assert_eq!(breach(Arrival::Interval(50_000), 50_000), None, "latency above the interval is a queue");
        assert_eq!(breach(Arrival::Interval(50_000), 49_600), None);
        assert_eq!(breach(Arrival::Interval(50_000), 90_000), None);
        let found = breach(Arrival::Interval(50_000), 49_000).unwrap();
        assert!(found.contains("every 49.0 us by rate, but one every 50.0 us"), "{found}");
    }
}
