//! The cases that can be measured with the roles in two network namespaces.

use crate::{Boundary, Capabilities, Case, Placement, Reach, Unavailable};

impl Case {
    /// Returns whether its messages use a network between two namespaces.
    pub fn crosses_networks(&self, capabilities: &Capabilities) -> bool {
        !self.boundary.is_nothing() && capabilities.reach == Reach::Network
    }

    /// Returns why the roles cannot be separated by its boundary, if they cannot.
    pub(crate) fn refuse_boundary(&self, capabilities: &Capabilities) -> Option<Unavailable> {
        let (reason, remedy) = match self.boundary {
            Boundary::Process => return None,
            _ if self.placement == Placement::OtherHost => {
                ("another host is a boundary already".to_owned(), "ask for one of the two")
            }
            Boundary::NetworkNamespace => {
                let makes_links_itself = self.pattern().makes_links();
                if !self.crosses_networks(capabilities) || !makes_links_itself {
                    return None;
                }
                let reason = "connect creates both ends of each link in one network namespace".to_owned();
                (reason, "leave the boundary out, or ask for rows without TCP and UDP")
            }
            other => (
                format!("{other} is not a boundary that changes the cost of a message"),
                "measure without it, or with --boundary network-namespace",
            ),
        };
        Some(Unavailable::new(reason, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exchange, Limits, Pattern, Wait};

    fn refused(reach: Reach, change: impl FnOnce(&mut Case)) -> Option<String> {
        let boundary = Boundary::NetworkNamespace;
        let mut case = Case { boundary, ..Case::round_trip("row", Wait::Block, 128, Placement::OtherCore) };
        change(&mut case);
        let capabilities = Capabilities { name: "row", reach, ..Capabilities::library("a row") };
        case.refusal(&capabilities, &Limits::none()).map(|why| why.reason)
    }

    #[test]
    fn what_a_boundary_does_not_change_is_not_measured_across_it() {
        for reach in [Reach::Network, Reach::FileSystem, Reach::Descriptor] {
            assert_eq!(refused(reach, |_| {}), None);
        }
        let told = refused(Reach::FileSystem, |case| case.boundary = Boundary::User).unwrap();
        assert!(told.contains("user is not a boundary that changes"), "{told}");
        let told = refused(Reach::Network, |case| case.placement = Placement::OtherHost).unwrap();
        assert!(told.contains("another host is a boundary already"), "{told}");
        let connects = |case: &mut Case| {
            (case.exchange, case.placement) = (Exchange::of(Pattern::Connect), Placement::OneProcess);
        };
        assert!(refused(Reach::Network, connects).unwrap().contains("one network namespace"));
        assert_eq!(refused(Reach::FileSystem, connects), None);
    }

    #[test]
    fn a_case_says_what_is_between_and_nothing_where_nothing_is() {
        let case = Case::round_trip("tcp", Wait::Block, 128, Placement::OtherCore);
        let written = serde_json::to_string(&case).unwrap();
        assert!(!written.contains("boundary"), "{written}");
        assert_eq!(serde_json::from_str::<Case>(&written).unwrap(), case);
        let case = Case { boundary: Boundary::NetworkNamespace, ..case };
        assert_eq!(case.to_string(), "tcp/block 128B other-core between network-namespaces");
        assert_eq!(serde_json::from_str::<Case>(&serde_json::to_string(&case).unwrap()).unwrap(), case);
    }
}
