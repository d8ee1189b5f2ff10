//! `furlong trace`: summaries, imports and generated traces.

use crate::arguments::{GenerateOptions, TraceOptions, TraceVerb};
use crate::{delivery, output, traces};
use furlong_console::exit::{Outcome, Usage};
use furlong_console::writing;
use furlong_loops::schedule::Schedule;
use furlong_loops::size_sequence::SizeSequence;
use furlong_model::{ArrivalProcess, Wait, format_bytes, format_ns, is_unseen, listing, three_digits};
use furlong_trace::{TraceMessage, TraceReader, TraceSummary, open};
use std::io::{BufRead, Write};
use std::path::Path;

/// Most links in a table.
const LISTED_LINKS: usize = 20;

/// Shares of the messages whose sizes are printed.
const SHARES: [f64; 4] = [0.5, 0.9, 0.99, 1.0];

/// Runs the command.
pub fn trace(asked: &TraceOptions) -> anyhow::Result<Outcome> {
    match &asked.verb {
        TraceVerb::Info { file } => info(file),
        TraceVerb::Convert { from, to } => convert(from, to),
        TraceVerb::Generate(options) => generate(options),
    }
}

/// Prints the summary of a file, which need not be a trace of furlong.
fn info(file: &Path) -> anyhow::Result<Outcome> {
    let invalid = |error| traces::invalid(file, &error);
    let mut reader = open(file).map_err(invalid)?;
    let mut summary = TraceSummary::new()?;
    for message in reader.by_ref() {
        summary.add(&message.map_err(invalid)?);
    }
    if summary.all.messages == 0 {
        return Err(Usage(format!("{}: no message{}", file.display(), left_out(&reader))).into());
    }
    output::print(&(table(&summary) + &left_out(&reader)))?;
    Ok(Outcome::Done)
}

/// Returns a line about the lines or packets that carry no message.
fn left_out<R: BufRead>(reader: &TraceReader<R>) -> String {
    let number = |number, what: &str| if number > 0 { format!("\n{number} {what}\n") } else { String::new() };
    number(reader.left_out(), "lines or packets carry no message, and are left out")
        + &number(
            reader.reordered(),
            "messages are out of order by up to 1 ms, and got the time of the message before",
        )
}

fn table(summary: &TraceSummary) -> String {
    let seconds = summary.duration_ns() as f64 / 1e9;
    let mut text = format!(
        "{} messages, {} in {}\n",
        summary.all.messages,
        format_bytes(summary.all.bytes as usize),
        format_ns(summary.duration_ns() as f64)
    );
    let mean = summary.all.bytes as f64 / summary.all.messages as f64;
    let sizes = summary.size_percentiles(&SHARES);
    let sizes: Vec<_> = sizes.into_iter().map(|bytes| format_bytes(bytes as usize)).collect();
    if let [p50, p90, p99, largest] = &sizes[..] {
        text += &format!(
            "Sizes: mean {} B, p50 {p50}, p90 {p90}, p99 {p99}, largest {largest}\n",
            three_digits(mean)
        );
    }
    if let Some(found) = summary.burstiness() {
        text += &format!(
            "Rate: {} messages and {} B per second on average\n",
            three_digits(summary.all.messages as f64 / seconds),
            three_digits(summary.all.bytes as f64 / seconds)
        );
        text += &format!(
            "Intervals: mean {}, p99 {} ({} times the mean; Poisson: 4.61), longest {}\n",
            format_ns(found.mean_ns),
            format_ns(found.p99_ns),
            three_digits(found.p99_ns / found.mean_ns),
            format_ns(found.longest_ns as f64)
        );
        text += &format!(
            "Index of dispersion in windows of 10 ms: {} (Poisson: 1, bursts: more)\n",
            three_digits(found.dispersion)
        );
    }
    let links = summary.links();
    let others = (links.len() > LISTED_LINKS || summary.unnamed.messages > 0).then(|| {
        let rest = links.iter().skip(LISTED_LINKS).map(|(_, totals)| totals.messages).sum::<u64>();
        format!("Other links have {} messages.\n", rest + summary.unnamed.messages)
    });
    let rows = links.into_iter().take(LISTED_LINKS).map(|(link, totals)| {
        let link = link.chars().filter(|character| !is_unseen(*character)).collect();
        vec![link, totals.messages.to_string(), format_bytes(totals.bytes as usize)]
    });
    text + "\n"
        + &listing(&["LINK", "MESSAGES", "BYTES"], rows, output::width())
        + &others.unwrap_or_default()
}

/// Writes the messages of a file as a trace.
fn convert(from: &Path, to: &Path) -> anyhow::Result<Outcome> {
    let invalid = |error| traces::invalid(from, &error);
    let mut reader = open(from).map_err(invalid)?;
    let mut messages = 0_u64;
    write(to, |file| {
        for message in reader.by_ref() {
            writeln!(file, "{}", message.map_err(invalid)?)?;
            messages += 1;
        }
        match messages {
            0 => Err(Usage(format!("{}: no message{}", from.display(), left_out(&reader))).into()),
            _ => Ok(()),
        }
    })?;
    output::tell(format_args!(
        "{messages} messages written to {}{}",
        to.display(),
        left_out(&reader).trim_end()
    ));
    Ok(Outcome::Done)
}

/// Writes a trace with the generators of measured messages.
fn generate(asked: &GenerateOptions) -> anyhow::Result<Outcome> {
    let arrival = asked.arrival.unwrap_or(ArrivalProcess::FIXED).at(asked.rate.interval_ns());
    let mut schedule = Schedule::new(arrival, Wait::Block, asked.seed);
    let sizes = asked.sizes.as_ref().and_then(|conditions| conditions.size_mix());
    let sizes = sizes.map(|mix| SizeSequence::new(mix, asked.seed));
    let end_ns = asked.duration.map_or(u64::MAX, |time| time.0.as_nanos() as u64);
    let (mut time_ns, mut number) = (0, 0);
    write(&asked.to, |file| {
        while number < asked.messages.unwrap_or(u64::MAX) {
            time_ns = schedule.next_ns(time_ns, time_ns);
            if time_ns > end_ns {
                break;
            }
            let bytes = sizes.as_ref().map_or(asked.size.0, |sizes| sizes.bytes(number));
            let (sender, receiver) = ("client".to_owned(), "server".to_owned());
            // Sizes beyond the range become invalid, and are reported as such.
            let size_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            let message =
                TraceMessage { time_ns, sender, receiver, size_bytes, kind: Default::default(), means: None };
            message.check().map_err(Usage)?;
            writeln!(file, "{message}")?;
            number += 1;
        }
        match number {
            0 => Err(Usage("--duration is too short for a message at this --rate".to_owned()).into()),
            _ => Ok(()),
        }
    })?;
    output::tell(format_args!("{number} messages written to {}", asked.to.display()));
    Ok(Outcome::Done)
}

/// Replaces the file at `path` by the lines that the closure writes.
fn write(path: &Path, lines: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    delivery::check_result("--to", path)?;
    writing::replace_by(path, lines)
}
