//! Messages to several receivers by programs: what their clock readings say. Those of each receiver stand behind the sender's, and
//! its first one ends what is not timed.

use super::readings::{elapsed_ns, times, times_since_due};
use crate::trial::together;
use furlong_loops::fan_out::Reached;
use furlong_loops::recorder::{Timing, timing_of};
use furlong_loops::role_error::RoleError;
use furlong_model::{Part, Party, Pattern, Role};

/// What nearly all messages that were due so far apart take until the last receiver has them: all but one of ten.
///
/// # Errors
/// Which message came before it was due.
pub(super) fn nearly_all_take_ns(readings: &[Vec<u64>], interval_ns: u64) -> Result<u64, String> {
    let mut last: Vec<u64> =
        taken_ns(readings, interval_ns)?.iter().filter_map(|taken| taken.last().copied()).collect();
    last.sort_unstable();
    Ok(last.get(last.len() * 9 / 10).or(last.last()).copied().unwrap_or_default())
}

/// The figures of messages that were due at fixed times, of which `late` were sent later.
///
/// # Errors
/// What cannot be about the readings.
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

/// The figures of messages as fast as they were taken, `batch` to a reading, and of those that were due one after the other.
///
/// # Errors
/// What cannot be about the readings.
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

/// Puts together what the sender and the receivers saw.
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

/// The times until the first, half of all, and the last receiver had each message but the first.
fn reached(readings: &[Vec<u64>], interval_ns: u64) -> Result<Timing, String> {
    let mut reached = Reached::new().map_err(detail)?;
    let taken_ns = taken_ns(readings, interval_ns)?;
    taken_ns.iter().skip(1).for_each(|taken| reached.keep(0, taken));
    let elapsed_ns = readings.iter().map(|readings| elapsed_ns(readings, Some(interval_ns))).max();
    reached.timing_of(taken_ns.len() as u64 - 1, elapsed_ns.unwrap_or_default()).map_err(detail)
}

/// How long each message took to each receiver since it was due, in order.
fn taken_ns(readings: &[Vec<u64>], interval_ns: u64) -> Result<Vec<Vec<u64>>, String> {
    let of_each = readings.iter().map(|readings| times_since_due(readings, interval_ns));
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
        // Due at 1100, 1200 and 1300, of which the first is not timed.
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
    fn a_stream_is_timed_by_each_receiver() {
        let in_turn = [vec![0, 150, 230], vec![0, 150, 260]];
        let streamed = [vec![1000, 2000, 3000, 4000], vec![1000, 2000, 4000, 6000]];
        let (timing, parts) = streamed_and_in_turn(&streamed, 10, &in_turn, 100).unwrap();
        assert_eq!(timing.round_trips, 40);
        let of_part = |part: &Part| (part.party.number, part.round_trips, part.began_ns, part.elapsed_ns);
        assert_eq!(parts.iter().map(of_part).collect::<Vec<_>>(), [(1, 20, 0, 2000), (2, 20, 0, 4000)]);
    }
}
