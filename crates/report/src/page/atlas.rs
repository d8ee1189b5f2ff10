//! The page of the atlas of published comparisons.

use super::{PageError, from_documents};
use furlong_analysis::Atlas;
use furlong_render::{ATLAS_TITLE, atlas_chapters, atlas_verdict};

/// Returns one self-contained HTML page: the contradictions with the axes that explain them, and every claim in every setting.
///
/// # Errors
/// Returns an error of the template engine. No record can cause one.
pub fn atlas_page(atlas: &Atlas) -> Result<String, PageError> {
    from_documents(ATLAS_TITLE.to_owned(), &atlas_verdict(atlas), &atlas_chapters(atlas))
}
