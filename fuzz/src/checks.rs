//! Checks of values and texts that result from an input.

use furlong_analysis::Run;
use furlong_model::Record;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// Checks that a value is unchanged after it is written as JSON and read again.
pub fn read_again<T: Serialize + DeserializeOwned + Debug + PartialEq>(value: &T) {
    let text = serde_json::to_string(value).expect("a value is written");
    assert!(!text.contains('\n'), "a record of two lines");
    let again: T = serde_json::from_str(&text).expect("a written value is read");
    assert_eq!(again, *value);
}

/// Checks that a run with these records is readable, because furlong must not save a run that it rejects.
pub fn run_is_read_again(records: &[Record]) -> Run {
    let lines: Vec<u8> =
        records.iter().flat_map(|record| record.to_line().expect("a record is written")).collect();
    let read = Run::from_reader(lines.as_slice());
    read.unwrap_or_else(|error| {
        panic!("a written run is refused: {error}\n{}", String::from_utf8_lossy(&lines))
    })
}

/// Checks that a text contains no control sequences of a terminal.
pub fn is_plain(text: &str) {
    let bad = |c: char| c != '\n' && furlong_model::is_unseen(c);
    assert!(!text.contains(bad), "a text has {:?}", text.chars().find(|c| bad(*c)));
}
