//! Tests of the probes of meanings: each promise is kept by one mechanism and broken by another one.

use crate::own_session::session;
use crate::pair::ensure;
use crate::saboteur::{EARLY, REORDER, Saboteur, name};
use crate::workers::Trial;
use furlong_analysis::is_kept;
use furlong_bench::registry::find;
use furlong_bench::{MechanismEntry, meaning, registry, role_boundary};
use furlong_model::{
    Boundary, Copies, Evidence, Meaning, MeaningProbe, MeaningReading, PeerDeath, Wait, WhenFull,
};
use furlong_os::file_system::{is_memory, kind};
use libtest_mimic::{Completion, Failed};

/// A promise, a mechanism that keeps it and one that breaks it, each with its wait strategy.
type Example = (Meaning, (&'static str, Wait), (&'static str, Wait));

/// The name of a test, and its function.
type NamedTest = (&'static str, fn() -> Result<(), Failed>);

const EXAMPLES: [Example; 14] = [
    (Meaning::Persists, ("sysv-mq", Wait::Block), ("fifo", Wait::Block)),
    (Meaning::SurvivesCreator, ("posix-mq", Wait::Block), ("unix-dgram", Wait::Block)),
    (Meaning::HasName, ("fifo", Wait::Block), ("pipe", Wait::Block)),
    (Meaning::KeepsBoundaries, ("unix-dgram", Wait::Block), ("pipe", Wait::Block)),
    (Meaning::KeepsOrder, ("unix-dgram", Wait::Block), (name(REORDER, EARLY), Wait::Block)),
    (Meaning::KeepsPriority, ("posix-mq", Wait::Block), ("udp", Wait::Block)),
    (Meaning::NeverLoses, ("unix-dgram", Wait::Block), ("udp", Wait::Block)),
    (Meaning::ReportsDeath, ("pipe", Wait::Block), ("unix-dgram", Wait::Block)),
    (Meaning::OutlivesSender, ("pipe", Wait::Block), ("process-vm", Wait::Futex)),
    (Meaning::CopiesMessage, ("pipe", Wait::Block), ("process-vm", Wait::Futex)),
    (Meaning::LimitsSize, ("udp", Wait::Block), ("pipe", Wait::Block)),
    (Meaning::CarriesDescriptors, ("unix-stream", Wait::Block), ("tcp", Wait::Block)),
    (Meaning::CrossesUsers, ("pipe", Wait::Block), ("sysv-mq", Wait::Block)),
    (Meaning::ReachesDisk, ("file-shm", Wait::Futex), ("posix-shm", Wait::Futex)),
];

/// Mechanisms with a name, which all but the last two keep a message.
const NAMED: [(&str, Wait, bool); 6] = [
    ("sysv-mq", Wait::Block, true),
    ("posix-mq", Wait::Block, true),
    ("posix-shm", Wait::Futex, true),
    ("file-shm", Wait::Futex, true),
    ("fifo", Wait::Block, false),
    ("unix-dgram", Wait::Block, false),
];

/// Returns a test per promise, and tests of non-blocking ends, of names and of probes that are not possible.
pub fn tests() -> Vec<Trial> {
    let examples = EXAMPLES.into_iter().map(|(meaning, keeps, breaks)| {
        let name = format!("meaning/{meaning}: {} keeps it and {} breaks it", keeps.0, breaks.0);
        Trial::ignorable_test(name, move || example(meaning, keeps, breaks))
    });
    let others: [NamedTest; 4] = [
        ("meaning: a promise does not depend on the wait strategy", non_blocking),
        ("meaning: messages outlive processes in some objects with a name", named),
        ("meaning: every promise has an example, or cannot be tested", every_meaning),
        ("meaning: an unknown mechanism is reported", unknown),
    ];
    let waiting = Trial::test("meaning: losses and deaths are those that mechanisms claim", || {
        agree(&[Meaning::NeverLoses, Meaning::ReportsDeath])
    });
    let quick = Trial::test("meaning: boundaries and copies are those that mechanisms claim", || {
        agree(&[Meaning::KeepsBoundaries, Meaning::CopiesMessage])
    });
    let others = others.map(|(name, test)| Trial::test(name, test));
    examples.chain(others).chain([quick, waiting.slow_if(true)]).collect()
}

/// Compares the probes of all mechanisms with their capabilities.
fn agree(meanings: &[Meaning]) -> Result<(), Failed> {
    let mut mechanisms = registry();
    mechanisms.dedup_by_key(|entry| entry.capabilities.name);
    for (link, entry) in (0..).zip(mechanisms) {
        let capabilities = entry.capabilities;
        for &meaning in meanings {
            let claimed = match meaning {
                Meaning::KeepsBoundaries => capabilities.boundaries,
                Meaning::CopiesMessage => capabilities.copies != Copies::One,
                Meaning::NeverLoses => capabilities.when_full == WhenFull::Waits,
                _ => capabilities.peer_death == PeerDeath::Noticed,
            };
            let reading = probe(meaning, (capabilities.name, capabilities.waits[0]), link)?;
            let is_kept = reading.evidence.as_ref().map(is_kept);
            ensure(is_kept.is_none_or(|is_kept| is_kept == claimed), || format!("{reading:?}"))?;
        }
    }
    Ok(())
}

fn probe(meaning: Meaning, (mechanism, wait): (&str, Wait), link: u32) -> Result<MeaningReading, Failed> {
    let mechanisms = [registry(), vec![MechanismEntry::of::<Saboteur<REORDER, EARLY>>()]].concat();
    let probe = MeaningProbe { mechanism: mechanism.to_owned(), wait, meaning };
    Ok(meaning::read(find(&mechanisms, mechanism, wait), &probe, link, &*session()?))
}

/// Returns whether a promise was kept, and the evidence in words.
fn kept(meaning: Meaning, of: (&str, Wait), link: u32) -> Result<(bool, String), Failed> {
    let reading = probe(meaning, of, link)?;
    let evidence = reading.evidence.as_ref().ok_or_else(|| format!("{reading:?}"))?;
    Ok((is_kept(evidence), format!("{reading:?}")))
}

fn example(meaning: Meaning, keeps: (&str, Wait), breaks: (&str, Wait)) -> Result<Completion, Failed> {
    let needs = match meaning {
        Meaning::CrossesUsers => role_boundary::impossible(&Boundary::User).map(|why| why.reason),
        Meaning::ReachesDisk => {
            let folder = std::env::temp_dir();
            is_memory(&kind(&folder)?).then(|| format!("{} is not on a disk", folder.display()))
        }
        _ => None,
    };
    if let Some(reason) = needs {
        return Ok(Completion::ignored_with(format!("skipped, because {reason}")));
    }
    let (is_kept, reading) = kept(meaning, keeps, 0)?;
    ensure(is_kept, || format!("it is not kept: {reading}"))?;
    let (is_kept, reading) = kept(meaning, breaks, 1)?;
    ensure(!is_kept, || format!("it is not broken: {reading}"))?;
    Ok(Completion::Completed)
}

fn non_blocking() -> Result<(), Failed> {
    for (link, (meaning, of, expected)) in (0..).zip([
        (Meaning::KeepsBoundaries, ("unix-dgram", Wait::Poll), true),
        (Meaning::KeepsBoundaries, ("pipe", Wait::Spin), false),
        (Meaning::NeverLoses, ("pipe", Wait::Yield), true),
        (Meaning::ReportsDeath, ("unix-stream", Wait::Poll), true),
        (Meaning::CarriesDescriptors, ("socketpair", Wait::Spin), true),
        (Meaning::KeepsOrder, ("posix-shm", Wait::Spin), true),
    ]) {
        let (is_kept, reading) = kept(meaning, of, link)?;
        ensure(is_kept == expected, || reading)?;
    }
    Ok(())
}

fn named() -> Result<(), Failed> {
    for (link, (mechanism, wait, persists)) in (0..).zip(NAMED) {
        let (is_kept, reading) = kept(Meaning::HasName, (mechanism, wait), 2 * link)?;
        ensure(is_kept, || reading)?;
        let (is_kept, reading) = kept(Meaning::Persists, (mechanism, wait), 2 * link + 1)?;
        ensure(is_kept == persists, || reading)?;
    }
    Ok(())
}

fn every_meaning() -> Result<(), Failed> {
    for meaning in Meaning::ALL {
        let has_example = EXAMPLES.iter().any(|(example, ..)| *example == meaning);
        ensure(has_example == (meaning != Meaning::SurvivesReboot), || meaning.to_string())?;
    }
    let reading = probe(Meaning::SurvivesReboot, ("sysv-mq", Wait::Block), 0)?;
    let trouble = reading.trouble.as_deref().unwrap_or_default();
    Ok(ensure(reading.evidence.is_none() && trouble.contains("reboot"), || format!("{reading:?}"))?)
}

fn unknown() -> Result<(), Failed> {
    let reading = probe(Meaning::Persists, ("no-such", Wait::Block), 0)?;
    let trouble = reading.trouble.as_deref().unwrap_or_default();
    ensure(trouble.contains("no-such/block"), || format!("{reading:?}"))?;
    let absent = probe(Meaning::KeepsPriority, ("pipe", Wait::Block), 1)?.evidence;
    Ok(ensure(absent == Some(Evidence::Absent), || format!("{absent:?}"))?)
}
