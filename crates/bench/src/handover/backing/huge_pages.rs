//! Huge pages in an unnamed object. All pages are reserved before the roles begin. The first access clears each page.
//!
//! If the machine's pool is too small, root lets the kernel make more huge pages of ordinary memory. This limit of the
//! machine is raised only while the pages are reserved, and restored before the trial begins. The pages are freed with
//! their object.

use super::{BackedRegion, Memory};
use crate::persistent::{PersistentResource, lock};
use crate::session::Session;
use furlong_model::Unavailable;
use furlong_os::Context;
use furlong_os::linux::available_memory::read_machine;
use furlong_os::linux::kernel_settings;
use furlong_os::linux::limits::sysctl_number;
use furlong_os::linux::segment;
use furlong_os::memory::Region;
use furlong_os::{AsHandle, Handle};
use std::io;

/// The file of the number of huge pages that the kernel may make of ordinary memory, in addition to those of its pool
/// (`vm.nr_overcommit_hugepages`).
const OVERCOMMIT: &str = "/proc/sys/vm/nr_overcommit_hugepages";

const REMEDY: &str = "as root: sysctl vm.nr_hugepages=N, on a machine with enough free memory";

pub(super) fn make<'a>(size_bytes: usize, session: &Session) -> Result<BackedRegion<'a>, Unavailable> {
    let page_bytes = page_bytes().ok_or_else(|| {
        Unavailable::new("the kernel has no huge pages (/proc/meminfo)", "CONFIG_HUGETLBFS=y")
    })?;
    let len = size_bytes.next_multiple_of(page_bytes);
    let object = reserve(len).or_else(|first| {
        raised(len / page_bytes, session, || reserve(len)).map_err(|second| {
            let pool = sysctl_number("vm.nr_hugepages").unwrap_or_default();
            let reason = format!(
                "{} bytes of huge pages of {} KiB are needed and vm.nr_hugepages is {pool} ({first}); {second}",
                len,
                page_bytes >> 10
            );
            Unavailable::new(reason, REMEDY)
        })
    })?;
    let in_effect = format!("huge pages of {} KiB", page_bytes >> 10);
    Ok(BackedRegion::plain(Memory::Object(object, len), in_effect))
}

/// Returns an object whose pages are all reserved: the kernel keeps them while the object is open.
fn reserve(len: usize) -> io::Result<Handle> {
    let object = segment::huge_memfd("furlong-region", len)?;
    Region::from_file(object.as_handle(), len).context(|| "reserve them")?;
    Ok(object)
}

/// Calls `reserve` while the kernel may make that many additional huge pages.
fn raised<T>(pages: usize, session: &Session, reserve: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let lock = lock(OVERCOMMIT)?;
    let from = kernel_settings::read(OVERCOMMIT)?;
    let limit: usize = from.parse().map_err(|_| io::Error::other(format!("{OVERCOMMIT} is '{from}'")))?;
    // The limit also counts the pages that other runs hold.
    let held =
        read_machine("HugePages_Surp:").and_then(|pages| usize::try_from(pages).ok()).unwrap_or_default();
    let to = limit.max(held).saturating_add(pages).to_string();
    // Dropped after `lock`, because restoring the limit takes this lock.
    let resource = PersistentResource::KernelSetting { path: OVERCOMMIT.to_owned(), from, to: to.clone() };
    let _made = session.making(resource)?;
    let result = kernel_settings::write(OVERCOMMIT, &to).and_then(|()| reserve());
    drop(lock);
    result
}

/// Returns the default size of huge pages, in bytes.
fn page_bytes() -> Option<usize> {
    usize::try_from(read_machine("Hugepagesize:")?).ok()?.checked_mul(1024)
}
