//! The legs of a role that are on the clock: warming up, and what is measured.

use crate::control::{RoleConfiguration, Timing};
use crate::message_loop::{Leg, MessageLoop};
use crate::role::{RoleError, step};
use crate::waiting::Channel;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use furlong_model::{Arrival, Pattern, Phase, Role, Wait, WaitKind};
use furlong_os::{clock, cpu};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

/// Waits for a message to be due, as the row waits, and gives the processor time that it took, in nanoseconds.
fn idle_until(wait: Wait, due_ns: u64) -> u64 {
    if wait.kind() == WaitKind::Sleeping { sleep_until(due_ns) } else { spin_until(due_ns) }
}

/// Sleeps until a moment before `due_ns` and spins for the rest: how late a timer wakes is no part of the mechanism.
/// Gives the time for which it spun, in nanoseconds.
fn sleep_until(due_ns: u64) -> u64 {
    /// A timer may wake so much later than it was set to.
    const MOMENT_NS: u64 = 100_000;
    clock::sleep_until(due_ns.saturating_sub(MOMENT_NS));
    spin_until(due_ns)
}

/// Keeps the processor busy until `due_ns`, and says for how long, in nanoseconds.
fn spin_until(due_ns: u64) -> u64 {
    let begin = clock::now_ns();
    let mut now = begin;
    while now < due_ns {
        cpu::pause();
        now = clock::now_ns();
    }
    now - begin
}

/// Runs the loop for the time asked, or else until its pace is steady, and says how many round trips, or messages one
/// way, to time at once.
pub(crate) fn warm_up<C: Channel>(
    exchange: &mut MessageLoop<'_, C>,
    configuration: &RoleConfiguration,
) -> Result<u32, RoleError> {
    /// The longest to wait for a steady pace.
    const LONGEST_NS: u64 = 60_000_000;
    let budget_ns = configuration.warm_up_ns.unwrap_or(LONGEST_NS);
    let mut steady = Steady::default();
    let go_on = |sample_ns| !steady.after(sample_ns) || configuration.warm_up_ns.is_some();
    match (configuration.pattern, configuration.role) {
        (Pattern::OneWay, Role::Responder) => {
            let leg = exchange.drain(1, |_, _| {})?;
            return Ok(window_for(leg.elapsed_ns as f64 / leg.round_trips.max(1) as f64));
        }
        (_, Role::Responder) => return exchange.follow().map(|_| 1),
        (Pattern::OneWay, Role::Initiator) => exchange.stream(budget_ns, 1, go_on)?,
        (_, Role::Initiator) => exchange.lead(budget_ns, 1, go_on)?,
    };
    Ok(steady.pace_ns().map_or(1, |pace_ns| batch_for(pace_ns, configuration.clock_read_ns)))
}

/// Windows of a warm-up in a row that are compared.
const WINDOWS: usize = 3;

/// Finds out when a pace is steady: when windows of 2 ms in a row differ by no more than a tenth.
#[derive(Debug, Default)]
struct Steady {
    paces_ns: [f64; WINDOWS],
    windows: usize,
    elapsed_ns: u64,
    round_trips: u32,
}

impl Steady {
    /// Whether the pace is steady after one more round trip, which took `sample_ns`.
    fn after(&mut self, sample_ns: u64) -> bool {
        const WINDOW_NS: u64 = 2_000_000;
        self.elapsed_ns += sample_ns;
        self.round_trips += 1;
        if self.elapsed_ns < WINDOW_NS {
            return false;
        }
        self.paces_ns[self.windows % WINDOWS] = self.elapsed_ns as f64 / f64::from(self.round_trips);
        (self.windows, self.elapsed_ns, self.round_trips) = (self.windows + 1, 0, 0);
        let least = self.paces_ns.iter().copied().fold(f64::MAX, f64::min);
        let most = self.paces_ns.iter().copied().fold(0.0, f64::max);
        self.windows >= WINDOWS && most <= least * 1.1
    }

    /// The best pace of the last windows, in nanoseconds a round trip; `None` before the first has ended.
    fn pace_ns(&self) -> Option<f64> {
        self.paces_ns.iter().copied().filter(|arrival| *arrival > 0.0).reduce(f64::min)
    }
}

/// How many round trips to time at once: 1 unless reading the clock would be more than a fiftieth of what is
/// timed, else enough to make it less than a hundredth.
fn batch_for(pace_ns: f64, clock_read_ns: f64) -> u32 {
    const MOST: f64 = 65_536.0;
    // What was measured one at a time has a reading of the clock in it.
    let pace_ns = (pace_ns - clock_read_ns).max(1.0);
    if clock_read_ns <= pace_ns * 0.02 {
        1
    } else {
        (clock_read_ns / (pace_ns * 0.01)).ceil().min(MOST) as u32
    }
}

/// How many messages one way to time at once: what arrives comes in bursts, as large as the buffer in between, and one
/// by one their times say nothing. A window lasts a millisecond or more.
fn window_for(pace_ns: f64) -> u32 {
    const WINDOW_NS: f64 = 1_000_000.0;
    (WINDOW_NS / pace_ns.max(1.0)).ceil() as u32
}

/// The measured leg, and its times if this role stops the clock.
pub(crate) fn timed<C: Channel>(
    exchange: &mut MessageLoop<'_, C>,
    configuration: &RoleConfiguration,
    batch: u32,
) -> Result<(Leg, Option<Timing>), RoleError> {
    match (configuration.pattern, configuration.role) {
        (Pattern::OneWay, role) if let Arrival::Interval(interval_ns) = configuration.arrival => {
            time_deliveries(exchange, configuration, role, interval_ns)
        }
        (Pattern::OneWay, Role::Initiator) => {
            let most = configuration.most_round_trips.unwrap_or(u64::MAX);
            // The last one is sent once it is announced.
            let mut sent = 1;
            let go_on = |_| {
                sent += u64::from(batch);
                sent < most
            };
            exchange.stream(configuration.budget_ns, batch, go_on).map(|leg| (leg, None))
        }
        (Pattern::OneWay, Role::Responder) => {
            let mut samples = Samples::new(batch)?;
            let leg = exchange.drain(batch, |sample_ns, messages| samples.keep(sample_ns, messages))?;
            Ok((leg, Some(samples.timing(leg, 0)?)))
        }
        (_, Role::Initiator) => time_round_trips(exchange, configuration, batch),
        (_, Role::Responder) => exchange.follow().map(|leg| (leg, None)),
    }
}

/// The measured leg of messages one way at fixed times.
fn time_deliveries<C: Channel>(
    exchange: &mut MessageLoop<'_, C>,
    configuration: &RoleConfiguration,
    role: Role,
    interval_ns: u64,
) -> Result<(Leg, Option<Timing>), RoleError> {
    if role == Role::Initiator {
        let idle = |due_ns| idle_until(configuration.wait, due_ns);
        return exchange.stream_at_pace(configuration.budget_ns, interval_ns, idle).map(|leg| (leg, None));
    }
    let mut samples = Samples::new(1)?;
    let (leg, late_sends) = exchange.drain_at_pace(interval_ns, |sample_ns| samples.keep(sample_ns, 1))?;
    Ok((leg, Some(samples.timing(leg, late_sends)?)))
}

/// The measured leg of round trips, for who holds the clock.
fn time_round_trips<C: Channel>(
    exchange: &mut MessageLoop<'_, C>,
    configuration: &RoleConfiguration,
    batch: u32,
) -> Result<(Leg, Option<Timing>), RoleError> {
    if configuration.arrival.is_closed_loop() {
        let most = configuration.most_round_trips.unwrap_or(u64::MAX);
        // One batch is under way while the one before it is kept.
        let mut done = u64::from(batch);
        let mut samples = Samples::new(batch)?;
        let leg = exchange.lead(configuration.budget_ns, batch, |sample_ns| {
            samples.keep(sample_ns, batch);
            done += u64::from(batch);
            done < most
        })?;
        return Ok((leg, Some(samples.timing(leg, 0)?)));
    }
    let idle = |due_ns| idle_until(configuration.wait, due_ns);
    let mut samples = Samples::new(1)?;
    let (leg, late_sends) =
        exchange.lead_at_pace(configuration.budget_ns, configuration.arrival, idle, |sample_ns| {
            samples.keep(sample_ns, 1)
        })?;
    Ok((leg, Some(samples.timing(leg, late_sends)?)))
}

/// The times of a leg, as they are kept.
struct Samples {
    histogram: Histogram<u64>,
    per_sample: u32,
    /// Kept so far.
    round_trips: u64,
}

impl Samples {
    fn new(per_sample: u32) -> Result<Samples, RoleError> {
        /// The longest sample that is told from longer ones: a minute.
        const LONGEST_NS: u64 = 60_000_000_000;
        let histogram = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 3);
        let histogram = step(Phase::Timed, "make a histogram", histogram)?;
        Ok(Samples { histogram, per_sample, round_trips: 0 })
    }

    /// Keeps the mean of so many round trips.
    #[inline]
    fn keep(&mut self, sample_ns: u64, round_trips: u32) {
        // Rounded to the nearest; 0 is not in the histogram's range and cannot be seen with such batches.
        let round_trips = u64::from(round_trips);
        self.round_trips += round_trips;
        self.histogram.saturating_record(((sample_ns + round_trips / 2) / round_trips).max(1));
    }

    fn timing(self, leg: Leg, late_sends: u64) -> Result<Timing, RoleError> {
        let mut bytes = Vec::new();
        let written = V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes);
        step(Phase::Finish, "write the histogram", written.map_err(|error| format!("{error:?}")))?;
        Ok(Timing {
            round_trips: self.round_trips,
            elapsed_ns: leg.elapsed_ns,
            round_trips_per_sample: self.per_sample,
            late_sends,
            histogram: STANDARD.encode(bytes),
        })
    }
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
