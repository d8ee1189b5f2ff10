//! All counted passes of a run.

use crate::{CountRow, DecodedRun, SkippedCase, SkippedStatus};
use serde::Serialize;

/// Version of [`CountSummary`] as JSON. It changes if a field changes its meaning or is removed.
pub const COUNT_SCHEMA: u32 = 2;

/// All counted passes of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountSummary {
    /// [`COUNT_SCHEMA`].
    pub schema: u32,
    /// Counted passes in the order of their end.
    pub rows: Vec<CountRow>,
    /// Cases that could not be counted or measured, the worst first.
    pub skipped: Vec<SkippedCase>,
}

impl CountSummary {
    /// Returns all counted passes of `run`, and the cases that failed.
    pub fn of(run: &DecodedRun) -> Self {
        let rows: Vec<_> = run.records.counts.iter().map(CountRow::of).collect();
        // A case that is void because of its calls is not missing: its counts show the error.
        let is_shown = |entry: &SkippedCase| {
            entry.status == SkippedStatus::Void && rows.iter().any(|row| row.case == entry.case)
        };
        let skipped = run.summary.skipped.iter().filter(|entry| !is_shown(entry)).cloned().collect();
        CountSummary { schema: COUNT_SCHEMA, rows, skipped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Run,
        fixture::{case, count, header, records},
    };
    use furlong_model::{Placement, Record, Wait};

    #[test]
    fn what_is_void_for_its_calls_is_shown_and_not_skipped() {
        let mut surprising = count(&case("tcp", Wait::Block, Placement::OtherCore), "read", 500);
        surprising.declared.clear();
        let records = records().into_iter().chain([Record::Count(surprising)]);
        let summary = CountSummary::of(&DecodedRun::of(&Run::from_records(records).unwrap()));
        assert!(summary.rows[0].surprise.is_some());
        let is_tcp = |entry: &SkippedCase| entry.case == summary.rows[0].case;
        assert!(!summary.skipped.iter().any(is_tcp), "{:?}", summary.skipped);
        assert!(summary.skipped.iter().any(|entry| entry.status == SkippedStatus::Failed));
    }

    #[test]
    fn nothing_counted_is_no_rows() {
        let run = Run::from_records([Record::Run(header())]).unwrap();
        assert_eq!(
            CountSummary::of(&DecodedRun::of(&run)),
            CountSummary { schema: COUNT_SCHEMA, rows: vec![], skipped: vec![] }
        );
    }
}
