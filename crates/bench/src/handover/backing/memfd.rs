//! An unnamed memory object with a descriptor. Its pages are allocated before the roles begin, but not cleared.

use super::{BackedRegion, Memory, because};
use furlong_model::Unavailable;
use furlong_os::linux::segment;

pub(super) fn make<'a>(size_bytes: usize) -> Result<BackedRegion<'a>, Unavailable> {
    let object = segment::memfd("furlong-region", size_bytes).map_err(|error| because("no memfd", &error))?;
    Ok(BackedRegion::plain(Memory::Object(object, size_bytes), "memfd"))
}
