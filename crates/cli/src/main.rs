//! The `furlong` command: one verb, one file. The only crate that knows a terminal.
#![forbid(unsafe_code)]

mod arguments;
mod compare;
mod conclusion;
mod costs;
mod count;
mod doctor;
mod environment;
mod explain;
mod export;
mod list;
mod manual;
mod measure;
mod output;
mod progress;
mod recommend;
mod replay;
mod report;
mod saved;
mod saving;
mod selection;

use anyhow::Context;
use arguments::{Arguments, Verb};
use clap::FromArgMatches;
use exit::Outcome;
use furlong_console::{exit, writing};
use furlong_os::RawHandle;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else: this is how furlong starts its own roles, and processes of which it is measured how long
    // they take to say a word.
    let hidden = hidden_verb();
    if let Some((verb, number)) = &hidden
        && *verb == furlong_bench::ALIVE_VERB
    {
        return ExitCode::from(furlong_bench::alive_main(*number) as u8);
    }
    // A terminal that was closed leaves holes at 0 to 2; a socket of ours must not fall into one.
    if let Err(error) = furlong_os::handle::reserve_standard() {
        output::tell(format_args!("furlong: cannot open /dev/null: {error}"));
        return ExitCode::from(1);
    }
    if let Some((_, number)) = hidden {
        return ExitCode::from(furlong_bench::role_main(&furlong_bench::registry(), number) as u8);
    }
    let typed = arguments::command().get_matches();
    let arguments = Arguments::from_arg_matches(&typed).unwrap_or_else(|error| error.exit());
    match dispatch(arguments) {
        Ok(outcome) => outcome.code(),
        Err(error) => {
            output::tell(format_args!("furlong: {error:#}"));
            exit::code_of(&error)
        }
    }
}

/// A verb of which users are not told, with the number of a descriptor, if that is all there is.
fn hidden_verb() -> Option<(OsString, RawHandle)> {
    let mut arguments = std::env::args_os().skip(1);
    let known = [furlong_bench::ROLE_VERB, furlong_bench::ALIVE_VERB];
    let verb = arguments.next().filter(|verb| known.iter().any(|known| verb == known))?;
    let number = arguments.next()?.to_str()?.parse().ok()?;
    arguments.next().is_none().then_some((verb, number))
}

fn dispatch(arguments: Arguments) -> anyhow::Result<Outcome> {
    match arguments.verb {
        None => measure::quick(),
        Some(Verb::Run(options)) => measure::run(&options),
        Some(Verb::Count(options)) => count::count_rows(&options),
        Some(Verb::Explain(options)) => explain::explain(&options),
        Some(Verb::Costs(options)) => costs::costs(&options),
        Some(Verb::Replay(options)) => replay::replay(&options),
        Some(Verb::Recommend(options)) => recommend::recommend(&options),
        Some(Verb::Compare(options)) => compare::compare(&options),
        Some(Verb::Export(options)) => export::export(&options),
        Some(Verb::Report(options)) => report::report(&options),
        Some(Verb::List(options)) => list::list(&options),
        Some(Verb::Doctor(options)) => doctor::doctor(&options).context("doctor"),
        Some(Verb::Driver(options)) => furlong_driver::driver(&options),
        Some(Verb::Completions(options)) => manual::completions(&options),
        Some(Verb::Man(options)) => manual::man(&options),
    }
}
