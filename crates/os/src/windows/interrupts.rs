//! Interrupts of devices, of which Windows counts only totals.

/// Returns nothing, because Windows does not report which CPU serves the interrupts of devices.
pub fn per_second() -> Vec<f64> {
    Vec::new()
}
