//! Tests of every benchmark with one-way messages and with requests and answers, and of configured buffer sizes.

use crate::pair::WATCHDOG;
use crate::rows::{carried_out, case, is_combined_elsewhere, is_usual, quick, short_plan};
use crate::workers::Trial;
use furlong_bench::{MechanismEntry, plan::Plan, registry};
use furlong_model::{
    Amount, Case, Exchange, Family, KernelBuffer, Measurement, Outcome, Pattern, Placement, Request, Start,
    Wait, WhenFull, format_ns,
};
use libtest_mimic::{Completion, Failed};
use std::slice;

/// Message sizes around the limits of stamps and pages, and larger than a pipe's buffer.
const SIZES: &[usize] = &[1, 128, 4097, 300_000];

/// The message sizes for wait strategies other than the default, and for requests over another mechanism: the answers
/// take the same path.
const FEW_SIZES: &[usize] = &[128, 65_537];

/// The mechanism that carries the requests of all others.
const PIPE: &str = if cfg!(windows) { "anonymous-pipe" } else { "pipe" };

/// Mechanisms whose objects have names that could collide.
const NAMED: &[&str] = if cfg!(windows) {
    &["named-pipe", "named-pipe-message"]
} else {
    &["fifo", "posix-mq", "sysv-mq", "unix-dgram"]
};

/// Mechanisms that cannot carry requests: one with a single end, one without a payload, one that never blocks in its
/// calls, and one that does not exist.
const NO_CARRIERS: [&str; 4] = if cfg!(windows) {
    ["null", "event", "section", "nothing"]
} else {
    ["null", "eventfd", "posix-shm", "nothing"]
};

fn sizes(entry: &MechanismEntry, wait: Wait) -> impl Iterator<Item = usize> {
    (if is_usual(entry, wait) { SIZES } else { FEW_SIZES }).iter().copied()
}

/// Returns the tests of each benchmark in each pattern, and of each mechanism with a buffer.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for entry in registry() {
        let name = entry.capabilities.name;
        let combined = is_combined_elsewhere(&entry);
        for &wait in entry.capabilities.waits {
            let one_way = Trial::ignorable_test(format!("{name}/{wait}: streams one way"), move || {
                streams(&entry, wait)
            });
            let requests = Trial::ignorable_test(format!("{name}/{wait}: answers requests"), move || {
                answers(&entry, wait, None)
            });
            // Two streams of large messages in parallel exceed `RLIMIT_MSGQUEUE`.
            let is_queue = move || entry.capabilities.family == Family::Queue;
            let slow = !is_usual(&entry, wait) || combined;
            tests.extend([one_way, requests].map(|test| test.alone_if(is_queue).slow_if(slow)));
        }
        let wait = entry.capabilities.waits[0];
        let name_of_test = format!("{name}/{wait}: answers requests of a pipe");
        let of_a_pipe = Trial::ignorable_test(name_of_test, move || answers(&entry, wait, Some(PIPE)));
        tests.push(of_a_pipe.slow_if(true));
        let name_of_test = format!("{name}/{wait}: makes a link for each message");
        let links = Trial::ignorable_test(name_of_test, move || connects(&entry, wait));
        tests.push(links.slow_if(combined));
        if entry.capabilities.buffer != KernelBuffer::None {
            let name = format!("{name}/{wait}: has the buffer that is asked for");
            tests.push(Trial::ignorable_test(name, move || has_its_buffer(&entry, wait)));
        }
    }
    for &name in NAMED {
        let name_of_test = format!("{name}/block: has names of its own beside another link of its kind");
        tests.push(Trial::ignorable_test(name_of_test, move || two_links(name)));
    }
    tests.push(Trial::test("patterns: a number of messages is kept", a_number_is_kept));
    tests.push(Trial::test("patterns: what cannot carry requests is refused", bad_askers_are_refused));
    tests
}

/// Checks that a new link per message works in one process, and is refused between two processes.
fn connects(entry: &MechanismEntry, wait: Wait) -> Result<Completion, Failed> {
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    let capabilities = entry.capabilities;
    let sizes = capabilities.fixed_size_bytes.map_or(vec![1, 4097], |size| vec![size]);
    let mut cases = Vec::new();
    for size in sizes {
        let between_two = case(entry, wait, size).with_pattern(Pattern::Connect);
        if between_two.refusal(capabilities, &limits).is_none() {
            return Err("two processes are no place for links that one makes".into());
        }
        let case = Case { placement: Placement::OneProcess, ..between_two };
        if let Some(refusal) = case.refusal(capabilities, &limits) {
            let alone = capabilities.start == Start::Alone;
            let skipped = Completion::ignored_with(format!("skipped, because {}", refusal.reason));
            return if alone { Ok(skipped) } else { Err(refusal.reason.into()) };
        }
        cases.push(case);
    }
    for case in &cases {
        match quick(&registry(), entry, case, WATCHDOG)? {
            Outcome::Measured(measured)
                if measured.verified_messages > 0
                    && measured.round_trips > 0
                    && measured.roles.len() == 1 => {}
            other => return Err(format!("{case}: {other:?}").into()),
        }
    }
    Ok(Completion::Completed)
}

/// Returns the outcomes of a short run of these cases, in their order.
fn outcomes(cases: &[Case], amount: Option<Amount>) -> Result<Vec<Outcome>, Failed> {
    carried_out(&Plan { cases: cases.to_vec(), amount, ..short_plan() })
}

fn sound(case: &Case, outcome: Outcome) -> Result<Measurement, Failed> {
    match outcome {
        Outcome::Measured(measured) => {
            let counts: Vec<_> = measured.roles.iter().map(|role| role.messages_received).collect();
            let sound = measured.verified_messages > 0
                && measured.round_trips > 0
                && measured.elapsed_ns > 0
                && counts.len() == 2
                && counts[0] == counts[1];
            if sound { Ok(measured) } else { Err(format!("{case}: {measured:?}").into()) }
        }
        other => Err(format!("{case}: {other:?}").into()),
    }
}

/// Returns the cases that the mechanism accepts, or the reason why it accepts none.
fn taken(entry: &MechanismEntry, cases: impl Iterator<Item = Case>) -> Result<Vec<Case>, String> {
    let limits = entry.probe().map_err(|unavailable| unavailable.reason)?;
    let mut refusal = "it takes none".to_owned();
    let mut taken = Vec::new();
    for case in cases {
        match case.refusal(entry.capabilities, &limits) {
            None => taken.push(case),
            Some(refused) => refusal = refused.reason,
        }
    }
    if taken.is_empty() { Err(refusal) } else { Ok(taken) }
}

fn measure_all(entry: &MechanismEntry, cases: impl Iterator<Item = Case>) -> Result<Completion, Failed> {
    match taken(entry, cases) {
        Err(refusal) => Ok(Completion::ignored_with(format!("skipped, because {refusal}"))),
        Ok(cases) => {
            for case in cases {
                sound(&case, quick(&registry(), entry, &case, WATCHDOG)?)?;
            }
            Ok(Completion::Completed)
        }
    }
}

fn streams(entry: &MechanismEntry, wait: Wait) -> Result<Completion, Failed> {
    let capabilities = entry.capabilities;
    let one_way = |size| case(entry, wait, size).with_pattern(Pattern::OneWay);
    let done = measure_all(entry, sizes(entry, wait).map(one_way))?;
    let can = capabilities.when_full == WhenFull::Waits
        && !capabilities.notifies_only()
        && capabilities.start != Start::Alone;
    match (can && entry.probe().is_ok(), &done) {
        (true, Completion::Ignored { .. }) => Err(format!("{} ought to stream", capabilities.name).into()),
        (false, Completion::Completed) => Err(format!("{} ought not to stream", capabilities.name).into()),
        _ => Ok(done),
    }
}

fn answers(entry: &MechanismEntry, wait: Wait, by: Option<&str>) -> Result<Completion, Failed> {
    let request = |size| {
        let request = Request { size_bytes: if size == 128 { 200 } else { 1 }, by: by.map(str::to_owned) };
        case(entry, wait, size).with(Exchange::asking(request))
    };
    let sizes: Vec<usize> = if by.is_some() { FEW_SIZES.to_vec() } else { sizes(entry, wait).collect() };
    measure_all(entry, sizes.into_iter().map(request))
}

/// Checks that requests use one link and answers another, if both links of the mechanism exist in parallel.
fn two_links(name: &str) -> Result<Completion, Failed> {
    let mechanisms = registry();
    let entry = mechanisms.iter().find(|entry| entry.capabilities.name == name).ok_or("no such row")?;
    answers(entry, Wait::Block, Some(name))
}

/// Checks that a blocking mechanism uses a buffer of the requested size, and reports this size.
fn has_its_buffer(entry: &MechanismEntry, wait: Wait) -> Result<Completion, Failed> {
    if let Err(unavailable) = entry.probe() {
        return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
    }
    const BYTES: usize = 128 << 10;
    let case = Case { buffer_bytes: Some(BYTES), ..case(entry, wait, 4096) };
    let measured = sound(&case, quick(&registry(), entry, &case, WATCHDOG)?)?;
    let noted: Vec<u64> = match entry.capabilities.buffer {
        KernelBuffer::None => Vec::new(),
        KernelBuffer::Pipe => vec![measured.effective["pipe-size-bytes"]],
        // Linux counts its own bookkeeping, which doubles the size.
        KernelBuffer::Socket => ["send-buffer-bytes", "receive-buffer-bytes"]
            .iter()
            .map(|name| measured.effective[*name] / if cfg!(windows) { 1 } else { 2 })
            .collect(),
        KernelBuffer::Ring => vec![measured.effective["ring-bytes"]],
    };
    if !noted.is_empty() && noted.iter().all(|bytes| *bytes == BYTES as u64) {
        return Ok(Completion::Completed);
    }
    Err(format!("{case}: {:?}", measured.effective).into())
}

/// Checks that a benchmark makes the requested number of exchanges, even if it times many at once. Only the time limit
/// of a trial may end it earlier. If two processes busy-wait on the CPUs that a third needs for every call, as under
/// Wine, a message may take 1 ms.
fn a_number_is_kept() -> Result<(), Failed> {
    const WANTED: u64 = 2_000;
    let mechanisms = registry();
    for wait in [Wait::Block, Wait::Spin] {
        let entry = mechanisms
            .iter()
            .find(|entry| {
                entry.capabilities.waits.contains(&wait) && entry.capabilities.start != Start::Alone
            })
            .ok_or("no such row")?;
        let cases =
            [Pattern::RoundTrip, Pattern::OneWay].map(|pattern| case(entry, wait, 128).with_pattern(pattern));
        for (case, outcome) in cases.iter().zip(outcomes(&cases, Some(Amount::Exchanges(WANTED)))?) {
            let measured = sound(case, outcome)?;
            let done = measured.roles[0].round_trips;
            // Messages after the last full batch are not timed.
            let cut = measured.elapsed_ns >= Amount::LONGEST_TRIAL.as_nanos() as u64 / 10 * 9;
            let least = if cut { 1 } else { WANTED };
            if !(least..WANTED + WANTED / 10).contains(&done) {
                let elapsed = format_ns(measured.elapsed_ns as f64);
                return Err(format!("{case}: {done} instead of {WANTED} in {elapsed}").into());
            }
        }
    }
    Ok(())
}

fn bad_askers_are_refused() -> Result<(), Failed> {
    let mechanisms = registry();
    let answering = mechanisms
        .iter()
        .find(|entry| entry.capabilities.buffer == KernelBuffer::Pipe)
        .ok_or("no such row")?;
    for by in NO_CARRIERS {
        let request = Request { size_bytes: 1, by: Some(by.to_owned()) };
        let case = case(answering, Wait::Block, 128).with(Exchange::asking(request));
        match outcomes(slice::from_ref(&case), None)?.remove(0) {
            Outcome::Refused(refusal) if refusal.reason.contains(by) => {}
            other => return Err(format!("{by}: {other:?}").into()),
        }
    }
    Ok(())
}
