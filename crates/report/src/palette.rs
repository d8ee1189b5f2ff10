//! Colours of families and of parts. Family colours have a contrast of at least 4.5:1 on light and on dark paper. No
//! chart depends on colours, because every benchmark is named next to its marks.

use crate::svg::Paper;
use furlong_chart::Look;
use furlong_model::Family;

/// Colour of related families.
pub struct Hue {
    /// Name in legends.
    pub name: &'static str,
    /// Variable of the style sheet, which has a value for each theme.
    variable: &'static str,
    /// Colour in a separate file on white paper.
    on_white: &'static str,
}

/// All colours of families, in the order of legends.
pub static HUES: [Hue; 7] = [
    Hue { name: "shared memory", variable: "var(--memory)", on_white: "#0B62B8" },
    Hue { name: "pipes", variable: "var(--pipe)", on_white: "#A8530A" },
    Hue { name: "sockets", variable: "var(--socket)", on_white: "#0B7A66" },
    Hue { name: "queues", variable: "var(--queue)", on_white: "#B0287F" },
    Hue { name: "memory of the peer", variable: "var(--remote)", on_white: "#6A45C9" },
    Hue { name: "io_uring", variable: "var(--uring)", on_white: "#B3261E" },
    Hue { name: "other", variable: "var(--other)", on_white: "#57606A" },
];

/// Paul Tol's "light" scheme (SRON/EPS/TN/09-002, 2021) and two more, one for each part of a bar.
const PARTS: [&str; 11] = [
    "#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#44BB99", "#99DDFF", "#BBCC33", "#AAAA00", "#B8A0D8",
    "#DDDDDD", "#B0B0B0",
];

/// Returns the index in [`HUES`] of a look's family.
pub fn hue(look: Look) -> usize {
    let (Look::Filled(family) | Look::Hollow(family)) = look else { return HUES.len() - 1 };
    match family {
        Some(Family::Memory | Family::Library) => 0,
        Some(Family::Pipe) => 1,
        Some(Family::Socket) => 2,
        Some(Family::Queue) => 3,
        Some(Family::RemoteMemory) => 4,
        Some(Family::IoUring) => 5,
        Some(Family::Notification | Family::Floor | Family::Adapter | Family::Programs) | None => 6,
    }
}

/// Returns the colour of a look, as the value of an SVG attribute.
pub fn colour(look: Look, paper: Paper) -> &'static str {
    let Hue { variable, on_white, .. } = &HUES[hue(look)];
    match (look, paper) {
        (Look::Part(number), _) => PARTS[number % PARTS.len()],
        (_, Paper::File) => on_white,
        _ => variable,
    }
}
