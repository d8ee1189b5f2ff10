//! Costs of the driver compared with other mechanisms, in instructions that the guest's CPU executed.
//!
//! Times on an emulated CPU are meaningless, but its instructions can be counted. In this guest each instruction
//! takes one nanosecond, in both processes and in the kernel. The nanoseconds that furlong measures there are
//! therefore instructions.

use crate::results::Section;
use crate::tap::Case;
use anyhow::{Context, bail};

/// Benchmark that the others are compared with.
const QUEUE: &str = "posix-mq/select-first";

/// Requirements on the driver: a benchmark, its reference, and the lowest and the highest ratio of their instruction
/// counts. The counts repeat within 0.1 %, so these limits do not depend on chance.
const REQUIREMENTS: [(&str, &str, f64, f64); 3] = [
    ("driver-message/select-first", QUEUE, 0.0, 0.95),
    ("driver-shm/select-first", QUEUE, 0.0, 0.85),
    ("driver-shm/spin", "memfd-shm/spin", 0.95, 1.05),
];

/// A benchmark with the instruction count of one round trip.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    name: String,
    instructions: f64,
    round_trips: u64,
}

/// Judges the output of the guest. The notes contain the tables.
pub fn judged(sections: &[Section]) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut rows = Vec::new();
    for name in ["messages.json", "spin.json"] {
        match rows_of(sections, name) {
            Ok(found) => {
                cases.push(Case::new(
                    true,
                    format!("speed: {name} has all of its benchmarks"),
                    &table(&found),
                ));
                rows.extend(found);
            }
            Err(error) => {
                cases.push(Case::new(
                    false,
                    format!("speed: {name} has all of its benchmarks"),
                    &format!("{error:#}"),
                ));
            }
        }
    }
    cases.extend(REQUIREMENTS.iter().map(|requirement| requirement_case(&rows, requirement)));
    cases.push(replayed(sections));
    cases
}

fn section<'a>(sections: &'a [Section], name: &str) -> anyhow::Result<&'a Section> {
    let section = sections.iter().find(|section| section.name == name);
    let section = section.with_context(|| format!("the guest stopped before {name}"))?;
    match section.exit {
        Some(0) => Ok(section),
        Some(code) => bail!("furlong ended with {code}:\n{}", section.body.trim_end()),
        None => bail!("furlong had not ended when the guest did:\n{}", section.body.trim_end()),
    }
}

/// Parses the rows of a replay from JSON; all must have the same number of round trips.
fn rows_of(sections: &[Section], name: &str) -> anyhow::Result<Vec<Row>> {
    let body = &section(sections, name)?.body;
    // Messages on stderr precede the JSON.
    let start = body.find('{').context("furlong printed no JSON")?;
    let replay = serde_json::Deserializer::from_str(&body[start..]).into_iter::<serde_json::Value>().next();
    let replay = replay.context("furlong printed no JSON")?.context("furlong printed incomplete JSON")?;
    let rows = replay["rows"].as_array().context("the JSON has no benchmarks")?;
    let rows: Vec<Row> = rows.iter().map(row).collect::<Result<_, _>>()?;
    let first = rows.first().context("there is no benchmark")?;
    if let Some(other) = rows.iter().find(|row| row.round_trips != first.round_trips) {
        bail!(
            "{} was measured over {} round trips and {} over {}: only equal numbers can be compared",
            first.name,
            first.round_trips,
            other.name,
            other.round_trips
        );
    }
    Ok(rows)
}

fn row(row: &serde_json::Value) -> anyhow::Result<Row> {
    let name = row["row"].as_str().context("a benchmark has no name")?.to_owned();
    if row["status"] != "measured" {
        let message = |key: &str| row[key].as_str().unwrap_or("no reason is given").to_owned();
        bail!("{name} is {}: {} ({})", row["status"], message("reason"), message("remedy"));
    }
    if row["corrupted"] != false {
        bail!("{name} received other bytes than were sent");
    }
    let mean_us =
        row["measured"]["mean_us"]["value"].as_f64().with_context(|| format!("{name} has no mean"))?;
    let round_trips = row["durations"]["exchanges"].as_u64();
    let round_trips = round_trips.with_context(|| format!("{name} has no number of round trips"))?;
    Ok(Row { name, instructions: mean_us * 1e3, round_trips })
}

/// Formats the rows as a table, the cheapest first.
fn table(rows: &[Row]) -> String {
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort_by(|a, b| a.instructions.total_cmp(&b.instructions));
    let mut table = String::from(
        "Instructions of a round trip, of both processes and the kernel, counted by the emulator. Its times are meaningless.\n",
    );
    for row in rows {
        table.push_str(&format!(
            "{:<30}{:>10.0}   over {} round trips\n",
            row.name, row.instructions, row.round_trips
        ));
    }
    table
}

fn requirement_case(rows: &[Row], (name, reference, least, most): &(&str, &str, f64, f64)) -> Case {
    let instructions = |name: &str| rows.iter().find(|row| row.name == name).map(|row| row.instructions);
    let wanted = match least {
        0.0 => format!("at most {:.0} %", most * 100.0),
        _ => format!("{:.0} to {:.0} %", least * 100.0, most * 100.0),
    };
    let about = format!("speed: {name} takes {wanted} of the instructions of {reference}");
    match (instructions(name), instructions(reference)) {
        (Some(own), Some(other)) => {
            let ratio = own / other;
            let passed = ratio >= *least && ratio <= *most;
            Case::new(passed, about, &format!("{own:.0} and {other:.0}: {ratio:.3}"))
        }
        _ => Case::new(false, about, "one of the two was not measured"),
    }
}

/// Returns the table of the article as furlong prints it. Its times are also those of the guest.
fn replayed(sections: &[Section]) -> Case {
    let name = "speed: furlong replays ka2yan-2008 with all five of its benchmarks";
    let section = match section(sections, "replay") {
        Ok(section) => section,
        Err(error) => return Case::new(false, name, &format!("{error:#}")),
    };
    let rows = ["driver-shm", "driver-message", "posix-mq", "unix-stream", "fifo"];
    // A row that was measured names what it was measured as.
    let absent: Vec<_> =
        rows.into_iter().filter(|row| !section.body.contains(&format!("{row}/select-first"))).collect();
    let passed = absent.is_empty() && !section.body.contains("not loaded");
    Case::new(passed, name, &format!("One second here is 1,000,000,000 instructions.\n{}", section.body))
}

#[cfg(test)]
mod tests;
