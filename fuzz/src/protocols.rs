//! Lines and greetings of other processes.

use crate::checks::run_is_read_again;
use crate::runs;
use furlong_bench::fuzzing;
use furlong_model::{Record, RunHeader, impossible_figure};

/// Reads replies of an adapter's program. Checks that the figures of a trial are valid in a saved run.
pub fn adapter(data: &[u8]) {
    let figures = fuzzing::adapter::replies(data);
    for (timing, parts) in figures.timings {
        runs::is_recorded(timing, parts, Vec::new(), figures.effective.clone());
    }
}

/// Reads lines of another host, in both directions. Checks that its machine and the figures of a trial are valid in a saved run.
pub fn peer(data: &[u8]) {
    fuzzing::peer::requests(data);
    let replied = fuzzing::peer::replies(data);
    for machine in replied.machines.into_iter().filter(|machine| impossible_figure(machine).is_none()) {
        let header = furlong_fixture::header();
        run_is_read_again(&[Record::Run(RunHeader { machine, ..header })]);
    }
    for (timing, parts, roles) in replied.trials {
        runs::is_recorded(timing, parts, roles, Default::default());
    }
}

/// Reads lines of a user's own program.
pub fn own_programs(data: &[u8]) {
    for timing in fuzzing::own_programs(data) {
        runs::is_recorded(timing, Vec::new(), Vec::new(), Default::default());
    }
}

/// Reads the greeting of a channel's listener.
pub fn greeting(data: &[u8]) {
    furlong_channel::fuzzing::greeting(data);
}

/// Calls ends of a broadcast while their peers write any word of the shared memory.
pub fn broadcast(data: &[u8]) {
    furlong_channel::fuzzing::broadcast(data);
}

/// Calls an inbox while its senders write any word of the shared memory.
pub fn inbox(data: &[u8]) {
    furlong_channel::fuzzing::inbox(data);
}

/// Reads the head of a request.
pub fn http(data: &[u8]) {
    let Some(request) = furlong_serve::fuzzing::request(data) else { return };
    assert!(request.path.len() + request.query.len() <= data.len());
    request.values("run").for_each(drop);
}
