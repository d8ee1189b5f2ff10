//! Programs to begin with: what was chosen, as source text.

use crate::output;
use furlong_analysis::Recommendation;
use furlong_console::exit::{Outcome, Usage};
use furlong_model::{Boundary, Excluded, Shortlist, Wait, Workload};
use furlong_programs::{Language, Program, program};

/// Prints the program of a row that was named.
pub fn print_row(row: &str, workload: &Workload, language: Language) -> anyhow::Result<Outcome> {
    let wrong = |why: String| Usage(format!("--row {row}: {why}"));
    let (mechanism, wait) = row
        .split_once('/')
        .ok_or_else(|| wrong("a row is a mechanism and a wait, as in pipe/block".to_owned()))?;
    let wait: Wait = wait.parse().map_err(|error: furlong_model::InvalidName| wrong(error.to_string()))?;
    let made = program(mechanism, wait, workload.pattern, workload.size_bytes, language);
    print(&made.map_err(|why| wrong(why.to_string()))?, &workload.boundaries)?;
    Ok(Outcome::Done)
}

/// Prints the program of the choice, if there is one.
pub fn print_choice(recommendation: &Recommendation, language: Language) -> anyhow::Result<()> {
    let Some(choice) = &recommendation.choice else { return Ok(()) };
    let Workload { pattern, size_bytes, boundaries, .. } = &recommendation.workload;
    print(&program(&choice.mechanism, choice.wait, *pattern, *size_bytes, language)?, boundaries)
}

fn print(made: &Program, boundaries: &[Boundary]) -> anyhow::Result<()> {
    output::print(&made.text)?;
    output::tell(format_args!("\nWritten to stdout: keep it as {}, then", made.file_name));
    for command in made.build.iter().chain(&made.run) {
        output::tell(format_args!("  {command}"));
    }
    if boundaries.iter().any(|boundary| !matches!(boundary, Boundary::Fork | Boundary::Process)) {
        output::tell(format_args!(
            "It lets in processes of one user alone: names and rights must be widened for what lies between yours."
        ));
    }
    Ok(())
}

/// Excludes rows of which no program can be printed.
pub fn keep_printable(shortlist: &mut Shortlist, language: Language) {
    let Workload { pattern, size_bytes, .. } = shortlist.workload;
    let candidates = std::mem::take(&mut shortlist.candidates);
    for candidate in candidates {
        match program(&candidate.mechanism, candidate.wait, pattern, size_bytes, language) {
            Ok(_) => shortlist.candidates.push(candidate),
            Err(why) => shortlist.excluded.push(Excluded {
                mechanism: candidate.mechanism,
                wait: Some(candidate.wait),
                reason: format!("no program to print: {why}"),
            }),
        }
    }
}
