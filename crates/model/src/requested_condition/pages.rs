//! Requested pages of message memory.

use super::{ConditionKind, RequestedCondition, RequestedConditions};
use crate::named_enum::named_enum;

named_enum! {
    /// Pages of the roles' messages, and of memory that the roles share.
    PageKind, "kind of pages" {
        /// Base pages, 4 KiB on most machines.
        Small = "4k",
        /// Transparent huge pages.
        Transparent = "thp",
        /// Huge pages of hugetlbfs.
        Huge = "huge",
    }
}

/// Kinds of pages.
pub(super) static PAGES: ConditionKind = ConditionKind {
    name: "pages",
    placeholder: "KIND",
    help: "Keep messages in pages of this kind: 4k, thp or huge. Shared memory has these pages, too; thp is transparent huge \
           pages. Can be repeated",
    read: |text| text.parse().ok().map(RequestedCondition::Pages),
    valid: "choose 4k, thp or huge",
    applies: |_, capabilities| !capabilities.notifies_only(),
    candidates: &["thp", "huge"],
    neutral: Some("4k"),
    permanent: |condition| match condition {
        RequestedCondition::Pages(PageKind::Huge) => {
            "in the program: MFD_HUGETLB or MAP_HUGETLB, with sysctl vm.nr_hugepages".to_owned()
        }
        RequestedCondition::Pages(PageKind::Transparent) => {
            "in the program: madvise with MADV_HUGEPAGE".to_owned()
        }
        _ => "in the program: madvise with MADV_NOHUGEPAGE".to_owned(),
    },
};

impl RequestedConditions {
    /// Returns the requested kind of pages, if any.
    pub fn pages(&self) -> Option<PageKind> {
        self.iter().find_map(|condition| match condition {
            RequestedCondition::Pages(kind) => Some(*kind),
            _ => None,
        })
    }
}
