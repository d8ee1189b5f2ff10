//! Help texts, and errors of the command line with the name or the range that is valid.

use crate::arguments;
use crate::nearest::nearest;
use crate::output;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use furlong_console::exit::{Outcome, Usage};
use furlong_model::InvalidQuantity;
use std::error::Error;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};

/// Prints a help text or a usage error. Like every verb, it fails if the text cannot be written.
pub fn explained(mut error: clap::Error) -> anyhow::Result<Outcome> {
    if error.kind() == ErrorKind::InvalidUtf8 {
        let words = std::env::args_os().skip(1).filter(|word| word.to_str().is_none());
        let words: Vec<_> = words.map(|word| format!("{word:?}")).collect();
        let why =
            "is not valid UTF-8; only paths of files and directories may contain other bytes (see '--help')";
        return Err(Usage(format!("the argument {} {why}", words.join(" or "))).into());
    }
    if let Some(why) = bad_number(&error) {
        return Err(Usage(why).into());
    }
    if error.kind() == ErrorKind::InvalidSubcommand {
        suggest_verb(&mut error, std::env::args_os().skip(1));
    }
    if error.use_stderr() {
        // If stderr is closed, the message has no reader.
        let _ = error.print();
        return Ok(Outcome::Misused);
    }
    let text = error.render();
    output::print(&if output::colour() { text.ansi().to_string() } else { text.to_string() })?;
    Ok(Outcome::Done)
}

/// Replaces clap's suggestion, which knows no swapped characters: it suggests `runs` for `rnu`.
fn suggest_verb(error: &mut clap::Error, words: impl Iterator<Item = OsString>) {
    let whole = arguments::command();
    let mut command = &whole;
    for word in words {
        let Some(part) = command.find_subcommand(&word) else { break };
        command = part;
    }
    let names = command.get_subcommands().map(clap::Command::get_name).chain(["help"]);
    error.remove(ContextKind::SuggestedSubcommand);
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return };
    if let Some(name) = nearest(typed, names.map(str::to_owned)) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![name]));
    }
}

/// Returns the message of an option whose number is out of range or not a number. `None` for other errors.
fn bad_number(error: &clap::Error) -> Option<String> {
    let (Some(ContextValue::String(option)), Some(ContextValue::String(typed))) =
        (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue))
    else {
        return None;
    };
    let option = option.split_whitespace().next().unwrap_or_default();
    let source = error.source()?;
    let must = if let Some(quantity) = source.downcast_ref::<InvalidQuantity>() {
        quantity.range()?.to_owned()
    } else if let Some(number) = source.downcast_ref::<ParseIntError>() {
        match number.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => return None,
            _ => "a whole number without a sign".to_owned(),
        }
    } else {
        // The only trace of the range in the error of clap's parsers of numbers.
        let text = source.to_string();
        let (_, range) = text.split_once(" is not in ")?;
        let (least, most) = range.split_once("..=")?;
        format!("between {least} and {most}")
    };
    Some(format!("{option} must be {must}, got {typed}"))
}
