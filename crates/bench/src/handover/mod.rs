//! Handovers: one process writes a region of shared memory, byte by byte, and hands it to another, which reads it. Only
//! what backs the region differs.
//!
//! Byte 0 is a flag on which both spin: nobody sleeps, and no system call is made between the first byte and the last.
//! Every byte that is read is compared with what it must be.

mod backing;
pub(crate) mod role;
#[cfg(test)]
mod tests;

use crate::child_process::ChildKind;
use crate::not_measured::NotMeasured;
use crate::trial::{Claims, Settings, Span, TrialContext, Work};
use crate::watch::{Carrier, Observer, RoleProcess, Watch};
use backing::{BackedRegion, Memory};
use furlong_loops::control_page::ControlPage;
use furlong_loops::region_bytes::Accessor;
use furlong_model::{
    Failure, Fault, Handover, HandoverCount, HandoverMeasurement, HandoverTimes, HandoverTrial, Phase,
    Placement, Record, Role, RoleTally, Unavailable,
};
use furlong_os::{AsHandle, RawHandle, identity};
use role::{Done, RegionConfiguration};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The work of a role that writes a region and one that reads it.
#[derive(Debug, Clone, Copy)]
pub struct RegionHandover<'a> {
    handover: &'a Handover,
    /// How roles that are forked touch the region; those that are started afresh do as the handover says.
    accessor: Accessor,
}

impl Work for RegionHandover<'_> {
    type Case = Handover;
    type Measurement = HandoverMeasurement;
    fn case(&self) -> &Handover {
        self.handover
    }

    /// Opening the region, which the role has inherited as a descriptor, writing or reading it, and giving it back. What
    /// the harness sends in between is not counted. A region without a descriptor is inherited with its mapping, so that
    /// neither shows.
    fn counted(&self) -> Result<Span, &'static str> {
        Ok(Span { begin: Phase::Open, end: Phase::Finish, marks: 6 })
    }

    fn is_ranked_with(&self, _: &Self) -> bool {
        true
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn measure(
        context: &TrialContext<'_, Self>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<HandoverMeasurement, NotMeasured> {
        let RegionHandover { handover, .. } = context.work;
        context.work.refusal().map_or(Ok(()), |why| Err(NotMeasured::Unavailable(why)))?;
        let backed_region = backing::make(handover.backing, handover.size_bytes, context.session)
            .map_err(NotMeasured::Unavailable)?;
        let mut watch = start(context, &backed_region, settings.timeout).map_err(|error| {
            let (phase, detail) = (Phase::Open, error.to_string());
            Failure { phase, party: None, fault: Fault::Error, detail }
        })?;
        let reported = watch.until_done(context.session, observer)?;
        Ok(measured(reported, backed_region.in_effect.clone())?)
    }

    /// A handover takes as long as it takes.
    fn counted_settings(&self, settings: &Settings) -> (Settings, Settings) {
        (*settings, *settings)
    }

    fn median_ns(_measurement: &HandoverMeasurement) -> Option<f64> {
        None
    }

    fn lengthened(_measurement: &HandoverMeasurement) -> Option<f64> {
        None
    }

    fn tallies(measurement: &HandoverMeasurement) -> &[RoleTally] {
        &measurement.roles
    }

    fn trial_record(trial: HandoverTrial) -> Record {
        Record::Handover(trial)
    }

    fn count_record(count: HandoverCount) -> Record {
        Record::HandoverCount(count)
    }
}

impl RegionHandover<'_> {
    /// The work that `handover` asks for.
    pub fn new(handover: &Handover) -> RegionHandover<'_> {
        RegionHandover { handover, accessor: Accessor::of(handover.touch) }
    }

    /// Why this makes no sense, if it makes none.
    fn refusal(&self) -> Option<Unavailable> {
        let Handover { size_bytes, repetitions, placement, .. } = *self.handover;
        if placement == Placement::OneProcess {
            return Some(Unavailable::new("a handover is between two processes", "choose another placement"));
        }
        if repetitions == 0 {
            return Some(Unavailable::new("no repetition was asked for", "ask for one or more"));
        }
        (self.accessor.touched(size_bytes) == 0).then(|| {
            let reason = format!("a region of {size_bytes} bytes has none to hand over beside its flag");
            Unavailable::new(reason, format!("take at least {} bytes", self.accessor.step + 1))
        })
    }
}

/// Starts both roles: afresh, or as forks where the region must be inherited with its mapping.
fn start(
    context: &TrialContext<'_, RegionHandover<'_>>,
    backed_region: &BackedRegion<'_>,
    timeout: Duration,
) -> io::Result<Watch<Done>> {
    let (control_page, control_page_object) = ControlPage::create(2)?;
    let RegionHandover { handover, accessor } = context.work;
    let (memory, key) = (&backed_region.memory, identity::random()?);
    let mut processes = Vec::new();
    for role in Role::ALL {
        let configuration = RegionConfiguration {
            role,
            processor: context.processors.as_ref().map(|processors| processors[role.index()]),
            region: memory.object(),
            size_bytes: handover.size_bytes,
            touch: handover.touch,
            repetitions: handover.repetitions,
            key,
            control_page: control_page_object.raw_handle(),
        };
        let region = memory.object().map(|(number, _)| number);
        let inherit: Vec<RawHandle> = region.into_iter().chain([configuration.control_page]).collect();
        processes.push(match memory {
            Memory::Mapped(region) => RoleProcess::forked(role.into(), inherit, |control| {
                role::forked(control, configuration, accessor, Arc::clone(region))
            })?,
            Memory::Object(..) => {
                let program = context.session.program();
                let mut process = RoleProcess::fresh(role.into(), program, ChildKind::Handover, inherit)?;
                // A role that is dead already is noticed by the watch, with its cause.
                let _ = process.control.send(&configuration);
                process
            }
        });
    }
    let (control_pages, explain) = (vec![control_page], Box::new(whose_turn));
    Ok(Watch { processes, control_pages, timeout, budget: Duration::ZERO, end: None, explain })
}

/// Blames a silence in the work on the role whose turn it is: the other one waits for it.
fn whose_turn(watch: &Watch<Done>) -> Option<Failure> {
    (watch.phase() == Phase::Timed).then(|| watch.silence_failure(role::turn(&watch.control_pages[0]).into()))
}

/// Puts together what both roles have reported.
fn measured(reported: Vec<Done>, in_effect: String) -> Result<HandoverMeasurement, Failure> {
    let incomplete = || Failure {
        phase: Phase::Finish,
        party: None,
        fault: Fault::Error,
        detail: "a role has not reported of all repetitions".to_owned(),
    };
    let [writer, reader] = <[Done; 2]>::try_from(reported).map_err(|_| incomplete())?;
    let (Some(first), Some(last)) = (writer.passes.first(), reader.passes.last()) else {
        return Err(incomplete());
    };
    if writer.passes.len() != reader.passes.len() {
        return Err(incomplete());
    }
    // Both have read the same clock.
    let elapsed_ns = last.end_ns.saturating_sub(first.begin_ns);
    let times = |(write, read): (&role::Pass, &role::Pass)| HandoverTimes {
        write_ns: write.end_ns - write.begin_ns,
        read_ns: read.end_ns - read.begin_ns,
    };
    Ok(HandoverMeasurement {
        elapsed_ns,
        repetitions: writer.passes.iter().zip(&reader.passes).map(times).collect(),
        verified_bytes: reader.verified_bytes,
        in_effect,
        roles: vec![writer.tally, reader.tally],
    })
}
