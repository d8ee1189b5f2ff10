//! Sizes, times and rates in the form that users type.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::num::NonZeroU32;
use std::{fmt, str::FromStr, time::Duration};

/// A quantity that is not accepted, because it cannot be read or is out of range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{given}' is {problem}: {hint}")]
pub struct InvalidQuantity {
    given: String,
    problem: &'static str,
    hint: Cow<'static, str>,
    range: Option<Cow<'static, str>>,
}

impl InvalidQuantity {
    /// Returns the valid range, such as `between 1 and 4096`, of a quantity that is outside of it. `None` if it cannot be read.
    pub fn range(&self) -> Option<&str> {
        self.range.as_deref()
    }

    pub(crate) fn new(
        given: &str,
        problem: &'static str,
        hint: impl Into<Cow<'static, str>>,
    ) -> InvalidQuantity {
        InvalidQuantity { given: given.to_owned(), problem, hint: hint.into(), range: None }
    }

    fn out_of(self, range: impl Into<Cow<'static, str>>) -> InvalidQuantity {
        InvalidQuantity { problem: "out of range", range: Some(range.into()), ..self }
    }
}

/// A size in bytes, written `128`, `4KiB`, `4k`, `1 MiB`. As in coreutils, `K` is 1024 bytes and `KB` 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ByteSize(pub usize);

impl ByteSize {
    /// The largest accepted size: 1 GiB, because both roles allocate several buffers of this size.
    pub const MAX: ByteSize = ByteSize(1 << 30);
}

impl FromStr for ByteSize {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
        const UNITS: [(&str, usize); 11] = [
            ("", 1),
            ("B", 1),
            ("K", 1 << 10),
            ("M", 1 << 20),
            ("G", 1 << 30),
            ("KiB", 1 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
            ("KB", 1_000),
            ("MB", 1_000_000),
            ("GB", 1_000_000_000),
        ];
        let invalid = || {
            InvalidQuantity::new(
                text,
                "not a valid size",
                "write whole bytes from 0 to 1GiB, as in 128, 4KiB or 1MiB; 4K is 4KiB, and 4KB is 4000",
            )
        };
        let (number, factor) = split_unit(text, &UNITS).ok_or_else(invalid)?;
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(invalid());
        }
        let bytes = number.parse::<usize>().ok().and_then(|number| number.checked_mul(factor));
        let accepted = bytes.map(ByteSize).filter(|size| *size <= ByteSize::MAX);
        accepted.ok_or_else(|| invalid().out_of("between 0 and 1GiB"))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_bytes(self.0))
    }
}

/// One size, or a sweep over several: `64..16MiB:x4` is 64 bytes, four times that, and so on up to 16 MiB. Without a
/// factor, each size is twice the previous one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes(pub Vec<ByteSize>);

impl FromStr for Sizes {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
        let invalid = || {
            InvalidQuantity::new(
                text,
                "not a valid sweep of sizes",
                "write the first, the last and a factor from 2 on, as in 64..16MiB:x4; the first is above 0 and not \
                   above the last",
            )
        };
        let next = |size: ByteSize, factor: usize| size.0.checked_mul(factor).map(ByteSize);
        let sizes = swept(text, next, invalid)?;
        let begins_at_zero = sizes[0] == ByteSize(0) && text.contains("..");
        if begins_at_zero { Err(invalid()) } else { Ok(Sizes(sizes)) }
    }
}

/// Returns one value, or those of a sweep in the form `FIRST..LAST:xFACTOR`. The default factor is 2. The result is
/// never empty.
fn swept<T: Copy + PartialOrd + FromStr<Err = InvalidQuantity>>(
    text: &str,
    next: impl Fn(T, usize) -> Option<T>,
    invalid: impl Fn() -> InvalidQuantity,
) -> Result<Vec<T>, InvalidQuantity> {
    let Some((first, rest)) = text.split_once("..") else {
        return text.parse().map(|one| vec![one]);
    };
    let (last, factor) = match rest.split_once(':') {
        Some((last, factor)) => (last, factor.strip_prefix('x').and_then(|factor| factor.parse().ok())),
        None => (rest, Some(2)),
    };
    let factor: usize = factor.filter(|factor| *factor >= 2).ok_or_else(&invalid)?;
    let (first, last) = (first.parse::<T>()?, last.parse::<T>()?);
    // Zero would not change with any factor.
    let next = |one: &T| next(*one, factor).filter(|next| *next <= last && *next > *one);
    if first > last { Err(invalid()) } else { Ok(std::iter::successors(Some(first), next).collect()) }
}

/// A pause, or a sweep over several: `1us..1ms:x10`. `0` is no pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pauses(pub Vec<Duration>);

impl FromStr for Pauses {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
        if text == "0" {
            return Ok(Pauses(vec![Duration::ZERO]));
        }
        let invalid = || {
            InvalidQuantity::new(
                text,
                "not a valid sweep of times",
                "write the first, the last and a factor from 2 on, as in 1us..1ms:x10; the first is above 0 and not above the last",
            )
        };
        if text.starts_with("0..") {
            return Err(invalid());
        }
        let next = |time: Time, factor: usize| time.0.checked_mul(u32::try_from(factor).ok()?).map(Time);
        swept(text, next, invalid).map(|times| Pauses(times.into_iter().map(|time| time.0).collect()))
    }
}

/// A length of time, written `200us`, `40ms`, `1.5s`, `2min`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Time(pub Duration);

impl FromStr for Time {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
        const UNITS: [(&str, u64); 5] =
            [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("min", 60_000_000_000)];
        let invalid = || {
            InvalidQuantity::new(
                text,
                "not a valid time",
                "write a number above 0 and up to 60min with its unit: ns, us, ms, s or min",
            )
        };
        let (number, factor) = split_unit(text, &UNITS).ok_or_else(invalid)?;
        let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let number = number.parse::<f64>().ok().filter(|_| plain).ok_or_else(invalid)?;
        let nanoseconds = number * factor as f64;
        if !(1.0..=3.6e12).contains(&nanoseconds) {
            return Err(invalid().out_of("above 0 and up to 60min"));
        }
        Ok(Time(Duration::from_nanos(nanoseconds.round() as u64)))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_ns(self.0.as_nanos() as f64))
    }
}

/// A number per second, in the form `60/s`, `10k/s` or `1M/s`; the `/s` is optional.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Rate(f64);

impl Rate {
    /// Returns the time between two events in whole nanoseconds.
    pub fn interval_ns(self) -> u64 {
        (1e9 / self.0).round() as u64
    }
}

impl FromStr for Rate {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
        const UNITS: [(&str, f64); 6] =
            [("/s", 1.0), ("k/s", 1e3), ("M/s", 1e6), ("", 1.0), ("k", 1e3), ("M", 1e6)];
        let invalid = || {
            InvalidQuantity::new(
                text,
                "not a valid rate",
                "write a number per second, from 1/s to 10M/s, as in 60/s or 10k/s",
            )
        };
        let (number, factor) = split_unit(text, &UNITS).ok_or_else(invalid)?;
        let per_second = number.parse::<f64>().map_err(|_| invalid())? * factor;
        let accepted = (1.0..=1e7).contains(&per_second).then_some(Rate(per_second));
        accepted.ok_or_else(|| invalid().out_of("between 1/s and 10M/s"))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/s", self.0))
    }
}

/// One rate, or a sweep over several: `1k/s..1M/s:x4` is 1,000 per second, four times that, and so on up to a million.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates(pub Vec<Rate>);

impl FromStr for Rates {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
        let invalid = || {
            InvalidQuantity::new(
                text,
                "not a valid sweep of rates",
                "write the first, the last and a factor from 2 on, as in 1k/s..1M/s:x4; the first is not above the last",
            )
        };
        swept(text, |rate: Rate, factor| Some(Rate(rate.0 * factor as f64)), invalid).map(Rates)
    }
}

/// Returns one, the default number of messages in flight and of pairs.
pub fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

/// Returns whether a number is one, the default.
pub fn is_one(number: &NonZeroU32) -> bool {
    *number == one()
}

/// A number from 1 to `MOST`, or a sweep over several: `1..64:x2` is 1, 2, 4 and so on up to 64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts<const MOST: u32 = 4096>(pub Vec<NonZeroU32>);

/// Numbers of messages in flight.
pub type Windows = Counts<1_000_000>;

impl<const MOST: u32> FromStr for Counts<MOST> {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
        let invalid = || {
            let hint = format!(
                "write a number from 1 to {MOST}, or the first, the last and a factor from 2 on, as in 1..64:x2"
            );
            InvalidQuantity::new(text, "not a valid number", hint)
        };
        #[derive(Clone, Copy, PartialEq, PartialOrd)]
        struct Positive<const MOST: u32>(NonZeroU32);
        impl<const MOST: u32> FromStr for Positive<MOST> {
            type Err = InvalidQuantity;
            fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
                let number = text.parse().ok().filter(|number: &NonZeroU32| number.get() <= MOST);
                let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let hint = format!("write a number from 1 to {MOST}");
                let invalid = InvalidQuantity::new(text, "not a valid number", hint);
                let range = format!("between 1 and {MOST}");
                number.map(Positive).ok_or(if is_number { invalid.out_of(range) } else { invalid })
            }
        }
        let next = |one: Positive<MOST>, factor: usize| {
            u32::try_from(factor)
                .ok()
                .and_then(|factor| one.0.get().checked_mul(factor))
                .and_then(NonZeroU32::new)
                .map(Positive)
        };
        swept(text, next, invalid).map(|all| Counts(all.into_iter().map(|one| one.0).collect()))
    }
}

/// A percentage, in the form `5%` or `2.5%`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Percent(f64);

impl Percent {
    /// Returns the share: 0.05 for 5 %.
    pub fn share(self) -> f64 {
        self.0 / 100.0
    }
}

impl FromStr for Percent {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<Self, InvalidQuantity> {
        let invalid = || {
            InvalidQuantity::new(
                text,
                "not a valid percentage",
                "write a number above 0 and up to 100 with its sign, as in 5% or 2.5%",
            )
        };
        let (number, _) = split_unit(text, &[("%", ())]).ok_or_else(invalid)?;
        let percent = number.parse::<f64>().map_err(|_| invalid())?;
        let accepted = (percent > 0.0 && percent <= 100.0).then_some(Percent(percent));
        accepted.ok_or_else(|| invalid().out_of("above 0% and up to 100%"))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}%", self.0))
    }
}

/// Splits `text` into a number and the factor of the unit after it.
fn split_unit<'a, F: Copy>(text: &'a str, units: &[(&str, F)]) -> Option<(&'a str, F)> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    let factor = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim_start()))?.1;
    (!number.is_empty()).then_some((number, factor))
}

/// Returns a size in the largest unit that divides it, in the form that [`ByteSize`] reads: `128B`, `4KiB`.
pub fn format_bytes(bytes: usize) -> String {
    for (unit, factor) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if bytes != 0 && bytes.is_multiple_of(factor) {
            return format!("{}{unit}", bytes / factor);
        }
    }
    format!("{bytes}B")
}

/// Returns a time with three significant digits and a suitable unit: `2.35 us`.
pub fn format_ns(nanoseconds: f64) -> String {
    let (value, _, unit) = in_unit(nanoseconds);
    format!("{} {unit}", three_digits(value))
}

/// Returns a time in the largest unit that divides it, so that different times have different names: `100us`.
pub fn format_exact_ns(ns: u64) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    let largest = units.into_iter().find(|(_, factor)| ns > 0 && ns.is_multiple_of(*factor));
    let (unit, factor) = largest.unwrap_or(("ns", 1));
    format!("{}{unit}", ns / factor)
}

/// Returns a rate in the form of an option, with the fewest digits that yield the same interval in nanoseconds: `60/s`, `2.5k/s`.
pub fn format_rate(per_second: f64) -> String {
    let (scale, unit) = match per_second {
        rate if rate < 1e3 => (1.0, ""),
        rate if rate < 1e6 => (1e3, "k"),
        _ => (1e6, "M"),
    };
    let digits = |decimals: usize| format!("{:.decimals$}", per_second / scale);
    let is_it = |digits: &String| {
        let read = digits.parse().map_or(0.0, |value: f64| value * scale);
        Rate(read).interval_ns() == Rate(per_second).interval_ns()
    };
    let shortest = (0..9).map(digits).find(is_it).unwrap_or_else(|| digits(9));
    format!("{shortest}{unit}/s")
}

/// Returns the time that [`format_ns`] prints, in nanoseconds.
pub fn printed_ns(nanoseconds: f64) -> f64 {
    let (value, unit_ns, _) = in_unit(nanoseconds);
    three_digits(value).parse().unwrap_or(value) * unit_ns
}

/// Returns a time in the unit in which it is printed, that unit in nanoseconds, and its name.
fn in_unit(nanoseconds: f64) -> (f64, f64, &'static str) {
    let (unit_ns, unit) = match nanoseconds.abs() {
        ns if ns < 999.5 => (1.0, "ns"),
        ns if ns < 999.5e3 => (1e3, "us"),
        ns if ns < 999.5e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    (nanoseconds / unit_ns, unit_ns, unit)
}

/// Returns a number with three significant digits, for a figure with a unit: `2.35`, `35.7`, `271`.
pub fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// Returns a figure with three significant digits, but at most six decimals: `0.0256`, `3.14`, `271`.
pub fn format_digits(figure: f64) -> String {
    let decimals = match figure.abs() {
        size if size > 0.0 => (2.0 - size.log10().floor()).clamp(0.0, 6.0) as usize,
        _ => 0,
    };
    format!("{figure:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_printed_as_they_are_typed() {
        for typed in
            ["1/s", "10/s", "60/s", "999/s", "1k/s", "1.234k/s", "2.5k/s", "100k/s", "300k/s", "3M/s"]
        {
            let rate: Rate = typed.parse().unwrap();
            assert_eq!(format_rate(1e9 / rate.interval_ns() as f64), typed);
        }
    }

    #[test]
    fn sizes_read_in_every_unit() {
        for (text, bytes) in [("0", 0), ("128", 128), ("128B", 128), ("4KiB", 4096), ("16mib", 16 << 20)] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
    }

    #[test]
    fn sizes_read_as_people_type_them() {
        for (text, bytes) in
            [("4k", 4096), ("4 KiB", 4096), ("4KB", 4000), ("10000", 10_000), ("1M", 1 << 20)]
        {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
    }

    #[test]
    fn bad_sizes_are_refused() {
        for text in ["", "-1", "1e9", "NaN", "4XB", "1.5KiB", "2GiB", "18446744073709551616", "KiB", " 1"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn errors_distinguish_unreadable_quantities_from_those_out_of_range() {
        fn error<T: FromStr<Err = InvalidQuantity> + fmt::Debug>(text: &str) -> String {
            text.parse::<T>().unwrap_err().to_string()
        }
        for out_of_range in [
            error::<Counts>("100000"),
            error::<Counts>("0"),
            error::<Sizes>("4GB"),
            error::<Sizes>("64..99999999999999999999"),
            error::<Time>("61min"),
            error::<Rates>("11M/s"),
            error::<Percent>("101%"),
        ] {
            assert!(out_of_range.contains("' is out of range: write "), "{out_of_range}");
        }
        let range =
            |text: &str| text.parse::<Counts>().unwrap_err().range().map(str::to_owned).unwrap_or_default();
        assert_eq!([range("100000"), range("many")], ["between 1 and 4096", ""]);
        for unreadable in [
            error::<Counts>("a"),
            error::<Sizes>("4XB"),
            error::<Time>("5"),
            error::<Rates>("k/s"),
            error::<Percent>("5"),
        ] {
            assert!(unreadable.contains("' is not a valid "), "{unreadable}");
        }
    }

    #[test]
    fn sweeps_of_rates_read() {
        let rates = |text: &str| {
            text.parse::<Rates>().map(|rates| rates.0.iter().map(|rate| rate.0).collect::<Vec<_>>())
        };
        assert_eq!(rates("1k/s..10k/s:x2"), Ok(vec![1e3, 2e3, 4e3, 8e3]));
        assert_eq!(rates("100..200/s"), Ok(vec![100.0, 200.0]));
        assert_eq!(rates("60/s"), Ok(vec![60.0]));
        for text in
            ["2k/s..1k/s", "1k/s..4k/s:x1", "1k/s..4k/s:2", "1k/s..", "..1k/s", "0..4/s", "1k/s..20M/s"]
        {
            assert!(rates(text).is_err(), "{text}");
        }
        assert!(rates("1..4:x1").unwrap_err().to_string().contains("as in 1k/s..1M/s:x4"));
    }

    #[test]
    fn sweeps_of_numbers_read() {
        let counts = |text: &str| {
            text.parse::<Counts>().map(|counts| counts.0.iter().map(|count| count.get()).collect::<Vec<_>>())
        };
        assert_eq!(counts("4"), Ok(vec![4]));
        assert_eq!(counts("1..64:x4"), Ok(vec![1, 4, 16, 64]));
        assert_eq!(counts("1024").map(|counts| counts.len()), Ok(1));
        assert_eq!("1..1000000:x1000".parse::<Windows>().map(|windows| windows.0.len()), Ok(3));
        for text in ["0", "0..4", "4097", "-1", "4..2", "1..2:x1", "a", "", "1.5"] {
            assert!(counts(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sweeps_read() {
        let sizes = |text: &str| {
            text.parse::<Sizes>().map(|sizes| sizes.0.iter().map(|size| size.0).collect::<Vec<_>>())
        };
        assert_eq!(sizes("64"), Ok(vec![64]));
        assert_eq!(sizes("64..1KiB:x4"), Ok(vec![64, 256, 1024]));
        assert_eq!(sizes("1..7"), Ok(vec![1, 2, 4]));
        assert_eq!(sizes("5..5:x2"), Ok(vec![5]));
        assert_eq!(sizes("64..1GiB:x4").unwrap().len(), 13);
        for text in [
            "0..4", "8..4", "1..", "..4", "1..4:4", "1..4:x1", "1..4:x0", "1..4:x-2", "1..4:x", "1...4",
            "1..2GiB",
        ] {
            assert!(sizes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_print_as_they_read() {
        for bytes in [0, 1, 1000, 1024, 4097, 65536, 1 << 20, 3 << 20, 1 << 30] {
            assert_eq!(format_bytes(bytes).parse(), Ok(ByteSize(bytes)));
        }
    }

    #[test]
    fn times_read_in_every_unit() {
        for (text, ns) in [("200us", 200_000), ("40ms", 40_000_000), ("1.5s", 1_500_000_000), ("7ns", 7)] {
            assert_eq!(text.parse(), Ok(Time(Duration::from_nanos(ns))), "{text}");
        }
        let pauses = |text: &str| text.parse::<Pauses>().map(|pauses| pauses.0);
        assert_eq!(pauses("0"), Ok(vec![Duration::ZERO]));
        assert_eq!(pauses("1us..1ms:x1000"), Ok([1, 1000].map(Duration::from_micros).to_vec()));
        for text in ["0..1ms", "1ms..1us", "1us..1ms:x1", "5", "61min"] {
            assert!(pauses(text).is_err(), "{text}");
        }
        for text in ["", "5", "0s", "-1s", "1e3s", "61min", "inf", ".s", "1..2s"] {
            assert!(text.parse::<Time>().is_err(), "{text}");
        }
    }

    #[test]
    fn rates_read_in_every_unit() {
        for (text, ns) in [
            ("60/s", 16_666_667),
            ("10k/s", 100_000),
            ("2.5k/s", 400_000),
            ("10M/s", 100),
            ("1k", 1_000_000),
            ("10000", 100_000),
        ] {
            assert_eq!(text.parse::<Rate>().map(Rate::interval_ns), Ok(ns), "{text}");
        }
        for text in ["", "0/s", "-1/s", "11M/s", "k/s", "1e3/s", "1..2/s", "10G"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn percentages_have_their_sign() {
        for (text, share) in [("5%", 0.05), ("2.5%", 0.025), ("100%", 1.0)] {
            let read: Percent = text.parse().unwrap();
            assert!((read.share() - share).abs() < 1e-12 && read.to_string() == text, "{text}");
        }
        for text in ["", "%", "5", "0%", "-5%", "101%", "1e1%", "NaN%", "1..2%"] {
            assert!(text.parse::<Percent>().is_err(), "{text}");
        }
    }

    #[test]
    fn times_print_with_three_digits() {
        for (ns, text) in [
            (2.345, "2.35 ns"),
            (41_200.0, "41.2 us"),
            (999.6, "1.00 us"),
            (7e6, "7.00 ms"),
            (3e10, "30.0 s"),
        ] {
            assert_eq!(format_ns(ns), text);
        }
    }
}
