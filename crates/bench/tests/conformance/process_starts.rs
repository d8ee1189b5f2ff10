//! Tests that processes start with every method, and that a failed start is reported.

use crate::pair::ensure;
use crate::workers::Trial;
use furlong_bench::ChildProgram;
use furlong_bench::process_start::{here, read_of};
use furlong_model::StartMethod;
use libtest_mimic::Failed;

/// A program that does not exist, and one that does not send the first line.
const PROGRAMS: [&str; 2] = if cfg!(windows) {
    [r"C:\no\such\program.exe", r"C:\windows\system32\hostname.exe"]
} else {
    ["/no/such/program", "/bin/true"]
};

/// Returns two tests per method.
pub fn tests() -> Vec<Trial> {
    here()
        .flat_map(|method| {
            [
                Trial::test(format!("start/{method}: every process says its word"), move || lives(method)),
                Trial::test(format!("start/{method}: error is reported"), move || error(method)),
            ]
        })
        .collect()
}

fn lives(method: StartMethod) -> Result<(), Failed> {
    let program = ChildProgram::own()?;
    let reading = read_of(method, 5, &program);
    ensure(reading.trouble.is_none() && reading.starts_ns.len() == 5, || format!("{reading:?}"))?;
    ensure(reading.starts_ns.iter().all(|start_ns| *start_ns > 0), || format!("{reading:?}"))?;
    Ok(read_of(method, 0, &program).trouble.map_or(Ok(()), Err)?)
}

fn error(method: StartMethod) -> Result<(), Failed> {
    for program in PROGRAMS {
        let reading = read_of(method, 3, &ChildProgram::at(program));
        // A fork is the only method that needs no program.
        let expected = method != StartMethod::Fork;
        let reported = reading.trouble.as_ref().is_some_and(|error| error.contains(method.name()));
        ensure(reported == expected && reading.starts_ns.is_empty() == expected, || format!("{reading:?}"))?;
    }
    Ok(())
}
