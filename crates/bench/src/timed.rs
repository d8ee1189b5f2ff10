//! The timed parts of a role's work: the warm-up and the measurement.

use crate::control::{RoleConfiguration, Timing};
use furlong_loops::batches::{receive_stream, receive_when_due, send_stream, send_when_due};
use furlong_loops::fan_out::{ReachTimes, receive_in_turn, receive_with_a_stall, send_in_turn};
use furlong_loops::message_loop::MessageLoop;
use furlong_loops::messages::{LoopResult, Messages};
use furlong_loops::open_loop::initiate_open_loop;
use furlong_loops::recorder::Recorder;
use furlong_loops::role_error::RoleError;
use furlong_loops::round_trip::initiate_when_due;
use furlong_loops::schedule::Schedule;
use furlong_loops::size_sequence::SizeSequence;
use furlong_model::Role;
/// The longest warm-up, in nanoseconds, of a loop whose pace does not become steady.
pub(crate) const LONGEST_WARM_UP_NS: u64 = 60_000_000;

/// Runs the loop for the requested time, or otherwise until its pace is steady. Returns the number of round trips or
/// one-way messages to time at once.
pub(crate) fn warm_up(
    message_loop: &mut MessageLoop,
    messages: &mut Messages<'_>,
    configuration: &RoleConfiguration,
) -> Result<u32, RoleError> {
    let budget_ns = configuration.warm_up_ns.unwrap_or(LONGEST_WARM_UP_NS);
    let mut recorder = Recorder::for_pace(configuration.warm_up_ns.is_none());
    match (configuration.exchange.pattern().is_one_way(), configuration.party.role) {
        (true, Role::Responder) => {
            let result = receive_stream(message_loop, messages, 1, &mut recorder)?;
            return Ok(window_for(result.elapsed_ns as f64 / result.round_trips.max(1) as f64));
        }
        (false, Role::Responder) => return message_loop.responder()?.respond(messages).map(|_| 1),
        (true, Role::Initiator) => send_stream(message_loop, messages, budget_ns, 1, &mut recorder)?,
        (false, Role::Initiator) => {
            round_trips(message_loop, messages, configuration, budget_ns, 1, &mut recorder)?
        }
    };
    // With several round trips in flight, or of several sizes, each is timed.
    if configuration.exchange.window().get() > 1 || configuration.conditions.has_several_sizes() {
        return Ok(1);
    }
    Ok(recorder.pace_ns().map_or(1, |pace_ns| batch_for(pace_ns, configuration.clock_read_ns)))
}

/// Runs the measured part. Returns its times if this role stops the clock.
pub(crate) fn timed(
    message_loop: &mut MessageLoop,
    messages: &mut Messages<'_>,
    configuration: &RoleConfiguration,
    batch: u32,
) -> Result<(LoopResult, Option<Timing>), RoleError> {
    let pattern = configuration.exchange.pattern();
    let RoleConfiguration { party, arrival, wait, budget_ns, most_round_trips, .. } = *configuration;
    let role = party.role;
    let schedule = Schedule::new(arrival, wait, configuration.key).replaying(configuration.replay.clone());
    messages.begin_trace();
    if pattern.is_to_all() {
        return timed_fan_out(message_loop, messages, configuration, batch);
    }
    let per_sample = if arrival.is_closed_loop() { batch } else { 1 };
    let is_one_way = pattern.is_one_way();
    let mut recorder = match (is_one_way, role) {
        (true, Role::Responder) => Recorder::for_samples(0, None)?,
        // The last message is sent after the recorder has ended the loop.
        (true, Role::Initiator) => Recorder::counting(1, most_round_trips),
        // One batch is in flight while the one before it is recorded. In a window, each message is recorded at once.
        (false, Role::Initiator) => {
            let under_way = if configuration.exchange.window().get() == 1 { batch } else { 0 };
            Recorder::for_samples(under_way, most_round_trips)?
        }
        (false, Role::Responder) => Recorder::counting(0, None),
    };
    // In a closed loop one way, the time between two arrivals says nothing about the size of the second one.
    if let Some(mix) = configuration.conditions.size_mix()
        && (!is_one_way && role == Role::Initiator
            || !arrival.is_closed_loop() && is_one_way && role == Role::Responder)
    {
        // The messages that synchronise both roles are not timed, and neither is the first window.
        let window = configuration.exchange.window().get();
        let untimed = 1 + if window > 1 && arrival.is_closed_loop() { u64::from(window) } else { 0 };
        let first = messages.done + untimed + 1;
        let sequence =
            SizeSequence::new(mix, configuration.key).replaying(configuration.replay.as_ref(), first);
        recorder = recorder.by_size(sequence, first)?;
    }
    let again_before = message_loop.channel().sent_again();
    let result = match (is_one_way, role, arrival.is_closed_loop()) {
        (true, Role::Initiator, true) => send_stream(message_loop, messages, budget_ns, batch, &mut recorder),
        (true, Role::Initiator, false) => send_when_due(message_loop, messages, budget_ns, schedule),
        (true, Role::Responder, true) => receive_stream(message_loop, messages, batch, &mut recorder),
        (true, Role::Responder, false) => receive_when_due(message_loop, messages, schedule, &mut recorder),
        (false, Role::Initiator, true) => {
            round_trips(message_loop, messages, configuration, budget_ns, batch, &mut recorder)
        }
        (false, Role::Initiator, false) => match configuration.exchange.window().get() {
            1 => initiate_when_due(message_loop.channel(), messages, budget_ns, schedule, &mut recorder),
            window => {
                let pace = (schedule, window);
                initiate_open_loop(message_loop.channel(), messages, budget_ns, pace, &mut recorder)
            }
        },
        (false, Role::Responder, _) => message_loop.responder()?.respond(messages),
    }?;
    let again = message_loop.channel().sent_again().zip(again_before).map(|(after, before)| after - before);
    let timing = recorder.timing(&result, per_sample)?;
    Ok((result, timing.map(|timing| Timing { sent_again: again, ..timing })))
}

/// Makes round trips one after the other, with one clock reading per `batch`, or with several in flight.
fn round_trips(
    message_loop: &mut MessageLoop,
    messages: &mut Messages<'_>,
    configuration: &RoleConfiguration,
    budget_ns: u64,
    batch: u32,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    match configuration.exchange.window().get() {
        1 => message_loop.initiator()?.initiate(messages, budget_ns, batch, recorder),
        window => message_loop.one_end()?.initiate_window(messages, budget_ns, window, recorder),
    }
}

/// Runs the measured part of a pattern in which each message goes to several receivers. In a closed loop, half of the
/// time measures throughput, and half has one message in flight. If messages are due at certain times, all of the time
/// has as many messages in flight as are due, up to a bound. If a receiver is to stall, a third part of the same length
/// follows. The resource usage of a role is that of the throughput part, if it exists.
fn timed_fan_out(
    message_loop: &mut MessageLoop,
    messages: &mut Messages<'_>,
    configuration: &RoleConfiguration,
    batch: u32,
) -> Result<(LoopResult, Option<Timing>), RoleError> {
    let stall = configuration.exchange.stall();
    let RoleConfiguration { party, arrival, wait, budget_ns, .. } = *configuration;
    let schedule = Schedule::new(arrival, wait, configuration.key).replaying(configuration.replay.clone());
    let streams = arrival.is_closed_loop();
    let half_ns = if streams { budget_ns / 2 } else { budget_ns };
    match party.role {
        Role::Initiator => {
            let stream = streams
                .then(|| {
                    let recorder = &mut Recorder::counting(1, None);
                    message_loop.sender()?.send_stream(messages, half_ns, batch, recorder)
                })
                .transpose()?;
            let mut reached = ReachTimes::new()?;
            let in_turn = send_in_turn(message_loop.channel(), messages, half_ns, schedule, &mut reached)?;
            if stall.is_some() {
                let recorder = &mut Recorder::counting(1, None);
                message_loop.sender()?.send_stream(messages, half_ns, 1, recorder)?;
            }
            Ok((stream.unwrap_or(in_turn), Some(reached.timing(&in_turn)?)))
        }
        Role::Responder => {
            let mut recorder = Recorder::for_samples(0, None)?;
            let stream = streams
                .then(|| message_loop.one_end()?.receive_stream(messages, batch, &mut recorder))
                .transpose()?;
            let in_turn = receive_in_turn(message_loop.channel(), messages)?;
            let result = stream.unwrap_or(in_turn);
            if !streams {
                recorder.keep(result.elapsed_ns, result.round_trips as u32);
            }
            let mut timing = recorder.timing(&result, batch)?;
            match stall {
                Some(stall) if stall.get() == party.number => {
                    let slept = receive_with_a_stall(message_loop.channel(), messages, half_ns)?;
                    timing.iter_mut().for_each(|timing| timing.stall = Some(slept));
                }
                Some(_) => {
                    let uncounted = &mut Recorder::counting(0, None);
                    message_loop.one_end()?.receive_stream(messages, 1, uncounted)?;
                }
                None => {}
            }
            Ok((result, timing))
        }
    }
}

/// Returns the number of round trips to time at once. It is 1 if reading the clock takes at most 2 % of the time of a
/// round trip. Otherwise it is large enough that reading the clock takes at most 1 %.
pub(crate) fn batch_for(pace_ns: f64, clock_read_ns: f64) -> u32 {
    const MOST: f64 = 65_536.0;
    // The pace was measured one at a time, so it contains one reading of the clock.
    let pace_ns = (pace_ns - clock_read_ns).max(1.0);
    if clock_read_ns <= pace_ns * 0.02 {
        1
    } else {
        (clock_read_ns / (pace_ns * 0.01)).ceil().min(MOST) as u32
    }
}

/// Returns the number of one-way messages to time at once, which last at least 1 ms. Messages arrive in bursts as large
/// as the buffer, so the time of a single message means nothing.
pub(crate) fn window_for(pace_ns: f64) -> u32 {
    const WINDOW_NS: f64 = 1_000_000.0;
    (WINDOW_NS / pace_ns.max(1.0)).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_rows_are_timed_one_by_one() {
        assert_eq!(batch_for(50_000.0, 23.0), 1);
        assert_eq!(batch_for(1_500.0, 23.0), 1);
    }

    #[test]
    fn the_clock_takes_less_than_a_hundredth_of_a_batch() {
        for pace_ns in [30.0, 150.0, 500.0, 1_000.0] {
            let batch = batch_for(pace_ns, 23.0);
            assert!(batch > 1 && 23.0 <= f64::from(batch) * (pace_ns - 23.0) * 0.01, "{pace_ns}: {batch}");
        }
    }
}
