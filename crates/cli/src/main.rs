//! The `furlong` command: one verb, one file. The only crate that knows a terminal.
#![forbid(unsafe_code)]

mod arguments;
mod costs;
mod count;
mod doctor;
mod exit;
mod explain;
mod list;
mod measure;
mod output;
mod performing;
mod progress;
mod replay;
mod saving;
mod selection;

use anyhow::Context;
use arguments::{Arguments, Verb};
use clap::Parser;
use exit::Outcome;
use std::process::ExitCode;

fn main() -> ExitCode {
    // A terminal that was closed leaves holes at 0 to 2; a socket of ours must not fall into one.
    if let Err(error) = furlong_os::descriptor::reserve_standard() {
        output::tell(format_args!("furlong: cannot open /dev/null: {error}"));
        return ExitCode::from(1);
    }
    // Before anything else looks at the arguments: this is how furlong starts its own roles.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|verb| verb == furlong_bench::ROLE_VERB)
        && let (Some(number), None) = (arguments.next(), arguments.next())
        && let Some(number) = number.to_str().and_then(|text| text.parse().ok())
    {
        return ExitCode::from(furlong_bench::role_main(&furlong_bench::registry(), number) as u8);
    }
    match dispatch(Arguments::parse()) {
        Ok(outcome) => outcome.code(),
        Err(error) => {
            output::tell(format_args!("furlong: {error:#}"));
            exit::code_of(&error)
        }
    }
}

fn dispatch(arguments: Arguments) -> anyhow::Result<Outcome> {
    match arguments.verb {
        None => measure::quick(),
        Some(Verb::Run(options)) => measure::run(&options),
        Some(Verb::Count(options)) => count::count_rows(&options),
        Some(Verb::Explain(options)) => explain::explain(&options),
        Some(Verb::Costs(options)) => costs::costs(&options),
        Some(Verb::Replay(options)) => replay::replay(&options),
        Some(Verb::List(options)) => list::list(&options),
        Some(Verb::Doctor(options)) => doctor::doctor(&options).context("doctor"),
    }
}
