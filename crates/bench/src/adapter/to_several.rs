//! Figures of messages to several receivers, from the clock readings of programs. The readings of each receiver follow
//! the sender's first reading. The first reading of the receiver ends the part that is not timed.

use super::readings::{elapsed_ns, times, times_since_due};
use crate::trial::together;
use furlong_loops::fan_out::ReachTimes;
use furlong_loops::recorder::{Timing, timing_of};
use furlong_loops::role_error::RoleError;
use furlong_model::{Part, Party, Pattern, Role};

/// Returns the readings of each responder after the sender's first reading. If each message goes to one of several
/// workers, all readings of the sender come first.
pub(super) fn behind_the_first(of_each: Vec<Vec<u64>>, pattern: Pattern) -> Vec<Vec<u64>> {
    let mut of_each = of_each.into_iter();
    let sender = of_each.next().unwrap_or_default();
    let first: Vec<u64> = sender.first().copied().into_iter().collect();
    let responders = of_each.map(|own| [first.clone(), own].concat());
    pattern.is_to_one_of_several().then(|| sender.clone()).into_iter().chain(responders).collect()
}

/// Returns the 90th percentile of the time, in nanoseconds, until the last receiver has a message. The messages are due
/// at this interval.
///
/// # Errors
/// Returns the number of a message that arrived before it was due.
pub(super) fn nearly_all_take_ns(readings: &[Vec<u64>], interval_ns: u64) -> Result<u64, String> {
    let mut last: Vec<u64> =
        taken_ns(readings, interval_ns)?.iter().filter_map(|taken| taken.last().copied()).collect();
    last.sort_unstable();
    Ok(last.get(last.len() * 9 / 10).or(last.last()).copied().unwrap_or_default())
}

/// Returns the figures of messages that were due at fixed times; `late` of them were sent later.
///
/// # Errors
/// Returns the contradiction if the readings are impossible.
pub(super) fn when_due(
    readings: &[Vec<u64>],
    interval_ns: u64,
    late: u64,
) -> Result<(Timing, Vec<Part>), String> {
    let sent = Timing { late_sends: late, ..reached(readings, interval_ns)? };
    let receiver = |readings: &Vec<u64>| {
        let elapsed_ns = elapsed_ns(readings, Some(interval_ns));
        let timing = timing_of(&[elapsed_ns], readings.len().saturating_sub(2) as u32).map_err(detail)?;
        Ok(Timing { began_ns: readings[0] + interval_ns, ..timing })
    };
    both(sent, readings.iter().map(receiver))
}

/// Returns the figures of a throughput part with `batch` messages per reading, and of a part with one message in
/// flight.
///
/// # Errors
/// Returns the contradiction if the readings are impossible.
pub(super) fn streamed_and_in_turn(
    streamed: &[Vec<u64>],
    batch: u32,
    in_turn: &[Vec<u64>],
    interval_ns: u64,
) -> Result<(Timing, Vec<Part>), String> {
    let receiver = |readings: &Vec<u64>| {
        let timing = timing_of(&times(readings)[1..], batch).map_err(detail)?;
        Ok(Timing { began_ns: readings[1], ..timing })
    };
    both(reached(in_turn, interval_ns)?, streamed.iter().map(receiver))
}

/// Returns the figures of a pattern in which each message goes to one of several workers, with `batch` messages per
/// reading. The readings and the numbers `exchanged` are those of the sender and then of each worker. Sent messages may
/// wait for a worker, so the time ends when the last worker has its last message.
///
/// # Errors
/// Returns the contradiction if the readings are impossible.
pub(super) fn taken_by_one_of(
    readings: &[Vec<u64>],
    exchanged: &[u64],
    batch: u32,
) -> Result<(Timing, Vec<Part>), String> {
    let Some(([_, sent @ ..], workers)) = readings.split_first().map(|(sent, rest)| (sent.as_slice(), rest))
    else {
        return Err("the sender has not read the clock".to_owned());
    };
    let workers = || workers.iter().zip(exchanged.iter().skip(1));
    let (begin_ns, end_ns) = (sent.first().copied().unwrap_or_default(), sent.last().copied());
    let end_ns = workers().map(|(readings, count)| had_last_ns(readings, batch, *count)).chain(end_ns).max();
    let sender = timing_of(&times(sent), batch).map_err(detail)?;
    let sender = Timing { elapsed_ns: end_ns.unwrap_or_default().saturating_sub(begin_ns), ..sender };
    let several = exchanged.len() as u32 - 1;
    let worker = |(index, (readings, count)): (u32, (&Vec<u64>, &u64))| {
        let before = taken_until(readings, batch, begin_ns).round() as u64;
        let timing = Timing { round_trips: count.saturating_sub(before), ..sender.clone() };
        (Party::of(Role::Responder, index, several), timing)
    };
    let timings =
        [(Role::Initiator.into(), sender.clone())].into_iter().chain((0..).zip(workers()).map(worker));
    together(Pattern::Work, timings.collect())
}

/// Returns the time at which a worker had its last message. The last messages may not fill a batch; they are assumed to
/// have arrived at the mean pace of all before them.
fn had_last_ns(readings: &[u64], batch: u32, count: u64) -> u64 {
    let [first, .., last] = readings else { return 0 };
    let read = (readings.len() as u64 - 1) * u64::from(batch);
    last + ((last - first) as f64 / read as f64 * count.saturating_sub(read) as f64) as u64
}

/// Returns the number of messages that a worker had received at a time. Between two readings, which are `batch`
/// messages apart, the pace is assumed to be constant.
fn taken_until(readings: &[u64], batch: u32, at_ns: u64) -> f64 {
    let whole = readings.partition_point(|reading| *reading <= at_ns).saturating_sub(1);
    let part = match readings[whole.min(readings.len() - 1)..] {
        [from_ns, to_ns, ..] if at_ns > from_ns => (at_ns - from_ns) as f64 / (to_ns - from_ns) as f64,
        _ => 0.0,
    };
    (whole as f64 + part) * f64::from(batch)
}

/// Combines the measurements of the sender and of the receivers.
fn both(
    sent: Timing,
    received: impl Iterator<Item = Result<Timing, String>>,
) -> Result<(Timing, Vec<Part>), String> {
    let received = received.collect::<Result<Vec<Timing>, _>>()?;
    let several = received.len() as u32;
    let parties = (0..several).map(|index| Party::of(Role::Responder, index, several));
    let timings = [(Role::Initiator.into(), sent)].into_iter().chain(parties.zip(received));
    together(Pattern::FanOut, timings.collect())
}

/// Returns the times at which the first, half of all, and the last receiver had each message. The first message is left
/// out.
fn reached(readings: &[Vec<u64>], interval_ns: u64) -> Result<Timing, String> {
    let mut reached = ReachTimes::new().map_err(detail)?;
    let taken_ns = taken_ns(readings, interval_ns)?;
    taken_ns.iter().skip(1).for_each(|taken| reached.keep(0, taken));
    let elapsed_ns = readings.iter().map(|readings| elapsed_ns(readings, Some(interval_ns))).max();
    reached.timing_of(taken_ns.len() as u64 - 1, elapsed_ns.unwrap_or_default()).map_err(detail)
}

/// Returns the time that each message took to each receiver since it was due, sorted by time.
fn taken_ns(readings: &[Vec<u64>], interval_ns: u64) -> Result<Vec<Vec<u64>>, String> {
    let due_ns = (1..).map(|number| number * interval_ns);
    let of_each = readings
        .iter()
        .map(|readings| times_since_due(readings, due_ns.clone(), None).map(|(times, _)| times));
    let of_each = of_each.collect::<Result<Vec<_>, _>>()?;
    let messages = of_each.first().map_or(0, Vec::len);
    let of_message = |message: usize| {
        let mut taken: Vec<u64> = of_each.iter().map(|times| times[message]).collect();
        taken.sort_unstable();
        taken
    };
    Ok((0..messages).map(of_message).collect())
}

fn detail(error: RoleError) -> String {
    error.detail
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_stats::Distribution;

    #[test]
    fn a_message_has_arrived_when_the_last_receiver_has_it() {
        // The messages are due at 1100, 1200 and 1300; the first is not timed.
        let readings = [vec![1000, 1190, 1230, 1310], vec![1000, 1195, 1215, 1350]];
        assert_eq!(taken_ns(&readings, 100), Ok(vec![vec![90, 95], vec![15, 30], vec![10, 50]]));
        assert_eq!(nearly_all_take_ns(&readings, 100), Ok(95));
        let (timing, parts) = when_due(&readings, 100, 3).unwrap();
        // Each message counts once for each receiver.
        assert_eq!((timing.round_trips, timing.late_sends, parts.len()), (4, 6, 2));
        let most = |histogram: &str| Distribution::decode(histogram).unwrap().max_ns();
        let [first, _] = timing.reached.unwrap();
        assert_eq!((most(&first), most(&timing.histogram)), (15.0, 50.0));
        assert!(taken_ns(&[vec![1000, 1090]], 100).is_err());
    }

    #[test]
    fn the_time_of_several_workers_ends_with_the_last_message() {
        let taken = [50, 100, 150, 200, 900].map(|at| taken_until(&[100, 200, 400], 8, at));
        assert_eq!(taken, [0.0, 0.0, 4.0, 8.0, 16.0]);
        // Messages are sent until 400. The first batch is not timed, and the last two messages of the first worker fill
        // no batch.
        let readings = [vec![100, 200, 300, 400], vec![100, 300, 500], vec![100, 200]];
        let (timing, parts) = taken_by_one_of(&readings, &[30, 22, 8], 10).unwrap();
        // The first worker has received 20 messages in 400 ns, and 2 more. Before the time begins, the workers have received
        // 5 and 10 messages.
        assert_eq!((timing.elapsed_ns, timing.round_trips), (340, 17));
        assert_eq!(parts.iter().map(|part| part.round_trips).collect::<Vec<_>>(), [17, 0]);
        let nothing = taken_by_one_of(&[vec![100, 200], vec![100], vec![100]], &[1, 0, 0], 1).unwrap();
        assert_eq!(nothing.0.round_trips, 0);
    }

    #[test]
    fn a_stream_is_timed_by_each_receiver() {
        let in_turn = [vec![0, 150, 230], vec![0, 150, 260]];
        let streamed = [vec![1000, 2000, 3000, 4000], vec![1000, 2000, 4000, 6000]];
        let (timing, parts) = streamed_and_in_turn(&streamed, 10, &in_turn, 100).unwrap();
        assert_eq!(timing.round_trips, 40);
        let of_part = |part: &Part| (part.party.number, part.round_trips, part.began_ns, part.elapsed_ns);
        assert_eq!(parts.iter().map(of_part).collect::<Vec<_>>(), [(1, 20, 0, 2000), (2, 20, 0, 4000)]);
    }
}
