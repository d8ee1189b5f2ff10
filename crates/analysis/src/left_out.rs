//! What the model leaves out, where a row shows it.

use crate::{Row, checks::on_two_processors};
use furlong_model::WaitKind;

/// An error above this is more than the costs' own.
pub(crate) const FAR: f64 = 0.2;

/// What would make a row so much faster or slower than explained; `error` is explained by measured, less 1. `None`
/// for a row that is explained, or where nothing fits.
pub(crate) fn left_out(row: &Row, error: f64) -> Option<&'static str> {
    let on_two_cores = on_two_processors(row.case.placement);
    let sleeps = row.case.wait.kind() == WaitKind::Sleeping;
    if error > FAR && on_two_cores && sleeps {
        Some("The two roles' work overlaps, which the model does not know.")
    } else if error < -FAR && on_two_cores {
        Some(
            "Something takes time that the model does not know: buffers that one core frees and the other takes, or \
             a cold cache.",
        )
    } else if error < -FAR {
        Some("Something takes time that the model does not know, such as a cold cache.")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::row;
    use furlong_model::{Placement, Wait};

    fn said(wait: Wait, placement: Placement, error: f64) -> &'static str {
        left_out(&row("pipe", wait, placement, 5000.0), error).unwrap_or_default()
    }

    #[test]
    fn what_fits_is_said() {
        use Placement::{OtherCore, SameCore};
        assert!(said(Wait::Block, OtherCore, 0.21).contains("overlaps"));
        assert!(said(Wait::Block, OtherCore, -0.21).contains("buffers"));
        assert!(said(Wait::Spin, OtherCore, -0.5).contains("buffers"));
        assert!(said(Wait::Block, SameCore, -0.5).ends_with("such as a cold cache."));
        for (wait, placement, error) in
            [(Wait::Block, OtherCore, 0.2), (Wait::Spin, OtherCore, 0.5), (Wait::Block, SameCore, 0.5)]
        {
            assert_eq!(said(wait, placement, error), "");
        }
    }
}
