//! Asking for a workload on a terminal, one question after the other.

use crate::arguments::WorkloadOptions;
use crate::exit::Usage;
use anyhow::Context;
use dialoguer::{Input, Select};
use furlong_model::{Boundary, ByteSize, Objective, Pattern, Rate, Slo, Trust};
use std::io::{IsTerminal, stderr, stdin};
use std::str::FromStr;

/// Asks.
///
/// # Errors
/// Where there is nobody to ask.
pub fn ask() -> anyhow::Result<WorkloadOptions> {
    if !stdin().is_terminal() || !stderr().is_terminal() {
        let reason = "no workload was described; say what the processes exchange, as in 'furlong recommend --size 4KiB --rate 1k/s', or run it on a terminal to be asked";
        return Err(Usage(reason.to_owned()).into());
    }
    let pattern = choice(
        "How do messages go?",
        &[
            ("there and back: each is answered", Pattern::RoundTrip),
            ("one way: nothing is answered", Pattern::OneWay),
            ("a small question, and an answer", Pattern::Request),
        ],
    )?;
    let size: ByteSize = typed("How large is a message?", "128")?;
    let rate: String = line("How many a second, as in 60/s (empty: as fast as they go)?")?;
    let rate = optional::<Rate>(&rate)?;
    let objective = choice(
        "What is to be best?",
        &[
            ("latency", Objective::Latency),
            ("throughput", Objective::Throughput),
            ("processor time", Objective::Cpu),
            ("little to write", Objective::Simplicity),
        ],
    )?;
    let streams = pattern == Pattern::OneWay && rate.is_none();
    let slo = if streams || objective == Objective::Throughput {
        None
    } else {
        optional::<Slo>(&line("Which percentile must stay below which time, as in p99<2ms (empty: none)?")?)?
    };
    let boundary = choice(
        "What lies between the processes?",
        &[
            ("nothing: two programs of one user", Boundary::Process),
            ("nothing: one forks the other", Boundary::Fork),
            ("they run as different users", Boundary::User),
            ("each is in a container of its own", Boundary::Container),
            ("a network: they are on two machines", Boundary::Host),
        ],
    )?;
    let trust = choice(
        "Does each trust the other?",
        &[("yes", Trust::Mutual), ("no: neither may be able to hurt the other", Trust::None)],
    )?;
    let spin = choice(
        "May waiting keep a processor busy?",
        &[("no: who waits sleeps", false), ("yes: there are processors to spare", true)],
    )?;
    Ok(WorkloadOptions {
        size: Some(size),
        rate,
        pattern: Some(pattern),
        objective: Some(objective),
        slo,
        boundary: vec![boundary],
        trust: Some(trust),
        spin,
        ..WorkloadOptions::default()
    })
}

fn choice<T: Copy>(question: &str, answers: &[(&str, T)]) -> anyhow::Result<T> {
    let texts: Vec<_> = answers.iter().map(|(text, _)| *text).collect();
    let chosen = Select::new().with_prompt(question).items(&texts).default(0).interact();
    Ok(answers[chosen.context("nothing was chosen")?].1)
}

fn typed<T: FromStr<Err: ToString> + ToString + Clone>(question: &str, usual: &str) -> anyhow::Result<T> {
    let check = |text: &String| text.trim().parse::<T>().map(drop).map_err(|error| error.to_string());
    let asked = Input::<String>::new().with_prompt(question).default(usual.to_owned()).validate_with(check);
    let text = asked.interact_text().context("nothing was typed")?;
    text.trim().parse().map_err(|error: T::Err| Usage(error.to_string()).into())
}

fn line(question: &str) -> anyhow::Result<String> {
    let asked = Input::<String>::new().with_prompt(question).allow_empty(true);
    asked.interact_text().context("nothing was typed")
}

/// What was typed, unless that is nothing.
fn optional<T: FromStr<Err: ToString>>(text: &str) -> anyhow::Result<Option<T>> {
    match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|error: T::Err| Usage(error.to_string()).into()),
    }
}
