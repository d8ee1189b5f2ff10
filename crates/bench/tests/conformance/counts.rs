//! Tests that every benchmark makes the system calls that it declares, with every available counting method.

use crate::own_session::session;
use crate::rows::{case, is_combined_elsewhere, is_first_with, is_usual};
use crate::saboteur::{self, CALL, LATE, name};
use crate::workers::Trial;
use furlong_analysis::undeclared_calls;
use furlong_bench::count::CallCounting;
use furlong_bench::trial::{MessageExchange, Settings, TrialContext};
use furlong_bench::{MechanismEntry, placement, registry};
use furlong_model::{ChildStart, Count, CountMethod, Wait};
use libtest_mimic::{Completion, Failed};

/// Returns one test per benchmark, and one by ptrace for each mechanism and each wait strategy.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for entry in registry() {
        for &wait in entry.capabilities.waits {
            let row = format!("{}/{wait}", entry.capabilities.name);
            tests.push(Trial::ignorable_test(format!("{row}: calls what it declares"), move || {
                declared(&entry, wait, CallCounting::find())
            }));
            // Both methods see the same calls, so not every wait strategy is counted twice.
            let usual = is_usual(&entry, wait) && !is_combined_elsewhere(&entry);
            if usual || is_first_with(&entry, wait) {
                let name = format!("{row}: calls what it declares, by ptrace");
                let by_ptrace =
                    Trial::ignorable_test(name, move || declared(&entry, wait, CallCounting::by_ptrace()));
                tests.push(by_ptrace.slow_if(true));
            }
        }
    }
    tests.push(Trial::test(
        "saboteur/call: a call that is not declared is found",
        an_undeclared_call_is_found,
    ));
    tests
}

fn an_undeclared_call_is_found() -> Result<(), Failed> {
    let mechanisms = saboteur::mechanisms();
    let entry =
        mechanisms.iter().find(|entry| entry.capabilities.name == name(CALL, LATE)).ok_or("no such row")?;
    for counting in [CallCounting::find(), CallCounting::by_ptrace()] {
        let surprise = undeclared_calls(&count(&mechanisms, entry, Wait::Block, &counting)?);
        if !surprise.as_ref().is_some_and(|surprise| surprise.contains("initiator calls getppid 1.000 times"))
        {
            return Err(format!("{surprise:?}").into());
        }
    }
    Ok(())
}

fn declared(entry: &MechanismEntry, wait: Wait, counting: CallCounting) -> Result<Completion, Failed> {
    if let Err(unavailable) = entry.probe() {
        return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
    }
    let count = count(&registry(), entry, wait, &counting)?;
    if count.method == CountMethod::Rusage {
        return Err(format!("nothing could be counted: {:?}", count.why_not_better).into());
    }
    if count.roles.iter().any(|role| role.round_trips == 0) {
        return Err("a role counted no round trip".into());
    }
    undeclared_calls(&count).map_or(Ok(Completion::Completed), |surprise| Err(surprise.into()))
}

fn count(
    mechanisms: &[MechanismEntry],
    entry: &MechanismEntry,
    wait: Wait,
    counting: &CallCounting,
) -> Result<Count, Failed> {
    let case = case(entry, wait, entry.capabilities.fixed_size_bytes.unwrap_or(128));
    let settings = Settings { clock_read_ns: 25.0, ..Settings::default() };
    let session = session()?;
    let processors = placement::pinned(session.cpus(), case.placement, &case.all_parties())
        .map_err(|unavailable| unavailable.reason)?;
    let work = MessageExchange {
        peer: None,
        mechanisms,
        entry,
        request_carrier: None,
        case: &case,
        child: ChildStart::default(),
    };
    let counted = counting.count(&TrialContext { work, processors, session: &session }, &settings);
    counted.map_err(|error| format!("{case}: {error:?}").into())
}
