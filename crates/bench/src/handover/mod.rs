//! Handovers: one process writes a region of shared memory, byte by byte, and hands it to another process, which reads
//! it. Handovers differ only in what backs the region.
//!
//! Byte 0 is a flag on which both processes busy-wait. They do not sleep, and they make no system call between the
//! first byte and the last. The reader compares every byte with its expected value.

mod backing;
pub(crate) mod role;
#[cfg(test)]
mod tests;

use crate::child_process::ChildKind;
use crate::not_measured::NotMeasured;
use crate::trial::{Claims, Settings, Span, TrialContext, Work};
use crate::watch::{Carrier, Observer, RoleProcess, Watch, supervise};
use backing::{BackedRegion, Memory};
use furlong_loops::control_page::ControlPage;
use furlong_loops::region_bytes::Accessor;
use furlong_model::{
    Failure, Fault, Handover, HandoverCount, HandoverMeasurement, HandoverTimes, HandoverTrial, Phase,
    Placement, Record, Role, RoleTally, Unavailable,
};
use furlong_os::{AsHandle, RawHandle, identity};
use role::{FinalReport, RegionConfiguration};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The work of two roles: one writes a region and the other reads it.
#[derive(Debug, Clone, Copy)]
pub struct RegionHandover<'a> {
    handover: &'a Handover,
    /// How forked roles access the region; roles in new processes choose their accessor by the handover.
    accessor: Accessor,
}

impl Work for RegionHandover<'_> {
    type Case = Handover;
    type Measurement = HandoverMeasurement;
    fn case(&self) -> &Handover {
        self.handover
    }

    /// Covers opening the region, which the role has inherited as a descriptor, writing or reading it, and releasing
    /// it. The messages of the harness in between are not counted. A region without a descriptor is inherited as a
    /// mapping, so neither the opening nor the release shows.
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
        let reported = supervise(&mut watch, context.session, observer)?;
        Ok(measured(reported, backed_region.in_effect.clone())?)
    }

    /// A handover has no time budget, so counting needs no other settings.
    fn counted_settings(&self, settings: &Settings) -> (Settings, Settings) {
        (*settings, *settings)
    }

    fn deciding_ns(&self, _measurement: &HandoverMeasurement) -> Option<f64> {
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
    /// Returns the work of `handover`.
    pub fn new(handover: &Handover) -> RegionHandover<'_> {
        RegionHandover { handover, accessor: Accessor::of(handover.touch) }
    }

    /// Returns why this handover cannot be measured, or `None`.
    fn refusal(&self) -> Option<Unavailable> {
        let Handover { size_bytes, repetitions, placement, .. } = *self.handover;
        if placement == Placement::OneProcess {
            return Some(Unavailable::new("a handover is between two processes", "choose another placement"));
        }
        if repetitions == 0 {
            return Some(Unavailable::new("no repetition was requested", "ask for one or more"));
        }
        (self.accessor.touched(size_bytes) == 0).then(|| {
            let reason = format!("a region of {size_bytes} bytes has no room for data next to its flag");
            Unavailable::new(reason, format!("use at least {} bytes", self.accessor.step + 1))
        })
    }
}

/// Starts both roles: in new processes, or as forks if the region must be inherited as a mapping.
fn start(
    context: &TrialContext<'_, RegionHandover<'_>>,
    backed_region: &BackedRegion<'_>,
    timeout: Duration,
) -> io::Result<Watch<FinalReport>> {
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
                // If the role is dead already, the watch reports it with its cause.
                let _ = process.control.send(&configuration);
                process
            }
        });
    }
    let (control_pages, explain) = (vec![control_page], Box::new(whose_turn));
    Ok(Watch { processes, control_pages, timeout, budget: Duration::ZERO, end: None, explain })
}

/// Attributes a silence during the work to the role whose turn it is, because the other role waits for it.
fn whose_turn(watch: &Watch<FinalReport>) -> Option<Failure> {
    (watch.phase() == Phase::Timed).then(|| watch.silence_failure(role::turn(&watch.control_pages[0]).into()))
}

/// Combines the reports of both roles.
fn measured(reported: Vec<FinalReport>, in_effect: String) -> Result<HandoverMeasurement, Failure> {
    let incomplete = || Failure {
        phase: Phase::Finish,
        party: None,
        fault: Fault::Error,
        detail: "a role has not reported all repetitions".to_owned(),
    };
    let [writer, reader] = <[FinalReport; 2]>::try_from(reported).map_err(|_| incomplete())?;
    let (Some(first), Some(last)) = (writer.passes.first(), reader.passes.last()) else {
        return Err(incomplete());
    };
    if writer.passes.len() != reader.passes.len() {
        return Err(incomplete());
    }
    // Both roles have read the same clock.
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
