//! The programs that Windows tells apart by their subsystem, and what a child has of a console.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// The subsystem that a program of Windows was linked for.
    Subsystem, "subsystem" {
        /// It has a console, its parent's or its own.
        Console = "console",
        /// It has none unless it makes one: programs with windows.
        Windows = "windows",
    }
}

named_enum! {
    /// What a child has of a console.
    ConsoleMode, "console mode" {
        /// The one of its parent.
        Inherit = "inherit",
        /// A new one (`CREATE_NEW_CONSOLE`).
        New = "new",
        /// One that nobody sees (`CREATE_NO_WINDOW`).
        None = "none",
        /// None at all (`DETACHED_PROCESS`).
        Detached = "detached",
    }
}

/// How children of a subsystem of their own are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildStart {
    /// What they have of a console.
    pub console: ConsoleMode,
    /// Whether each is started from a copy of the program, under a name that was never started before.
    pub fresh_copy: bool,
}

impl Default for ChildStart {
    /// As `CreateProcess` does it unless it is told otherwise.
    fn default() -> Self {
        ChildStart { console: ConsoleMode::Inherit, fresh_copy: false }
    }
}

impl ChildStart {
    /// Whether it is as usual.
    pub fn is_usual(&self) -> bool {
        *self == ChildStart::default()
    }
}
