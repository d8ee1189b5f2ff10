//! Checks of the clock readings of a program, and the times between them.

use furlong_loops::schedule::{LateSends, Schedule};
use furlong_model::{Arrival, TimerLateness, Wait};
use std::collections::BTreeMap;

/// Checks readings that a program took between `asked_ns` and `replied_ns`.
///
/// # Errors
/// Returns the contradiction if the readings are impossible.
pub(super) fn check(
    readings: &[u64],
    messages: u64,
    batch: u32,
    [asked_ns, replied_ns]: [u64; 2],
) -> Result<(), String> {
    let expected = messages / u64::from(batch) + 1;
    if readings.len() as u64 != expected {
        return Err(format!(
            "it read the clock {} times, but {expected} times were requested",
            readings.len()
        ));
    }
    if !readings.is_sorted() {
        return Err("its clock readings go back in time".to_owned());
    }
    if readings.iter().any(|reading| !(asked_ns..=replied_ns).contains(reading)) {
        return Err("its clock readings were taken before it was asked or after it replied".to_owned());
    }
    Ok(())
}

/// Returns the times of batches in a closed loop, in nanoseconds.
pub(super) fn times(readings: &[u64]) -> Vec<u64> {
    readings.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Returns the time of all messages except the first batch, in nanoseconds: the other role may begin during that batch.
/// If messages are due at certain times, the time begins when the first message was due, `first_due_ns` after the first reading.
pub(super) fn elapsed_ns(readings: &[u64], first_due_ns: Option<u64>) -> u64 {
    let first = match first_due_ns {
        Some(first_due_ns) => readings.first().map(|start| start + first_due_ns),
        None => readings.get(1).copied(),
    };
    readings.last().zip(first).map_or(0, |(last, first)| last.saturating_sub(first))
}

/// Returns the times of messages that were due at these times after the first reading, by the rule of furlong's own loops. A time
/// begins when the message was due. It begins with the send if the program reports that the send was late, and no message was in
/// flight when this one was due.
///
/// # Errors
/// Returns the number of a message that arrived before it was due or sent.
pub(super) fn times_since_due(
    readings: &[u64],
    due_ns: impl IntoIterator<Item = u64>,
    late_by_ns: Option<&[u64]>,
) -> Result<(Vec<u64>, Option<TimerLateness>), String> {
    let schedule = Schedule::new(Arrival::Interval(1), Wait::Block, 0);
    let pairs = late_by_ns.unwrap_or_default().chunks_exact(2);
    let late_by: BTreeMap<u64, u64> = pairs.map(|pair| (pair[0], pair[1])).collect();
    let mut late = LateSends::default();
    let mut times = Vec::with_capacity(readings.len());
    for ((number, pair), due_ns) in (1..).zip(readings.windows(2)).zip(due_ns) {
        let due_ns = readings[0] + due_ns;
        let sent_ns = due_ns.saturating_add(late_by.get(&number).copied().unwrap_or_default());
        // The first message is not measured.
        let mut unmeasured = LateSends::default();
        let counted = if number == 1 { &mut unmeasured } else { &mut late };
        let from_ns = schedule.timed_from_ns([due_ns, pair[0], sent_ns], counted);
        let time = pair[1].checked_sub(from_ns);
        times.push(time.ok_or_else(|| format!("message {number} came before it was due or sent"))?);
    }
    Ok((times, late_by_ns.map(|_| late.by_timer)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(interval_ns: u64) -> impl Iterator<Item = u64> {
        (1..).map(move |number| number * interval_ns)
    }

    #[test]
    fn times_of_messages_that_were_due_count_from_then() {
        assert_eq!(times_since_due(&[100, 205, 510], [100, 100], None), Ok((vec![5, 310], None)), "a burst");
        // The second message took longer than two intervals, so the third was sent late.
        assert_eq!(times_since_due(&[100, 205, 510, 515], every(100), None), Ok((vec![5, 210, 115], None)));
        let early = times_since_due(&[100, 205, 299], every(100), None).unwrap_err();
        assert_eq!(early, "message 2 came before it was due or sent");
    }

    #[test]
    fn messages_that_only_the_timer_of_a_program_delayed_count_from_their_send() {
        const MS: u64 = 1_000_000;
        // Due at 1, 2, 3 and 4 ms. The second is sent 90 us late, the third takes until after the fourth is due.
        let readings = [0, MS + 5_000, 2 * MS + 95_000, 4 * MS + 10_000, 4 * MS + 20_000];
        let late = [1, 3_000, 2, 90_000, 4, 12_000];
        let (times, by_timer) = times_since_due(&readings, every(MS), Some(&late)).unwrap();
        assert_eq!(times, [2_000, 5_000, MS + 10_000, 20_000]);
        assert_eq!(by_timer, Some(TimerLateness { sends: 1, total_ns: 90_000, longest_ns: 90_000 }));
        // A program that does not report it has times since messages were due.
        assert_eq!(
            times_since_due(&readings, every(MS), None),
            Ok((vec![5_000, 95_000, MS + 10_000, 20_000], None))
        );
        assert!(times_since_due(&readings, every(MS), Some(&[2, 100_000])).is_err(), "sent after it came");
    }

    #[test]
    fn times_are_those_between_readings() {
        let readings = [10, 13, 20, 40];
        assert_eq!(check(&readings, 6, 2, [5, 40]), Ok(()));
        assert_eq!((times(&readings), elapsed_ns(&readings, None)), (vec![3, 7, 20], 27));
        assert_eq!(elapsed_ns(&readings, Some(2)), 28);
    }

    #[test]
    fn readings_that_cannot_be_are_refused() {
        for (readings, what) in [
            (&[10, 13][..], "2 times"),
            (&[10, 13, 12], "go back"),
            (&[4, 13, 20], "before it was asked"),
            (&[10, 13, 31], "after it replied"),
        ] {
            let said = check(readings, 4, 2, [5, 30]).unwrap_err();
            assert!(said.contains(what), "{said}");
        }
    }
}
