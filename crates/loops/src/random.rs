//! Random numbers of known distributions. Each is a function of a key and a number, so that two processes draw the same ones.

use crate::stamp::mix;

/// Returns the random number `number`, above 0 and at most 1.
pub(crate) fn uniform(key: u64, number: u64) -> f64 {
    const BITS: u32 = 53;
    let bits = mix(key.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))) >> (u64::BITS - BITS);
    (bits + 1) as f64 / (1u64 << BITS) as f64
}

/// Returns the random number `number` of an exponential distribution with the mean 1.
pub(crate) fn exponential(key: u64, number: u64) -> f64 {
    -uniform(key, number).ln()
}

/// Returns the random number `number` of a normal distribution with the mean 0 and the deviation 1 (Box and Muller 1958).
pub(crate) fn normal(key: u64, number: u64) -> f64 {
    let angle = std::f64::consts::TAU * uniform(!key, number);
    (2.0 * exponential(key, number)).sqrt() * angle.cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let numbers: Vec<f64> = (0..100_000).map(|number| normal(3, number)).collect();
        let mean = numbers.iter().sum::<f64>() / 1e5;
        let variance = numbers.iter().map(|number| number * number).sum::<f64>() / 1e5;
        let beyond_two = numbers.iter().filter(|number| number.abs() > 2.0).count() as f64 / 1e5;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean}, {variance}");
        assert!((beyond_two - 0.0455).abs() < 0.004, "{beyond_two}");
    }
}
