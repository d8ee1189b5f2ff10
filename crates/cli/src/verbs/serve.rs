//! `furlong serve`: serves read-only pages of saved runs to a browser on this machine, without measuring.

use crate::arguments::ServeOptions;
use crate::saved::{self, SavedRun, SavedRuns};
use crate::{output, saving};
use anyhow::{Context, anyhow};
use furlong_analysis::{DecodedRun, Run};
use furlong_console::exit::{CannotHere, Outcome, Usage};
use furlong_os::handle::AsHandle;
use furlong_os::shutdown::ShutdownRequests;
use furlong_render::{ListedRun, plain, shell};
use furlong_report::{NamedRun, Report, RunList, ServedPage, run_list};
use furlong_serve::{Answer, Request, Server, Site, Status};
use furlong_stats::{distinct, sort_by_key};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of runs on one page; more would be slow to create and to read.
const MOST_RUNS: usize = 20;
/// The interval at which a browser reloads the page of a run in progress.
const AGAIN: Duration = Duration::from_secs(2);

/// Serves until a signal arrives.
pub fn serve(asked: &ServeOptions) -> anyhow::Result<Outcome> {
    let folder = match &asked.folder {
        Some(folder) if folder.is_dir() => folder.clone(),
        Some(folder) => {
            return Err(Usage(format!("{} is not a directory", plain(&folder.to_string_lossy()))).into());
        }
        None => saving::folder()
            .ok_or_else(|| Usage("no data directory: specify a directory of runs, or set HOME".to_owned()))?,
    };
    // Threads that are started later inherit the signal mask, so that signals reach only this wait.
    let requests = ShutdownRequests::new().context("cannot wait for signals")?;
    let server = Server::bind(asked.port).map_err(|error| cannot_listen(asked.port, &error))?;
    output::tell(format_args!(
        "furlong: serving the runs in {} until Ctrl-C, to every client that knows this address:",
        plain(&folder.to_string_lossy())
    ));
    output::print(&format!("{}\n", server.url()))?;
    server.serve(Arc::new(Runs { folder, margin: asked.margin.share() }), requests.as_handle())?;
    Ok(requests.take().map_or(Outcome::Done, Outcome::Interrupted))
}

fn cannot_listen(port: u16, error: &std::io::Error) -> anyhow::Error {
    let reason = format!("cannot listen on port {port} of the loopback interface: {error}");
    match error.kind() {
        ErrorKind::PermissionDenied => {
            let remedy = "use a --port of 1024 or higher, or run as root or with CAP_NET_BIND_SERVICE";
            CannotHere::new(reason, remedy).into()
        }
        ErrorKind::AddrInUse => anyhow!("{reason}; use another --port, or omit it to get a free port"),
        _ => anyhow!(reason),
    }
}

/// The runs of a directory.
struct Runs {
    folder: PathBuf,
    margin: f64,
}

impl Site for Runs {
    fn answer(&self, request: &Request) -> Answer {
        let page = match request.path.as_str() {
            "" => self.list(request.values("find").next().unwrap_or_default().trim()),
            "report" => self.report(request),
            _ => Err(Answer::text(Status::NotFound, "Page not found.")),
        };
        page.unwrap_or_else(|why| why)
    }
}

impl Runs {
    fn runs(&self) -> Result<SavedRuns, Answer> {
        saved::all_in(&self.folder).map_err(|error| failed(&error))
    }

    /// Returns the list of runs, newest first, whose name or command contains `find`.
    fn list(&self, find: &str) -> Result<Answer, Answer> {
        let SavedRuns { runs, unreadable } = self.runs()?;
        let all: Vec<_> = runs.into_iter().rev().filter_map(SavedRun::listed).collect();
        let wanted = find.to_lowercase();
        let is_wanted = |text: &str| text.to_lowercase().contains(&wanted);
        let found =
            all.iter().filter(|(header, _, run)| is_wanted(&run.name) || is_wanted(&shell(&header.argv)));
        let runs: Vec<_> = found
            .map(|(header, bytes, run)| {
                (ListedRun { run: &run.name, file: "", bytes: *bytes, header }, run.is_under_way())
            })
            .collect();
        let folder = self.folder.to_string_lossy();
        let unreadable: Vec<_> =
            unreadable.iter().map(|run| (run.name.as_str(), run.reason.as_str())).collect();
        let list = RunList { folder: &folder, runs: &runs, of: all.len(), find, unreadable: &unreadable };
        run_list(&list).map(Answer::page).map_err(|error| failed(&error))
    }

    /// Returns the chosen runs on one page: the baseline first, then the others in the order of their start.
    fn report(&self, request: &Request) -> Result<Answer, Answer> {
        let baseline = request.values("baseline").next();
        let names = distinct(request.values("run").chain(baseline));
        let mut chosen = self.runs()?.runs;
        chosen.retain(|run| names.binary_search(&run.name.as_str()).is_ok());
        match (names.len(), chosen.len()) {
            (0, _) => return Err(Answer::text(Status::Bad, "No run is selected: go back and select one.")),
            (wanted, there) if there < wanted => {
                let is_there = |name: &str| chosen.iter().any(|run| run.name == name);
                let missing =
                    names.iter().find(|name| !is_there(name)).map_or(String::new(), |name| plain(name));
                return Err(Answer::text(Status::NotFound, &format!("No run is saved as '{missing}'.")));
            }
            (_, there) if there > MOST_RUNS => {
                let sentence = format!("A page shows at most {MOST_RUNS} runs, but {there} are selected.");
                return Err(Answer::text(Status::Bad, &sentence));
            }
            _ => {}
        }
        sort_by_key(&mut chosen, |run| Some(run.name.as_str()) != baseline);
        // This comes before the runs are read. A run that ends in between is then reloaded once more.
        let under_way: Vec<_> =
            chosen.iter().filter(|run| run.is_under_way()).map(|run| run.name.as_str()).collect();
        let runs: Vec<(&str, Run)> = chosen
            .iter()
            .map(|run| Ok((run.name.as_str(), run.read()?)))
            .collect::<anyhow::Result<_>>()
            .map_err(|error| failed(&format_args!("{error:#}")))?;
        let decoded: Vec<_> = runs.iter().map(|(name, run)| (name, DecodedRun::of(run))).collect();
        let named: Vec<_> = decoded.iter().map(|(name, run)| NamedRun { name, run }).collect();
        let page =
            Report::of(&named, self.margin).served_html(ServedPage { list: "./", under_way: &under_way });
        let page = Answer::page(page.map_err(|error| failed(&error))?);
        Ok(if under_way.is_empty() { page } else { page.again_after(AGAIN) })
    }
}

fn failed(error: &dyn std::fmt::Display) -> Answer {
    Answer::text(Status::Failed, &plain(&format!("Cannot create the page: {error}")))
}
