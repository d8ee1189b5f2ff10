//! The reason why a trial has no figures. All code that prepares, watches, counts and records trials uses this type.

use furlong_mechanism::NEEDS_FOLDER;
use furlong_model::{Failure, Fault, Outcome, Phase, Unavailable};
use furlong_os::error::REMEDY;
use furlong_os::facts;
use std::io;

/// A signal requested the end of the run, so the trial has no outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterruptedTrial {
    /// The signal.
    pub signal: i32,
}

/// The reason why a trial has no figures.
#[derive(Debug, Clone, PartialEq)]
pub enum NotMeasured {
    /// A signal requested the end of the run.
    Interrupted(InterruptedTrial),
    /// The trial has the outcome [`Outcome::Refused`].
    Refused(Unavailable),
    /// The trial has the outcome [`Outcome::Unavailable`].
    Unavailable(Unavailable),
    /// The trial has the outcome [`Outcome::Failed`].
    Failed(Failure),
    /// The figures would be misleading, because a signal stopped a role for a moment, or a neighbour did not run. The trial
    /// is repeated, and fails if this happens every time.
    Disturbed(Failure),
}

impl From<InterruptedTrial> for NotMeasured {
    fn from(interrupted: InterruptedTrial) -> Self {
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
            NotMeasured::Interrupted(InterruptedTrial { signal }) => format!("received signal {signal}"),
            NotMeasured::Refused(why) | NotMeasured::Unavailable(why) => why.reason,
            NotMeasured::Failed(failure) | NotMeasured::Disturbed(failure) => failure.detail,
        }
    }

    /// Returns the outcome to record.
    ///
    /// # Errors
    /// Returns [`InterruptedTrial`] if the run is to end: such a trial is not recorded.
    pub fn outcome<M>(self) -> Result<Outcome<M>, InterruptedTrial> {
        Ok(match self {
            NotMeasured::Interrupted(interrupted) => return Err(interrupted),
            NotMeasured::Refused(why) => Outcome::Refused(why),
            NotMeasured::Unavailable(why) => Outcome::Unavailable(why),
            NotMeasured::Failed(failure) | NotMeasured::Disturbed(failure) => Outcome::Failed(failure),
        })
    }
}

/// Replaces the remedy if a call is missing although the version of the running kernel has it. In this case an emulator
/// or a filter returns `ENOSYS`, and a newer kernel would not help.
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

/// Returns why a trial did not begin. A call that the kernel lacks or a filter rejects is not a failure.
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
            "use a newer kernel, or run outside of the seccomp filter or emulator",
        ),
        (Phase::Create, io::ErrorKind::PermissionDenied) => unavailable(
            "the operation is not permitted (EPERM or EACCES)",
            "check permissions and, in a container, its seccomp profile",
        ),
        // No mechanism uses another network than the loopback, so the loopback is down.
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
