//! Fairness of a distribution of amounts.

/// Returns Jain's index of fairness: 1 if all amounts are equal, 1/n if only one is above zero (R. Jain, D. Chiu and W.
/// Hawe, "A quantitative measure of fairness and discrimination for resource allocation in shared computer systems", 1984).
/// Returns `None` if the sum is zero.
pub fn jain(amounts: &[f64]) -> Option<f64> {
    let sum: f64 = amounts.iter().sum();
    let squares: f64 = amounts.iter().map(|amount| amount * amount).sum();
    (squares > 0.0).then(|| sum * sum / (amounts.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_all_to_one() {
        assert_eq!(jain(&[3.0; 5]), Some(1.0));
        assert_eq!(jain(&[7.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[1.0, 2.0, 3.0]), Some(36.0 / 42.0));
        assert_eq!([jain(&[]), jain(&[0.0, 0.0])], [None, None]);
    }
}
