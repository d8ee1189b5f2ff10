//! The clock readings of a program: whether they can be, and the times that they make.

/// The times of batches, of readings that a program took between `asked_ns` and `replied_ns`.
///
/// # Errors
/// What cannot be about them.
pub(super) fn times(
    readings: &[u64],
    messages: u64,
    batch: u32,
    [asked_ns, replied_ns]: [u64; 2],
) -> Result<Vec<u64>, String> {
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
    Ok(readings.windows(2).map(|pair| pair[1] - pair[0]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_between_readings() {
        assert_eq!(times(&[10, 13, 20], 4, 2, [5, 30]), Ok(vec![3, 7]));
    }

    #[test]
    fn readings_that_cannot_be_are_refused() {
        for (readings, what) in [
            (&[10, 13][..], "2 times"),
            (&[10, 13, 12], "go back"),
            (&[4, 13, 20], "before it was asked"),
            (&[10, 13, 31], "after it replied"),
        ] {
            let said = times(readings, 4, 2, [5, 30]).unwrap_err();
            assert!(said.contains(what), "{said}");
        }
    }
}
