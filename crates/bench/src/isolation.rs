//! Isolation of the roles: cases that it rules out.

use furlong_model::{Capabilities, Case, Family, Isolation, Placement, Reach, Unavailable, Wait};

/// Returns why the roles of a case cannot have the requested isolation, or `None`.
pub(crate) fn refusal(case: &Case, capabilities: &Capabilities, is_of_adapter: bool) -> Option<Unavailable> {
    let isolation = case.conditions.isolation().filter(|isolation| *isolation != Isolation::Exec)?;
    let name = capabilities.name;
    let is_elsewhere = matches!(case.placement, Placement::OtherHost | Placement::OneProcess);
    let by_process = (capabilities.family, capabilities.reach) == (Family::Notification, Reach::PidNamespace)
        || matches!(case.wait, Wait::Signal | Wait::FcntlLock);
    let reason = if is_of_adapter || case.subsystem.is_some() {
        format!("the roles of {name} run another program")
    } else if is_elsewhere {
        format!("the placement {} has no two roles on this machine", case.placement)
    } else if isolation == Isolation::Thread && by_process {
        format!("{} addresses or locks for a process, and both threads have the same", case.row())
    } else {
        return None;
    };
    Some(Unavailable::new(reason, "leave --isolation out"))
}
