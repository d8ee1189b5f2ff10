//! The cases that can be measured with a boundary between the roles.

use crate::{Boundary, Capabilities, Case, Isolation, Placement, Reach, Unavailable};

impl Case {
    /// Returns whether its messages use a network between two namespaces.
    pub fn crosses_networks(&self, capabilities: &Capabilities) -> bool {
        let boundary = self.conditions.boundary();
        boundary.is_some_and(Boundary::separates_networks) && capabilities.reach == Reach::Network
    }

    /// Returns why the roles cannot be separated by its boundary, if they cannot.
    pub(crate) fn refuse_boundary(&self, capabilities: &Capabilities) -> Option<Unavailable> {
        let boundary = self.conditions.boundary()?;
        let is_one_process = self.placement == Placement::OneProcess;
        let joins_ends = self.crosses_networks(capabilities) || *boundary == Boundary::Proxy;
        let has_threads = self.conditions.isolation() == Some(Isolation::Thread);
        let (reason, remedy) = match boundary {
            _ if self.placement == Placement::OtherHost => {
                ("another host is a boundary already", "ask for one of the two")
            }
            _ if joins_ends && self.pattern().makes_links() => (
                "connect creates both ends of each link in one network namespace, without a relay",
                "leave the boundary out, or ask for rows without TCP and UDP",
            ),
            Boundary::User | Boundary::Container if is_one_process => (
                "one process has both roles, so they have one user and the same namespaces",
                "ask for two processes",
            ),
            _ if has_threads && boundary.restricts_roles() => (
                "threads of one process have one user, one filter and the same namespaces",
                "leave --isolation thread out",
            ),
            _ => return None,
        };
        Some(Unavailable::new(reason, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exchange, Limits, Pattern, RequestedCondition, RequestedConditions, Wait};

    fn between(boundary: Boundary) -> RequestedConditions {
        RequestedConditions::default().with(RequestedCondition::Boundary(boundary))
    }

    fn refused(reach: Reach, change: impl FnOnce(&mut Case)) -> Option<String> {
        let conditions = between(Boundary::NetworkNamespace);
        let mut case = Case { conditions, ..Case::round_trip("row", Wait::Block, 128, Placement::OtherCore) };
        change(&mut case);
        let capabilities = Capabilities { name: "row", reach, ..Capabilities::library("a row") };
        case.refusal(&capabilities, &Limits::none()).map(|why| why.reason)
    }

    #[test]
    fn boundary_that_cannot_separate_the_roles_is_refused() {
        for reach in [Reach::Network, Reach::FileSystem, Reach::Descriptor] {
            assert_eq!(refused(reach, |_| {}), None);
        }
        let told = refused(Reach::Network, |case| case.placement = Placement::OtherHost).unwrap();
        assert!(told.contains("another host is a boundary already"), "{told}");
        let connects = |case: &mut Case| {
            (case.exchange, case.placement) = (Exchange::of(Pattern::Connect), Placement::OneProcess);
        };
        assert!(refused(Reach::Network, connects).unwrap().contains("one network namespace"));
        assert_eq!(refused(Reach::FileSystem, connects), None);
        let one_process = |case: &mut Case| {
            (case.conditions, case.placement) = (between(Boundary::User), Placement::OneProcess);
        };
        assert!(refused(Reach::FileSystem, one_process).unwrap().contains("one user"));
    }

    #[test]
    fn records_have_the_boundary_as_a_key_of_the_case() {
        let case = Case::round_trip("tcp", Wait::Block, 128, Placement::OtherCore);
        let written = serde_json::to_string(&case).unwrap();
        assert!(!written.contains("boundary"), "{written}");
        assert_eq!(serde_json::from_str::<Case>(&written).unwrap(), case);
        let case = Case { conditions: between(Boundary::NetworkNamespace), ..case };
        assert_eq!(case.row(), "tcp/block (boundary network-namespace)");
        let written = serde_json::to_string(&case).unwrap();
        assert!(written.contains(r#""boundary":"network-namespace""#), "{written}");
        assert_eq!(serde_json::from_str::<Case>(&written).unwrap(), case);
        assert!(serde_json::from_str::<Case>(&written.replace("network-namespace", "tape")).is_err());
    }
}
