//! Rounding of figures.

/// Rounds to seven significant digits, which exceeds the precision of every figure and is equal on every machine.
pub fn tidy(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    format!("{value:.6e}").parse().unwrap_or(value)
}

/// Rounds the ends of the interval of a ratio outwards to three decimals, as they are printed, so that a reader can check a
/// verdict. Ends below 0.001 keep their digits.
pub fn outwards([low, high]: [f64; 2]) -> [f64; 2] {
    const STEPS: f64 = 1000.0;
    // A thousandth of a step is below the precision of every figure, and above the rounding error.
    const SLACK: f64 = 1e-3;
    let low_steps = (low * STEPS + SLACK).floor();
    let high_steps = (high * STEPS - SLACK).ceil();
    [if low_steps > 0.0 { low_steps / STEPS } else { tidy(low) }, high_steps / STEPS]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_rounded_outwards() {
        for (interval, expected) in [
            ([0.9521, 1.0501], [0.952, 1.051]),
            ([0.953, 1.05], [0.953, 1.05]),
            ([1.0, 1.0], [1.0, 1.0]),
            ([1.0 / 1.05, 12.3456], [0.952, 12.346]),
            ([0.0004, 0.0012], [0.0004, 0.002]),
        ] {
            assert_eq!(outwards(interval), expected, "{interval:?}");
        }
    }
}
