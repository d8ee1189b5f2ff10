//! Requested traffic: the sizes of messages, and the time that a receiver works on each.

use super::{ConditionKind, RequestedCondition, RequestedConditions};
use crate::{ByteSize, Start, Time, format_bytes, format_exact_ns};
use std::fmt;

/// Most classes of a mix.
const MOST_CLASSES: usize = 32;

/// Most bytes of a message of a mix.
const MOST_BYTES: usize = 1 << 30;

/// Sizes of messages, each with its weight.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SizeMix {
    /// The mix as it was requested.
    text: Box<str>,
    /// Bytes and weight of each class, by size.
    classes: Box<[(usize, u32)]>,
}

impl SizeMix {
    /// Returns bytes and weight of each class, by size.
    pub fn classes(&self) -> &[(usize, u32)] {
        &self.classes
    }

    /// Returns the smallest size in bytes.
    pub fn smallest_bytes(&self) -> usize {
        self.classes.first().map_or(0, |class| class.0)
    }

    /// Returns the largest size in bytes.
    pub fn largest_bytes(&self) -> usize {
        self.classes.last().map_or(0, |class| class.0)
    }

    /// Returns the mean size in bytes.
    pub fn mean_bytes(&self) -> f64 {
        let sum: f64 = self.classes.iter().map(|class| f64::from(class.1)).sum();
        self.classes.iter().map(|(bytes, weight)| *bytes as f64 * f64::from(*weight)).sum::<f64>() / sum
    }

    /// Returns classes for all sizes between the ends: the smallest size, each larger power of two, and the largest size.
    pub(super) fn from_ends(smallest: usize, largest: usize) -> SizeMix {
        let powers = std::iter::successors(Some((smallest + 1).next_power_of_two()), |bytes| Some(bytes * 2));
        let sizes =
            [smallest].into_iter().chain(powers.take_while(|bytes| *bytes < largest)).chain([largest]);
        SizeMix { text: String::new().into(), classes: sizes.map(|bytes| (bytes, 1)).collect() }
    }

    fn read(text: &str) -> Option<SizeMix> {
        let (mut classes, text) = if let Some(shape) = text.strip_prefix("lognormal:") {
            (log_normal(shape)?, text.to_owned())
        } else if let Some(shape) = text.strip_prefix("zipf:") {
            (zipf(shape)?, text.to_owned())
        } else {
            let classes = text.split(',').map(class).collect::<Option<Vec<_>>>()?;
            let words: Vec<_> =
                classes.iter().map(|(bytes, weight)| format!("{}:{weight}", format_bytes(*bytes))).collect();
            (classes, words.join(","))
        };
        classes.sort_unstable();
        let is_each_once = classes.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let fits = (1..=MOST_CLASSES).contains(&classes.len())
            && classes.iter().all(|(bytes, weight)| (1..=MOST_BYTES).contains(bytes) && *weight > 0);
        (is_each_once && fits).then(|| SizeMix { text: text.into(), classes: classes.into() })
    }
}

/// Reads a size with its weight: `4KiB:25`.
fn class(text: &str) -> Option<(usize, u32)> {
    /// Largest weight of a class.
    const MOST: u32 = 1_000_000;
    let (size, weight) = text.split_once(':')?;
    let is_number = weight.bytes().all(|byte| byte.is_ascii_digit());
    let weight = weight.parse().ok().filter(|weight| is_number && *weight <= MOST)?;
    Some((size.parse::<ByteSize>().ok()?.0, weight))
}

/// Returns the powers of two of a log-normal distribution, `MEDIAN,SIGMA`, up to three standard deviations from the median.
fn log_normal(text: &str) -> Option<Vec<(usize, u32)>> {
    let (median, sigma) = text.split_once(',')?;
    let median = median.parse::<ByteSize>().ok()?.0 as f64;
    let sigma = positive(sigma).filter(|sigma| *sigma <= 3.0)?;
    let [first, last] =
        [-3.0, 3.0].map(|deviations| (median * (deviations * sigma).exp()).log2().round().max(0.0) as u32);
    let below = |exponent: f64| normal_share((exponent.exp2() / median).ln() / sigma);
    Some(weighted((first..=last).map(|exponent| {
        let middle = f64::from(exponent);
        (1 << exponent.min(40), below(middle + 0.5) - below(middle - 0.5))
    })))
}

/// Returns the sizes of a Zipf distribution, `SMALLEST..LARGEST,EXPONENT`: powers of two times the smallest one, and the weight
/// of the n-th is proportional to n to the power of minus `EXPONENT`.
fn zipf(text: &str) -> Option<Vec<(usize, u32)>> {
    let (range, exponent) = text.split_once(',')?;
    let (smallest, largest) = range.split_once("..")?;
    let [smallest, largest] = [smallest, largest].map(|size| size.parse::<ByteSize>().map(|size| size.0));
    let (smallest, largest) = (smallest.ok().filter(|bytes| *bytes > 0)?, largest.ok()?);
    let exponent = positive(exponent).filter(|exponent| *exponent <= 10.0)?;
    let sizes = std::iter::successors(Some(smallest), |bytes| bytes.checked_mul(2))
        .take_while(|bytes| *bytes <= largest)
        .take(MOST_CLASSES);
    Some(weighted((1..).zip(sizes).map(|(rank, bytes)| (bytes, f64::from(rank).powf(-exponent)))))
}

/// Returns classes whose weights are whole numbers, proportional to these. Leaves out those that are rarer than one in 100,000.
fn weighted(classes: impl Iterator<Item = (usize, f64)>) -> Vec<(usize, u32)> {
    let classes: Vec<_> = classes.collect();
    let sum: f64 = classes.iter().map(|class| class.1).sum();
    let whole = |weight: f64| (weight / sum * 1e5).round() as u32;
    classes.into_iter().map(|(bytes, weight)| (bytes, whole(weight))).filter(|class| class.1 > 0).collect()
}

/// Returns the share of a normal distribution below this number of standard deviations (Abramowitz and Stegun 1964, 7.1.26).
fn normal_share(deviations: f64) -> f64 {
    let x = deviations.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let series = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let tail = series.iter().fold(0.0, |sum, factor| (sum + factor) * t) * (-x * x).exp() / 2.0;
    if deviations < 0.0 { tail } else { 1.0 - tail }
}

fn positive(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|number| plain && *number > 0.0)
}

impl fmt::Display for SizeMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The time that a receiver works on a message before it answers it or receives the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ServiceTime {
    /// This time for each message, in nanoseconds.
    Fixed(u64),
    /// Times of an exponential distribution with this mean in nanoseconds.
    Exponential(u64),
    /// Times of a log-normal distribution.
    LogNormal {
        /// Mean in nanoseconds.
        mean_ns: u64,
        /// Thousandths of the standard deviation of the logarithm.
        sigma_thousandths: u32,
    },
}

impl ServiceTime {
    /// Returns the mean in nanoseconds.
    pub const fn mean_ns(self) -> u64 {
        match self {
            ServiceTime::Fixed(mean_ns)
            | ServiceTime::Exponential(mean_ns)
            | ServiceTime::LogNormal { mean_ns, .. } => mean_ns,
        }
    }

    fn read(text: &str) -> Option<ServiceTime> {
        let (shape, values) = text.split_once(':')?;
        let ns = |text: &str| {
            let ns = text.parse::<Time>().ok()?.0.as_nanos() as u64;
            (100..=1_000_000_000).contains(&ns).then_some(ns)
        };
        match shape {
            "fixed" => ns(values).map(ServiceTime::Fixed),
            "exp" => ns(values).map(ServiceTime::Exponential),
            "lognormal" => {
                let (mean, sigma) = values.split_once(',')?;
                let sigma = positive(sigma).filter(|sigma| (0.001..=3.0).contains(sigma))?;
                let sigma_thousandths = (sigma * 1000.0).round() as u32;
                Some(ServiceTime::LogNormal { mean_ns: ns(mean)?, sigma_thousandths })
            }
            _ => None,
        }
    }
}

impl fmt::Display for ServiceTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ServiceTime::Fixed(ns) => write!(f, "fixed:{}", format_exact_ns(ns)),
            ServiceTime::Exponential(ns) => write!(f, "exp:{}", format_exact_ns(ns)),
            ServiceTime::LogNormal { mean_ns, sigma_thousandths } => {
                write!(f, "lognormal:{},{}", format_exact_ns(mean_ns), f64::from(sigma_thousandths) / 1000.0)
            }
        }
    }
}

const VALID_MIX: &str = "write up to 32 different sizes from 1B to 1GiB with weights from 1 to 1000000, as in 64:70,4KiB:25,1MiB:5; or \
            lognormal:1KiB,0.8 with a sigma up to 3, or zipf:64..64KiB,1.2 with an exponent up to 10, with sizes up to 1GiB";

/// Sizes of messages.
pub(super) static SIZES: ConditionKind = ConditionKind {
    name: "sizes",
    placeholder: "MIX",
    help: "Mix message sizes by weight, such as 64:70,4KiB:25,1MiB:5. Also lognormal:MEDIAN,SIGMA and \
           zipf:SMALLEST..LARGEST,EXPONENT. With -m request, the responses have these sizes. Can be repeated",
    read: |text| SizeMix::read(text).map(RequestedCondition::Sizes),
    valid: VALID_MIX,
    applies: |_, capabilities| capabilities.fixed_size_bytes.is_none() && capabilities.start != Start::Alone,
    candidates: &[],
    neutral: None,
    permanent: |_| "in the program: messages of these sizes".to_owned(),
};

/// Sizes of requests.
pub(super) static REQUEST_SIZES: ConditionKind = ConditionKind {
    name: "request-sizes",
    help: "Mix the sizes of the requests of -m request, such as 64:70,4KiB:30. The values are those of --sizes. Can be repeated",
    read: |text| SizeMix::read(text).map(RequestedCondition::RequestSizes),
    neutral: None,
    permanent: |_| "in the program: requests of these sizes".to_owned(),
    ..SIZES
};

/// Service times.
pub(super) static SERVICE_TIME: ConditionKind = ConditionKind {
    name: "service-time",
    placeholder: "TIME",
    help: "Let the receiver work for TIME on each message, such as exp:5us. Then it answers or receives the next one. The times are \
           fixed:MEAN, exp:MEAN or lognormal:MEAN,SIGMA. The time of a message includes it. Can be repeated",
    read: |text| ServiceTime::read(text).map(RequestedCondition::ServiceTime),
    valid: "write fixed:5us, exp:5us or lognormal:5us,0.5, with a time from 100ns to 1s and a sigma from 0.001 to 3",
    applies: |_, capabilities| capabilities.start != Start::Alone,
    candidates: &[],
    neutral: None,
    permanent: |_| "in the program: work of this length".to_owned(),
};

impl RequestedConditions {
    /// Returns the requested sizes of messages; `None` if all have the same size.
    pub fn size_mix(&self) -> Option<&SizeMix> {
        self.iter().find_map(|condition| match condition {
            RequestedCondition::Sizes(mix) => Some(mix),
            RequestedCondition::Trace(_, mix) => mix.as_ref(),
            _ => None,
        })
    }

    /// Returns the requested sizes of requests; `None` if all have the same size.
    pub fn request_mix(&self) -> Option<&SizeMix> {
        self.iter().find_map(|condition| match condition {
            RequestedCondition::RequestSizes(mix) => Some(mix),
            _ => None,
        })
    }

    /// Returns whether messages of at least one direction have several sizes.
    pub fn has_several_sizes(&self) -> bool {
        self.size_mix().or_else(|| self.request_mix()).is_some()
    }

    /// Returns the requested service time of a receiver, if any.
    pub fn service_time(&self) -> Option<ServiceTime> {
        self.iter().find_map(|condition| match condition {
            RequestedCondition::ServiceTime(time) => Some(*time),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_are_read_and_printed() {
        let mix = |text| SizeMix::read(text).unwrap();
        let weighted = mix("4KiB:25,64:70,1MiB:5");
        assert_eq!(weighted.to_string(), "4KiB:25,64B:70,1MiB:5");
        assert_eq!(weighted.classes(), [(64, 70), (4096, 25), (1 << 20, 5)]);
        assert_eq!((weighted.largest_bytes(), weighted.mean_bytes()), (1 << 20, 53_497.6));
        assert_eq!(SizeMix::read(&weighted.to_string()), Some(weighted));
        assert_eq!(mix("zipf:64..300,1").classes(), [(64, 54_545), (128, 27_273), (256, 18_182)]);
        // The share of a log-normal distribution between 2^-0.5 and 2^0.5 times the median, with sigma 1, is 27.1 %.
        let log_normal = mix("lognormal:1KiB,1");
        let middle = log_normal.classes().iter().find(|class| class.0 == 1024).unwrap();
        assert!(middle.1.abs_diff(27_100) < 100, "{log_normal:?}");
    }

    #[test]
    fn invalid_mixes_and_times_are_rejected() {
        for text in [
            "",
            "64",
            "64:0",
            "64:1,64:2",
            "0:1",
            "2GiB:1",
            "64:+1",
            "zipf:64..32,1",
            "zipf:0..64,1",
            "zipf:64..128,0",
            "lognormal:1KiB",
            "lognormal:1KiB,9",
            "lognormal:1GiB,3",
            "64:70;4KiB:5",
        ] {
            assert_eq!(SizeMix::read(text), None, "{text}");
        }
        for text in
            ["5us", "fixed:1ns", "fixed:2s", "exp:", "lognormal:5us", "lognormal:5us,0", "uniform:5us"]
        {
            assert_eq!(ServiceTime::read(text), None, "{text}");
        }
        for text in ["fixed:5us", "exp:1500ns", "lognormal:20us,0.5"] {
            assert_eq!(ServiceTime::read(text).unwrap().to_string(), text);
        }
    }
}
