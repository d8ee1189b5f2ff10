//! Student's t-distribution.

/// Maximum number of terms of the continued fraction, which needs a few tens.
const TERMS: u32 = 400;

/// Returns the two-sided probability of a value at least this far from the middle, with `freedom` degrees of freedom (Press
/// et al., "Numerical Recipes", 6.4).
pub(crate) fn chance_beyond(distance: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + distance * distance), freedom / 2.0, 0.5).clamp(0.0, 1.0)
}

/// Returns the regularised incomplete beta function of a value from 0 to 1.
fn incomplete_beta(value: f64, a: f64, b: f64) -> f64 {
    if value <= 0.0 || value >= 1.0 {
        return value.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * value.ln() + b * (-value).ln_1p()).exp();
    if value < (a + 1.0) / (a + b + 2.0) {
        front * continued_fraction(value, a, b) / a
    } else {
        1.0 - front * continued_fraction(1.0 - value, b, a) / b
    }
}

/// Evaluates the continued fraction by the method of Lentz.
fn continued_fraction(value: f64, a: f64, b: f64) -> f64 {
    let kept_off_zero = |part: f64| if part.abs() < 1e-300 { 1e-300 } else { part };
    let mut upper = 1.0;
    let mut lower = 1.0 / kept_off_zero(1.0 - (a + b) * value / (a + 1.0));
    let mut fraction = lower;
    for term in (1..TERMS).map(f64::from) {
        let twice = a + 2.0 * term;
        let even = term * (b - term) * value / ((twice - 1.0) * twice);
        let odd = -(a + term) * (a + b + term) * value / (twice * (twice + 1.0));
        for part in [even, odd] {
            lower = 1.0 / kept_off_zero(1.0 + part * lower);
            upper = kept_off_zero(1.0 + part / upper);
            fraction *= lower * upper;
        }
        if (lower * upper - 1.0).abs() < 1e-14 {
            break;
        }
    }
    fraction
}

/// Returns the logarithm of the gamma function of a value above 0 (Lanczos).
fn ln_gamma(value: f64) -> f64 {
    const TERMS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.120_865_097_386_617_9e-2,
        -0.539_523_938_495_3e-5,
    ];
    let shifted = value + 5.5;
    let series = (1..)
        .map(f64::from)
        .zip(TERMS)
        .fold(1.000_000_000_190_015, |sum, (at, term)| sum + term / (value + at));
    (value + 0.5) * shifted.ln() - shifted + (2.506_628_274_631_000_5 * series / value).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_the_tables() {
        for (freedom, distance, chance) in [
            (1.0, 12.706_2, 0.05),
            (2.0, 9.924_8, 0.01),
            (5.0, 2.570_6, 0.05),
            (5.0, 6.868_8, 0.001),
            (30.0, 2.042_3, 0.05),
            (1000.0, 1.962_3, 0.05),
        ] {
            let found = chance_beyond(distance, freedom);
            assert!((found / chance - 1.0).abs() < 1e-4, "{freedom}: {found}");
        }
        assert_eq!(chance_beyond(0.0, 3.0), 1.0);
        // Benchmarks of many hosts need probabilities far out. The Cauchy distribution has the tail 2 / (pi t).
        let cauchy = chance_beyond(1e6, 1.0);
        assert!((cauchy / (2.0 / (std::f64::consts::PI * 1e6)) - 1.0).abs() < 1e-6, "{cauchy}");
    }
}
