//! `[[row]]` and `[[start]]`: the compared benchmarks, with their published figures.

use super::{ExperimentError, measure, place::Source, schema, table::Text};
use furlong_model::{
    ByteSize, CONDITION_KINDS, ConditionKind, ExperimentRow, ExperimentStart, Figure, InvalidName, Measure,
    PublishedFigures, PublishedMachine, RequestedConditions, RowTarget, Target, Wait, Work, format_bytes,
};
use std::collections::BTreeMap;
use toml::{Spanned, Value};

/// Maximum number of benchmarks in an experiment.
const MOST_ROWS: usize = 200;
/// Largest published figure.
const LARGEST: f64 = 1e15;
/// The keys among the figures of a benchmark that are not figures.
const SIZE: &str = "size";
const MACHINE: &str = "machine";

pub(super) fn machines(
    source: &Source,
    read: &[schema::Machine],
) -> Result<Vec<PublishedMachine>, ExperimentError> {
    have_own_names(source, "machine", read.iter().map(|entry| &entry.name))?;
    let machine = |entry: &schema::Machine| {
        Ok(PublishedMachine { name: source.name(&entry.name)?, text: source.text(&entry.text)? })
    };
    read.iter().map(machine).collect()
}

/// Checks that no name of these tables occurs twice.
fn have_own_names<'a>(
    source: &Source,
    what: &str,
    names: impl Iterator<Item = &'a Text>,
) -> Result<(), ExperimentError> {
    let mut known: Vec<String> = Vec::new();
    for text in names {
        let name = source.name(text)?;
        if known.contains(&name) {
            let reason = format!("a {what} named '{name}' already exists: give each {what} its own name");
            return Err(source.wrong(text, reason));
        }
        known.push(name);
    }
    Ok(())
}

pub(super) fn check(
    source: &Source,
    read: &[schema::Row],
    measure: &Measure,
    machines: &[PublishedMachine],
) -> Result<Vec<ExperimentRow>, ExperimentError> {
    have_own_names(source, "row", read.iter().map(|entry| &entry.name))?;
    let mut rows: Vec<ExperimentRow> = Vec::new();
    for entry in read {
        let row = row(source, entry, measure, machines)?;
        let same = |other: &&ExperimentRow| other.target.is_some() && other.target == row.target;
        if let Some(other) = rows.iter().find(same) {
            let reason =
                format!("'{}' is already measured for '{}': measure it once", target_name(&row), other.name);
            return Err(source.wrong(&entry.name, reason));
        }
        if rows.len() == MOST_ROWS {
            return Err(source.wrong(&entry.name, format!("there are more than {MOST_ROWS} rows")));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn target_name(row: &ExperimentRow) -> String {
    row.target.as_ref().map_or_else(String::new, Target::name)
}

fn row(
    source: &Source,
    read: &schema::Row,
    measure: &Measure,
    machines: &[PublishedMachine],
) -> Result<ExperimentRow, ExperimentError> {
    let target = target(source, read, measure)?;
    let mut published: Vec<PublishedFigures> = Vec::new();
    for figures in &read.published {
        let figures_read = self::figures(source, figures, measure, machines)?;
        let subject = |figures: &PublishedFigures| (figures.size_bytes, figures.machine.clone());
        if published.iter().any(|other| subject(other) == subject(&figures_read)) {
            let size = format_bytes(figures_read.size_bytes);
            return Err(source.wrong(figures, format!("figures of {size} already exist: write them once")));
        }
        published.push(figures_read);
    }
    Ok(ExperimentRow {
        name: source.name(&read.name)?,
        target,
        counterpart: source.optional_text(read.counterpart.as_ref())?,
        missing: source.optional_text(read.missing.as_ref())?,
        remark: source.optional_text(read.remark.as_ref())?,
        published,
        system_calls: system_calls(source, &read.system_calls)?,
    })
}

fn target(source: &Source, read: &schema::Row, measure: &Measure) -> Result<Option<Target>, ExperimentError> {
    let handover = matches!(measure.work, Work::Handover { .. });
    match (&read.row, &read.backing) {
        (Some(row), None) if !handover => exchanged(source, row, read).map(Some),
        (None, Some(backing)) if handover => {
            source.parsed(backing).map(|backing| Some(Target::Backing(backing)))
        }
        (Some(row), _) if handover => {
            Err(source.wrong(row, "a handover has backings and no rows, as in backing = \"tmpfs\""))
        }
        (_, Some(backing)) => {
            Err(source
                .wrong(backing, "only a handover has backings: write a row, as in row = \"pipe/block\""))
        }
        (None, None) if read.missing.is_some() => Ok(None),
        _ => {
            let what = if handover { "backing = \"tmpfs\"" } else { "row = \"pipe/block\"" };
            let reason = format!(
                "the row needs a mechanism, as in {what}, or a reason why it has none: missing = \"…\""
            );
            Err(source.wrong(&read.name, reason))
        }
    }
}

fn exchanged(source: &Source, row: &Text, read: &schema::Row) -> Result<Target, ExperimentError> {
    let Some((mechanism, wait)) = row.get_ref().split_once('/') else {
        let reason =
            format!("'{}' is not a valid row: write mechanism/wait, as in pipe/block", row.get_ref());
        return Err(source.wrong(row, reason));
    };
    let wait: Wait = wait.parse().map_err(|error| source.wrong(row, error))?;
    let mechanism = source.identifier(&Spanned::new(row.span(), mechanism.to_owned()))?;
    let subsystem = read.on_windows.as_ref().and_then(|windows| windows.subsystem.as_ref());
    let subsystem = subsystem.map(|subsystem| source.parsed(subsystem)).transpose()?;
    let place = read.place.as_ref().map(|place| source.parsed(place)).transpose()?;
    let conditions = conditions(source, &read.conditions)?;
    Ok(Target::Row(RowTarget { mechanism, wait, subsystem, place, conditions }))
}

fn conditions(source: &Source, read: &[(Text, Text)]) -> Result<RequestedConditions, ExperimentError> {
    let mut conditions = RequestedConditions::default();
    for (name, value) in read {
        let kind = ConditionKind::find(name.get_ref()).ok_or_else(|| {
            let known = CONDITION_KINDS.iter().map(|kind| kind.name);
            source.wrong(name, InvalidName::new("condition", name.get_ref(), known))
        })?;
        let condition = kind.read(value.get_ref()).map_err(|error| source.wrong(value, error))?;
        conditions = conditions.with(condition);
    }
    Ok(conditions)
}

/// Reads the published figures of one size. If the experiment has only one size, the key `size` is optional.
fn figures(
    source: &Source,
    read: &Spanned<Vec<(Text, Spanned<Value>)>>,
    measure: &Measure,
    machines: &[PublishedMachine],
) -> Result<PublishedFigures, ExperimentError> {
    let (mut size_bytes, mut machine, mut figures) = (None, None, BTreeMap::new());
    for (key, value) in read.get_ref() {
        if key.get_ref() == SIZE {
            size_bytes = Some(size_of(source, value, &measure.sizes_bytes)?);
            continue;
        }
        if key.get_ref() == MACHINE {
            machine = Some(machine_of(source, value, machines)?);
            continue;
        }
        let figure = measure::figure(source, key, &measure.work)?;
        figures.insert(figure, figure_of(source, figure, value, measure.order_by)?);
    }
    let size_bytes = match (size_bytes, measure.sizes_bytes.as_slice()) {
        (Some(size), _) | (None, &[size]) => size,
        _ => return Err(source.wrong(read, "the figures need a size, as in size = \"4KiB\"")),
    };
    if figures.is_empty() {
        return Err(source.wrong(read, "there is no figure: add one, as in real_s = 6.9"));
    }
    Ok(PublishedFigures { machine, size_bytes, figures })
}

fn machine_of(
    source: &Source,
    value: &Spanned<Value>,
    machines: &[PublishedMachine],
) -> Result<String, ExperimentError> {
    let wanted = value.get_ref().as_str().unwrap_or_default();
    let found = machines.iter().find(|machine| machine.name == wanted);
    found.map(|machine| machine.name.clone()).ok_or_else(|| {
        let known = machines.iter().map(|machine| machine.name.as_str());
        source.wrong(value, InvalidName::new("name in [[other_machine]]", wanted, known))
    })
}

fn size_of(source: &Source, value: &Spanned<Value>, sizes: &[usize]) -> Result<usize, ExperimentError> {
    let Value::String(text) = value.get_ref() else {
        return Err(source.wrong(value, "a size is text, as in size = \"4KiB\""));
    };
    let ByteSize(bytes) = text.parse().map_err(|error| source.wrong(value, error))?;
    listed_size(bytes, sizes).map_err(|reason| source.wrong(value, reason))
}

/// Returns `bytes` if it is one of the experiment's sizes.
pub(super) fn listed_size(bytes: usize, sizes: &[usize]) -> Result<usize, String> {
    if sizes.contains(&bytes) {
        return Ok(bytes);
    }
    let known: Vec<_> = sizes.iter().map(|size| format_bytes(*size)).collect();
    Err(format!("{} is not one of the sizes of [measure]: {}", format_bytes(bytes), known.join(", ")))
}

/// Reads a figure. A figure that is a divisor must be above zero.
fn figure_of(
    source: &Source,
    figure: Figure,
    value: &Spanned<Value>,
    order_by: Figure,
) -> Result<f64, ExperimentError> {
    let number = match value.get_ref() {
        Value::Integer(whole) => Some(*whole as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    };
    let above_nothing = |number: &f64| *number > 0.0 || figure != order_by;
    let number = number.filter(|number| (0.0..=LARGEST).contains(number)).filter(above_nothing);
    number.ok_or_else(|| {
        let least = if figure == order_by { "above 0, since rows are ordered by it" } else { "of 0 or more" };
        source.wrong(value, format!("{figure} is a number {least}"))
    })
}

fn system_calls(
    source: &Source,
    read: &[(Text, Spanned<i64>)],
) -> Result<BTreeMap<String, u64>, ExperimentError> {
    let call = |(name, count): &(Text, Spanned<i64>)| {
        Ok((source.name(name)?, source.whole(count, "number of calls", 0..=1_000_000_000_000)?))
    };
    read.iter().map(call).collect()
}

pub(super) fn check_starts(
    source: &Source,
    read: &[schema::Start],
) -> Result<Vec<ExperimentStart>, ExperimentError> {
    have_own_names(source, "start", read.iter().map(|entry| &entry.name))?;
    read.iter().map(|entry| start(source, entry)).collect()
}

fn start(source: &Source, read: &schema::Start) -> Result<ExperimentStart, ExperimentError> {
    let ms = |value: &Option<Spanned<f64>>| {
        value.as_ref().map(|ms| source.real(ms, "time in milliseconds", 0.0..=1e9)).transpose()
    };
    if read.method.is_none() && read.missing.is_none() {
        let reason = "the start needs a method, as in method = \"posix-spawn\", or a reason why it has none: missing = \"…\"";
        return Err(source.wrong(&read.name, reason));
    }
    Ok(ExperimentStart {
        name: source.name(&read.name)?,
        method: read.method.as_ref().map(|method| source.parsed(method)).transpose()?,
        counterpart: source.optional_text(read.counterpart.as_ref())?,
        missing: source.optional_text(read.missing.as_ref())?,
        first_ms: ms(&read.first_ms)?,
        later_ms: ms(&read.later_ms)?,
    })
}
