//! Questions about a workload on a terminal.

use crate::arguments::WorkloadOptions;
use crate::output;
use anyhow::Context;
use dialoguer::console::Term;
use dialoguer::{Input, Select};
use furlong_console::exit::{Interruption, Usage};
use furlong_model::{Boundary, ByteSize, Language, Objective, Pattern, Rate, Slo, Trust};
use furlong_os::shutdown::NotedRequests;
use furlong_render::shell;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, stderr, stdin};
use std::str::FromStr;

/// Asks for the workload.
///
/// # Errors
/// Returns an error if stdin or stderr is not a terminal, if the user presses Ctrl-C, or if the terminal is closed.
pub fn ask() -> anyhow::Result<WorkloadOptions> {
    if !stdin().is_terminal() || !stderr().is_terminal() {
        let reason = "no workload specified; describe it with options, for example 'furlong recommend \
                      --size 4KiB --rate 1k/s', or run the command in a terminal to answer questions";
        return Err(Usage(reason.to_owned()).into());
    }
    let asking = Dialog::begin()?;
    let pattern = asking.choice(
        "Which pattern do messages follow?",
        &Pattern::OVER_ONE_LINK.map(|pattern| (pattern.facts().summary, pattern)),
    )?;
    let size = asking.size("How large is a message?", "128")?;
    let rate = asking.optional::<Rate>("Messages per second, for example 60/s (empty: maximum rate)?")?;
    let objective = asking.choice(
        "What should be optimized?",
        &[
            ("latency", Objective::Latency),
            ("throughput", Objective::Throughput),
            ("CPU time", Objective::Cpu),
            ("integration effort", Objective::Simplicity),
        ],
    )?;
    let streams = pattern.is_stream() && rate.is_none();
    let slo = if streams || objective == Objective::Throughput {
        None
    } else {
        asking.optional::<Slo>("Limit of a latency percentile, for example p99<2ms (empty: none)?")?
    };
    let boundary = asking.choice(
        "Which boundary separates the processes?",
        &[
            ("none: two programs of one user", Boundary::None),
            ("none: one process forks the other", Boundary::Fork),
            ("they run as different users", Boundary::User),
            ("each runs in a separate container", Boundary::Container),
            ("a network: they run on two machines", Boundary::Host),
        ],
    )?;
    let languages =
        asking.optional::<Languages>("Languages of the programs, for example python,c (empty: any)?")?;
    let trust = asking.choice(
        "Do the processes trust each other?",
        &[("yes", Trust::Mutual), ("no: neither may be able to harm the other", Trust::None)],
    )?;
    let spin = asking.choice(
        "May a waiting process keep a CPU busy?",
        &[("no: it must block", false), ("yes: CPUs are available for busy-waiting", true)],
    )?;
    let answered = WorkloadOptions {
        size: Some(size),
        rate,
        pattern: Some(pattern),
        objective: Some(objective),
        slo,
        boundary: vec![boundary],
        languages: languages.map(|languages| languages.0).unwrap_or_default(),
        trust: Some(trust),
        spin,
        ..WorkloadOptions::default()
    };
    output::tell(format_args!("Equivalent command: {}", shell(&command(&answered))));
    Ok(answered)
}

/// Returns the command that is equivalent to the answers.
pub fn command(answered: &WorkloadOptions) -> Vec<String> {
    let WorkloadOptions { size, rate, pattern, objective, slo, boundary, languages, trust, spin, .. } =
        answered;
    let listed = |names: Vec<&str>| (!names.is_empty()).then(|| names.join(","));
    let options = [
        ("--size", size.map(|size| size.0.to_string())),
        ("--rate", rate.map(|rate| rate.to_string())),
        ("--pattern", pattern.map(|pattern| pattern.to_string())),
        ("--objective", objective.map(|objective| objective.name().to_owned())),
        ("--slo", slo.map(|slo| slo.to_string().replace(' ', ""))),
        (
            "--boundary",
            (!boundary.is_empty())
                .then(|| boundary.iter().map(Boundary::to_string).collect::<Vec<_>>().join(",")),
        ),
        ("--languages", listed(languages.iter().map(|language| language.name()).collect())),
        ("--trust", trust.map(|trust| trust.name().to_owned())),
    ];
    let said = options.into_iter().filter_map(|(option, value)| Some([option.to_owned(), value?])).flatten();
    let spin = spin.then(|| "--spin".to_owned());
    ["furlong", "recommend"].map(str::to_owned).into_iter().chain(said).chain(spin).collect()
}

/// Languages separated by commas.
struct Languages(Vec<Language>);

impl FromStr for Languages {
    type Err = <Language as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split(',').map(|word| word.trim().parse()).collect::<Result<_, _>>().map(Languages)
    }
}

/// A dialog on a terminal. A signal ends the question instead of the process, because the cursor is hidden while a
/// list is shown.
struct Dialog {
    terminal: Term,
    requests: NotedRequests,
}

impl Dialog {
    fn begin() -> anyhow::Result<Dialog> {
        let requests = NotedRequests::new().context("cannot install signal handlers")?;
        Ok(Dialog { terminal: Term::stderr(), requests })
    }

    fn choice<T: Clone>(&self, question: &str, answers: &[(&str, T)]) -> anyhow::Result<T> {
        let texts: Vec<_> = answers.iter().map(|(text, _)| *text).collect();
        let asked = Select::new().with_prompt(question).items(&texts).default(0);
        let chosen = self.answer(asked.interact_on(&self.terminal))?;
        let (_, answer) = answers.get(chosen).context("this answer is not one of the choices")?;
        Ok(answer.clone())
    }

    /// Asks for a size until the answer is valid and above 0.
    fn size(&self, question: &str, usual: &str) -> anyhow::Result<ByteSize> {
        let read = |text: &str| match parsed::<ByteSize>(text)? {
            ByteSize(0) => Err("the size must be at least 1 byte".to_owned()),
            size => Ok(size),
        };
        let check = |text: &String| read(text).map(drop);
        let asked =
            Input::<String>::new().with_prompt(question).default(usual.to_owned()).validate_with(check);
        let text = self.answer(asked.interact_text_on(&self.terminal))?;
        read(&text).map_err(|reason| Usage(reason).into())
    }

    /// Asks until the answer is empty or valid.
    fn optional<T: FromStr<Err: Display>>(&self, question: &str) -> anyhow::Result<Option<T>> {
        let read = |text: &str| match text.trim() {
            "" => Ok(None),
            text => parsed::<T>(text).map(Some),
        };
        let check = |text: &String| read(text).map(drop);
        let asked = Input::<String>::new().with_prompt(question).allow_empty(true).validate_with(check);
        let text = self.answer(asked.interact_text_on(&self.terminal))?;
        read(&text).map_err(|reason| Usage(reason).into())
    }

    /// Returns the answer, unless a signal arrived or the terminal was closed.
    fn answer<T>(&self, answered: dialoguer::Result<T>) -> anyhow::Result<T> {
        let error = match (answered, self.requests.first()) {
            (Ok(answer), None) => return Ok(answer),
            (_, Some(signal)) => return Err(Interruption::unmeasured(signal).into()),
            (Err(dialoguer::Error::IO(error)), None) => error,
        };
        // If a terminal is closed, reads return the end of the file or fail with various errors.
        if error.kind() == ErrorKind::UnexpectedEof || !stdin().is_terminal() {
            anyhow::bail!("the terminal was closed before all questions were answered");
        }
        Err(error).context("cannot read from the terminal")
    }
}

impl Drop for Dialog {
    fn drop(&mut self) {
        // An unanswered question leaves the cursor hidden or after a half-typed line. On a closed terminal, these
        // calls fail without harm.
        if self.requests.first().is_some() {
            let _ = self.terminal.write_line("");
        }
        let _ = self.terminal.show_cursor();
    }
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|error: T::Err| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{RecommendOptions, command as furlong};
    use clap::FromArgMatches;

    /// Returns the options that furlong parses from a command.
    fn typed(words: &[String]) -> WorkloadOptions {
        let typed = furlong().try_get_matches_from(words).unwrap();
        RecommendOptions::from_arg_matches(typed.subcommand().unwrap().1).unwrap().workload
    }

    #[test]
    fn the_command_says_what_was_answered() {
        let short = WorkloadOptions {
            size: Some(ByteSize(128)),
            pattern: Some(Pattern::RoundTrip),
            objective: Some(Objective::Latency),
            boundary: vec![Boundary::None],
            trust: Some(Trust::Mutual),
            ..WorkloadOptions::default()
        };
        let long = WorkloadOptions {
            size: Some(ByteSize(1_000_001)),
            rate: "2.5k/s".parse().ok(),
            pattern: Some(Pattern::OneWay),
            slo: "p99.9<1500us".parse().ok(),
            boundary: vec![Boundary::User, Boundary::NetworkNamespace],
            languages: "python, c".parse::<Languages>().unwrap().0,
            trust: Some(Trust::None),
            spin: true,
            ..short.clone()
        };
        for answered in [short, long] {
            let words = command(&answered);
            assert_eq!(typed(&words), answered, "{words:?}");
        }
        assert!("python,fortran77".parse::<Languages>().is_err());
    }
}
