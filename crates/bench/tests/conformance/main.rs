//! Tests of every claim of every mechanism in the list, and of deliberately broken mechanisms, which must be detected.
//!
//! The tests are created at run time, so a mechanism that joins the list is tested without further code here. Each test
//! runs in separate processes under a watchdog. If a claim does not apply, the test reports `skipped, because`. This
//! binary is also the program of all children, as furlong's own is.

#[cfg(target_os = "linux")]
mod availability;
#[cfg(target_os = "linux")]
mod broadcasts;
mod claims;
#[cfg(target_os = "linux")]
mod counts;
mod depth;
mod faults;
#[cfg(target_os = "linux")]
mod handover_leftovers;
#[cfg(target_os = "linux")]
mod handovers;
mod in_place;
#[cfg(windows)]
mod kills;
mod link_conditions;
#[cfg(target_os = "linux")]
mod meanings;
#[cfg(target_os = "linux")]
mod notifiers;
mod open_loop;
mod own_session;
mod paces;
mod pair;
mod parties;
mod patterns;
mod process_starts;
mod rows;
mod saboteur;
mod traffic;
#[cfg(target_os = "linux")]
mod unread;
mod windows;
mod workers;

use furlong_bench::{child_main, registry, requested_child, session};
use std::process::ExitCode;
use workers::Trial;

fn main() -> ExitCode {
    if let Some(control) = requested_child() {
        let mechanisms = || {
            [
                registry(),
                saboteur::mechanisms(),
                #[cfg(target_os = "linux")]
                vec![unread::mechanism()],
                #[cfg(target_os = "linux")]
                broadcasts::mechanisms(),
                #[cfg(target_os = "linux")]
                notifiers::mechanisms(),
                #[cfg(target_os = "linux")]
                in_place::leaves_out::mechanisms(),
                #[cfg(windows)]
                vec![kills::mechanism()],
            ]
            .concat()
        };
        return ExitCode::from(child_main(mechanisms, control) as u8);
    }
    #[cfg(windows)]
    if let Some(code) = kills::supervise_if_requested() {
        return code;
    }
    #[cfg(target_os = "linux")]
    if handover_leftovers::is_run() {
        return ExitCode::SUCCESS;
    }
    // If this fails, the limits of the machine apply, and larger messages are skipped.
    let _ = session::enter_private_namespace();
    let busy = [
        #[cfg(target_os = "linux")]
        availability::tests(),
        rows::tests(),
        claims::tests(),
        #[cfg(target_os = "linux")]
        counts::tests(),
        open_loop::tests(),
        paces::tests(),
        patterns::tests(),
        windows::tests(),
        parties::tests(),
        #[cfg(target_os = "linux")]
        broadcasts::tests(),
        in_place::tests(),
        link_conditions::tests(),
        traffic::tests(),
        #[cfg(target_os = "linux")]
        notifiers::tests(),
        #[cfg(target_os = "linux")]
        unread::tests(),
        #[cfg(target_os = "linux")]
        handovers::tests(),
        #[cfg(target_os = "linux")]
        handover_leftovers::tests(),
        process_starts::tests(),
        #[cfg(target_os = "linux")]
        meanings::tests(),
    ];
    let waiting = [
        faults::tests(),
        #[cfg(windows)]
        kills::tests(),
    ];
    workers::run(spread(waiting.into_iter().flatten(), busy.into_iter().flatten().collect()))
}

/// Mixes tests that mostly wait for a timeout evenly among tests that use the CPUs.
fn spread(waiting: impl Iterator<Item = Trial>, busy: Vec<Trial>) -> Vec<Trial> {
    let mut waiting: Vec<_> = waiting.collect();
    let mut tests = Vec::new();
    let between = busy.len() / waiting.len().max(1);
    for (number, test) in busy.into_iter().enumerate() {
        tests.push(test);
        if number % between.max(1) == 0 {
            tests.extend(waiting.pop());
        }
    }
    tests.extend(waiting);
    tests
}
