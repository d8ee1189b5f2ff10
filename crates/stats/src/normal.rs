//! The normal distribution.

/// Returns the probability of a value below this number of standard deviations from the mean.
pub(crate) fn chance_below(deviations: f64) -> f64 {
    let tail = complementary_error(deviations.abs() / std::f64::consts::SQRT_2) / 2.0;
    if deviations < 0.0 { tail } else { 1.0 - tail }
}

/// Returns the density at this number of standard deviations from the mean.
pub(crate) fn density(deviations: f64) -> f64 {
    (-deviations * deviations / 2.0).exp() / std::f64::consts::TAU.sqrt()
}

/// Returns the complementary error function of a value of 0 or more, with an error up to 1.2e-7 (Press et al., "Numerical
/// Recipes", 6.2).
pub(crate) fn complementary_error(value: f64) -> f64 {
    const TERMS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let t = 1.0 / (1.0 + 0.5 * value);
    let series = TERMS.iter().rev().fold(0.0, |sum, term| sum * t + term);
    t * (series - value * value).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_the_tables() {
        for (deviations, chance) in [(0.0, 0.5), (1.0, 0.841_345), (-1.959_964, 0.025), (3.0, 0.998_650)] {
            assert!((chance_below(deviations) - chance).abs() < 1e-6, "{deviations}");
        }
        assert!((density(1.0) - 0.241_971).abs() < 1e-6);
    }
}
