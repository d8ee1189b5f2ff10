//! Every claim of every mechanism, tested from the one list; and mechanisms that do wrong, to see them caught.
//!
//! The tests are made at run time, so a mechanism that joins the list is tested without another line here. Each
//! runs in processes of its own under a watchdog. Where a claim does not apply, the test says `skipped,
//! because`. This binary also plays the roles, as furlong's own does.

mod claims;
mod counts;
mod faults;
mod handover_leftovers;
mod handovers;
mod paces;
mod pair;
mod patterns;
mod process_starts;
mod rows;
mod saboteur;

use furlong_bench::{ALIVE_VERB, ROLE_VERB, alive_main, registry, role_main, session};
use libtest_mimic::{Arguments, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let verb = arguments.next();
    let number = arguments.next().and_then(|text| text.parse().ok());
    match (verb.as_deref(), number) {
        (Some(ALIVE_VERB), Some(number)) => return ExitCode::from(alive_main(number) as u8),
        (Some(ROLE_VERB), number) => {
            let mechanisms = [registry(), saboteur::mechanisms()].concat();
            return ExitCode::from(number.map_or(2, |number| role_main(&mechanisms, number)) as u8);
        }
        _ => {}
    }
    if handover_leftovers::is_run() {
        return ExitCode::SUCCESS;
    }
    let mut arguments = Arguments::from_args();
    // Children die with the thread that started them, and a fork takes along one thread only.
    arguments.test_threads = Some(1);
    // Where that is not allowed, the limits of the machine hold, and larger messages are skipped.
    let _ = session::enter_private_namespace();
    let tests = [
        rows::tests(),
        claims::tests(),
        counts::tests(),
        paces::tests(),
        patterns::tests(),
        faults::tests(),
        handovers::tests(),
        handover_leftovers::tests(),
        process_starts::tests(),
    ];
    let tests = tests.into_iter().flatten().collect();
    run(&arguments, tests).exit_code()
}
