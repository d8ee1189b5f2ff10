//! The page of many hosts.

use super::{NAME, Page, PageError, SCRIPTS, STYLE, TEMPLATE, filled_in, html};
use crate::ids::Ids;
use furlong_analysis::{FleetComparison, FleetMap};
use furlong_render::{fleet_chapters, fleet_title, fleet_verdict};

/// Returns one self-contained HTML page: the outlier hosts, every benchmark and cost of each host, and each benchmark
/// over the hosts.
///
/// # Errors
/// Returns an error of the template engine. No record can cause one.
pub fn fleet_page(found: &FleetComparison, map: &FleetMap) -> Result<String, PageError> {
    let mut ids = Ids::for_page();
    let (verdict, chapters) = (fleet_verdict(found), fleet_chapters(found, map));
    let heading = fleet_title(found);
    let page = Page {
        title: format!("furlong: {heading}"),
        heading,
        version: env!("CARGO_PKG_VERSION"),
        style: STYLE,
        scripts: SCRIPTS,
        served: None,
        verdict: html::chapters(&verdict, &mut ids),
        chapters: html::chapters(&chapters, &mut ids),
    };
    filled_in(NAME, TEMPLATE, &page)
}
