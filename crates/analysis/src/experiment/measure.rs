//! `[measure]`: the measurement of all benchmarks.

use super::{ExperimentError, place::Source, schema, table::Text};
use furlong_model::{
    Amount, ByteSize, ChildStart, ExchangeWork, Figure, InvalidName, Measure, Pattern, Placement, Request,
    Touch, Work,
};
use std::num::NonZeroU32;
use toml::{Spanned, Value};

/// Default number of trials.
const TRIALS: u32 = 10;
/// Maximum number of exchanges in a trial or in a published figure.
const MOST_EXCHANGES: i64 = 1_000_000_000;
/// Largest number of parties.
const MOST_PARTIES: i64 = 128;
/// Kind of experiment without exchanges.
const HANDOVER: &str = "handover";

pub(super) fn check(source: &Source, read: &Spanned<schema::Measure>) -> Result<Measure, ExperimentError> {
    let measure = read.get_ref();
    let sizes_bytes = sizes(source, &measure.sizes)?;
    let work = match measure.kind.get_ref().as_str() {
        HANDOVER => handover(source, measure)?,
        _ => exchange(source, read)?,
    };
    let place = measure.place.as_ref().map(|place| source.parsed(place)).transpose()?;
    let default_place = match &work {
        Work::Exchange(exchange) if exchange.parties.get() > 1 => Some(Placement::Spread),
        Work::Exchange(exchange) => exchange.pattern.facts().placement,
        Work::Handover { .. } => None,
    };
    let trials = measure.trials.as_ref().map(|trials| source.whole(trials, "number of trials", 1..=1000));
    Ok(Measure {
        order_by: figure(source, &measure.order_by, &work)?,
        work,
        sizes_bytes,
        place: place.or(default_place).unwrap_or(Placement::OtherCore),
        trials: trials.transpose()?.unwrap_or(TRIALS),
        note: source.optional_text(measure.note.as_ref())?,
        child: ChildStart::default(),
    })
}

/// Checks that this kind of work has the figure.
pub(super) fn figure(source: &Source, name: &Text, work: &Work) -> Result<Figure, ExperimentError> {
    let has = |figure: &Figure| match work {
        Work::Exchange(_) => figure.is_of_exchanges(),
        Work::Handover { .. } => figure.is_of_handovers(),
    };
    let figure = name.get_ref().parse().ok().filter(has);
    figure.ok_or_else(|| {
        let known = Figure::ALL.into_iter().filter(has).map(Figure::name);
        source.wrong(name, InvalidName::new("figure of this kind of experiment", name.get_ref(), known))
    })
}

fn sizes(source: &Source, read: &Spanned<Vec<Text>>) -> Result<Vec<usize>, ExperimentError> {
    let mut sizes = Vec::new();
    for text in read.get_ref() {
        let size = source.size(text)?;
        if sizes.contains(&size) {
            return Err(
                source.wrong(text, format!("the size {} occurs twice: write it once", text.get_ref()))
            );
        }
        sizes.push(size);
    }
    if (1..=64).contains(&sizes.len()) {
        return Ok(sizes);
    }
    Err(source.wrong(read, "write 1 to 64 sizes, as in sizes = [\"128\", \"4KiB\"]"))
}

fn handover(source: &Source, measure: &schema::Measure) -> Result<Work, ExperimentError> {
    let exchanges = [
        ("count", measure.count.as_ref().map(Spanned::span)),
        ("total", measure.total.as_ref().map(Spanned::span)),
        ("per_trial", measure.per_trial.as_ref().map(Spanned::span)),
        ("request", measure.request.as_ref().map(Spanned::span)),
        ("request_by", measure.request_by.as_ref().map(Spanned::span)),
        ("parties", measure.parties.as_ref().map(Spanned::span)),
    ];
    if let Some((key, Some(span))) = exchanges.into_iter().find(|(_, span)| span.is_some()) {
        return Err(
            source.error(span.start, format!("a handover has no {key}: write repetitions = 10, for example"))
        );
    }
    let touch = measure.touch.as_ref().map(|touch| source.parsed::<Touch>(touch)).transpose()?;
    let Some(repetitions) = &measure.repetitions else {
        return Err(
            source.wrong(&measure.kind, "a handover needs a number of repetitions, as in repetitions = 10")
        );
    };
    let repetitions = source.whole(repetitions, "number of repetitions", 1..=10_000)?;
    Ok(Work::Handover { touch: touch.unwrap_or_default(), repetitions })
}

fn exchange(source: &Source, read: &Spanned<schema::Measure>) -> Result<Work, ExperimentError> {
    let measure = read.get_ref();
    let asked = measure.kind.get_ref();
    let pattern = Pattern::ALL.into_iter().find(|known| known.name() == asked).ok_or_else(|| {
        let known = Pattern::ALL.map(Pattern::name).into_iter().chain([HANDOVER]);
        source.wrong(&measure.kind, InvalidName::new("kind", measure.kind.get_ref(), known))
    })?;
    let of_handovers = [
        ("touch", measure.touch.as_ref().map(Spanned::span)),
        ("repetitions", measure.repetitions.as_ref().map(Spanned::span)),
    ];
    if let Some((key, Some(span))) = of_handovers.into_iter().find(|(_, span)| span.is_some()) {
        return Err(source.error(span.start, format!("only a handover has {key}: remove it")));
    }
    let count = match (&measure.count, &measure.total) {
        (Some(count), None) => Amount::Exchanges(source.whole(count, "count", 1..=MOST_EXCHANGES)?),
        (None, Some(total)) => Amount::Bytes(source.size(total)? as u64),
        (Some(count), Some(_)) => {
            return Err(source.wrong(count, "count and total exclude each other: write one of them"));
        }
        (None, None) => {
            let reason =
                "the amount of work is missing: write count = 1000 for exchanges, or total = \"1GiB\"";
            return Err(source.wrong(&measure.kind, reason));
        }
    };
    let per_trial = measure.per_trial.as_ref().map(|amount| amount_of(source, amount)).transpose()?;
    let request = request(source, measure, pattern)?;
    let parties = measure.parties.as_ref();
    let parties = parties.map(|parties| source.whole(parties, "number of parties", 1..=MOST_PARTIES));
    let parties = parties.transpose()?.and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
    let work = ExchangeWork { pattern, request, parties, count, per_trial: per_trial.unwrap_or(count) };
    if let Some(per_trial) = measure.per_trial.as_ref().filter(|_| work.trial_amount().is_none()) {
        let reason = "trials with several parties last 100 ms: remove per_trial";
        return Err(source.wrong(per_trial, reason));
    }
    Ok(Work::Exchange(work))
}

/// Reads a number of exchanges, or a size as text.
fn amount_of(source: &Source, value: &Spanned<Value>) -> Result<Amount, ExperimentError> {
    let amount = match value.get_ref() {
        Value::Integer(count) if (1..=MOST_EXCHANGES).contains(count) => {
            u64::try_from(*count).ok().map(Amount::Exchanges)
        }
        Value::String(size) => match size.parse::<ByteSize>().map_err(|error| source.wrong(value, error))? {
            ByteSize(0) => None,
            ByteSize(bytes) => Some(Amount::Bytes(bytes as u64)),
        },
        _ => None,
    };
    let reason =
        format!("per_trial is a number of exchanges up to {MOST_EXCHANGES}, or bytes as in \"64MiB\"");
    amount.ok_or_else(|| source.wrong(value, reason))
}

fn request(
    source: &Source,
    measure: &schema::Measure,
    pattern: Pattern,
) -> Result<Option<Request>, ExperimentError> {
    let by = measure.request_by.as_ref().map(|by| source.identifier(by)).transpose()?;
    match (&measure.request, pattern.has_requests()) {
        (Some(request), true) => Ok(Some(Request { size_bytes: source.size(request)?, by })),
        (Some(request), false) => Err(source.wrong(
            request,
            "only kind \"request\" has a request: remove request, or write kind = \"request\"",
        )),
        (None, true) => Err(source
            .wrong(&measure.kind, "kind \"request\" needs the size of the request, as in request = \"1\"")),
        (None, false) => match &measure.request_by {
            Some(by) => Err(source.wrong(
                by,
                "only kind \"request\" has a request: remove request_by, or write kind = \"request\"",
            )),
            None => Ok(None),
        },
    }
}
