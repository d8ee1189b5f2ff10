//! What a trial must satisfy before its speed may be shown. Each check answers with the law that is broken, and how.

use crate::{Law, Row, Unit, law::Breach, little::obeys_little};
use furlong_model::{Case, Family, Harness, Measurement, Placement, RoleTally, format_ns};
use furlong_stats::Distribution;

/// The part of a bare core-to-core round trip below which a message cannot have crossed. Not the whole: virtual
/// machines move cores, and the bare time changes by up to 8 times while a row is measured.
const CACHE_LINE_SHARE: f64 = 0.25;

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
    match placement {
        Placement::OtherCore => true,
        Placement::SameCore | Placement::OneProcess => false,
        Placement::Explicit(initiator, responder) => initiator != responder,
    }
}

/// No message reaches another core faster than a cache line. `bare_ns` is the shortest bare round trip that was read
/// in the run; without one there is nothing to compare with.
pub(crate) fn is_above_the_cache_line(row: &Row, bare_ns: Option<f64>) -> Result<(), Breach> {
    // Old records may not name the family; who is alone sends nothing across.
    let alone = row.family == Some(Family::Floor) || row.processors.len() < 2;
    // In a stream many messages cross together.
    let in_turns = row.exchange.unit == Unit::RoundTrip;
    let crosses = in_turns && !alone && on_two_processors(row.case.placement);
    let p50_ns = row.exchange.ns.p50;
    match bare_ns.filter(|bare_ns| crosses && p50_ns < CACHE_LINE_SHARE * bare_ns) {
        None => Ok(()),
        Some(bare_ns) => Err(Breach::new(
            Law::CacheLineFloor,
            format!(
                "its median of {} is below a quarter of what a bare cache line takes from core to core and back, {}",
                format_ns(p50_ns),
                format_ns(bare_ns),
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, decoded, measurement, row};
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

    /// Whether a row of the mechanism with this median may be, where a bare cache line takes 400 ns.
    fn may_take(mechanism: &str, placement: Placement, median_ns: f64) -> bool {
        is_above_the_cache_line(&row(mechanism, Wait::Spin, placement, median_ns), Some(400.0)).is_ok()
    }

    #[test]
    fn nothing_but_the_floor_beats_the_cache_line() {
        assert!(may_take("pipe", Placement::OtherCore, 105.0));
        assert!(!may_take("pipe", Placement::OtherCore, 95.0));
        assert!(!may_take("pipe", Placement::Explicit(0, 1), 95.0));
        assert!(may_take("pipe", Placement::Explicit(0, 0), 95.0));
        assert!(may_take("pipe", Placement::SameCore, 95.0));
        assert!(may_take("null", Placement::OtherCore, 12.0));
        let unnamed = Row { family: None, ..row("null", Wait::Spin, Placement::OtherCore, 12.0) };
        assert!(is_above_the_cache_line(&unnamed, Some(400.0)).is_ok());
        let row = row("pipe", Wait::Spin, Placement::OtherCore, 95.0);
        assert!(is_above_the_cache_line(&row, None).is_ok());
        let breach = is_above_the_cache_line(&row, Some(400.0)).unwrap_err();
        assert_eq!(breach.law, Law::CacheLineFloor);
    }
}
