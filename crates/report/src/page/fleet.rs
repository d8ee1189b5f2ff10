//! The page of many hosts.

use super::{PageError, from_documents};
use furlong_analysis::{FleetComparison, FleetMap};
use furlong_render::{fleet_chapters, fleet_title, fleet_verdict};

/// Returns one self-contained HTML page: the outlier hosts, every benchmark and cost of each host, and each benchmark
/// over the hosts.
///
/// # Errors
/// Returns an error of the template engine. No record can cause one.
pub fn fleet_page(found: &FleetComparison, map: &FleetMap) -> Result<String, PageError> {
    from_documents(fleet_title(found), &fleet_verdict(found), &fleet_chapters(found, map))
}
