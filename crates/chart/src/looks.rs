//! The look of marks. It has one meaning in all charts: the colour is the family of a mechanism.

use furlong_model::Family;

/// Look of a series or of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Filled marks, for medians, in the colour of the family; `None` for an unknown family.
    Filled(Option<Family>),
    /// Outlined marks, for p99 and for published figures, in the colour of the family.
    Hollow(Option<Family>),
    /// Part of a stacked bar, by its number.
    Part(usize),
    /// Background look.
    Muted,
}
