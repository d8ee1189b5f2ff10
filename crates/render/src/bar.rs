//! A share as a bar of blocks.

/// A cell filled from the left by 0 to 8 eighths.
const EIGHTHS: [&str; 9] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];

/// Draws `share` of `width` cells, rounded to an eighth of a cell. Shares below 0 count as 0, and shares above 1 as
/// 1.
pub(crate) fn bar(share: f64, width: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_by_eighths() {
        assert_eq!(bar(0.0, 4), "");
        assert_eq!(bar(1.0 / 32.0, 4), "▏");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.6, 4), "██▍");
        assert_eq!(bar(1.0, 4), "████");
    }

    #[test]
    fn shares_beyond_a_whole_stay_within() {
        for (share, expected) in [(-1.0, ""), (7.0, "██"), (f64::NAN, ""), (f64::INFINITY, "██")] {
            assert_eq!(bar(share, 2), expected);
        }
    }
}
