//! Stand-in of `furlong ipc` outside Linux.

use crate::options::IpcOptions;
use furlong_console::exit::{CannotHere, Outcome};
use furlong_render::Style;

/// Reports that the verb exists only for Linux.
///
/// # Errors
/// Always returns [`CannotHere`].
pub fn ipc(_options: &IpcOptions, _style: Style) -> anyhow::Result<Outcome> {
    let reason = "furlong ipc reads /proc and netlink sockets, which only Linux has";
    Err(CannotHere::new(reason, "run this on Linux").into())
}
