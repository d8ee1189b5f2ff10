//! What is known of the machine and of the run, as pairs of words.

use furlong_analysis::Summary;
use furlong_model::{Machine, format_bytes, format_ns};
use furlong_render::plain;
use serde::Serialize;

/// A fact, and what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Which.
    pub name: String,
    /// What it is.
    pub value: String,
}

fn fact(name: &str, value: Option<String>) -> Option<Fact> {
    let value = value.map(|value| plain(&value)).filter(|value| !value.is_empty())?;
    Some(Fact { name: name.to_owned(), value })
}

/// The facts of a machine that were recorded.
pub fn machine(machine: &Machine) -> Vec<Fact> {
    let caches: Vec<_> = machine
        .caches
        .iter()
        .map(|cache| {
            let size = format_bytes(usize::try_from(cache.size_bytes).unwrap_or(usize::MAX));
            format!("L{} {} {size}", cache.level, cache.kind)
        })
        .collect();
    let numbers: Vec<_> = machine.processors.iter().map(usize::to_string).collect();
    let memory = machine.memory_bytes.map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)));
    let mitigations: Vec<_> =
        machine.mitigations.iter().map(|(fault, answer)| format!("{fault}: {answer}")).collect();
    let listed = |all: Vec<String>, between: &str| (!all.is_empty()).then(|| all.join(between));
    let yes_or_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    [
        fact("Processor", machine.processor.clone()),
        fact("Processors", listed(numbers, " ")),
        fact("Threads share cores", machine.threads_share_cores.map(yes_or_no)),
        fact("Caches", listed(caches, ", ")),
        fact("Memory", memory),
        fact("Hypervisor", machine.hypervisor.clone()),
        fact("Kernel", Some(format!("{} {} {}", machine.system, machine.kernel, machine.architecture))),
        fact("Distribution", machine.distribution.clone()),
        fact("Clock", machine.clock_source.clone()),
        fact("Governor", machine.governor.clone()),
        fact("Deepest idle state", machine.deepest_idle_state.clone()),
        fact("Run as root", Some(yes_or_no(machine.root))),
        fact("Mitigations", listed(mitigations, "; ")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// How the run was made, so that it can be made again.
pub fn method(summary: &Summary) -> Vec<Fact> {
    let command = shell(&summary.run.argv);
    [
        fact("Command", Some(command)),
        fact("Measured", Some(date(summary.run.started_unix_s))),
        fact("furlong", Some(summary.run.version.clone())),
        fact("Seed", Some(summary.run.seed.to_string())),
        fact("One reading of the clock", Some(format_ns(summary.run.harness.clock_read_ns))),
        fact("Smallest step of the clock", Some(format_ns(summary.run.harness.clock_step_ns))),
        fact("Looks at the noise", Some(summary.run.noise.readings.to_string())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The command as a shell takes it, without the folders of the program.
pub fn shell(argv: &[String]) -> String {
    let quoted = |word: &String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+~".contains(c);
        let word = plain(word);
        if !word.is_empty() && word.chars().all(is_plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    let program = argv.first().map(|path| path.rsplit('/').next().unwrap_or_default().to_owned());
    program.iter().chain(argv.iter().skip(1)).map(quoted).collect::<Vec<_>>().join(" ")
}

/// A time as `2026-11-21 21:42 UTC`.
pub fn date(unix_s: u64) -> String {
    let (days, seconds) = (unix_s / 86_400, unix_s % 86_400);
    // Days are counted from the first of March of year 0, in eras of 400 years, so that leap days come last.
    let days = days.min(3_000_000) + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + next;
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_825_599), "2000-02-29 11:59 UTC");
        assert_eq!(date(1_795_296_000), "2026-11-21 21:20 UTC");
        assert_eq!(date(4_107_542_399), "2100-02-28 23:59 UTC");
        assert!(date(u64::MAX).ends_with("UTC"));
    }

    #[test]
    fn commands_can_be_typed_again() {
        let argv =
            ["target/release/furlong", "run", "unix-*", "-s", "64..1MiB:x4", "it's"].map(str::to_owned);
        assert_eq!(shell(&argv), "furlong run 'unix-*' -s 64..1MiB:x4 'it'\\''s'");
        assert_eq!(shell(&[]), "");
    }
}
