//! `furlong observe`: traffic between running processes.

use crate::arguments::ObserveOptions;
#[cfg(not(target_os = "linux"))]
use furlong_console::exit::CannotHere;
use furlong_console::exit::Outcome;

/// Observes processes and prints their links.
#[cfg(target_os = "linux")]
pub fn observe(asked: &ObserveOptions) -> anyhow::Result<Outcome> {
    linux::observe(asked)
}

/// Reports that processes can be observed under Linux only.
///
/// # Errors
/// Always returns [`CannotHere`].
#[cfg(not(target_os = "linux"))]
pub fn observe(_asked: &ObserveOptions) -> anyhow::Result<Outcome> {
    let reason = "processes are observed through perf_event_open, which only Linux has";
    Err(CannotHere::new(reason, "run this on Linux").into())
}

#[cfg(target_os = "linux")]
mod linux {
    use super::ObserveOptions;
    use crate::arguments::ListFormat;
    use crate::{delivery, output};
    use anyhow::Context;
    use furlong_console::exit::{Outcome, Usage};
    use furlong_console::writing;
    use furlong_observe::flow::{self, Request, SavedMessages, Target};
    use furlong_os::shutdown::ShutdownRequests;
    use furlong_render::document_text;
    use std::path::Path;
    use std::time::Duration;

    /// Time for which running processes are observed by default.
    const USUAL: Duration = Duration::from_secs(10);

    pub fn observe(asked: &ObserveOptions) -> anyhow::Result<Outcome> {
        let limit = asked.limit.map(|time| time.0);
        let (target, limit) = match &asked.command {
            Some(command) => (Target::Command(command.clone()), limit),
            None if asked.pids.is_empty() => {
                return Err(Usage("specify a PID, or a command with --command".to_owned()).into());
            }
            None => (Target::Processes(asked.pids.clone()), Some(limit.unwrap_or(USUAL))),
        };
        if let Some(path) = &asked.save_trace {
            if path.is_dir() {
                let why = format!("--save-trace {} is a directory; specify a file in it", path.display());
                return Err(Usage(why).into());
            }
            delivery::protect_run("--save-trace", path)?;
        }
        let requests = ShutdownRequests::new().context("cannot wait for signals")?;
        let request = Request { target, limit, keeps_messages: asked.save_trace.is_some() };
        let observed = flow::observe(&request, &requests)?;
        if let Some(path) = &asked.save_trace {
            save(path, &observed.messages)?;
        }
        output::print(&match asked.format {
            ListFormat::Table => document_text(&flow::document(&observed.observation), output::style()),
            ListFormat::Json => serde_json::to_string_pretty(&observed.observation)? + "\n",
        })?;
        Ok(observed.signal.map_or(Outcome::Done, Outcome::Interrupted))
    }

    fn save(path: &Path, messages: &SavedMessages) -> anyhow::Result<()> {
        if messages.is_empty() {
            output::tell(format_args!(
                "no message with a payload was seen, so {} is not written",
                path.display()
            ));
            return Ok(());
        }
        writing::replace_by(path, |file| {
            for message in messages.iter() {
                writeln!(file, "{message}")?;
            }
            Ok(())
        })?;
        let end = if messages.is_truncated { "; later ones were dropped: use a shorter --for" } else { "" };
        output::tell(format_args!("{} messages written to {}{end}", messages.len(), path.display()));
        Ok(())
    }
}
