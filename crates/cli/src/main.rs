//! The `furlong` command: one verb, one file. The only crate that knows a terminal.
#![forbid(unsafe_code)]
// The fuzzer compiles this crate as a library and calls only a small part of it.
#![cfg_attr(fuzzing, allow(dead_code, unused_imports))]

mod arguments;
mod conclusion;
mod delivery;
#[cfg(test)]
mod documented;
mod environment;
mod experiments;
#[cfg(fuzzing)]
pub mod fuzzing;
mod mechanisms;
mod nearest;
mod output;
mod own_programs;
mod peer;
mod progress;
mod saved;
mod saving;
mod selection;
mod traces;
mod usage;
mod verbs;

use anyhow::Context;
use arguments::{Arguments, Verb};
use clap::{ArgMatches, FromArgMatches};
use exit::Outcome;
use furlong_console::exit;
use std::process::ExitCode;
use verbs::{
    adapter, compare, costs, count, doctor, explain, export, fleet, list, manual, map, observe, recommend,
    replay, report, run, runs, serve, trace, tune,
};

/// Makes a panic end the process after its message, as it does in the files of `cargo xtask dist`. No code of furlong
/// recovers from a panic, and the cleanup process removes what a run leaves.
fn abort_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
}

fn main() -> ExitCode {
    furlong_os::beginning::with_enough_stack(begun)
}

/// Runs as a child of furlong, or parses the command line and runs its verb.
fn begun() -> ExitCode {
    abort_on_panic();
    // This comes first because furlong starts its own children this way, and the time that a start takes may be
    // measured.
    if let Some(control) = furlong_bench::requested_child() {
        return ExitCode::from(furlong_bench::child_main(furlong_bench::registry, control) as u8);
    }
    if let Some(asked) = furlong_bench::peer::requested() {
        let version = env!("FURLONG_VERSION");
        return ExitCode::from(furlong_bench::peer::main(furlong_bench::registry, version, asked) as u8);
    }
    if let Err(error) = furlong_os::beginning::settle() {
        output::tell(format_args!("furlong: cannot open /dev/null: {error}"));
        return ExitCode::from(1);
    }
    let typed = arguments::command().try_get_matches();
    let parsed = typed.and_then(|typed| Ok((Arguments::from_arg_matches(&typed)?, typed)));
    let ended = match parsed {
        Ok((arguments, typed)) => {
            dispatch(arguments, typed.subcommand().map_or(&typed, |(_, of_verb)| of_verb))
        }
        Err(error) => usage::explained(error),
    };
    match ended {
        Ok(outcome) => outcome.code(),
        Err(error) => {
            output::tell_error(&error);
            exit::code_of(&error)
        }
    }
}

/// Runs the verb; `typed` are the arguments after its name.
fn dispatch(arguments: Arguments, typed: &ArgMatches) -> anyhow::Result<Outcome> {
    match arguments.verb {
        None => run::quick(),
        Some(Verb::Run(options)) => run::run(&options),
        Some(Verb::Count(options)) => count::count_rows(&options),
        Some(Verb::Explain(options)) => explain::explain(&options),
        Some(Verb::Costs(options)) => costs::costs(&options),
        Some(Verb::Map(options)) => map::map(&options),
        Some(Verb::Tune(options)) => tune::tune(&options),
        Some(Verb::Replay(options)) => replay::replay(&options),
        Some(Verb::Recommend(options)) => recommend::recommend(&options, typed),
        Some(Verb::Compare(options)) => compare::compare(&options),
        Some(Verb::Fleet(options)) => fleet::fleet(&options),
        Some(Verb::Observe(options)) => observe::observe(&options),
        Some(Verb::Trace(options)) => trace::trace(&options),
        Some(Verb::Runs(options)) => runs::runs(&options),
        Some(Verb::Export(options)) => export::export(&options),
        Some(Verb::Report(options)) => report::report(&options),
        Some(Verb::Serve(options)) => serve::serve(&options),
        Some(Verb::Ipc(options)) => furlong_observe::ipc(&options, output::style()),
        Some(Verb::List(options)) => list::list(&options),
        Some(Verb::Doctor(options)) => doctor::doctor(&options).context("doctor"),
        Some(Verb::Adapter(options)) => adapter::adapter(&options),
        Some(Verb::Driver(options)) => furlong_driver::driver(&options),
        Some(Verb::Completions(options)) => manual::completions(&options),
        Some(Verb::Man(options)) => manual::man(&options),
    }
}
