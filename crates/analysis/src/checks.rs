//! Checks of a trial before its speed is shown. Each check returns the broken law and the details.

use crate::{Law, law::Breach, little::obeys_little, text::plain};
use furlong_model::{
    Case, Harness, Measurement, Overlap, Part, Party, Placement, Role, RoleTally, format_ns, is_one,
};
use furlong_stats::Distribution;

/// Runs every check of one trial. Failures that explain most come first.
pub(crate) fn check_trial(case: &Case, trial: &Measurement, times: &Distribution) -> Result<(), Breach> {
    check_record(case, trial)?;
    at_the_same_time(&trial.parts)?;
    obeys_little(case, trial, times)
}

/// Returns why the record of a measured trial is impossible, whatever its times are; `None` if it is possible.
pub fn broken_record(case: &Case, trial: &Measurement) -> Option<String> {
    check_record(case, trial).err().map(|breach| breach.reason)
}

fn check_record(case: &Case, trial: &Measurement) -> Result<(), Breach> {
    has_figures(case, trial)?;
    is_verified(trial)?;
    both_roles_agree(case, trial)?;
    roles_are_possible(case, trial)?;
    is_placed_as_asked(case.placement, &trial.roles)?;
    is_accessed_as_asked(case, &trial.roles)
}

/// Rejects zeros that would be divisors, because furlong does not write such records.
fn has_figures(case: &Case, trial: &Measurement) -> Result<(), Breach> {
    let counted = trial.round_trips > 0 && trial.elapsed_ns > 0 && trial.round_trips_per_sample > 0;
    let recorded: Vec<Party> = trial.roles.iter().map(|role| role.party).collect();
    let all = case.all_parties();
    let initiators: Vec<Party> = all.iter().copied().filter(|party| party.role == Role::Initiator).collect();
    let complete = (recorded == all || recorded == initiators)
        && trial.parts.iter().all(|part| part.elapsed_ns > 0)
        && (all.len() <= 2 || is_one(&case.parties()) || trial.parts.len() == case.parties().get() as usize)
        && has_sizes_of_mix(case, trial)
        && trial.reached.is_some() == case.pattern().is_to_all()
        && trial.stall.is_some() == case.exchange.stall().is_some();
    let roles = complete && trial.roles.iter().all(|role| role.round_trips > 0);
    if counted && roles {
        return Ok(());
    }
    Err(Breach::new(Law::CompleteRecord, "its record lacks required figures"))
}

/// Returns whether the classes of sizes are those of the requested mix, each once.
fn has_sizes_of_mix(case: &Case, trial: &Measurement) -> bool {
    let classes = case.conditions.size_mix().map_or(&[][..], |mix| mix.classes());
    let sizes = || trial.size_classes.iter().map(|class| class.size_bytes);
    sizes().is_sorted_by(|a, b| a < b) && sizes().all(|bytes| classes.iter().any(|class| class.0 == bytes))
}

/// Rejects a trial without verified messages, because the mechanism may have delivered anything. furlong does not see the
/// messages of unmodified programs, so the check accepts those. Their output mentions it.
fn is_verified(trial: &Measurement) -> Result<(), Breach> {
    if trial.verified_messages > 0 || trial.programs.is_some() {
        Ok(())
    } else {
        Err(Breach::new(Law::Verified, "no message was verified"))
    }
}

/// Rejects a trial if the roles disagree on the number of messages, because a message was lost.
fn both_roles_agree(case: &Case, trial: &Measurement) -> Result<(), Breach> {
    if case.pattern().shares_an_end() {
        let all = |role: Role| {
            trial
                .roles
                .iter()
                .filter(move |tally| tally.party.role == role)
                .map(|tally| tally.messages_received)
                .sum::<u64>()
        };
        let receivers = case.exchange.receivers_per_message().get();
        let sent = all(Role::Initiator).saturating_mul(receivers.into());
        let received = all(Role::Responder);
        let reason = || format!("{sent} messages were sent and {received} received");
        return if sent == received {
            Ok(())
        } else {
            Err(Breach::new(Law::BothRolesCountTheSame, reason()))
        };
    }
    let first = trial.roles.first().filter(|_| case.pattern().is_to_all());
    let pairs = trial.roles.iter().zip(trial.roles.iter().skip(1));
    let compared = pairs.filter(|(one, other)| one.party.index() == other.party.index());
    let compared = compared
        .chain(first.into_iter().flat_map(|first| trial.roles.iter().map(move |other| (first, other))));
    let differs = compared.into_iter().find(|(one, other)| one.messages_received != other.messages_received);
    let Some((initiator, responder)) = differs else { return Ok(()) };
    let (ours, theirs) = (initiator.messages_received, responder.messages_received);
    let (initiator, responder) = (initiator.party, responder.party);
    let reason = format!("the {initiator} received {ours} messages and the {responder} {theirs}");
    Err(Breach::new(Law::BothRolesCountTheSame, reason))
}

/// Rejects figures of roles and servers that do not fit into the trial. furlong does not record such figures, and every
/// figure per exchange depends on them.
fn roles_are_possible(case: &Case, trial: &Measurement) -> Result<(), Breach> {
    let of_role = |role: &RoleTally| Some(format!("the {} {}", role.party, impossible_in_role(role, trial)?));
    let reason = trial.roles.iter().find_map(of_role);
    let reason = reason.or_else(|| impossible_server(trial)).or_else(|| too_few_exchanges(case, trial));
    reason.map_or(Ok(()), |reason| Err(Breach::new(Law::RoleFigures, reason)))
}

/// Returns a count or a time of a role that does not fit into the trial. The limits are far beyond the largest values of
/// 5,700 recorded trials: 0.25 switches and 0.02 page faults per microsecond.
fn impossible_in_role(role: &RoleTally, trial: &Measurement) -> Option<String> {
    const EVENTS_PER_US: f64 = 10.0;
    let is_own = trial.programs.is_none() && trial.adapter.is_none();
    let ns = role.window_ns.unwrap_or_default().max(trial.elapsed_ns) as f64;
    let of_time = ns / 1000.0 * EVENTS_PER_US * if is_own { 1.0 } else { 1000.0 };
    let most_events = 1000.0 + of_time.max(16.0 * role.round_trips as f64);
    // A sender that never waits may send far more than its receivers get.
    let delivered = trial.round_trips.saturating_add(trial.lost.unwrap_or_default());
    let most_exchanges = delivered.saturating_mul(4).saturating_add(1000);
    // Adapters and programs do not report when they began to wait.
    let most_idle_ns = if role.window_ns.is_some() { ns * 1.02 } else { most_beyond_ns(trial) };
    let counts = [
        ("voluntary switches", role.voluntary_switches),
        ("switches to wait for a due time", role.idle_switches),
        ("involuntary switches", role.involuntary_switches),
        ("minor page faults", role.minor_faults),
        ("major page faults", role.major_faults),
    ];
    if role.round_trips > most_exchanges {
        return Some(format!("counted {} exchanges of {}", role.round_trips, trial.round_trips));
    }
    if role.idle_ns as f64 > most_idle_ns {
        return Some(format!("waited {} for due times in {}", format_ns(role.idle_ns as f64), format_ns(ns)));
    }
    let count = counts.into_iter().find(|(_, count)| *count as f64 > most_events);
    count.map(|(name, count)| format!("had {count} {name} in {}", format_ns(ns)))
}

/// Returns the most time that a process may be watched for a trial if it is not known, in nanoseconds.
fn most_beyond_ns(trial: &Measurement) -> f64 {
    5.0 * trial.elapsed_ns as f64 + 1e8
}

/// Returns a server that used more CPU time than it can have. It may have many threads.
fn impossible_server(trial: &Measurement) -> Option<String> {
    let servers =
        trial.others.iter().map(|other| (&other.name, other.user_ns as f64 + other.system_ns as f64));
    let (name, used_ns) =
        servers.into_iter().find(|(_, used_ns)| *used_ns > 1000.0 * most_beyond_ns(trial))?;
    Some(format!("{} used {} of CPU time", plain(name), format_ns(used_ns)))
}

/// Returns an end whose roles counted fewer exchanges than the trial has.
fn too_few_exchanges(case: &Case, trial: &Measurement) -> Option<String> {
    if trial.lost.is_some_and(|lost| lost > 0) {
        return None;
    }
    [Role::Initiator, Role::Responder].into_iter().find_map(|end| {
        let mut counts =
            trial.roles.iter().filter(|role| role.party.role == end).map(|role| role.round_trips);
        let all = counts.next().map(|first| counts.fold(first, u64::saturating_add))?;
        let parties = u64::from(case.parties().get());
        let most = all.saturating_add(1).saturating_mul(parties).saturating_sub(u64::from(parties == 1));
        let copies = if end == Role::Initiator { case.exchange.fan_in().receivers.get() } else { 1 };
        let most = most.saturating_mul(copies.into());
        (most < trial.round_trips)
            .then(|| format!("the {end} counted {all} exchanges of {}", trial.round_trips))
    })
}

/// Rejects parts that were not measured in parallel, because they did not disturb each other.
fn at_the_same_time(parts: &[Part]) -> Result<(), Breach> {
    let overlap = Overlap::of(parts);
    if overlap.is_enough() {
        return Ok(());
    }
    let (together, longest) = (format_ns(overlap.together_ns as f64), format_ns(overlap.longest_ns as f64));
    let reason =
        format!("only {together} of {longest} were measured by all at the same time: use a longer --budget");
    Err(Breach::new(Law::SameTime, reason))
}

/// Rejects roles that ran on other CPUs than the placement requires.
pub(crate) fn is_placed_as_asked(placement: Placement, roles: &[RoleTally]) -> Result<(), Breach> {
    if roles.len() < 2 {
        return Ok(());
    }
    let ran_on: Vec<usize> = roles.iter().map(|role| role.processor).collect();
    let of_role =
        |role: Role| roles.iter().filter(move |tally| tally.party.role == role).map(|tally| tally.processor);
    let all_on = |role, processor| of_role(role).all(|one| one == processor);
    let as_asked = match placement {
        // Which CPUs have the relation is not recorded.
        Placement::OtherCore | Placement::Related(_) => {
            of_role(Role::Initiator).all(|one| of_role(Role::Responder).all(|other| one != other))
        }
        Placement::SameCore | Placement::OneProcess => ran_on.iter().all(|one| *one == ran_on[0]),
        // With two hosts, the CPU numbers belong to different hosts.
        Placement::Free | Placement::OtherHost => true,
        // The number of available CPUs is not recorded.
        Placement::Spread => {
            let times = |processor: &usize| ran_on.iter().filter(|one| *one == processor).count();
            ran_on.iter().map(times).max() <= ran_on.iter().map(times).min().map(|least| least + 1)
        }
        Placement::Packed => ran_on.chunks(2).all(|pair| pair.iter().all(|one| *one == pair[0])),
        Placement::Explicit(first, second) => {
            all_on(Role::Initiator, first) && all_on(Role::Responder, second)
        }
        Placement::List(list) => {
            let numbers: Vec<usize> = list.numbers().collect();
            ran_on.iter().zip(numbers.iter().cycle()).all(|(one, asked)| one == asked)
        }
    };
    if as_asked {
        return Ok(());
    }
    let ran_on: Vec<String> = ran_on.iter().map(usize::to_string).collect();
    let reason = format!("it ran on CPUs {}, but {placement} was requested", ran_on.join(":"));
    Err(Breach::new(Law::Placement, reason))
}

/// Rejects a role that copied instead of working in place, or the other way round.
fn is_accessed_as_asked(case: &Case, roles: &[RoleTally]) -> Result<(), Breach> {
    let Some(other) = roles.iter().find(|role| role.access != case.access) else { return Ok(()) };
    let (party, did, asked) = (other.party, other.access, case.access);
    Err(Breach::new(Law::Access, format!("the access of the {party} was {did}, but {asked} was requested")))
}

/// Rejects a median below one step of the clock, divided by the round trips per sample.
pub(crate) fn is_above_the_clock(p50_ns: f64, per_sample: u32, harness: &Harness) -> Result<(), Breach> {
    let step_ns = harness.clock_step_ns / f64::from(per_sample.max(1));
    if p50_ns > 0.0 && p50_ns >= step_ns {
        return Ok(());
    }
    let (p50, step) = (format_ns(p50_ns), format_ns(step_ns));
    Err(Breach::new(Law::ClockTick, format!("its median of {p50} is below the clock step, {step}")))
}

/// Whether each role has a separate CPU.
pub(crate) fn on_two_processors(placement: Placement) -> bool {
    placement.has_two_processors() == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, decoded, measurement};
    use furlong_model::{Access, Pattern, Wait};

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
        assert_refused(|trial| trial.round_trips = 0, Law::CompleteRecord, "lacks required figures");
        assert_refused(|trial| trial.elapsed_ns = 0, Law::CompleteRecord, "lacks required figures");
        assert_refused(|trial| trial.roles.clear(), Law::CompleteRecord, "lacks required figures");
        assert_refused(|trial| trial.roles[1].round_trips = 0, Law::CompleteRecord, "lacks required figures");
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
    fn trial_with_role_figures_that_do_not_fit_into_it_is_refused() {
        let refused = |change: fn(&mut Measurement), reason| assert_refused(change, Law::RoleFigures, reason);
        refused(|trial| trial.roles[0].round_trips = 1, "the initiator counted 1 exchanges of");
        refused(|trial| trial.roles[1].round_trips = u64::MAX, "the responder counted 18446744073709551615");
        refused(|trial| trial.roles[0].idle_ns = 1_000_000_000_000_000, "waited");
        refused(|trial| trial.roles[1].voluntary_switches = 1 << 40, "voluntary switches in");
        refused(|trial| trial.roles[1].minor_faults = u64::MAX, "minor page faults in");
    }

    #[test]
    fn a_sender_that_never_waits_counts_more_than_its_receivers() {
        let refused = |lost: u64| {
            let case = case("overtaking-ring", Wait::Spin, Placement::OtherCore);
            let mut trial = measurement(&case, 1000.0, 0);
            trial.roles[0].round_trips = trial.round_trips * 30;
            trial.lost = Some(trial.round_trips * lost);
            impossible_in_role(&trial.roles[0], &trial).is_some()
        };
        assert_eq!([0, 30].map(refused), [true, false]);
    }

    #[test]
    fn adapter_may_wait_before_it_is_timed() {
        let waits_longer = |trial: &mut Measurement| {
            trial.roles[0].window_ns = None;
            trial.roles[0].idle_ns = trial.elapsed_ns + trial.elapsed_ns / 10;
        };
        assert_eq!(refusal(waits_longer), None);
    }

    #[test]
    fn a_trial_on_other_processors_is_refused() {
        assert_refused(
            |trial| trial.roles[1].processor = 0,
            Law::Placement,
            "ran on CPUs 0:0, but other-core was requested",
        );
    }

    #[test]
    fn a_trial_that_copied_is_none_in_place() {
        assert_refused(
            |trial| trial.roles[1].access = Access::InPlace,
            Law::Access,
            "the access of the responder was in-place, but copy was requested",
        );
    }

    #[test]
    fn several_pairs_must_agree_pair_by_pair_and_be_measured_together() {
        let parties = std::num::NonZeroU32::new(3).unwrap();
        let case = case("pipe", Wait::Block, Placement::Packed).with_parties(parties);
        let refusal = |change: &dyn Fn(&mut Measurement)| {
            let mut trial = measurement(&case, 5000.0, 0);
            change(&mut trial);
            check_trial(&case, &trial, &decoded(&trial)).err().map(|breach| (breach.law, breach.reason))
        };
        assert_eq!(refusal(&|_| {}), None);
        let (law, reason) = refusal(&|trial| trial.roles[3].messages_received -= 1).unwrap();
        assert_eq!(law, Law::BothRolesCountTheSame);
        assert!(
            reason.starts_with("the initiator 2 received") && reason.contains("the responder 2"),
            "{reason}"
        );
        let (law, _) = refusal(&|trial| trial.roles[4].processor = 1).unwrap();
        assert_eq!(law, Law::Placement);
        let (law, reason) = refusal(&|trial| trial.parts[1].began_ns += trial.elapsed_ns / 3).unwrap();
        assert_eq!(law, Law::SameTime);
        assert!(reason.contains("--budget"), "{reason}");
        assert_eq!(refusal(&|trial| trial.parts.truncate(2)).unwrap().0, Law::CompleteRecord);
        assert_eq!(refusal(&|trial| trial.roles.truncate(5)).unwrap().0, Law::CompleteRecord);
    }

    #[test]
    fn what_comes_from_several_senders_must_add_up() {
        let parties = std::num::NonZeroU32::new(2).unwrap();
        let pair = case("pipe", Wait::Block, Placement::Free);
        let case = pair.with_pattern(Pattern::FanIn).with_parties(parties);
        let refusal = |received: u64| {
            let mut trial = measurement(&case, 5000.0, 0);
            trial.elapsed_ns *= 2;
            trial
                .roles
                .iter_mut()
                .zip([7, 5, received])
                .for_each(|(role, count)| role.messages_received = count);
            check_trial(&case, &trial, &decoded(&trial)).err().map(|breach| (breach.law, breach.reason))
        };
        assert_eq!(refusal(12), None);
        let (law, reason) = refusal(11).unwrap();
        assert_eq!(
            (law, reason.as_str()),
            (Law::BothRolesCountTheSame, "12 messages were sent and 11 received")
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
