//! A role over a link whose end several processes share: all phases with the loops of [`furlong_loops::shared_end`].

use crate::control::{Control, RoleConfiguration, RoleResult};
use crate::phases::{enter_phase, report_done, tally};
use crate::timed::{LONGEST_WARM_UP_NS, window_for};
use crate::verification::verified_of_each;
use furlong_loops::built_in::BuiltIn;
use furlong_loops::in_batches::Amount;
use furlong_loops::message_loop::MessageLoop;
use furlong_loops::messages::{LoopResult, Messages};
use furlong_loops::paced_work::{send_work_when_due, work_when_due};
use furlong_loops::recorder::Recorder;
use furlong_loops::role_error::RoleError;
use furlong_loops::schedule::Schedule;
use furlong_loops::shared_end::{Place, verify_shared};
use furlong_mechanism::{EndpointSetup, LinkSpecification};
use furlong_model::{Phase, Role, Wait};
use std::io;

/// Opens the ends of this process: several if it sends to each receiver of a group.
pub(crate) fn open(
    built_in: &BuiltIn,
    specifications: &[LinkSpecification],
    setups: Vec<EndpointSetup>,
    wait: Wait,
) -> io::Result<MessageLoop> {
    let alone = || io::Error::other(format!("an end of {} is for one process", built_in.capabilities.name));
    let open_shared = built_in.open_shared.ok_or_else(alone)?;
    open_shared(specifications, setups, wait)
}

/// Runs all phases, with messages or with notifications only.
pub(crate) fn perform(
    control: &mut Control,
    message_loop: &mut MessageLoop,
    messages: &mut Messages<'_>,
    configuration: &RoleConfiguration,
    notifies_only: bool,
) -> Result<(), RoleError> {
    let RoleConfiguration { party, ref exchange, .. } = *configuration;
    let (pattern, parties) = (exchange.pattern(), exchange.parties());
    let mut place = Place::of(exchange, party, notifies_only);

    enter_phase(control, Phase::Verify)?;
    let size_bytes = configuration.specifications[0].sizes_bytes[0];
    // Multiplied by the number of workers, so that each worker can receive some.
    let workers = if pattern.is_to_one_of_several() { u64::from(parties.get()) } else { 1 };
    let of_each = verified_of_each(size_bytes) * workers;
    verify_shared(message_loop.channel(), messages, &mut place, of_each)
        .map_err(|error| error.at(Phase::Verify))?;
    let verified_messages = if party.role == Role::Responder { messages.done } else { 0 };

    enter_phase(control, Phase::WarmUp)?;
    let warm_up_ns = configuration.warm_up_ns;
    let amount = Amount { budget_ns: warm_up_ns.unwrap_or(LONGEST_WARM_UP_NS), batch: 1 };
    let mut recorder = Recorder::for_pace(warm_up_ns.is_none());
    let LoopResult { elapsed_ns, round_trips, .. } = message_loop
        .shared_end()?
        .run_shared(messages, &mut place, amount, &mut recorder)
        .map_err(|error| error.at(Phase::WarmUp))?;
    let batch = window_for(elapsed_ns as f64 / round_trips.max(1) as f64);

    enter_phase(control, Phase::Timed)?;
    let amount = Amount { budget_ns: configuration.budget_ns, batch };
    let is_paced = !configuration.arrival.is_closed_loop();
    let mut recorder = match (is_paced, party.role) {
        (true, Role::Initiator) => Recorder::counting(0, None),
        _ => Recorder::for_samples(0, configuration.most_round_trips)?,
    };
    let end = message_loop.shared_end()?;
    let schedule = Schedule::new(configuration.arrival, configuration.wait, configuration.key)
        .replaying(configuration.replay.clone());
    let result = match &mut place {
        Place::ToWorkers(workers) if is_paced => {
            send_work_when_due(end, messages, (*workers, configuration.budget_ns), schedule)
        }
        Place::Worker(taken) if is_paced => {
            work_when_due(end, messages, (taken, party.index() == 0), schedule, &mut recorder)
        }
        place => end.run_shared(messages, place, amount, &mut recorder),
    }
    .map_err(|error| error.at(Phase::Timed))?;
    let batch = if is_paced { 1 } else { batch };
    let mut timing = recorder.timing(&result, batch)?;
    if party.role == Role::Initiator {
        // A message counts once for each receiver, as at the receivers.
        let receivers = u64::from(exchange.fan_in().receivers.get());
        timing.iter_mut().for_each(|timing| timing.round_trips *= receivers);
    }

    enter_phase(control, Phase::Finish)?;
    let tally = tally(party, messages.done, result)?;
    report_done(control, RoleResult { tally, verified_messages, timing, taken: place.taken() })
}
