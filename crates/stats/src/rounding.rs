//! How many digits of a figure are kept.

/// Seven significant digits: more than any figure here is worth, and the same on every machine.
pub fn tidy(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    format!("{value:.6e}").parse().unwrap_or(value)
}
