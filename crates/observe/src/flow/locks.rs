//! Waits for locks on files, as messages from the process that released the lock.

use super::calls::Call;
use super::ends::FlowId;
use std::collections::{BTreeMap, HashMap};

/// Calls that may have released locks, and waits whose end they may explain, by file.
#[derive(Debug, Default)]
pub struct Locks(HashMap<FlowId, FileLocks>);

#[derive(Debug, Default)]
struct FileLocks {
    /// Last call of each process that may have released a lock.
    releases: BTreeMap<i32, Call>,
    /// Last wait whose releasing call has not returned.
    wait: Option<(FlowId, Call)>,
}

impl Locks {
    /// Adds a wait, whose flow is `flow`, for a lock of `file`. Returns the call that ended it: that of the only other process that
    /// released a lock of the file in the meantime. With several, the locks of different bytes cannot be distinguished.
    pub fn wait(&mut self, file: FlowId, flow: FlowId, wait: &Call) -> Option<Call> {
        let locks = self.0.entry(file).or_default();
        let is_later = |call: &&Call| call.pid != wait.pid && call.returned_ns >= wait.entered_ns;
        let mut releases = locks.releases.values().filter(is_later);
        let first = releases.next().copied();
        locks.wait = first.is_none().then_some((flow, *wait));
        first.filter(|_| releases.next().is_none())
    }

    /// Adds a call that may release a lock of `file`. Returns the flow of the wait that it ended, if the wait has returned before.
    pub fn release(&mut self, file: FlowId, call: &Call) -> Option<FlowId> {
        let locks = self.0.entry(file).or_default();
        locks.releases.insert(call.pid, *call);
        let is_its =
            |(_, wait): &mut (FlowId, Call)| wait.pid != call.pid && call.entered_ns <= wait.returned_ns;
        locks.wait.take_if(is_its).map(|(flow, _)| flow)
    }

    /// Forgets all calls.
    pub fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: FlowId = FlowId(0);
    const FLOW: FlowId = FlowId(1);

    fn call(pid: i32, entered_ns: u64, returned_ns: u64) -> Call {
        let (ran_ns, has_slept) = (10, false);
        Call {
            pid,
            tid: pid,
            number: 0,
            arguments: [0; 6],
            result: 0,
            entered_ns,
            returned_ns,
            ran_ns,
            has_slept,
        }
    }

    #[test]
    fn wait_is_ended_by_the_only_process_that_released_in_the_meantime() {
        let mut locks = Locks::default();
        assert_eq!(locks.release(FILE, &call(7, 10, 20)), None);
        assert_eq!(locks.release(FILE, &call(9, 11, 12)), None);
        assert_eq!(locks.wait(FILE, FLOW, &call(8, 15, 30)), Some(call(7, 10, 20)));
        assert_eq!(locks.release(FILE, &call(9, 40, 45)), None);
        assert_eq!(locks.release(FILE, &call(7, 40, 50)), None);
        assert_eq!(locks.wait(FILE, FLOW, &call(8, 35, 60)), None);
    }

    #[test]
    fn wait_may_return_before_the_call_that_ends_it() {
        let mut locks = Locks::default();
        assert_eq!(locks.wait(FILE, FLOW, &call(8, 10, 30)), None);
        assert_eq!(locks.release(FILE, &call(8, 31, 32)), None);
        assert_eq!(locks.release(FILE, &call(7, 25, 35)), Some(FLOW));
        assert_eq!(locks.release(FILE, &call(7, 26, 36)), None);
    }
}
