//! Requested settings of the kernel: set before a trial, and restored after it.

use crate::not_measured::NotMeasured;
use crate::persistent::{PersistentResource, lock};
use crate::session::{CleanupGuard, Session};
use furlong_model::{KernelSetting, RequestedCondition, RequestedConditions, Unavailable};
use furlong_os::Context;
use furlong_os::linux::kernel_settings::{paths, read, write};
use std::fs::{File, OpenOptions};
use std::io;

/// The settings of a trial. Dropping it restores them.
#[derive(Debug, Default)]
pub(crate) struct KernelSettings<'a> {
    // Dropped first, because restoring a setting takes its lock.
    _locks: Vec<File>,
    _changed: Vec<CleanupGuard<'a>>,
}

impl<'a> KernelSettings<'a> {
    /// Sets the requested settings. Other runs wait for the end of the trial before they set the same ones.
    ///
    /// # Errors
    /// Returns a refusal if the kernel does not accept a value.
    pub(crate) fn set(
        conditions: &RequestedConditions,
        session: &'a Session,
    ) -> Result<KernelSettings<'a>, NotMeasured> {
        let mut settings = KernelSettings::default();
        for setting in requested(conditions) {
            settings
                .change(setting, session)
                .map_err(|error| NotMeasured::Refused(refusal(setting, &error)))?;
        }
        Ok(settings)
    }

    fn change(&mut self, setting: &KernelSetting, session: &'a Session) -> io::Result<()> {
        for path in paths(&setting.path())? {
            self._locks.push(lock(&path)?);
            let from = read(&path)?;
            if from == setting.value() {
                continue;
            }
            let to = setting.value().to_owned();
            self._changed.push(session.making(PersistentResource::KernelSetting {
                path: path.clone(),
                from,
                to,
            })?);
            write(&path, setting.value())?;
        }
        Ok(())
    }
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
