//! No file: a mapping that both roles inherit. It exists before they begin, but none of its pages is allocated then.

use super::{BackedRegion, Memory, because};
use furlong_model::Unavailable;
use furlong_os::memory::Region;
use std::sync::Arc;

pub(super) fn make<'a>(size_bytes: usize) -> Result<BackedRegion<'a>, Unavailable> {
    let region = Region::anonymous(size_bytes).map_err(|error| because("no memory to share", &error))?;
    Ok(BackedRegion::plain(Memory::Mapped(Arc::new(region)), ""))
}
