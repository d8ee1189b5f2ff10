//! Counted system calls, which a process without rights can have on Linux alone.

use crate::not_measured::NotMeasured;
use crate::trial::{Settings, TrialContext, Work};
use furlong_model::{Count, CountMethod, Unavailable};

/// No way to count.
#[derive(Debug, Clone)]
pub struct Counting {
    why_not_better: Vec<String>,
}

impl Counting {
    /// Finds none.
    pub fn find() -> Counting {
        let why = "Windows tells of system calls only by its event tracing (ETW), to an administrator; furlong does not read it";
        Counting { why_not_better: vec![why.to_owned()] }
    }

    /// What a process is charged for is all that there is.
    pub fn method(&self) -> CountMethod {
        CountMethod::Rusage
    }

    /// Why each better method cannot be had.
    pub fn why_not_better(&self) -> &[String] {
        &self.why_not_better
    }

    /// Counts nothing.
    ///
    /// # Errors
    /// Why.
    pub fn count<W: Work>(
        &self,
        _context: &TrialContext<'_, W>,
        _settings: &Settings,
    ) -> Result<Count<W::Case>, NotMeasured> {
        Err(NotMeasured::Unavailable(Unavailable::new(self.why_not_better.join("; "), "count on Linux")))
    }
}
