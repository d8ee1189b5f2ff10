//! Why a trial has no figures: one type for all that makes, watches, counts and records trials.

use furlong_mechanism::NEEDS_FOLDER;
use furlong_model::{Failure, Fault, Outcome, Phase, Unavailable};
use furlong_os::error::REMEDY;
use furlong_os::facts;
use std::io;

/// Somebody wants the run to end, so there is no outcome either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted {
    /// By this signal.
    pub signal: i32,
}

/// Why a trial has no figures.
#[derive(Debug, Clone, PartialEq)]
pub enum NotMeasured {
    /// Somebody wants the run to end.
    Interrupted(Interrupted),
    /// As [`Outcome::Refused`].
    Refused(Unavailable),
    /// As [`Outcome::Unavailable`].
    Unavailable(Unavailable),
    /// As [`Outcome::Failed`].
    Failed(Failure),
    /// A role was stopped for a moment while it was measured, so that its figures would mislead: it is tried again, and
    /// fails if that happens each time.
    Paused(Failure),
}

impl From<Interrupted> for NotMeasured {
    fn from(interrupted: Interrupted) -> Self {
        NotMeasured::Interrupted(interrupted)
    }
}

impl From<Failure> for NotMeasured {
    fn from(failure: Failure) -> Self {
        NotMeasured::Failed(failure)
    }
}

impl NotMeasured {
    /// Returns the reason in words.
    pub(crate) fn reason(self) -> String {
        match self {
            NotMeasured::Interrupted(Interrupted { signal }) => format!("signal {signal} came"),
            NotMeasured::Refused(why) | NotMeasured::Unavailable(why) => why.reason,
            NotMeasured::Failed(failure) | NotMeasured::Paused(failure) => failure.detail,
        }
    }

    /// What is recorded of it.
    ///
    /// # Errors
    /// [`Interrupted`], of which a trial's record says nothing.
    pub fn outcome<M>(self) -> Result<Outcome<M>, Interrupted> {
        Ok(match self {
            NotMeasured::Interrupted(interrupted) => return Err(interrupted),
            NotMeasured::Refused(why) => Outcome::Refused(why),
            NotMeasured::Unavailable(why) => Outcome::Unavailable(why),
            NotMeasured::Failed(failure) | NotMeasured::Paused(failure) => Outcome::Failed(failure),
        })
    }
}

/// Replaces the remedy if a call is missing although the version of the running kernel has it. An emulator or a filter then returns ENOSYS,
/// and a newer kernel would not help.
pub(crate) fn not_of_the_kernel(why: Unavailable) -> Unavailable {
    let is_missing = ["ENOSYS", "os error 38"].iter().any(|word| why.reason.contains(word));
    let needed = why.remedy.split_once("Linux ").and_then(|(_, release)| facts::version_in(release));
    match (needed, facts::kernel_version()) {
        (Some(needed), Some((version, revision))) if is_missing && needed <= (version, revision) => {
            let remedy = format!(
                "Linux {version}.{revision} has the call: run outside of the emulator (qemu-user, gVisor) or seccomp filter"
            );
            Unavailable { remedy, ..why }
        }
        _ => why,
    }
}

/// Remedy for an unusable directory for temporary files.
pub const FOLDER_REMEDY: &str = "set TMPDIR to a directory that you may write to, or unset it";

/// Why a trial did not begin. What the kernel lacks or a filter forbids is no failure.
pub(crate) fn not_started(phase: Phase, error: &io::Error) -> NotMeasured {
    let unavailable = |why: &str, remedy: &str| {
        NotMeasured::Unavailable(Unavailable::new(format!("{why}: {error}"), remedy))
    };
    let text = error.to_string();
    if text.starts_with(NEEDS_FOLDER) {
        return NotMeasured::Refused(Unavailable::new(text, FOLDER_REMEDY));
    }
    if let (Phase::Create, Some((reason, remedy))) = (phase, text.split_once(REMEDY)) {
        return NotMeasured::Unavailable(Unavailable::new(reason, remedy));
    }
    match (phase, error.kind()) {
        (Phase::Create, io::ErrorKind::Unsupported) => unavailable(
            "a system call is missing (ENOSYS)",
            "an older kernel, a seccomp filter or an emulator answers so: run outside of it",
        ),
        (Phase::Create, io::ErrorKind::PermissionDenied) => unavailable(
            "it is forbidden here (EPERM or EACCES)",
            "look at rights and, in a container, at its seccomp profile",
        ),
        // No mechanism goes further than this.
        (Phase::Create, io::ErrorKind::NetworkUnreachable) => {
            unavailable("the loopback interface is down", "as root: ip link set lo up")
        }
        _ => Failure { phase, party: None, fault: Fault::Error, detail: error.to_string() }.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_call_of_a_new_kernel_is_not_blamed_on_its_version() {
        let remedy = |reason: &str, since: &str| {
            not_of_the_kernel(Unavailable::new(reason, format!("needs {since}"))).remedy
        };
        let old = "the kernel lacks memfd_create (ENOSYS)";
        assert_eq!(remedy(old, "Linux 9999.1 or later"), "needs Linux 9999.1 or later");
        assert_eq!(remedy("memfd_create is forbidden here (EPERM)", "Linux 3.17"), "needs Linux 3.17");
        if facts::kernel_version().is_some() {
            assert!(remedy(old, "Linux 3.17 or later").contains("has the call: run outside of the emulator"));
        }
    }
}
