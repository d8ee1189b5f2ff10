//! What a trial must satisfy before its speed may be shown. Each check answers with the law that is broken, and how.

use crate::{Law, law::Breach, little::obeys_little};
use furlong_model::{Case, Harness, Measurement, Placement, RoleTally, format_ns};
use furlong_stats::Distribution;

/// Every check of one trial, in the order in which a failure explains most.
pub(crate) fn check_trial(case: &Case, trial: &Measurement, times: &Distribution) -> Result<(), Breach> {
    has_figures(trial)?;
    is_verified(trial)?;
    both_roles_agree(trial)?;
    is_placed_as_asked(case.placement, &trial.roles)?;
    obeys_little(case, trial, times)
}

/// A record with zeros where one divides by them comes from no furlong.
fn has_figures(trial: &Measurement) -> Result<(), Breach> {
    let counted = trial.round_trips > 0 && trial.elapsed_ns > 0 && trial.round_trips_per_sample > 0;
    let roles = (1..=2).contains(&trial.roles.len()) && trial.roles.iter().all(|role| role.round_trips > 0);
    if counted && roles {
        return Ok(());
    }
    Err(Breach::new(Law::CompleteRecord, "its record lacks figures that a speed needs"))
}

/// A mechanism whose messages nobody checked may have delivered anything.
fn is_verified(trial: &Measurement) -> Result<(), Breach> {
    if trial.verified_messages > 0 {
        Ok(())
    } else {
        Err(Breach::new(Law::Verified, "no message was verified"))
    }
}

/// A message that one role has and the other has not is a message lost.
fn both_roles_agree(trial: &Measurement) -> Result<(), Breach> {
    match trial.roles.as_slice() {
        [initiator, responder] if initiator.messages_received != responder.messages_received => {
            let (ours, theirs) = (initiator.messages_received, responder.messages_received);
            let reason = format!("the initiator received {ours} messages and the responder {theirs}");
            Err(Breach::new(Law::BothRolesCountTheSame, reason))
        }
        _ => Ok(()),
    }
}

/// A role that ran elsewhere measured another placement.
pub(crate) fn is_placed_as_asked(placement: Placement, roles: &[RoleTally]) -> Result<(), Breach> {
    let [initiator, responder] = roles else {
        return Ok(());
    };
    let (initiator, responder) = (initiator.processor, responder.processor);
    let as_asked = match placement {
        Placement::OtherCore => initiator != responder,
        Placement::SameCore | Placement::OneProcess => initiator == responder,
        Placement::Free => true,
        Placement::Explicit(first, second) => (initiator, responder) == (first, second),
    };
    if as_asked {
        return Ok(());
    }
    let reason = format!("it ran on processors {initiator}:{responder}, and {placement} was asked");
    Err(Breach::new(Law::Placement, reason))
}

/// A median below what one step of the clock can tell, spread over the round trips of a sample, is no time.
pub(crate) fn is_above_the_clock(p50_ns: f64, per_sample: u32, harness: &Harness) -> Result<(), Breach> {
    let step_ns = harness.clock_step_ns / f64::from(per_sample.max(1));
    if p50_ns > 0.0 && p50_ns >= step_ns {
        return Ok(());
    }
    let (p50, step) = (format_ns(p50_ns), format_ns(step_ns));
    Err(Breach::new(Law::ClockTick, format!("its median of {p50} is below what the clock can tell, {step}")))
}

/// Whether each role has a processor of its own.
pub(crate) fn on_two_processors(placement: Placement) -> bool {
    placement.has_two_processors() == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, decoded, measurement};
    use furlong_model::Wait;

    fn refusal(change: impl FnOnce(&mut Measurement)) -> Option<Breach> {
        let case = case("pipe", Wait::Block, Placement::OtherCore);
        let mut trial = measurement(&case, 5000.0, 0);
        change(&mut trial);
        let times = decoded(&trial);
        check_trial(&case, &trial, &times).err()
    }

    fn assert_refused(change: impl FnOnce(&mut Measurement), law: Law, reason: &str) {
        let breach = refusal(change).unwrap();
        assert_eq!(breach.law, law);
        assert!(breach.reason.contains(reason), "{breach:?} should say {reason}");
    }

    #[test]
    fn a_sound_trial_passes() {
        assert_eq!(refusal(|_| {}), None);
    }

    #[test]
    fn a_trial_without_figures_is_refused() {
        assert_refused(|trial| trial.round_trips = 0, Law::CompleteRecord, "lacks figures");
        assert_refused(|trial| trial.elapsed_ns = 0, Law::CompleteRecord, "lacks figures");
        assert_refused(|trial| trial.roles.clear(), Law::CompleteRecord, "lacks figures");
        assert_refused(|trial| trial.roles[1].round_trips = 0, Law::CompleteRecord, "lacks figures");
    }

    #[test]
    fn an_unverified_trial_is_refused() {
        assert_refused(|trial| trial.verified_messages = 0, Law::Verified, "no message was verified");
        assert_refused(
            |trial| trial.roles[1].messages_received -= 1,
            Law::BothRolesCountTheSame,
            "the initiator received",
        );
    }

    #[test]
    fn a_trial_on_other_processors_is_refused() {
        assert_refused(
            |trial| trial.roles[1].processor = 0,
            Law::Placement,
            "ran on processors 0:0, and other-core was asked",
        );
    }

    #[test]
    fn a_trial_that_breaks_littles_law_is_refused() {
        assert_refused(|trial| trial.elapsed_ns *= 2, Law::LittlesLaw, "Little's law");
        assert_refused(|trial| trial.elapsed_ns /= 2, Law::LittlesLaw, "2.00 messages in flight");
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
