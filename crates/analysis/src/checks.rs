//! What a trial must satisfy before its speed may be shown. Each check answers with the reason for a refusal.

use crate::Distribution;
use furlong_model::{Case, Harness, Measurement, Placement, format_ns};

/// How far rate times mean latency may be from one message in flight.
const LITTLE_TOLERANCE: f64 = 0.05;
/// Samples are whole nanoseconds, so a mean can be off by as much, in nanoseconds.
const SAMPLE_ROUNDING_NS: f64 = 1.0;

/// Every check of one trial, in the order in which a failure explains most.
pub(crate) fn check_trial(case: &Case, trial: &Measurement, times: &Distribution) -> Result<(), String> {
    has_figures(trial)?;
    is_verified(trial)?;
    is_placed_as_asked(case, trial)?;
    obeys_little(trial, times)
}

/// A record with zeros where one divides by them comes from no furlong.
fn has_figures(trial: &Measurement) -> Result<(), String> {
    let counted = trial.round_trips > 0 && trial.elapsed_ns > 0 && trial.round_trips_per_sample > 0;
    let roles = (1..=2).contains(&trial.roles.len()) && trial.roles.iter().all(|role| role.round_trips > 0);
    if counted && roles { Ok(()) } else { Err("its record lacks figures that a speed needs".to_owned()) }
}

/// A mechanism whose messages nobody checked may have delivered anything.
fn is_verified(trial: &Measurement) -> Result<(), String> {
    if trial.verified_messages == 0 {
        return Err("no message was verified".to_owned());
    }
    match trial.roles.as_slice() {
        [initiator, responder] if initiator.messages_received != responder.messages_received => Err(format!(
            "the initiator received {} messages and the responder {}",
            initiator.messages_received, responder.messages_received,
        )),
        _ => Ok(()),
    }
}

/// A role that ran elsewhere measured another placement.
fn is_placed_as_asked(case: &Case, trial: &Measurement) -> Result<(), String> {
    let [initiator, responder] = trial.roles.as_slice() else {
        return Ok(());
    };
    let (initiator, responder) = (initiator.processor, responder.processor);
    let as_asked = match case.placement {
        Placement::OtherCore => initiator != responder,
        Placement::SameCore | Placement::OneProcess => initiator == responder,
        Placement::Explicit(first, second) => (initiator, responder) == (first, second),
    };
    if as_asked {
        return Ok(());
    }
    Err(format!("it ran on processors {initiator}:{responder}, and {} was asked", case.placement))
}

/// Little's law: with one message in flight, rate times mean latency is one. A clock that leaves out part of a
/// round trip, or counts some twice, breaks it.
fn obeys_little(trial: &Measurement, times: &Distribution) -> Result<(), String> {
    let per_round_trip_ns = trial.elapsed_ns as f64 / trial.round_trips as f64;
    let mean_ns = times.mean_ns();
    if (mean_ns - per_round_trip_ns).abs() <= LITTLE_TOLERANCE * per_round_trip_ns + SAMPLE_ROUNDING_NS {
        return Ok(());
    }
    Err(format!(
        "it breaks Little's law: {} a round trip by rate, {} by mean, so {:.2} messages in flight instead of 1",
        format_ns(per_round_trip_ns),
        format_ns(mean_ns),
        mean_ns / per_round_trip_ns,
    ))
}

/// A median below what one step of the clock can tell, spread over the round trips of a sample, is no time.
pub(crate) fn is_above_the_clock(p50_ns: f64, per_sample: u32, harness: &Harness) -> Result<(), String> {
    let step_ns = harness.clock_step_ns / f64::from(per_sample.max(1));
    if p50_ns > 0.0 && p50_ns >= step_ns {
        return Ok(());
    }
    Err(format!(
        "its median of {} is below what the clock can tell, {}",
        format_ns(p50_ns),
        format_ns(step_ns)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, decoded, measurement};

    fn refusal(change: impl FnOnce(&mut Measurement)) -> Option<String> {
        let case = case("pipe", furlong_model::Wait::Block, Placement::OtherCore);
        let mut trial = measurement(&case, 5000.0, 0);
        change(&mut trial);
        let times = decoded(&trial);
        check_trial(&case, &trial, &times).err()
    }

    fn assert_refused(change: impl FnOnce(&mut Measurement), reason: &str) {
        let refusal = refusal(change).unwrap_or_default();
        assert!(refusal.contains(reason), "{refusal:?} should say {reason}");
    }

    #[test]
    fn a_sound_trial_passes() {
        assert_eq!(refusal(|_| {}), None);
    }

    #[test]
    fn a_trial_without_figures_is_refused() {
        assert_refused(|trial| trial.round_trips = 0, "lacks figures");
        assert_refused(|trial| trial.elapsed_ns = 0, "lacks figures");
        assert_refused(|trial| trial.roles.clear(), "lacks figures");
        assert_refused(|trial| trial.roles[1].round_trips = 0, "lacks figures");
    }

    #[test]
    fn an_unverified_trial_is_refused() {
        assert_refused(|trial| trial.verified_messages = 0, "no message was verified");
        assert_refused(|trial| trial.roles[1].messages_received -= 1, "the initiator received");
    }

    #[test]
    fn a_trial_on_other_processors_is_refused() {
        assert_refused(
            |trial| trial.roles[1].processor = 0,
            "ran on processors 0:0, and other-core was asked",
        );
    }

    #[test]
    fn a_trial_that_breaks_littles_law_is_refused() {
        assert_refused(|trial| trial.elapsed_ns *= 2, "Little's law");
        assert_refused(|trial| trial.elapsed_ns /= 2, "2.00 messages in flight");
        assert_eq!(refusal(|trial| trial.elapsed_ns += trial.elapsed_ns / 25), None);
    }

    #[test]
    fn a_median_below_the_clock_is_refused() {
        let harness = Harness { clock_read_ns: 22.0, clock_step_ns: 20.0 };
        assert!(is_above_the_clock(20.0, 1, &harness).is_ok());
        assert!(is_above_the_clock(19.0, 1, &harness).is_err());
        assert!(is_above_the_clock(1.0, 64, &harness).is_ok());
        assert!(is_above_the_clock(0.0, 0, &Harness::default()).is_err());
    }
}
