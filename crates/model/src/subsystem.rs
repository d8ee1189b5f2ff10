//! The subsystems of Windows programs, and the console of a child process.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// The subsystem for which a Windows program was linked.
    Subsystem, "subsystem" {
        /// The program has a console: its parent's or a new one.
        Console = "console",
        /// The program has no console unless it creates one. For programs with windows.
        Windows = "windows",
    }
}

named_enum! {
    /// The console of a child process.
    ConsoleMode, "console mode" {
        /// The console of its parent.
        Inherit = "inherit",
        /// A new console (`CREATE_NEW_CONSOLE`).
        New = "new",
        /// An invisible console (`CREATE_NO_WINDOW`).
        None = "none",
        /// No console (`DETACHED_PROCESS`).
        Detached = "detached",
    }
}

/// How children with a separate subsystem are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildStart {
    /// The console of the children.
    pub console: ConsoleMode,
    /// Whether each child is started from a copy of the program, under a name that was never started before.
    pub fresh_copy: bool,
}

impl Default for ChildStart {
    /// Returns the defaults of `CreateProcess`.
    fn default() -> Self {
        ChildStart { console: ConsoleMode::Inherit, fresh_copy: false }
    }
}

impl ChildStart {
    /// Returns whether it is the default.
    pub fn is_usual(&self) -> bool {
        *self == ChildStart::default()
    }
}
