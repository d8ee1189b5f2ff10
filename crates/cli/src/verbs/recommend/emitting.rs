//! Programs to begin with: what was chosen, as source text.

use crate::output;
use furlong_analysis::{Recommendation, row_refusal};
use furlong_bench::registry;
use furlong_console::exit::{Outcome, Usage};
use furlong_console::writing::NewFiles;
use furlong_model::{
    Boundary, Capabilities, Excluded, Limits, Placement, Shortlist, Wait, Workload, format_bytes,
};
use furlong_programs::{Between, Language, Program, program};
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

    /// Prints the programs of a row that was named, if it meets all constraints of the workload.
    pub fn print_row(&self, row: &str, workload: &Workload, placement: Placement) -> anyhow::Result<Outcome> {
        let wrong = |why: String| Usage(format!("--row {row}: {why}"));
        let (mechanism, wait) = row
            .split_once('/')
            .ok_or_else(|| wrong("a row is a mechanism and a wait, as in pipe/block".to_owned()))?;
        let wait: Wait =
            wait.parse().map_err(|error: furlong_model::InvalidName| wrong(error.to_string()))?;
        let made = programs(mechanism, wait, workload, self.languages).map_err(wrong)?;
        if let Some(why) = unmet(mechanism, wait, workload, placement) {
            return Err(wrong(why).into());
        }
        if workload.slo.is_some() {
            output::tell(format_args!("furlong: --row measures nothing, so --slo is not checked"));
        }
        self.print(&made)?;
        Ok(Outcome::Done)
    }

    /// Prints the programs of the choice, if there is one.
    pub fn print_choice(&self, recommendation: &Recommendation) -> anyhow::Result<()> {
        let Some(choice) = &recommendation.choice else { return Ok(()) };
        let workload = &recommendation.workload;
        let made =
            programs(&choice.mechanism, choice.wait, workload, self.languages).map_err(anyhow::Error::msg)?;
        self.print(&made)
    }

    fn print(&self, programs: &[Program]) -> anyhow::Result<()> {
        if let Some(folder) = self.folder {
            let mut files = NewFiles::default();
            files.folder(folder)?;
            for made in programs {
                files.file(&folder.join(&made.file_name), made.text.as_bytes())?;
            }
            files.keep();
        }
        for made in programs {
            match self.folder {
                Some(folder) => {
                    let path = folder.join(&made.file_name);
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
            let (intro, between) = match first.lets_in {
                None => ("They talk to each other, as here in", " & "),
                Some(_) => ("They talk to each other, each started on its side, with the files of", "\n  "),
            };
            output::tell(format_args!("\n{intro} {folder}:\n  {serving}{between}{asking}"));
        }
        if let Some(who) = programs.first().and_then(|program| program.lets_in) {
            output::tell(format_args!("Lets in: {who}"));
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
    let between = Between::of(&workload.boundaries);
    let of = |language: &Language| {
        program(mechanism, wait, workload.pattern, workload.size_bytes, between, *language)
    };
    let programs: Vec<Program> =
        languages.iter().map(of).collect::<Result<_, _>>().map_err(|why| why.to_string())?;
    if programs.len() > 1 && programs.iter().any(|program| program.run.len() == 1) {
        return Err("one program is both ends, so both are in one language".to_owned());
    }
    Ok(programs)
}

/// Why a row that was named does not meet the constraints of the workload, if it does not.
fn unmet(mechanism: &str, wait: Wait, workload: &Workload, placement: Placement) -> Option<String> {
    // Two programs of one user are the default, and a program that forks serves them.
    let is_typed = |boundary: &Boundary| *boundary != Boundary::Process;
    let boundaries = workload.boundaries.iter().copied().filter(is_typed).collect();
    let workload = Workload { boundaries, ..workload.clone() };
    let is_it = |known: &Capabilities| known.name == mechanism && known.waits.contains(&wait);
    let row = registry().into_iter().find(|entry| is_it(entry.capabilities))?;
    row_refusal(&workload, row.capabilities, wait, placement)
        .or_else(|| too_large(row.probe().ok()?, &workload))
}

/// Returns why a message of the workload exceeds these limits, if it does.
fn too_large(limits: Limits, workload: &Workload) -> Option<String> {
    let most = limits.max_size_bytes?;
    let size = workload.size_bytes.max(workload.request_bytes.unwrap_or_default());
    (size > most).then(|| {
        let (size, most) = (format_bytes(size), format_bytes(most));
        let remedy =
            if limits.remedy.is_empty() { String::new() } else { format!("; remedy: {}", limits.remedy) };
        format!("a message of {size} is too large here: at most {most} ({}){remedy}", limits.limited_by)
    })
}

/// Excludes rows of which no program can be printed in one of these languages.
///
/// # Errors
/// That no candidate is left.
pub fn keep_printable(shortlist: &mut Shortlist, languages: &[Language]) -> anyhow::Result<()> {
    let candidates = std::mem::take(&mut shortlist.candidates);
    let had_some = !candidates.is_empty();
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
    if had_some && shortlist.candidates.is_empty() {
        let names: Vec<_> = languages.iter().map(|language| language.name()).collect();
        return Err(Usage(format!(
            "--emit {}: no candidate for this workload has a program to print; leave --emit out for a recommendation, and \
             write the ends by docs/printed-programs.md",
            names.join(",")
        ))
        .into());
    }
    Ok(())
}
