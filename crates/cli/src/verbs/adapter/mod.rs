//! `furlong adapter`: programs that implement mechanisms, from their source to the check of their claims.

mod check;
mod install;
mod list;
mod new;

use crate::arguments::{AdapterOptions, AdapterPart};
use crate::mechanisms::adapters_folder;
use anyhow::Context;
use furlong_console::exit::Outcome;
use std::path::PathBuf;

/// Performs the requested action on adapters.
pub fn adapter(options: &AdapterOptions) -> anyhow::Result<Outcome> {
    match &options.part {
        AdapterPart::List(options) => list::list(options),
        AdapterPart::Install(options) => install::install(options),
        AdapterPart::Remove(options) => install::remove(options),
        AdapterPart::Check(options) => check::check(options),
        AdapterPart::New(options) => new::new(options),
    }
}

/// Returns the directory of installed adapters.
fn folder() -> anyhow::Result<PathBuf> {
    adapters_folder().context("no directory for adapters: set XDG_DATA_HOME or HOME")
}
