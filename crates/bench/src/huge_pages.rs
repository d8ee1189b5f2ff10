//! Kinds of pages of a trial's memory: why this machine does not provide them, and the limit of huge pages, which root raises.

use crate::kernel_settings::ChangedSetting;
use crate::not_measured::{NotMeasured, not_started};
use crate::session::Session;
use furlong_model::{Case, PageKind, Phase, Unavailable};
use furlong_os::Context;
use furlong_os::available_memory::available_bytes;
use furlong_os::linux::access::may_read_and_write;
use furlong_os::linux::available_memory::read_machine;
use furlong_os::page_kind::{NOT_IN_EFFECT, probe_pages, remedy, unit_bytes};
use std::io;

/// The file of the number of huge pages that the kernel may make of ordinary memory, in addition to those of its pool
/// (`vm.nr_overcommit_hugepages`).
const OVERCOMMIT: &str = "/proc/sys/vm/nr_overcommit_hugepages";

/// Lets the kernel make that many huge pages of ordinary memory, in addition to its pool, until the result is dropped. Pages that
/// are reserved by then remain reserved.
pub(crate) fn raise_overcommit(pages: usize, session: &Session) -> io::Result<ChangedSetting<'_>> {
    ChangedSetting::change(OVERCOMMIT, session, |from| {
        let limit: usize = from.parse().map_err(|_| io::Error::other(format!("{OVERCOMMIT} is '{from}'")))?;
        // The limit also counts the pages that other runs hold.
        let held =
            read_machine("HugePages_Surp:").and_then(|pages| usize::try_from(pages).ok()).unwrap_or_default();
        Ok(limit.max(held).saturating_add(pages).to_string())
    })
}

/// Raises the limit for a trial with huge pages, if this process may: by all available memory, because only the roles know how many
/// pages they need.
///
/// # Errors
/// Returns the reason if another run holds the limit for too long.
pub(crate) fn for_trial<'a>(
    case: &Case,
    session: &'a Session,
) -> Result<Option<ChangedSetting<'a>>, NotMeasured> {
    if case.conditions.pages() != Some(PageKind::Huge) || !may_raise() {
        return Ok(None);
    }
    let unit = unit_bytes(PageKind::Huge).unwrap_or(1);
    let pages = available_bytes().map_or(0, |bytes| bytes as usize / unit);
    let raised = raise_overcommit(pages, session).context(|| NOT_IN_EFFECT);
    raised.map(Some).map_err(|error| explained(not_started(Phase::Create, &error), case))
}

fn may_raise() -> bool {
    may_read_and_write(OVERCOMMIT.as_ref())
}

/// Returns why the memory of a case cannot have the requested pages, or `None`.
pub(crate) fn refusal(case: &Case) -> Option<Unavailable> {
    let kind = case.conditions.pages()?;
    let error = probe_pages(kind).err().filter(|_| kind != PageKind::Huge || !may_raise())?;
    Some(Unavailable::new(error.to_string(), remedy(kind)))
}

/// Turns the failure of a trial whose memory is not in the requested pages into a refusal with a remedy.
pub(crate) fn explained(why: NotMeasured, case: &Case) -> NotMeasured {
    match (why, case.conditions.pages()) {
        (NotMeasured::Failed(failure), Some(kind)) if failure.detail.contains(NOT_IN_EFFECT) => {
            NotMeasured::Refused(Unavailable::new(failure.detail, remedy(kind)))
        }
        (why, _) => why,
    }
}
