//! Test records from an untrusted source: damaged, or with text that must not reach a terminal unescaped.

use furlong_analysis::Run;
use furlong_fixture as fixture;
use furlong_model::Record;
use proptest::sample::Index;

/// Text that a terminal, a table or a page would obey.
pub(crate) const EVIL: &str = "\u{1b}[2J\u{202e}a|b\n<script>`c`\0";

/// Returns a run with hostile text in every name that comes from outside.
pub(crate) fn hostile() -> Run {
    let mut records = fixture::records();
    for record in &mut records {
        match record {
            Record::Run(header) => {
                header.machine.processor = Some(EVIL.into());
                header.machine.kernel = EVIL.into();
                header.machine.limits = vec![(EVIL.into(), EVIL.into())];
            }
            Record::Trial(trial) => trial.case.mechanism += EVIL,
            _ => {}
        }
    }
    Run::from_records(records).unwrap()
}

/// Returns the JSON with `value` in every occurrence of the field.
pub(crate) fn with_value(json: &str, field: &str, value: &str) -> String {
    let key = format!("\"{field}\":");
    let mut parts = json.split(&key);
    let mut changed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        changed += &format!("{key}{value}{}", &part[part.find([',', '}']).unwrap_or(0)..]);
    }
    changed
}

/// Returns the records as the text of a run's file.
pub(crate) fn lines(records: &[Record]) -> String {
    records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect()
}

/// Returns the run in this text, and the run after these bytes are changed, if they still parse.
pub(crate) fn damaged(text: String, hits: &[(Index, u8)]) -> [Option<Run>; 2] {
    let intact = Run::from_reader(text.as_bytes()).ok();
    let mut bytes = text.into_bytes();
    for (at, byte) in hits {
        let at = at.index(bytes.len());
        bytes[at] = *byte;
    }
    [intact, Run::from_reader(bytes.as_slice()).ok()]
}
