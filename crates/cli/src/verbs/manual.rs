//! `furlong completions` and `furlong man`: shell completions and manual pages, generated from the definition of the
//! command.

use crate::arguments::{self, CompletionsOptions, ManOptions};
use crate::delivery::{deliver, deliver_into_folder};
use crate::output;
use anyhow::Context;
use clap::Command;
use clap_mangen::Man;
use furlong_console::exit::{Outcome, Usage};

/// Prints the completion script of a shell.
pub fn completions(asked: &CompletionsOptions) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(asked.shell, &mut command(), "furlong", &mut script);
    output::print(&String::from_utf8(script).context("the completions are not valid UTF-8")?)?;
    Ok(Outcome::Done)
}

/// Prints a page of the manual, or writes all pages.
pub fn man(asked: &ManOptions) -> anyhow::Result<Outcome> {
    let command = command();
    if let (true, Some(folder)) = (asked.all, &asked.output) {
        for (name, page) in pages(&command)? {
            deliver_into_folder("-o", &folder.join(format!("{name}.1")), page.as_bytes())?;
        }
        return Ok(Outcome::Done);
    }
    let wanted = asked.verb.as_ref().map_or_else(|| "furlong".to_owned(), |verb| format!("furlong-{verb}"));
    let pages = pages(&command)?;
    let Some((_, page)) = pages.iter().find(|(name, _)| *name == wanted) else {
        let verbs: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        let verb = asked.verb.as_deref().unwrap_or_default();
        return Err(Usage(format!("unknown command '{verb}'; available: {}", verbs.join(", "))).into());
    };
    deliver(page.as_bytes(), asked.output.as_deref())?;
    Ok(Outcome::Done)
}

/// Returns the definition of the whole command.
fn command() -> Command {
    let mut command = arguments::command();
    command.build();
    command
}

/// Returns the name and text of every page: one for the command, one for each verb, and one for each part of a verb.
fn pages(command: &Command) -> anyhow::Result<Vec<(String, String)>> {
    let mut pages = Vec::new();
    add_pages("furlong", command, &mut pages)?;
    Ok(pages)
}

/// Adds the page of a command, and then the pages of its parts.
fn add_pages(name: &str, command: &Command, pages: &mut Vec<(String, String)>) -> anyhow::Result<()> {
    pages.push((name.to_owned(), page(command.clone().version(env!("CARGO_PKG_VERSION")))?));
    for part in command.get_subcommands().filter(|part| part.get_name() != "help") {
        add_pages(&format!("{name}-{}", part.get_name()), part, pages)?;
    }
    Ok(())
}

fn page(command: Command) -> anyhow::Result<String> {
    let mut page = Vec::new();
    Man::new(command).manual("furlong").render(&mut page).context("cannot generate a manual page")?;
    String::from_utf8(page).context("the page is not valid UTF-8")
}
