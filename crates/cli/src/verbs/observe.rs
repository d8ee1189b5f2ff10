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
    use crate::{delivery, output, saved, saving};
    use anyhow::Context;
    use furlong_analysis::{Costs, DecodedRun};
    use furlong_console::exit::{Outcome, Usage};
    use furlong_console::writing;
    use furlong_observe::flow::{self, Advice, Observation, Request, SavedMessages, Target};
    use furlong_os::shutdown::ShutdownRequests;
    use furlong_os::{control_group, facts};
    use furlong_render::document_text;
    use serde::Serialize;
    use std::io::{IsTerminal, stdin, stdout};
    use std::path::Path;
    use std::time::Duration;

    /// Time for which running processes are observed by default.
    const USUAL: Duration = Duration::from_secs(10);

    /// Name of the saved run with the costs of this machine.
    const COSTS: &str = "costs";

    /// Output of an observation as JSON.
    #[derive(Serialize)]
    struct Report<'a> {
        #[serde(flatten)]
        observation: &'a Observation,
        advice: Advice,
    }

    pub fn observe(asked: &ObserveOptions) -> anyhow::Result<Outcome> {
        let is_live = asked.live;
        if is_live && !(stdin().is_terminal() && stdout().is_terminal()) {
            let why = "--live needs a terminal as stdin and stdout; without one, use --for TIME";
            return Err(Usage(why.to_owned()).into());
        }
        let target = target(asked)?;
        let is_endless = is_live || matches!(target, Target::Command(_));
        let limit = asked.limit.map(|time| time.0).or((!is_endless).then_some(USUAL));
        if let Some(path) = &asked.save_trace {
            delivery::check_result("--save-trace", path)?;
        }
        let requests = ShutdownRequests::new().context("cannot wait for signals")?;
        let request = Request { target, limit, keeps_messages: asked.save_trace.is_some(), is_live };
        let observed = flow::observe(&request, &requests)?;
        if let Some(path) = &asked.save_trace {
            save(path, &observed.messages)?;
        }
        if !is_live {
            let observation = &observed.observation;
            let advice = costs().map_or_else(Advice::missing, |costs| Advice::new(observation, &costs));
            output::print(&match asked.format {
                ListFormat::Table => {
                    let mut document = flow::document(observation);
                    document.push(advice.section(observation));
                    document_text(&document, output::style())
                }
                ListFormat::Json => serde_json::to_string_pretty(&Report { observation, advice })? + "\n",
            })?;
        }
        Ok(observed.signal.map_or(Outcome::Done, Outcome::Interrupted))
    }

    /// Reads the costs of this machine.
    ///
    /// # Errors
    /// Returns why they are unknown, with the command that measures them.
    fn costs() -> Result<Costs, String> {
        let is_saved = saving::folder().is_some_and(|folder| folder.join(format!("{COSTS}.jsonl")).is_file());
        if !is_saved {
            let remedy = "measure them with 'furlong costs --save costs', then observe again";
            return Err(format!("the costs of this machine are not known; {remedy}"));
        }
        let runs = saved::find(&[COSTS.to_owned()])
            .and_then(|found| found.iter().map(saved::SavedRun::read).collect());
        let runs: Vec<_> = runs.map_err(|error: anyhow::Error| error.to_string())?;
        let run = runs.first().ok_or("the run 'costs' was removed")?;
        let (measured, here) = (&run.header.machine, facts::machine(false));
        if (&measured.kernel, &measured.processor) != (&here.kernel, &here.processor) {
            let remedy = "repeat 'furlong costs --save costs --replace'";
            return Err(format!("the run '{COSTS}' is of another machine or kernel; {remedy}"));
        }
        Ok(Costs::of(&DecodedRun::of(run)))
    }

    fn target(asked: &ObserveOptions) -> Result<Target, Usage> {
        if let Some(command) = &asked.command {
            return Ok(Target::Command(command.clone()));
        }
        if let Some(path) = &asked.cgroup {
            let folder = control_group::folder(path).ok_or_else(|| {
                let why = "is not a control group; specify a directory such as /sys/fs/cgroup/system.slice";
                Usage(format!("--cgroup {} {why}", path.display()))
            })?;
            return Ok(Target::Group(folder));
        }
        match &asked.pids[..] {
            _ if asked.all => Ok(Target::Machine),
            [] => Err(Usage("specify a PID, --command, --cgroup or --all".to_owned())),
            pids => Ok(Target::Processes(pids.to_vec())),
        }
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
