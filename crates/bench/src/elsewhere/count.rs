//! Replacement for counted system calls: only on Linux an unprivileged process can count them.

use crate::not_measured::NotMeasured;
use crate::trial::{Settings, TrialContext, Work};
use furlong_model::{Count, CountMethod, Unavailable};

/// The absence of a counting method.
#[derive(Debug, Clone)]
pub struct CallCounting {
    why_not_better: Vec<String>,
}

impl CallCounting {
    /// Returns the absence of a method.
    pub fn find() -> CallCounting {
        let why = "Windows reports system calls only through event tracing (ETW), to an administrator; furlong does \
                   not read ETW";
        CallCounting { why_not_better: vec![why.to_owned()] }
    }

    /// Returns the only method of this system: the resource usage.
    pub fn method(&self) -> CountMethod {
        CountMethod::Rusage
    }

    /// Returns why each better method is unavailable.
    pub fn why_not_better(&self) -> &[String] {
        &self.why_not_better
    }

    /// Counts nothing.
    ///
    /// # Errors
    /// Returns the reason always.
    pub fn count<W: Work>(
        &self,
        _context: &TrialContext<'_, W>,
        _settings: &Settings,
    ) -> Result<Count<W::Case>, NotMeasured> {
        Err(NotMeasured::Unavailable(Unavailable::new(self.why_not_better.join("; "), "count on Linux")))
    }
}
