//! Starter programs: the chosen mechanism as source text.

use crate::output;
use furlong_analysis::{RankedBenchmark, Recommendation, row_refusal};
use furlong_bench::registry;
use furlong_console::exit::{Outcome, Usage};
use furlong_console::writing::NewFiles;
use furlong_model::{
    Boundary, Capabilities, ExcludedBenchmark, Limits, Placement, Shortlist, Wait, Workload, format_bytes,
};
use furlong_programs::{EndBoundaries, Language, Program, program};
use std::path::Path;

/// The languages of the printed programs, and their directory.
pub struct Destination<'a> {
    languages: &'a [Language],
    /// `None` for stdout.
    folder: Option<&'a Path>,
}

impl<'a> Destination<'a> {
    /// Returns the destination of the programs.
    ///
    /// # Errors
    /// Returns a usage error if several programs have no directory, or if one of the files already exists.
    pub fn of(languages: &'a [Language], folder: Option<&'a Path>) -> anyhow::Result<Destination<'a>> {
        if languages.len() > 1 && folder.is_none() {
            let reason =
                "--emit with several languages writes several files: specify a directory, for example -o .";
            return Err(Usage(reason.to_owned()).into());
        }
        // This check comes before anything is measured.
        for path in folder
            .iter()
            .flat_map(|folder| languages.iter().map(|language| folder.join(language.file_name())))
        {
            if path.exists() {
                let reason =
                    format!("{} already exists: remove it, or specify another directory", path.display());
                return Err(Usage(reason).into());
            }
        }
        Ok(Destination { languages, folder })
    }

    /// Prints the programs of a named row, if it meets all constraints of the workload.
    pub fn print_row(&self, row: &str, workload: &Workload, placement: Placement) -> anyhow::Result<Outcome> {
        let wrong = |why: String| Usage(format!("--row {row}: {why}"));
        let (mechanism, wait) = row
            .split_once('/')
            .ok_or_else(|| wrong("expected MECHANISM/WAIT, for example pipe/block".to_owned()))?;
        let wait: Wait =
            wait.parse().map_err(|error: furlong_model::InvalidName| wrong(error.to_string()))?;
        let made = programs(mechanism, wait, workload, self.languages).map_err(wrong)?;
        if let Some(why) = unmet(mechanism, wait, workload, placement) {
            return Err(wrong(why).into());
        }
        if workload.slo.is_some() {
            output::tell(format_args!(
                "furlong: --slo is not checked, because --row does not measure anything"
            ));
        }
        self.print(&made)?;
        Ok(Outcome::Done)
    }

    /// Prints the programs of the chosen row, if there is one.
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
                    output::tell(format_args!("\nWritten to {}; to build and run it:", path.display()));
                }
                None => {
                    output::print(&made.text)?;
                    output::tell(format_args!("\nWritten to stdout; save it as {}, then", made.file_name));
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
                None => ("The programs communicate with each other; for example, in", " & "),
                Some(_) => (
                    "The programs communicate with each other. Start each on its side, with the files in",
                    "\n  ",
                ),
            };
            output::tell(format_args!("\n{intro} {folder}:\n  {serving}{between}{asking}"));
        }
        if let Some(who) = programs.first().and_then(|program| program.lets_in) {
            output::tell(format_args!("Lets in: {who}"));
        }
        Ok(())
    }
}

/// Returns the programs of a row, or why there are none. Programs in two languages interoperate.
fn programs(
    mechanism: &str,
    wait: Wait,
    workload: &Workload,
    languages: &[Language],
) -> Result<Vec<Program>, String> {
    let between = EndBoundaries::of(&workload.boundaries);
    let of = |language: &Language| {
        program(mechanism, wait, workload.pattern, workload.size_bytes, between, *language)
    };
    let programs: Vec<Program> =
        languages.iter().map(of).collect::<Result<_, _>>().map_err(|why| why.to_string())?;
    if programs.len() > 1 && programs.iter().any(|program| program.run.len() == 1) {
        return Err("one program contains both ends, so both must be in the same language".to_owned());
    }
    Ok(programs)
}

/// Returns the language of a program pair for this choice, and the name of its file; `None` if no program exists.
pub fn printable(choice: &RankedBenchmark, workload: &Workload) -> Option<(Language, String)> {
    let any = [furlong_model::Language::C];
    let accepted = if workload.languages.is_empty() { &any[..] } else { &workload.languages };
    let is_for_two = [workload.receivers, workload.senders, workload.workers] == [1; 3];
    let is_accepted = |language: &Language| is_for_two && accepted.contains(&language.process_language());
    Language::ALL.into_iter().filter(is_accepted).find_map(|language| {
        let made = programs(&choice.mechanism, choice.wait, workload, &[language]).ok()?;
        Some((language, made.into_iter().next()?.file_name))
    })
}

/// Returns why a named row violates the constraints of the workload; `None` if it meets them.
fn unmet(mechanism: &str, wait: Wait, workload: &Workload, placement: Placement) -> Option<String> {
    // No boundary is the default, and it also allows a program that forks its peer.
    let is_typed = |boundary: &&Boundary| **boundary != Boundary::None;
    let boundaries = workload.boundaries.iter().filter(is_typed).cloned().collect();
    let workload = Workload { boundaries, ..workload.clone() };
    let is_it = |known: &Capabilities| known.name == mechanism && known.waits.contains(&wait);
    let row = registry().into_iter().find(|entry| is_it(entry.capabilities))?;
    row_refusal(&workload, row.capabilities, wait, placement)
        .or_else(|| too_large(row.probe().ok()?, &workload))
}

/// Returns why a message of the workload exceeds these limits; `None` if it does not.
fn too_large(limits: Limits, workload: &Workload) -> Option<String> {
    let most = limits.max_size_bytes?;
    let size = workload.size_bytes.max(workload.request_bytes.unwrap_or_default());
    (size > most).then(|| {
        let (size, most) = (format_bytes(size), format_bytes(most));
        let remedy =
            if limits.remedy.is_empty() { String::new() } else { format!("; remedy: {}", limits.remedy) };
        format!(
            "a message of {size} is too large here: the maximum is {most} ({}){remedy}",
            limits.limited_by
        )
    })
}

/// Excludes rows without a printable program in one of these languages.
///
/// # Errors
/// Returns a usage error if no candidate is left.
pub fn keep_printable(shortlist: &mut Shortlist, languages: &[Language]) -> anyhow::Result<()> {
    let candidates = std::mem::take(&mut shortlist.candidates);
    let had_some = !candidates.is_empty();
    for candidate in candidates {
        match programs(&candidate.mechanism, candidate.wait, &shortlist.workload, languages) {
            Ok(_) => shortlist.candidates.push(candidate),
            Err(why) => shortlist.excluded.push(ExcludedBenchmark {
                mechanism: candidate.mechanism,
                wait: Some(candidate.wait),
                reason: format!("cannot print a program: {why}"),
            }),
        }
    }
    if had_some && shortlist.candidates.is_empty() {
        let names: Vec<_> = languages.iter().map(|language| language.name()).collect();
        return Err(Usage(format!(
            "--emit {}: no program can be printed for any candidate of this workload; omit --emit for a recommendation, and \
             write the programs as docs/printed-programs.md describes",
            names.join(",")
        ))
        .into());
    }
    Ok(())
}
