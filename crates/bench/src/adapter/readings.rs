//! The clock readings of a program: whether they can be, and the times that they make.

/// Checks readings that a program took between `asked_ns` and `replied_ns`.
///
/// # Errors
/// What cannot be about them.
pub(super) fn check(
    readings: &[u64],
    messages: u64,
    batch: u32,
    [asked_ns, replied_ns]: [u64; 2],
) -> Result<(), String> {
    let expected = messages / u64::from(batch) + 1;
    if readings.len() as u64 != expected {
        return Err(format!(
            "it read the clock {} times, and {expected} times were asked for",
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

/// The times of batches that follow each other at once.
pub(super) fn times(readings: &[u64]) -> Vec<u64> {
    readings.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// How long all took together but the first batch, before which the other role may not have begun; where messages are due, from
/// when the first one was.
pub(super) fn elapsed_ns(readings: &[u64], interval_ns: Option<u64>) -> u64 {
    let first = match interval_ns {
        Some(interval_ns) => readings.first().map(|start| start + interval_ns),
        None => readings.get(1).copied(),
    };
    readings.last().zip(first).map_or(0, |(last, first)| last.saturating_sub(first))
}

/// The times of messages that were due so far apart, from when each was due: one that was sent late, because the one before
/// it was still under way, counts from then all the same.
///
/// # Errors
/// Which message came before it was due.
pub(super) fn times_since_due(readings: &[u64], interval_ns: u64) -> Result<Vec<u64>, String> {
    let Some((start, came)) = readings.split_first() else { return Ok(Vec::new()) };
    let times = came.iter().zip(1..).map(|(reading, number): (&u64, u64)| {
        let due_ns = start + number * interval_ns;
        reading.checked_sub(due_ns).ok_or_else(|| format!("message {number} came before it was due"))
    });
    times.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_messages_that_were_due_count_from_then() {
        // The second one took as long as three intervals, so the third could only be sent late.
        assert_eq!(times_since_due(&[100, 205, 510, 515], 100), Ok(vec![5, 210, 115]));
        let early = times_since_due(&[100, 205, 299], 100).unwrap_err();
        assert_eq!(early, "message 2 came before it was due");
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
