//! Ends of flows while the observed processes run.

use super::calls::Call;
use super::ends::{Ends, FindEnds};
use super::resolver::Resolver;
use furlong_os::linux::counter::{ActivityTrace, TraceEvent, TraceRecord};
use furlong_os::linux::ipc_call::{CallTarget, ConnectionStep};
use furlong_os::other_process::descriptors;
use std::io;

/// Resolver that knows which descriptors were closed until now. A descriptor is identified some milliseconds after the call that used
/// it. If it was closed in between, its number may belong to another object.
pub struct LiveEnds<'a> {
    pub resolver: &'a mut Resolver,
    pub trace: &'a mut ActivityTrace,
    /// Events that are not processed yet.
    pub pending: &'a mut Vec<TraceRecord>,
    /// Number of the system call `close`.
    pub close: Option<i64>,
}

impl LiveEnds<'_> {
    /// Moves all events from the rings to the pending ones.
    ///
    /// # Errors
    /// Returns the errors of [`ActivityTrace::drain`].
    pub fn drain(&mut self) -> io::Result<()> {
        let LiveEnds { resolver, trace, pending, close } = self;
        trace.drain(|record| {
            match record.event {
                TraceEvent::Entered { call, arguments } if Some(call) == *close => {
                    resolver.announce_close(record.pid, arguments[0] as i32);
                }
                _ => {}
            }
            pending.push(record);
        })
    }

    /// Identifies all descriptors of a process, so that those that are closed soon are known.
    pub fn note_process(&mut self, pid: i32) {
        for number in descriptors(pid).unwrap_or_default() {
            self.find(pid, CallTarget::Descriptor(number));
        }
    }
}

impl FindEnds for LiveEnds<'_> {
    fn find(&mut self, pid: i32, target: CallTarget) -> Option<Ends> {
        if let Some(known) = self.resolver.known(pid, target) {
            return known;
        }
        let ends = self.resolver.identify(pid, target);
        // Whatever closed the descriptor before it was identified is in the rings now. An error recurs at the next step.
        if self.drain().is_err() {
            return None;
        }
        self.resolver.keep(pid, target, ends)
    }

    fn connect(&mut self, call: &Call, step: ConnectionStep) {
        self.resolver.connect(call, step);
    }

    fn close(&mut self, pid: i32, first: i32, last: i32) {
        self.resolver.close(pid, first, last);
    }

    fn replace(&mut self, pid: i32) {
        self.resolver.replace(pid);
    }
}
