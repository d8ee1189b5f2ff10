//! Asking for a workload on a terminal, one question after the other.

use crate::arguments::WorkloadOptions;
use crate::output;
use anyhow::Context;
use dialoguer::console::Term;
use dialoguer::{Input, Select};
use furlong_console::exit::{Interrupted, Usage};
use furlong_model::{Boundary, ByteSize, Language, Objective, Pattern, Rate, Slo, Trust};
use furlong_os::shutdown::NotedRequests;
use furlong_render::shell;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, stderr, stdin};
use std::str::FromStr;

/// Asks.
///
/// # Errors
/// Where there is nobody to ask, or who is asked ends it.
pub fn ask() -> anyhow::Result<WorkloadOptions> {
    if !stdin().is_terminal() || !stderr().is_terminal() {
        let reason = "no workload was described; say what the processes exchange, as in 'furlong recommend --size 4KiB --rate 1k/s', or run it on a terminal to be asked";
        return Err(Usage(reason.to_owned()).into());
    }
    let asking = Asking::begin()?;
    let pattern = asking.choice(
        "How do messages go?",
        &Pattern::OVER_ONE_LINK.map(|pattern| (pattern.facts().summary, pattern)),
    )?;
    let size = asking.size("How large is a message?", "128")?;
    let rate = asking.optional::<Rate>("How many a second, as in 60/s (empty: as fast as they go)?")?;
    let objective = asking.choice(
        "What is to be best?",
        &[
            ("latency", Objective::Latency),
            ("throughput", Objective::Throughput),
            ("processor time", Objective::Cpu),
            ("little to write", Objective::Simplicity),
        ],
    )?;
    let streams = pattern.is_stream() && rate.is_none();
    let slo = if streams || objective == Objective::Throughput {
        None
    } else {
        asking.optional::<Slo>("Which percentile must stay below which time, as in p99<2ms (empty: none)?")?
    };
    let boundary = asking.choice(
        "What lies between the processes?",
        &[
            ("nothing: two programs of one user", Boundary::Process),
            ("nothing: one forks the other", Boundary::Fork),
            ("they run as different users", Boundary::User),
            ("each is in a container of its own", Boundary::Container),
            ("a network: they are on two machines", Boundary::Host),
        ],
    )?;
    let languages = asking
        .optional::<Languages>("What are they written in, as in python,c (empty: whatever it takes)?")?;
    let trust = asking.choice(
        "Does each trust the other?",
        &[("yes", Trust::Mutual), ("no: neither may be able to hurt the other", Trust::None)],
    )?;
    let spin = asking.choice(
        "May waiting keep a processor busy?",
        &[("no: the waiting process sleeps", false), ("yes: there are processors to spare", true)],
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
    output::tell(format_args!("The same without questions: {}", shell(&command(&answered))));
    Ok(answered)
}

/// The command that says what was answered.
fn command(answered: &WorkloadOptions) -> Vec<String> {
    let WorkloadOptions { size, rate, pattern, objective, slo, boundary, languages, trust, spin, .. } =
        answered;
    let listed = |names: Vec<&str>| (!names.is_empty()).then(|| names.join(","));
    let options = [
        ("--size", size.map(|size| size.0.to_string())),
        ("--rate", rate.map(|rate| rate.to_string())),
        ("--pattern", pattern.map(|pattern| pattern.to_string())),
        ("--objective", objective.map(|objective| objective.name().to_owned())),
        ("--slo", slo.map(|slo| slo.to_string().replace(' ', ""))),
        ("--boundary", listed(boundary.iter().map(|boundary| boundary.name()).collect())),
        ("--languages", listed(languages.iter().map(|language| language.name()).collect())),
        ("--trust", trust.map(|trust| trust.name().to_owned())),
    ];
    let said = options.into_iter().filter_map(|(option, value)| Some([option.to_owned(), value?])).flatten();
    let spin = spin.then(|| "--spin".to_owned());
    ["furlong", "recommend"].map(str::to_owned).into_iter().chain(said).chain(spin).collect()
}

/// Languages with commas between them.
struct Languages(Vec<Language>);

impl FromStr for Languages {
    type Err = <Language as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split(',').map(|word| word.trim().parse()).collect::<Result<_, _>>().map(Languages)
    }
}

/// A terminal with somebody before it. A signal ends the question and not the process, which would leave the cursor
/// hidden where a list is shown.
struct Asking {
    terminal: Term,
    requests: NotedRequests,
}

impl Asking {
    fn begin() -> anyhow::Result<Asking> {
        let requests = NotedRequests::new().context("cannot listen to signals")?;
        Ok(Asking { terminal: Term::stderr(), requests })
    }

    fn choice<T: Copy>(&self, question: &str, answers: &[(&str, T)]) -> anyhow::Result<T> {
        let texts: Vec<_> = answers.iter().map(|(text, _)| *text).collect();
        let asked = Select::new().with_prompt(question).items(&texts).default(0);
        let chosen = self.answer(asked.interact_on(&self.terminal))?;
        Ok(answers.get(chosen).context("this answer was not offered")?.1)
    }

    /// A size above 0, asked for until it is one.
    fn size(&self, question: &str, usual: &str) -> anyhow::Result<ByteSize> {
        let read = |text: &str| match parsed::<ByteSize>(text)? {
            ByteSize(0) => Err("nothing would be carried: say 1 byte or more".to_owned()),
            size => Ok(size),
        };
        let check = |text: &String| read(text).map(drop);
        let asked =
            Input::<String>::new().with_prompt(question).default(usual.to_owned()).validate_with(check);
        let text = self.answer(asked.interact_text_on(&self.terminal))?;
        read(&text).map_err(|reason| Usage(reason).into())
    }

    /// Something or nothing, asked for until it is one of them.
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

    /// The answer, unless a signal or the end of the terminal came instead.
    fn answer<T>(&self, answered: dialoguer::Result<T>) -> anyhow::Result<T> {
        let error = match (answered, self.requests.first()) {
            (Ok(answer), None) => return Ok(answer),
            (_, Some(signal)) => return Err(Interrupted(signal).into()),
            (Err(dialoguer::Error::IO(error)), None) => error,
        };
        // Of a terminal that is gone there is nothing more to read, or calls fail in ways of their own.
        if error.kind() == ErrorKind::UnexpectedEof || !stdin().is_terminal() {
            anyhow::bail!("the terminal was closed before all was said");
        }
        Err(error).context("the terminal cannot be asked")
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        // A question that was not answered leaves the cursor hidden, or behind a half-typed line. A terminal that is
        // gone needs neither.
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

    /// What a command means to furlong.
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
            boundary: vec![Boundary::Process],
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
