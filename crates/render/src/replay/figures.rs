//! Formats the figures in the tables of a replay.

use furlong_analysis::text::format_digits;
use furlong_analysis::{MeasuredFigure, ReplayRow};
use furlong_model::{Figure, Measure, Work, format_bytes};

/// Text of a cell without a figure.
pub(crate) const NONE: &str = "–";

/// Formats a published figure with its published digits.
pub(crate) fn then(figure: f64) -> String {
    if figure.abs() >= 1000.0 && figure.fract() == 0.0 { thousands(figure) } else { figure.to_string() }
}

/// Formats a measured figure with three digits; large figures are whole numbers.
pub(crate) fn now(figure: f64) -> String {
    if figure.abs() >= 999.5 { thousands(figure.round()) } else { format_digits(figure) }
}

/// Formats a whole number with thousands separators.
pub(crate) fn thousands(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0.0 { format!("-{text}") } else { text }
}

/// Formats a published figure of a row.
pub(crate) fn then_of(row: &ReplayRow, figure: Figure) -> String {
    row.published.get(&figure).map_or_else(|| NONE.to_owned(), |value| then(*value))
}

/// Formats a measured figure of a row.
pub(crate) fn now_of(row: &ReplayRow, figure: Figure) -> String {
    let count = matches!(figure, Figure::ForcedSwitches | Figure::VoluntarySwitches);
    match row.measured.get(&figure).map(|measured| measured.value) {
        None => NONE.to_owned(),
        Some(value) if count && value.fract() == 0.0 => thousands(value),
        Some(value) => now(value),
    }
}

/// Returns the published and the measured figure for one cell. Without a published figure, returns
/// the measured one.
pub(crate) fn both_of(row: &ReplayRow, figure: Figure) -> String {
    let now = now_of(row, figure);
    match row.published.get(&figure) {
        Some(value) => format!("{} → {now}", then(*value)),
        None => now,
    }
}

/// Formats the interval, from low to high.
pub(crate) fn interval(measured: Option<&MeasuredFigure>) -> String {
    match measured.and_then(|measured| measured.ci95) {
        Some([low, high]) => format!("{}-{}", format_digits(low), format_digits(high)),
        _ => if measured.is_some() { "?" } else { NONE }.to_owned(),
    }
}

/// Formats a ratio between benchmarks.
pub(crate) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(
        || NONE.to_owned(),
        |ratio| format!("{}x", if ratio < 9.995 { format!("{ratio:.2}") } else { now(ratio) }),
    )
}

/// Formats a figure with its subject: `real s, of 500,000 round trips of 128B`.
pub(crate) fn title(figure: Figure, measure: &Measure, size_bytes: usize) -> String {
    let size = format_bytes(size_bytes);
    let of = match &measure.work {
        Work::Handover { repetitions, .. } => format!("of {} of {size}", times_handed_over(*repetitions)),
        Work::Exchange(exchange) => {
            let [one, several] = exchange.pattern.facts().exchange;
            match figure {
                _ if figure.is_of_one_exchange() => format!("of {one} of {size}"),
                _ if figure.is_rate() => format!("in {several} of {size}"),
                _ => format!(
                    "of {} {several} of {size}",
                    thousands(exchange.count.exchanges(size_bytes) as f64)
                ),
            }
        }
    };
    format!("{}, {of}", figure.label())
}

/// Formats a number of bulk transfers: `10 bulk transfers`.
pub(crate) fn times_handed_over(repetitions: u32) -> String {
    if repetitions == 1 { "1 bulk transfer".to_owned() } else { format!("{repetitions} bulk transfers") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_figures_keep_their_digits() {
        for (figure, text) in
            [(6.935, "6.935"), (0.0, "0"), (5_338_860.0, "5,338,860"), (130.0, "130"), (1.2, "1.2")]
        {
            assert_eq!(then(figure), text);
        }
    }

    #[test]
    fn measured_figures_have_three() {
        for (figure, text) in [
            (2.345_6, "2.35"),
            (0.012_34, "0.0123"),
            (0.0, "0"),
            (45.67, "45.7"),
            (456.7, "457"),
            (1_234_567.8, "1,234,568"),
            (1e-12, "0.000000"),
            (-2000.4, "-2,000"),
        ] {
            assert_eq!(now(figure), text);
        }
    }
}
