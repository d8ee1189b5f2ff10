//! Every claim of every mechanism, tested from the one list; and mechanisms that do wrong, to see them caught.
//!
//! The tests are made at run time, so a mechanism that joins the list is tested without another line here. Each
//! runs in processes of its own under a watchdog. Where a claim does not apply, the test says `skipped,
//! because`. This binary is also the program of all children, as furlong's own is.

mod claims;
mod counts;
mod depth;
mod faults;
mod handover_leftovers;
mod handovers;
mod paces;
mod pair;
mod parties;
mod patterns;
mod process_starts;
mod rows;
mod saboteur;
mod unread;
mod windows;
mod workers;

use furlong_bench::{child_main, registry, requested_child, session};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(control) = requested_child() {
        let mechanisms = || [registry(), saboteur::mechanisms(), vec![unread::mechanism()]].concat();
        return ExitCode::from(child_main(mechanisms, control) as u8);
    }
    if handover_leftovers::is_run() {
        return ExitCode::SUCCESS;
    }
    // Where that is not allowed, the limits of the machine hold, and larger messages are skipped.
    let _ = session::enter_private_namespace();
    let tests = [
        rows::tests(),
        claims::tests(),
        counts::tests(),
        paces::tests(),
        patterns::tests(),
        windows::tests(),
        parties::tests(),
        unread::tests(),
        faults::tests(),
        handovers::tests(),
        handover_leftovers::tests(),
        process_starts::tests(),
    ];
    workers::run(tests.into_iter().flatten().collect())
}
