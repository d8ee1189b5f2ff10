//! Requested settings of the kernel: set before a trial, and restored after it.

use crate::not_measured::NotMeasured;
use crate::persistent::{PersistentResource, lock};
use crate::session::{CleanupGuard, Session};
use furlong_model::{KernelSetting, RequestedCondition, RequestedConditions, Unavailable};
use furlong_os::Context;
use furlong_os::linux::kernel_settings::{paths, read, write};
use std::fs::{File, OpenOptions};
use std::io;

/// A changed setting. Dropping it restores the setting. Other runs that change it wait until then.
#[derive(Debug)]
pub(crate) struct ChangedSetting<'a> {
    /// Dropped first, because restoring the setting takes this lock.
    _lock: File,
    /// `None` if the setting had the value before.
    _made: Option<CleanupGuard<'a>>,
}

impl<'a> ChangedSetting<'a> {
    /// Changes the setting in this file to the value that `to` returns for the present one.
    pub(crate) fn change(
        path: &str,
        session: &'a Session,
        to: impl FnOnce(&str) -> io::Result<String>,
    ) -> io::Result<ChangedSetting<'a>> {
        let lock = lock(path)?;
        let from = read(path)?;
        let to = to(&from)?;
        if from == to {
            return Ok(ChangedSetting { _lock: lock, _made: None });
        }
        let resource = PersistentResource::KernelSetting { path: path.to_owned(), from, to: to.clone() };
        let changed = ChangedSetting { _lock: lock, _made: Some(session.making(resource)?) };
        write(path, &to)?;
        Ok(changed)
    }
}

/// Sets the requested settings until the result is dropped.
///
/// # Errors
/// Returns a refusal if the kernel does not accept a value.
pub(crate) fn set<'a>(
    conditions: &RequestedConditions,
    session: &'a Session,
) -> Result<Vec<ChangedSetting<'a>>, NotMeasured> {
    let mut changed = Vec::new();
    for setting in requested(conditions) {
        let change =
            |path: String| ChangedSetting::change(&path, session, |_| Ok(setting.value().to_owned()));
        let files = paths(&setting.path()).and_then(|paths| paths.into_iter().map(change).collect());
        let files: Vec<_> = files.map_err(|error| NotMeasured::Refused(refusal(setting, &error)))?;
        changed.extend(files);
    }
    Ok(changed)
}

/// Returns why a requested setting cannot be set here, or `None`. Changes nothing.
pub(crate) fn refuse(conditions: &RequestedConditions) -> Option<Unavailable> {
    requested(conditions).find_map(|setting| {
        let open = |path: String| {
            let file = OpenOptions::new().write(true).open(&path);
            file.context(|| format!("open {path} for writing")).map(drop)
        };
        let found = paths(&setting.path()).and_then(|paths| paths.into_iter().try_for_each(open));
        found.err().map(|error| refusal(setting, &error))
    })
}

/// Whether the condition is a setting of the kernel that has its value already.
pub fn is_in_effect(condition: &RequestedCondition) -> bool {
    let RequestedCondition::KernelSetting(setting) = condition else { return false };
    let has_value = |path: &String| read(path).is_ok_and(|value| value == setting.value());
    paths(&setting.path()).is_ok_and(|paths| paths.iter().all(has_value))
}

fn requested(conditions: &RequestedConditions) -> impl Iterator<Item = &KernelSetting> {
    conditions.iter().filter_map(|condition| match condition {
        RequestedCondition::KernelSetting(setting) => Some(setting),
        _ => None,
    })
}

fn refusal(setting: &KernelSetting, error: &io::Error) -> Unavailable {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "this kernel or this machine has no such setting: leave it out",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "run furlong as root, outside of a container whose /proc/sys or /sys is read-only"
        }
        _ => "choose a value that the kernel accepts and keeps",
    };
    Unavailable::new(format!("{setting} cannot be set here: {error}"), remedy)
}
