//! The sentences around the tables of a replay, shared by every format that is read by people.

use super::figures::{thousands, times_handed_over};
use furlong_analysis::text::{listed, plain, plain_sentence};
use furlong_analysis::{Replay, ReplayStatus, describe_placement};
use furlong_model::{Amount, Context, ExchangeWork, Work, format_bytes};
use furlong_stats::sort_by_key;

/// Maximum number of names or sizes in one line of a list.
const NAMED: usize = 4;

/// Returns the name, title, author and year.
pub(crate) fn heading(replay: &Replay) -> String {
    let year = replay.year.map(|year| year.to_string());
    let by: Vec<_> = replay.author.as_deref().map(plain).into_iter().chain(year).collect();
    let by = if by.is_empty() { String::new() } else { format!(" ({})", by.join(", ")) };
    format!("{}: {}{by}", plain(&replay.experiment), plain(&replay.title))
}

/// Names the publication, its machine, and the machine of this run.
pub(crate) fn then_and_now(replay: &Replay, now: &str) -> Vec<String> {
    let source = replay.source.as_deref().map(|source| format!("Published: {}", plain(source)));
    let then = replay.machine_then.as_deref().map(|machine| format!("Then: {}", plain(machine)));
    let others = replay.machines_then.iter();
    let others = others.map(|machine| format!("Then, {}: {}", plain(&machine.name), plain(&machine.text)));
    let now = format!("Now: {now}");
    source.into_iter().chain(then).chain(others).chain([now]).collect()
}

/// Returns a published figure that is not replayed, with its source.
pub(crate) fn context(context: &Context) -> String {
    let text = plain_sentence(&context.text);
    match context.source.as_deref() {
        Some(source) => format!("{text} ({})", plain(source)),
        None => text,
    }
}

/// Describes the measurement in one or two sentences.
pub(crate) fn measured(replay: &Replay) -> String {
    let measure = &replay.measure;
    let place = describe_placement(measure.place);
    let trials = match measure.trials {
        1 => "1 trial".to_owned(),
        count => format!("{count} trials"),
    };
    let what = match &measure.work {
        Work::Exchange(exchange) => {
            let what = amount(exchange, &measure.sizes_bytes);
            format!("Measured in {trials} of {what} each, on {place}{}.", asked(exchange))
        }
        Work::Handover { touch, repetitions } => {
            let handovers = times_handed_over(*repetitions);
            format!(
                "Measured in {trials} of {handovers} each, on {place}; every {touch} is written and read."
            )
        }
    };
    let note = measure.note.as_deref().map(|note| format!(" {}", plain(note)));
    what + &note.unwrap_or_default()
}

fn amount(exchange: &ExchangeWork, sizes: &[usize]) -> String {
    let [_, several] = exchange.pattern.facts().exchange;
    let of = match sizes {
        [size] => format!(" of {}", format_bytes(*size)),
        _ => String::new(),
    };
    match exchange.trial_amount() {
        None => format!("{} ms of {several}{of}", ExchangeWork::TRIAL_WITHOUT_AMOUNT.as_millis()),
        Some(Amount::Exchanges(count)) => format!("{} {several}{of}", thousands(count as f64)),
        Some(Amount::Bytes(bytes)) => {
            format!("{} in {several}{of}", format_bytes(usize::try_from(bytes).unwrap_or(usize::MAX)))
        }
    }
}

fn asked(exchange: &ExchangeWork) -> String {
    let Some(request) = &exchange.request else { return String::new() };
    let by = request.by.as_deref().map(|by| format!(" by {}", plain(by)));
    format!("; requests of {}{}", format_bytes(request.size_bytes), by.unwrap_or_default())
}

/// Rows that share a reason, and the sizes that it is about.
struct Reason<'a> {
    status: ReplayStatus,
    /// The reason, with what would help.
    text: String,
    names: Vec<&'a str>,
    sizes: Vec<usize>,
}

/// Lists the reasons of missing figures, one line each, failures first; and the benchmarks that lost trials.
pub(crate) fn unmeasured(replay: &Replay) -> Vec<(ReplayStatus, String)> {
    let mut reasons: Vec<Reason> = Vec::new();
    for row in by_row(replay) {
        let same = |other: &&mut Reason| {
            (other.status, &other.text, &other.sizes) == (row.status, &row.text, &row.sizes)
        };
        match reasons.iter_mut().find(same) {
            Some(other) => other.names.extend(row.names),
            None => reasons.push(row),
        }
    }
    sort_by_key(&mut reasons, |reason| !matches!(reason.status, ReplayStatus::Failed | ReplayStatus::Void));
    let line = |reason: &Reason| {
        let names: Vec<_> = reason.names.iter().map(|name| plain(name)).collect();
        let status = match reason.status {
            ReplayStatus::Measured => "not in every trial",
            status => status.name(),
        };
        let all_sizes = reason.sizes.len() == replay.measure.sizes_bytes.len() || reason.sizes.is_empty();
        let sizes: Vec<_> = reason.sizes.iter().map(|size| format_bytes(*size)).collect();
        let at = if all_sizes { String::new() } else { format!(" at {}", listed(&sizes, NAMED)) };
        (reason.status, format!("{} ({status}{at}): {}", listed(&names, NAMED), reason.text))
    };
    reasons.iter().map(line).collect()
}

/// Returns the reason of each row, then those of process starts. The reason at the first size stands for all sizes of
/// equal status.
fn by_row(replay: &Replay) -> Vec<Reason<'_>> {
    let mut reasons: Vec<Reason> = Vec::new();
    for row in &replay.rows {
        let Some(text) = row.reason.as_deref() else { continue };
        let name = row.mechanism.as_str();
        let same = |other: &&mut Reason| other.status == row.status && other.names == [name];
        match reasons.iter_mut().find(same) {
            Some(other) => other.sizes.push(row.size_bytes),
            None => {
                let remedy = row.remedy.as_deref().map(|remedy| format!("; {}", plain(remedy)));
                let text = plain(text) + &remedy.unwrap_or_default();
                let sizes = vec![row.size_bytes];
                reasons.push(Reason { status: row.status, text, names: vec![name], sizes });
            }
        }
    }
    let starts = replay.starts.iter().filter_map(|start| {
        let text = plain(start.reason.as_deref()?);
        let is_said = replay.rows.iter().any(|row| row.mechanism == start.name && row.reason == start.reason);
        let (status, names) = (ReplayStatus::Unavailable, vec![start.name.as_str()]);
        (!is_said).then_some(Reason { status, text, names, sizes: Vec::new() })
    });
    reasons.extend(starts);
    reasons
}

/// Describes the counterparts of benchmarks, the settings in effect, and published remarks. Benchmarks with equal
/// text share a line.
pub(crate) fn counterparts(replay: &Replay) -> Vec<String> {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    let mut say = |name: String, words: String| match said.iter_mut().find(|(other, _)| *other == words) {
        Some((_, names)) => names.push(name),
        None => said.push((words, vec![name])),
    };
    let first = replay.measure.sizes_bytes.first().copied().unwrap_or_default();
    for row in replay.rows_of(first) {
        let in_effect = row.in_effect.as_deref().map(|words| format!("in effect: {}", plain(words)));
        let parts = [row.counterpart.as_deref().map(plain), in_effect, row.remark.as_deref().map(plain)];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        if !parts.is_empty() {
            say(plain(&row.mechanism), parts.join("; "));
        }
    }
    for start in &replay.starts {
        if let Some(words) = start.counterpart.as_deref() {
            say(format!("Start of {}", plain(&start.name)), plain(words));
        }
    }
    said.into_iter().map(|(words, names)| format!("{}: {words}.", listed(&names, NAMED))).collect()
}
