//! Shared memory of Windows.

mod file_section;
mod section;

pub use file_section::FileSection;
pub use section::Section;
pub(crate) use section::share_section;
