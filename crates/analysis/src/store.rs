//! Reader of run files. Each line is a record, written by this or another version of furlong, or by another program.
//!
//! A crash can truncate the last line, so a last line without a newline may be incomplete. Every other invalid line is an
//! error with its position, because missing records would lead to wrong figures.

use crate::impossible::impossible_figure;
use crate::renamed_keys::renamed;
use crate::run::{Builder, Problem, Run};
use furlong_model::{Outcome, Record, RunHeader, SCHEMA, Trial};
use serde::Deserialize;
use std::{
    borrow::Cow,
    collections::HashSet,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

/// Maximum size of a line, in bytes. A trial with its histogram takes a few thousand.
const MAX_LINE_BYTES: u64 = 4 << 20;
/// Maximum size of a run, in bytes: about 100,000 trials, which are all kept in memory.
const MAX_RUN_BYTES: u64 = 512 << 20;

/// Error of reading a run, with its position.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be opened.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// A line is invalid.
    #[error("line {line} (byte {byte}): {problem}")]
    Line {
        /// Line number, from 1.
        line: u64,
        /// Offset of the line in bytes, from 0.
        byte: u64,
        /// Problem of the line.
        problem: Problem,
    },
}

/// Fields that are needed before the rest of a line can be parsed.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    record: Cow<'a, str>,
    schema: Option<u64>,
}

impl Run {
    /// Reads the run from the file at `path`.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let open = |source| ReadError::Open { path: path.to_owned(), source };
        Run::from_reader(BufReader::new(File::open(path).map_err(open)?))
    }

    /// Reads only the header of the run from the file at `path`: its options and its start.
    ///
    /// # Errors
    /// Returns the errors of [`Run::read`], up to the first record.
    pub fn read_header(path: impl AsRef<Path>) -> Result<RunHeader, ReadError> {
        let path = path.as_ref();
        let open = |source| ReadError::Open { path: path.to_owned(), source };
        Run::header_from_reader(BufReader::new(File::open(path).map_err(open)?))
    }

    /// Reads only the header of a run from JSON Lines.
    ///
    /// # Errors
    /// Returns the errors of [`Run::read`], up to the first record.
    pub fn header_from_reader(mut reader: impl BufRead) -> Result<RunHeader, ReadError> {
        let (mut line, mut byte) = (1, 0);
        let mut text = Vec::new();
        loop {
            let at_line = |problem| ReadError::Line { line, byte, problem };
            if !read_line(&mut reader, &mut text, byte).map_err(at_line)? {
                return Err(at_line(Problem::NoHeader));
            }
            match parse(&text, SCHEMA).map_err(at_line)? {
                Some(Record::Run(header)) if header.schema > SCHEMA => {
                    return Err(at_line(Problem::NewerSchema(header.schema.into())));
                }
                Some(Record::Run(header)) => return Ok(header),
                Some(_) => return Err(at_line(Problem::NoHeader)),
                None => (line, byte) = (line + 1, byte + text.len() as u64),
            }
        }
    }

    /// Reads a run from JSON Lines.
    pub fn from_reader(mut reader: impl BufRead) -> Result<Self, ReadError> {
        let mut builder = Builder::default();
        let mut torn = false;
        let (mut line, mut byte) = (1, 0);
        let mut text = Vec::new();
        let mut schema = SCHEMA;
        let mut measured = HashSet::new();
        loop {
            let at_line = |problem| ReadError::Line { line, byte, problem };
            if !read_line(&mut reader, &mut text, byte).map_err(at_line)? {
                return builder.finish(torn).map_err(at_line);
            }
            match parse(&text, schema) {
                Ok(Some(record)) => {
                    if let Record::Run(header) = &record {
                        schema = header.schema;
                    }
                    if let Record::Trial(Trial { case, number, outcome: Outcome::Measured(_), .. }) = &record
                        && !measured.insert((case.clone(), *number))
                    {
                        return Err(at_line(Problem::TrialTwice(*number)));
                    }
                    builder.add(record).map_err(at_line)?;
                }
                Ok(None) => {}
                Err(Problem::NoRecord(_)) if !text.ends_with(b"\n") => torn = true,
                Err(problem) => return Err(at_line(problem)),
            }
            line += 1;
            byte += text.len() as u64;
        }
    }
}

/// Reads one line with its newline into `text`, and returns false at the end. `byte` is the number of bytes read before.
fn read_line(reader: &mut impl BufRead, text: &mut Vec<u8>, byte: u64) -> Result<bool, Problem> {
    text.clear();
    reader.take(MAX_LINE_BYTES + 1).read_until(b'\n', text).map_err(Problem::Io)?;
    match text.len() as u64 {
        length if length > MAX_LINE_BYTES => Err(Problem::LineTooLong(MAX_LINE_BYTES)),
        length if byte + length > MAX_RUN_BYTES => Err(Problem::RunTooLong(MAX_RUN_BYTES)),
        length => Ok(length > 0),
    }
}

/// Parses the record in one line of a run with this schema; `None` for an empty line, or for a kind of record that a later
/// version added.
fn parse(text: &[u8], schema: u32) -> Result<Option<Record>, Problem> {
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    let envelope: Envelope = serde_json::from_slice(text).map_err(Problem::NoRecord)?;
    // The schema is checked before the rest is parsed, because a newer header may not parse, and the schema is the reason.
    match envelope.schema {
        Some(schema) if envelope.record == "run" && schema > SCHEMA.into() => {
            Err(Problem::NewerSchema(schema))
        }
        _ => match record(&envelope.record, text, schema).map_err(Problem::NoRecord)? {
            Some(record) => impossible_figure(&record, text)
                .map_or(Ok(Some(record)), |figure| Err(Problem::Impossible(figure))),
            None => Ok(None),
        },
    }
}

/// Parses a record of this kind, and renames the keys of older versions.
fn record(kind: &str, text: &[u8], schema: u32) -> serde_json::Result<Option<Record>> {
    if schema < SCHEMA {
        Record::read(kind, &serde_json::to_vec(&renamed(serde_json::from_slice(text)?))?)
    } else {
        Record::read(kind, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn lines() -> Vec<String> {
        fixture::records().iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect()
    }

    fn read(text: impl AsRef<[u8]>) -> Result<Run, ReadError> {
        Run::from_reader(text.as_ref())
    }

    fn complaint(text: impl AsRef<[u8]>) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn a_file_reads_back_as_its_records() {
        let run = read(lines().concat()).unwrap();
        assert_eq!(run, Run::from_records(fixture::records()).unwrap());
        assert!(!run.is_partial());
    }

    #[test]
    fn a_file_cut_at_any_byte_keeps_its_whole_lines() {
        let lines = lines();
        let keep = 3;
        let whole: String = lines[..keep].concat();
        for cut in 1..lines[keep].len() - 1 {
            let run = read(format!("{whole}{}", &lines[keep][..cut])).unwrap();
            assert!(run.torn && run.is_partial());
            assert_eq!(1 + run.noise.len() + run.trials.len(), keep, "cut at {cut}");
        }
        let without_newline = lines.concat().trim_end().to_owned();
        assert!(!read(without_newline).unwrap().torn);
    }

    #[test]
    fn bytes_of_a_lost_power_supply_count_as_torn() {
        let whole = lines().concat();
        assert!(read([whole.as_bytes(), &[0; 300]].concat()).unwrap().torn);
        assert!(
            read([whole.as_bytes(), "{\"record\":\"é".as_bytes().split_last().unwrap().1].concat())
                .unwrap()
                .torn
        );
    }

    #[test]
    fn a_torn_line_in_the_middle_is_an_error_with_its_place() {
        let mut lines = lines();
        let place = lines[0].len() + lines[1].len();
        lines[2] = "{\"record\":\"trial\",\"ca\n".into();
        let complaint = complaint(lines.concat());
        assert!(
            complaint.starts_with(&format!("line 3 (byte {place}): this is not a valid furlong record")),
            "{complaint}"
        );
    }

    #[test]
    fn later_fields_and_kinds_are_passed_over() {
        let mut lines = lines();
        lines[0] = lines[0].replacen('{', "{\"mood\":[1,{\"a\":null}],", 1);
        lines.insert(1, "{\"record\":\"weather\",\"schema\":9}\n".into());
        lines.insert(1, "\n".into());
        assert_eq!(read(lines.concat()).unwrap(), Run::from_records(fixture::records()).unwrap());
    }

    #[test]
    fn counts_and_costs_are_kept() {
        let case = fixture::case("pipe", furlong_model::Wait::Block, furlong_model::Placement::OtherCore);
        let count = fixture::count(&case, "read", 1000);
        let costs = furlong_model::CostReading { at_ns: 7, figures: Vec::new() };
        let mut lines = lines();
        for record in [Record::Count(count.clone()), Record::Costs(costs.clone())] {
            lines.insert(1, serde_json::to_string(&record).unwrap() + "\n");
        }
        let run = read(lines.concat()).unwrap();
        assert_eq!((run.counts, run.costs), (vec![count], vec![costs]));
    }

    #[test]
    fn replays_are_kept() {
        use crate::fixture::{replay::itmedia, replay::ka2yan, replay::qiita};
        for records in [ka2yan(), itmedia(), qiita()].map(|made| made.records()) {
            let lines = records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n");
            assert_eq!(read(lines.collect::<String>()).unwrap(), Run::from_records(records).unwrap());
        }
    }

    #[test]
    fn a_newer_schema_is_refused_even_if_its_header_cannot_be_understood() {
        let complaint = complaint("{\"record\":\"run\",\"schema\":99}\n");
        assert!(complaint.contains("schema 99") && complaint.contains("newer furlong"), "{complaint}");
    }

    #[test]
    fn what_is_no_run_is_refused() {
        let lines = lines();
        for (text, reason) in [
            (String::new(), "this file has none"),
            ("\n\n".into(), "this file has none"),
            ("{\"record\":".into(), "this file has none"),
            (lines[1].clone(), "this file has none"),
            ("garbage\n".into(), "not a valid furlong record"),
            ("[1,2]\n".into(), "not a valid furlong record"),
            ("{\"record\":7}\n".into(), "not a valid furlong record"),
            (lines.concat() + &lines[0], "a second run"),
            (lines.concat() + lines.iter().find(|line| line.contains("measured")).unwrap(), "occurs twice"),
            (lines[0].clone() + &" ".repeat(MAX_LINE_BYTES as usize + 1), "longer than"),
            ("[".repeat(100_000) + "\n", "not a valid furlong record"),
        ] {
            let complaint = complaint(text);
            assert!(complaint.contains(reason), "{complaint} should say {reason}");
        }
    }

    #[test]
    fn a_header_is_read_alone() {
        let file = std::env::temp_dir().join(format!("furlong-header-{}.jsonl", std::process::id()));
        let header = |text: String| {
            std::fs::write(&file, text).unwrap();
            Run::read_header(&file).map_err(|error| error.to_string())
        };
        // The reader does not check the text after the header.
        assert_eq!(header(lines()[0].clone() + "garbage\n"), Ok(fixture::header()));
        assert!(header(lines()[1].clone()).unwrap_err().contains("this file has none"));
        assert!(header("\n".into()).unwrap_err().contains("this file has none"));
        assert!(header("{\"record\":\"run\",\"schema\":99}\n".into()).unwrap_err().contains("newer furlong"));
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_missing_file_is_named() {
        let complaint = Run::read("/no/such/run.jsonl").unwrap_err().to_string();
        assert!(complaint.starts_with("cannot open /no/such/run.jsonl: "), "{complaint}");
    }
}
