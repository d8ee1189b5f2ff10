//! `furlong adapter`: programs that carry mechanisms, from their source to the check of what they claim.

mod check;
mod install;
mod list;
mod new;

use crate::arguments::{AdapterOptions, AdapterPart};
use crate::mechanisms::adapters_folder;
use anyhow::Context;
use furlong_console::exit::Outcome;
use std::path::PathBuf;

/// Does what was asked with adapters.
pub fn adapter(options: &AdapterOptions) -> anyhow::Result<Outcome> {
    match &options.part {
        AdapterPart::List(options) => list::list(options),
        AdapterPart::Install(options) => install::install(options),
        AdapterPart::Remove(options) => install::remove(options),
        AdapterPart::Check(options) => check::check(options),
        AdapterPart::New(options) => new::new(options),
    }
}

/// Where adapters are installed.
fn folder() -> anyhow::Result<PathBuf> {
    adapters_folder()
        .context("neither XDG_DATA_HOME nor HOME says where to install adapters: set one of them")
}
