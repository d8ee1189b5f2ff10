//! Entry point of the fuzzer (`fuzz/`): replies of a program, each judged as in a trial.

use super::counted::put_together;
use super::hello::{Adapter, accept};
use super::protocol::{EffectiveSetup, ExchangeReply, Hello, ReadyReply, Reply};
use super::readings::{check, elapsed_ns, times, times_since_due};
use super::to_several;
use crate::started_program::take_line;
use furlong_adapter_files::{Manifest, Row};
use furlong_loops::recorder::{Timing, timing_of};
use furlong_model::{Case, Part, Party, Pattern, Placement, Role};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

/// The request of a trial. It is the first line of an input, because replies must match it.
#[derive(Debug, Deserialize)]
struct TrialRequest {
    pattern: Pattern,
    responders: u8,
    messages: u32,
    batch: u32,
    interval_ns: Option<u32>,
    span_ns: [u64; 2],
}

/// Figures from accepted replies.
#[derive(Debug, Default)]
pub struct Figures {
    /// Values in effect, by name.
    pub effective: BTreeMap<String, u64>,
    /// Times of each exchange with accepted clock readings.
    pub timings: Vec<(Timing, Vec<Part>)>,
}

/// Reads a line with the request, and lines with one reply each. Returns the figures that a trial would record.
pub fn replies(lines: &[u8]) -> Figures {
    let mut come = lines.to_vec();
    let mut figures = Figures::default();
    let asked = take_line(&mut come).and_then(|line| serde_json::from_slice::<TrialRequest>(&line).ok());
    let Some(asked) = asked else { return figures };
    let row =
        Row { name: "row".to_owned(), arguments: Vec::new(), does: Vec::new(), expectation: String::new() };
    let (mut exchanged, mut readings): (Vec<ExchangeReply>, Vec<Vec<u64>>) = (Vec::new(), Vec::new());
    while let Some(line) = take_line(&mut come) {
        let Ok(reply) = serde_json::from_slice::<Reply>(&line) else { continue };
        match reply {
            Reply::Ready(ReadyReply { effective: EffectiveSetup { numbers, .. }, .. }) => {
                figures.effective.extend(numbers);
            }
            Reply::Exchanged(reply) => exchanged.push(reply),
            Reply::Readings { clock_ns } => readings.push(clock_ns),
            reply => accept(reply, &row, asked.span_ns).map_or_else(drop, |hello| refuse_cases(&row, hello)),
        }
    }
    let several = asked.pattern.is_to_several();
    let responders = if several { u32::from(asked.responders).max(1) } else { 1 };
    let parties: Vec<Party> = std::iter::once(Role::Initiator.into())
        .chain((0..responders).map(|index| Party::of(Role::Responder, index, responders)))
        .collect();
    for (exchanged, readings) in exchanged.chunks(parties.len()).zip(readings.chunks(parties.len())) {
        if exchanged.len() == parties.len() && readings.len() == parties.len() {
            figures.timings.extend(timed(&asked, &parties, exchanged.to_vec(), readings.to_vec()));
        }
    }
    figures
}

/// Requests cases of the mechanism that a program announces through furlong's own contract.
fn refuse_cases(row: &Row, hello: Hello) {
    // The capabilities of a program are kept for the lifetime of the process.
    static LEFT: AtomicU32 = AtomicU32::new(20_000);
    let is_left = |left: u32| left.checked_sub(1);
    let Some(furlong) = hello.furlong else { return };
    if LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_left).is_err() {
        return;
    }
    let text = "name = \"row\"\nlicence = \"MIT\"\ncommand = [\"x\"]\n[[rows]]\nname = \"row\"\n";
    let manifest = Manifest::parse(text).expect("a manifest");
    let (adapter, capabilities) = Adapter::with_furlongs_loop(&manifest, row, hello.versions, *furlong);
    let wait = capabilities.waits[0];
    for (pattern, size_bytes) in Pattern::ALL.into_iter().zip([128, 1 << 30, 0].into_iter().cycle()) {
        let case = Case::round_trip("row", wait, size_bytes, Placement::OtherCore).with_pattern(pattern);
        adapter.refusal(&case);
        let _ = adapter.here.as_ref().map(|limits| case.refusal(&capabilities, limits));
        capabilities.declared_in(&case);
    }
}

fn timed(
    asked: &TrialRequest,
    parties: &[Party],
    exchanged: Vec<ExchangeReply>,
    readings: Vec<Vec<u64>>,
) -> Result<(Timing, Vec<Part>), String> {
    let TrialRequest { pattern, interval_ns, span_ns, .. } = *asked;
    // A trial with a rate has batches of one message. The number of messages is a multiple of the batch.
    let batch = if interval_ns.is_some() { 1 } else { asked.batch.clamp(1, 1 << 20) };
    let messages = u64::from(asked.messages.max(2)).next_multiple_of(batch.into()).max(2 * u64::from(batch));
    let replies = parties.iter().copied().zip(exchanged).collect();
    let (exchanged, _) = put_together(pattern, messages, &[], replies).map_err(|(_, what)| what)?;
    let several = pattern.is_to_several();
    let readings = match several {
        true => to_several::behind_the_first(readings, pattern),
        // The process with the clock has the readings.
        false => vec![readings.into_iter().next().unwrap_or_default()],
    };
    for (index, readings) in readings.iter().enumerate() {
        let messages = if pattern.is_to_one_of_several() { exchanged.messages[index] } else { messages };
        check(readings, messages, batch, span_ns)?;
    }
    let interval_ns = interval_ns.map(|interval_ns| u64::from(interval_ns).max(1));
    match (pattern, interval_ns) {
        (pattern, _) if pattern.is_to_one_of_several() => {
            to_several::taken_by_one_of(&readings, &exchanged.messages, batch)
        }
        (_, Some(interval_ns)) if several => {
            to_several::nearly_all_take_ns(&readings, interval_ns)?;
            to_several::when_due(&readings, interval_ns, exchanged.idle.late)
        }
        (_, None) if several => to_several::streamed_and_in_turn(&readings, batch, &readings, 1),
        (_, None) => timing_of(&times(&readings[0])[1..], batch)
            .map(|timing| (timing, Vec::new()))
            .map_err(|e| e.detail),
        (_, Some(interval_ns)) => {
            let due_ns = (1..).map(|number| number * interval_ns);
            let (mut times, timer_late) =
                times_since_due(&readings[0], due_ns, exchanged.idle.late_by_ns.as_deref())?;
            times.remove(0);
            let timing = timing_of(&times, batch).map_err(|error| error.detail)?;
            let elapsed_ns = elapsed_ns(&readings[0], Some(interval_ns));
            Ok((Timing { elapsed_ns, late_sends: exchanged.idle.late, timer_late, ..timing }, Vec::new()))
        }
    }
}
