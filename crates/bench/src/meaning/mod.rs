//! Probes of meanings: each provokes the case that a promise is about, such as the death of a process, and records its evidence.

#[cfg(target_os = "linux")]
mod named;
#[cfg(target_os = "linux")]
mod pair;
#[cfg(target_os = "linux")]
mod probes;
#[cfg(target_os = "linux")]
mod process;

use crate::registry::MechanismEntry;
use crate::session::Session;
use furlong_loops::built_in::BuiltIn;
use furlong_model::{Evidence, Limits, Meaning, MeaningProbe, MeaningReading, Start};
use std::io;

/// The mechanism of a probe, and the names that it may use.
struct Subject<'a> {
    built_in: &'a BuiltIn,
    limits: Limits,
    probe: &'a MeaningProbe,
    session: &'a Session,
    /// The number of the link.
    link: u32,
}

/// Probes a meaning of a mechanism; `None` is a mechanism that this program does not have. The probe uses the names of the link
/// with this number, which no other probe of the session may use: its objects are removed with the session.
pub fn read(
    entry: Option<&MechanismEntry>,
    probe: &MeaningProbe,
    link: u32,
    session: &Session,
) -> MeaningReading {
    let (evidence, trouble) = match evidence(entry, probe, link, session) {
        Ok(evidence) => (Some(evidence), None),
        Err(trouble) => (None, Some(trouble)),
    };
    MeaningReading { probe: probe.clone(), evidence, trouble }
}

fn evidence(
    entry: Option<&MechanismEntry>,
    probe: &MeaningProbe,
    link: u32,
    session: &Session,
) -> Result<Evidence, String> {
    if probe.meaning == Meaning::SurvivesReboot {
        return Err("a run cannot reboot the machine".to_owned());
    }
    let MeaningProbe { mechanism, wait, .. } = probe;
    let entry = entry.ok_or_else(|| format!("no row is called {mechanism}/{wait}"))?;
    let limits = entry.probe().map_err(|unavailable| unavailable.reason)?;
    let built_in = entry.built_in().map_err(|_| {
        format!("{mechanism} belongs to another program, whose processes furlong does not start")
    })?;
    if entry.capabilities.start == Start::Alone {
        return Err("there is no other end".to_owned());
    }
    provoke(&Subject { built_in, limits, probe, session, link }).map_err(|error| error.to_string())
}

#[cfg(target_os = "linux")]
fn provoke(subject: &Subject<'_>) -> io::Result<Evidence> {
    match subject.probe.meaning {
        Meaning::NeverLoses => probes::never_loses(subject),
        Meaning::ReportsDeath => probes::reports_death(subject),
        Meaning::CarriesDescriptors => probes::carries_descriptors(subject),
        _ if subject.built_in.capabilities.fixed_size_bytes.is_some() => {
            Err(io::Error::other("its messages have one size and carry no content"))
        }
        Meaning::Persists => named::persists(subject),
        Meaning::SurvivesCreator => named::survives_creator(subject),
        Meaning::HasName => named::has_name(subject),
        Meaning::ReachesDisk => named::reaches_disk(subject),
        Meaning::KeepsBoundaries => probes::keeps_boundaries(subject),
        Meaning::KeepsOrder => probes::keeps_order(subject),
        Meaning::KeepsPriority => probes::keeps_priority(subject),
        Meaning::OutlivesSender => probes::outlives_sender(subject),
        Meaning::CopiesMessage => probes::copies_message(subject),
        Meaning::LimitsSize => probes::limits_size(subject),
        Meaning::CrossesUsers => probes::crosses_users(subject),
        Meaning::SurvivesReboot => Err(io::ErrorKind::Unsupported.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn provoke(_: &Subject<'_>) -> io::Result<Evidence> {
    Err(io::Error::other("probes of meanings need fork, which only Linux has"))
}
