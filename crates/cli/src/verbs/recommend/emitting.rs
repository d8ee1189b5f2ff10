//! Programs to begin with: what was chosen, as source text.

use crate::output;
use furlong_analysis::Recommendation;
use furlong_console::exit::{Outcome, Usage};
use furlong_console::writing;
use furlong_model::{Boundary, Excluded, Shortlist, Wait, Workload};
use furlong_programs::{Language, Program, program};
use std::path::Path;

/// In which languages programs are printed, and where to.
pub struct Destination<'a> {
    languages: &'a [Language],
    /// Stdout if there is none.
    folder: Option<&'a Path>,
}

impl<'a> Destination<'a> {
    /// # Errors
    /// Several programs and no folder for them.
    pub fn of(languages: &'a [Language], folder: Option<&'a Path>) -> anyhow::Result<Destination<'a>> {
        if languages.len() > 1 && folder.is_none() {
            return Err(
                Usage("--emit with several languages needs a folder for them: add -o .".to_owned()).into()
            );
        }
        // Said before anything is measured.
        for path in folder
            .iter()
            .flat_map(|folder| languages.iter().map(|language| folder.join(language.file_name())))
        {
            if path.exists() {
                let reason =
                    format!("{} is there already: remove it, or write into another folder", path.display());
                return Err(Usage(reason).into());
            }
        }
        Ok(Destination { languages, folder })
    }

    /// Prints the programs of a row that was named.
    pub fn print_row(&self, row: &str, workload: &Workload) -> anyhow::Result<Outcome> {
        let wrong = |why: String| Usage(format!("--row {row}: {why}"));
        let (mechanism, wait) = row
            .split_once('/')
            .ok_or_else(|| wrong("a row is a mechanism and a wait, as in pipe/block".to_owned()))?;
        let wait: Wait =
            wait.parse().map_err(|error: furlong_model::InvalidName| wrong(error.to_string()))?;
        self.print(
            &programs(mechanism, wait, workload, self.languages).map_err(wrong)?,
            &workload.boundaries,
        )?;
        Ok(Outcome::Done)
    }

    /// Prints the programs of the choice, if there is one.
    pub fn print_choice(&self, recommendation: &Recommendation) -> anyhow::Result<()> {
        let Some(choice) = &recommendation.choice else { return Ok(()) };
        let workload = &recommendation.workload;
        let made =
            programs(&choice.mechanism, choice.wait, workload, self.languages).map_err(anyhow::Error::msg)?;
        self.print(&made, &workload.boundaries)
    }

    fn print(&self, programs: &[Program], boundaries: &[Boundary]) -> anyhow::Result<()> {
        for made in programs {
            match self.folder {
                Some(folder) => {
                    let path = folder.join(&made.file_name);
                    writing::replace(&path, made.text.as_bytes())?;
                    output::tell(format_args!("\nWritten to {}, for", path.display()));
                }
                None => {
                    output::print(&made.text)?;
                    output::tell(format_args!("\nWritten to stdout: keep it as {}, then", made.file_name));
                }
            }
            for command in made.build.iter().chain(&made.run) {
                output::tell(format_args!("  {command}"));
            }
        }
        if let ([first, second, ..], Some(folder)) = (programs, self.folder)
            && let ([serving, _], [_, asking]) = (first.run.as_slice(), second.run.as_slice())
        {
            let folder = folder.display();
            output::tell(format_args!(
                "\nThey talk to each other, as here in {folder}:\n  {serving} & {asking}"
            ));
        }
        if boundaries.iter().any(|boundary| !matches!(boundary, Boundary::Fork | Boundary::Process)) {
            output::tell(format_args!(
                "It lets in processes of one user alone: names and rights must be widened for what lies between yours."
            ));
        }
        Ok(())
    }
}

/// The programs of a row, of which those in two languages talk to each other; or why there is none.
fn programs(
    mechanism: &str,
    wait: Wait,
    workload: &Workload,
    languages: &[Language],
) -> Result<Vec<Program>, String> {
    let of = |language: &Language| program(mechanism, wait, workload.pattern, workload.size_bytes, *language);
    let programs: Vec<Program> =
        languages.iter().map(of).collect::<Result<_, _>>().map_err(|why| why.to_string())?;
    if programs.len() > 1 && programs.iter().any(|program| program.run.len() == 1) {
        return Err("one program is both ends, so both are in one language".to_owned());
    }
    Ok(programs)
}

/// Excludes rows of which no program can be printed in one of these languages.
pub fn keep_printable(shortlist: &mut Shortlist, languages: &[Language]) {
    let candidates = std::mem::take(&mut shortlist.candidates);
    for candidate in candidates {
        match programs(&candidate.mechanism, candidate.wait, &shortlist.workload, languages) {
            Ok(_) => shortlist.candidates.push(candidate),
            Err(why) => shortlist.excluded.push(Excluded {
                mechanism: candidate.mechanism,
                wait: Some(candidate.wait),
                reason: format!("no program to print: {why}"),
            }),
        }
    }
}
