//! Tests of the system calls of handovers. They run in workers, because ptrace can count only in a process with one
//! thread.

use crate::own_session::session;
use crate::pair::ensure;
use crate::rows::placed;
use crate::workers::Trial;
use furlong_bench::count::CallCounting;
use furlong_bench::handover::RegionHandover;
use furlong_bench::not_measured::NotMeasured;
use furlong_bench::placement;
use furlong_bench::trial::{Settings, TrialContext};
use furlong_model::{Backing, CountMethod, Handover, HandoverCount, Party, Touch};
use furlong_os::identity::is_administrator;
use furlong_testing::skipped;
use libtest_mimic::{Completion, Failed};

/// Returns one test per backing and counting method.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for backing in Backing::ALL {
        for (how, counting) in
            [("", CallCounting::find as fn() -> CallCounting), (", by ptrace", CallCounting::by_ptrace)]
        {
            let name = format!("handover/{backing}: calls nothing but its mapping{how}");
            tests.push(Trial::ignorable_test(name, move || calls(backing, &counting())));
        }
    }
    tests
}

fn calls(backing: Backing, counting: &CallCounting) -> Result<Completion, Failed> {
    let placement = placed();
    let handover = Handover { backing, touch: Touch::Line, size_bytes: 1 << 20, repetitions: 3, placement };
    let session = session()?;
    let processors = placement::pinned(session.cpus(), placement, &Party::PAIR)
        .map_err(|unavailable| unavailable.reason)?;
    let context = TrialContext { work: RegionHandover::new(&handover), processors, session: &session };
    match counting.count(&context, &Settings::default()) {
        Ok(count) => check(&count).map(|()| Completion::Completed),
        Err(NotMeasured::Unavailable(unavailable)) => {
            let facility = if is_administrator() { backing.name() } else { "root" };
            skipped(
                format_args!("handover/{backing}"),
                format_args!("needs {facility}: {}", unavailable.reason),
            );
            Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)))
        }
        Err(other) => Err(format!("{other:?}").into()),
    }
}

fn check(count: &HandoverCount) -> Result<(), Failed> {
    ensure(count.method != CountMethod::Rusage, || format!("not counted: {:?}", count.why_not_better))?;
    // A region that is inherited as a mapping is neither mapped nor unmapped by the roles.
    let expected: &[&str] = match count.case.backing {
        Backing::Anonymous => &[],
        _ => &["close", "fstat", "mmap", "munmap"],
    };
    for role in &count.roles {
        let calls = role.system_calls.as_ref().ok_or("no calls")?;
        // A standard library with debug assertions checks a descriptor before it closes it.
        let calls: Vec<_> = calls.iter().filter(|(name, _)| *name != "fcntl").collect();
        // Some C libraries use the newer call for a file's status.
        let known = |name: &str| if name == "newfstatat" { "fstat" } else { name }.to_owned();
        let mut names: Vec<_> = calls.iter().map(|(name, _)| known(name)).collect();
        names.sort();
        ensure(names == expected && calls.iter().all(|(_, count)| **count == 1), || format!("{calls:?}"))?;
        ensure(role.usage.round_trips == 3 && role.round_trips == 3, || format!("{role:?}"))?;
    }
    Ok(())
}
