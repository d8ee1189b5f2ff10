//! Every claim of every mechanism, tested from the one list; and mechanisms that do wrong, to see them caught.
//!
//! The tests are made at run time, so a mechanism that joins the list is tested without another line here. Each
//! runs in processes of its own under a watchdog. Where a claim does not apply, the test says `skipped,
//! because`. This binary also plays the roles, as furlong's own does.

mod claims;
mod counts;
mod faults;
mod paces;
mod pair;
mod patterns;
mod rows;
mod saboteur;

use furlong_bench::{ROLE_VERB, registry, role_main, session};
use libtest_mimic::{Arguments, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(ROLE_VERB) {
        let drivers = [registry(), saboteur::drivers()].concat();
        let number = arguments.next().and_then(|text| text.parse().ok());
        return ExitCode::from(number.map_or(2, |number| role_main(&drivers, number)) as u8);
    }
    let mut arguments = Arguments::from_args();
    // Children die with the thread that started them, and a fork takes along one thread only.
    arguments.test_threads = Some(1);
    // Where that is not allowed, the limits of the machine hold, and larger messages are skipped.
    let _ = session::enter_private_namespace();
    let tests =
        [rows::tests(), claims::tests(), counts::tests(), paces::tests(), patterns::tests(), faults::tests()]
            .into_iter()
            .flatten()
            .collect();
    run(&arguments, tests).exit_code()
}
