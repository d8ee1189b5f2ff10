//! Files that a user writes or furlong keeps, and words of the command line.

use crate::checks::{is_plain, read_again, run_is_read_again};
use furlong::fuzzing;
use furlong_adapter_files::Manifest;
use furlong_analysis::{Answer, Offer, read_experiment, shortlist};
use furlong_bench::peer::PeerAddress;
use furlong_bench::{MechanismEntry, registry};
use furlong_model::{ByteSize, Counts, Limits, Percent, Placement, Rate, Rates, Record, Sizes, Slo, Time};
use furlong_trace::{TraceReader, TraceSummary};
use std::str::FromStr;
use std::sync::LazyLock;

/// Maximum length of an error about a file.
const LONGEST_ERROR: usize = 2000;

/// Reads an experiment, which must be readable again from the record of a run.
pub fn experiment(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match read_experiment(text, "file.toml") {
        Err(error) => assert!(error.to_string().len() < LONGEST_ERROR, "{error}"),
        Ok(experiment) => {
            read_again(&experiment);
            let records = [Record::Run(furlong_fixture::header()), Record::Experiment(experiment.clone())];
            run_is_read_again(&records);
            is_plain(&furlong_render::experiments(&[experiment], furlong_render::Style::default()));
        }
    }
}

/// All mechanisms, as on a machine that supports them without limits.
static MECHANISMS: LazyLock<Vec<MechanismEntry>> = LazyLock::new(registry);

/// Reads a workload, for which candidates are chosen and programs are printed.
pub fn workload(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some(workload) = fuzzing::workload(text) else { return };
    read_again(&workload);
    let limits = || Limits {
        max_size_bytes: None,
        limited_by: String::new(),
        remedy: String::new(),
        max_in_place_bytes: None,
    };
    let offers: Vec<_> = MECHANISMS
        .iter()
        .map(|entry| Offer { capabilities: entry.capabilities, here: Ok(limits()) })
        .collect();
    let list = shortlist(workload.clone(), &offers, Vec::new(), Placement::OtherCore, 3);
    run_is_read_again(&[Record::Run(furlong_fixture::header()), Record::Shortlist(list.clone())]);
    // All candidates would take a hundred times as long as the rest.
    let chosen = list.candidates.iter().skip(data.len() % 7).step_by(7).take(2);
    for row in chosen {
        read_again(&workload.case(&row.mechanism, row.wait, Placement::OtherCore));
        fuzzing::programs(&row.mechanism, row.wait, &workload);
    }
}

/// Reads the manifest of an adapter.
pub fn manifest(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Manifest::parse(text) {
        Err(what) => assert!(what.len() < LONGEST_ERROR, "{what}"),
        Ok(manifest) => {
            manifest.missing();
            manifest.program();
        }
    }
}

/// Reads the answers of `recommend` that furlong keeps.
pub fn answers(data: &[u8]) {
    let Ok(answers) = serde_json::from_slice::<Vec<Answer>>(data) else { return };
    read_again(&answers);
    for answer in &answers {
        let _ = answer.workload.per_second();
    }
}

/// Reads the journal of a run that was killed.
pub fn journal(data: &[u8]) {
    furlong_bench::fuzzing::journal(&String::from_utf8_lossy(data));
}

/// Reads a trace, output of strace or a pcap file. A message that is accepted must be valid in a trace, and in order.
pub fn trace(data: &[u8]) {
    let Ok(reader) = TraceReader::new(data) else { return };
    let Ok(mut summary) = TraceSummary::new() else { return };
    let (mut text, mut last_ns) = (String::new(), 0);
    for message in reader {
        match message {
            Err(error) => assert!(error.to_string().len() < LONGEST_ERROR, "{error}"),
            Ok(message) => {
                assert!(message.time_ns >= last_ns, "{message}");
                last_ns = message.time_ns;
                summary.add(&message);
                text += &format!("{message}\n");
            }
        }
    }
    let read_again = TraceReader::new(text.as_bytes()).map(|again| again.filter(Result::is_ok).count() as u64);
    assert_eq!(read_again.unwrap_or_default(), summary.all.messages, "{text}");
    assert!(summary.burstiness().is_none_or(|found| found.dispersion.is_finite()));
}

/// Reads a word of a command line as each kind of value. Checks that a printed value is equal after it is read again.
pub fn words(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    word::<ByteSize>(text);
    word::<Time>(text);
    word::<Rate>(text);
    word::<Percent>(text);
    word::<Slo>(text);
    let _ = text.parse::<Sizes>();
    let _ = text.parse::<Rates>();
    let _ = text.parse::<Counts>();
    let _ = text.parse::<PeerAddress>();
}

fn word<T: FromStr + ToString>(text: &str) {
    let Ok(value) = text.parse::<T>() else { return };
    let printed = value.to_string();
    if let Ok(again) = printed.parse::<T>() {
        assert_eq!(again.to_string(), printed, "{text:?} is printed in two ways");
    }
}
